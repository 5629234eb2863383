"""What reading changes beside the text: the state, holds, and a turn's calls."""

from __future__ import annotations

from turnspec.engine.facts import (
    ARGUMENTS,
    CALLS_BEGIN_IN_REASONING,
    CONTENT_IS_LAST,
    FIRST_ARGUMENT,
    HAS_CALLS,
    HAS_IDS,
    HAS_LATE_IDS,
    HAS_REASONING,
    MAY_LACK_ARGUMENTS,
)
from turnspec.engine.json_texts import find_flaw
from turnspec.engine.open_call import OpenCall
from turnspec.engine.results import ToolCall, ToolCallEnd, ToolCallStart
from turnspec.engine.roles import Role

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.markers import Found
    from turnspec.engine.turn import Turn


class TextState:
    """All that reading text changes, apart from the text itself."""

    def __init__(self) -> None:
        self.after_marker = True  # with nothing but white space since
        if HAS_REASONING:
            self.thinking = False
            self.quotes_reasoning = False  # whether content holds what begins it
        if HAS_CALLS:
            self.last: Role | None = None  # of the last marker
            self.space_kept = 0  # how much of the content's space stood before it
            self.opened = False  # whether calls were opened, and that not closed
            self.mentioned = False  # whether content holds what opens calls
            self.called = False  # whether there was a call, if only in the prefill
            self.content_is_over = False  # whether a call came, which no content may follow
            self.for_user = False  # whether the message's header says so
            if FIRST_ARGUMENT:
                self.first_key = ""  # of a call's arguments, if it follows the name at once


class Hold:
    """Where reading may have to begin once more, and how much was known: the rest isn't certain."""

    def __init__(self, turn: Turn, offset: int, is_unnamed: bool = False) -> None:
        self.offset = offset
        self.is_unnamed = is_unnamed  # whether it may be a call that has no name yet
        self.events = len(turn.events)
        self.problems = len(turn.problems)
        self.calls = len(turn.calls)


def begin_call(turn: Turn, name: str, start: int, at: int, id: str = "") -> OpenCall:
    """Begin a call whose text starts at the offset `start`; tell what is wrong at `at`."""
    if turn.tools is not None and name not in turn.tools:
        turn.problem("unknown_tool", f"there is no tool {name!r}", at)
    state, index, end = turn.state, len(turn.calls), turn.input.here
    if CALLS_BEGIN_IN_REASONING and state.thinking:
        turn.problem("unclosed", "a call inside the reasoning", at)
    elif HAS_REASONING:
        state.thinking = False
    if CONTENT_IS_LAST and turn.content.begun and not (HAS_REASONING and turn.inline):
        turn.problem("misplaced", "a call after content", at)
    state.mentioned, state.called = False, True
    state.content_is_over = not CONTENT_IS_LAST
    told_id = id if HAS_LATE_IDS else f"{turn.id_prefix}{index}"
    if HAS_IDS and not HAS_LATE_IDS:
        told_id = id or told_id
    turn.calls.append(ToolCall(told_id, name, "", False))
    turn.events.append(ToolCallStart(index, told_id, name, start, end))
    turn.call = OpenCall(turn.input, index, name, end)
    if ARGUMENTS == "json":
        turn.call.complete, turn.is_doubtful = not turn.is_doubtful, False
    return turn.call


def end_call(turn: Turn, call: OpenCall, late_id: str = "") -> None:
    """End a call, and tell what is wrong with its arguments."""
    if not call.pieces:
        if not (MAY_LACK_ARGUMENTS and call.complete):
            turn.problem("no_arguments", "a call without arguments")
        turn.events += call.add("{}")
    ended = turn.calls[-1]
    ended.arguments = "".join(call.pieces)
    turn.call = None
    if flaw := find_flaw(ended.arguments):
        turn.problem(*flaw)
    ended.complete = call.complete and (not flaw or flaw[0] == "repeated_argument")
    index, end = call.index, turn.input.here
    if HAS_LATE_IDS:  # which stand after the name
        late_id = "" if ended.id else late_id or f"{turn.id_prefix}{index}"
        ended.id += late_id
    late = late_id if HAS_LATE_IDS else ""
    turn.events.append(ToolCallEnd(index, late, ended.complete, call.told, end))


def tell_missing(turn: Turn, found: Found, offset: int | None = None) -> None:
    """Tell of the texts that a marker may have, and has not."""
    for text in missing_texts(found):
        turn.problem("missing_marker", f"{text!r} is missing in {found.text!r}", offset)


def missing_texts(found: Found) -> list[str]:
    """Return the texts that a marker may have, and has not."""
    steps = [step for step, text in found.parts if not text]
    return [step[1] for step in steps if isinstance(step, list)]
