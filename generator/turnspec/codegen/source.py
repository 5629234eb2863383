"""Python source text for strings, markers and expressions, safe whatever a template holds."""

from __future__ import annotations

import unicodedata

from turnspec.codegen.marker_plan import (
    SPACE,
    Expression,
    Follows,
    Marker,
    MarkerPieces,
    first_characters,
)

#: In characters; a longer one is broken up.
_LONGEST_STRING = 80


def long_string(text: str) -> str:
    """Return a Python literal for text, broken up if it is long."""
    if len(text) <= 72:
        return repr(text)
    chunks = (text[start : start + 72] for start in range(0, len(text), 72))
    return "(" + " ".join(map(repr, chunks)) + ")"


def marker_set(constant: str, markers: tuple[Marker, ...], *, searched: bool) -> str:
    """Return the definition of a set of markers; ``searched`` if it is not only matched."""
    starts = [repr(first_characters(markers))] if searched else []
    roles = (
        f"{marker.role}=[{', '.join(map(_pieces, marker.alternatives))}]" for marker in markers
    )
    return f"{constant} = _Markers({', '.join([*starts, *roles])},)"


def used_constants(markers: tuple[Marker, ...]) -> set[str]:
    """Return the constants that markers refer to."""
    return set().union(*(_used(pieces) for marker in markers for pieces in marker.alternatives))


def shown(text: str) -> str:
    """Return text fit for the inside of a docstring or a comment, on one line."""
    visible = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(visible.split()).replace("\\", "\\\\").replace('"""', "'''")


def sample_block(text: str, width: int = 96) -> str:
    """Return a sample turn as an indented block for a docstring, its long lines cut."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        visible = "".join(character if character.isprintable() else " " for character in line)
        visible = visible.replace("\\", "\\\\").replace('"""', "'''")
        if _width(visible) > width:
            while _width(visible) >= width:
                visible = visible[: width - 1 - _width(visible)]
            visible += "…"
        lines.append(f"    {visible}".rstrip())
    return "\n".join(lines).strip("\n")


def _pieces(pieces: MarkerPieces) -> str:
    """Return a marker as the source of a string or a tuple; a blank stands for white space."""
    written: list[str] = []
    text = ""
    for piece in pieces:
        if isinstance(piece, str) or piece == SPACE:
            text += piece if isinstance(piece, str) else " "
            continue
        written += [*_strings(text), _piece(piece)]
        text = ""
    written += _strings(text)
    if len(written) == 1:
        return written[0] if text else f"({written[0]},)"
    return f"({', '.join(written)})"


def _strings(text: str) -> list[str]:
    """Return the source of strings that together are the text, at blanks if it is long."""
    if len(text) <= _LONGEST_STRING or " " not in text:
        return [repr(text)] if text else []
    head, _, rest = text.partition(" ")
    return [repr(head + " "), *_strings(rest)]


def _piece(piece: Expression | Follows) -> str:
    if isinstance(piece, Expression):
        return piece.name
    return f"[{', '.join(map(_pieces, piece.alternatives))}]"


def _used(pieces: MarkerPieces) -> set[str]:
    found: set[str] = set()
    for piece in pieces:
        if isinstance(piece, Expression) and piece != SPACE:
            found.add(piece.name)
        elif isinstance(piece, Follows):
            found = found.union(*map(_used, piece.alternatives))
    return found


def raw(expression: str, width: int = 76) -> str:
    """Return Python literals in a row for an expression, raw ones where that is possible."""
    at = width
    while at < len(expression) and expression[at - 1] == "\\":
        at -= 1
    rest = expression[at:]
    return f"{_raw(expression[:at])} {raw(rest)}" if rest else _raw(expression)


def _raw(expression: str) -> str:
    quote = "'" if '"' in expression else '"'
    if quote in expression or not expression.isprintable() or expression.endswith("\\"):
        return repr(expression)
    return f"r{quote}{expression}{quote}" if "\\" in expression else f"{quote}{expression}{quote}"


def _width(text: str) -> int:
    """Return how many columns text takes; wide characters take two."""
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in text)
