"""Formats drawn at random, and what a turn in them may say."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from tests.parser_formats import native, tagged, tagged_json
from tests.small_formats import a_format
from turnspec.spec.calls import Guard, Tools, ValueSyntax
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Encoding, ToolMode

_STYLES = ("<{}>", "</{}>", "<|{}|>", "[{}]", "[/{}]", "<<{}>>", "--- {} ---", "§{}§")
_WORDS = st.from_regex(r"[a-z]{3,7}", fullmatch=True)


class _Marks:
    """Gives markers, none of which is the beginning of another."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._known: set[str] = set()

    def __call__(self) -> str:
        style = self._draw(st.sampled_from(_STYLES))
        word = self._draw(_WORDS.filter(lambda word: word not in self._known))
        self._known.add(word)
        return style.format(word)


@st.composite
def formats(draw: st.DrawFn) -> Spec:
    """Draw a format with or without reasoning, and with calls of any form or none."""
    mark, empty = _Marks(draw), ("", "")
    form = draw(st.sampled_from(["", "objects", "json", "values", "text"]))
    tools = draw(_objects(mark) if form == "objects" else _heads(mark, form)) if form else None
    reasoning = (mark(), mark()) if draw(st.booleans()) else empty
    content = (mark(), mark()) if draw(st.booleans()) else empty
    return a_format(tools, reasoning, content, end=mark())


@st.composite
def _objects(draw: st.DrawFn, mark: _Marks) -> Tools:
    name, arguments, _ = draw(st.lists(_WORDS, min_size=3, max_size=3, unique=True))
    members = [f'"{name}": "⟨NAME⟩"', f'"{arguments}": ⟨ARGUMENTS⟩']
    members = members[::-1] if draw(st.booleans()) else members
    call = f"{{{', '.join(members)}}}"
    keys: dict[str, Any] = {"name": (name,), "arguments": (arguments,)}
    if draw(st.booleans()):
        call, keys = '{"⟨NAME⟩": ⟨ARGUMENTS⟩}', {"name": (), "arguments": ()}
    section, separator = (mark(), mark()), draw(st.sampled_from(["", mark()]))
    if draw(st.booleans()):
        section, separator = (section[0] + "[", "]" + section[1]), ", "
    elif draw(st.booleans()):
        call, section = f"{section[0]}{call}{section[1]}", ("", "")
    else:
        separator = draw(st.sampled_from(["", "\n", ", "])) if keys["name"] else separator
        section = ("", "") if keys["name"] else section
    is_key = not keys["name"]
    return native(call, section=section, separator=separator, name_is_key=is_key, **keys)


@st.composite
def _heads(draw: st.DrawFn, mark: _Marks, form: str) -> Tools:
    """Draw heads; a name ends at a sign, or at what begins the arguments."""
    before, end = mark(), mark()
    behind = {"json": draw(st.sampled_from(["", mark(), "\n"])), "text": mark()}.get(form, "(")
    section = (mark(), mark()) if draw(st.booleans()) else ("", "")
    call = f"{before}⟨NAME⟩{behind}⟨ARGUMENTS⟩{')' if form == 'values' else ''}{end}"
    if form == "json":
        is_named = not section[0] and draw(st.booleans())
        call = "<⟨NAME⟩>⟨ARGUMENTS⟩</⟨NAME⟩>" if is_named else call
        return tagged_json(call, section=section, separator="\n")
    written = draw(_values(mark) if form == "values" else _text(mark))
    is_tag = written["item"][0] == "<" and written["item"][1] not in "</"
    if form == "text" and is_tag and draw(st.booleans()):
        call = "<⟨NAME⟩>⟨ARGUMENTS⟩</⟨NAME⟩>"
        section = ("<calls>", "</calls>") if draw(st.booleans()) else ("", "")
    return tagged(call, section=section, separator=draw(st.sampled_from(["\n", ", "])), **written)


@st.composite
def _values(draw: st.DrawFn, mark: _Marks) -> dict[str, Any]:
    styles = [(Encoding.JSON, '"'), (Encoding.PYTHON, "'"), (Encoding.QUOTED, mark())]
    encoding, quote = draw(st.sampled_from([*styles, (Encoding.QUOTED, '"')]))
    has_raw_texts = encoding is Encoding.QUOTED and quote == '"'
    return {
        "item": f"⟨KEY⟩{draw(st.sampled_from(':='))}⟨VALUE⟩",
        "item_separator": "; " if has_raw_texts else ", ",  # no text holds that
        "string": encoding,
        "other": Encoding.JSON if has_raw_texts else encoding,
        "syntax": ValueSyntax(quote=quote),
    }


