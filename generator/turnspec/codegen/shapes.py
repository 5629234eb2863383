"""Which texts are distinctive enough to be markers, and how they fall into tags."""

from __future__ import annotations

import re

_OPENING, _CLOSING = r"<\[{(\u27E6-\u27EF\u3008-\u301B", r">\]})\u27E6-\u27EF\u3008-\u301B"
#: Brackets around signs, and no other brackets or quotes, as JSON and code have them.
_TAG_OF_SIGNS = re.compile(rf"[{_OPENING}][^\w\s\"'{_OPENING}{_CLOSING}]+[{_CLOSING}]")


def tags(text: str) -> list[str]:
    """Split text at white space after which it begins again as it began, as ``<a> <b>`` does.

    Text that ends with the sign with which it begins, as ``--- a ---`` does, is one tag.
    """
    stripped = text.strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1]:
        return [stripped]
    return re.split(rf"\s+(?={re.escape(stripped[0])})", stripped) if stripped else []


def looks_like_marker(text: str) -> bool:
    """Tell whether text is distinctive enough to be recognised wherever it stands.

    It has a word, or is a bracket around other signs, as ``</>`` is.
    """
    if not looks_like_head(text):
        return False
    return any(map(str.isalnum, text)) or bool(_TAG_OF_SIGNS.fullmatch(text.strip()))


def looks_like_head(text: str) -> bool:
    """Tell whether text is distinctive enough where a name stands beside it."""
    return sum(not character.isalnum() and not character.isspace() for character in text) >= 2


def is_in_words(text: str) -> bool:
    """Tell whether text is words with one sign, or a rare sign: a mark where it begins the turn."""
    signs = re.sub(r"[^\W_]|\s", "", text)
    return len(signs) == 1 and (not signs.isascii() or len(re.findall(r"[^\W_]", text)) > 2)
