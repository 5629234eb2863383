"""Rung 2 of the ladder: however a turn is cut into pieces, the message is the same.

And wherever it breaks off, the parser neither raises nor lets a marker into the text. A turn that
lacks a separator or a marker is read alike in any pieces, too: there parsers wait for what may
come.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.shapes import looks_like_marker
from turnspec.codegen.text_marks import marks_of
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.calls import Literal, Slot
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.spec.results import Counterexample, RungResult
from turnspec.spec.words import SlotKind
from turnspec.verification.comparing import as_parsed
from turnspec.verification.messages import format_markers, sample_messages
from turnspec.verification.tally import Tally
from turnspec.verification.turns import no_place, written_input

#: Turns up to this length, in characters, are cut everywhere; those of real formats are shorter.
_MOST_CUTS = 2_000


def chunking(spec: Spec, module: FormatModule, share: float = 1) -> RungResult:
    """Return what came of every split, and of every cut, of the sample turns that show most.

    ``share`` is how many of the usual cuts are tried in turns that are long for that.
    """
    tally = Tally()
    markers = _told_alone(format_markers(spec) - _beginnings_of_calls(spec))
    for message, thinking in _full_messages(spec):
        found = written_input(spec, message, thinking=thinking)
        if found is None:
            tally.left_out["messages that the prompt leaves no place for"] += 1
            continue
        tools = tool_definitions(message.calls)
        options: dict[str, object] = {"tools": tools, "prefill": found.prefill}
        step = 1 + int(len(found.text) / (_MOST_CUTS * share))
        _Splits(spec, module, options, found.text, step).check(markers, tally)
    return tally.result(no_place(spec, "a sample turn"))


def _full_messages(spec: Spec) -> Iterator[tuple[Message, bool | None]]:
    """Yield the sample messages that show most (all parts, and three calls) after each prompt."""
    samples = list(sample_messages(spec))
    yield from ((samples[-1], thinking) for thinking in spec.thinking.choices)
    if spec.tools:
        yield samples[-2], True


@dataclass(frozen=True, slots=True)
class _Splits:
    """One turn, and what it is parsed with."""

    spec: Spec
    module: FormatModule
    options: dict[str, object]
    text: str
    step: int  # how far places to cut lie apart

    def check(self, markers: set[str], tally: Tally) -> None:
        try:
            whole = self.module.parse(self.text, **self.options)
        except Exception as error:  # a parser never raises: that it did is the result
            tally.add(Counterexample(self.text, "no exception", _named(error)))
            return
        text = self.text
        for cuts in self._pairs():
            self._add_splits(cuts, whole, tally)
        for size in (1, 3):
            chunks = [text[start : start + size] for start in range(0, len(text), size)]
            tally.add(self._fault(chunks, whole))
        for cut in range(0, len(text), self.step):
            tally.add(self._cut_off(cut, markers))
        for damaged in dict.fromkeys(self._damaged(markers)):
            tally.add(self._fault_of_damaged(damaged))

    def _damaged(self, markers: set[str]) -> Iterator[str]:
        """Yield the turn without one of its separators, wherever it stands, or a marker's first."""
        text = self.text
        for separator in sorted(_separators(self.spec)):
            for found in re.finditer(re.escape(separator), text):
                yield text[: found.start()] + text[found.end() :]
        yield from (text.replace(marker, "", 1) for marker in sorted(markers) if marker in text)

    def _fault_of_damaged(self, text: str) -> Counterexample | None:
        try:
            whole = self.module.parse(text, **self.options)
        except Exception as error:  # a parser never raises: that it did is the result
            return Counterexample(text, "no exception", _named(error))
        return same_in_pieces(self.spec, self.module, self.options, text, whole)

    def _pairs(self) -> Iterator[Sequence[int]]:
        """Yield all places to split at, two at a time, as far apart as can be for all of them."""
        places = range(1, len(self.text), self.step)
        half = len(places) // 2
        yield from zip(places[:half], places[half : 2 * half], strict=True)
        yield from ((place,) for place in places[2 * half :])

    def _add_splits(self, cuts: Sequence[int], whole: object, tally: Tally) -> None:
        """Count the splits at some places: all at once, and each alone if that shows a fault."""
        fault = self._fault(_split(self.text, cuts), whole)
        faults = [fault and self._fault(_split(self.text, [cut]), whole) for cut in cuts]
        if fault is not None and not any(faults):
            faults[0] = fault
        for found in faults:
            tally.add(found)

    def _fault(self, chunks: Sequence[str], whole: object) -> Counterexample | None:
        return same_in_pieces(self.spec, self.module, self.options, chunks, whole)

    def _cut_off(self, cut: int, markers: set[str]) -> Counterexample | None:
        text = self.text[:cut]
        try:
            message = self.module.parse(text, **self.options)
            texts = [message.content, message.reasoning_content]
            for call in message.tool_calls:
                json.loads(call.arguments)
        except Exception as error:  # a parser never raises: that it did is the result
            return Counterexample(text, "no exception", _named(error))
        leaked = sorted(marker for marker in markers for shown in texts if marker in shown)
        if not leaked:
            return None
        got = str(as_parsed(self.spec, message))
        return Counterexample(text, f"no {leaked[0]!r} in a text", got)


