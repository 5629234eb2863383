"""Tools that are listed behind the user's text: no part of a turn, which may hang on them."""

from __future__ import annotations

import pytest

from tests.own_templates import given_template
from tests.test_analysis_turn_ends import CALLS, spec_of
from turnspec.codegen.loading import load
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.words import JsonType

LISTED = (
    "{%- for m in messages %}{%- if m.role != 'assistant' %}{{- '<' ~ m.role ~ '>' ~ m.content }}"
    "{%- if tools and loop.first %}{{- '<tools>' ~ tools|tojson ~ '</tools>' }}{%- endif %}"
    "{{- '<.>' }}{%- else %}{{- '<assistant>' }}"
)
END = (
    "{{- '<.>' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}"
)
#: The word for a value's type is looked up in the tool's definition.
TYPED = (
    "{%- macro type_of(name, key) -%}{%- for t in tools or [] if t.function.name == name -%}"
    "{{ t.function.parameters.properties[key].type }}{%- endfor -%}{%- endmacro -%}"
    + LISTED
    + "{{- m.content or '' }}{%- for c in m.tool_calls or [] %}"
    "{{- '<do ' ~ c.function.name ~ '>' }}"
    "{%- for k, v in c.function.arguments.items() %}"
    "{{- '<with ' ~ k ~ ': ' ~ (type_of(c.function.name, k) or 'string') ~ '>' }}"
    "{{- (v if v is string else v|tojson) ~ '</with>' }}{%- endfor %}{{- '</do>' }}{%- endfor %}"
    + END
)
#: A thought is only told where there are tools, and calls only where they are known.
NEEDED = (
    LISTED + "{%- if tools and m.thinking %}{{- '<why>' ~ m.thinking ~ '</why>' }}{%- endif %}"
    "{{- m.content or '' }}{%- if tools %}" + CALLS + "{%- endif %}" + END
)


#: The list stands behind what ends the user's message.
BEHIND = NEEDED.replace(
    "{%- if tools and loop.first", "{{- '<.>' }}{%- if tools and loop.first"
).replace("{{- '<.>' }}{%- else %}{{- '<assistant>' }}", "{%- else %}{{- '<assistant>' }}")

#: The list stands behind all messages.
_LIST = "{{- '<tools>' ~ tools|tojson ~ '</tools>' }}{%- endif %}"
LAST = NEEDED.replace("{%- if tools and loop.first %}" + _LIST, "").replace(
    "{%- if add", "{%- if tools %}" + _LIST + "{%- if add"
)


@pytest.mark.parametrize(
    "text", [TYPED, NEEDED, BEHIND, LAST], ids=["typed", "needed", "behind", "last"]
)
def test_whole_ladder_is_green(text: str) -> None:
    build = build_template(given_template(text), OutputPaths.in_folder("given"), messages=5)
    assert build.problems == ()
    assert build.result is not None
    assert [name for name, rung in build.result.rungs.items() if not rung.is_passed] == []


def test_the_type_of_a_value_is_the_definition_s(worker: RenderWorker) -> None:
    spec = spec_of(TYPED, worker)
    assert spec.turn.header == "<assistant>"
    assert spec.tools is not None
    assert spec.tools.arguments.types[JsonType.INTEGER] == "integer"
    text = "<do add><with a: integer>1</with><with b: string>1</with></do><.>"
    (call,) = load(spec).parse(text).tool_calls
    assert (call.name, call.arguments) == ("add", '{"a": 1, "b": "1"}')


@pytest.mark.parametrize("text", [NEEDED, BEHIND], ids=["needed", "behind"])
def test_what_needs_tools_is_shown_with_them(text: str, worker: RenderWorker) -> None:
    spec = spec_of(text, worker)
    assert [end.followed for end in spec.turn.ends] == ["<.>"] * len(spec.turn.ends)
    message = load(spec).parse('<why>Hm.</why>Hello.<do>add<with>{"a": 1}</do><.>')
    assert (message.reasoning_content, message.content) == ("Hm.", "Hello.")
    assert [call.name for call in message.tool_calls] == ["add"]
