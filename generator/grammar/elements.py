"""Grammar rules for arrays and objects that are written as elements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from generator.codegen.marker_plan import looks_like_marker
from generator.grammar.text import (
    GAP,
    WHITE_SPACE,
    Rule,
    character_class,
    choice,
    closing,
    group,
    lenient,
    sequence,
    spelled,
    text_without,
    trimmed,
)
from generator.spec.model import Elements, Literal, Piece, Slot, SlotKind

_ELEMENTS = "elements"
_TEXT = "element-text"
_VALUE = Slot(SlotKind.VALUE)
_KEY = Slot(SlotKind.KEY)
_CONTROL = r"\x00-\x1F"


def opening_texts(elements: Elements) -> list[str]:
    """Return the texts that a raw value can't hold, as with them elements begin.

    There are none where they are too plain: there it can't begin as they and its end begin.
    """
    texts = [_first_text(pieces) for pieces in (elements.member, elements.element)]
    return texts if all(map(looks_like_marker, texts)) else []


def value_or_elements(elements: Elements, text_rule: str) -> str:
    """Return what a value is: elements or none, or free text if ``text_rule`` is a rule for it."""
    if not text_rule:
        return choice((_ELEMENTS, '""'))
    if opening_texts(elements):
        return choice((text_rule, _ELEMENTS))
    pieces = (elements.member, elements.element)
    excluded = {text[0] for each in pieces for text in (_first_text(each), _closing_text(each))}
    beginning = character_class(excluded, negated=True)
    return choice((f"{beginning} {text_rule}", _ELEMENTS, '""'))


def element_rules(elements: Elements) -> tuple[Rule, ...]:
    """Return the rules for elements, which nest to any depth."""
    ends = [_closing_text(elements.member), _closing_text(elements.element)]
    between = lenient(elements.separator)
    options = [
        sequence(rule, group([sequence(between, rule)], "*"))
        for rule in ("element-member", "element-item")
    ]
    return (
        Rule(_ELEMENTS, choice(options), "an object's members, or an array's elements"),
        Rule("element-member", _tags(elements.member)),
        Rule("element-item", _tags(elements.element)),
        Rule("element-name", _name(elements.member)),
        Rule("element-value", value_or_elements(elements, _TEXT)),
        *text_without(_TEXT, [*ends, *opening_texts(elements)], "an element's text, up to its end"),
    )


def _tags(pieces: Sequence[Piece]) -> str:
    """Return the pieces, spelled out as text might stand there too."""
    at = pieces.index(_VALUE)
    return sequence(*(_piece(piece, number > at) for number, piece in enumerate(pieces)))


def _piece(piece: Piece, is_closing: bool) -> str:
    if isinstance(piece, Slot):
        return "element-name" if piece == _KEY else "element-value"
    if is_closing:
        return closing(piece.text)
    return sequence(spelled(trimmed(piece.text)), GAP if piece.text[-1] in WHITE_SPACE else "")


def _name(member: Sequence[Piece]) -> str:
    """Return a key's characters; it can't begin as a closing tag goes on after an opening one."""
    behind = [
        after.text[0]
        for piece, after in pairwise(member)
        if piece == _KEY and isinstance(after, Literal)
    ]
    opening, end = _first_text(member), _closing_text(member)
    excluded = {*behind, opening[0]}
    going_on = end[len(opening) :][:1] if end.startswith(opening) else ""
    first = character_class({*excluded, *going_on}, negated=True, ranges=_CONTROL)
    return f"{first} {character_class(excluded, negated=True, ranges=_CONTROL)}*"


def _first_text(pieces: Sequence[Piece]) -> str:
    return trimmed(pieces[0].text) if isinstance(pieces[0], Literal) else ""


def _closing_text(pieces: Sequence[Piece]) -> str:
    behind = pieces[pieces.index(_VALUE) + 1]
    return trimmed(behind.text) if isinstance(behind, Literal) else ""
