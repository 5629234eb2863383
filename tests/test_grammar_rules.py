"""The rules of grammars as a person reads them: in a turn's order, each marker spelled once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from llguidance.gbnf_to_lark import GrammarParser, resolve

from tests.generated_formats import NAMES, ROOT, committed_spec
from turnspec.grammar.text import Rule
from turnspec.grammar.turn import turn_rules
from turnspec.grammar.turn_markers import in_turn_order
from turnspec.grammar.turn_parts import ENTRIES, Offer, parts_of
from turnspec.spec.words import Part

SIGN = r'"(?:\\x..|\\u.{4}|\\.|[^"\\])"'
MARKER = re.compile(rf"(?:{SIGN} )+{SIGN}")
#: What stands in the grammars' rules one after another, within the parts of a turn and behind them.
AROUND_PART = (r"{}-start|no-{}", r"(?:.*-)?{}-turn", r"{}-end", r"between-{}-and-.*")
BEHIND_PARTS = (
    r"turn-end.*",
    r"begun-call",
    r"call(-.*)?|tool-name|argument-count|word-.*",
    r"arguments?|argument-(name|type-.*)|value-end|elements?|element-(?!text).*",
    r"(?:json|python|quoted|words)-.*|number|integer",
    r"text.*",
    r"raw-value.*|element-text.*|quoted-text.*",
    r"gap|space",
)
#: The rules that spell the same marker, as neither white space nor text stands beside it in all.
TWICE = {
    ("no-reasoning", "reasoning-end"),
    ("quoted-string", "quoted-string"),
    ("reasoning-turn", "required-calls-reasoning-turn", "content-only-reasoning-turn"),
    ("content-turn", "required-calls-content-turn", "content-only-content-turn"),
    ("root", "required-calls", "content-only"),
    ("turn-end", "call"),
    ("argument", "element-member"),
    ("tool-calls", "between-content-and-calls"),
}


def rules_of(name: str) -> list[tuple[str, str]]:
    """Return the rules of a committed grammar, by name, in their order."""
    text = (ROOT / "generated" / f"{name}.gbnf").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, body) for name, _, body in (line.partition(" ::= ") for line in lines)]


@pytest.mark.parametrize("name", NAMES)
def test_rules_stand_in_the_order_of_a_turn(name: str) -> None:
    spec = committed_spec(name)
    found = [rule for rule, _ in rules_of(name)]
    entries = ENTRIES if spec.tools else ENTRIES[:1]
    assert found[: len(entries)] == list(entries)
    parts = [pattern.replace("{}", part) for part in spec.turn.order for pattern in AROUND_PART]
    places = [_place(rule, [*parts, *BEHIND_PARTS]) for rule in found[len(entries) :]]
    assert places == sorted(places)


def _place(rule: str, patterns: list[str]) -> int:
    """Return the number of the pattern that a rule fits, the last of several."""
    return max(number for number, pattern in enumerate(patterns) if re.fullmatch(pattern, rule))


@pytest.mark.parametrize("name", NAMES)
def test_a_marker_is_spelled_in_one_rule(name: str) -> None:
    spelled: dict[str, list[str]] = {}
    for rule, body in rules_of(name):
        for marker in MARKER.findall(body):
            spelled.setdefault(marker, []).append(rule)
    assert {tuple(rules) for rules in spelled.values() if len(rules) > 1} <= TWICE


@pytest.mark.parametrize("name", NAMES)
def test_no_marker_is_a_token_of_llguidance(name: str) -> None:
    text = (ROOT / "generated" / f"{name}.gbnf").read_text(encoding="utf-8")
    rules = GrammarParser().parse(text)
    known = dict(rules)
    resolve(rules)
    spelling = [rule for rule, body in rules_of(name) if MARKER.search(body)]
    assert not [rule for rule in spelling if known[rule].rule_is_terminal]


@pytest.mark.parametrize("name", NAMES)
def test_rules_for_markers_change_nothing(name: str) -> None:
    """With what they stand for in the names' place the rules of turns are as they were."""
    spec = committed_spec(name)
    for parts in _some_parts(parts_of(spec)):
        given = turn_rules(Offer(spec, parts, ("", *spec.thinking.prompts)))
        ordered = in_turn_order(given, spec.turn.order, ENTRIES)
        names = {rule.name for rule in given}
        bodies = {rule.name: rule.body for rule in ordered if rule.name not in names}
        whole = [_written_out(rule, bodies) for rule in ordered if rule.name in names]
        assert sorted(whole, key=str) == sorted(given, key=str)


def _some_parts(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """Yield the parts, and what is left of them without one."""
    yield parts
    yield from (tuple(part for part in parts if part != absent) for absent in parts)


def _written_out(rule: Rule, bodies: dict[str, str]) -> Rule:
    words = [bodies.get(word, word) for word in rule.body.split(" ")]
    return replace(rule, body=" ".join(words))
