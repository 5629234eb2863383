"""Reads GBNF text, in the subset that this project writes, into rules that can be walked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from turnspec.spec.problems import Problem
from turnspec.verification import gbnf_expressions as gbnf
from turnspec.verification.left_recursion import left_recursive

_DEEPEST = 100  # groups inside groups; each costs a few Python frames
_LAST_CHARACTER = 0x10FFFF
_BLANKS = re.compile(r"(?:[ \t]|#.*)*")
_RULE = re.compile(r"([a-z][a-z0-9-]*)[ \t]*::=")
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_REPEAT = re.compile(r"[*+?]|\{(\d+)(?:(,)(\d*))?\}")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([nrt\"\\\[\]]))")
_SHORT_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules by name. ``costs`` tells how soon each can end, see `cost_of`."""

    rules: Mapping[str, gbnf.Expression]
    costs: Mapping[str, int] = field(default_factory=dict)


def read_grammar(text: str) -> Grammar | Problem:
    """Read GBNF text; a rule that is missing, doubled or without an end is a problem, too."""
    rules: dict[str, gbnf.Expression] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        rule = _rule_of(line)
        if isinstance(rule, str):
            return Problem(rule, line=number)
        if rule is None:
            continue
        if rule[0] in rules:
            return Problem(f"a second rule {rule[0]}", line=number)
        rules[rule[0]] = rule[1]
    return _checked(rules)


def cost_of(expression: gbnf.Expression, costs: Mapping[str, int]) -> int | None:
    """Return the fewest characters plus rules that the expression takes; None: no end is known.

    Rules count, so that what ends soonest is never a rule that only leads back to itself.
    """
    match expression:
        case gbnf.Text():
            return len(expression.text)
        case gbnf.Characters():
            return 1
        case gbnf.Reference():
            known = costs.get(expression.name)
            return None if known is None else known + 1
        case gbnf.Repeat():
            once = cost_of(expression.part, costs) if expression.least else 0
            return None if once is None else once * expression.least
        case gbnf.Sequence():
            parts = [cost_of(part, costs) for part in expression.parts]
            return None if None in parts else sum(filter(None, parts))
        case gbnf.Choice():
            options = (cost_of(option, costs) for option in expression.options)
            return min((cost for cost in options if cost is not None), default=None)


def _checked(rules: dict[str, gbnf.Expression]) -> Grammar | Problem:
    if not rules:
        return Problem("the grammar has no rules")
    for name, body in rules.items():
        for part in gbnf.all_parts(body):
            if isinstance(part, gbnf.Reference) and part.name not in rules:
                return Problem(f"the rule {name} refers to {part.name}, which is no rule")
    costs = _rule_costs(rules)
    endless = next((name for name in rules if name not in costs), None)
    if endless is not None:
        return Problem(f"the rule {endless} has no end: each of its options refers back to it")
    turning = left_recursive(rules)
    if turning:
        return Problem(f"the rule {turning} begins with itself, which engines refuse")
    return Grammar(rules, costs)


def _rule_costs(rules: Mapping[str, gbnf.Expression]) -> dict[str, int]:
    users: dict[str, list[str]] = {name: [] for name in rules}
    for name, body in rules.items():
        for part in gbnf.all_parts(body):
            if isinstance(part, gbnf.Reference):
                users[part.name].append(name)
    costs: dict[str, int] = {}
    waiting = list(rules)
    while waiting:
        name = waiting.pop()
        cost = cost_of(rules[name], costs)
        if cost is not None and cost < costs.get(name, cost + 1):
            costs[name] = cost
            waiting.extend(users[name])
    return costs


# A format's grammars, bound to this and that, have most of their rules in common.
@lru_cache(maxsize=4096)
def _rule_of(line: str) -> tuple[str, gbnf.Expression] | str | None:
    """Return the rule in a line, or why it is none; None for a comment or an empty line."""
    reader = _Reader(line)
    try:
        return reader.rule()
    except _UnreadableError as error:
        return f"{error} at column {reader.place + 1}"


class _UnreadableError(Exception):
    """Says what was expected; it never leaves this module."""


