"""Whether one parser reads what another format writes: turns of the one, given to the other.

What is read is compared with what was meant: the message that was written, short of what the
spec's limits say. Turns that their own parser doesn't read are counted, and prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from turnspec.codegen.format_module import FormatModule
from turnspec.review.rules import Severity
from turnspec.spec.model import Spec
from turnspec.spec.results import Counterexample
from turnspec.verification.comparing import Said, Turn, as_meant, as_read
from turnspec.verification.messages import sample_messages
from turnspec.verification.random_messages import random_messages
from turnspec.verification.turns import expected_behind, written_input

#: Random messages per direction, beside the fixed ones.
RANDOM_MESSAGES = 100
_PROMPTS = {
    None: "the default prompt",
    True: "the prompt with thinking enabled",
    False: "the prompt with thinking disabled",
}


@dataclass(frozen=True, slots=True)
class Format:
    """A spec, and the parser and the grammar that were generated from it."""

    spec: Spec
    module: FormatModule
    gbnf: str


@dataclass(frozen=True, slots=True)
class WrittenTurn:
    """What a model writes behind a generation prompt, what was asked of it, and what it meant."""

    turn: Turn
    meant: Said


@dataclass(frozen=True, slots=True)
class Reading:
    """What a parser makes of another format's turns, in counts of turns.

    Those that their own parser doesn't read as they were meant are among the ``differing`` where
    the reader doesn't either, and else neither there nor in ``same`` nor ``with_problems``.
    """

    severity: Severity
    with_prompt: Severity  # if the parser is given the real prompt as prefill
    same: int
    with_problems: int
    differing: int
    unreadable: int  # by their own parser
    turns: int
    kinds: tuple[str, ...] = ()
    example: Counterexample | None = None
    own_example: Counterexample | None = None  # an unreadable turn
    only_behind: str = ""  # the prompt of all turns that give the severity, if it isn't any prompt


@dataclass(frozen=True, slots=True)
class _Graded:
    """A turn with how it was read, and whether its own parser reads it."""

    thinking: bool | None
    severity: Severity
    is_own: bool
    example: Counterexample
    own: Counterexample
    kinds: tuple[str, ...]


def read_turns(reader: Format, writer: Format) -> Reading:
    """Have ``reader`` read the turns of ``writer``, as an application would that isn't changed."""
    turns = written_turns(writer.spec)
    graded = [_graded(reader, writer, written) for written in turns]
    told = [found for found in graded if _counts(found.severity, found)]
    severity = _worst([found.severity for found in told])
    again = severity
    other_prompts = reader.spec.thinking.prompts != writer.spec.thinking.prompts
    if severity is not Severity.COMPATIBLE or other_prompts:
        read = (as_read(writer.spec, reader.module, written.turn) for written in turns)
        grades = [grade(written.meant, said) for written, said in zip(turns, read, strict=True)]
        again = _worst([it for it, one in zip(grades, graded, strict=True) if _counts(it, one)])
    worst = [found for found in told if found.severity is severity]
    own = [found.own for found in graded if not found.is_own]
    is_same = severity is Severity.COMPATIBLE
    return Reading(
        severity=severity,
        with_prompt=again,
        same=sum(found.severity is Severity.COMPATIBLE for found in told),
        with_problems=sum(found.severity is Severity.LENIENT for found in told),
        differing=sum(found.severity is Severity.BREAKING for found in told),
        unreadable=len(own),
        turns=len(turns),
        kinds=tuple(sorted({kind for found in told for kind in found.kinds})),
        example=None if is_same else shortest([found.example for found in worst]),
        own_example=shortest(own),
        only_behind="" if is_same else _only_behind(worst, told),
    )


def _only_behind(worst: Sequence[_Graded], told: Sequence[_Graded]) -> str:
    """Return behind which prompt the worst turns are, if it is one of several."""
    states = {found.thinking for found in worst}
    if len(states) != 1 or states == {found.thinking for found in told}:
        return ""
    return _PROMPTS[states.pop()]


def _graded(reader: Format, writer: Format, written: WrittenTurn) -> _Graded:
    turn, meant = written.turn, written.meant
    own = as_read(writer.spec, writer.module, turn)
    # Without a prefill a parser takes the prompt of its own template.
    alone = replace(turn, prefill=None)
    found = as_read(writer.spec, reader.module, alone)
    return _Graded(
        thinking=turn.thinking,
        severity=grade(meant, found),
        is_own=own == meant,
        example=Counterexample(turn.text, str(meant), str(found)),
        own=Counterexample(turn.text, str(meant), str(own)),
        kinds=found.problems,
    )


def _counts(severity: Severity, graded: _Graded) -> bool:
    """Tell whether a grade of a turn proves anything, which its own parser may not read."""
    return graded.is_own or severity is Severity.BREAKING


def grade(meant: Said, found: Said) -> Severity:
    """Return how well a turn was read."""
    if meant != replace(found, problems=()):
        return Severity.BREAKING
    return Severity.LENIENT if found.problems else Severity.COMPATIBLE


def written_turns(spec: Spec) -> list[WrittenTurn]:
    """Return the turns of a spec: the sample messages and some random ones, always the same."""
    found = {(w.turn.prefill, w.turn.text, w.turn.thinking): w for w in _written(spec)}
    return list(found.values())


def _written(spec: Spec) -> Iterator[WrittenTurn]:
    for message in (*sample_messages(spec), *random_messages(spec, RANDOM_MESSAGES)):
        for thinking in spec.thinking.choices:
            found = written_input(spec, message, thinking=thinking)
            if found is None:
                continue
            shown = expected_behind(spec, message, thinking)
            yield WrittenTurn(found, as_meant(spec, shown))


def _worst(grades: Sequence[Severity]) -> Severity:
    """Return the worst grade; where nothing could be compared, nothing is known to work."""
    return max(grades, key=list(Severity).index, default=Severity.BREAKING)


def shortest(examples: Sequence[Counterexample]) -> Counterexample | None:
    """Return the shortest example of those that mean anything."""
    says = [example for example in examples if example.wanted != "nothing"]
    return min(says or examples, key=lambda example: len(example.written), default=None)
