"""A turn in its parts: which stretch is a marker, and of what, and which is the message's own.

The turn is written by the turn writer itself, from a spec whose literals and slots carry private
characters around them. So what is shown can't differ from what is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Any, TypeVar

from turnspec.codegen.writer import write_parts
from turnspec.spec.calls import Arguments, Literal, Piece, Slot, Tools
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Part, SlotKind
from turnspec.verification.turns import expected_message

_Record = TypeVar("_Record", bound=Any)


class Kind(StrEnum):
    """What a stretch of a turn is."""

    HEADER = "header"
    REASONING_MARK = "reasoning mark"
    REASONING = "reasoning"
    CONTENT_MARK = "content mark"
    CONTENT = "content"
    CALL_MARK = "call mark"
    NAME = "name"
    ID = "id"
    NUMBER = "number"
    ARGUMENT_MARK = "argument mark"
    KEY = "key"
    TYPE = "type"
    VALUE = "value"
    ARGUMENTS = "arguments"
    BETWEEN = "between parts"
    END = "end"


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a turn."""

    text: str
    kind: Kind


#: The first of the private characters that open a kind; behind them is the one that closes any.
_FIRST = 0xF0000
_CLOSE = chr(_FIRST + len(Kind))
_OPENING = {chr(_FIRST + number): kind for number, kind in enumerate(Kind)}
_OPEN = {kind: character for character, kind in _OPENING.items()}
_SLOTS = {
    SlotKind.NAME: Kind.NAME,
    SlotKind.ID: Kind.ID,
    SlotKind.INDEX: Kind.NUMBER,
    SlotKind.COUNT: Kind.NUMBER,
    SlotKind.KEY: Kind.KEY,
    SlotKind.TYPE: Kind.TYPE,
    SlotKind.VALUE: Kind.VALUE,
    SlotKind.ARGUMENTS: Kind.ARGUMENTS,
}


def annotated_turn(spec: Spec, message: Message) -> tuple[Segment, ...]:
    """Return the turn that a model writes for a message, from its header on, in segments."""
    shown = expected_message(spec, message)
    content = _marked(shown.content, Kind.CONTENT)
    reasoning = _marked(shown.reasoning, Kind.REASONING)
    marked = replace(shown, content=content, reasoning=reasoning)
    text = write_parts(_marked_spec(spec), marked, Part.START)
    return tuple(_segments(_marked(spec.turn.header, Kind.HEADER) + text))


def _segments(text: str) -> Iterator[Segment]:
    """Cut a marked text; neighbours of one kind are one segment."""
    stack: list[Kind] = []
    found: list[tuple[Kind, str]] = []
    for character in text:
        if character in _OPENING:
            stack.append(_OPENING[character])
        elif character == _CLOSE and stack:
            stack.pop()
        else:
            found.append((stack[-1] if stack else Kind.BETWEEN, character))
    for kind, run in groupby(found, key=lambda pair: pair[0]):
        yield Segment("".join(character for _, character in run), kind)


def _marked(text: str, kind: Kind) -> str:
    return f"{_OPEN[kind]}{text}{_CLOSE}" if text else ""


def _marked_spec(spec: Spec) -> Spec:
    """Return a spec in which all that turns are written with is marked."""
    mark, turn = Kind.REASONING_MARK, spec.turn
    joins = tuple(_with_marks(join, text=Kind.BETWEEN) for join in turn.joins)
    ends = tuple(_with_marks(end, final=Kind.END) for end in turn.ends)
    return replace(
        spec,
        reasoning=_with_marks(spec.reasoning, start=mark, end=mark),
        content=_with_marks(spec.content, start=Kind.CONTENT_MARK, end=Kind.CONTENT_MARK),
        turn=replace(turn, joins=joins, ends=ends),
        tools=_marked_tools(spec.tools) if spec.tools else None,
    )


def _marked_tools(tools: Tools) -> Tools:
    mark, after = Kind.CALL_MARK, tools.after_first
    marked = _with_marks(tools, section_start=mark, separator=mark, section_end=mark)
    return replace(
        _with_marks(marked, call=mark, empty_call=mark),
        arguments=_marked_arguments(tools.arguments),
        after_first=after and _with_marks(after, separator=mark, section_end=mark, end=Kind.END),
    )


def _marked_arguments(arguments: Arguments) -> Arguments:
    mark, guard, elements = Kind.ARGUMENT_MARK, arguments.guard, arguments.elements
    return replace(
        _with_marks(arguments, item=mark, start=mark, separator=mark, end=mark),
        guard=guard and _with_marks(guard, start=mark, end=mark),
        elements=elements and _with_marks(elements, member=mark, element=mark, separator=mark),
    )


def _with_marks(record: _Record, **kinds: Kind) -> _Record:
    """Return a part of a spec with some of its texts and pieces marked, each as what it is."""
    marked = {}
    for name, kind in kinds.items():
        value = getattr(record, name)
        is_text = isinstance(value, str)
        marked[name] = _marked(value, kind) if is_text else tuple(_pieces(value, kind))
    return replace(record, **marked)


def _pieces(pieces: Iterable[Piece], mark: Kind) -> Iterator[Piece]:
    for piece in pieces:
        if piece.kind is None:
            yield Literal(_marked(piece.text, mark))
            continue
        kind = _SLOTS.get(piece.kind, mark)
        yield from (Literal(_OPEN[kind]), Slot(piece.kind), Literal(_CLOSE))
