"""A call's head that counts only with what has to follow it: read then, and text until then."""

from __future__ import annotations

import pytest

from tests.own_templates import given_template
from tests.test_right_formats import built, spec_in
from turnspec.analysis.analyze import analyze_template
from turnspec.rendering.worker import RenderWorker
from turnspec.testing import Call, Message, check_case

#: How a template writes the calls of a message ``m``, and what a model writes for two.
FORMATS = {
    "lines in a section that a mere fence ends": (
        "{% if m.tool_calls %}{{ '\n```run\n' }}{% for c in m.tool_calls %}% {{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %} /{{ k }} {{ v | tojson }}{% endfor %}"
        "{{ '\n' }}{% endfor %}```{% endif %}",
        '\n```run\n% add /a 1 /b "x"\n% ping\n```<:end:>',
    ),
    "closed by their names": (
        "{% for c in m.tool_calls or [] %}<+{{ c.function.name }}+>"
        "{% for k, v in c.function.arguments.items() %}{{ '\n' }}{{ k }}: {{ v | tojson }}"
        "{% endfor %}{{ '\n' }}<+over {{ c.function.name }}+>{% endfor %}",
        '<+add+>\na: 1\nb: "x"\n<+over add+><+ping+>\n<+over ping+><:end:>',
    ),
}


@pytest.mark.parametrize("form", FORMATS)
def test_calls_that_only_what_follows_tells(form: str, worker: RenderWorker) -> None:
    calls, written = FORMATS[form]
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        + calls
        + "<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built("given", text)
    assert build.result is not None
    assert {rung for rung, it in build.result.rungs.items() if it.failed} == set()
    spec = analyze_template(given_template(text), worker).spec
    assert spec is not None
    assert spec_in(build).tools == spec.tools
    expect = Message(calls=(Call("add", {"a": 1, "b": "x"}), Call("ping", {})))
    check_case(spec, written, expect=expect)
    check_case(spec, "So.\n" + written, expect=Message("So.", calls=expect.calls))
