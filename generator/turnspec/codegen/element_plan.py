"""The markers around what is inside of arrays and objects that are written as elements."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

from turnspec.codegen.marker_plan import (
    SPACE,
    Expression,
    Follows,
    Marker,
    MarkerPieces,
    looks_like_marker,
    opening_literal,
    words,
)
from turnspec.codegen.slot_plan import literal_text, slotted
from turnspec.spec.model import Arguments, Elements, Literal, Piece, Slot, SlotKind

NEWLINE = Expression("_NEWLINE")
NEWLINE_TEXT = r"\r?\n?"
_VALUE = Slot(SlotKind.VALUE)
_KEY = Slot(SlotKind.KEY)


@dataclass(frozen=True, slots=True)
class ElementPlan:
    """How a module reads elements.

    ``name`` is that of an array's element, where it looks like a member; where it doesn't, it is
    empty, and ``separate`` says so.
    """

    name: str
    separate: bool
    keyed: bool  # what closes a member has its key
    shows: bool  # an opening tag can't be taken for text, whatever type a value has
    begins_argument: bool  # a member begins just as an argument does
    separator: str  # what else than white space stands between two

    @property
    def is_opening(self) -> str:
        """Return the condition under which a marker is an opening tag."""
        roles = 'in ("member", "element")' if self.separate else '== "member"'
        return f"match.lastgroup {roles}"

    @property
    def is_not_opening(self) -> str:
        """Return the condition under which a marker is no opening tag."""
        roles = 'not in ("member", "element")' if self.separate else '!= "member"'
        return f"match.lastgroup {roles}"

    @property
    def is_element(self) -> str:
        """Return the condition under which an opening tag is that of an array's element."""
        return 'match.lastgroup == "element"' if self.separate else 'match["key"] == _ELEMENT'

    @property
    def opening_name(self) -> str:
        """Return the expression for what an opening tag of a ``key`` shares with its closing tag.

        A closing tag without a key only says whether it is a member's or an element's.
        """
        if self.keyed:
            return "key"
        return '"member" if key else ""' if self.separate else '"member"'

    @property
    def closing_name(self) -> str:
        """Return the expression for what a closing tag shares with its opening tag."""
        if self.keyed:
            return 'match["key_again"] or ""' if self.separate else 'match["key_again"]'
        if self.separate:
            return '"" if match.lastgroup == "close_element" else "member"'
        return '"member"'


@dataclass(frozen=True, slots=True)
class Around:
    """The markers around a whole argument's value."""

    opening: MarkerPieces
    closing: MarkerPieces
    ahead: Follows  # what follows the closing one
    done: MarkerPieces  # the end of all arguments
    tails: tuple[MarkerPieces, ...]  # the rest of a call, in which a value isn't closed
    ends: tuple[str, ...]  # of the turn


def plan_elements(arguments: Arguments) -> ElementPlan | None:
    """Return how elements are read, or None where no value is written so."""
    elements = arguments.elements
    if elements is None:
        return None
    name = _name_as_member(elements)
    first_texts = [literal_text(pieces[0]) for pieces in (elements.member, elements.element)]
    return ElementPlan(
        name=name,
        separate=not name,
        keyed=_KEY in _closing(elements.member),
        shows=all(map(looks_like_marker, first_texts)),
        begins_argument=_lead(arguments, elements) is not None,
        separator=elements.separator.strip(),
    )


def element_sets(
    arguments: Arguments, elements: Elements, around: Around, expressions: dict[str, str]
) -> dict[str, tuple[Marker, ...]]:
    """Return the markers at a value's beginning, in it, and behind an element's closing tag."""
    openings, closings = _tags(elements, expressions)
    openings_alone = [pieces for marker in openings for pieces in marker.alternatives]
    closings_alone = [pieces for marker in closings for pieces in marker.alternatives]
    if any(NEWLINE in pieces for pieces in (*openings_alone, *closings_alone, around.closing)):
        expressions["_NEWLINE"] = NEWLINE_TEXT
    lead = _lead(arguments, elements)
    others: list[Marker] = []
    if _KEY not in _closing(arguments.item) and around.closing not in closings_alone:
        others.append(Marker("outer", ((*around.closing, around.ahead),)))
    if lead is None and looks_like_marker(opening_literal(around.opening)):
        next_argument: MarkerPieces = (Follows((around.opening,)),)
        others.append(Marker("next", (next_argument,)))
    following = map(_first_text, (*openings_alone, *closings_alone, around.opening, around.closing))
    behind = dict.fromkeys((*following, around.done, words(elements.separator)))
    ending = _ending(around, lead or "", expressions)
    return {
        "_FIRST_ELEMENT": tuple(
            Marker(marker.role, tuple((SPACE, *pieces) for pieces in marker.alternatives))
            for marker in openings
        ),
        # Tags with a key look like many others, so they come last.
        "_ELEMENTS": (*ending, *others, *closings, *openings),
        "_FOLLOWING": (
            Marker("following", tuple((SPACE, *pieces) for pieces in behind if pieces)),
        ),
    }


