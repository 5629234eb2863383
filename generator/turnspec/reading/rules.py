"""The tables of rules, with the ends of a turn and the special tokens that were given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from turnspec.reading.facts import (
    AFTER_TURN,
    BEFORE_CONTENT,
    IN_TEXT,
    LEFT_OUT_IF_LAST,
    TURN_ENDS,
)
from turnspec.reading.markers import Markers, escaped
from turnspec.reading.roles import Rule
from turnspec.reading.special import SpecialTokens


class Rules:
    """The tables, with the ends of a turn and the special tokens that were given."""

    def __init__(self, stop: Sequence[str], special: SpecialTokens | None) -> None:
        self.special = special
        self._ends = (*TURN_ENDS, *map(escaped, stop))
        self.text = self._made(IN_TEXT)
        if BEFORE_CONTENT:
            self.before_content = self._made(BEFORE_CONTENT)
        if LEFT_OUT_IF_LAST:
            self.left_out = self._made(LEFT_OUT_IF_LAST)
        self.after_turn = self._made(AFTER_TURN)

    def _made(self, table: Sequence[Rule]) -> Markers:
        rules = [
            Rule(rule.role, marker, rule.if_before)
            for rule in table
            for marker in self._texts(rule.marker)
        ]
        return Markers(rules, self.special)

    def _texts(self, marker: str) -> list[str]:
        """Return the markers that one is with all ends of a turn."""
        if "{stop}" not in marker:
            return [marker]
        return [marker.replace("{stop}", end) for end in self._ends]


@lru_cache(9)
def rules_for(stop: tuple[str, ...], tokens: tuple[str, ...] | None) -> Rules:
    """Return the rules of all parsers with these options."""
    if not all(map(str.strip, stop)):
        raise ValueError("a stop string needs more than white space")
    return Rules(stop, None if tokens is None else SpecialTokens(tokens, stop))
