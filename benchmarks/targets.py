"""What the parsers should reach, and which of the results don't."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.cases import LongText, string_encoding
from benchmarks.measuring import Streamed, Whole
from turnspec.spec.words import Encoding

_TEXT, _JSON_STRING, _OTHER_STRING = 1.5, 2.5, 3.0  # microseconds per piece
_WHOLE = {LongText.CONTENT: 0.1, LongText.ESCAPES: 1.5}  # milliseconds for ...
_WHOLE_SIZE = 65536  # ... so many characters
_GROWTH = 1.3  # the cost of a piece in the longest text by that in the shortest


@dataclass(frozen=True, slots=True)
class Verdict:
    """A measured value beside its target."""

    what: str
    value: float
    target: float
    unit: str = ""

    @property
    def ok(self) -> bool:
        """Whether the target is reached."""
        return self.value <= self.target

    def __str__(self) -> str:
        """Say all of it in a line."""
        return f"{self.what}: {self.value:.2f}{self.unit}, target {self.target:.2f}{self.unit}"


def judge_streamed(result: Streamed, slack: float) -> Iterator[Verdict]:
    """Judge what a piece costs, at the worst size, and how the cost grows with the size."""
    what = f"{result.format.name}, {result.part}"
    worst = max(result.microseconds.values())
    yield Verdict(f"{what} in pieces", worst, _per_piece(result) * slack, " µs")
    if result.growth is not None:
        yield Verdict(f"{what}, longest : shortest", result.growth, _GROWTH * slack)


def judge_whole(result: Whole, slack: float) -> Verdict:
    """Judge what a text fed at once costs; the target is in proportion to the text's length."""
    target = _WHOLE[result.part] * result.size / _WHOLE_SIZE
    what = f"{result.format.name}, {result.part} at once"
    return Verdict(what, result.milliseconds, target * slack, " ms")


def _per_piece(result: Streamed) -> float:
    tools = result.format.spec.tools
    if result.part is not LongText.ARGUMENT or tools is None:
        return _TEXT
    return _JSON_STRING if string_encoding(tools) is Encoding.JSON else _OTHER_STRING
