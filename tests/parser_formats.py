"""Invented specs, one for each way to write calls, and turns in their formats."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from tests.specs_for_tests import json_native_spec, two_prompts
from turnspec.spec.calls import (
    Arguments,
    Elements,
    Fields,
    Guard,
    Literal,
    Piece,
    Slot,
    Tools,
    ValueSyntax,
)
from turnspec.spec.model import Content, End, Join, Reasoning, Spec, Turn
from turnspec.spec.words import (
    ContentMode,
    Encoding,
    JsonType,
    Part,
    ReasoningMode,
    ReasoningScope,
    SlotKind,
    ToolMode,
)

_SLOTS = re.compile(f"⟨({'|'.join(SlotKind)})⟩")


def pieces(text: str) -> tuple[Piece, ...]:
    """Read literals and slots from text in which ⟨NAME⟩ and the like stand for slots."""
    found = enumerate(_SLOTS.split(text))
    return tuple(Slot(SlotKind(it)) if at % 2 else Literal(it) for at, it in found if it)


def make_spec(
    name: str,
    tools: Tools | None,
    *,
    reasoning: tuple[ReasoningMode, str, str] = (
        ReasoningMode.TAG_BASED,
        "<think>\n",
        "\n</think>\n\n",
    ),
    content: tuple[str, str] = ("", ""),
    order: tuple[Part, ...] = (Part.REASONING, Part.CONTENT, Part.CALLS),
    joins: tuple[Join, ...] = (),
    ends: tuple[End, ...] | None = None,
    stop: tuple[str, ...] = ("<|stop|>",),
    header: str = "<|turn|>assistant\n",
    prompts: tuple[str, str] | None = None,
) -> Spec:
    """Return a spec with the given parts around an otherwise plain turn."""
    mode, start, end = reasoning
    if ends is None:
        ends = tuple(End(part, "<|stop|>\n", "<|stop|>\n") for part in (*order, Part.START))
    on, off = prompts or (header, header)
    return dataclasses.replace(
        json_native_spec(),
        name=name,
        tokens={},
        thinking=two_prompts(on, off),
        turn=Turn(header, order, ends, stop, joins=joins),
        reasoning=Reasoning(mode, start, end, "reasoning_content", ReasoningScope.ALL),
        content=Content(ContentMode.ALWAYS_WRAPPED if content[0] else ContentMode.PLAIN, *content),
        tools=tools,
    )


def native(
    call: str, *, section: tuple[str, str] = ("", ""), separator: str = "\n", **fields: Any
) -> Tools:
    """Return tools whose calls are JSON objects."""
    known: dict[str, Any] = {"name": ("name",), "arguments": ("arguments",), **fields}
    return Tools(
        mode=ToolMode.JSON_NATIVE,
        section_start=section[0],
        call=pieces(call),
        separator=separator,
        section_end=section[1],
        arguments=Arguments(),
        fields=Fields(**known),
    )


def tagged_json(
    call: str,
    *,
    section: tuple[str, str] = ("", ""),
    separator: str = "",
    syntax: ValueSyntax | None = None,
) -> Tools:
    """Return tools whose name stands in tags and whose arguments are one object."""
    return Tools(
        mode=ToolMode.TAG_WITH_JSON,
        section_start=section[0],
        call=pieces(call),
        separator=separator,
        section_end=section[1],
        arguments=Arguments(syntax=syntax or ValueSyntax()),
    )


def tagged(
    call: str,
    item: str,
    *,
    item_separator: str = "",
    section: tuple[str, str] = ("", ""),
    separator: str = "\n",
    string: Encoding = Encoding.RAW,
    other: Encoding = Encoding.JSON,
    types: dict[JsonType, str] | None = None,
    guard: Guard | None = None,
    syntax: ValueSyntax | None = None,
    elements: tuple[str, str, str] | None = None,
    **more: Any,
) -> Tools:
    """Return tools whose arguments stand in tags; ``elements`` are member, element, separator."""
    nested = dict.fromkeys(
        (JsonType.ARRAY, JsonType.OBJECT), Encoding.ELEMENTS if elements else other
    )
    return Tools(
        mode=ToolMode.TAG_WITH_TAGGED,
        section_start=section[0],
        call=pieces(call),
        separator=separator,
        section_end=section[1],
        arguments=Arguments(
            syntax=syntax or ValueSyntax(),
            item=pieces(item),
            separator=item_separator,
            empty="",
            values={**dict.fromkeys(JsonType, other), **nested, JsonType.STRING: string},
            types=types or {},
            guard=guard,
            elements=(
                Elements(pieces(elements[0]), pieces(elements[1]), elements[2])
                if elements
                else None
            ),
            **more,
        ),
    )


RUN = {
    "type": "function",
    "function": {
        "name": "run",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "count": {"type": "integer"},
                "flag": {"type": "boolean"},
                "list": {"type": "array"},
            },
        },
    },
}

_TYPE_WORDS = {**dict.fromkeys(JsonType, "false"), JsonType.STRING: "true"}

HERMES = make_spec(
    "json-tags", native('<tool_call>\n{"name": "⟨NAME⟩", "arguments": ⟨ARGUMENTS⟩}\n</tool_call>')
)
ARRAY = make_spec(
    "json-array",
    native(
        '{"name": "⟨NAME⟩", "arguments": ⟨ARGUMENTS⟩, "id": "⟨ID⟩"}',
        section=("[CALLS][", "]"),
        separator=", ",
        id=("id",),
    ),
)
BARE = make_spec(
    "bare-json",
    native('{"name": "⟨NAME⟩", "parameters": ⟨ARGUMENTS⟩}', arguments=("parameters",)),
    reasoning=(ReasoningMode.NONE, "", ""),
)
NAME_IS_KEY = make_spec(
    "name-is-key",
    native(
        '{"⟨NAME⟩": ⟨ARGUMENTS⟩}',
        section=("<|tools|>[", "]<|/tools|>"),
        separator=", ",
        name=(),
        arguments=(),
        name_is_key=True,
    ),
)
BRACKETS = make_spec("brackets", tagged_json("[CALL]⟨NAME⟩[ID]⟨ID⟩[ARGS]⟨ARGUMENTS⟩"))
INDEXED = make_spec(
    "indexed",
    tagged_json(
        "<|call|>functions.⟨NAME⟩:⟨INDEX⟩<|args|>⟨ARGUMENTS⟩<|/call|>",
        section=("<|calls|>", "<|/calls|>"),
    ),
)
XML = make_spec(
    "xml",
    tagged(
        "<tool_call>\n<function=⟨NAME⟩>\n⟨ARGUMENTS⟩</function>\n</tool_call>",
        "<parameter=⟨KEY⟩>\n⟨VALUE⟩\n</parameter>\n",
    ),
    reasoning=(ReasoningMode.FORCED_OPEN, "<think>\n", "\n</think>\n\n"),
    prompts=("<|turn|>assistant\n<think>\n", "<|turn|>assistant\n<think>\n\n</think>\n\n"),
)
KEY_VALUE = make_spec(
    "key-value",
    tagged(
        "<tool_call>⟨NAME⟩\n⟨ARGUMENTS⟩\n</tool_call>",
        "<arg_key>⟨KEY⟩</arg_key>\n<arg_value>⟨VALUE⟩</arg_value>",
        item_separator="\n",
    ),
    stop=(),
    ends=(),
)
TYPED = make_spec(
    "typed",
    tagged(
        '<|invoke name="⟨NAME⟩">\n⟨ARGUMENTS⟩</|invoke>',
        '<|parameter name="⟨KEY⟩" string="⟨TYPE⟩">⟨VALUE⟩</|parameter>\n',
        section=("\n\n<|calls>\n", "\n</|calls>"),
        types=_TYPE_WORDS,
    ),
    reasoning=(ReasoningMode.DELIMITER, "", "</think>"),
    prompts=("<|turn|>assistant\n", "<|turn|>assistant\n</think>"),
)
PYTHON = make_spec(
    "python",
    tagged(
        "⟨NAME⟩(⟨ARGUMENTS⟩)",
        "⟨KEY⟩=⟨VALUE⟩",
        item_separator=", ",
        section=("<|calls|>[", "]<|/calls|>"),
        separator=", ",
        string=Encoding.PYTHON,
        other=Encoding.PYTHON,
    ),
)
QUOTED = make_spec(
    "quoted",
    tagged_json(
        "<|call>call:⟨NAME⟩⟨ARGUMENTS⟩<call|>",
        syntax=ValueSyntax(
            encoding=Encoding.QUOTED,
            item_separator=",",
            key_separator=":",
            quote='<|"|>',
            bare_keys=True,
        ),
    ),
    order=(Part.REASONING, Part.CALLS, Part.CONTENT),
)
GUARDED = make_spec(
    "guarded",
    tagged(
        '<call name="⟨NAME⟩">⟨ARGUMENTS⟩</call>',
        '<value of="⟨KEY⟩">⟨VALUE⟩</value>',
        guard=Guard("<{{", "}}>", "\n<"),
    ),
)
ELEMENTS = make_spec(
    "elements", tagged('<call name="⟨NAME⟩">⟨ARGUMENTS⟩</call>', "<⟨KEY⟩>⟨VALUE⟩</⟨KEY⟩>")
)
NESTED_FIELDS = make_spec(
    "nested-fields",
    tagged(
        '<call name="⟨NAME⟩">⟨ARGUMENTS⟩</call>',
        '<given name="⟨KEY⟩">⟨VALUE⟩</given>',
        item_separator="\n",
        elements=('<field of="⟨KEY⟩">⟨VALUE⟩</field>', "<entry>⟨VALUE⟩</entry>", ""),
    ),
)
NESTED_PREFIXED = make_spec(
    "nested-prefixed",
    tagged(
        '<call name="⟨NAME⟩">@{x}@⟨ARGUMENTS⟩</call>',
        "<⟨KEY⟩>⟨VALUE⟩@{x}@</⟨KEY⟩>@{x}@",
        elements=("@{x}@<⟨KEY⟩>⟨VALUE⟩@{x}@</⟨KEY⟩>", "@{x}@<item>⟨VALUE⟩@{x}@</item>", ""),
    ),
)
NESTED_PLAIN = make_spec(
    "nested-plain",
    tagged(
        '<call name="⟨NAME⟩">⟨ARGUMENTS⟩</call>',
        "<⟨KEY⟩>⟨VALUE⟩</⟨KEY⟩>",
        elements=("<⟨KEY⟩>⟨VALUE⟩</⟨KEY⟩>", "<li>⟨VALUE⟩</li>", ";\n"),
    ),
)
NESTED_LINES = make_spec(
    "nested-lines",
    tagged(
        '<call name="⟨NAME⟩">\n⟨ARGUMENTS⟩</call>',
        "<the ⟨KEY⟩>\n⟨VALUE⟩\n</the>\n",
        elements=("<its ⟨KEY⟩>\n⟨VALUE⟩\n</its>\n", "<one>\n⟨VALUE⟩\n</one>\n", ""),
    ),
)
NESTED_TYPED = make_spec(
    "nested-typed",
    tagged(
        '<call name="⟨NAME⟩">⟨ARGUMENTS⟩</call>',
        '<the name="⟨KEY⟩" is="⟨TYPE⟩">⟨VALUE⟩</the>',
        types={kind: kind.value for kind in JsonType},
        elements=("<⟨KEY⟩>⟨VALUE⟩</⟨KEY⟩>", "<=>⟨VALUE⟩</=>", ""),
    ),
)
CLOSED = make_spec(
    "closed",
    tagged("<call><name>⟨NAME⟩</name>⟨ARGUMENTS⟩</call>", "<⟨KEY⟩|⟨VALUE⟩>", string=Encoding.JSON),
)
UNESCAPED = make_spec(
    "unescaped",
    tagged(
        "⟨NAME⟩(⟨ARGUMENTS⟩)",
        "⟨KEY⟩=⟨VALUE⟩",
        item_separator=", ",
        section=("<|calls|>[", "]<|/calls|>"),
        separator=", ",
        string=Encoding.QUOTED,
        other=Encoding.PYTHON,
        syntax=ValueSyntax(quote="'"),
    ),
)
NAME_LAST = make_spec(
    "name-last", tagged_json("<with> ⟨ARGUMENTS⟩ <do> ⟨NAME⟩ <id> ⟨ID⟩ <ok>", separator="\n")
)
NUMBERED = make_spec(
    "numbered",
    tagged_json("⟨INDEX⟩) ⟨NAME⟩ <- ⟨ARGUMENTS⟩", section=("-- calls --\n", "\n"), separator="\n"),
)
