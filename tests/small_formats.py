"""Formats written by hand, one for each way to write calls, as small as can be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.specs_for_tests import NO_THINKING, plain_spec, two_prompts
from turnspec.spec.model import (
    Alternatives,
    Arguments,
    CodeCall,
    Condition,
    Content,
    ContentMode,
    Elements,
    Encoding,
    End,
    Fields,
    Guard,
    JsonType,
    Limit,
    Literal,
    OtherMarks,
    Part,
    Piece,
    Reasoning,
    ReasoningMode,
    ReasoningScope,
    Slot,
    SlotKind,
    Spec,
    Subject,
    Tokenizer,
    ToolMode,
    Tools,
    Turn,
    ValueSyntax,
    Verdict,
)

JSON = dict.fromkeys(JsonType, Encoding.JSON)
RAW = {**JSON, JsonType.STRING: Encoding.RAW}
PYTHON = dict.fromkeys(JsonType, Encoding.PYTHON)
RAW_PYTHON = {**PYTHON, JsonType.STRING: Encoding.RAW}
QUOTED = {**dict.fromkeys(JsonType, Encoding.JSON), JsonType.STRING: Encoding.QUOTED}
QUOTED |= dict.fromkeys((JsonType.ARRAY, JsonType.OBJECT), Encoding.QUOTED)
_ORDER = (Part.REASONING, Part.CONTENT, Part.CALLS)
_SLOTS = re.compile(f"({'|'.join(SlotKind)})")


def pieces(text: str) -> tuple[Piece, ...]:
    """Return a text as pieces; the names of slots stand for these."""
    found = enumerate(_SLOTS.split(text))
    return tuple(Slot(SlotKind(it)) if at % 2 else Literal(it) for at, it in found if it)


def a_format(
    tools: Tools | None = None,
    reasoning: tuple[str, str] = ("", ""),
    content: tuple[str, str] = ("", ""),
    *,
    end: str = "<end>",
    order: tuple[Part, ...] = _ORDER,
    **changes: Any,
) -> Spec:
    """Return a format whose turns begin with nothing, and end in the same way behind all parts."""
    mode = ReasoningMode.TAG_BASED if any(reasoning) else ReasoningMode.NONE
    ends = tuple(End(part, end, end) for part in (Part.START, *_ORDER))
    return replace(
        plain_spec(),
        name="hand",
        thinking=changes.pop("thinking", NO_THINKING),
        turn=Turn(header="", order=order, ends=ends, stop=(end,)),
        reasoning=Reasoning(mode, *reasoning, "reasoning_content", ReasoningScope.ALL),
        content=Content(ContentMode.PLAIN, *content),
        tools=tools,
        limits=changes.pop("limits", ()),
        **changes,
    )


def objects(call: str, section: tuple[str, str] = ("", ""), separator: str = "") -> Tools:
    """Return calls that are JSON objects, whose keys are those of these tests."""
    ids = ("as",) if "ID" in call else ()
    return Tools(
        mode=ToolMode.JSON_NATIVE,
        section_start=section[0],
        call=pieces(call),
        separator=separator,
        section_end=section[1],
        arguments=Arguments(),
        fields=Fields(("do",), ("with",), ids),
    )


def heads(
    call: str,
    section: tuple[str, str] = ("", ""),
    separator: str = "",
    arguments: Arguments | None = None,
) -> Tools:
    """Return calls that have heads, with JSON behind them or the arguments that are given."""
    mode = ToolMode.TAG_WITH_TAGGED if arguments else ToolMode.TAG_WITH_JSON
    arguments = arguments or Arguments()
    return Tools(mode, section[0], pieces(call), separator, section[1], arguments)


def items(item: str, values: Mapping[JsonType, Encoding] = RAW, **changes: Any) -> Arguments:
    """Return how arguments are written, each as an item."""
    return Arguments(item=pieces(item), values=values, empty="", **changes)


def _nested(item: str, member: str, element: str) -> Arguments:
    elements = Elements(pieces(member), pieces(element))
    values = {**RAW, **dict.fromkeys((JsonType.ARRAY, JsonType.OBJECT), Encoding.ELEMENTS)}
    return items(item, values, elements=elements)


_WHY = ("<why>", "</why>")
_OBJECT = '{"do": "NAME", "with": ARGUMENTS}'
_CALL = "<call NAME>ARGUMENTS</call>"
_HEAD = heads(_CALL)
_KEYED = items("KEY=VALUE", PYTHON, separator=", ")
_TYPES = dict.fromkeys(JsonType, "j") | {JsonType.STRING: "s"}
_TEXT_END = (Part.REASONING, Part.CONTENT)

FORMATS: dict[str, Spec] = {
    "text": a_format(None, _WHY, order=_TEXT_END, thinking=two_prompts("", "<why>")),
    "objects": a_format(objects(f"<call>{_OBJECT}</call>")),
    "separated": a_format(objects(_OBJECT, ("<calls>", "</calls>"), "<next>")),
    "bare": a_format(objects('{"do": "NAME", "with": ARGUMENTS, "as": "ID"}')),
    "json": a_format(_HEAD),
    "tokens": a_format(
        _HEAD,
        _WHY,
        alternatives=Alternatives(marks=(OtherMarks(Part.CONTENT, pieces("[a]"), "[/a]"),)),
        tokenizer=Tokenizer("", ("<s>", "<pad>"), ("</s>",)),
    ),
    "bare tokens": a_format(
        objects(_OBJECT), order=_ORDER[1:], tokenizer=Tokenizer("", ("<s>",), ("</s>",))
    ),
    "ids": a_format(
        _HEAD, limits=(Limit(Subject.CALL_ID, Verdict.DROPS, Condition.ALWAYS, "the name's"),)
    ),
    "thoughts": a_format(
        heads("<call>NAME<with>ARGUMENTS</call>"),
        ("<|w>thought", "</why>"),
        alternatives=Alternatives(marks=(OtherMarks(Part.REASONING, pieces("<why>")),)),
    ),
    "named lines": a_format(heads("NAMEARGUMENTS"), _WHY),
    "named lines of values": a_format(heads("NAME(ARGUMENTS)", arguments=_KEYED)),
    "keyed lines": a_format(heads(_CALL, arguments=items("KEY (TYPE):VALUE\n", types=_TYPES))),
    "fences": a_format(objects(f"```do\n{_OBJECT}\n```")),
    "opened": a_format(
        heads(
            '<call "NAME">ARGUMENTS</call>',
            ("<calls>", "</calls>"),
            arguments=items("<k>KEY</k><v>VALUE</v>"),
        )
    ),
    "tail": a_format(heads("<call NAME>ARGUMENTS #ID</call>")),
    "python": a_format(heads("<call>NAME(ARGUMENTS)</call>", arguments=_KEYED)),
    "tags": a_format(heads(_CALL, arguments=items("<KEY>VALUE</KEY>", RAW_PYTHON))),
    "elements": a_format(
        heads(
            _CALL, arguments=_nested("<KEY>VALUE</KEY>", "<KEY>VALUE</KEY>", "<item>VALUE</item>")
        )
    ),
    "array": a_format(
        heads(_CALL, arguments=_nested("<arg KEY>VALUE</arg>", "<m KEY>VALUE</m>", "<e>VALUE</e>"))
    ),
    "lines": a_format(heads(_CALL, arguments=items("<KEY>\nVALUE\n</KEY>"))),
    "escaped": a_format(
        heads(_CALL, arguments=items('<k "KEY">VALUE</k>', escapes={"&": "&amp;", '"': "&quot;"}))
    ),
    "entities": a_format(
        heads(
            _CALL,
            arguments=items(
                "<k KEY>VALUE</k>",
                guard=Guard("<![CDATA[", "]]>"),
                value_escapes={"<": "&lt;", "&": "&amp;"},
            ),
        )
    ),
    "nothing behind a call": a_format(
        heads(
            "do: NAME\nARGUMENTS",
            ("<calls>", "</calls>"),
            "\n",
            items("KEY: VALUE", JSON, separator="\n", end="\n"),
        )
    ),
    "section": a_format(
        heads(
            "NAME(ARGUMENTS)",
            ("<calls>[", "]</calls>"),
            ", ",
            items("KEY:VALUE", QUOTED, separator=",", syntax=ValueSyntax(quote="~~q~~")),
        )
    ),
    "list": a_format(
        heads("NAME(ARGUMENTS)", ("[", "]"), ", ", _KEYED), order=(Part.CALLS, Part.CONTENT)
    ),
    "comments": a_format(
        heads("<NAME>ARGUMENTS</NAME>", ("<calls>", "</calls>"), "-next-"), ("#|", "|#")
    ),
    "keys": a_format(heads("<call NAME\nARGUMENTS</call>", arguments=items("KEY: VALUE\n", JSON))),
    "last": a_format(
        heads("<call NAMEARGUMENTS</call>", arguments=items("<k>KEY<TYPE>VALUE", types=_TYPES)),
        content=("<say>", ""),
        order=(Part.REASONING, Part.CALLS, Part.CONTENT),
    ),
    "code": a_format(
        _HEAD, alternatives=Alternatives(code=CodeCall("<run>", "python", "code", "call"))
    ),
}
