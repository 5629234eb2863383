"""Whether comparing a parser with the engine notices that something is wrong with it."""

from __future__ import annotations

import copy
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from types import FrameType
from typing import Any

from tests.generated_formats import committed_format, committed_spec
from tests.parser_uses import refusals
from tests.reading_samples import Amount, Sample, samples
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load, load_module

_AMOUNT = Amount(odd=10_000, cuts=8)
_LONGEST = 2.0  # seconds of the processor for a sample; a parser that goes in a circle is noticed
_COPIED = 25  # of so many samples one is read by a copy as well


class TooLongError(BaseException):
    """A parser doesn't come to an end."""


class Engine:
    """A format's samples, with what the engine tells of each: always the same, made as needed."""

    def __init__(self, form: str) -> None:
        """Load the engine with a format's facts."""
        self._module = load(committed_spec(form))
        self._samples = samples(committed_format(form), _AMOUNT)
        self._told: list[tuple[Sample, str]] = []
        self.refusals = list(refusals(self._module))

    def all_told(self) -> Iterator[tuple[Sample, str]]:
        """Yield the samples."""
        yield from self._told
        for sample in self._samples:
            is_copied = len(self._told) % _COPIED == 0
            self._told.append((sample, told(self._module, sample, is_copied=is_copied)))
            yield self._told[-1]


@cache
def _engine(form: str) -> Engine:
    return Engine(form)


def noticed_by(source: str, form: str, most: int | None = None) -> str:
    """Return how it shows that a parser isn't what it should be, by so many samples; or ""."""
    engine = _engine(form)
    try:
        with _limited():
            module = load_module(source)
            if list(refusals(module)) != engine.refusals:
                return "refuses what isn't wrong, or takes what is"
    except (Exception, TooLongError) as error:
        return f"doesn't load: {type(error).__name__}"
    for at, (sample, wanted) in enumerate(islice(engine.all_told(), most)):
        try:
            with _limited():
                if told(module, sample, is_copied=at % _COPIED == 0) != wanted:
                    return f"reads otherwise: {sample.text!r}"
        except TooLongError:
            return f"doesn't end: {sample.text!r}"
    return ""


def told(module: FormatModule, sample: Sample, *, is_copied: bool) -> str:
    """Return all that a parser gives for a sample, or the error that it raises."""
    try:
        parser = module.Parser(**sample.options)
        events: list[Any] = [parser.feed(*piece) for piece in sample.pieces]
        unfinished = repr(parser.message)
        events.append(copy.copy(parser).finish() if is_copied else [])
        events.append(parser.finish())
        message = parser.message
        deltas = [event.to_delta() for some in events for event in some]
        whole = (message.to_dict(), message.finish_reason, message == copy.copy(message))
        return repr((events, unfinished, message, deltas, whole))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@contextmanager
def _limited() -> Iterator[None]:
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise TooLongError
