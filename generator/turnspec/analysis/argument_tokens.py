"""Finding where a call's tagged arguments begin and end, once their items are known."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from turnspec.analysis.probes import VALUES, Token, TokenKind
from turnspec.spec.calls import Arguments, Piece, Slot
from turnspec.spec.encoding import encode_argument
from turnspec.spec.words import JsonType, SlotKind

_ARGUMENT_KINDS = (TokenKind.KEY, TokenKind.VALUE)
_SLOTS = (Slot(SlotKind.KEY), Slot(SlotKind.VALUE))


def join_argument_tokens(tokens: Sequence[Token], arguments: Arguments) -> tuple[Token, ...]:
    """Replace each call's KEY and VALUE tokens by one ARGUMENTS token around them."""
    if not arguments.item:
        return tuple(tokens)
    lead = len(arguments.start) + _size(arguments.item, arguments)
    tail = len(arguments.end) + _size(arguments.item[::-1], arguments)
    kept = [token for token in tokens if token.kind not in _ARGUMENT_KINDS]
    inner = [token for token in tokens if token.kind in _ARGUMENT_KINDS]
    for number, group in itertools.groupby(inner, key=lambda token: token.call):
        found = list(group)
        end = found[-1].end + tail
        if found[-1].kind is TokenKind.VALUE:
            end += _quote_size(arguments)
        kept.append(Token(TokenKind.ARGUMENTS, number, found[0].start - lead, end))
    return tuple(sorted(kept, key=lambda token: token.start))


def _size(pieces: Sequence[Piece], arguments: Arguments) -> int:
    """Return how many characters stand in pieces before the first key or value: a string's."""
    word = arguments.types.get(JsonType.STRING, "")
    around = itertools.takewhile(lambda piece: piece not in _SLOTS, pieces)
    return sum(len(word if piece.kind else piece.text) for piece in around)


def _quote_size(arguments: Arguments) -> int:
    """Return how many characters close a string value."""
    if JsonType.STRING not in arguments.values:
        return 0
    written = encode_argument(VALUES[0], arguments)
    return len(written) - written.find(VALUES[0]) - len(VALUES[0])
