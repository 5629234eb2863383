"""Reasoning or content whose signs the template escapes: read with the escapes, so it is red."""

from __future__ import annotations

import pytest

from tests.test_right_formats import built
from turnspec.spec.results import SANITY

#: What a template writes of a message, and what the parser would return of it as it stands.
ESCAPED = {
    "content with entities": (
        "<say>{{ m.content | e }}</say>",
        'content is read with the template\'s escapes: "&#34;" for "\\""',
    ),
    "reasoning in JSON": (
        "{% if m.reasoning_content %}<why>{{ m.reasoning_content | tojson }}</why>{% endif %}"
        "{{ m.content or '' }}",
        'reasoning is read with the template\'s escapes: "\\\\n" for "\\n"',
    ),
    "a tab as blanks": ("{{ (m.content or '') | replace('\t', '    ') }}", ""),
    "one line": ("{{ (m.content or '') | replace('\n', ' ') }}", ""),
}


@pytest.mark.parametrize("form", ESCAPED)
def test_texts_with_escapes_that_nothing_undoes(form: str) -> None:
    texts, told = ESCAPED[form]
    build = built(
        "given",
        "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' %}"
        + texts
        + "{% for c in m.tool_calls or [] %}<use>"
        "{{ {'name': c.function.name, 'with': c.function.arguments} | tojson }}</use>{% endfor %}"
        "{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
    )
    assert build.result is not None
    failed = {rung for rung, result in build.result.rungs.items() if result.failed}
    assert failed == ({SANITY} if told else set())
    example = build.result.rungs[SANITY].example
    assert (example.got if example else "") == told
