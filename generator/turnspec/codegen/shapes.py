"""Which texts are distinctive enough to be markers, and how they fall into tags."""

from __future__ import annotations

import re


def tags(text: str) -> list[str]:
    """Split text at white space after which it begins again as it began, as ``<a> <b>`` does.

    Text that ends with the sign with which it begins, as ``--- a ---`` does, is one tag.
    """
    stripped = text.strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1]:
        return [stripped]
    return re.split(rf"\s+(?={re.escape(stripped[0])})", stripped) if stripped else []


def closing_tags(text: str) -> list[str]:
    """Split what closes a call into its tags, whether white space parts them or not."""
    return tags(text.replace("><", "> <"))


def looks_like_marker(text: str) -> bool:
    """Tell whether text is distinctive enough wherever it stands: by a word, or as ``</>`` is."""
    opening, closing = r"[<\[{(⟦-⟯〈-〛]{1,2}", r"[>\]})⟦-⟯〈-〛]{1,2}"
    is_tag = re.fullmatch(rf"{opening}[^\w\s\"'<>()\[\]{{}}]+{closing}", text.strip())
    return looks_like_head(text) and (bool(is_tag) or any(map(str.isalnum, text)))


def looks_like_head(text: str) -> bool:
    """Tell whether text is distinctive enough where a name stands beside it."""
    return sum(not character.isalnum() and not character.isspace() for character in text) >= 2


def is_in_words(text: str) -> bool:
    """Tell whether text is words with one sign, or a rare sign: a mark where it begins the turn."""
    signs = re.sub(r"[^\W_]|\s", "", text)
    return len(signs) == 1 and (not signs.isascii() or len(re.findall(r"[^\W_]", text)) > 2)
