"""One call as grammar: its marker, what is the same for all tools, and the rest."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile

from turnspec.grammar.piece_writer import (
    PieceWriter,
    ends_raw,
    is_literal,
    leading_text,
    value_ends,
)
from turnspec.grammar.text import GAP, WHITE_SPACE, goes_on, sequence, spelled, trimmed
from turnspec.spec.calls import Arguments, Literal, Piece, Slot, Tools
from turnspec.spec.words import SlotKind, ToolMode

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
