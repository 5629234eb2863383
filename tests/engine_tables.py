"""Format tables drawn at random, and turns written from a table alone.

The writer knows the notation of tables and nothing of specs, so that it and the engine have only
the table in common.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from turnspec.codegen.format import ArgumentsFormat, CallsFormat, ContentFormat, Format

_STYLES = ("<{}>", "</{}>", "<|{}|>", "[{}]", "[/{}]", "<<{}>>", "--- {} ---", "§{}§")
_WORDS = st.from_regex(r"[a-z]{3,7}", fullmatch=True)


@dataclass(frozen=True, slots=True)
class Call:
    """A call to be written."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn says."""

    reasoning: str
    content: str
    calls: tuple[Call, ...]


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
def tables(draw: st.DrawFn) -> Format:
    """Draw a format table with or without reasoning, and with calls of any form or none."""
    mark = _Marks(draw)
    table: Format = {"name": "drawn", "header": "", "prompt": "", "turn_end": [mark()]}
    order = ["content"]
    if draw(st.booleans()):
        order.insert(0, "reasoning")
        table["reasoning"] = {"start": [mark()], "end": [mark()]}
    if draw(st.booleans()):
        table["content"] = {"start": [mark()], "end": [mark()]}
    form = draw(st.sampled_from(["", "objects", "json", "values", "text"]))
    if form:
        order.append("calls")
        table["calls"] = draw(_object_calls(mark) if form == "objects" else _head_calls(mark, form))
        table["arguments"] = draw(_ARGUMENTS[form](mark))
    table["order"] = order
    return table


@st.composite
def _object_calls(draw: st.DrawFn, mark: _Marks) -> CallsFormat:
    keys = draw(st.lists(_WORDS, min_size=3, max_size=3, unique=True))
    opening, closing = mark(), mark()
    calls: CallsFormat = {
        "form": "objects",
        "opening": [opening, *([mark()] if draw(st.booleans()) else [])],
        "mentions": [opening],
        "closing": [closing],
        "end": [closing],
        "in_array": draw(st.booleans()),
    }
    if draw(st.booleans()):
        named = {"name": keys[0], "arguments": keys[1]}
        calls["members"] = named if draw(st.booleans()) else dict(reversed(named.items()))
        calls["other_members"] = keys[2:]
    return calls


@st.composite
def _head_calls(draw: st.DrawFn, mark: _Marks, form: str) -> CallsFormat:
    """Draw heads; a name ends at a sign, or at what begins the arguments."""
    before = mark()
    behind = "(" if form == "values" else draw(st.sampled_from(["", mark(), "\n"]))
    if form == "text":
        behind = mark()
    end = ")" if form == "values" else mark()
    calls: CallsFormat = {"form": "heads", "start": f"{before}{{name}}{behind}".replace("\n", " ")}
    calls["closing"] = [end]
    if form != "values":
        calls["end"] = [end]
    if draw(st.booleans()):
        calls["opening"], calls["section_end"] = [mark()], [mark()]
        calls["needs_opening"] = draw(st.booleans())
    calls["mentions"] = [(calls.get("opening") or [before])[0]]
    return calls


def _json(mark: _Marks) -> st.SearchStrategy[ArgumentsFormat]:
    form: ArgumentsFormat = {"form": "json"}
    return st.just(form)


@st.composite
def _values(draw: st.DrawFn, mark: _Marks) -> ArgumentsFormat:
    styles: list[Any] = [
        {},
        {"escapes": "python"},
        {"raw_quote": mark(), "raw_inside": True},
    ]
    sign = draw(st.sampled_from([":", "="]))
    arguments: ArgumentsFormat = {"form": "values", "start": f"{{key}}{sign}", "separator": ","}
    if style := draw(st.sampled_from(styles)):
        arguments["values"] = style
    return arguments


@st.composite
def _text(draw: st.DrawFn, mark: _Marks) -> ArgumentsFormat:
    line = draw(st.sampled_from(["", "\n"]))
    start = draw(st.sampled_from([f"{mark()}{{key}}{mark()}", f"<{draw(_WORDS)}={{key}}>"]))
    arguments: ArgumentsFormat = {"form": "text", "start": start + line, "end": line + mark()}
    if draw(st.booleans()):
        arguments["guard"] = [mark(), mark()]
    if draw(st.booleans()):
        arguments["literals"] = "python"
    return arguments


_ARGUMENTS = {"objects": _json, "json": _json, "values": _values, "text": _text}

