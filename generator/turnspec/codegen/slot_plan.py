"""Literals and slots of a spec as the pieces of markers, a slot as an expression."""

from __future__ import annotations

import re

from turnspec.codegen.marker_plan import SPACE, Expression, Follows, MarkerPieces, words
from turnspec.spec.characters import LETTERS, LONGEST, NOT_IN_KEYS, name_signs, slot_ends
from turnspec.spec.model import Literal, Piece, Slot, SlotKind

_NAME = Slot(SlotKind.NAME)
#: What is no tag stands between a tag and a name, such as a name space.
_PREFIX = re.compile(r"(?<=[>\]])[\w.:]+$")

#: Behind an equals sign these may be quoted, as an attribute is.
_QUOTABLE = (SlotKind.NAME, SlotKind.KEY)
_QUOTE = "[\"']?"

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
        before, after = parts[index - 1] if index else None, _next(parts, index)
        if isinstance(part, Literal):
            if not (before == _NAME and _joins_index(part, after)):
                pieces += _literal(part.text, bool(pieces), _is_word(before), after, expressions)
            continue
        if part.kind is SlotKind.INDEX and isinstance(before, Literal):
            separator = before.text if index > 1 and _joins_index(before, part) else ""
            if separator and parts[index - 2] == _NAME:
                expressions["_INDEX"] = rf"(?P<index>{re.escape(separator)}\d{{0,9}})?"
                pieces.append(Expression("_INDEX"))
                continue
        quotable = literal_text(before).endswith("=") and part.kind in _QUOTABLE
        blank = _following(parts, index)[:1].isspace()
        ends = also_stop + slot_ends(parts, index, next_text)
        slot = _slot(part.kind, ends, expressions, blank)
        if quotable:
            expressions["_ATTRIBUTE_QUOTE"] = _QUOTE
        pieces += (
            [Expression("_ATTRIBUTE_QUOTE"), slot, Expression("_ATTRIBUTE_QUOTE")]
            if quotable
            else [slot]
        )
    return tuple(pieces)


def _is_word(piece: Piece | None) -> bool:
    return isinstance(piece, Slot) and piece.kind in (SlotKind.NAME, SlotKind.INDEX)


def _next(parts: tuple[Piece, ...], index: int) -> Piece | None:
    return parts[index + 1] if index + 1 < len(parts) else None


def _following(parts: tuple[Piece, ...], index: int) -> str:
    """Return the text that ends a slot: the next one, as a word between may be missing."""
    behind = (part for part in parts[index + 1 :] if part != Slot(SlotKind.WORD))
    return literal_text(next(behind, None))


def _joins_index(part: Literal, after: Piece | None) -> bool:
    """Tell whether text is no tag of its own but joins an index to a name; both may be missing."""
    return after == Slot(SlotKind.INDEX) and re.fullmatch(r"[^\w\s<>\[\]]+", part.text) is not None


def _literal(
    text: str, spaced: bool, behind_word: bool, after: Piece | None, expressions: dict[str, str]
) -> MarkerPieces:
    """Return a literal's pieces; between a tag and a name it has a prefix that may be missing."""
    prefix = _PREFIX.search(text) if after == _NAME else None
    tag = text[: prefix.start()] if prefix else text
    before = (SPACE,) if spaced and (text[:1].isspace() or behind_word) else ()
    ends_in_space = text[-1:].isspace() and after is not None
    behind = (SPACE,) if text.strip() and (ends_in_space or after == _NAME) else ()
    if prefix:
        expressions["_PREFIX"] = rf"(?P<prefix>{re.escape(prefix.group())})?"
        behind = (*behind, Expression("_PREFIX"))
    return (*before, *words(tag), *behind)


def _slot(kind: SlotKind, ends: str, expressions: dict[str, str], blank: bool) -> Expression:
    """Return a slot's expression; ``blank``: the white space behind it is the literal's."""
    if kind is SlotKind.WORD:
        constant, expression = "_WORD", r"\s{0,9}[\w-]{0,40}\s{0,9}"
    elif kind in (SlotKind.INDEX, SlotKind.COUNT):
        constant, expression = f"_{kind.value}", r"\d{0,9}"
    elif f"_{kind.value}" in expressions:
        again = f"_{kind.value}_AGAIN"
        name = "?:" if again in expressions else f"?P<{_GROUPS[kind]}_again>"
        constant = f"{again}_TOO" if again in expressions else again
        expression = f"({name}{_held(kind, ends, blank)})"
    else:
        constant = f"_{kind.value}"
        expression = f"(?P<{_GROUPS[kind]}>{_held(kind, ends, blank)})"
    expressions[constant] = expression
    return Expression(constant)


def _held(kind: SlotKind, ends: str, blank: bool) -> str:
    """Return an expression for what a name, an id, a key or a type word may be."""
    least = 0 if kind is SlotKind.ID else 1
    if kind in (SlotKind.NAME, SlotKind.ID):
        return f"[{LETTERS}{name_signs(ends)}]{{{least},{LONGEST}}}"
    excluded = "".join(sorted({re.escape(end) for end in ends if not end.isspace()}))
    if " " in ends:
        return rf"[^{NOT_IN_KEYS} {excluded}]{{{least},{LONGEST}}}"
    if blank:
        return rf"[^{NOT_IN_KEYS}{excluded}]{{0,{LONGEST - 1}}}[^\s{excluded}]"
    return f"[^{NOT_IN_KEYS}{excluded}]{{{least},{LONGEST}}}"


def numbered(
    pieces: MarkerPieces, own: dict[str, str], number: int, expressions: dict[str, str]
) -> MarkerPieces:
    """Return a marker with groups and constants of its own, as no two markers may share a group.

    ``own`` are its expressions; they are added to ``expressions``. Only name and id keep groups.
    """
    names: dict[str, str] = {}
    for constant, expression in own.items():
        if "?P<" not in expression:
            expressions[constant] = expression
            continue
        names[constant] = f"{constant}_{number}"
        group = re.sub(r"\?P<(name|id)>", rf"?P<\1_{number}>", expression)
        expressions[names[constant]] = re.sub(r"\?P<\w+(?<!\d)>", "?:", group)
    return tuple(
        Expression(names.get(piece.name, piece.name)) if isinstance(piece, Expression) else piece
        for piece in pieces
    )


def literal_text(piece: Piece | None) -> str:
    """Return a literal's text; of a slot an empty one."""
    return piece.text if isinstance(piece, Literal) else ""
