"""What has to hold of a turn that was streamed into a parser."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from turnspec.codegen.format_module import FormatModule
from turnspec.grammar.request import functions
from turnspec.spec.calls import Slot
from turnspec.spec.model import Spec
from turnspec.spec.words import SlotKind
from turnspec.verification.comparing import added_up, parts_of
from turnspec.verification.grammar_rung import call_faults, turn_ends
from turnspec.verification.messages import format_markers
from turnspec.verification.walk_offers import schemas

#: A piece of text, and whether it is a special token.
Piece = tuple[str, bool]

_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]{4,}")


@dataclass(slots=True)
class StreamedTurn:
    """A parser that is fed with a turn, and what was fed and came out so far."""

    module: FormatModule
    options: Mapping[str, Any]
    parser: Any
    pieces: list[Piece]
    events: list[Any]

    @classmethod
    def start(cls, module: FormatModule, **options: Any) -> StreamedTurn:
        """Return a parser that has read nothing yet."""
        return cls(module, options, module.Parser(**options), [], [])

    def feed(self, piece: str, special: bool = False) -> list[Any]:
        """Hand a piece on, and return the events that it brought."""
        self.pieces.append((piece, special))
        events: list[Any] = self.parser.feed(piece, special)
        self.events += events
        return events

    def finish(self) -> list[Any]:
        """End the turn, and return the last events."""
        events: list[Any] = self.parser.finish()
        self.events += events
        return events

    @property
    def text(self) -> str:
        """All that was fed."""
        return "".join(piece for piece, _ in self.pieces)

    def parsed(self, *behind: Piece) -> Any:
        """Return the message of the whole text, and what stands ``behind`` it.

        Between special tokens all ordinary text is one piece.
        """
        runs = groupby([*self.pieces, *behind], key=itemgetter(1))
        whole: list[Piece] = []
        for special, pieces in runs:
            texts = [text for text, _ in pieces]
            whole += [(text, True) for text in texts] if special else [("".join(texts), False)]
        return self.module.parse(whole, **self.options)

    @property
    def message(self) -> Any:
        """The message as it is known."""
        return self.parser.message


def stream_faults(turn: StreamedTurn, closing: str = "") -> Iterator[str]:
    """Yield what is wrong with the way the turn was read, whatever is in it.

    ``closing`` is the token that ended the turn, which an engine may hand on as text or keep.
    """
    whole = turn.parsed()
    if whole != turn.message:
        yield f"streamed {turn.message!r}, but as a whole {whole!r}"
    if added_up(turn.events) != parts_of(turn.message):
        yield f"the events add up to {added_up(turn.events)!r}, not {parts_of(turn.message)!r}"
    if closing:
        closed = turn.parsed((closing, True))
        if closed != turn.message:
            yield f"with {closing!r} behind it, it is {closed!r}, not {turn.message!r}"


def in_tokens(text: str, tokens: Iterable[bytes], specials: Collection[str]) -> list[Piece]:
    """Return a text in a vocabulary's tokens; nothing where these say something else.

    Some tokenizers write a blank of their own behind a special token.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    pieces = [(piece, piece in specials) for piece in map(decoder.decode, tokens)]
    return pieces if "".join(piece for piece, _ in pieces) == text else []


def token_faults(turn: StreamedTurn, tokens: Sequence[Piece]) -> Iterator[str]:
    """Yield what is wrong with a turn whose text comes in the tokenizer's own ``tokens``.

    The special ones are told to the parser, and it reads the same.
    """
    specials = list(dict.fromkeys(text for text, special in tokens if special))
    told = StreamedTurn.start(turn.module, **turn.options, special_tokens=specials)
    for text, special in tokens:
        told.feed(text, special)
    told.finish()
    yield from stream_faults(told)
    if parts_of(told.message) != parts_of(turn.message):
        yield f"with special tokens it is {told.message!r}, not {turn.message!r}"


def quoting_faults(turn: StreamedTurn, specials: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with a turn of calls if all of it comes in ordinary tokens: it is text.

    This holds where no call begins without one of the ``specials``.
    """
    quoted = turn.module.parse(turn.text, **turn.options, special_tokens=specials)
    if quoted.tool_calls:
        yield f"in ordinary tokens it still calls {quoted.tool_calls[0].name}"
    names = [call.name for call in turn.message.tool_calls]
    text = quoted.content + quoted.reasoning_content
    yield from (f"in ordinary tokens {name!r} is lost" for name in names if name not in text)


def turn_faults(spec: Spec, turn: StreamedTurn, tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what is wrong with a turn that came to its end: nothing may be."""
    message = turn.message
    if any(problem.kind == "cut_off" for problem in message.problems):
        # The turn's end, which the engine took away, tells that this is text.
        closed = (turn.parsed((end, True)) for end in turn_ends(spec))
        message = next((whole for whole in closed if not whole.problems), message)
    faults = [f"{problem.kind}: {problem.message}" for problem in message.problems]
    known = schemas(tools)
    faults += [fault for call in message.tool_calls for fault in call_faults(call, known)]
    lost = list(dict.fromkeys(_lost_words(spec, turn, tools)))
    return faults + ([f"lost: {', '.join(lost)}"] if lost else [])


def _lost_words(
    spec: Spec, turn: StreamedTurn, tools: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield the words of the text that are in no part of the message and in no marker."""
    message = turn.message
    quotes = {spec.tools.arguments.syntax.quote} if spec.tools else set()  # they may be words, too
    own = sorted({*format_markers(spec), *quotes} - {""}, key=len, reverse=True)
    kept = [message.content, message.reasoning_content, *own]
    kept += [*_alternative_texts(spec), *_meaningless(spec, turn.text, tools)]
    kept += spec.tools.arguments.types.values() if spec.tools else ()
    for call in message.tool_calls:
        kept += [call.id, call.name, call.arguments]
        kept += [str(json.loads(call.arguments))] if call.complete else []
    kept += [problem.message for problem in message.problems]
    known = "\n".join(kept) + "\n" + "\n".join(_plain(text) for text in kept)
    text = turn.text
    for marker in own:
        text = text.replace(marker, " ")
    yield from (word for word in _WORD.findall(_plain(text)) if word not in known)


def _alternative_texts(spec: Spec) -> Iterator[str]:
    """Yield what stands around calls that are written otherwise than the template does."""
    ways = spec.alternatives.calls
    yield from (piece.text for way in ways for piece in way)
    if spec.alternatives.code is not None:
        yield spec.alternatives.code.start


def _meaningless(spec: Spec, text: str, tools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what fills the slots for any word, which an overlay may have in its markers."""
    names = "|".join(re.escape(function.name) for function in functions(tools))
    marks = (marks.start for marks in spec.alternatives.marks)
    for pieces in (*spec.alternatives.calls, *marks):
        for before, slot, behind in zip(pieces, pieces[1:], pieces[2:], strict=False):
            if slot == Slot(SlotKind.WORD) and not behind.kind:
                start = f"(?:{names})" if before.kind else re.escape(before.text)
                yield from re.findall(f"{start}(.*?){re.escape(behind.text)}", text, re.DOTALL)


def _plain(text: str) -> str:
    """Return a text without escapes, which a parser resolves."""
    return _ESCAPE.sub(" ", text)
