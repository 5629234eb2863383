"""The turn: reasoning and content up to the markers, and what these ask for."""

from __future__ import annotations

from turnspec.reading.facts import (
    BEFORE_CONTENT,
    HAS_REASONING,
    LEFT_OUT_IF_LAST,
    REASONING_END,
    REASONING_END_ENDS_CONTENT,
    REASONING_END_ENDS_TURN,
    REASONING_ENDS_WITH_TURN,
    REASONING_HAS_END,
    REASONING_HAS_START,
    REASONING_IS_FIRST,
    REASONING_MAY_END_TURN,
    REASONING_MAY_STAY_OPEN,
    WORDS,
)
from turnspec.reading.markers import WHITE_SPACE, Found
from turnspec.reading.roles import Role

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TypeAlias, TypeVar

    from turnspec.reading.results import Event
    from turnspec.reading.turn import Turn

    T = TypeVar("T")
    #: A generator that yields MORE_TEXT when it needs more; `Parser.feed` resumes it.
    Reading: TypeAlias = Generator[None, None, T]

MORE_TEXT = None


def read_turn(turn: Turn) -> Reading[None]:
    """Read up to the end of the turn, and what follows that."""
    while found := (yield from next_marker(turn)):
        is_quoted = pass_marker(turn, found)
        turn.input.take(found.end)
        match found.role:
            case Role.TURN_END:
                if HAS_REASONING and REASONING_ENDS_WITH_TURN:
                    turn.thinking = False
                break
            case Role.TURN_START:
                turn.problem("repeated", f"{found.text!r} once more", found.offset)
            case Role.REASONING_START:
                open_reasoning(turn, found)
            case Role.REASONING_END:
                if close_reasoning(turn, found):
                    break
            case Role.BETWEEN | Role.CONTENT_START:
                if HAS_REASONING:
                    leave_reasoning(turn, found)
        turn.after_marker = not is_quoted
    yield from read_rest(turn)


def next_marker(turn: Turn) -> Reading[Found | None]:
    """Pass text on up to a marker; return None at the end of the text."""
    input = turn.input
    while True:
        if BEFORE_CONTENT and (yield from take_lead(turn)):
            continue
        found = input.rules.text.search(input, partial=not input.final)
        if LEFT_OUT_IF_LAST and input.final and not found and breaks_off(turn):
            return None
        write(turn, found.start if found else len(input.text))
        if found is None or found.is_partial:
            if input.final:
                return None
            if not found and not turn.after_marker:
                turn.flow = flow_of(turn)
            yield MORE_TEXT
        elif HAS_REASONING and is_text(turn, found):
            write(turn, found.end)
        else:
            return found


def flow_of(turn: Turn) -> Callable[[str], list[Event] | None] | None:
    """Return what takes a piece of plain text, if it has begun."""
    stream = turn.content
    if HAS_REASONING and turn.thinking:
        stream = turn.reasoning
    return stream.flow if stream.may_flow else None


def take_lead(turn: Turn) -> Reading[bool]:
    """Drop the words that stand before all content; return whether there are any."""
    input = turn.input
    if not turn.after_marker or turn.content.begun:
        return False
    if HAS_REASONING and turn.thinking:
        return False
    found = input.rules.before_content.match(input, partial=not input.final)
    if found is None:
        return False
    if found.is_partial:
        yield MORE_TEXT
    else:
        input.take(found.end)
        turn.after_marker = False
    return True


def write(turn: Turn, end: int) -> None:
    """Add the text up to a position to the reasoning or the content."""
    start, text = turn.input.here, turn.input.text
    for at, token in turn.input.tokens_before(end):
        message = f"{text[at : at + len(token)]!r} is text here"
        turn.problem("stray_marker", message, turn.input.offset + at)
    text = turn.input.take(end)
    if turn.after_marker and text.strip(WHITE_SPACE):
        turn.after_marker = False
    stream = turn.content
    if HAS_REASONING and turn.thinking:
        stream = turn.reasoning
    turn.events += stream.write(text, start)