#: Text that no marker of a table can be found in, though it has their signs.
TEXTS = st.text("ab 1.,<[\"'é\n", max_size=12).map(str.strip)
_VALUES = st.recursive(
    TEXTS | st.integers(-99, 99) | st.booleans() | st.sampled_from([0.5, -1.25]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=2),
    max_leaves=4,
)
_CALLS = st.builds(Call, _WORDS, st.dictionaries(_WORDS, _VALUES, max_size=3))


@st.composite
def turns(draw: st.DrawFn, table: Format) -> Turn:
    """Draw what a turn of a format says."""
    reasoning = draw(TEXTS) if "reasoning" in table else ""
    calls = draw(st.lists(_CALLS, max_size=3)) if "calls" in table else []
    return Turn(reasoning, draw(TEXTS), tuple(calls))


def tools_of(turn: Turn) -> list[dict[str, Any]]:
    """Return definitions of the tools that a turn calls, with the types of their arguments."""
    found: dict[str, dict[str, Any]] = {}
    for call in turn.calls:
        properties = found.setdefault(call.name, {})
        for key, value in call.arguments.items():
            known = properties.setdefault(key, {"anyOf": []})
            known["anyOf"].append({"type": _type(value)})
    return [
        {"type": "function", "function": {"name": name, "parameters": {"properties": properties}}}
        for name, properties in found.items()
    ]


def _type(value: object) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return kinds.get(type(value), "object")


def write(table: Format, turn: Turn) -> str:
    """Write a turn as its table says."""
    written = ""
    if "reasoning" in table and turn.reasoning:
        marks = table["reasoning"]
        written += f"{marks['start'][0]}{turn.reasoning}{marks['end'][0]}"
    if turn.content:
        content: ContentFormat = table.get("content", {})
        opening, closing = _first(content.get("start", ())), _first(content.get("end", ()))
        written += f"{opening}{turn.content}{closing}"
    if turn.calls:
        written += _write_calls(table, turn.calls)
    return written + table["turn_end"][0]


def _first(markers: Sequence[str]) -> str:
    return markers[0] if markers else ""


def _write_calls(table: Format, calls: Sequence[Call]) -> str:
    form = table["calls"]
    if form["form"] == "objects":
        return _write_objects(form, calls)
    written = "".join(
        filled(form["start"], name=call.name)
        + _write_arguments(table, call.arguments)
        + _first(form.get("closing", ()))
        for call in calls
    )
    return _first(form.get("opening", ())) + written + _first(form.get("section_end", ()))


def _write_objects(form: CallsFormat, calls: Sequence[Call]) -> str:
    objects = [json.dumps(_members(form, call), ensure_ascii=False) for call in calls]
    opening = "".join(form["opening"])
    if form.get("in_array"):
        return f"{opening}[{', '.join(objects)}]{form['closing'][0]}"
    return "".join(f"{opening}{written}{form['closing'][0]}" for written in objects)


def _members(form: CallsFormat, call: Call) -> dict[str, Any]:
    if "members" not in form:
        return {call.name: call.arguments}
    values = {"name": call.name, "arguments": call.arguments}
    return {key: values[role] for role, key in form["members"].items()}


def _write_arguments(table: Format, arguments: Mapping[str, Any]) -> str:
    form = table["arguments"]
    if form["form"] == "json":
        return json.dumps(arguments, ensure_ascii=False)
    if form["form"] == "values":
        written = (_write_value(form, key, value) for key, value in arguments.items())
        return f"{form['separator']} ".join(written)
    return "".join(_write_text(form, key, value) for key, value in arguments.items())


def _write_value(form: ArgumentsFormat, key: str, value: Any) -> str:
    return filled(form["start"], key=key) + _value(value, form.get("values", {}))


def _write_text(form: ArgumentsFormat, key: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if form.get("literals") == "python" and isinstance(value, bool | list | dict):
        text = repr(value)
    guard = form.get("guard")
    if guard and isinstance(value, str):
        text = f"{guard[0]}{text}{guard[1]}"
    return filled(form["start"], key=key) + text + form["end"]


def _value(value: Any, style: Mapping[str, Any]) -> str:
    if style.get("escapes") == "python":
        return repr(value)
    quote = style.get("raw_quote")
    if quote is None:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_value(item, style)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_value(item, style) for item in value) + "]"
    return json.dumps(value)


def filled(notation: str, **slots: str) -> str:
    """Return a marker with its slots filled."""
    return re.sub(r"\{(\w+)\}", lambda slot: slots[slot[1]], notation)
