"""Formats drawn at random, and what a turn in them may say."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.parser_formats import native, tagged, tagged_json
from tests.small_formats import a_format
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Encoding, Guard, Spec, Tools, ValueSyntax

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
        return tagged_json(call, section=section, separator="\n")
    written = draw(_values(mark) if form == "values" else _text(mark))
    return tagged(call, section=section, **written)


@st.composite
def _values(draw: st.DrawFn, mark: _Marks) -> dict[str, Any]:
    styles = ((Encoding.JSON, '"'), (Encoding.PYTHON, "'"), (Encoding.QUOTED, mark()))
    encoding, quote = draw(st.sampled_from(styles))
    return {
        "item": f"⟨KEY⟩{draw(st.sampled_from(':='))}⟨VALUE⟩",
        "item_separator": ", ",
        "string": encoding,
        "other": encoding,
        "syntax": ValueSyntax(quote=quote),
    }


@st.composite
def _text(draw: st.DrawFn, mark: _Marks) -> dict[str, Any]:
    line = draw(st.sampled_from(["", "\n"]))
    start = draw(st.sampled_from([f"{mark()}⟨KEY⟩{mark()}", f"<{draw(_WORDS)}=⟨KEY⟩>"]))
    return {
        "item": f"{start}{line}⟨VALUE⟩{line}{mark()}",
        "other": draw(st.sampled_from([Encoding.JSON, Encoding.PYTHON])),
        "guard": Guard(mark(), mark()) if draw(st.booleans()) else None,
    }


#: Text that no marker of a format can be found in, though it has their signs.
TEXTS = st.text("ab 1.,<[\"'é\n", max_size=12).map(str.strip)
_VALUES = st.recursive(
    TEXTS | st.integers(-99, 99) | st.booleans() | st.sampled_from([0.5, -1.25]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=2),
    max_leaves=4,
)
_CALLS = st.builds(Call, _WORDS, st.dictionaries(_WORDS, _VALUES, max_size=3))


@st.composite
def messages(draw: st.DrawFn, spec: Spec) -> Message:
    """Draw what a turn of a format says."""
    reasoning = draw(TEXTS) if spec.reasoning.end else ""
    calls = draw(st.lists(_CALLS, max_size=3)) if spec.tools else []
    return Message(draw(TEXTS), reasoning, tuple(calls))


def tools_of(message: Message) -> list[dict[str, Any]]:
    """Return definitions of the tools that a turn calls, with the types of their arguments."""
    found: dict[str, dict[str, Any]] = {}
    for call in message.calls:
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
