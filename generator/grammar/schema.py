"""JSON Schema as grammar rules for values that are written as JSON.

A schema that several others narrow (``allOf``, ``$ref`` beside keywords) is read as a list of
schemas that all hold. Equal lists share one rule, which is how recursion comes out finite.

Where JSON leaves a choice the grammar takes one: properties stand in the schema's order, before
others; whole numbers and bounded numbers have no exponent. It never takes a value that the schema
refuses, unless a notice says so. Two repeated keys of additional properties are such a matter of
writing, too: the grammar cannot see that they are the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations, count

from generator.grammar.characters import (
    CHARACTER,
    character_rules,
    constant,
    string,
    string_without,
)
from generator.grammar.digit_ranges import integers, numbers, repeat
from generator.grammar.patterns import MOST_REPEATS, Expression, pattern_expression
from generator.grammar.schema_checks import Place, Schema, schema_problems
from generator.grammar.schema_parts import (
    TYPES,
    allowed_values,
    are_apart,
    bounds_of,
    flattened,
    given,
    item_at,
    items_after,
    keywords,
    kinds,
    other_properties,
    property_schemas,
    without,
)
from generator.grammar.schema_texts import FORMATS, array_text
from generator.grammar.text import GAP, Rule, choice, group, reachable, space_rules
from generator.grammar.values import json_value_rules
from generator.spec.problems import Problem

_VALUE = "json-value"
_WORDS = {"boolean": '"true" | "false"', "null": '"null"'}
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_ABOUT_OBJECTS = {"properties", "required", "additionalProperties"}


@dataclass(frozen=True, slots=True)
class SchemaGrammar:
    """Rules for the values of a schema, the entry first, with all that they refer to."""

    rules: tuple[Rule, ...]
    notices: tuple[Problem, ...] = ()

    def __str__(self) -> str:
        """Return the rules as GBNF text."""
        return "".join(map(str, self.rules))


def schema_rules(schema: Schema, name: str) -> SchemaGrammar | list[Problem]:
    """Return rules for the schema's values with ``name`` as the entry, or all that is wrong."""
    problems = schema_problems(schema)
    if problems:
        return problems
    compiler = _Compiler(schema, name)
    entry = compiler.reference([Place(schema, "#")], name)
    problems = list(dict.fromkeys(compiler.problems))
    if problems:
        return problems
    if entry is None or not compiler.can_end(entry):
        return [Problem("no value fits the schema", path="#")]
    compiler.name_entry(entry)
    shared = (*json_value_rules(), *character_rules(), *space_rules())
    rules = reachable([*compiler.rules.values(), *shared], [name])
    endless = [rule.name for rule in rules if not compiler.can_end(rule.name)]
    if endless:
        return [Problem("a part of the schema fits no value that ends", path="#")]
    first = sorted(rules, key=lambda rule: rule.name != name)
    return SchemaGrammar(tuple(first), tuple(dict.fromkeys(compiler.notices)))


@dataclass(frozen=True, slots=True)
class _Body:
    """The right side of a rule; one of the sets in ``needs`` must be able to end for it to end."""

    text: str
    needs: tuple[frozenset[str], ...] = (frozenset(),)