def breaks_off(turn: Turn) -> bool:
    """Leave out a marker that the text ends in; say whether there is one."""
    input = turn.input
    begun = input.rules.text.search(input, partial=True)
    if begun is None or not begun.is_partial:
        return False
    if not input.rules.left_out.match(input, False, begun.start):
        return False
    write(turn, begun.start)
    turn.problem("cut_off", begun.text)
    input.take_all()
    return True


def pass_marker(turn: Turn, found: Found) -> bool:
    """Tell of unknown words in a marker; return whether it is quoted in the content."""
    if WORDS:
        for word in found.words:
            if word and word not in WORDS:
                turn.problem("unexpected_text", f"{word!r} in {found.text!r}")
    if HAS_REASONING and turn.inline:
        return quote(turn, found)
    return False


def quote(turn: Turn, found: Found) -> bool:
    """Leave a marker of reasoning in the content; return whether it is one."""
    is_start = found.role is Role.REASONING_START
    closes = found.role in (Role.REASONING_END, Role.BETWEEN) and turn.thinking
    if not is_start and not closes:
        return False
    marker = REASONING_END if found.role is Role.BETWEEN else found.text
    turn.events += turn.content.quote(marker, found.offset)
    return True


# Reasoning.


def open_reasoning(turn: Turn, found: Found) -> None:
    """Begin reasoning, and tell where none belongs."""
    if turn.thinking:
        turn.problem("repeated", f"{found.text!r} in the reasoning", found.offset)
    elif REASONING_IS_FIRST and turn.content.begun and not turn.inline:
        turn.problem("misplaced", "reasoning after content or calls", found.offset)
    turn.thinking = True


def close_reasoning(turn: Turn, found: Found) -> bool:
    """End reasoning; return whether the marker ends the turn."""
    was_thinking, turn.thinking = turn.thinking, False
    if was_thinking:
        return False
    ends_more = REASONING_END_ENDS_TURN or REASONING_END_ENDS_CONTENT
    if not ends_more and turn.content.begun:
        turn.problem("stray_marker", f"{found.text!r} outside reasoning", found.offset)
    return REASONING_END_ENDS_TURN


def leave_reasoning(turn: Turn, found: Found) -> None:
    """End reasoning by what leads to content, if only by the end that is part of it."""
    if REASONING_HAS_END and not REASONING_MAY_STAY_OPEN:
        text = "".join(found.text.split())
        if turn.thinking and "".join(REASONING_END.split()) not in text:
            turn.problem("unclosed", "the reasoning was not closed", found.offset)
    turn.thinking = False


def is_text(turn: Turn, found: Found) -> bool:
    """Say whether content is about a marker of reasoning: it is in quotes, or closes such."""
    is_start = found.role is Role.REASONING_START
    if turn.thinking or not (is_start or found.role is Role.REASONING_END):
        return False
    if not REASONING_HAS_START or REASONING_END_ENDS_TURN or REASONING_END_ENDS_CONTENT:
        return False
    pending, turn.quotes_reasoning = turn.quotes_reasoning, False
    if pending and not is_start:
        return True
    is_quoted = not turn.after_marker and turn.content.ends_in("\"'`")
    turn.quotes_reasoning = is_quoted and is_start
    return is_quoted


# The end of the turn.


def read_rest(turn: Turn) -> Reading[None]:
    """Read what follows the turn's end: more ends, and what is no content."""
    input = turn.input
    while found := input.rules.after_turn.match(input, partial=not input.final):
        if found.is_partial:
            yield MORE_TEXT
        else:
            input.take(found.end)
    pieces = [input.take_all()]
    while True:
        if input.final:
            end_turn(turn, "".join(pieces).lstrip(WHITE_SPACE))
            pieces.clear()
        yield MORE_TEXT
        pieces.append(input.take_all())


def end_turn(turn: Turn, rest: str) -> None:
    """Tell what is missing or too much at the end of the text."""
    if HAS_REASONING and not REASONING_MAY_END_TURN and turn.thinking:
        turn.thinking = False
        if all(problem.kind != "unclosed" for problem in turn.problems):
            turn.problem("unclosed", "the reasoning was not closed")
    if rest:
        turn.problem("text_after_end", rest, turn.input.here - len(rest))