def _beginnings_of_calls(spec: Spec) -> set[str]:
    """Return what is text until more of a call has come.

    That is what stands before its name if it is JSON alone; or its whole head, and what closes it
    by its name, if a sign or two begin it: these count only with what has to follow.
    """
    if spec.tools is None:
        return set()
    marks, call, name = marks_of(spec), spec.tools.call, Slot(SlotKind.NAME)
    if marks.are_bare:
        found = call[: call.index(name)]
    elif marks.calls.is_doubtful:
        before_names = (it for it, behind in itertools.pairwise(call) if behind == name)
        found = (*call[: call.index(Slot(SlotKind.ARGUMENTS))], *before_names)
    else:
        return set()
    return {piece.text.strip() for piece in found if isinstance(piece, Literal)}


def _told_alone(markers: set[str]) -> set[str]:
    """Return the markers that a parser tells from text with no name behind them.

    A word with one sign is none, nor is what stands between two runs of a sign, such as
    ``**Tool:**``, if more belongs to it: where a text ends with these, they are text.
    """

    def goes_on(marker: str) -> bool:
        return marker[0] == marker[-1] and any(it.startswith(marker) for it in markers - {marker})

    return {it for it in markers if looks_like_marker(it) and not goes_on(it)}


def _separators(spec: Spec) -> set[str]:
    """Return what separates calls, arguments and values, without its white space."""
    if spec.tools is None:
        return set()
    arguments = spec.tools.arguments
    found = {*spec.tools.separators, arguments.separator, arguments.syntax.item_separator}
    return {separator.strip() for separator in found} - {""}


def same_in_pieces(
    spec: Spec,
    module: FormatModule,
    options: dict[str, object],
    chunks: Sequence[str],
    whole: object,
) -> Counterexample | None:
    """Return how a text that is fed in pieces comes out otherwise than the ``whole``."""
    parser = module.Parser(**options)
    try:
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
    except Exception as error:  # a parser never raises: that it did is the result
        return Counterexample(_with_cuts(chunks), str(as_parsed(spec, whole)), _named(error))
    if parser.message == whole:
        return None
    wanted, got = (str(as_parsed(spec, message)) for message in (whole, parser.message))
    return Counterexample(_with_cuts(chunks), wanted, got)


def _split(text: str, cuts: Sequence[int]) -> list[str]:
    return [text[start:end] for start, end in itertools.pairwise((0, *cuts, len(text)))]


def _with_cuts(chunks: Sequence[str]) -> str:
    return "|".join(chunks) if len(chunks) <= 3 else "".join(chunks)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
