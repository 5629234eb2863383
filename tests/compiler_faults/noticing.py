"""Whether comparing a parser with the engine notices that something is wrong with it."""

from __future__ import annotations

import copy
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

from tests.generated_formats import committed_format, committed_spec
from tests.parser_uses import refusals
from tests.reading_samples import Amount, Sample, samples
from turnspec.codegen.compiled import loaded
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load

_AMOUNT = Amount(odd=1200, cuts=8)
_LONGEST = 10.0  # seconds of the processor; a parser that goes round in a circle is noticed
_COPIED = 25  # of so many samples one is read by a copy as well


class TooLongError(Exception):
    """A parser doesn't come to an end."""


@cache
def samples_of(form: str) -> list[Sample]:
    """Return what is read of a format: always the same."""
    return list(samples(committed_format(form), _AMOUNT))


@cache
def told_by_the_engine(form: str) -> list[str]:
    """Return all that the engine tells of a format's samples."""
    module = load(committed_spec(form))
    return ["; ".join(refusals(module)), *_all_told(module, form)]


def noticed_by(source: str, form: str) -> str:
    """Return how it shows that a parser isn't what it should be; "" if it doesn't."""
    wanted = told_by_the_engine(form)
    with _limited():
        try:
            module = loaded(source)
            if "; ".join(refusals(module)) != wanted[0]:
                return "refuses what isn't wrong, or takes what is"
        except Exception as error:
            return f"doesn't load: {type(error).__name__}"
        found = _all_told(module, form)
        for sample, right in zip(samples_of(form), wanted[1:], strict=True):
            if next(found) != right:
                return f"reads otherwise: {sample.text!r}"
    return ""


def _all_told(module: FormatModule, form: str) -> Iterator[str]:
    for at, sample in enumerate(samples_of(form)):
        yield told(module, sample, is_copied=at % _COPIED == 0)


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
        if isinstance(error, TooLongError):
            return "doesn't end"
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
