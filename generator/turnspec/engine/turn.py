"""What is known of a turn that is being read."""

from __future__ import annotations

from turnspec.engine.facts import (
    ARGUMENTS,
    CALLS_BEGIN_IN_REASONING,
    CONTENT_IS_LAST,
    FIRST_ARGUMENT,
    HAS_CALLS,
    HAS_DRAFTS,
    HAS_ELEMENTS,
    HAS_LATE_IDS,
    HAS_REASONING,
    HAS_SEAMS,
    HAS_SPECIAL_TOKENS,
    MAY_LACK_ARGUMENTS,
    MAY_READ_AGAIN,
)
from turnspec.engine.input import Input
from turnspec.engine.json_texts import find_flaw
from turnspec.engine.markers import WHITE_SPACE
from turnspec.engine.open_call import OpenCall
from turnspec.engine.results import (
    ContentDelta,
    Message,
    Problem,
    ReasoningDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from turnspec.engine.roles import Role
from turnspec.engine.streams import Stream
from turnspec.engine.tools import parameters_by_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from turnspec.engine.markers import Found
    from turnspec.engine.results import Event, ProblemKind


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
            self.for_user = False  # whether the message's header says so


class Hold:
    """Where reading may have to begin once more, and how much was known: the rest isn't certain."""

    def __init__(self, turn: Turn, offset: int, is_unnamed: bool = False) -> None:
        self.offset = offset
        self.is_unnamed = is_unnamed  # whether it may be a call that has no name yet
        self.events = len(turn.events)
        self.problems = len(turn.problems)
        self.calls = len(turn.calls)


class Turn:
    """A turn that is being read. It doesn't know its reader, so no reference cycle is left."""

    def __init__(self, input: Input, options: Mapping[str, Any]) -> None:
        self.input = input
        self.events: list[Event] = []
        self.problems: list[Problem] = []
        self.flow: Callable[[str], list[Event] | None] | None = None
        self.after_end: list[str] = []  # the text after its end
        self.state = TextState()
        self.shown = input.offset if options["echo"] is True else 0  # hidden before it
        self.content = Stream(input, ContentDelta)
        if HAS_DRAFTS:
            self._content = self.content  # while `content` is that of what may be a draft
        if HAS_REASONING:
            self.inline = options["reasoning"] == "inline"  # whether it stays in content
            self.opening = ""  # of reasoning that is open in the content
            self.reasoning = self.content if self.inline else Stream(input, ReasoningDelta)
        if HAS_CALLS:
            tools = options["tools"]
            self._id_prefix: str = options["id_prefix"]
            self.tools = None if tools is None else parameters_by_name(tools)
            self.calls: list[ToolCall] = []
            self.call: OpenCall | None = None
            if ARGUMENTS == "json":
                self.is_doubtful = False  # whether arguments that came before the name are
            if FIRST_ARGUMENT:
                self.first_key = ""  # of a call's arguments, if it follows the name at once
            self.is_draft = False  # whether what is read may be a part of the reasoning
            self.draft_end: int | None = None  # where something else follows it
            # Up to which offset drafts were read, and how many began before that in a row.
            self.read_to, self.readings = input.offset, 0
        if MAY_READ_AGAIN:
            self.holds: list[Hold] = []

    @property
    def message(self) -> Message:
        """The message as far as it is known."""
        content = "".join((self._content if HAS_DRAFTS else self.content).pieces)
        problems = self.problems[:]
        reasoning = "" if not HAS_REASONING or self.inline else "".join(self.reasoning.pieces)
        if not HAS_CALLS:
            return Message(content, reasoning, [], problems)
        calls = self.calls[:]
        if self.call:
            last, arguments = calls.pop(), "".join(self.call.pieces)
            calls.append(ToolCall(last.id, last.name, arguments, False))
        if MAY_READ_AGAIN and self.holds:
            del calls[self.holds[0].calls :], problems[self.holds[0].problems :]
        return Message(content, reasoning, calls, problems)

    def end_prefill(self, events: list[Event], echo: bool) -> None:
        """Leave out what the prompt holds, but for what the model continues."""
        self.flow = None
        if not echo:
            self.problems.clear()
            events, self.events = [], []
            if HAS_REASONING and self.opening:
                stream = self._content if HAS_DRAFTS else self.content
                stream.pieces.append(self.opening)
                events = [ContentDelta(self.opening, 0, 0)]
            if HAS_CALLS:
                self.calls = self.calls[-1:] if self.call else []
        self.events = [*events, *self.events]  # which the first call of `feed` returns
        if MAY_READ_AGAIN:
            for hold in self.holds:
                hold.events += len(events)
                if not echo:
                    hold.events, hold.problems, hold.calls = len(events), 0, 0
        if HAS_CALLS and self.call and not echo:
            told, self.call.index, self.call.told = self.calls[0], 0, 0
            self.events.append(ToolCallStart(0, told.id, told.name, 0, 0))
            if arguments := "".join(self.call.pieces):
                self.events.append(ToolCallDelta(0, arguments, 0, 0))

    def take_events(self) -> list[Event]:
        """Return the events that are certain by now, and drop the text that was read for good."""
        if not MAY_READ_AGAIN or not self.holds:
            self.input.drop(self.input.here)
            if HAS_CALLS and (HAS_ELEMENTS or ARGUMENTS != "text") and self.input.text:
                self.flow = None  # as that is to be read
            events, self.events = self.events, []
            return events
        self.flow, certain = None, self.holds[0].events
        self.input.drop(self.holds[0].offset)
        events = self.events[:certain]
        self.events = self.events[certain:] if certain else self.events
        for hold in self.holds:
            hold.events -= certain
        return events

    def problem(self, kind: ProblemKind, told: str, offset: int | None = None) -> None:
        """Tell of a deviation at an offset, by default at the position."""
        at = self.input.here if offset is None else offset
        self.problems.append(Problem(at, kind, told))

    def cut_off(self, rest: str) -> None:
        """Tell of a call that breaks off, with what of it is read as nothing."""
        self.problem("cut_off", f"a call that ends in {rest!r}" if rest else "an unfinished call")

    def tell_missing(self, found: Found, offset: int | None = None) -> None:
        """Tell of the texts that a marker may have, and has not."""
        for text in missing_texts(found):
            self.problem("missing_marker", f"{text!r} is missing", offset)

    def write(self, end: int) -> None:
        """Add the text up to a position to what is read; tell where none belongs."""
        input, state = self.input, self.state
        if HAS_SPECIAL_TOKENS:
            for at, token in input.special_tokens_in(input.position, end):
                self.problem("stray_marker", f"{token!r} is text here", at)
        is_thought = HAS_REASONING and state.thinking
        stream = self.reasoning if is_thought else self.content
        start, text = input.here, input.take(end)
        body = text.lstrip(WHITE_SPACE) if state.after_marker else ""
        if body:
            state.after_marker = False
            offset = start + len(text) - len(body)
            if HAS_SEAMS and stream.begun:
                stream.seams.append((len(stream.pieces), offset))
            if HAS_DRAFTS and self.is_draft and self.draft_end is None:
                self.draft_end = offset
            if HAS_CALLS and not CONTENT_IS_LAST and state.called and not is_thought:
                self.problem("misplaced", "content after a call", offset)
        hidden = text[: max(self.shown - start, 0)]
        stream.begun = stream.begun or bool(hidden.strip(WHITE_SPACE))
        self.events += stream.write(text[len(hidden) :], start + len(hidden))

    @property
    def is_unnamed(self) -> bool:
        """Whether what may be a call's object is held."""
        return bool(self.holds) and self.holds[-1].is_unnamed

    def go_back(self) -> int:
        """Return to where the last hold begins; return the position up to which it was."""
        hold, end = self.holds.pop(), self.input.position
        del self.events[hold.events :], self.problems[hold.problems :]
        del self.calls[hold.calls :]
        if ARGUMENTS == "json":
            self.call, self.is_doubtful = None, False
        else:
            self.call = None
        self.input.position = hold.offset - self.input.offset
        return end

    def start_call(self, name: str, start: int, at: int, id: str = "") -> OpenCall:
        """Begin a call, which the text from an offset on says; problems are told at another."""
        if self.tools is not None and name not in self.tools:
            self.problem("unknown_tool", f"there is no tool {name!r}", at)
        state, index, end = self.state, len(self.calls), self.input.here
        if CALLS_BEGIN_IN_REASONING and state.thinking:
            self.problem("unclosed", "a call inside the reasoning", at)
        elif HAS_REASONING:
            state.thinking = False
        if CONTENT_IS_LAST and self.content.begun and not (HAS_REASONING and self.inline):
            self.problem("misplaced", "a call after content", at)
        state.mentioned, state.called = False, True
        if not HAS_LATE_IDS:
            id = id or f"{self._id_prefix}{index}"
        self.calls.append(ToolCall(id, name, "", False))
        self.events.append(ToolCallStart(index, id, name, start, end))
        self.call = OpenCall(self.input, index, name, end)
        if ARGUMENTS == "json":
            self.call.complete, self.is_doubtful = not self.is_doubtful, False
        return self.call

    def end_call(self, call: OpenCall, late_id: str = "") -> None:
        """End a call, and tell what is wrong with its arguments."""
        if not call.pieces:
            if not (MAY_LACK_ARGUMENTS and call.complete):
                self.problem("no_arguments", "a call without arguments")
            self.events += call.add("{}")
        ended = self.calls[-1]
        ended.arguments = "".join(call.pieces)
        self.call = None
        if flaw := find_flaw(ended.arguments):
            self.problem(*flaw)
        ended.complete = call.complete and (not flaw or flaw[0] == "repeated_argument")
        index, end = call.index, self.input.here
        if HAS_LATE_IDS:  # which stand after the name
            late_id = "" if ended.id else late_id or f"{self._id_prefix}{index}"
            ended.id += late_id
        late = late_id if HAS_LATE_IDS else ""
        self.events.append(ToolCallEnd(index, late, ended.complete, call.told, end))


def missing_texts(found: Found) -> list[str]:
    """Return the texts that a marker may have, and has not."""
    steps = [step for step, text in found.parts if not text]
    return [step[1] for step in steps if isinstance(step, list)]
