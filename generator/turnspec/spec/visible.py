"""Text as it may be shown: what would do something to a terminal stands as an escape."""

from __future__ import annotations

import re

_SHORT_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
# JSON escapes C0 itself. Beside the other controls, what turns the order of signs around, what
# ends a line, and halves of surrogate pairs, which can't be encoded.
_ODD_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str, kept: str = "") -> str:
    """Return text with all characters as escapes that don't print, but for those in ``kept``.

    These are controls (C0, C1, DEL), line ends, what changes the direction of writing, all white
    space but the blank, and signs without width.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in kept else _escape(character)
        for character in text
    )


def visible_json(text: str) -> str:
    r"""Return JSON of the same value in which no character does anything to a terminal.

    JSON's own escapes stand for them: ``\u009b``.
    """
    return _ODD_IN_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _escape(character: str) -> str:
    """Return a character as a spec has it in quotes."""
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def cut(text: str, length: int) -> str:
    """Return a line of at most about ``length`` characters that says how many it leaves out."""
    if len(text) <= length:
        return text
    return f"{text[:length]}… ({len(text) - length:,} more characters)"
