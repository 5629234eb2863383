"""One call as grammar: its pieces, its marker, and what ends a raw value in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile

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
    spelled,
    trimmed,
)
from turnspec.spec.calls import Arguments, Literal, Piece, Slot, Tools
from turnspec.spec.characters import is_lone_sign
from turnspec.spec.words import Encoding, SlotKind, ToolMode

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


_JSON_PUNCTUATION = re.compile(r"[ \t\n\r{\[]*")


def call_marker(tools: Tools) -> str:
    """Return the text that tells the beginning of the calls from free text.

    White space before it is kept as the template writes it.
    """
    if _is_tag(tools.section_start):
        return tools.section_start.rstrip(WHITE_SPACE)
    head = leading_text(tools.call)
    white_space = head[: len(head) - len(head.lstrip(WHITE_SPACE))]
    return tools.section_start + white_space + _distinctive(head.lstrip(WHITE_SPACE))


@dataclass(frozen=True, slots=True)
class CallText:
    """One call as grammar: what is the same for all tools, and the rest from the name on.

    ``pieces`` are the call's, or those of another way to write one. ``begun`` is what the prompt
    already holds of the call's beginning; ``spell`` is as in `Calls`.
    """

    tools: Tools
    pieces: Sequence[Piece]
    begun: str = ""
    spell: bool = False

    def head(self) -> str:
        """Return what stands before the name, or before arguments that come first."""
        marker, rest = self._marker()
        before = self._writer().written(rest[: _own(rest)])
        return sequence(spelled(marker.removeprefix(self.begun)), before)

    def tail(self, name: str, arguments: str) -> str:
        """Return the rest for a name and arguments, both as grammar."""
        _, rest = self._marker()
        return self._writer(name, arguments).written(rest[_own(rest) :])

    def _marker(self) -> tuple[str, tuple[Piece, ...]]:
        """Return what is spelled out of the call's head, and all the other pieces."""
        # The call's head is spelled out wherever something else might stand in its place.
        if _is_tag(self.tools.section_start) and all(map(trimmed, self.tools.separators)):
            return "", tuple(self.pieces)
        head = leading_text(self.pieces).lstrip(WHITE_SPACE)
        marker = _distinctive(head)
        rest = head.removeprefix(marker)
        literals = (Literal(rest),) if rest else ()
        return marker, (*literals, *dropwhile(is_literal, self.pieces))

    def _writer(self, name: str = "", arguments: str = "") -> PieceWriter:
        fills = {
            SlotKind.NAME: name,
            SlotKind.ARGUMENTS: arguments,
            SlotKind.ID: "call-id",
            SlotKind.INDEX: "call-index",
            SlotKind.COUNT: "argument-count",
            SlotKind.WORD: "call-word",
        }
        raw_end = ends_raw(self.tools.arguments) and not self.tools.arguments.end
        keyed = self.tools.arguments.item[:1] == (Slot(SlotKind.KEY),)
        return PieceWriter(
            fills,
            json_gaps=self.tools.mode is ToolMode.JSON_NATIVE,
            spell=self.spell,
            raw_slot=SlotKind.ARGUMENTS if raw_end and not keyed else None,
            word_behind=_begins_with_word(self.tools.arguments),
            before_end=GAP if any(map(str.isspace, value_ends(self.tools))) else "",
        )


def _begins_with_word(arguments: Arguments) -> bool:
    """Tell whether a call's arguments begin with something that a name could hold."""
    if not arguments.item or trimmed(arguments.start):
        return goes_on(trimmed(arguments.start))
    first = arguments.item[0]
    return first.kind is SlotKind.KEY or goes_on(first.text)


def _own(pieces: Sequence[Piece]) -> int:
    """Return the position of the first piece that isn't the same for all tools."""
    own = (Slot(SlotKind.NAME), Slot(SlotKind.ARGUMENTS))
    return next(number for number, piece in enumerate(pieces) if piece in own)


def _is_tag(text: str) -> bool:
    """Say whether a section's start is a marker by itself, not only JSON's brackets."""
    return _JSON_PUNCTUATION.fullmatch(text) is None


def _distinctive(head: str) -> str:
    """Return as much of a call's beginning as tells it from free text: its first line, if a tag."""
    first_line = head.partition("\n")[0].rstrip(WHITE_SPACE)
    return first_line if _is_tag(first_line) else head
