"""Grammar rules for arrays and objects that are written as elements."""

from __future__ import annotations

from collections.abc import Sequence

from turnspec.codegen.shapes import looks_like_marker
from turnspec.grammar.characters import key_character
from turnspec.grammar.free_text import text_without
from turnspec.grammar.text import (
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
    trimmed,
)
from turnspec.spec.calls import Arguments, Elements, Piece, Slot
from turnspec.spec.characters import member_ends
from turnspec.spec.words import SlotKind

_ELEMENTS = "elements"
_MEMBER = "element-member"
_ITEM = "element-item"
#: What refers to the text of an element.
ELEMENT_TEXT = "element-text"
#: What refers to a string that is an element's whole value, where elements are begun as text is.
ELEMENT_STRING = "element-string"
_VALUE = Slot(SlotKind.VALUE)


def opening_texts(elements: Elements) -> list[str]:
    """Return the texts that a raw value can't hold, as with them elements begin.

    There are none where they are too plain: there it can't begin as they and its end begin.
    """
    texts = [trimmed(pieces[0].text) for pieces in (elements.member, elements.element)]
    return texts if all(map(looks_like_marker, texts)) else []


def element_ends(elements: Elements) -> list[str]:
    """Return the texts that an element's own text can't hold."""
    ends = [_closing_text(elements.member), _closing_text(elements.element)]
    return [*ends, *opening_texts(elements)]


def value_or_elements(arguments: Arguments, text_rule: str) -> str:
    """Return what a value is: elements or none, or free text if ``text_rule`` is a rule for it."""
    elements = arguments.elements
    assert elements is not None
    pieces = (arguments.item, elements.member, elements.element)
    # Free text takes the line break that stands before what closes it.
    nested = sequence(_ELEMENTS, GAP if any(space_around(it)[1] for it in pieces) else "")
    options = text_options(elements, text_rule) if text_rule else ('""',)
    return choice((*options, nested))


def text_options(elements: Elements, text_rule: str) -> tuple[str, ...]:
    """Return what free text is where elements might stand in its place."""
    if opening_texts(elements):
        return (text_rule,)
    pieces = (elements.member, elements.element)
    excluded = {text[0] for each in pieces for text in (trimmed(each[0].text), _closing_text(each))}
    are_in_lines = all(_text_before_value(each)[-1:] in WHITE_SPACE for each in pieces)
    if are_in_lines:
        excluded |= {*WHITE_SPACE}  # which may stand in front of elements as well
    # It is free already in front of an argument's value, and the text's own in an element.
    lead = GAP if are_in_lines and text_rule == ELEMENT_TEXT else ""
    text = sequence(lead, f"{character_class(excluded, negated=True)} {text_rule}")
    return (text, GAP if are_in_lines else '""')


def element_rules(arguments: Arguments) -> tuple[Rule, ...]:
    """Return the rules for elements, which nest to any depth; none where there are none."""
    elements = arguments.elements
    if elements is None:
        return ()
    between = lenient(elements.separator)
    several = [
        Rule(f"{rule}s", sequence(rule, group([sequence(between, rule)], "*")))
        for rule in (_MEMBER, _ITEM)
    ]
    names = choice(rule.name for rule in several)
    return (
        Rule(_ELEMENTS, names, "an object's members, or an array's elements"),
        *several,
        Rule(_MEMBER, element_tags(elements.member, "element-name", "element-value")),
        Rule(_ITEM, element_tags(elements.element, "", "element-value")),
        Rule("element-name", _name(elements.member)),
        Rule("element-value", value_or_elements(arguments, ELEMENT_TEXT)),
    )


def element_text_rules(elements: Elements) -> tuple[Rule, ...]:
    """Return the rules for an element's own text, and for it as a whole value."""
    rules = text_without(ELEMENT_TEXT, element_ends(elements), "an element's text, up to its end")
    if opening_texts(elements):
        return rules
    return (Rule(ELEMENT_STRING, choice(text_options(elements, ELEMENT_TEXT))), *rules)


def element_tags(pieces: Sequence[Piece], key: str, value: str) -> str:
    """Return the pieces around a value, spelled out as text might stand there too.

    The line break before a value is there, as any other white space would be the value's.
    """
    fills = {SlotKind.KEY: key, SlotKind.VALUE: value}
    parts = [fills[it.kind] if it.kind else closing(it.text) for it in pieces]
    if line := space_around(pieces)[0]:
        at = pieces.index(_VALUE) - 1
        parts[at] = sequence(spelled(trimmed(pieces[at].text)), spelled(line))
    return sequence(*parts)


def member_key_ends(member: Sequence[Piece]) -> tuple[str, str]:
    """Return the characters that a member's key can't hold, and those it can't begin with.

    It can't begin as a closing tag goes on after an opening one.
    """
    opening, end = trimmed(member[0].text), _closing_text(member)
    going_on = end[len(opening) :][:1] if end.startswith(opening) else ""
    return member_ends(member), going_on


def _name(member: Sequence[Piece]) -> str:
    """Return a key's characters."""
    ends, first_ends = member_key_ends(member)
    first, character = key_character(ends + first_ends), key_character(ends)
    more = "" if " " in ends else f' ( " " {character}+ )*'
    return f"{first} {character}*{more}"


def space_around(pieces: Sequence[Piece]) -> tuple[str, str]:
    """Return the white space in the tags beside a value; none where it is all that ends it."""
    at = pieces.index(_VALUE)
    texts = [piece.text for piece in pieces]
    before = texts[at - 1] if at else ""
    behind = texts[at + 1] if at + 1 < len(texts) else ""
    core = behind.lstrip(WHITE_SPACE) or behind
    return before[len(before.rstrip(WHITE_SPACE)) :], behind[: len(behind) - len(core)]


def _text_before_value(pieces: Sequence[Piece]) -> str:
    before = pieces[pieces.index(_VALUE) - 1]
    return "-" if before.kind else before.text


def _closing_text(pieces: Sequence[Piece]) -> str:
    return trimmed(pieces[pieces.index(_VALUE) + 1].text)
