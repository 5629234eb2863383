"""A turn in its parts: which stretch is a marker, and of what, and which is the message's own.

The turn is written by the turn writer itself, from a spec whose literals and slots carry private
characters around them. So what is shown can't differ from what is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby

from turnspec.codegen.writer import write_parts
from turnspec.spec.message import Message
from turnspec.spec.model import (
    AfterFirst,
    Arguments,
    Elements,
    Literal,
    Part,
    Piece,
    Slot,
    SlotKind,
    Spec,
    Tools,
)
from turnspec.verification.turns import expected_message


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
    marked = replace(
        shown,
        content=_marked(shown.content, Kind.CONTENT),
        reasoning=_marked(shown.reasoning, Kind.REASONING),
    )
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
    reasoning, content, turn = spec.reasoning, spec.content, spec.turn
    return replace(
        spec,
        reasoning=replace(
            reasoning,
            start=_marked(reasoning.start, Kind.REASONING_MARK),
            end=_marked(reasoning.end, Kind.REASONING_MARK),
        ),
        content=replace(
            content,
            start=_marked(content.start, Kind.CONTENT_MARK),
            end=_marked(content.end, Kind.CONTENT_MARK),
        ),
        turn=replace(
            turn,
            joins=tuple(
                replace(join, text=_marked(join.text, Kind.BETWEEN)) for join in turn.joins
            ),
            ends=tuple(replace(end, final=_marked(end.final, Kind.END)) for end in turn.ends),
        ),
        tools=_marked_tools(spec.tools) if spec.tools else None,
    )


def _marked_tools(tools: Tools) -> Tools:
    mark = Kind.CALL_MARK
    after = tools.after_first
    return replace(
        tools,
        section_start=_marked(tools.section_start, mark),
        call=tuple(_pieces(tools.call, mark)),
        empty_call=tuple(_pieces(tools.empty_call, mark)),
        separator=_marked(tools.separator, mark),
        section_end=_marked(tools.section_end, mark),
        arguments=_marked_arguments(tools.arguments),
        after_first=after and _marked_after_first(after),
    )


def _marked_after_first(after: AfterFirst) -> AfterFirst:
    return AfterFirst(
        separator=_marked(after.separator, Kind.CALL_MARK),
        section_end=_marked(after.section_end, Kind.CALL_MARK),
        end=_marked(after.end, Kind.END),
    )


def _marked_arguments(arguments: Arguments) -> Arguments:
    mark = Kind.ARGUMENT_MARK
    guard, elements = arguments.guard, arguments.elements
    return replace(
        arguments,
        item=tuple(_pieces(arguments.item, mark)),
        start=_marked(arguments.start, mark),
        separator=_marked(arguments.separator, mark),
        end=_marked(arguments.end, mark),
        guard=guard
        and replace(guard, start=_marked(guard.start, mark), end=_marked(guard.end, mark)),
        elements=elements and _marked_elements(elements),
    )


def _marked_elements(elements: Elements) -> Elements:
    mark = Kind.ARGUMENT_MARK
    return Elements(
        member=tuple(_pieces(elements.member, mark)),
        element=tuple(_pieces(elements.element, mark)),
        separator=_marked(elements.separator, mark),
    )


def _pieces(pieces: Iterable[Piece], mark: Kind) -> Iterator[Piece]:
    for piece in pieces:
        if piece.kind is None:
            yield Literal(_marked(piece.text, mark))
            continue
        kind = _SLOTS.get(piece.kind, mark)
        yield from (Literal(_OPEN[kind]), Slot(piece.kind), Literal(_CLOSE))
