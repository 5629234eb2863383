"""Regular expressions for the markers of a format, as lenient with white space as its parser is.

They are written for the `regex` package, which transformers uses: a group's name may come twice,
and what is looked for behind may have any length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from turnspec.spec.calls import Piece
from turnspec.spec.characters import LETTERS, NAMED, name_signs
from turnspec.spec.words import SlotKind

_SPACE = re.compile(r"\s+")
_KEY = re.compile(r'[{,]\s*"|"\s*:')
_PUNCTUATION = ("{", "}", "[", "]", ":", ",")
_PARTS = re.compile(r"([{}\[\]:,])")
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}\-&~#]")


def escaped(text: str) -> str:
    """Return an expression for this very text."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def lenient(text: str) -> str:
    r"""Return an expression for a marker: where it has white space there may be any, or none."""
    return r"\s*".join(escaped(word) for word in _SPACE.split(text))


def _lenient_json(text: str) -> str:
    r"""Return an expression for a marker with a key in it: JSON may have white space in places."""
    parts = (
        rf"\s*{escaped(part)}\s*" if part in _PUNCTUATION else lenient(part)
        for part in _PARTS.split(text)
    )
    return "".join(parts)


def spaced(text: str) -> str:
    r"""Return an expression for a marker with any white space around it."""
    return rf"\s*{lenient(text.strip())}\s*"


def longest_first(texts: Iterable[str]) -> list[str]:
    """Return markers, each once and without what is blank, so that none hides a longer one."""
    given = {text.strip() for text in texts if text.strip()}
    return sorted(given, key=lambda text: (-len(text), text))


def pieces_expression(pieces: Sequence[Piece], ends: str) -> str:
    """Return an expression for the pieces of a call up to its arguments, its slots as groups.

    A name that is said twice has to be the same; ``ends`` is what no name or id may hold.
    """
    written, seen = "", set()
    for piece in pieces:
        if piece.kind is None:
            written += _lenient_json(piece.text) if _KEY.search(piece.text) else lenient(piece.text)
            continue
        group = piece.kind.value.lower()
        written += f"(?P={group})" if group in seen else _slot(piece.kind, ends)
        if piece.kind in NAMED:
            seen.add(group)
    return written


def _slot(kind: SlotKind, ends: str) -> str:
    if kind in (SlotKind.INDEX, SlotKind.COUNT):
        return r"\d+"
    if kind is SlotKind.WORD:
        return r"\s*[\w\-]*\s*"
    return f"(?P<{kind.value.lower()}>[{LETTERS}{escaped(name_signs(ends))}]+)"
