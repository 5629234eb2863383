"""The notation of an object whose members stand in marks of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from turnspec.grammar.characters import AddRule, key_letters, key_without
from turnspec.grammar.notations import Notation
from turnspec.grammar.text import literal
from turnspec.spec.characters import is_key


@dataclass(frozen=True, slots=True)
class MemberNotation(Notation):
    """An object whose members stand in tags of their own; ``values`` is how their values do.

    A key can't hold any of ``key_ends``, nor begin with one of ``first_ends``.
    """

    values: Notation = field(default_factory=Notation)
    key_ends: str = ""
    first_ends: str = ""

    def inside(self) -> Notation:
        """Return the notation of what an array or object holds."""
        return self.values

    def constant(self, value: Any) -> str | None:
        """Return nothing: an array or object as one of several constants isn't written so."""
        return None

    def key(self, name: str) -> str | None:
        """Return an object's key; None if it can't be written."""
        written = self.written(name)
        is_one = is_key(written, self.key_ends) and written[0] not in self.first_ends
        return literal(written) if is_one else None

    def written(self, name: str) -> str:
        """Return a key as it stands in its tag."""
        return name

    def other_key(self, named: Iterable[str], add: AddRule) -> str:
        """Return any key but those; ``add`` makes a rule of a text."""
        letters = key_letters(self.key_ends, self.first_ends)
        return key_without(map(self.written, named), add, letters)
