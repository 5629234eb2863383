"""The fuzzer's bytes are a turn in pieces, some of them special tokens of a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.fuzz.fuzz_parser import load_target
from tests.fuzz.fuzzing import Choices, Target
from tests.generated_formats import committed_format
from tests.marker_soup import own_markers, plain_pieces
from tests.parser_checks import assert_in_order
from tests.special_pieces import Piece, formats_with_calls, in_characters, special_tokens

NAMES = tuple(names[0] for names in formats_with_calls()[::3])
_MOST_PIECES = 24


@dataclass(frozen=True, slots=True)
class Attempt:
    """A format, the special tokens that are known, and the turn."""

    name: str
    tokens: tuple[str, ...]
    pieces: tuple[Piece, ...]


def attempt(data: bytes) -> Attempt:
    """Return what the fuzzer's bytes stand for."""
    choices = Choices(data)
    name = choices.one_of(NAMES)
    spec = committed_format(name).spec
    tokens = special_tokens(spec)
    known = tokens if choices.number(3) else tokens[choices.number(len(tokens)) :]
    texts = (*own_markers(spec), *plain_pieces(), "look", "\ue001\ue000\ue000")
    pieces: list[Piece] = []
    while choices.left() and len(pieces) < _MOST_PIECES:
        if known and choices.flag():
            pieces.append((choices.one_of(known), bool(choices.number(3))))
        else:
            text = choices.one_of(texts) if choices.number(5) else choices.text()
            pieces.append((text, choices.number(15) == 0))
    return Attempt(name, known, tuple(pieces))


def check(tried: Attempt) -> None:
    """Read the turn in its pieces, and with the ordinary ones cut; and all of it as text."""
    spec, form = committed_format(tried.name).spec, load_target(tried.name).module
    options: dict[str, Any] = {"special_tokens": tried.tokens, "prefill": spec.turn.header}
    whole = form.parse(tried.pieces, **options)
    parser = form.Parser(**options)
    events = [event for piece in in_characters(tried.pieces) for event in parser.feed(*piece)]
    events += parser.finish()
    assert parser.message == whole, f"cut it is {parser.message}, else {whole}"
    assert_in_order(events, whole)
    text = "".join(piece for piece, _ in tried.pieces)
    by_text = form.parse(text, prefill=spec.turn.header)
    assert form.parse(tried.pieces, prefill=spec.turn.header) == by_text


TARGET = Target(attempt, check)
