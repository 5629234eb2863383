"""Values whose lines are indented: white space stands for no sign, as markers hold any of it."""

from __future__ import annotations

from tests.own_templates import given_template
from turnspec.analysis.analyze import analyze_template
from turnspec.codegen.loading import load
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.words import Encoding, JsonType, Subject, Verdict

TEXT = (
    "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}{{ '\n' }}<job {{ c.function.name }}>"
    "{% for k, v in c.function.arguments.items() %}{{ '\n' + k + ': |\n  ' }}"
    "{{ (v if v is string else v | tojson) | replace('\n', '\n  ') }}{% endfor %}"
    "{{ '\n' }}</job>{% endfor %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_an_indent_is_no_escape_and_parsers_neither_raise_nor_halt(worker: RenderWorker) -> None:
    spec = analyze_template(given_template(TEXT), worker).spec
    assert spec is not None
    assert spec.tools is not None
    assert spec.tools.arguments.value_escapes == {}
    assert spec.tools.arguments.values[JsonType.STRING] is Encoding.RAW
    found = {(limit.subject, limit.verdict) for limit in spec.limits}
    assert (Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS) in found
    text = '<job add>\nnote: |\n  one\n  two\nmore: |{"qxkey":""}\n</job><:end:>'
    module = load(spec)
    for end in range(len(text) + 1):
        module.parse(text[:end])
    (call,) = module.parse(text).tool_calls
    assert call.name == "add"
