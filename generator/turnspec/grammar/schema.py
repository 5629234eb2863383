"""JSON Schema as grammar rules, for values in JSON or another notation.

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
from itertools import chain
from typing import Any

from turnspec.engine.types import json_types
from turnspec.grammar.characters import AddRule
from turnspec.grammar.digit_ranges import integers, numbers
from turnspec.grammar.notations import JSON_NOTATION, Notation
from turnspec.grammar.request import plain_key
from turnspec.grammar.rule_names import RuleNames, slug
from turnspec.grammar.schema_checks import Place, Schema
from turnspec.grammar.schema_limits import DEEPEST_REFERENCES, MOST_BESIDE, MOST_RULES, TooBigError
from turnspec.grammar.schema_parts import (
    TYPES,
    all_apart,
    allowed_values,
    bounds_of,
    flattened,
    given,
    item_at,
    kinds,
    narrowed_bounds,
    property_schemas,
    schemas_under,
    takes_every,
    without,
)
from turnspec.grammar.schema_strings import Remarks, limited, path_of, string_text
from turnspec.grammar.text import GAP, Rule, choice, group, reachable, sequence
from turnspec.spec.encoding import json_type, ordered_keys
from turnspec.spec.problems import Problem

_WORDS = ("boolean", "null")
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_ABOUT_OBJECTS = {"properties", "required", "additionalProperties"}


@dataclass(frozen=True, slots=True)
class SchemaGrammar:
    """Rules for the values of a schema, the entry first, with all that they refer to."""

    rules: tuple[Rule, ...]
    notices: tuple[Problem, ...] = ()

    def __str__(self) -> str:
        return "".join(map(str, self.rules))


def compiled_schema(
    schema: Schema,
    name: str,
    notation: Notation = JSON_NOTATION,
    *,
    names: RuleNames,
    closed: bool = False,
    only: str = "",
    loosen: bool = False,
) -> SchemaGrammar | list[Problem]:
    """Return rules for a checked schema's values in a notation, or all that is wrong.

    Args:
        schema: the schema, which `checked` has found nothing wrong with.
        name: the entry rule's name; the other rules' names begin with it.
        notation: how the values are written. The rules for any value in it are not among those
            returned.
        names: the names of rules; the entry's is taken already.
        closed: whether an object whose schema lists properties, and doesn't mention
            ``additionalProperties``, has no others.
        only: the one JSON type that the values may have; any by default.
        loosen: whether what can't be expressed is left out, with a notice.
    """
    compiler = _Compiler(schema, name, closed, names, Remarks(loosen))
    places = [Place(schema, "#"), *([Place({"type": only}, "#")] if only else [])]
    try:
        entry = compiler.reference(places, name, notation.of(schema))
    except TooBigError as error:
        return [Problem(str(error), path="#")]
    except RecursionError:  # of parts that are each within the limits
        return [Problem("asks for a grammar that is nested too deep", path="#")]
    problems = list(dict.fromkeys(compiler.remarks.problems))
    if problems:
        return problems
    endless = compiler.endless()
    if entry is None or entry in endless:
        return [Problem("no value fits the schema", path="#")]
    compiler.name_entry(entry)
    rules = list(compiler.rules.values())
    if endless and any(rule.name in endless for rule in reachable(rules, [name])):
        return [Problem("a part of the schema fits no value that ends", path="#")]
    rules.sort(key=lambda rule: rule.name != name)
    return SchemaGrammar(tuple(rules), tuple(dict.fromkeys(compiler.remarks.notices)))


@dataclass(frozen=True, slots=True)
class _Body:
    """The right side of a rule; one of the sets in ``needs`` must be able to end for it to end."""

    text: str
    needs: tuple[frozenset[str], ...] = (frozenset(),)


@dataclass(slots=True)
class _Compiler:
    root: Schema
    name: str
    closed: bool
    names: RuleNames
    remarks: Remarks
    rules: dict[str, Rule] = field(default_factory=dict)
    _names: dict[object, str | None] = field(default_factory=dict)
    _referred: set[str] = field(default_factory=set)
    _texts: set[str] = field(default_factory=set)  # the rules that take in any string
    _needs: dict[str, tuple[frozenset[str], ...]] = field(default_factory=dict)
    _asked: int = 0
    _depth: int = 0

    def reference(self, places: Iterable[Place], hint: str, notation: Notation) -> str | None:
        """Return what stands for a value that all the schemas hold for; None if none does.

        Raises:
            TooBigError: the schema asks for too many rules, or too deep ones.
        """
        self._asked += 1
        if self._asked > MOST_RULES:
            raise TooBigError(f"asks for more than {MOST_RULES} rules, as its parts multiply")
        if self._depth == DEEPEST_REFERENCES:
            raise TooBigError(f"is nested deeper than {DEEPEST_REFERENCES} schemas")
        self._depth += 1
        found = self._reference(list(places), hint, notation)
        self._depth -= 1
        return found

    def _reference(self, given: list[Place], hint: str, notation: Notation) -> str | None:
        parts = flattened(self.root, given)
        if parts is None:
            return None
        key = _key(notation, parts)
        if key in self._names:
            known = self._names[key]
            self._referred |= {known} if known else set()
            return known
        name = self._names[key] = self._named(self._hint(given, hint))
        body = self._body(parts, name, notation)
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

    def endless(self) -> set[str]:
        """Return the rules that have no finite text at all."""
        if self._referred.isdisjoint(self._needs):
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

    def _add(self, name: str, body: _Body) -> str:
        self.rules[name] = Rule(name, body.text)
        self._needs[name] = body.needs
        return name

    def _adding(self, hint: str) -> AddRule:
        """Return what makes a rule of a text."""
        return lambda text: self._add(self.names.free(hint), _Body(text))

    def _hint(self, places: list[Place], hint: str) -> str:
        """Name what a reference points to after the definition."""
        schema = places[0].schema if len(places) == 1 else True
        if isinstance(schema, bool) or set(schema) != {"$ref"}:
            return hint
        return f"{self.name}-{slug(schema['$ref'].rpartition('/')[2])}"

    def _named(self, hint: str) -> str:
        is_entry = not self._names and hint == self.name
        return hint if is_entry else self.names.free(hint)

    def _body(self, parts: list[Place], name: str, notation: Notation) -> _Body | None:
        if not parts:
            return _Body(notation.any_value())
        values = allowed_values(self.root, parts)
        if values is not None:
            return self._constants(values, parts, notation)
        for number, part in enumerate(parts):
            for keyword in ("anyOf", "oneOf"):
                if keyword in part.keywords:
                    rest = [*parts[:number], *parts[number + 1 :], without(part, keyword)]
                    return self._branches(part, keyword, rest, name, notation)
        return self._types(parts, name, notation)

    def _constants(self, values: list[Any], parts: list[Place], notation: Notation) -> _Body | None:
        texts = []
        for value in values:
            ways = notation.ways(json_type(value).value)
            written = [
                notation.framed(way, text)
                for way in ways
                if (text := way.constant(value)) is not None
            ]
            is_ambiguous = notation.is_ambiguous(value)
            if not written or is_ambiguous:
                keyword = "const" if given(parts, "const") else "enum"
                shown = json.dumps(value, ensure_ascii=False)
                message = f"{shown} cannot be written in this format"
                if is_ambiguous:
                    message = f"{shown} is read as a value of another type in this format"
                self.remarks.left_out(message, path_of(parts, keyword), "it is left out")
            texts += [] if is_ambiguous else written
        return _Body(choice(texts)) if texts else None

    def _branches(
        self, part: Place, keyword: str, rest: list[Place], name: str, notation: Notation
    ) -> _Body | None:
        branches = [
            Place(schema, part.at(keyword, number))
            for number, schema in enumerate(part.keywords[keyword])
        ]
        if keyword == "oneOf" and not all_apart(self.root, branches):
            message = "oneOf is read as anyOf: several branches may fit"
            self.remarks.notice(message, part.at(keyword))
        options = {
            option: [*rest, branch]
            for number, branch in enumerate(branches, start=1)
            if (option := self.reference([*rest, branch], f"{name}-{number}", notation)) is not None
        }
        self._tell_many(len(options), "alternatives", part.at(keyword))
        whole = [option for option in options if notation.takes_all(option)]
        strings = {notation.framed(way, way.strings.text) for way in notation.ways("string")}
        texts = next((option for option in options if option in strings | self._texts), None)
        if not whole and texts is not None:
            # Any string takes in all others, in the same way.
            self._texts.add(name)
            found = [
                o if o == texts else self._but_texts(o, p, name, notation)
                for o, p in options.items()
            ]
            whole = [option for option in found if option is not None]
        return _either(whole or options)

    def _but_texts(
        self, option: str, places: list[Place], name: str, notation: Notation
    ) -> str | None:
        """Return what stands for the values of a branch that are no strings."""
        if "string" not in kinds(flattened(self.root, places) or []):
            return option
        others = Place({"type": [kind for kind in TYPES if kind != "string"]}, "")
        return self.reference([*places, others], f"{name}-other", notation)

    def _types(self, parts: list[Place], name: str, notation: Notation) -> _Body | None:
        found = kinds(parts)
        if "number" in found:
            found.discard("integer")
        ways = [(kind, way) for kind in TYPES if kind in found for way in notation.ways(kind)]
        bodies = []
        for kind, way in ways:
            # With more than one type each has a rule, so that engines see its texts as a whole.
            own = name if len(ways) == 1 else f"{name}-{kind}"
            body = self._written(kind, parts, own, way)
            if kind == "string" and body is not None and body.text == way.strings.text:
                self._texts.add(name)
            if body is not None and notation.takes_all(body.text):
                return body
            if body is not None:
                body = _Body(self._framed(kind, body.text, own, notation, way), body.needs)
            if body is not None and len(ways) > 1 and " " in body.text and kind not in _WORDS:
                body = _Body(self._add(self.names.free(own), body))
                body = _Body(body.text, (frozenset([body.text]),))
            bodies += [body] if body else []
        needs = tuple(need for body in bodies for need in body.needs)
        return _Body(choice(body.text for body in bodies), needs) if bodies else None

    def _framed(self, kind: str, text: str, name: str, notation: Notation, way: Notation) -> str:
        """Return a value with what stands around it, in rules that engines see as a whole."""
        framed = notation.framed(way, text)
        if framed == text or kind not in ("number", "integer"):
            return framed
        # Of a number the digits: else 10 is the beginning of 100 alone.
        digits = self._adding(f"{name}-digits")(text) if " " in text else text
        # And a line like a string's, as llguidance sees that with what begins it.
        line = notation.like_a_string(digits)
        lines = [self._adding(f"{name}-line")(line)] if line else []
        return choice([notation.framed(way, digits), *lines])

    def _written(self, kind: str, parts: list[Place], name: str, way: Notation) -> _Body | None:
        if kind in _WORDS:
            return _Body(way.word(kind))
        if kind in ("array", "object") and way.is_filled:
            message = f"an empty {kind} is left out, as it is read as a text in this format"
            self.remarks.notice(message, parts[0].path)
        if kind == "object":
            return self._object(parts, name, way)
        if kind == "array":
            return self._array(parts, name, way)
        if kind == "string":
            text = string_text(parts, way.strings, self.remarks, self._adding(f"{name}-part"))
        else:
            text = _number(parts, kind, self.remarks)
        return _Body(text) if text else None

    def _array(self, parts: list[Place], name: str, notation: Notation) -> _Body | None:
        least = max(int(notation.is_filled), *map(int, given(parts, "minItems")), 0)
        most = min(map(int, given(parts, "maxItems")), default=None)
        inside = notation.inside()
        item = self._inner(schemas_under(parts, "items"), f"{name}-item", inside)
        firsts: list[str] = []
        for position in range(max((len(p) for p in given(parts, "prefixItems")), default=0)):
            first = self._inner(item_at(parts, position), f"{name}-item-{position + 1}", inside)
            if first is None:
                most = position if most is None else min(most, position)
                break
            firsts.append(first)
        if item is None:
            most = len(firsts) if most is None else min(most, len(firsts))
        if most is not None and least > most:
            return None
        firsts = firsts if most is None else firsts[:most]
        if item == inside.any_value() and not firsts and not least and most is None:
            return _Body(notation.any_of("array"))
        bounds = limited(parts, ("minItems", "maxItems"), (least, most), self.remarks)
        needs = frozenset(firsts[: bounds[0]]) | (
            frozenset([item or ""]) if bounds[0] > len(firsts) else set()
        )
        return _Body(notation.array(firsts, item, bounds), (needs,))

    def _object(self, parts: list[Place], name: str, notation: Notation) -> _Body | None:
        known = list(chain(*notation.named))
        if not known and not any(part.keywords.keys() & _ABOUT_OBJECTS for part in parts):
            self._tell_open(parts, notation)
            text = notation.any_of("object") or notation.empty() or '""'
            return None if notation.is_filled and text == '""' else _Body(text)
        required = list(dict.fromkeys(key for keys in given(parts, "required") for key in keys))
        named = list(dict.fromkeys([key for p in given(parts, "properties") for key in p]))
        named += [key for key in required if key not in named]
        if not self._is_closed(parts):
            named += [key for key in known if key not in named]
        members: list[tuple[str, bool]] = []
        needs: set[str] = set()
        for key in ordered_keys(named, notation.order):
            values = self._members_of(key, parts, name, notation)
            if not values and key in required:
                return None
            if values:
                needs |= set(values) if key in required and len(values) == 1 else set()
                members.append((group(values.values()), key in required))
        extra = self._other_member(named, parts, name, notation)
        optional = sum(not needed for _, needed in members)
        self._tell_many(optional, "properties that may be missing", parts[0].path)
        if notation.is_filled and not members and not extra:
            return None
        return _Body(self._members(members, extra, name, notation), (frozenset(needs),))

    def _is_closed(self, parts: list[Place]) -> bool:
        is_open = given(parts, "additionalProperties") or not given(parts, "properties")
        return self.closed and not is_open

    def _members_of(
        self, key: str, parts: list[Place], name: str, notation: Notation
    ) -> dict[str, str]:
        """Return the ways to write a member, by the rule for its value: one for each type word."""
        places = property_schemas(parts, key)
        values = self._values_by_word(key, places, f"{name}-{slug(key)}", notation)
        written = notation.key(key)
        if written is None:
            message = f"the name {key!r} cannot be written in this format"
            self.remarks.left_out(message, _place_of(key, parts), "it is left out")
            return {}
        if values and " " in written:
            written = self._add(self.names.free(f"{name}-{slug(key)}-key"), _Body(written))
        return {value: notation.member(written, value, word) for word, value in values}

    def _values_by_word(
        self, key: str | None, places: list[Place], hint: str, notation: Notation
    ) -> list[tuple[str, str]]:
        """Return the rules for a member's value, each with the word that says its type."""
        found = []
        seen = notation.seen(self.root, key, [place.schema for place in places])
        for word, types in notation.types() or (("", ()),):
            narrowed = [Place({"type": list(types)}, "")] if types else []
            value = self._inner([*places, *narrowed], hint, notation.inside(), seen)
            if value is not None:
                found.append((word, value))
        if found and key is not None:
            self._tell_unknown(key, places, notation)
        return found

    def _tell_unknown(self, key: str | None, places: list[Place], notation: Notation) -> None:
        """Say which member a parser tells of though the schema allows it; None is any other."""
        if notation.calls_unknown(self.root, key, places):
            message = "a parser of this format tells of a name as unknown that the schema allows"
            self.remarks.notice(f"{message}: {repr(key) if key else 'any other'}", "#")

    def _inner(
        self, places: list[Place], hint: str, notation: Notation, seen: list[Schema] | None = None
    ) -> str | None:
        """Return what stands for a value inside another one.

        ``seen`` are the schemas by which a parser reads it, if not just those of ``places``.
        """
        if not notation.untyped:
            return self.reference(places, hint, notation)
        path = places[0].path if places else "#"
        document = {} if isinstance(self.root, bool) else self.root
        schemas = [place.schema for place in places] if seen is None else seen
        if notation.has_doubts(schemas, document):
            message = (
                "several schemas say what is inside, of which a parser of this format takes one"
            )
            self.remarks.left_out(message, path, "all are let through")
        types = frozenset(chain(*(json_types(schema, document) for schema in schemas)))
        if len(types) > 1 and ("string" in types or types >= {"array", "object"}):
            unlike = [kind for kind in types if not takes_every(self.root, places, kind)]
            notation = notation.reading(types, frozenset(unlike))
        narrowed = Place({"type": sorted(types) or ["string"]}, "")
        found = self.reference([*places, narrowed], hint, notation)
        if found is None and self.reference(places, hint, notation) is not None:
            message = "the type is stated where a parser of this format doesn't look"
            self.remarks.left_out(message, path, "it is left out")
        return found

    def _other_member(
        self, named: list[str], parts: list[Place], name: str, notation: Notation
    ) -> str:
        """Return a member that no schema names; "" if there is none."""
        if self._is_closed(parts):
            return ""
        others = schemas_under(parts, "additionalProperties")
        values = self._values_by_word(None, others, f"{name}-other", notation)
        if not values:
            return ""
        self._tell_open(parts, notation)
        key = notation.any_key()
        if named and key:
            add = self._adding(f"{name}-other-key")
            key = add(notation.other_key(named, add))
        return group(notation.member(key, value, word) for word, value in values if key)

    def _tell_many(self, count: int, what: str, path: str) -> None:
        if count > MOST_BESIDE:
            self.remarks.notice(f"llguidance may stop at {count} {what}", path)

    def _tell_open(self, parts: list[Place], notation: Notation) -> None:
        """Say what a grammar can't do about names that no schema gives."""
        message = "a grammar lets names that the schema doesn't give come twice"
        if not notation.any_key():
            message = "names that the schema doesn't give are left out, as the format repeats them"
        if self.closed:
            self.remarks.notice(message, parts[0].path if parts else "#")
        self._tell_unknown(None, parts, notation)

    def _members(
        self, members: list[tuple[str, bool]], extra: str, name: str, notation: Notation
    ) -> str:
        """Return an object with its commas: a member has one before it unless it is the first.

        As long as members are optional, each may be the first; what then follows is a rule, so
        that the text grows with the number of members and not with that of their choices.
        """
        comma = notation.comma()
        first = next((n for n, (_, needed) in enumerate(members) if needed), len(members))
        starts, rest = [], group([sequence(comma, extra)], "*") if extra else ""
        if extra and first == len(members):
            starts.append(sequence(extra, rest))
        for number, (member, needed) in reversed(list(enumerate(members))):
            if number <= first:
                starts.append(sequence(member, rest))
            after = sequence(comma, member)
            rest = sequence(after if needed else f"( {after} )?", rest)
            if 0 < number <= first:
                rest = self._add(self.names.free(f"{name}-rest"), _Body(rest))
        may_be_empty = first == len(members) and not notation.is_filled
        empty = notation.empty() if may_be_empty else None
        inside = group(reversed(starts), "?" if may_be_empty and empty is None else "")
        if not inside and empty is not None:
            return empty
        # White space, where there is none: a call that is one regular expression is one
        # token to llguidance, which would take the beginning of the turn's end for a further call.
        written = sequence(notation.opening(), inside, notation.closing())
        some = written if notation.has_gaps(written) else sequence(GAP, written)
        return some if empty is None else f"{some} | {empty}"


def _key(notation: Notation, parts: list[Place]) -> object:
    """Return what only equal schemas in the same notation share."""
    whole = [notation.prefix, *(part.schema for part in parts)]
    return plain_key(whole) or json.dumps(whole)  # of a value of a class of its own


def _number(parts: list[Place], kind: str, remarks: Remarks) -> str | None:
    bounds = bounds_of(parts)
    for keyword, last in narrowed_bounds(parts, kind):
        remarks.notice(f"{keyword} is taken narrower, at its {last}", path_of(parts, keyword))
    if not bounds.is_open():
        return numbers(bounds) if kind == "number" else integers(bounds)
    return "number" if kind == "number" else '"-"? ( "0" | [1-9] [0-9]* )'


def _either(options: Iterable[str]) -> _Body | None:
    given = list(dict.fromkeys(options))
    return _Body(choice(given), tuple(frozenset([o]) for o in given)) if given else None


def _place_of(key: str, parts: list[Place]) -> str:
    """Return the path of a property, where a schema says something of it."""
    places = property_schemas(parts, key)
    return places[0].path if places else path_of(parts, "required")
