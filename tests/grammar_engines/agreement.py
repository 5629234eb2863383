"""Asks several grammar engines about the same texts, and counts where they agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.grammar_engines import CompiledGrammar
from tests.grammar_engines.random_texts import mutated, random_turn
from turnspec.verification.gbnf_reader import Grammar


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, and whether the grammar is known to allow it; None: that is for engines to say."""

    text: str
    allowed: bool | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A text that the engines don't judge alike, or that all refuse though it is allowed.

    ``accepted`` tells for each engine how many of the text's bytes it took, and whether all of it.
    """

    text: str
    accepted: Mapping[str, tuple[int, bool]]

    def __str__(self) -> str:
        """Return one line."""
        size = len(self.text.encode())
        verdicts = (
            f"{name} {'accepts' if whole else f'refuses at {length} of {size}'}"
            for name, (length, whole) in self.accepted.items()
        )
        return f"{', '.join(verdicts)}: {self.text!r}"


@dataclass(frozen=True, slots=True)
class Agreement:
    """What came of asking: how many texts, how many all engines accepted, and the rest."""

    strings: int
    accepted: int
    disagreements: tuple[Disagreement, ...]

    @property
    def agreed(self) -> int:
        """The number of texts that all engines judged alike, and rightly if that is known."""
        return self.strings - len(self.disagreements)


def random_samples(
    grammar: Grammar, random: Random, count: int, markers: Sequence[str]
) -> Iterator[Sample]:
    """Yield ``count`` random turns, and each again with a fault in it: a piece of a marker, say."""
    for _ in range(count):
        turn = random_turn(grammar, random)
        yield Sample(turn, allowed=True)
        yield Sample(mutated(turn, random, markers), allowed=None)


def ask_engines(engines: Mapping[str, CompiledGrammar], samples: Iterable[Sample]) -> Agreement:
    """Ask every engine about every sample."""
    strings, accepted = 0, 0
    disagreements = []
    for sample in samples:
        verdicts = {name: engine.accepts(sample.text) for name, engine in engines.items()}
        right = set(verdicts.values()) if sample.allowed is None else {sample.allowed}
        strings += 1
        accepted += all(verdicts.values())
        if len(right) > 1 or set(verdicts.values()) != right:
            lengths = {n: engine.accepted_length(sample.text) for n, engine in engines.items()}
            places = {name: (lengths[name], verdicts[name]) for name in engines}
            disagreements.append(Disagreement(sample.text, places))
    return Agreement(strings, accepted, tuple(disagreements))
