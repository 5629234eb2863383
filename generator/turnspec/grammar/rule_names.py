"""The names of a grammar's rules, each given once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_LONGEST = 30  # characters


class RuleNames:
    """Names that no rule has yet, in time that doesn't grow with the number of rules."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._last: dict[str, int] = {}

    def free(self, hint: str) -> str:
        """Return a name and take it: the hint, or the hint with the first number that is free."""
        number = self._last.get(hint, 0) + 1
        name = hint if number == 1 else f"{hint}-{number}"
        while name in self._taken:
            number += 1
            name = f"{hint}-{number}"
        self._last[hint] = number
        self._taken.add(name)
        return name

    def take(self, names: Collection[str]) -> bool:
        """Take all these names, or none of them if one is given; say whether they were free."""
        if not self._taken.isdisjoint(names):
            return False
        self._taken.update(names)
        return True


def slug(text: str) -> str:
    """Return a text as part of a rule's name."""
    if text.isalpha() and text.isascii() and text.islower() and len(text) <= _LONGEST:
        return text  # as most names are
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST].strip("-") or "part"
