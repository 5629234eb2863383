"""Literals and slots of a spec as the pieces of markers, a slot as an expression."""

from __future__ import annotations

import re

from generator.codegen.marker_plan import SPACE, Expression, Follows, MarkerPieces, words
from generator.spec.model import Literal, Piece, Slot, SlotKind

_GROUPS = {
    SlotKind.NAME: "name",
    SlotKind.ID: "id",
    SlotKind.KEY: "key",
    SlotKind.TYPE: "type",
}


def slotted(
    parts: tuple[Piece, ...],
    expressions: dict[str, str],
    next_text: str,
    also_stop: str = "",
) -> MarkerPieces:
    """Return a marker with slots as pieces; add the slots' expressions to ``expressions``."""
    pieces: list[str | Expression | Follows] = []
    for index, part in enumerate(parts):
        if isinstance(part, Literal):
            after_name = index and parts[index - 1] == Slot(SlotKind.NAME)
            if pieces and (part.text[:1].isspace() or after_name):
                pieces.append(SPACE)
            pieces += words(part.text)
            before_name = index + 1 < len(parts) and parts[index + 1] == Slot(SlotKind.NAME)
            ends_in_space = part.text[-1:].isspace() and index + 1 < len(parts)
            if part.text.strip() and (ends_in_space or before_name):
                pieces.append(SPACE)
            continue
        following = literal_text(parts[index + 1])[:1] if index + 1 < len(parts) else next_text
        opening = literal_text(parts[0]).strip()[:1]
        stops = following if opening.isalnum() else opening + following
        pieces.append(_slot(part.kind, also_stop + stops, expressions))
    return tuple(pieces)


def _slot(kind: SlotKind, stops: str, expressions: dict[str, str]) -> Expression:
    excluded = "".join(sorted({re.escape(stop) for stop in stops if not stop.isspace()}))
    if kind is SlotKind.INDEX:
        constant, expression = "_INDEX", r"\d{0,9}"
    elif f"_{kind.value}" in expressions:
        again = f"_{kind.value}_AGAIN"
        name = "?:" if again in expressions else f"?P<{_GROUPS[kind]}_again>"
        constant = f"{again}_TOO" if again in expressions else again
        expression = rf"({name}[^\n{excluded}]{{1,256}})"
    else:
        least = 0 if kind is SlotKind.ID else 1
        none_of = r"\s" if kind is SlotKind.NAME else r"\n"
        constant = f"_{kind.value}"
        text = f"[^{none_of}{excluded}]{{{least},256}}"
        if stops[-1:].isspace() and none_of != r"\s":  # the white space is the literal's
            text = rf"(?:[^\n{excluded}]{{0,255}}[^\s{excluded}]){{{least},1}}"
        expression = rf"(?P<{_GROUPS[kind]}>{text})"
    expressions[constant] = expression
    return Expression(constant)


def literal_text(piece: Piece) -> str:
    """Return a literal's text; of a slot an empty one."""
    return piece.text if isinstance(piece, Literal) else ""
