"""Calls whose closing begins with a sign that JSON may go on with, as a directive's does."""

from __future__ import annotations

import pytest

from tests.own_templates import given_template
from tests.test_right_formats import built
from turnspec.analysis.analyze import analyze_template
from turnspec.codegen.loading import load
from turnspec.rendering.worker import RenderWorker
from turnspec.testing import Call, Message, check_case

#: What opens a call before its name, and what closes it behind its arguments.
SIGNS = [("[use ", ":over:"), (":::use ", ":::")]


@pytest.mark.parametrize(("opening", "closing"), SIGNS)
def test_a_closing_is_no_more_json(opening: str, closing: str, worker: RenderWorker) -> None:
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}{{ '\n' }}"
        + opening
        + "{{ c.function.name }}{{ '\n' }}{{ c.function.arguments | tojson }}{{ '\n' }}"
        + closing
        + "{% endfor %}<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built("given", text)
    assert build.result is not None
    assert {rung: it.example for rung, it in build.result.rungs.items() if it.failed} == {}
    spec = analyze_template(given_template(text), worker).spec
    assert spec is not None
    one = f'\n{opening}add\n{{"a": 1}}\n'
    calls = (Call("add", {"a": 1}), Call("add", {"a": 1}))
    check_case(spec, f"{one}{closing}{one}{closing}<:end:>", expect=Message(calls=calls))
    (broken,) = load(spec).parse(f'\n{opening}add\n{{"a": 1}}: 2<:end:>').tool_calls
    assert not broken.complete


@pytest.mark.parametrize("closing", ["[/use]", "### Done"])
def test_a_closing_is_no_first_key(closing: str, worker: RenderWorker) -> None:
    """A first key may lack its tag; but what a key could be closes a call without arguments."""
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}{{ '\n[use]' + c.function.name + '\n' }}"
        "{% for k, v in c.function.arguments.items() %}<key>{{ k }}</key>{{ '\n' }}"
        "<value>{{ v if v is string else v | tojson }}</value>{{ '\n' }}{% endfor %}"
        + closing
        + "{% endfor %}<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built("given", text)
    assert build.result is not None
    assert {rung: it.example for rung, it in build.result.rungs.items() if it.failed} == {}
    spec = analyze_template(given_template(text), worker).spec
    assert spec is not None
    check_case(spec, f"\n[use]add\n{closing}<:end:>", expect=Message(calls=(Call("add", {}),)))
    keyed = f"\n[use]add\na</key>\n<value>1</value>\n{closing}<:end:>"
    (call,) = load(spec).parse(keyed).tool_calls
    assert (call.complete, call.arguments) == (True, '{"a": "1"}')
    assert load(spec).parse(f"Then\n[use]add\n{closing[0]}").content == "Then"
