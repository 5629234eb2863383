"""The rules for turns in a turn's order, and a rule for each marker that is spelled out in them.

llguidance takes a rule for one token of its lexer unless the rule can lead back to itself, and a
marker beside free text must not be one: it would be taken for begun where the text only looks like
it. So a marker's rule holds what stands beside the marker wherever it is: white space, or the text
that it ends. A marker that has neither beside it stays where it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from turnspec.grammar.rule_names import RuleNames
from turnspec.grammar.text import Rule
from turnspec.spec.words import Part

_SIGN = r'"(?:\\x..|\\u.{4}|\\.|[^"\\])"'
_MARKER = f"{_SIGN}(?: {_SIGN})+"
_TURN = r"(?:[a-z-]+-)?(reasoning|content|calls)-turn"
_PART = re.compile(_TURN)
_NAMED = re.compile(
    rf"text (?:{_MARKER}|\( {_MARKER} \)\?)"
    rf"|gap {_MARKER}(?= (?:gap )?{_TURN})"
    rf"|{_MARKER} gap(?= {_TURN}| [|)]|$)"
)
_REASONING_END = re.compile(rf"text ({_MARKER})")

#: A part's place in the order of a turn, and a rule's among those of the part.
_Place = tuple[int, int]
_START, _TURN_RULE, _END, _ONWARD = range(4)


def in_turn_order(
    rules: Iterable[Rule], order: Sequence[Part], entries: Collection[str]
) -> list[Rule]:
    """Return the rules of turns with their markers' rules: the entries, then part by part.

    ``order`` is that of a turn's parts. Rules that are about none of them come last.
    """
    given = list(rules)
    ends = (_REASONING_END.match(r.body) for r in given if r.name.endswith("reasoning-turn"))
    markers = _Markers(tuple(part.value for part in order), {end[1] for end in ends if end})
    placed = [markers.without_markers(rule, entries) for rule in given]
    placed += markers.rules.values()
    return [rule for _, rule in sorted(placed, key=lambda pair: pair[0])]


@dataclass(slots=True)
class _Markers:
    """The rules for markers so far, each with its place, by what they stand for.

    ``reasoning_ends`` are the markers that end reasoning.
    """

    order: tuple[str, ...]
    reasoning_ends: Collection[str]
    names: RuleNames = field(default_factory=RuleNames)
    rules: dict[str, tuple[_Place, Rule]] = field(default_factory=dict)

    def without_markers(self, rule: Rule, entries: Collection[str]) -> tuple[_Place, Rule]:
        """Return a rule that refers to its markers by their names, and its place."""
        found = _PART.fullmatch(rule.name)
        if found is None and rule.name not in entries:
            return (len(self.order) + 1, 0), rule
        part = found[1] if found else ""
        body = _NAMED.sub(lambda marker: self._name(marker, part), rule.body)
        place = (self.order.index(part), _TURN_RULE) if part else (-1, 0)
        return place, replace(rule, body=body)

    def _name(self, marker: re.Match[str], part: str) -> str:
        """Return the name of a marker's rule; ``part`` is the one that it stands behind, if any."""
        body = marker[0]
        if body not in self.rules:
            place, hint, comment = self._meaning(body, part, marker[1] or marker[2])
            name = self.names.free(hint)
            self.rules[body] = (place, Rule(name, body, comment if name == hint else ""))
        return self.rules[body][1].name

    def _meaning(self, body: str, part: str, following: str | None) -> tuple[_Place, str, str]:
        """Return where a marker's rule belongs, a name for it, and a comment."""
        if body.startswith("text "):
            place = (self.order.index(part), _END)
            return place, f"{part}-end", f"the text of {part}, and what ends it"
        if following is None and not part:
            return (0, _START), "header", "what begins the turn where the prompt doesn't"
        if following is None:
            return (len(self.order), 0), "turn-end", "what ends the turn"
        if not part and body.removeprefix("gap ") in self.reasoning_ends:
            return (0, _START), "no-reasoning", "what stands for no reasoning"
        if not part:
            place = (self.order.index(following), _START)
            return place, f"{following}-start", f"what begins {following}"
        place = (self.order.index(part), _ONWARD)
        between = f"what stands between {part} and {following}"
        return place, f"between-{part}-and-{following}", between
