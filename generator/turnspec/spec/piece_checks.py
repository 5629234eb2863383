"""What the pieces of a marker must be: texts and slots, each of which a parser can tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from turnspec.spec.calls import Piece
from turnspec.spec.turn_end import MOST_STOPS
from turnspec.spec.words import SlotKind
from turnspec.spec.yaml_document import Finding, YamlPath

#: What a call can have.
CALL_SLOTS = (SlotKind.NAME, SlotKind.ID, SlotKind.INDEX, SlotKind.COUNT, SlotKind.ARGUMENTS)
# What stands for a slot in the notation of markers, which looks for it as text.
_LIKE_SLOT = re.compile(rf"\{{(?:{'|'.join(kind.lower() for kind in SlotKind)})\}}")
# What such a slot holds shows its own beginning or end, so nothing need stand beside it.
_SELF_EVIDENT = frozenset({SlotKind.ARGUMENTS, SlotKind.VALUE, SlotKind.WORD})


def unannounced(pieces: Sequence[Piece], path: YamlPath) -> Iterator[Finding]:
    """Yield that nothing shows where pieces begin, if so."""
    if not first_text(pieces).strip():
        yield path, "no text stands at its beginning: nothing shows it"


def check_stops(texts: Sequence[str], path: YamlPath) -> Iterator[Finding]:
    """Yield which texts can end no turn, and whether there are too many."""
    yield from empty_texts(texts, path, "a stop string")
    if len(texts) > MOST_STOPS:
        yield path, f"there are {len(texts)} stop strings; {MOST_STOPS} at most"


def empty_texts(texts: Iterable[str], path: YamlPath, what: str) -> Iterator[Finding]:
    """Yield which texts are empty, or white space alone."""
    for index, text in enumerate(texts):
        if not text:
            yield (*path, index), f"{what} can't be empty"
        elif not text.strip():  # any white space is read there, and so none
            yield (*path, index), f"{what} can't be made of blanks"


def exactly_one(slots: Sequence[SlotKind], kind: SlotKind, path: YamlPath) -> Iterator[Finding]:
    """Yield that a slot isn't there once, if so."""
    count = slots.count(kind)
    if count != 1:
        yield path, f"{count or 'no'} {kind} slot{'s' if count > 1 else ''}; there must be one"


def check_pieces(
    pieces: Sequence[Piece], path: YamlPath, allowed: Sequence[SlotKind]
) -> Iterator[Finding]:
    """Yield which pieces don't belong where they stand, or can't be told from others."""
    for index, piece in enumerate(pieces):
        if piece.kind and piece.kind not in allowed:
            yield (*path, index, "slot"), f"a {piece.kind} slot doesn't belong here"
        elif not piece.kind and not piece.text:
            yield (*path, index, "text"), "a text can't be empty here"
        elif slot := _LIKE_SLOT.search(piece.text):
            yield (*path, index, "text"), f"{slot.group()!r} can't be told from a slot"
    for index, (left, right) in enumerate(pairwise(pieces)):
        if left.kind and right.kind and not {left.kind, right.kind} & _SELF_EVIDENT:
            place = (*path, index + 1)
            yield place, f"nothing stands between the slots {left.kind} and {right.kind}"


def slots_in(pieces: Iterable[Piece]) -> list[SlotKind]:
    """Return the kinds of the slots among pieces, in their order."""
    return [piece.kind for piece in pieces if piece.kind]


def first_text(pieces: Sequence[Piece]) -> str:
    """Return the text with which pieces begin, if they begin with one."""
    return pieces[0].text if pieces else ""
