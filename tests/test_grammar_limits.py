"""Schemas that are too much: refused by name and at once; and those just below, which compile."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from time import process_time
from typing import Any

import pytest

from tests.grammar_engines import engine_llguidance
from tests.schema_grammars import schema_rules
from turnspec.grammar.schema import SchemaGrammar
from turnspec.spec.problems import Problem
from turnspec.verification import engine_llama_cpp

INTEGER = {"type": "integer"}


def nested(levels: int) -> dict[str, Any]:
    start: dict[str, Any] = INTEGER
    return reduce(lambda inner, _: object_of(a=inner), range(levels), start)


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def chain(length: int, wrapped: bool) -> dict[str, Any]:
    """References that lead to references, at once or in a property."""
    links: dict[str, Any] = {f"a{length}": INTEGER}
    for number in range(length):
        link = {"$ref": f"#/$defs/a{number + 1}"}
        links[f"a{number}"] = object_of(a=link) if wrapped else link
    return {"$defs": links, "$ref": "#/$defs/a0"}


def ring(length: int) -> dict[str, Any]:
    return {f"a{n}": {"$ref": f"#/$defs/a{(n + 1) % length}"} for n in range(length)}


def twice(length: int) -> dict[str, Any]:
    """A chain in which each schema refers twice to the next."""
    links = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(length)}
    return {"$defs": {**links, f"a{length}": INTEGER}, "$ref": "#/$defs/a0"}


def needing(count: int) -> dict[str, Any]:
    """Two objects that differ nowhere, of which each level needs so many of the next."""
    levels: dict[str, Any] = {"d4": {"type": "object"}}
    for level in range(4):
        inner = {f"k{n}": {"$ref": f"#/$defs/d{level + 1}"} for n in range(count)}
        levels[f"d{level}"] = {**object_of(**inner), "required": [*inner]}
    one = {"$ref": "#/$defs/d0"}
    return {"$defs": levels, "oneOf": [one, {"allOf": [one]}]}


def many(count: int) -> dict[str, Any]:
    return {f"p{number}": INTEGER for number in range(count)}


CHOICES = {"anyOf": [{"type": "string", "maxLength": 10 + n} for n in range(4)]}
LENGTHS = [
    {"anyOf": [{"type": "string", "maxLength": 10 * a + b} for b in range(4)]} for a in range(7)
]

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "branches that multiply": (
        {"allOf": LENGTHS},
        "#: asks for more than 5000 rules, as its parts multiply",
    ),
    "an enumeration": (
        {"enum": [f"w{n}" for n in range(100_000)]},
        "#/enum: has 100000 values; 10000 at most",
    ),
    "properties": (object_of(**many(3000)), "#/properties: has 3000 properties; 1000 at most"),
    "names": (
        {"type": "object", "required": [*many(3000)]},
        "#/required: has 3000 names; 1000 at most",
    ),
    "first items": (
        {"prefixItems": [INTEGER] * 3000},
        "#/prefixItems: has 3000 items; 20 at most",
    ),
    "depth": (
        nested(300),
        "#/properties/a/properties/a/properties/a/properties/a: is nested deeper than 64",
    ),
    "references to references": (
        chain(2000, wrapped=False),
        "#: a reference leads to more than 60 others",
    ),
    "references into the depth": (
        chain(2000, wrapped=True),
        "#: is nested deeper than 60 schemas",
    ),
    "a pattern": (
        {"type": "string", "pattern": "a" * 100_000},
        "#/pattern: is a pattern of 100000 characters; 1000 at most",
    ),
    "brackets": (
        {"type": "string", "pattern": "(" * 200 + ")" * 200},
        "#/pattern: is a pattern with brackets deeper than 20",
    ),
    "a name": (
        object_of(**{"x" * 5000: INTEGER}),
        "#/properties: has a name of 5000 characters; 200 at most",
    ),
    "half a character in a name": (
        object_of(**{"\udc9a": INTEGER}),
        "#/properties: has half of a character, which can't be written",
    ),
    "half a character in a value": (
        {"enum": ["whole", "hal\ud83d"]},
        "#/enum/1: has half of a character, which can't be written",
    ),
    "not a number": (
        {"type": "number", "minimum": math.nan},
        "#/minimum: nan is no number of JSON's",
    ),
    "infinity": (
        {"type": "integer", "maximum": -math.inf},
        "#/maximum: -inf is no number of JSON's",
    ),
    "digits": (
        {"type": "integer", "maximum": 10**5000},
        "#/maximum: a number has more than 309 digits",
    ),
    "places": (
        {"type": "number", "minimum": 1e-300, "maximum": 1e-299},
        "#: has bounds that differ only behind 20 digits or places",
    ),
    "a pattern that is none, beside values": (
        {"enum": ["a"], "pattern": "a{2,1}"},
        "#: has a pattern that values can't be tried on:"
        " min repeat greater than max repeat at position 2",
    ),
    "a reference": (
        {"$ref": "#/allOf/" + "9" * 5000, "allOf": [{}]},
        "#/$ref: is a reference of 5008 characters; 1000 at most",
    ),
    "a ring": (
        {"$defs": ring(2000), "$ref": "#/$defs/a0"},
        "#/$defs/a0/$ref: #/$defs/a1 leads back here without an end",
    ),
    "what a reference leads to": (
        {"$ref": "#/x/a", "x": {"a": {"type": [["integer"]]}}},
        "#/x/a/type: [['integer']] is not valid under any of the given schemas",
    ),
    "parts": ({"default": [0] * 200_000}, "#/default: has 200000 parts; 100000 at most"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_too_much_is_refused_by_name_and_soon(case: str) -> None:
    schema, message = REFUSED[case]
    started = process_time()
    found = schema_rules(schema, "value")
    assert process_time() - started < 5
    assert isinstance(found, list)
    assert str(found[0]) == message


ENDLESS_FOR_LLGUIDANCE: dict[str, tuple[Callable[[int], Any], int]] = {
    "properties that may be missing": (lambda n: object_of(**many(n)), 400),
    "alternatives": (lambda n: {"anyOf": [object_of(**{f"k{i}": {}}) for i in range(n)]}, 400),
}


@pytest.mark.parametrize("what", ENDLESS_FOR_LLGUIDANCE)
def test_more_than_llguidance_looks_at_is_told(what: str) -> None:
    schema, most = ENDLESS_FOR_LLGUIDANCE[what]
    told = [schema_rules(schema(n), "value") for n in (most, most + 1)]
    fine, beyond = (found.notices for found in told if isinstance(found, SchemaGrammar))
    assert not fine
    assert [f"llguidance may stop at {most + 1} {what}"] == [notice.message for notice in beyond]


GROWING: dict[str, Callable[[int], Any]] = {
    "a ring": lambda n: {"$defs": ring(10 * n), "$ref": "#/$defs/a0"},
    "a ring of choices": lambda n: {
        "$defs": {name: {"anyOf": [{}, link]} for name, link in ring(10 * n).items()},
        "$ref": "#/$defs/a0",
    },
    "references that come twice": lambda n: twice(n // 2),
    "objects that differ nowhere": lambda n: needing(2 * n),
    "constants told apart": lambda n: {"oneOf": [{"enum": [i, f"{i}"]} for i in range(2 * n)]},
    "digits of a bound": lambda n: {"type": "integer", "minimum": 7, "maximum": 10 ** (10 * n)},
    "digits of two bounds": lambda n: {"type": "number", "minimum": -(10.0 ** (10 * n))},
}


def steps(schema: Any) -> int:
    """Return how many calls Python makes for a schema: unlike time, the same on any machine."""
    made = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        schema_rules(schema, "root")
    finally:
        sys.setprofile(None)
    return made


@pytest.mark.parametrize("case", GROWING)
def test_work_grows_with_the_schema(case: str) -> None:
    schema_rules(GROWING[case](1), "root")  # what is loaded on first use doesn't count
    few, many_more = (steps(GROWING[case](count)) for count in (15, 30))
    assert many_more < 2.5 * few


JUST_FITS: dict[str, dict[str, Any]] = {
    "properties": object_of(**many(1000)),
    "an enumeration": {"enum": [f"w{n}" for n in range(10_000)]},
    "alternatives told apart by a constant": {
        "oneOf": [{**object_of(k={"const": n}), "required": ["k"]} for n in range(400)]
    },
    "choices that come to one": {"allOf": [CHOICES] * 20},
    "the same properties again and again": {"allOf": [object_of(**many(100))] * 30},
    "first items": {"prefixItems": [INTEGER] * 20},
    "depth": nested(30),
    "references": chain(50, wrapped=False),
    "references into the depth": chain(50, wrapped=True),
    "brackets": {"type": "string", "pattern": "^" + "(" * 20 + "a" + ")" * 20 + "$"},
    "repeats inside each other": {"type": "string", "pattern": "^" + "(a" * 20 + ")?" * 20 + "$"},
    "names beside others": {**object_of(**{"n" * 200: INTEGER}), "additionalProperties": INTEGER},
    "signs that may be codes": {"type": "string", "pattern": r"^.{1,1900}$"},
    "repeats of groups": {"type": "string", "pattern": r"^(?:\S{1,45}.?){1,40}$"},
    "items": {"type": "array", "items": {"type": "string", "maxLength": 1900}, "maxItems": 1900},
    "long integers": {"type": "integer", "minimum": 3 - 2**63, "maximum": 2**63 - 1},
    "integers of hundreds of digits": {"type": "integer", "minimum": 7, "maximum": 10**308},
    "all doubles": {"type": "number", "minimum": -1.7976931348623157e308, "maximum": 1.79e308},
    "many places": {"type": "number", "minimum": 0.12345678901234567, "maximum": 123456789.98765},
}


#: Engines take seconds to compile that.
TAKES_LONG = {"all doubles", "integers of hundreds of digits"}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.long] * (case in TAKES_LONG)) for case in JUST_FITS],
)
def test_what_just_fits_compiles(case: str) -> None:
    started = process_time()
    found = schema_rules(JUST_FITS[case], "root")
    assert process_time() - started < 10
    assert isinstance(found, SchemaGrammar), list(map(str, found))
    assert all("llguidance may stop" in notice.message for notice in found.notices)
    for compile_grammar in (engine_llama_cpp.compile_grammar, engine_llguidance.compile_grammar):
        assert not isinstance(compile_grammar(str(found)), Problem)


def test_a_bound_with_too_many_places_is_taken_narrower() -> None:
    found = schema_rules({"type": "number", "minimum": 1e-25, "maximum": 1}, "root")
    assert isinstance(found, SchemaGrammar)
    engine = engine_llguidance.compile_grammar(str(found))
    assert not isinstance(engine, Problem)
    texts = {"0": False, "0." + "0" * 24 + "1": False, "0.00000000000000000001": True, "1": True}
    assert {text: engine.accepts(text) for text in texts} == texts
    assert [str(notice) for notice in found.notices] == [
        "#/minimum: minimum is taken narrower, at its place 20 behind the point"
    ]


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("bound", [10**30, 10**30 + 1, 10**300 + 7, 1e300, 1.7976931348623157e308])
@pytest.mark.parametrize(
    ("keyword", "sign"), [("minimum", 1), ("exclusiveMinimum", 1), ("exclusiveMaximum", -1)]
)
def test_a_bound_with_many_digits_is_taken_narrower(
    kind: str, bound: int | float, keyword: str, sign: int
) -> None:
    found = schema_rules({"type": kind, keyword: sign * bound}, "root")
    assert isinstance(found, SchemaGrammar)
    is_exact = keyword == "minimum" and bound not in (10**30 + 1, 10**300 + 7)
    message = f"#/{keyword}: {keyword} is taken narrower, at its digit 20"
    assert [str(notice) for notice in found.notices] == ([] if is_exact else [message])
    least = int(Decimal(str(bound)))
    for compile_grammar in (engine_llama_cpp.compile_grammar, engine_llguidance.compile_grammar):
        engine = compile_grammar(str(found))
        assert not isinstance(engine, Problem), engine
        assert engine.accepts(str(sign * 2 * least))
        assert not engine.accepts(str(sign * (least - 1)))
        assert engine.accepts(str(sign * least)) is is_exact


def test_all_doubles_above_zero_compile_with_a_notice() -> None:
    found = schema_rules({"type": "number", "exclusiveMinimum": 5e-324, "maximum": 1e308}, "root")
    assert isinstance(found, SchemaGrammar)
    assert len(found.notices) == 1
    for compile_grammar in (engine_llama_cpp.compile_grammar, engine_llguidance.compile_grammar):
        assert not isinstance(compile_grammar(str(found)), Problem)
    for kind, bound in (("integer", 5e-324), ("number", 0.12345678901234567)):
        found = schema_rules({"type": kind, "minimum": bound}, "root")
        assert isinstance(found, SchemaGrammar)
        assert not found.notices


@pytest.mark.parametrize("value", [1, 1.0, True, "1", [1.0, {"b": 2, "a": None}]])
def test_constants_are_equal_as_json_schema_has_it(value: Any) -> None:
    same = {"enum": [1, True, "1", [1, {"a": None, "b": 2.0}]]}
    found = schema_rules({"allOf": [{"const": value}, same]}, "root")
    assert isinstance(found, SchemaGrammar)
