"""Tool calls in a `response_template`: the field that finds each call, and reads what is in it.

A template's field is a text between two expressions. Which these are follows from where a format's
calls have marks of their own: around each, around all of them, or none at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from turnspec.codegen.shapes import looks_like_head
from turnspec.export.exporting import Loss, Refusal
from turnspec.export.expressions import escaped, lenient, longest_first, pieces_expression
from turnspec.export.response_arguments import argument_losses, arguments_reader
from turnspec.grammar.triggers import before_words, either
from turnspec.spec.calls import Fields, Piece, Slot, Tools
from turnspec.spec.characters import call_ends
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.spec.words import Part, SlotKind, ToolMode

# Of all white space, strings in calls hold blanks alone without an escape.
_SPACE = r"[ \t\r\n]*"
_JSON_SIGNS = '{}[]",: \n'
_PLACEHOLDER_WORD = re.compile(r"\w+")
_UNMARKED = Loss("calls without marks", "a line that begins as one is one, whatever its name is")
_LOOSE_SECTION = Loss(
    "calls after the first",
    "they have no mark: one that begins inside an argument's text ends the call before it",
)


@dataclass(frozen=True, slots=True)
class CallsField:
    """The field for calls; ``begins`` are expressions with which a call or a section begins.

    ``takes_section``: the mark of a section is how its first call begins.
    """

    keys: dict[str, Any]
    begins: tuple[str, ...] = ()
    losses: tuple[Loss, ...] = ()
    takes_section: bool = True

    def reading(self, keys: Mapping[str, Any], *losses: Loss) -> CallsField:
        """Return the field with what reads it."""
        return replace(self, keys={**self.keys, **keys}, losses=(*self.losses, *losses))


def _between(
    opens: str, closes: str, begin: str, *losses: Loss, takes_section: bool = True
) -> CallsField:
    """Return the field for what is between two expressions, without what reads it."""
    keys = {"open_pattern": opens, "close_pattern": closes}
    return CallsField(keys, (begin,), losses, takes_section)


def calls_field(spec: Spec) -> CallsField | Refusal:
    """Return the field that reads a format's calls, or why none can."""
    tools = spec.tools
    assert tools is not None
    if tools.mode is not ToolMode.JSON_NATIVE or tools.fields.name_is_key:
        return _head_calls(spec, tools)
    section, end = tools.section_start.rstrip(), tools.section_end.lstrip()
    is_array = are_array(tools)
    transform = _transform(tools.fields, "" if is_array else "content.")
    if isinstance(transform, Refusal):
        return transform
    keys: dict[str, Any] = {"content": "json", "transform": transform}
    if is_array:
        field = _array_field(spec, tools, section[:-1].strip(), end[1:])
        return field.reading({**keys, "transform_each": True})
    found = _object_field(spec, tools)
    return found if isinstance(found, Refusal) else found.reading({**keys, "repeats": True})


def _array_field(spec: Spec, tools: Tools, start: str, end: str) -> CallsField:
    """Return the field for an array of calls."""
    closes = _close(spec, end, [], bracket="]")
    if start:
        return _between(rf"\s*{lenient(start)}\s*(?=\[)", closes, lenient(start))
    begin = _line(rf"\[\s*{_object_begin(tools)}")
    return _between(begin, closes, begin, _UNMARKED)


