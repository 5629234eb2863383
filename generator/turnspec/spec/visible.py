"""Text as it may be shown: what deceives, or would do something to a terminal, is an escape.

One rule says what that is, Python's own of what prints, by category: controls (C0, C1, DEL), line
ends, what changes the direction of writing, signs without width, all white space but the blank,
private signs, and halves of surrogate pairs. Markers in Python have escapes by the same rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

#: Half of a surrogate pair: texts in JSON may hold one, files in UTF-8 can't.
HALF = re.compile("[\ud800-\udfff]")
_SHORT_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def visible(text: str, kept: str = "") -> str:
    """Return text with all characters as escapes that don't print, but for those in ``kept``."""
    return _shown(text, kept, escape)


def visible_json(text: str) -> str:
    r"""Return JSON of the same value, also as a script has it, in which all but line feeds prints.

    JSON's own escapes stand for the rest: ``\u009b``.
    """
    return _shown(text, "\n", lambda character: json.dumps(character)[1:-1])


def _shown(text: str, kept: str, escaped: Callable[[str], str]) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else escaped(c) for c in text)


def escape(character: str) -> str:
    """Return a character as a spec has it in quotes, where that doesn't show it."""
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def shortened(text: str, length: int) -> str:
    """Return at most ``length`` characters of a text, and a sign where there are more."""
    return text if len(text) <= length else f"{text[:length]}…"


def cut(text: str, length: int) -> str:
    """Return a line of at most about ``length`` characters that says how many it leaves out."""
    if len(text) <= length:
        return text
    return f"{text[:length]}… ({len(text) - length:,} more characters)"
