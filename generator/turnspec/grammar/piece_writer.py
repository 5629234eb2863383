"""The pieces of calls and arguments, literals and slots, as grammar; and what ends a raw value."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from turnspec.codegen.shapes import looks_like_marker
from turnspec.grammar.elements import opening_texts
from turnspec.grammar.text import (
    GAP,
    SPACE,
    WHITE_SPACE,
    behind_value,
    closing,
    goes_on,
    lenient,
    literal,
    needs_space,
    sequence,
    trimmed,
)
from turnspec.spec.calls import Arguments, Piece, Slot, Tools
from turnspec.spec.characters import is_lone_sign
from turnspec.spec.words import Encoding, SlotKind

#: The slots that would go on in a word behind them, beside the name, which has its own rule.
_WORDS = tuple(map(Slot, (SlotKind.KEY, SlotKind.TYPE, SlotKind.INDEX, SlotKind.COUNT)))
_NAMES = (Slot(SlotKind.NAME), Slot(SlotKind.ID))
# Where JSON may hold white space between a key, its value and the next key.
_JSON_GAP = re.compile(r'(?<=":)\s*|(?<=["}\]],)\s*|(?<=^,)\s*|(?<=\{)\s*(?=")|\s+(?=[}\]])')


@dataclass(frozen=True, slots=True)
class PieceWriter:
    """Writes literals and slots. ``raw_slot`` holds free text, which takes the space around it.

    ``before_end`` stands behind it where white space, one of its ends, is nothing that it holds.
    ``word_behind``: a name could go on in the arguments.
    """

    fills: Mapping[SlotKind, str]
    raw_slot: SlotKind | None = None
    before_end: str = ""
    word_behind: bool = False
    json_gaps: bool = False
    spell: bool = False

    def written(self, pieces: Sequence[Piece]) -> str:
        """Return pieces as grammar."""
        return sequence(*(self._piece(i, pieces) for i in range(len(pieces))))

    def _piece(self, index: int, pieces: Sequence[Piece]) -> str:
        piece = pieces[index]
        if piece.kind:
            behind_name = index > 0 and pieces[index - 1] == Slot(SlotKind.NAME)
            if piece.kind is SlotKind.WORD and behind_name:
                return "word-apart"
            return self.fills[piece.kind]
        text, before = piece.text, pieces[index - 1].kind if index else None
        if before and before is self.raw_slot:
            return sequence(self.before_end, closing(text))
        if before is SlotKind.VALUE:
            return behind_value(text)
        if self._ends_word(index, pieces) and needs_space(text):
            return sequence(literal(text[0]), GAP, self._literal(text.lstrip(WHITE_SPACE)))
        return self._literal(text)

    def _ends_word(self, index: int, pieces: Sequence[Piece]) -> bool:
        """Tell whether a word before a literal goes on where the literal's white space is missing.

        Behind a name or an id stands what it could go on with: the literal's own text, or the
        word that follows white space.
        """
        before, behind = pieces[:index][-1:], pieces[index + 1 : index + 2]
        if not before or before[0] not in (*_WORDS, *_NAMES):
            return False
        if behind == (Slot(SlotKind.ARGUMENTS),):
            return self.word_behind or goes_on(trimmed(pieces[index].text))
        return bool(behind) or before[0] != Slot(SlotKind.NAME)

    def _literal(self, text: str) -> str:
        if self.spell:
            return sequence(GAP if text.lstrip(WHITE_SPACE) != text else "", closing(text))
        if not self.json_gaps:
            return lenient(text)
        first, *others = (lenient(stretch) for stretch in _JSON_GAP.split(text))
        return sequence(first, *(sequence(SPACE, other) for other in others))


def ends_raw(arguments: Arguments) -> bool:
    """Say whether the last thing in an argument is free text, so that what follows must end it."""
    raw = Encoding.RAW in arguments.values.values()
    return raw and arguments.item[-1:] == (Slot(SlotKind.VALUE),)


def value_ends(tools: Tools, *, known: bool = False) -> list[str]:
    """Return the texts of which each may end a raw value.

    Where the tools are ``known``, so are their arguments, and a parser takes what begins another
    one for that.
    """
    arguments = tools.arguments
    opening = trimmed(leading_text(arguments.item))
    more = [opening] if known and looks_like_marker(opening) else []
    more = [*(opening_texts(arguments.elements) if arguments.elements else ()), *more]
    tail = _text_behind(arguments.item, SlotKind.VALUE)
    if trimmed(tail):
        return [trimmed(tail), *more]
    next_item = tail + arguments.separator + leading_text(arguments.item)
    after_all = tail + arguments.end + _text_behind(tools.call, SlotKind.ARGUMENTS)
    ends = (trimmed(end) or end for end in (next_item, after_all))
    # A sign alone ends a value where it begins a line.
    lines = "\n" if next_item.startswith("\n") else ""
    return [*(lines + end if is_lone_sign(end) else end for end in ends), *more]


def _text_behind(pieces: Sequence[Piece], kind: SlotKind) -> str:
    """Return the literal text right behind the last slot of ``kind``."""
    kinds = [piece.kind for piece in pieces]
    if kind not in kinds:
        return ""
    last = len(kinds) - 1 - kinds[::-1].index(kind)
    return leading_text(pieces[last + 1 :])


def leading_text(pieces: Sequence[Piece]) -> str:
    """Return the text before the first slot."""
    return "".join(piece.text for piece in takewhile(is_literal, pieces))


def is_literal(piece: Piece) -> bool:
    """Say whether a piece is text, and no slot."""
    return not piece.kind
