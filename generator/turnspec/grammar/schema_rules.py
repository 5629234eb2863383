"""The rules that come of a schema so far, and which of them have no text that ends."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from turnspec.grammar.characters import AddRule
from turnspec.grammar.rule_names import RuleNames
from turnspec.grammar.text import Rule


@dataclass(frozen=True, slots=True)
class Body:
    """The right side of a rule; one of the sets in ``needs`` must be able to end for it to end."""

    text: str
    needs: tuple[frozenset[str], ...] = (frozenset(),)


@dataclass(slots=True)
class SchemaRules:
    """Rules by their names, with what each needs in order to end."""

    names: RuleNames
    by_name: dict[str, Rule] = field(default_factory=dict)
    _needs: dict[str, tuple[frozenset[str], ...]] = field(default_factory=dict)

    def add(self, name: str, body: Body) -> str:
        """Add a rule of a name that is taken for it, which is returned."""
        self.by_name[name] = Rule(name, body.text)
        self._needs[name] = body.needs
        return name

    def add_free(self, hint: str, body: Body) -> str:
        """Add a rule of a free name like ``hint``, which is returned."""
        return self.add(self.names.free(hint), body)

    def adding(self, hint: str) -> AddRule:
        """Return what makes a rule of a text."""
        return lambda text: self.add_free(hint, Body(text))

    def endless(self, referred: Collection[str]) -> set[str]:
        """Return the rules that have no finite text at all.

        ``referred`` are those that a rule inside of them refers to.
        """
        if self._needs.keys().isdisjoint(referred):
            return set()  # no rule leads back to itself
        missing = [(name, set(need)) for name, needs in self._needs.items() for need in needs]
        waiting: dict[str, list[tuple[str, set[str]]]] = {}
        for name, need in missing:
            need.intersection_update(self._needs)
            for other in need:
                waiting.setdefault(other, []).append((name, need))
        found = [name for name, need in missing if not need]
        ending: set[str] = set()
        while found:
            ended = found.pop()
            if ended in ending:
                continue
            ending.add(ended)
            for name, need in waiting.get(ended, ()):
                need.discard(ended)
                found += [] if need else [name]
        return self._needs.keys() - ending
