"""Faults in grammars: one rule at a time allows more than it should."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from turnspec.grammar.bound import BoundGrammar, GrammarBinder
from turnspec.grammar.request import GrammarRequest
from turnspec.grammar.turn import generate_grammar
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.turn_end import stop_strings
from turnspec.verification.walk_offers import Bind, offers

_RULE = re.compile(r"^([a-z][a-z0-9-]*) ::= (.+)$", re.MULTILINE)
_LITERAL = r'"(?:\\.|[^"\\])*"'
_CLASS = r"\[(?:\\.|[^\]\\])*\]"
_NAME = re.compile(r"^[a-z][a-z0-9-]*")
_TOKENS = re.compile(rf"{_LITERAL}|{_CLASS}|[^\s\"\[]+")
#: What names and ids must not hold.
_WIDER = {"white space": " ", "a bracket": "<"}
_MISSING = " may be missing"
_NAMES = re.compile(r".*(?:name|id)(?:-\d+)?")


@dataclass(frozen=True, slots=True)
class GrammarFault:
    """The grammar for any tools and a way to bind grammars, one of them with a fault."""

    place: str
    change: str
    gbnf: str
    bind: Bind
    kind: str = "grammar rule"

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.kind}: {self.place}: {self.change}"


def grammar_faults(spec: Spec) -> Iterator[GrammarFault]:
    """Yield a format's grammars with each fault; the end of a turn may always be missing."""
    needless = [text for end in spec.turn.ends for text in (end.final, end.followed)]
    needless += stop_strings(spec)
    ends = frozenset(_spelled(text) for text in needless)
    gbnf = generate_grammar(spec, spec_path="", spec_hash="")
    bind = GrammarBinder(spec).bind
    for rule, change, one, other in _faulty_rules(gbnf, ends):
        yield GrammarFault(rule, change, gbnf.replace(one, other), bind)
    bound = bind(next(offers(spec)).request)
    assert isinstance(bound, BoundGrammar), bound
    for rule, change, one, other in _faulty_rules(bound.grammar, ends):
        yield GrammarFault(f"bound {rule}", change, gbnf, _faulty(bind, one, other))


def _faulty_rules(gbnf: str, ends: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield a rule's name, what is wrong with it, its line, and what that becomes.

    A fault is planted once, in the first of the rules that a whole turn needs and that can have it:
    many rules are variants of others, for turns that begin elsewhere.
    """
    seen: set[str] = set()
    bodies = dict(_RULE.findall(gbnf))
    for rule in _needed(bodies):
        for change, looser in _loosened(rule, bodies[rule]):
            if change not in seen and _spelled(change.removesuffix(_MISSING)) not in ends:
                seen.add(change)
                one, other = (f"\n{rule} ::= {body}\n" for body in (bodies[rule], looser))
                yield rule, change, one, other


def _needed(bodies: Mapping[str, str]) -> list[str]:
    """Return the names of the rules that the root needs, those that it names first come first."""
    found = ["root"]
    for rule in found:
        names = (name for token in _TOKENS.findall(bodies[rule]) for name in _NAME.findall(token))
        found += [name for name in dict.fromkeys(names) if name in bodies and name not in found]
    return found


def _faulty(bind: Bind, one: str, other: str) -> Bind:
    """Return how grammars are bound, with one line of theirs exchanged."""

    def faulty(request: GrammarRequest) -> BoundGrammar | list[Problem]:
        bound = bind(request)
        if not isinstance(bound, BoundGrammar):
            return bound
        return replace(bound, grammar=bound.grammar.replace(one, other))

    return faulty


def _loosened(rule: str, body: str) -> Iterator[tuple[str, str]]:
    """Yield how a rule can allow more: a marker left out, a name with what no name may hold."""
    tokens = _TOKENS.findall(body)
    for is_literal, group in groupby(range(len(tokens)), lambda at: tokens[at][0] == '"'):
        places = list(group)
        marker = [tokens[at] for at in places]
        if is_literal and len("".join(map(_content, marker))) > 1:
            optional = f"( {' '.join(marker)} )?"
            yield f"{' '.join(marker)}{_MISSING}", _exchanged(tokens, places, optional)
    if not _NAMES.fullmatch(rule):
        return
    for at, token in enumerate(tokens):
        for what, char in _WIDER.items():
            if token[0] == "[":
                wider = f'( {token} | "{char}" )'
                yield f"{token} or {what}", _exchanged(tokens, [at], wider)


def _spelled(text: str) -> str:
    """Return a marker without quotes and white space, so that it is the same however written."""
    return re.sub(r'[\s"]', "", text)


def _content(literal: str) -> str:
    return literal[1:-1]


def _exchanged(tokens: Sequence[str], places: Sequence[int], text: str) -> str:
    return " ".join([*tokens[: places[0]], text, *tokens[places[-1] + 1 :]])
