"""Walking a text through a generated parser: which state took what, and what it told.

The module is used as it is. A subclass of its turn watches the state: each time it asks for the
state that is to go on, it gets that state wrapped in one that takes notes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from turnspec.codegen.format_module import FormatModule
from turnspec.spec.yaml_text import quoted

_PREFIX = "read_"


class Phase(StrEnum):
    """What the parser was given when it took a step."""

    PROMPT = "prompt"
    TEXT = "text"
    END = "end"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the state that took it, what it consumed, and what it told.

    ``state`` is empty where the parser settles what is left at the end, outside any state.
    ``offset`` counts from the beginning of the model's text; it is negative in the prompt.
    ``returned`` is text that the state gave back, to be read in another way.
    """

    phase: Phase
    state: str
    next_state: str
    about: str
    offset: int
    consumed: str
    returned: str
    events: tuple[Mapping[str, Any], ...]
    problems: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """All steps, and the message that they led to."""

    steps: tuple[Step, ...]
    message: Mapping[str, Any]
    problems: tuple[Mapping[str, Any], ...]


def trace(
    module: FormatModule, text: str, options: Mapping[str, Any], *, piece: int | None = None
) -> Trace:
    """Feed a text to the module's parser, whole or in pieces of some length, and note all steps.

    ``options`` are those of the parser.
    """
    recorder = _Recorder()
    parser = _watched(module.Parser, recorder)(**options)
    recorder.phase = Phase.TEXT
    size = piece or max(len(text), 1)
    for start in range(0, len(text), size):
        parser.feed(text[start : start + size])
    recorder.phase = Phase.END
    recorder.settle(parser._turn, parser.finish())
    message = parser.message
    problems = tuple(dataclasses.asdict(problem) for problem in message.problems)
    return Trace(tuple(recorder.steps), message.to_dict(), problems)


@dataclass(slots=True)
class _Recorder:
    """Collects the steps of one parser; ``at`` is the offset up to which they have come."""

    steps: list[Step] = field(default_factory=list)
    phase: Phase = Phase.PROMPT
    at: int | None = None
    events: _Seen = field(default_factory=lambda: _Seen())
    problems: _Seen = field(default_factory=lambda: _Seen())

    def step(self, turn: Any, state: Callable[[], bool]) -> bool:
        """Have a state go on and note what it does."""
        self._add(turn, None, turn.events)
        goes_on = state()
        self._add(turn, state, turn.events)
        return goes_on

    def settle(self, turn: Any, events: Sequence[object]) -> None:
        """Note what came of the end outside any state."""
        self._add(turn, None, events)

    def _add(self, turn: Any, state: Callable[[], bool] | None, events: Sequence[object]) -> None:
        """Add a step if anything happened since the last one."""
        at = turn.offset + turn.position
        before, self.at = at if self.at is None else self.at, at
        step = Step(
            phase=self.phase,
            state=_name(state) if state else "",
            next_state=_name(turn.current),
            about=" ".join((state.__doc__ or "").split()) if state else "",
            offset=before,
            consumed=_between(turn, before, at),
            returned=_between(turn, at, before),
            events=self.events.unseen(events),
            problems=self.problems.unseen(turn.problems),
        )
        moved = state is not None and step.state != step.next_state
        if moved or step.consumed or step.returned or step.events or step.problems:
            self.steps.append(step)


@dataclass(slots=True)
class _Seen:
    """What was in lists that only grow, or lose what came last; looked at for what is new."""

    items: dict[int, object] = field(default_factory=dict)  # kept, so that no identity is reused
    looked: dict[int, tuple[object, int]] = field(default_factory=dict)  # up to where, by list

    def unseen(self, found: Sequence[Any]) -> tuple[Mapping[str, Any], ...]:
        """Return what wasn't in any list yet."""
        _, count = self.looked.get(id(found), (found, 0))
        start = min(count, len(found))
        while start and id(found[start - 1]) not in self.items:  # others were taken back
            start -= 1
        new = [item for item in found[start:] if id(item) not in self.items]
        self.items |= {id(item): item for item in new}
        self.looked[id(found)] = found, len(found)
        return tuple(dataclasses.asdict(item) for item in new)


@dataclass(frozen=True, slots=True, eq=False)
class _Watched:
    """A state that takes notes; for the parser's own comparisons it is that state."""

    turn: Any
    state: Callable[[], bool]
    recorder: _Recorder

    def __call__(self) -> bool:
        return self.recorder.step(self.turn, self.state)

    def __eq__(self, other: object) -> bool:
        return self.state == (other.state if isinstance(other, _Watched) else other)

    def __hash__(self) -> int:
        return hash(self.state)


def _watched(parser: Any, recorder: _Recorder) -> Any:
    """Return a subclass of a parser whose turn tells the recorder what its states do."""
    turn: Any = parser._turn_type

    def get(self: Any) -> _Watched:
        return _Watched(self, self.current, recorder)

    def put(self: Any, state: Callable[[], bool]) -> None:
        self.current = state

    # No piece passes through unread: a state takes each.
    never = property(lambda self: None, lambda self, flow: None)
    watched = type("WatchedTurn", (turn,), {"read": property(get, put), "flow": never})
    return type("Watched", (parser,), {"_turn_type": watched})


def _between(turn: Any, start: int, end: int) -> str:
    """Return what stands between two offsets of the text that the turn still has."""
    return str(turn.text[start - turn.offset : end - turn.offset]) if start < end else ""


def _name(state: Callable[[], bool]) -> str:
    """Return a state's name, as the diagram has it."""
    return state.__name__.removeprefix(_PREFIX)


def shown_event(event: Mapping[str, Any]) -> str:
    """Return an event in one line."""
    match event["type"]:
        case "tool_call_start":
            return f"call {event['index']} starts: {event['name']} ({event['id']})"
        case "tool_call_delta":
            return f"arguments of call {event['index']}: {quoted(event['arguments'])}"
        case "tool_call_end":
            return f"call {event['index']} ends"
        case kind:
            return f"{kind}: {quoted(event['text'])}"
