"""Python source text for strings, markers and expressions, safe whatever a template holds."""

from __future__ import annotations

import re

from generator.codegen.marker_plan import (
    Expression,
    Follows,
    Marker,
    MarkerPieces,
    first_characters,
)


def long_string(text: str) -> str:
    """Return a Python literal for text, broken up if it is long."""
    if len(text) <= 72:
        return repr(text)
    chunks = (text[start : start + 72] for start in range(0, len(text), 72))
    return "(" + " ".join(map(repr, chunks)) + ")"


def marker_set(constant: str, markers: tuple[Marker, ...], *, searched: bool) -> str:
    """Return the definition of a set of markers; ``searched`` if it is not only matched."""
    first = "".join(map(re.escape, first_characters(markers))) if searched else ""
    roles = (
        f"{marker.role}=[{', '.join(map(_pieces, marker.alternatives))}]" for marker in markers
    )
    return f"{constant} = _Markers({', '.join([raw(f'[{first}]' if first else ''), *roles])},)"


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
        cut = visible if len(visible) <= width else visible[: width - 1] + "…"
        lines.append(f"    {cut}".rstrip())
    return "\n".join(lines).strip("\n")


def _pieces(pieces: MarkerPieces) -> str:
    return "(" + ", ".join(map(_piece, pieces)) + ("," if len(pieces) == 1 else "") + ")"


def _piece(piece: str | Expression | Follows) -> str:
    if isinstance(piece, str):
        return repr(piece)
    if isinstance(piece, Expression):
        return piece.name
    return f"({', '.join(map(_pieces, piece.alternatives))},)"


def _used(pieces: MarkerPieces) -> set[str]:
    found: set[str] = set()
    for piece in pieces:
        if isinstance(piece, Expression):
            found.add(piece.name)
        elif isinstance(piece, Follows):
            found = found.union(*map(_used, piece.alternatives))
    return found


def raw(expression: str) -> str:
    """Return a Python literal for an expression, a raw one where that is possible."""
    if not expression.isprintable() or expression.endswith("\\") or '"' in expression:
        return repr(expression) if "'" in expression or not expression.isprintable() else f"r'{expression}'"
    return f'r"{expression}"' if "\\" in expression else f'"{expression}"'