@dataclass(slots=True)
class _Reader:
    """Reads one line by recursive descent."""

    line: str
    place: int = 0
    depth: int = 0

    def rule(self) -> tuple[str, gbnf.Expression] | None:
        """Return the line's rule; None for a comment or an empty line."""
        self._skip_blanks()
        if self.place == len(self.line):
            return None
        found = _RULE.match(self.line, self.place)
        if found is None:
            raise _UnreadableError("expected a rule: a name and ::=")
        self.place = found.end()
        body = self._choice()
        if self.place < len(self.line):
            raise _UnreadableError(f"unexpected {self.line[self.place]!r}")
        return found[1], body

    def _choice(self) -> gbnf.Expression:
        options = [self._sequence()]
        while self._next() == "|":
            self.place += 1
            options.append(self._sequence())
        return options[0] if len(options) == 1 else gbnf.Choice(tuple(options))

    def _sequence(self) -> gbnf.Expression:
        parts: list[gbnf.Expression] = []
        self._skip_blanks()
        while self._next() not in ("", "|", ")"):
            part = self._repeated(self._item())
            if parts and isinstance(part, gbnf.Text) and isinstance(parts[-1], gbnf.Text):
                part = gbnf.Text(parts.pop().text + part.text)  # type: ignore[union-attr]
            parts.append(part)
            self._skip_blanks()
        if not parts:
            raise _UnreadableError('expected something; nothing is written ""')
        return parts[0] if len(parts) == 1 else gbnf.Sequence(tuple(parts))

    def _item(self) -> gbnf.Expression:
        char = self._next()
        if char == '"':
            return self._text()
        if char == "[":
            return self._characters()
        if char == "(":
            return self._group()
        name = _NAME.match(self.line, self.place)
        if name is None:
            raise _UnreadableError(f"unexpected {char!r}")
        self.place = name.end()
        return gbnf.Reference(name[0])

    def _group(self) -> gbnf.Expression:
        if self.depth == _DEEPEST:
            raise _UnreadableError(f"more than {_DEEPEST} groups inside each other")
        self.place += 1
        self.depth += 1
        body = self._choice()
        self.depth -= 1
        self._expect(")")
        return body

    def _text(self) -> gbnf.Text:
        self.place += 1
        text = ""
        while self._next() not in ("", '"'):
            text += self._character()
        self._expect('"')
        return gbnf.Text(text)

    def _characters(self) -> gbnf.Characters:
        self.place += 1
        negated = self._next() == "^"
        self.place += negated
        ranges: list[tuple[int, int]] = []
        while self._next() not in ("", "]"):
            low = high = self._character()
            if self._next() == "-" and self.line[self.place + 1 : self.place + 2] != "]":
                self.place += 1
                high = self._character()
            if low > high:
                raise _UnreadableError(f"the range {low!r} to {high!r} runs backwards")
            ranges.append((ord(low), ord(high)))
        self._expect("]")
        if not ranges:
            raise _UnreadableError("a class without characters ends")
        return gbnf.Characters(tuple(ranges), negated)

    def _character(self) -> str:
        char = self._next()
        if char != "\\":
            self.place += 1
            return char
        escape = _ESCAPE.match(self.line, self.place)
        if escape is None:
            raise _UnreadableError("unknown escape")
        self.place = escape.end()
        code = escape[1] or escape[2] or escape[3]
        if code and int(code, 16) > _LAST_CHARACTER:
            raise _UnreadableError(f"no character has the code {code}, which ends")
        return chr(int(code, 16)) if code else _SHORT_ESCAPES.get(escape[4], escape[4])

    def _repeated(self, part: gbnf.Expression) -> gbnf.Expression:
        found = _REPEAT.match(self.line, self.place)
        if found is None:
            return part
        if found[1] is None:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[found[0]]
        else:
            least = int(found[1])
            most = int(found[3]) if found[3] else None if found[2] else least
        if most is not None and most < least:
            raise _UnreadableError("more repeats at least than at most")
        self.place = found.end()
        return gbnf.Repeat(part, least, most)

    def _next(self) -> str:
        return self.line[self.place : self.place + 1]

    def _skip_blanks(self) -> None:
        found = _BLANKS.match(self.line, self.place)
        self.place = found.end() if found else self.place

    def _expect(self, char: str) -> None:
        self._skip_blanks()
        if self._next() != char:
            raise _UnreadableError(f"expected {char}")
        self.place += 1
