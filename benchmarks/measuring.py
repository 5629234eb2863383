"""Timing: parsers fed in small pieces, parsers fed once, and a loop to compare them with."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.cases import Format, LongText, LongTurn, has_part, long_turn, said
from turnspec.codegen.format_module import FormatModule

PIECE = 4  # characters


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure one case: in rounds of all sizes, fewer where they take too long."""

    rounds: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Streamed:
    """What one piece of a long text costs, by the text's size: the median of all rounds."""

    format: Format
    part: LongText
    microseconds: dict[int, float]

    @property
    def growth(self) -> float | None:
        """The cost at the largest size by that at the smallest; None if there is one size."""
        if len(self.microseconds) < 2:
            return None
        return self.microseconds[max(self.microseconds)] / self.microseconds[min(self.microseconds)]


@dataclass(frozen=True, slots=True)
class Whole:
    """What a text costs that is fed at once: the median of all rounds."""

    format: Format
    part: LongText
    size: int
    milliseconds: float


class WrongResult(Exception):
    """A parser didn't give a text back, so that its time means nothing."""


class _Nothing:
    """What the calibration loop calls instead of a parser."""

    def feed(self, text: str) -> list[object]:
        """Return an empty list."""
        return []


def streamed(known: Format, part: LongText, sizes: Sequence[int], effort: Effort) -> Streamed:
    """Measure the feeding of a long text in small pieces; sizes take turns in each round."""
    times: dict[int, list[float]] = {size: [] for size in sizes}
    for taken in streamed_rounds(known, part, sizes, effort):
        for size in sizes:
            times[size] += taken[size]
    return Streamed(known, part, {size: statistics.median(taken) for size, taken in times.items()})


def streamed_rounds(
    known: Format, part: LongText, sizes: Sequence[int], effort: Effort
) -> Iterator[dict[int, list[float]]]:
    """Measure the same round by round: yield the microseconds of a piece, by the text's size."""
    module = known.load()
    turns = {size: long_turn(known.spec, part, size) for size in sizes}
    for turn in turns.values():
        _check(known, part, turn, module)
    for _ in _rounds(effort):
        times: dict[int, list[float]] = {size: [] for size in sizes}
        for size, turn in turns.items():
            for _ in range(max(max(sizes) // size, 1)):
                parser = _parser(known, turn, module)
                parser.feed(turn.lead)
                times[size].append(_per_piece(parser.feed, _pieces(turn.body)))
        yield times


def whole(known: Format, part: LongText, size: int, effort: Effort) -> Whole:
    """Measure the parsing of a whole turn with a long text in it."""
    module = known.load()
    turn = long_turn(known.spec, part, size)
    _check(known, part, turn, module)
    times = []
    for _ in _rounds(Effort(effort.rounds * 5, effort.seconds)):
        start = time.perf_counter()
        module.parse(turn.whole, tools=turn.tools, prefill=known.spec.turn.header)
        times.append(time.perf_counter() - start)
    return Whole(known, part, size, statistics.median(times) * 1e3)


def calibration(size: int, effort: Effort) -> float:
    """Return the microseconds of a method call that returns an empty list."""
    pieces = _pieces("x" * size)
    return statistics.median(_per_piece(_Nothing().feed, pieces) for _ in _rounds(effort))


def measurable(known: Format) -> list[LongText]:
    """Return the long texts that can be fed to a format in pieces."""
    parts = (LongText.CONTENT, LongText.REASONING, LongText.ARGUMENT)
    return [part for part in parts if has_part(known.spec, part)]


def _check(known: Format, part: LongText, turn: LongTurn, module: FormatModule) -> None:
    parser = _parser(known, turn, module)
    for piece in (turn.lead, *_pieces(turn.body), turn.tail):
        parser.feed(piece)
    parser.finish()
    if said(part, parser.message) != turn.value:
        raise WrongResult(f"{known.name}: the {part} didn't come back from the parser")


def _parser(known: Format, turn: LongTurn, module: FormatModule) -> Any:
    return module.Parser(tools=turn.tools, prefill=known.spec.turn.header)


def _pieces(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def _per_piece(feed: Callable[[str], object], pieces: Sequence[str]) -> float:
    """Return the microseconds that one piece takes."""
    start = time.perf_counter()
    for piece in pieces:
        feed(piece)
    return (time.perf_counter() - start) / len(pieces) * 1e6


def _rounds(effort: Effort) -> Iterator[int]:
    """Count rounds, at least one, until they are done or the time is up."""
    end = time.perf_counter() + effort.seconds
    for number in range(effort.rounds):
        with no_garbage_collection():
            yield number
        if time.perf_counter() > end:
            return


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Collect nothing meanwhile."""
    gc.collect(0)  # the parsers of the round before, which are in cycles
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