def _tags(
    elements: Elements, expressions: dict[str, str]
) -> tuple[tuple[Marker, ...], tuple[Marker, ...]]:
    """Return the opening and the closing tags of members, and of elements where they differ."""
    found: dict[str, str] = {}
    member = _opened(elements.member, slotted(_opening(elements.member), found, ""))
    close = _closed(elements.member, slotted(_closing(elements.member), found, ""))
    found["_KEY"] = _not_closing(elements.member) + found["_KEY"]
    # An argument's keys may have other expressions.
    expressions |= {_renamed(name): expression for name, expression in found.items()}
    openings = (Marker("member", (_with_own_names(member),)),)
    closings = (Marker("close", (_with_own_names(close),)),)
    if _name_as_member(elements):
        return openings, closings
    element = _opened(elements.element, words(literal_text(elements.element[0])))
    close_element = _closed(elements.element, words(literal_text(elements.element[-1])))
    return (
        (Marker("element", (element,)), *openings),
        (*closings, Marker("close_element", (close_element,))),
    )


def _first_text(pieces: MarkerPieces) -> MarkerPieces:
    """Return the text that a marker begins with, up to a slot."""
    rest = pieces[1:] if pieces[0] == NEWLINE else pieces
    return tuple(takewhile(lambda piece: isinstance(piece, str) or piece == SPACE, rest))


def _ending(around: Around, lead: str, expressions: dict[str, str]) -> list[Marker]:
    """Return what ends a value whose elements aren't all closed."""
    found = []
    if around.tails:
        over: MarkerPieces = (Follows(around.tails),)
        if lead.strip():
            spaced = (
                r"\s{0,99}" if piece == SPACE else re.escape(str(piece)) for piece in words(lead)
            )
            expressions["_LEAD"] = f"(?:{''.join(spaced)})?"
            over = (Expression("_LEAD"), SPACE, *over)
        found.append(Marker("tail", (over,)))
    if around.ends:
        expressions["_NEVER"] = r"(?!)"
        never = ((*words(end), SPACE, Expression("_NEVER")) for end in around.ends)
        found.append(Marker("ending", tuple(never)))
    return found


def _lead(arguments: Arguments, elements: Elements) -> str | None:
    """Return what stands before an argument's beginning in a member's; None if they differ."""
    item, member = _opening(arguments.item), _opening(elements.member)
    first, text = literal_text(item[0]), literal_text(member[0])
    if item[1:] != member[1:] or not text.endswith(first):
        return None
    return text.removesuffix(first)


def _name_as_member(elements: Elements) -> str:
    """Return the key with which a member looks like an array's element, or "" if none does."""
    expression = ""
    for piece in elements.member:
        if isinstance(piece, Literal):
            expression += re.escape(piece.text)
        elif piece == _VALUE:
            expression += "\0"
        else:
            expression += "(?P=key)" if "(?P<key>" in expression else "(?P<key>[^<>\"']+)"
    written = "".join(literal_text(piece) or "\0" for piece in elements.element)
    match = re.fullmatch(expression, written)
    return match["key"] if match else ""


def _opening(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    return pieces[: pieces.index(_VALUE)]


def _closing(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    return pieces[pieces.index(_VALUE) + 1 :]


def _opened(pieces: tuple[Piece, ...], marker: MarkerPieces) -> MarkerPieces:
    """Return an opening marker with the newline that isn't part of the value behind it."""
    return (*marker, NEWLINE) if literal_text(_opening(pieces)[-1]).endswith("\n") else marker


def _closed(pieces: tuple[Piece, ...], marker: MarkerPieces) -> MarkerPieces:
    """Return a closing marker with the newline that isn't part of the value before it."""
    return (NEWLINE, *marker) if literal_text(_closing(pieces)[0]).startswith("\n") else marker


def _not_closing(member: tuple[Piece, ...]) -> str:
    """Return an expression that keeps a closing tag from being read as an opening one."""
    opening, closing = literal_text(member[0]), literal_text(_closing(member)[0]).lstrip()
    rest = closing.removeprefix(opening.lstrip())
    return f"(?!{re.escape(rest)})" if rest and rest != closing else ""


def _renamed(constant: str) -> str:
    return f"_MEMBER{constant}" if constant.startswith("_KEY") else constant


def _with_own_names(pieces: MarkerPieces) -> MarkerPieces:
    """Return a marker with constants of its own for keys, which may differ from an argument's."""
    return tuple(
        Expression(_renamed(piece.name)) if isinstance(piece, Expression) else piece
        for piece in pieces
    )
