"""Counting checks: how many passed, how many failed, and the shortest failure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from turnspec.spec.results import Counterexample, RungResult
from turnspec.spec.visible import shortened

#: The longest text of an example that is kept, in characters.
_LENGTH = 600


@dataclass(slots=True)
class Tally:
    """Counts checks and keeps the shortest failure; ``left_out`` counts what wasn't checked."""

    passed: int = 0
    failed: int = 0
    example: Counterexample | None = None
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, fault: Counterexample | None) -> None:
        """Count one check; no fault is a pass."""
        if fault is None:
            self.passed += 1
            return
        self.failed += 1
        if self.example is None or _size(fault) < _size(self.example):
            self.example = fault

    def result(self, nothing: str = "") -> RungResult:
        """Return the counts; ``nothing`` says why there were no checks, if there were none."""
        notes = [f"{count} {why}" for why, count in self.left_out.items()]
        if nothing and not self.passed + self.failed:
            notes.insert(0, nothing)
        example = _cut(self.example) if self.example else None
        return RungResult(self.passed, self.failed, example, "; ".join(notes))


def _size(example: Counterexample) -> int:
    return len(example.written) or len(example.wanted) + len(example.got)


def _cut(example: Counterexample) -> Counterexample:
    texts = (example.written, example.wanted, example.got)
    return Counterexample(*(shortened(text, _LENGTH) for text in texts))
