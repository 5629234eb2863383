"""Markers as pieces: literal text, expressions by name, and what has to follow."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expression:
    """A constant of the generated module that holds a compiled expression."""

    name: str


@dataclass(frozen=True, slots=True)
class Follows:
    """Alternatives of which one has to follow a marker without being part of it."""

    alternatives: tuple[MarkerPieces, ...]


MarkerPieces = tuple[str | Expression | Follows, ...]

SPACE = Expression("_SPACE")


@dataclass(frozen=True, slots=True)
class Marker:
    """A role that text can play, and the ways it can be written."""

    role: str
    alternatives: tuple[MarkerPieces, ...]


#: White space inside a marker, and where it may stand though the template has none: between tags.
_BREAK = re.compile(r"\s+|(?<=>)(?=[<\[])|(?<=\])(?=<)")


def words(text: str) -> MarkerPieces:
    """Return a marker's pieces; white space inside it may be more or less than the template's."""
    pieces: list[str | Expression | Follows] = []
    for word in _BREAK.split(text.strip()) if text.strip() else ():
        pieces += [SPACE, word] if pieces else [word]
    return tuple(pieces)


def tags(text: str) -> list[str]:
    """Split text at white space after which it begins again as it began, as ``<a> <b>`` does.

    Text that ends with the sign with which it begins, as ``--- a ---`` does, is one tag.
    """
    stripped = text.strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1]:
        return [stripped]
    return re.split(rf"\s+(?={re.escape(stripped[0])})", stripped) if stripped else []


def looks_like_marker(text: str) -> bool:
    """Tell whether text is distinctive enough to be recognised wherever it stands."""
    return looks_like_head(text) and any(character.isalnum() for character in text)


def looks_like_head(text: str) -> bool:
    """Tell whether text is distinctive enough where a name stands beside it."""
    return sum(not character.isalnum() and not character.isspace() for character in text) >= 2


def mentions(opening: MarkerPieces) -> list[Marker]:
    """Return the ways in which an opening marker stands there without opening a call.

    Once more before itself, or where no call follows.
    """
    if not looks_like_marker("".join(piece for piece in opening if isinstance(piece, str))):
        return []
    found = [Marker("mention", (opening,))]
    if SPACE not in opening:  # one tag, not a line of text
        found.insert(0, Marker("again", ((*opening, Follows(((SPACE, *opening),))),)))
    return found


def first_characters(markers: Iterable[Marker]) -> str:
    """Return the characters with which the markers can begin, each once."""
    found: dict[str, None] = {}
    for marker in markers:
        for pieces in marker.alternatives:
            found.update(dict.fromkeys(_first(pieces)))
    return "".join(found)


def _first(pieces: MarkerPieces) -> str:
    head = pieces[0]
    if isinstance(head, str):
        return head[0]
    if isinstance(head, Follows):
        return "".join(_first(alternative) for alternative in head.alternatives)
    return ("\r\n" if head.name == "_NEWLINE" else "") + _first(pieces[1:])


def opening_literal(pieces: MarkerPieces) -> str:
    """Return the text with which a marker begins, up to what differs between turns."""
    found: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            found.append(piece)
        elif piece == SPACE:
            found.append(" ")
        else:
            break
    return "".join(found).rstrip()


def literal(pieces: MarkerPieces) -> str:
    """Return the text of a marker that is nothing but text; of any other an empty one."""
    plain = all(isinstance(piece, str) or piece == SPACE for piece in pieces)
    return opening_literal(pieces) if plain else ""