@dataclass(slots=True)
class _Compiler:
    root: Schema
    name: str
    rules: dict[str, Rule] = field(default_factory=dict)
    notices: list[Problem] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _names: dict[str, str | None] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _referred: set[str] = field(default_factory=set)
    _needs: dict[str, tuple[frozenset[str], ...]] = field(default_factory=dict)

    def reference(self, places: Iterable[Place], hint: str) -> str | None:
        """Return what stands for a value that all the schemas hold for; None if none does."""
        given = list(places)
        parts = flattened(self.root, given)
        if parts is None:
            return None
        key = json.dumps([part.schema for part in parts])
        if key in self._names:
            known = self._names[key]
            self._referred |= {known} if known else set()
            return known
        name = self._names[key] = self._free(self._hint(given, hint))
        body = self._body(parts, name)
        if body is None:
            self._names[key] = None
            if name in self._referred:
                # Rules inside of it refer to it; without a need that can end they never do.
                self._add(name, _Body('""', ()))
            return None
        if name not in self._referred and _NAME.fullmatch(body.text):
            self._names[key] = body.text
            return body.text
        return self._add(name, body)

    def name_entry(self, entry: str) -> None:
        """Let the grammar's name stand for ``entry``, which may be a rule of another name."""
        if entry != self.name:
            self._add(self.name, _Body(entry, (frozenset([entry]),)))

    def can_end(self, entry: str) -> bool:
        """Say whether the rule has a finite text at all."""
        ending: set[str] = set()
        while True:
            more = {
                name
                for name, needs in self._needs.items()
                if any(all(n in ending or n not in self._taken for n in need) for need in needs)
            }
            if more == ending:
                return entry in ending or entry not in self._taken
            ending = more

    def _add(self, name: str, body: _Body) -> str:
        self.rules[name] = Rule(name, body.text)
        self._needs[name] = body.needs
        return name

    def _hint(self, places: list[Place], hint: str) -> str:
        """Name what a reference points to after the definition."""
        schema = places[0].schema if len(places) == 1 else True
        if isinstance(schema, bool) or set(schema) != {"$ref"}:
            return hint
        return f"{self.name}-{_slug(schema['$ref'].rpartition('/')[2])}"

    def _free(self, hint: str) -> str:
        names = (f"{hint}-{number}" if number > 1 else hint for number in count(1))
        name = next(name for name in names if name not in self._taken)
        self._taken.add(name)
        return name

    def _body(self, parts: list[Place], name: str) -> _Body | None:
        if not parts:
            return _Body(_VALUE)
        values = allowed_values(self.root, parts)
        if values is not None:
            return _Body(choice(map(constant, values))) if values else None
        for number, part in enumerate(parts):
            for keyword in ("anyOf", "oneOf"):
                if keyword in keywords(part):
                    rest = [*parts[:number], *parts[number + 1 :], without(part, keyword)]
                    return self._branches(part, keyword, rest, name)
        return self._types(parts, name)

    def _branches(self, part: Place, keyword: str, rest: list[Place], name: str) -> _Body | None:
        branches = [
            Place(schema, part.at(keyword, number))
            for number, schema in enumerate(keywords(part)[keyword])
        ]
        apart = (are_apart(self.root, a, b) for a, b in combinations(branches, 2))
        if keyword == "oneOf" and not all(apart):
            self._notice("oneOf is read as anyOf: several branches may fit", part.at(keyword))
        options = [
            self.reference([*rest, branch], f"{name}-{number}")
            for number, branch in enumerate(branches, start=1)
        ]
        return _either(option for option in options if option is not None)

    def _types(self, parts: list[Place], name: str) -> _Body | None:
        writers = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "number": self._number,
            "integer": self._integer,
        }
        found = kinds(parts)
        if "number" in found:
            found.discard("integer")
        bodies = []
        for kind in [kind for kind in TYPES if kind in found]:
            writer = writers.get(kind)
            # With more than one type each has a rule, so that engines see its texts as a whole.
            own = name if len(found) == 1 else f"{name}-{kind}"
            body = writer(parts, own) if writer else _Body(_WORDS[kind])
            if body is not None and len(found) > 1 and " " in body.text and writer:
                body = _Body(self._add(self._free(own), body))
                body = _Body(body.text, (frozenset([body.text]),))
            bodies += [body] if body else []
        needs = tuple(need for body in bodies for need in body.needs)
        return _Body(choice(body.text for body in bodies), needs) if bodies else None

    def _string(self, parts: list[Place], name: str) -> _Body | None:
        least = max(map(int, given(parts, "minLength")), default=0)
        most = min(map(int, given(parts, "maxLength")), default=None)
        expression = self._expression(parts)
        if most is not None and least > most:
            return None
        if expression is None:
            if not least and most is None:
                return _Body("json-string")
            sign = repeat(*self._limited(parts, ("minLength", "maxLength"), least, most))
            return _Body(f'"\\"" {CHARACTER}{sign} "\\""' if most != 0 else '"\\"\\""')
        longer = most is not None and (expression.most is None or expression.most > most)
        for keyword, loose in (("minLength", expression.least < least), ("maxLength", longer)):
            if loose:
                message = f"{keyword} is not enforced beside the pattern or format"
                self._notice(message, _path(parts, keyword))
        inside = "" if expression.text == '""' else expression.text
        return _Body(" ".join(part for part in ('"\\""', inside, '"\\""') if part))

    def _expression(self, parts: list[Place]) -> Expression | None:
        patterns = dict.fromkeys(given(parts, "pattern"))
        known = dict.fromkeys(word for word in given(parts, "format") if word in FORMATS)
        if len(patterns) > 1:
            path = _path(parts[::-1], "pattern")
            self.problems.append(
                Problem("several patterns for one string do not combine", path=path)
            )
        if len(known) > (0 if patterns else 1):
            self._notice(
                "format is not enforced beside a pattern or another format",
                _path(parts[::-1], "format"),
            )
        keyword, wanted = "pattern", next(iter(patterns), None)
        if wanted is None:
            keyword, wanted = "format", next((f"^{FORMATS[word]}$" for word in known), None)
        if wanted is None:
            return None
        found = pattern_expression(wanted)
        if isinstance(found, str):
            self.problems.append(
                Problem(f"the pattern is beyond a grammar: {found}", path=_path(parts, keyword))
            )
            return None
        if found.loosened:
            self._notice(f"repeats beyond {MOST_REPEATS} are not counted", _path(parts, keyword))
        return found

    def _number(self, parts: list[Place], name: str) -> _Body | None:
        bounds = bounds_of(parts)
        text = "number" if bounds.is_open() else numbers(bounds)
        return _Body(text) if text else None

    def _integer(self, parts: list[Place], name: str) -> _Body | None:
        bounds = bounds_of(parts)
        text = '"-"? ( "0" | [1-9] [0-9]* )' if bounds.is_open() else integers(bounds)
        return _Body(text) if text else None

    def _array(self, parts: list[Place], name: str) -> _Body | None:
        least = max(map(int, given(parts, "minItems")), default=0)
        most = min(map(int, given(parts, "maxItems")), default=None)
        item = self.reference(items_after(parts), f"{name}-item")
        firsts: list[str] = []
        for position in range(max((len(p) for p in given(parts, "prefixItems")), default=0)):
            first = self.reference(item_at(parts, position), f"{name}-item-{position + 1}")
            if first is None:
                most = position if most is None else min(most, position)
                break
            firsts.append(first)
        if item is None:
            most = len(firsts) if most is None else min(most, len(firsts))
        if most is not None and least > most:
            return None
        firsts = firsts if most is None else firsts[:most]
        if item == _VALUE and not firsts and not least and most is None:
            return _Body("json-array")
        least, most = self._limited(parts, ("minItems", "maxItems"), least, most)
        needs = frozenset(firsts[:least]) | (
            frozenset([item or ""]) if least > len(firsts) else set()
        )
        return _Body(array_text(firsts, item, least, most), (needs,))

    def _object(self, parts: list[Place], name: str) -> _Body | None:
        if not any(keywords(part).keys() & _ABOUT_OBJECTS for part in parts):
            return _Body("json-object")
        required = list(dict.fromkeys(key for keys in given(parts, "required") for key in keys))
        named = list(dict.fromkeys([key for p in given(parts, "properties") for key in p]))
        members: list[tuple[str, bool]] = []
        needs: set[str] = set()
        for key in [*named, *(key for key in required if key not in named)]:
            value = self.reference(property_schemas(parts, key), f"{name}-{_slug(key)}")
            if value is None and key in required:
                return None
            if value is not None:
                needs |= {value} if key in required else set()
                members.append((self._member(key, value, name), key in required))
        other = self.reference(other_properties(parts), f"{name}-other")
        extra = self._other_member([*named, *required], other, name) if other else ""
        return _Body(self._members(members, extra, name), (frozenset(needs),))

    def _member(self, key: str, value: str, name: str) -> str:
        text = string(key)
        if " " in text:
            text = self._add(self._free(f"{name}-{_slug(key)}-key"), _Body(text))
        return f'{text} space ":" space {value} space'

    def _other_member(self, named: list[str], value: str, name: str) -> str:
        if not named:
            return f'json-string space ":" space {value} space'
        key = self._add(self._free(f"{name}-other-key"), _Body(string_without(named)))
        return f'{key} space ":" space {value} space'

    def _members(self, members: list[tuple[str, bool]], extra: str, name: str) -> str:
        """Return an object with its commas: a member has one before it unless it is the first.

        As long as members are optional, each may be the first; what then follows is a rule, so
        that the text grows with the number of members and not with that of their choices.
        """
        first = next((n for n, (_, needed) in enumerate(members) if needed), len(members))
        starts, rest = [], f'( "," space {extra} )*' if extra else ""
        if extra and first == len(members):
            starts.append(f"{extra} {rest}")
        for number, (member, needed) in reversed(list(enumerate(members))):
            if number <= first:
                starts.append(f"{member} {rest}".rstrip())
            rest = f'"," space {member} {rest}' if needed else f'( "," space {member} )? {rest}'
            rest = rest.rstrip()
            if 0 < number <= first:
                rest = self._add(self._free(f"{name}-rest"), _Body(rest))
        inside = group(reversed(starts), "" if first < len(members) else "?")
        return " ".join(part for part in (f'"{{" {GAP}', inside, '"}"') if part)

    def _limited(
        self, parts: list[Place], keywords: tuple[str, str], least: int, most: int | None
    ) -> tuple[int, int | None]:
        if least > MOST_REPEATS:
            message = f"{keywords[0]} is loosened from {least} to {MOST_REPEATS}"
            self._notice(message, _path(parts, keywords[0]))
        if most is not None and most > MOST_REPEATS:
            self._notice(f"{keywords[1]} {most} is not enforced", _path(parts, keywords[1]))
            most = None
        return min(least, MOST_REPEATS), most

    def _notice(self, message: str, path: str) -> None:
        self.notices.append(Problem(message, path=path))


def _either(options: Iterable[str]) -> _Body | None:
    given = list(dict.fromkeys(options))
    return _Body(choice(given), tuple(frozenset([o]) for o in given)) if given else None


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:30].strip("-") or "part"


def _path(parts: Iterable[Place], keyword: str) -> str:
    return next(part.at(keyword) for part in parts if keyword in keywords(part))
