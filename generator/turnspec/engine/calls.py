"""Tool calls: what is known of each of them, and of the tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from turnspec.engine.json_text import find_flaw
from turnspec.engine.markers import Found
from turnspec.engine.results import ToolCall, ToolCallDelta, ToolCallEnd, ToolCallStart
from turnspec.engine.text import Text
from turnspec.engine.tools import Tools, parameters_by_name
from turnspec.engine.turn import Flow


class ArgumentReader(Protocol):
    """The part that reads what stands behind a head, and ends the call."""

    def begin(self, found: Found) -> None:
        """Start the call of a head, and read on."""

    def go_on(self) -> None:
        """Read the arguments of a call that is started already."""

    def finish(self) -> None:
        """End a call that the end of the text cuts off."""


class CodeReader(Protocol):
    """The part that reads calls that are code."""

    def read_code_start(self) -> bool:
        """Read on behind what announces code."""


class Calls:
    """The calls of a turn, which those who read them start, add to and end."""

    has_late_ids = False  # whether an id may stand behind the name

    def __init__(self, text: Text, tools: Tools | None, id_prefix: str) -> None:
        self.text = text
        self.turn = text.turn
        self.compiled = text.compiled
        self.tools = None if tools is None else parameters_by_name(tools)
        self.called = False  # whether there was a call, if only in the prefill
        self._id_prefix = id_prefix
        self._flow: Flow | None = None  # of the arguments' text
        self.collected: list[str] | None = None  # of the arguments, until more of them has come
        self.resume: Callable[[], bool] = text.read_text  # what reads on behind a call

    def knows(self, name: str) -> bool:
        """Say whether there is a tool of that name."""
        return name in (self.tools or ())

    def is_text(self, found: Found) -> bool:
        """Say whether what looks like a marker of calls is text."""
        raise NotImplementedError

    def pass_marker(self, found: Found) -> None:
        """Do what a marker of calls asks for."""
        raise NotImplementedError

    @property
    def first(self) -> Callable[[], bool]:
        """What reads on at the beginning of a turn."""
        return self.text.read_text

    @property
    def is_open(self) -> bool:
        """Whether a call is being read."""
        return self.turn.arguments is not None

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The schema of the arguments of the call that is being read."""
        return (self.tools or {}).get(self.turn.calls[-1].name, {})

    def start(self, name: str, start: int, end: int, id_: str = "") -> None:
        """Begin a call; what says so stands from one offset to the other."""
        turn = self.turn
        if self.tools is not None and name not in self.tools:
            turn.problem("unknown_tool", f"there is no tool {name!r}")
        self.text.begin_call()
        index = len(turn.calls)
        if not (id_ or self.has_late_ids):
            id_ = f"{self._id_prefix}{index}"
        turn.calls.append(ToolCall(id_, name, "", False))
        turn.arguments, self._flow = [], None
        turn.events.append(ToolCallStart(index, id_, name, start, end))
        turn.told = end
        self.called = True

    def argue(self, text: str) -> None:
        """Add to the arguments, JSON text that comes of what was read up to the position."""
        turn = self.turn
        if self.collected is not None:
            self.collected.append(text)
        elif text and turn.arguments is not None:
            turn.arguments.append(text)
            start, turn.told = turn.told, turn.offset + turn.position
            turn.events.append(ToolCallDelta(len(turn.calls) - 1, text, start, turn.told))

    def let_flow(self, stops: re.Pattern[str]) -> None:
        """Let text be a part of the arguments up to one of some characters, as it is."""
        turn = self.turn
        if self.collected is not None or not turn.arguments:
            return
        if self._flow is None or self._flow.stops is not stops:
            event = partial(ToolCallDelta, len(turn.calls) - 1)
            self._flow = Flow(stops, "", turn.arguments, event)
        turn.flow = self._flow

    def end(self, complete: bool = True, late_id: str = "") -> None:
        """End the call; ``complete`` says whether it was read to its end."""
        turn = self.turn
        if not turn.arguments:
            turn.problem("no_arguments", "a call without arguments")
            self.argue("{}")
        call, index = turn.calls[-1], len(turn.calls) - 1
        call.arguments = "".join(turn.arguments or ())
        turn.arguments = None
        if flaw := find_flaw(call.arguments):
            turn.problem(*flaw)
            complete = complete and flaw[0] != "not_json"
        call.complete = complete
        late_id = "" if call.id else late_id or f"{self._id_prefix}{index}"
        call.id += late_id
        end = turn.offset + turn.position
        turn.events.append(ToolCallEnd(index, late_id, turn.told, end))
        turn.read = self.resume

    def end_of_text(self) -> None:
        """All text has come: settle what waits for more."""

    def finish(self) -> None:
        """End a call that is cut off."""

    def forget(self) -> None:
        """Leave out the calls that the prompt holds, but for one that the model continues."""
        turn = self.turn
        turn.events = [event for event in turn.events if event.type in ("content", "reasoning")]
        if turn.held:
            turn.held.events, turn.held.problems = len(turn.events), 0
        turn.problems.clear()
        del turn.calls[: -1 if self.is_open else None]
        self._flow = None  # which knows the call by its place
        if turn.arguments is not None:
            call, arguments = turn.calls[0], "".join(turn.arguments)
            at = turn.offset + turn.position
            turn.events.append(ToolCallStart(0, call.id, call.name, at, at))
            if arguments:
                turn.events.append(ToolCallDelta(0, arguments, at, at))
