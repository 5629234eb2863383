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
from typing import Any

from turnspec.grammar.digit_ranges import integers, numbers
from turnspec.grammar.notations import JSON_NOTATION, Notation
from turnspec.grammar.request import plain_key
from turnspec.grammar.rule_names import RuleNames, slug
from turnspec.grammar.schema_checks import Place, Schema
from turnspec.grammar.schema_containers import Containers, tell_many
from turnspec.grammar.schema_limits import DEEPEST_REFERENCES, MOST_RULES, TooBigError
from turnspec.grammar.schema_parts import (
    TYPES,
    all_apart,
    allowed_values,
    bounds_of,
    flattened,
    given,
    kinds,
    narrowed_bounds,
    without,
)
from turnspec.grammar.schema_rules import Body, SchemaRules
from turnspec.grammar.schema_strings import Remarks, path_of, string_text
from turnspec.grammar.text import Rule, choice, reachable
from turnspec.spec.encoding import json_type
from turnspec.spec.problems import Problem

_WORDS = ("boolean", "null")
_NAME = re.compile(r"[a-z][a-z0-9-]*")


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
    compiler = _Compiler(schema, name, closed, SchemaRules(names), Remarks(loosen))
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
    endless = compiler.rules.endless(compiler.referred)
    if entry is None or entry in endless:
        return [Problem("no value fits the schema", path="#")]
    if entry != name:  # which stands for a rule of another name
        compiler.rules.add(name, Body(entry, (frozenset([entry]),)))
    rules = list(compiler.rules.by_name.values())
    if endless and any(rule.name in endless for rule in reachable(rules, [name])):
        return [Problem("a part of the schema fits no value that ends", path="#")]
    rules.sort(key=lambda rule: rule.name != name)
    return SchemaGrammar(tuple(rules), tuple(dict.fromkeys(compiler.remarks.notices)))


@dataclass(slots=True)
class _Compiler:
    root: Schema
    name: str
    closed: bool
    rules: SchemaRules
    remarks: Remarks
    _names: dict[object, str | None] = field(default_factory=dict)
    referred: set[str] = field(default_factory=set)
    _texts: set[str] = field(default_factory=set)  # the rules that take in any string
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
            self.referred |= {known} if known else set()
            return known
        hint = self._hint(given, hint)
        is_entry = not self._names and hint == self.name
        name = self._names[key] = hint if is_entry else self.rules.names.free(hint)
        body = self._body(parts, name, notation)
        if body is None:
            self._names[key] = None
            if name in self.referred:
                # Rules inside of it refer to it; without a need that can end they never do.
                self.rules.add(name, Body('""', ()))
            return None
        if name not in self.referred and _NAME.fullmatch(body.text):
            self._names[key] = body.text
            return body.text
        return self.rules.add(name, body)

    def _hint(self, places: list[Place], hint: str) -> str:
        """Name what a reference points to after the definition."""
        schema = places[0].schema if len(places) == 1 else True
        if isinstance(schema, bool) or set(schema) != {"$ref"}:
            return hint
        return f"{self.name}-{slug(schema['$ref'].rpartition('/')[2])}"

    def _body(self, parts: list[Place], name: str, notation: Notation) -> Body | None:
        if not parts:
            return Body(notation.any_value())
        values = allowed_values(self.root, parts)
        if values is not None:
            return self._constants(values, parts, notation)
        for number, part in enumerate(parts):
            for keyword in ("anyOf", "oneOf"):
                if keyword in part.keywords:
                    rest = [*parts[:number], *parts[number + 1 :], without(part, keyword)]
                    return self._branches(part, keyword, rest, name, notation)
        return self._types(parts, name, notation)

    def _constants(self, values: list[Any], parts: list[Place], notation: Notation) -> Body | None:
        texts = []
        for value in values:
            found = [(way, way.constant(value)) for way in notation.ways(json_type(value).value)]
            written = [notation.framed(way, text) for way, text in found if text is not None]
            is_ambiguous = notation.is_ambiguous(value)
            if not written or is_ambiguous:
                keyword = "const" if given(parts, "const") else "enum"
                shown = json.dumps(value, ensure_ascii=False)
                message = f"{shown} cannot be written in this format"
                if is_ambiguous:
                    message = f"{shown} is read as a value of another type in this format"
                self.remarks.left_out(message, path_of(parts, keyword), "it is left out")
            texts += [] if is_ambiguous else written
        return Body(choice(texts)) if texts else None

    def _branches(
        self, part: Place, keyword: str, rest: list[Place], name: str, notation: Notation
    ) -> Body | None:
        schemas = enumerate(part.keywords[keyword])
        branches = [Place(schema, part.at(keyword, number)) for number, schema in schemas]
        if keyword == "oneOf" and not all_apart(self.root, branches):
            message = "oneOf is read as anyOf: several branches may fit"
            self.remarks.notice(message, part.at(keyword))
        options = {
            option: [*rest, branch]
            for number, branch in enumerate(branches, start=1)
            if (option := self.reference([*rest, branch], f"{name}-{number}", notation)) is not None
        }
        tell_many(self.remarks, len(options), "alternatives", part.at(keyword))
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

    def _types(self, parts: list[Place], name: str, notation: Notation) -> Body | None:
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
                body = Body(self._framed(kind, body.text, own, notation, way), body.needs)
            if body is not None and len(ways) > 1 and " " in body.text and kind not in _WORDS:
                body = Body(self.rules.add_free(own, body))
                body = Body(body.text, (frozenset([body.text]),))
            bodies += [body] if body else []
        needs = tuple(need for body in bodies for need in body.needs)
        return Body(choice(body.text for body in bodies), needs) if bodies else None

    def _framed(self, kind: str, text: str, name: str, notation: Notation, way: Notation) -> str:
        """Return a value with what stands around it, in rules that engines see as a whole."""
        framed = notation.framed(way, text)
        if framed == text or kind not in ("number", "integer"):
            return framed
        # Of a number the digits: else 10 is the beginning of 100 alone.
        digits = self.rules.adding(f"{name}-digits")(text) if " " in text else text
        # And a line like a string's, as llguidance sees that with what begins it.
        line = notation.like_a_string(digits)
        lines = [self.rules.adding(f"{name}-line")(line)] if line else []
        return choice([notation.framed(way, digits), *lines])

    def _written(self, kind: str, parts: list[Place], name: str, way: Notation) -> Body | None:
        if kind in _WORDS:
            return Body(way.word(kind))
        if kind in ("array", "object") and way.is_filled:
            message = f"an empty {kind} is left out, as it is read as a text in this format"
            self.remarks.notice(message, parts[0].path)
        if kind in ("array", "object"):
            writer = Containers(self.root, self.closed, self.rules, self.remarks, self.reference)
            return (writer.array if kind == "array" else writer.object)(parts, name, way)
        if kind == "string":
            text = string_text(parts, way.strings, self.remarks, self.rules.adding(f"{name}-part"))
        else:
            text = _number(parts, kind, self.remarks)
        return Body(text) if text else None


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


def _either(options: Iterable[str]) -> Body | None:
    given = list(dict.fromkeys(options))
    return Body(choice(given), tuple(frozenset([o]) for o in given)) if given else None
