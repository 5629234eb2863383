"""What is known of a turn that is being read."""

from __future__ import annotations

from turnspec.engine.facts import (
    ARGUMENTS,
    CONTENT_IS_LAST,
    HAS_CALLS,
    HAS_DRAFTS,
    HAS_REASONING,
    HAS_SEAMS,
    HAS_SPECIAL_TOKENS,
    MAY_READ_AGAIN,
)
from turnspec.engine.input import Input
from turnspec.engine.markers import WHITE_SPACE
from turnspec.engine.open_call import OpenCall
from turnspec.engine.results import (
    ContentDelta,
    Message,
    Problem,
    ReasoningDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
)
from turnspec.engine.streams import Stream
from turnspec.engine.tools import parameters_by_name
from turnspec.engine.turn_state import Hold, TextState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from turnspec.engine.results import Event, ProblemKind


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
        if HAS_DRAFTS:  # while they are read, `content` is theirs
            self.content = self._content = Stream(input, ContentDelta)
        else:
            self.content = Stream(input, ContentDelta)
        if HAS_REASONING:
            self.inline = options["reasoning"] == "inline"  # whether it stays in content
            self.opening = ""  # of reasoning that is open in the content
            self.reasoning = self.content if self.inline else Stream(input, ReasoningDelta)
        if HAS_CALLS:
            tools = options["tools"]
            self.id_prefix: str = options["id_prefix"]
            self.tools = None if tools is None else parameters_by_name(tools)
            self.calls: list[ToolCall] = []
            self.call: OpenCall | None = None
            if ARGUMENTS == "json":
                self.is_doubtful = False  # whether arguments that came before the name are
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
        reasoning = "" if not HAS_REASONING or self.inline else "".join(self.reasoning.pieces)
        if not HAS_CALLS:
            return Message(content, reasoning, [], self.problems[:])
        calls, problems = self.calls[:], self.problems[:]
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
                if HAS_DRAFTS:
                    self._content.pieces.append(self.opening)
                else:
                    self.content.pieces.append(self.opening)
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
        if not MAY_READ_AGAIN:
            self.input.drop(self.input.here)
            if HAS_CALLS and ARGUMENTS != "text" and self.input.text:
                self.flow = None  # as that is to be read
            events, self.events = self.events, []
            return events
        first = self.holds[0] if self.holds else Hold(self, self.input.here)
        events, certain = self.events[: first.events], first.events
        self.input.drop(first.offset)
        if self.holds or (ARGUMENTS != "text" and self.input.text):
            self.flow = None  # as what is left is to be read
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
        told = f"a call that ends in {rest!r}" if rest else "an unfinished call"
        self.problem("cut_off", told)

    def write(self, end: int) -> None:
        """Add the text up to a position to what is read; tell where none belongs."""
        input, state = self.input, self.state
        if HAS_SPECIAL_TOKENS:
            for at, token in input.special_tokens_in(input.position, end):
                self.problem("stray_marker", f"{token!r} is text here", at)
        stream = self.reasoning if HAS_REASONING and state.thinking else self.content
        start, text = input.here, input.take(end)
        body = text.lstrip(WHITE_SPACE) if state.after_marker else ""
        if body:
            state.after_marker = False
            offset = start + len(text) - len(body)
            if HAS_SEAMS and stream.begun:
                stream.seams.append((len(stream.pieces), offset))
            if HAS_DRAFTS and self.is_draft and self.draft_end is None:
                self.draft_end = offset
            if (HAS_CALLS and not CONTENT_IS_LAST) and (
                state.content_is_over and not (HAS_REASONING and state.thinking)
            ):
                self.problem("misplaced", "content after a call", offset)
        hidden = text[: max(self.shown - start, 0)]
        stream.begun = stream.begun or bool(hidden.strip(WHITE_SPACE))
        self.events += stream.write(text[len(hidden) :], start + len(hidden))

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
