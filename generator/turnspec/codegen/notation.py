"""Literals and slots of a spec in the notation of markers, see `engine/markers.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turnspec.engine.markers import escaped
from turnspec.spec.calls import Piece, Slot, filled
from turnspec.spec.characters import NAME_SIGNS, WIDE_CLOSING, WIDE_OPENING
from turnspec.spec.words import SlotKind

#: What is no tag stands between a tag and a name, such as a name space.
_PREFIX = re.compile(r"(?<=[>\]=])\w[\w.:]*$")
#: White space inside a marker, and where it may stand with none written: by tags, JSON's signs.
#: Servers put blanks around special tokens.
_BREAK = re.compile(
    rf"\s+|(?<=>)(?=[<\[\]])|(?<=[^>]>)(?=\w)|(?<=[\]\[\w])(?=[<{WIDE_OPENING}])"
    rf"|(?<=[{WIDE_CLOSING}])(?=[\w\[\]{WIDE_OPENING}])"
    r"|(?<=\{\{)(?=\")|(?<=\[)(?=\{\{)|(?<=\])(?=\}\})|(?<=\}\})(?=\])|(?<=\"[:,])(?=\")"
)
_NAME, _INDEX, _ID = Slot(SlotKind.NAME), Slot(SlotKind.INDEX), Slot(SlotKind.ID)
_SLOTS = {kind: f"{{{kind.lower()}}}" for kind in SlotKind} | {SlotKind.COUNT: "{index}"}


def notation(text: str) -> str:
    """Return text as a marker; its white space may be more or less than the template's."""
    return " ".join(_BREAK.split(escaped(text.strip())))


def plain(marker: str) -> str:
    """Return the text of a marker without slots; a blank in it is any white space."""
    return marker.replace("{{", "{").replace("}}", "}")


def slotted(pieces: Sequence[Piece]) -> str:
    """Return literals and slots as a marker."""
    found = ""
    for before, piece, after in zip((None, *pieces), pieces, (*pieces[1:], None), strict=False):
        if isinstance(piece, Slot):
            found += _SLOTS[piece.kind]
        elif (before, after) == (_NAME, _INDEX) and re.fullmatch(r"[^\w\s<>\[\]]+", piece.text):
            # No tag, but what joins an index to a name; both may be missing.
            found += f"{{?{escaped(piece.text)}}}"
        else:
            found += _literal(piece.text, before, after)
    # An attribute may stand in any quotes, or none.
    return re.sub(r"""=(["']) ?(\{(?:name|key)\}) ?\1(?=>)""", r"= \2 ", found)


def as_filled(pieces: Sequence[Piece]) -> str:
    """Return literals as they are, and slots as markers have them."""
    return filled(pieces, _SLOTS)


def optional(marker: str) -> str:
    """Return a marker as one that may be missing; with white space or braces in it, as it is."""
    return marker if not marker or re.search(r"[\s{}]", marker) else f"{{?{marker}}}"


def before_value(pieces: Sequence[Piece]) -> str:
    """Return what stands before a raw value: one blank or line end there is no part of it."""
    edge = {"\n": "\n", " ": "{blank}"}.get(pieces[-1].text[-1:], "")
    return slotted(pieces).rstrip() + edge


def behind_value(pieces: Sequence[Piece]) -> str:
    """Return what stands behind a raw value: a line end at its start is no part of the value."""
    lead = re.match(r"(\n?)([ \t]*)", pieces[0].text)
    line_end = lead[1] + "{indent}" * bool(lead[1] and lead[2]) if lead else ""
    return line_end + slotted(pieces).strip()


def _literal(text: str, before: Piece | None, after: Piece | None) -> str:
    """Return a literal; between a tag and a name it has a prefix that may be missing."""
    prefix = _PREFIX.search(text) if after == _NAME else None
    tag = text[: prefix.start()] if prefix else text
    goes_on = before in (_NAME, _ID) and text.startswith((*NAME_SIGNS,))  # with a name's signs
    is_loose = before in (_NAME, _INDEX, _ID) and not goes_on
    spaced_before = before is not None and (text[:1].isspace() or is_loose)
    spaced_behind = after in (_NAME, _ID) or (after is not None and text[-1:].isspace())
    marker = notation(tag)
    if before is not None:  # and a quote behind a slot
        marker = re.sub(r'\A"(?=<)', '" ', marker)
    written = " " * spaced_before + marker + " " * bool(text.strip() and spaced_behind)
    return written + (f"{{?{escaped(prefix.group())}}} " if prefix else "")