def _object_field(spec: Spec, tools: Tools) -> CallsField | Refusal:
    """Return the field for a call that is an object of its own."""
    head, tail, first = call_head(tools), call_tail(tools), _object_begin(tools)
    if _is_distinct(head):
        begin = lenient(head.strip())
        closes = _close(spec, tail, [begin])
        return _between(rf"\s*{begin}\s*", closes, begin, takes_section=False)
    section, separator = tools.section_start.strip(), tools.separator.strip()
    lead = [rf"(?:{either(map(lenient, found))})?\s*" for found in [before_words(spec)] if found]
    marked = _is_distinct(section)
    if not (tools.separator if marked else separator) and spec.capabilities.parallel_calls:
        return Refusal("tool calls", "nothing marks them, and nothing stands between two")
    if not marked and not separator:
        return _between(_line(first, lead), _close(spec, tail, []), first, _UNMARKED)
    opens, begin = _line(first, lead), first
    if marked:
        begin = lenient(section)
        opens = rf"\s*{begin}\s*(?=\{{)"
    further = rf"\s*{lenient(separator)}\s*"
    opens += rf"|(?<=\}}){further}(?={first})"
    closes = either([_close(spec, tools.section_end, []), rf"(?<=\}})(?={further}{first})"])
    losses = (_LOOSE_SECTION,) if marked else (_UNMARKED, _LOOSE_SECTION)
    return _between(opens, closes, begin, *losses)


def _line(begin: str, lead: Sequence[str] = ()) -> str:
    """Return an expression for the place where a line begins in a certain way, behind a lead."""
    return rf"(?:\A|(?<=\n))\s*{''.join(lead)}(?={begin})"


def are_array(tools: Tools) -> bool:
    """Tell whether the calls of a section are one array."""
    if tools.mode is not ToolMode.JSON_NATIVE or call_head(tools).strip():
        return False
    return tools.section_start.rstrip().endswith("[") and tools.section_end.lstrip().startswith("]")


def call_head(tools: Tools) -> str:
    """Return what stands before a call's object, or its name."""
    return tools.call[0].text.partition("{")[0]


def call_tail(tools: Tools) -> str:
    """Return what stands behind a call's object, or its arguments."""
    if tools.mode is ToolMode.JSON_NATIVE and not tools.fields.name_is_key:
        return tools.call[-1].text.rpartition("}")[2]
    return _behind_arguments(tools.call)


def _object_begin(tools: Tools) -> str:
    """Return an expression for the beginning of a call's object: its first key."""
    found = re.search(r'\{\s*"([^"]*)"', tools.call[0].text)
    key = found.group(1) if found else tools.fields.name[0]
    return rf"\{{\s*\"{escaped(key)}\"\s*:"


def _transform(fields: Fields, root: str) -> dict[str, Any] | Refusal:
    """Return where the parts of a call stand in what was read of it."""
    paths = {"name": fields.name, "arguments": fields.arguments, "id": fields.id}
    for word in (word for path in paths.values() for word in path):
        if not _PLACEHOLDER_WORD.fullmatch(word):
            return Refusal("tool calls", f"a placeholder can't hold the key {word!r}")
    places = {key: f"{{{root}{'.'.join(path)}}}" for key, path in paths.items() if path}
    identifier = {"id": places.pop("id")} if "id" in places else {}
    return {"type": "function", **identifier, "function": places}


def _head_calls(spec: Spec, tools: Tools) -> CallsField | Refusal:
    """Return the field for calls with a head that has the name, and arguments behind it."""
    slots = {piece.kind for piece in tools.call}
    if SlotKind.ARGUMENTS not in slots:
        return Refusal("tool calls", "their arguments have no place of their own")
    if not tools.call[0].kind and any(_is_distinct(p.text) for p in _before_arguments(tools.call)):
        field = _marked_field(spec, tools)
    elif _is_distinct(tools.section_start):
        field = _section_field(spec, tools)
    else:
        return Refusal("tool calls", "neither they nor their section begin with a mark")
    identifier = {"id": "{id}"} if SlotKind.ID in slots else {}
    function = {"name": "{name}", "arguments": "{content}"}
    transform = {"type": "function", **identifier, "function": function}
    keys = {**arguments_reader(tools), "repeats": True, "transform": transform}
    return field.reading(keys, *argument_losses(tools))


def _marked_field(spec: Spec, tools: Tools) -> CallsField:
    """Return the field for a call whose head is a mark, in any of the ways to write it."""
    ways = (tools.call, *spec.alternatives.calls)
    heads = [_head_expression(spec, tools, way) for way in ways]
    begin = _unnamed(heads[0])
    tails = longest_first(_behind_arguments(way) for way in ways) or [""]
    closes = either(_close(spec, tail, [begin], tools=tools) for tail in tails)
    return _between(rf"\s*{either(heads)}\s*", closes, begin, takes_section=False)