@st.composite
def _text(draw: st.DrawFn, mark: _Marks) -> dict[str, Any]:
    line = draw(st.sampled_from(["", "\n"]))
    if draw(st.integers(0, 3)) == 0:
        return draw(_elements(line))
    word = draw(_WORDS)
    starts = [f"{mark()}⟨KEY⟩{mark()}", f"<{word}=⟨KEY⟩>", f'<{word} of="⟨KEY⟩">']
    starts.append(f"<{word}>⟨KEY⟩</{word}>{mark()}")
    is_json = draw(st.booleans())
    end = f"</{word}>" if is_json else mark()  # no sign of a number
    return {
        "item": f"{draw(st.sampled_from(starts))}{line}⟨VALUE⟩{line}{end}",
        "string": Encoding.JSON if is_json else Encoding.RAW,
        "other": draw(st.sampled_from([Encoding.JSON, Encoding.PYTHON])),
        "guard": Guard(mark(), mark()) if not is_json and draw(st.booleans()) else None,
    }


@st.composite
def _elements(draw: st.DrawFn, line: str) -> dict[str, Any]:
    """Draw arguments whose arrays and objects are elements, with the key in the tags or not."""
    item = draw(
        st.sampled_from(
            [f"<⟨KEY⟩>{line}⟨VALUE⟩{line}</⟨KEY⟩>", f'<arg of="⟨KEY⟩">{line}⟨VALUE⟩{line}</arg>']
        )
    )
    element, between = "<item>⟨VALUE⟩</item>", draw(st.sampled_from(["", "\n"]))
    return {"item": item, "item_separator": between, "elements": (item, element, between)}


#: Text that no marker of a format can be found in, though it has their signs.
TEXTS = st.text("ab 1.,<[\"'é\n", max_size=12).map(str.strip)
_VALUES = st.recursive(
    TEXTS | st.integers(-99, 99) | st.booleans() | st.sampled_from([0.5, -1.25]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=2),
    max_leaves=4,
)
_NAMES = _WORDS.map("do_{}".format)  # which no marker is
_CALLS = st.builds(Call, _NAMES, st.dictionaries(_WORDS, _VALUES, max_size=3))


@st.composite
def messages(draw: st.DrawFn, spec: Spec) -> Message:
    """Draw what a turn of a format says; elements that hold nothing look all the same."""
    reasoning = draw(TEXTS) if spec.reasoning.end else ""
    calls = draw(st.lists(_CALLS, max_size=3)) if spec.tools else []
    if spec.tools and spec.tools.arguments.elements:
        marks = (spec.tools.call, spec.tools.section_start, spec.tools.section_end)
        taken = {*re.findall(r"\w+", repr((marks, spec.turn.stop, spec.reasoning, spec.content)))}
        calls = [replace(it, arguments=_filled(it.arguments, taken)) for it in calls]
    content = draw(TEXTS)
    if spec.tools and spec.tools.mode is ToolMode.JSON_NATIVE and not spec.tools.section_start:
        content = content.rstrip("[\n ")  # a bracket right before an object is that of its array
    return Message(content, reasoning, tuple(calls))


def _filled(value: Any, taken: Set[str]) -> Any:
    """Return a value without empty ones in it, and without markup in elements.

    A tag of a key in ``taken`` would be a marker of the format.
    """
    if isinstance(value, dict):
        given = {key: _filled(it, taken) for key, it in value.items() if it not in ({}, [], "")}
        return {f"k{key}" if key in taken else key: it for key, it in given.items()}
    if isinstance(value, list):
        return [_filled(it, taken) for it in value if it not in ({}, [], "")]
    return value.replace("<", "").strip() or "a" if isinstance(value, str) else value


def tools_of(message: Message) -> list[dict[str, Any]]:
    """Return definitions of the tools that a turn calls, with the types of their arguments."""
    found: dict[str, dict[str, Any]] = {}
    for call in message.calls:
        properties = found.setdefault(call.name, {})
        for key, value in call.arguments.items():
            properties.setdefault(key, {"anyOf": []})["anyOf"].append(_schema(value))
    return [
        {"type": "function", "function": {"name": name, "parameters": {"properties": properties}}}
        for name, properties in found.items()
    ]


def _schema(value: object) -> dict[str, Any]:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    if isinstance(value, list):
        return {"type": "array", "prefixItems": [*map(_schema, value)]}
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: _schema(it) for key, it in value.items()}}
    return {"type": kinds[type(value)]}
