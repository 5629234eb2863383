"""Regular expressions for the markers of a format, as lenient with white space as its parser is."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPACE = re.compile(r"\s+")
# What the `regex` package, Python's `re` and ECMAScript give a meaning to.
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}\-&~#]")


def escaped(text: str) -> str:
    """Return an expression for this very text."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def lenient(text: str) -> str:
    r"""Return an expression for a marker: where it has white space there may be any, or none."""
    return r"\s*".join(escaped(word) for word in _SPACE.split(text))


def spaced(text: str) -> str:
    r"""Return an expression for a marker with any white space around it."""
    return rf"\s*{lenient(text.strip())}\s*"


def either(expressions: Iterable[str]) -> str:
    """Return an expression for any of some, each once, those that come first being preferred."""
    given = tuple(dict.fromkeys(expressions))
    return given[0] if len(given) == 1 else f"(?:{'|'.join(given)})"
