"""How calls are written, told to the model in words where its template doesn't say so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from turnspec.codegen.writer import write_calls
from turnspec.rendering.dialect import JsonObject
from turnspec.spec.calls import Arguments, Fields, Literal, Slot, Tools
from turnspec.spec.message import Call
from turnspec.spec.model import Capabilities, End, Grammar, Join, Spec
from turnspec.spec.words import Part, SlotKind, ToolMode

#: The syntax for a template that has none: JSON between tags, each call on lines of its own.
GENERAL_TOOLS = Tools(
    mode=ToolMode.JSON_NATIVE,
    section_start="",
    call=(
        Literal('<tool_call>\n{"name": "'),
        Slot(SlotKind.NAME),
        Literal('", "arguments": '),
        Slot(SlotKind.ARGUMENTS),
        Literal("}\n</tool_call>"),
    ),
    separator="\n",
    section_end="",
    arguments=Arguments(),
    fields=Fields(name=("name",), arguments=("arguments",)),
)
_TAGS = ("<tool_call>", "</tool_call>")

#: What stands for a value of each type in an example.
_EXAMPLES: Mapping[str, object] = {
    "string": "…",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


def with_tools(spec: Spec) -> Spec:
    """Return a spec that has a syntax for calls: its own, or the general one behind content."""
    if spec.tools is not None:
        return spec
    joins = [Join(Part.START, Part.CALLS, spec.join(Part.START, Part.CONTENT))]
    joins.append(Join(Part.CONTENT, Part.CALLS, "\n"))
    if Part.REASONING in spec.turn.order:
        behind = spec.join(Part.REASONING, Part.CONTENT)
        joins.append(Join(Part.REASONING, Part.CALLS, behind))
    known = spec.end(Part.CONTENT) or End(Part.CONTENT, "", "")
    # The tags end a call; white space behind them says nothing more.
    end = End(Part.CALLS, known.final if known.final.strip() else "", known.followed)
    turn = replace(
        spec.turn,
        order=(*spec.turn.order, Part.CALLS),
        joins=(*spec.turn.joins, *joins),
        ends=(*spec.turn.ends, end),
    )
    preserved = tuple(dict.fromkeys((*spec.grammar.preserved_tokens, *_TAGS)))
    grammar = Grammar(triggers=(_TAGS[0],), preserved_tokens=preserved)
    return replace(spec, turn=turn, tools=GENERAL_TOOLS, grammar=grammar)


def calls_text(spec: Spec, calls: Sequence[Call]) -> str:
    """Return calls as the spec writes them, with what opens and closes their section."""
    tools = spec.tools
    assert tools is not None
    return f"{tools.section_start}{write_calls(tools, tuple(calls))}{tools.section_end}".strip()


def tools_description(spec: Spec, tools: Sequence[JsonObject], capabilities: Capabilities) -> str:
    """Return what a system message has to say of tools, with an example call of the first."""
    listed = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    example = calls_text(spec, [_example_call(tools[0])])
    several = "Write several calls one behind the other." if capabilities.parallel_calls else ""
    lines = [
        "You can call these tools, each given with the JSON Schema of its parameters:",
        listed,
        "",
        "To call a tool, write nothing but the call, with the tool's name and its arguments, "
        f"in this form. {several}".rstrip(),
        example,
    ]
    return "\n".join(lines)


def _example_call(tool: JsonObject) -> Call:
    """Return a call of a tool with a value of the right type for each required parameter."""
    function = tool["function"]
    assert isinstance(function, Mapping)
    parameters = function.get("parameters")
    known = parameters.get("properties", {}) if isinstance(parameters, Mapping) else {}
    properties = known if isinstance(known, Mapping) else {}
    arguments = {str(key): _example(schema) for key, schema in properties.items()}
    # Nine letters and digits, the length that some formats want.
    return Call(str(function["name"]), arguments, "abcdef123")


def _example(schema: object) -> object:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    values = schema.get("enum") if isinstance(schema, Mapping) else None
    if isinstance(values, list) and values:
        return values[0]
    return _EXAMPLES.get(kind, "…") if isinstance(kind, str) else "…"
