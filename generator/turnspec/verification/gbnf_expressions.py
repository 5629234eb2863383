"""What GBNF rules are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_LAST_CHARACTER = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Text:
    """Exactly this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of (or, negated, outside) some ranges of code points, both ends included."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False

    def __contains__(self, char: str) -> bool:
        code = ord(char)
        for low, high in self.ranges:  # a loop, as this is asked for each character of each text
            if low <= code <= high:
                return not self.negated
        return self.negated

    def allowed(self) -> tuple[tuple[int, int], ...]:
        """Return the allowed code points as ranges in order."""
        ordered = sorted(self.ranges)
        if not self.negated:
            return tuple(ordered)
        gaps, begin = [], 0
        for low, high in ordered:
            gaps.append((begin, low - 1))
            begin = max(begin, high + 1)
        gaps.append((begin, _LAST_CHARACTER))
        return tuple((low, high) for low, high in gaps if low <= high)


@dataclass(frozen=True, slots=True)
class Reference:
    """Whatever the rule of this name stands for."""

    name: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """The parts one after another."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the options."""

    options: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The part from ``least`` to ``most`` times; None: without a limit."""

    part: Expression
    least: int
    most: int | None


Expression = Text | Characters | Reference | Sequence | Choice | Repeat


def all_parts(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all that it is made of."""
    yield expression
    match expression:
        case Sequence(inner) | Choice(inner):
            for part in inner:
                yield from all_parts(part)
        case Repeat(part):
            yield from all_parts(part)