def _section_field(spec: Spec, tools: Tools) -> CallsField:
    """Return the field for a call that only its section, or the call before it, tells."""
    head = _head_expression(spec, tools, tools.call)
    section = lenient(tools.section_start.strip())
    last, stop = before_any(tools.section_end.strip(), stop_strings(spec))
    end = lenient(last) + (rf"{_SPACE}(?:{lenient(stop)}|\Z)" if stop else "")
    separator, tail = lenient(tools.separator.strip()), _behind_arguments(tools.call).strip()
    opens = rf"\s*{section}\s*{head}|(?<={lenient(tail[-1:] or '.')})\s*{separator}\s*{head}"
    further = rf"(?={_SPACE}{separator}\s*{_unnamed(head)})"
    closes = rf"{_SPACE}{lenient(tail)}(?:{_SPACE}{end}\s*|{further})"
    return _between(opens, closes, section, _LOOSE_SECTION)


def _head_expression(spec: Spec, tools: Tools, way: Sequence[Piece]) -> str:
    """Return the expression for a call's head, for which content's own mark isn't taken."""
    ends = call_ends(tools, SlotKind.NAME) + call_ends(tools, SlotKind.ID)
    head = pieces_expression(_before_arguments(way), ends).removesuffix(r"\s*")
    start = spec.content.start.strip()
    return f"(?!{lenient(start)}){head}" if start else head


def before_any(text: str, stops: Sequence[str]) -> tuple[str, str]:
    """Return the text before the first of the stop strings in it, and the rest."""
    before = min((text.partition(stop)[0] for stop in stops), key=len, default=text)
    return before, text[len(before) :]


def _is_distinct(text: str) -> bool:
    """Tell whether a text is a mark, and not only what JSON itself is written with."""
    return looks_like_head(text) and any(sign not in _JSON_SIGNS for sign in text)


def _before_arguments(call: Sequence[Piece]) -> Sequence[Piece]:
    return call[: call.index(Slot(SlotKind.ARGUMENTS))]


def _behind_arguments(call: Sequence[Piece]) -> str:
    rest = call[call.index(Slot(SlotKind.ARGUMENTS)) + 1 :]
    return "".join(piece.text for piece in rest)


def _unnamed(expression: str) -> str:
    """Return an expression without groups: what only has to follow gives no name."""
    return re.sub(r"\(\?P=\w+\)", r"[^\\s<>]+", re.sub(r"\(\?P<\w+>", "(?:", expression))


def _close(
    spec: Spec, tail: str, begins: Sequence[str], *, bracket: str = "}", tools: Tools | None = None
) -> str:
    """Return the expression for a call's end: its own mark, or what may come behind it.

    JSON in front of it has to be closed, so that a mark in a string ends nothing; what only
    follows is left for others to read.
    """
    is_json = tools is None or not tools.arguments.item
    closed = rf"(?<=\{bracket})" if is_json else ""
    own = lenient(tail.strip())
    if looks_like_head(tail) or (tail.strip() and not is_json):
        mark = tail.strip()  # which servers keep to themselves if it is a stop
        kept = any(s.strip() in mark or s.startswith(mark) for s in stop_strings(spec))
        end = either([own, r"\Z"]) if kept else own
        return rf"{closed}{_SPACE}{end}\s*"
    found = (spec.tools.section_end, *spec.tools.separators) if spec.tools else ()
    stops = [*spec.turn.stop, spec.final(Part.CALLS), *filter(_is_distinct, found)]
    following = [*begins, *map(lenient, longest_first(stops))]
    behind = either([*(rf"(?={_SPACE}{either(following)})" for _ in following[:1]), r"\s*\Z"])
    return rf"{closed}{_SPACE}{own}{behind}"
