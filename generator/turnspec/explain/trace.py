"""Walking a text through a format's parser: which rule took what, and what was told of it.

The engine runs in memory and tells of each rule that fits. What is told of the text is what any
user of a parser gets: events and problems, each with its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from turnspec.codegen.compiled import run_engine
from turnspec.codegen.facts import FormatFacts
from turnspec.engine.roles import Rule
from turnspec.spec.yaml_text import quoted

#: Tables whose markers are only looked at: a rule of another one takes them, or they are text.
_LOOKED_AT = (
    *("at_call_end", "at_call_start", "at_closing", "after_bare_text", "at_string_end"),
    *("at_code_end", "after_element"),
)


class Phase(StrEnum):
    """What the parser was given when it took a step."""

    PROMPT = "prompt"
    TEXT = "text"
    END = "end"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the rule that took a text, or at whose marker it ended, and what was told then.

    ``state`` is the rule's table, as the diagram has it, ``role`` what its ``marker`` does. Without
    a rule ``state`` is after which marker the text stands, and empty where nothing was taken at
    the end. ``offset`` counts from the beginning of the model's text; it is negative in the
    prompt, and less than the last step's end where text is read once more.
    """

    phase: Phase
    state: str
    role: str
    marker: str
    offset: int
    consumed: str
    events: list[Mapping[str, Any]] = field(default_factory=list)
    problems: list[Mapping[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Trace:
    """All steps, and the message that they led to."""

    steps: tuple[Step, ...]
    message: Mapping[str, Any]
    problems: tuple[Mapping[str, Any], ...]


def trace(
    facts: FormatFacts, text: str, options: Mapping[str, Any], *, piece: int | None = None
) -> Trace:
    """Feed a text to a format's parser, whole or in pieces of some length, and note all steps.

    ``options`` are those of the parser.
    """
    rows: list[_Row] = []
    module = run_engine(facts, lambda *row: rows.append(_Row(*row)))
    parser = module.Parser(**options)
    prompt = parser._options["prefill"].removeprefix(facts.format["header"])
    walk = _Walk(parser, rows, prompt + text, len(prompt), -len(prompt))
    walk.add(Phase.PROMPT, ())
    size = piece or max(len(text), 1)
    for start in range(0, len(text), size):
        walk.add(Phase.TEXT, parser.feed(text[start : start + size]))
    known = len(parser.message.problems)
    walk.add(Phase.END, parser.finish())
    problems = parser.message.problems
    if len(problems) > known and all(step.phase is not Phase.END for step in walk.steps[-1:]):
        walk.rest(Phase.END)
    by_place = sorted(problems, key=lambda problem: problem.offset)
    steps = _steps_at([problem.offset for problem in by_place], walk.steps)
    for step, problem in zip(steps, by_place, strict=True):
        step.problems.append(_data(problem))
    return Trace(tuple(walk.steps), parser.message.to_dict(), tuple(map(_data, problems)))


@dataclass(frozen=True, slots=True)
class _Row:
    """A rule that fitted, and ``here``, up to where all was read by then."""

    table: str
    rule: Rule
    start: int
    end: int
    here: int


@dataclass(slots=True)
class _Walk:
    """The steps so far, which have come up to the offset ``at``."""

    parser: Any
    rows: list[_Row]
    text: str
    prompt: int  # how much of the text it is
    at: int
    steps: list[Step] = field(default_factory=list)
    state: str = "in text"  # if no rule takes what comes next

    def add(self, phase: Phase, events: Sequence[Any]) -> None:
        """Add the steps that the parser took since the last time, with what it told."""
        count = len(self.steps)
        fitting: list[_Row] = []
        for row in self.rows:
            fitting = self._go(phase, fitting, row.here)
            fitting.append(row)
        self._go(phase, fitting, self.parser._turn.input.here)
        self.rows.clear()
        if events and len(self.steps) == count:
            self.rest(phase)
        steps = _steps_at([event.end - 1 for event in events], self.steps[count:])
        for step, event in zip(steps, events, strict=True):
            step.events.append({"type": event.type, **_data(event)})

    def rest(self, phase: Phase) -> None:
        """Add a step that takes nothing."""
        state = "" if phase is Phase.END else self.state
        self.steps.append(Step(phase, state, "", "", self.at, ""))

    def _go(self, phase: Phase, rows: list[_Row], here: int) -> list[_Row]:
        """Go to an offset, by the last rule that took what stands before it, or stopped there.

        Return the rules that may take what follows.
        """
        if here == self.at:
            return rows
        taking = [row for row in rows if row.end <= here and row.table not in _LOOKED_AT]
        stopping = [row for row in rows if row.start == here]
        for row in (taking or stopping)[-1:]:
            role = row.rule.role.name.lower().replace("_", " ")
            state = row.table.replace("at_end_of", "in").replace("_", " ")
            self._step(phase, state, role, row.rule.marker, min(row.end, here))
            self.state = f"after {role}"
        self._step(phase, self.state, "", "", here)
        return [row for row in rows if row.end > here]

    def _step(self, phase: Phase, state: str, role: str, marker: str, end: int) -> None:
        if end > self.at:
            consumed = self.text[self.prompt + self.at : self.prompt + end]
            self.steps.append(Step(phase, state, role, marker, self.at, consumed))
        self.at = end


def _steps_at(offsets: Sequence[int], steps: Sequence[Step]) -> list[Step]:
    """Return for each of growing offsets the last step that begins there or before."""
    found, at = [], len(steps) - 1
    for offset in reversed(offsets):
        while at and steps[at].offset > offset:
            at -= 1
        found.append(steps[at])
    return found[::-1]


def _data(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__match_args__}


def shown_event(event: Mapping[str, Any]) -> str:
    """Return an event in one line."""
    match event["type"]:
        case "tool_call_start":
            return f"call {event['index']} starts: {event['name']} ({event['id']})"
        case "tool_call_delta":
            return f"arguments of call {event['index']}: {quoted(event['arguments'])}"
        case "tool_call_end":
            return f"call {event['index']} {'ends' if event['complete'] else 'is cut off'}"
        case kind:
            return f"{kind}: {quoted(event['text'])}"
