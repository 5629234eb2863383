"""JSON Schemas as grammars: their rules, what they accept and refuse, and what they cannot say."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import EVERY_FORMAT
from tests.grammar_engines.engine_llguidance import LlguidanceGrammar, compile_grammar
from tests.schema_grammars import schema_rules
from turnspec.grammar.schema import SchemaGrammar
from turnspec.grammar.schema_checks import Schema

OBJECT = {"type": "object", "additionalProperties": False}
TREE: dict[str, Any] = {
    "$defs": {
        "node": {
            **OBJECT,
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["name"],
        }
    },
    "$ref": "#/$defs/node",
}
GOLDEN: dict[str, Schema] = {
    "any": {},
    "tree": TREE,
    "call": {
        **OBJECT,
        "properties": {
            "city": {"type": "string", "maxLength": 40},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "unit": {"enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city"],
    },
    "open": {"type": "object", "properties": {"to": {"type": "string"}, "tea": True}},
    "pattern": {"type": "string", "pattern": '^[A-Z]{2}-\\d+(?:/[^"\\s]*)?$'},
    "pair": {"prefixItems": [{"type": "number", "minimum": 0.5}, {"type": "null"}], "minItems": 1},
}


@cache
def _compiled(text: str) -> tuple[SchemaGrammar, LlguidanceGrammar]:
    grammar = schema_rules(json.loads(text), "value")
    assert isinstance(grammar, SchemaGrammar), grammar
    compiled = compile_grammar(str(grammar), entry="value")
    assert isinstance(compiled, LlguidanceGrammar), (compiled, str(grammar))
    return grammar, compiled


def compiled_schema(schema: Schema) -> tuple[SchemaGrammar, LlguidanceGrammar]:
    return _compiled(json.dumps(schema))


@pytest.mark.parametrize("name", GOLDEN)
def test_rules(name: str, snapshot: SnapshotAssertion) -> None:
    assert str(compiled_schema(GOLDEN[name])[0]) == snapshot


def _properties(*required: str, **properties: Schema) -> dict[str, Any]:
    return {**OBJECT, "properties": properties, "required": list(required)}


INTEGER, STRING = {"type": "integer"}, {"type": "string"}
EITHER_KIND = [
    _properties("kind", "n", kind={"const": "number"}, n=INTEGER),
    _properties("kind", "v", kind={"const": "value"}, v={}),
]
CASES: list[tuple[Schema, list[str], list[str]]] = [
    (True, ["1", '{ "a" : [ ] }'], ["", "{", "'a'"]),
    ({}, ["null", '"a"', "[1, 2]"], ["nul"]),
    ({"type": "null"}, ["null"], ["0", '"null"']),
    ({"type": "boolean"}, ["true", "false"], ["True", "1"]),
    (STRING, ['""', '"\\u00e9\\n"', '"é"'], ["a", '"', '"\\x"']),
    (INTEGER, ["0", "-7", "123"], ["01", "1.5", "--1", "+1"]),
    ({"type": "number"}, ["0", "-1.5e3", "1E9"], [".5", "1.", "NaN"]),
    ({"type": ["integer", "null"]}, ["1", "null"], ["1.5", '"1"']),
    ({"type": ["integer", "number"]}, ["1", "1.5"], ['"1"']),
    ({"type": ["string", "object"], "maxLength": 1}, ['"a"', '{"abc": 1}'], ['"ab"', "1"]),
    ({"enum": ["a", "ab", 1, None]}, ['"a"', '"ab"', "1", "null"], ['"abc"', "2", "a"]),
    ({"enum": ["é", 'say "hi"']}, ['"é"', '"\\u00e9"', '"say \\"hi\\""'], ['"e"']),
    ({"enum": [1, "b", 3], "type": "integer"}, ["1", "3"], ['"b"', "2"]),
    ({"enum": [1, 5, 9], "minimum": 4}, ["5", "9"], ["1"]),
    ({"const": {"a": [1, "x"]}}, ['{"a":[1,"x"]}', '{ "a" : [ 1 , "x" ] }'], ["{}", '{"a":[1]}']),
    ({"const": 2.0}, ["2.0", "2"], ["2.5"]),
    ({"const": "\t/"}, ['"\\t/"', '"\\u0009\\/"'], ['"\t/"']),
    ({"minLength": 2}, ['"ab"', "1", "{}"], ['"a"', '""']),
    ({**STRING, "minLength": 1, "maxLength": 2}, ['"\\n"', '"\\u00e9a"'], ['""', '"abc"']),
    ({**STRING, "maxLength": 1}, ['"😀"', '"\\ud83d\\ude00"', '""'], ['"\\ud83d"', '"ab"']),
    ({**STRING, "maxLength": 0}, ['""'], ['"a"']),
    ({**STRING, "minLength": 3}, ['"abc"', '"abcdef"'], ['"ab"']),
    ({**STRING, "pattern": "^ab*$"}, ['"a"', '"abb"'], ['"b"', '"ba"']),
    ({**STRING, "pattern": "ab"}, ['"ab"', '"xaby"', '"aab"'], ['"a b"']),
    ({**STRING, "pattern": "^a|b$"}, ['"ax"', '"xb"'], ['"xa"', '"bx"']),
    ({**STRING, "pattern": "^[a-z]*x$"}, ['"x"', '"xx"', '"axx"'], ['"xa"', '""']),
    ({**STRING, "pattern": "^(a|bc){2,3}$"}, ['"abc"', '"bcbca"'], ['"a"', '"aaaa"']),
    ({**STRING, "pattern": '^["\\\\]$'}, ['"\\""', '"\\\\"'], ['"""', '"a"']),
    ({**STRING, "pattern": "^[^a-c]$"}, ['"d"', '"\\n"', '"é"', '"\\u00e9"'], ['"a"', '"\\u0061"']),
    ({**STRING, "pattern": "^\\w+\\s\\d$"}, ['"a_1 2"', '"b\\t3"'], ['"- 2"']),
    ({**STRING, "pattern": "^.$"}, ['"a"', '"\\""'], ['"\\n"', '"ab"']),
    ({**STRING, "pattern": "^(?:a?)(?<n>b+?)$"}, ['"ab"', '"bb"'], ['"a"']),
    ({**STRING, "pattern": "^[\\-\\]^]$"}, ['"-"', '"]"', '"^"'], ['"\\\\"', '"a"']),
    ({**STRING, "pattern": "^[\\u2028\\x85]$"}, ['"\u2028"', '"\\u2028"', '"\x85"'], ['"a"']),
    ({**STRING, "pattern": "^[^\\x85]$"}, ['"\u2028"', '"a"'], ['"\x85"', '"\\u0085"']),
    ({**STRING, "pattern": "^(a{2}){2,}$"}, ['"aaaa"', '"aaaaaa"'], ['"aaa"', '"aaaaa"']),
    ({**STRING, "pattern": ""}, ['""', '"x"'], ["1"]),
    ({**STRING, "format": "date"}, ['"2024-02-29"', '"2024-12-31"'], ['"2024-04-31"', '"24-1-1"']),
    ({**STRING, "format": "time"}, ['"23:59:59Z"', '"01:02:03.5+01:30"'], ['"24:00:00Z"', '"1:2"']),
    ({**STRING, "format": "date-time"}, ['"2024-01-02T03:04:05Z"'], ['"2024-01-02 03:04:05Z"']),
    ({**STRING, "format": "uuid"}, ['"01234567-89ab-cdef-0123-456789ABCDEF"'], ['"0123"']),
    ({**STRING, "format": "of-its-own"}, ['"anything"'], ["1"]),
    ({**INTEGER, "minimum": 3}, ["3", "9", "10", "345"], ["2", "-3", "03"]),
    ({**INTEGER, "minimum": -12, "maximum": 105}, ["-12", "-1", "0", "99", "105"], ["-13", "106"]),
    ({**INTEGER, "exclusiveMinimum": 9, "exclusiveMaximum": 12}, ["10", "11"], ["9", "12"]),
    ({**INTEGER, "minimum": 0.5, "maximum": 2.5}, ["1", "2"], ["0", "3"]),
    ({**INTEGER, "maximum": -5}, ["-5", "-60"], ["-4", "5", "0"]),
    ({"type": "number", "minimum": 0}, ["0", "0.0", "12.25"], ["-0.1", "-1"]),
    ({"type": "number", "exclusiveMinimum": 1.25}, ["1.26", "1.2501", "2"], ["1.25", "1.250", "1"]),
    (
        {"type": "number", "maximum": 1.5, "minimum": -0.5},
        ["-0.5", "1.50", "1"],
        ["-0.51", "1.501"],
    ),
    ({"minimum": 2}, ["2", "2.5", '"a"', "null"], ["1", "1.9"]),
    ({"type": "array"}, ["[]", "[ 1 , 2 ]"], ["{}", "[1,]"]),
    ({"type": "array", "items": INTEGER}, ["[]", "[1, 2]"], ['["a"]', "[1.5]"]),
    ({"type": "array", "minItems": 1, "maxItems": 2}, ["[1]", "[1, []]"], ["[]", "[1,2,3]"]),
    ({"type": "array", "maxItems": 0}, ["[]", "[ ]"], ["[1]"]),
    (
        {"type": "array", "prefixItems": [INTEGER, STRING], "items": False},
        ["[]", "[1]", '[1, "a"]'],
        ['["a"]', '[1, "a", 2]', "[1, 2]"],
    ),
    (
        {"type": "array", "prefixItems": [INTEGER], "items": STRING, "minItems": 2, "maxItems": 3},
        ['[1, "a"]', '[1, "a", "b"]'],
        ["[1]", '[1, "a", "b", "c"]', "[1, 2]"],
    ),
    ({"type": "array", "items": INTEGER, "minItems": 3}, ["[1,2,3]", "[1,2,3,4]"], ["[1,2]"]),
    (
        _properties("b", a=INTEGER, b=INTEGER, c=INTEGER),
        ['{"b":1}', '{"a":1,"b":2}', '{ "a" : 1 , "b" : 2 , "c" : 3 }', '{"b":1,"c":2}'],
        ["{}", '{"a":1}', '{"b":1,}', '{"a":1 "b":2}', '{"b":1,"d":2}', '{"c":1,"b":2}'],
    ),
    (
        _properties(a=INTEGER, b=INTEGER),
        ["{}", "{ }", '{"a":1}', '{"b":1}', '{"a":1,"b":2}'],
        ['{"b":1,"a":2}', '{,"a":1}', '{"a":1,"a":2}', '{"a":1.5}'],
    ),
    (
        {"type": "object", "properties": {"a": INTEGER, "ab": True}, "required": ["a"]},
        ['{"a":1}', '{"a":1,"ab":"x","b":[]}', '{"a":1,"":0}', '{"a":1,"abc":0}'],
        ["{}", '{"a":"x"}', '{"a":1,"\\u0061":"x"}', '{"b":1}'],
    ),
    (
        {"type": "object", "additionalProperties": INTEGER},
        ["{}", '{"x":1,"y":2}'],
        ['{"x":"a"}'],
    ),
    ({"type": "object", "required": ["a"]}, ['{"a":[]}', '{"a":1,"b":2}'], ["{}", '{"b":1}']),
    ({"type": "object", "properties": {"a": False}}, ["{}", '{"b":1}'], ['{"a":1}']),
    ({"properties": {"a": INTEGER}}, ['{"a":1}', '"text"', "3"], ['{"a":"x"}']),
    (_properties('ä"', **{'ä"': INTEGER}), ['{"ä\\"":1}', '{"\\u00e4\\"":1}'], ['{"a":1}']),
    ({"anyOf": [INTEGER, {"type": "null"}]}, ["1", "null"], ["1.5"]),
    ({"type": "string", "anyOf": [{"maxLength": 1}, {"minLength": 3}]}, ['"a"', '"abc"'], ['"ab"']),
    (
        {"anyOf": EITHER_KIND},
        ['{"kind":"number","n":1}', '{"kind":"value","v":{"n":1}}'],
        ['{"kind":"number","v":1}', '{"kind":"value","n":1}'],
    ),
    ({"oneOf": EITHER_KIND}, ['{"kind":"number","n":1}', '{"kind":"value","v":1}'], ["{}"]),
    (
        {"allOf": [{"properties": {"a": {"minimum": 1}}}, _properties("a", a=INTEGER)]},
        ['{"a":1}'],
        ['{"a":0}', '{"a":"x"}', "{}", '{"a":1,"b":2}'],
    ),
    (
        {"type": "null", "anyOf": [{}, {"type": "boolean"}, {"type": "boolean"}]},
        ["null"],
        ["true"],
    ),
    ({"allOf": [INTEGER, {"minimum": 1}, {"maximum": 3}]}, ["1", "3"], ["0", "4", "1.5"]),
    (TREE, ['{"name":"a","children":[{"name":"b"}]}'], ['{"name":"a","children":[{}]}', "{}"]),
    (
        {"$defs": {"a/b": INTEGER}, "$ref": "#/$defs/a~1b", "maximum": 5, "title": "t"},
        ["5", "-1"],
        ["6", '"a"'],
    ),
    ({"type": "array", "items": {"$ref": "#"}}, ["[]", "[[], [[]]]"], ["[1]"]),
    ({"default": 5, "description": "d", "examples": [1], "type": "null"}, ["null"], ["5"]),
]


@pytest.mark.parametrize(("schema", "accepted", "refused"), CASES, ids=lambda v: str(v)[:60])
def test_values(schema: Schema, accepted: list[str], refused: list[str]) -> None:
    grammar, engine = compiled_schema(schema)
    assert [text for text in accepted if not engine.accepts(text)] == []
    assert [text for text in refused if engine.accepts(text)] == []
    assert not grammar.notices


@pytest.mark.parametrize(("schema", "accepted", "refused"), CASES, ids=lambda v: str(v)[:60])
def test_portable_subset(schema: Schema, accepted: list[str], refused: list[str]) -> None:
    for rule in compiled_schema(schema)[0].rules:
        assert re.fullmatch(r"[a-z][a-z0-9-]*", rule.name)
        assert rule.name != "start"
        assert "\n" not in rule.body
        bare = re.sub(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]', "", rule.body)
        assert "." not in bare
        assert all(int(number) <= 1900 for number in re.findall(r"\d+(?=[,}])", bare))


LOOSENED: list[tuple[Schema, str]] = [
    ({**STRING, "maxLength": 5000}, "#/maxLength: maxLength 5000 is not enforced"),
    ({**STRING, "minLength": 3000}, "#/minLength: minLength is loosened from 3000 to 1900"),
    ({"items": {"maxLength": 1}, "maxItems": 2001}, "#/maxItems: maxItems 2001 is not enforced"),
    ({"pattern": "^(?:a{50}){50}$"}, "#/pattern: repeats beyond 1900 are not counted"),
    (
        {"pattern": "^a+$", "maxLength": 3},
        "#/maxLength: maxLength is not enforced beside the pattern or format",
    ),
    (
        {"pattern": "^a+$", "format": "date"},
        "#/format: format is not enforced beside a pattern or another format",
    ),
    (
        {"oneOf": [{"minimum": 1}, {"maximum": 3}]},
        "#/oneOf: oneOf is read as anyOf: several branches may fit",
    ),
]


@pytest.mark.parametrize(("schema", "notice"), LOOSENED, ids=lambda v: str(v)[:60])
def test_loosened(schema: Schema, notice: str) -> None:
    assert [str(found) for found in compiled_schema(schema)[0].notices] == [notice]


REFUSED: list[tuple[Any, list[str]]] = [
    ({"not": {}}, ["#/not: not cannot be expressed in a grammar"]),
    (
        {"properties": {"a/b": {"multipleOf": 3}, "c": {"uniqueItems": True}}},
        [
            "#/properties/c/uniqueItems: uniqueItems cannot be expressed in a grammar",
            "#/properties/a~1b/multipleOf: multipleOf cannot be expressed in a grammar",
        ],
    ),
    ({"type": "text"}, ["#/type: 'text' is not valid under any of the given schemas"]),
    ({"$ref": "#/$defs/no"}, ["#/$ref: #/$defs/no is nowhere in this schema"]),
    ({"$ref": "other.json"}, ["#/$ref: other.json is nowhere in this schema"]),
    (
        {"$ref": "#/allOf/\u0660", "allOf": [{}]},
        ["#/$ref: #/allOf/\u0660 is nowhere in this schema"],
    ),
    ({"$ref": "#"}, ["#/$ref: # leads back here without an end"]),
    (
        {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "items": {"$ref": "#/$defs/a"}},
        ["#/$defs/a/allOf/0/$ref: #/$defs/a leads back here without an end"],
    ),
    (
        {
            "properties": {name: {"$ref": "#/x/a"} for name in "ab"},
            "x": {"a": {"properties": [1]}},
        },
        ["#/x/a/properties: [1] is not of type 'object'"],
    ),
    (False, ["#: no value fits the schema"]),
    ({**INTEGER, "minimum": 3, "maximum": 2}, ["#: no value fits the schema"]),
    ({"allOf": [INTEGER, STRING]}, ["#: no value fits the schema"]),
    (_properties("a", a={"$ref": "#"}), ["#: no value fits the schema"]),
    (
        {"properties": {"a": {**_properties("b", b={"$ref": "#/properties/a"})}}},
        ["#: a part of the schema fits no value that ends"],
    ),
    (
        {
            "$defs": {
                "a": _properties("no", yes={"$ref": "#/$defs/b"}, no=False),
                "b": {"items": {"$ref": "#/$defs/a"}},
            },
            "anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        },
        ["#: a part of the schema fits no value that ends"],
    ),
    (
        {"allOf": [{"pattern": "a"}, {"pattern": "b"}]},
        ["#/allOf/1/pattern: several patterns for one string do not combine"],
    ),
    *(
        (
            {"items": {"pattern": pattern}},
            [f"#/items/pattern: the pattern is beyond a grammar: {reason}"],
        )
        for pattern, reason in {
            "(a)\\1": "\\1 has no counterpart in a grammar",
            "a(?=b)": "it looks ahead or behind, or sets a flag",
            "a^": "an anchor stands inside the pattern",
            "(a$)": "an anchor stands inside the pattern",
            "a$b": "an anchor stands inside the pattern",
            "\\bword": "\\b has no counterpart in a grammar",
            "(a*)*": "what may be empty is repeated without an end",
            "(a": "a bracket is not closed",
            "a)": "a bracket is closed that none opened",
            "[a": "it ends in the middle",
            "[z-a]": "a range of characters has no order",
            "*a": "nothing stands before *",
            "a**": "a repeat is repeated",
            "a{3,2}": "a repeat has its bounds the wrong way round",
            "\\xg0": "an escape lacks its digits",
            "\\x-1": "an escape lacks its digits",
            "\\u-001": "an escape lacks its digits",
            "\\u 0_1": "an escape lacks its digits",
            "\\u+001": "an escape lacks its digits",
            "[^\\s\\S]": "a class has no characters",
        }.items()
    ),
]


@pytest.mark.parametrize(("schema", "messages"), REFUSED, ids=lambda v: str(v)[:60])
def test_refused(schema: Any, messages: list[str]) -> None:
    problems = schema_rules(schema, "value")
    assert isinstance(problems, list)
    assert [str(problem) for problem in problems] == messages


def test_many_optional_properties_stay_small() -> None:
    many = _properties(**{f"property-{number}": INTEGER for number in range(60)})
    grammar, engine = compiled_schema(many)
    assert len(str(grammar)) < 20_000
    assert engine.accepts('{"property-3": 1, "property-59": 2}')
    assert not engine.accepts('{"property-3": 1, "property-2": 2}')


KEYS = ("a", "ab", "b", "é")
TEXTS = st.text('ab1-é"\\\n😀', max_size=4)
QUARTERS = st.integers(-20, 20).map(lambda number: number / 4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-12, 12) | QUARTERS | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from((*KEYS, "other")), inner, max_size=3)
    ),
    max_leaves=5,
)
PATTERNS = ("^a", "b$", "^[^b1]*$", "^(a|b1)+$", "é|\\d", "^\\W?a{1,2}$")


@st.composite
def bounds(draw: st.DrawFn, low: str, high: str, values: st.SearchStrategy[Any]) -> dict[str, Any]:
    least, most = sorted((draw(values), draw(values)))
    return {
        **({low: least} if draw(st.booleans()) else {}),
        **({high: most} if draw(st.booleans()) else {}),
    }


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    keys = draw(st.permutations(KEYS))[: draw(st.integers(0, 3))]
    other = draw(st.none() | st.booleans() | inner)
    return {
        "type": "object",
        "properties": {key: draw(inner) for key in keys},
        "required": [key for key in keys if draw(st.booleans())],
        **({} if other is None else {"additionalProperties": other}),
    }


@st.composite
def arrays(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    return {
        "type": "array",
        **({"items": draw(inner)} if draw(st.booleans()) else {}),
        **(
            {"prefixItems": draw(st.lists(inner, min_size=1, max_size=2))}
            if draw(st.booleans())
            else {}
        ),
        **draw(bounds("minItems", "maxItems", st.integers(0, 3))),
    }


def typed(name: str, rest: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Schema]:
    return rest.map(lambda keywords: {"type": name, **keywords})


LEAVES: st.SearchStrategy[Any] = (
    st.just({})
    | st.sampled_from([{"type": "null"}, {"type": "boolean"}, {"type": ["string", "integer"]}])
    | typed("integer", bounds("minimum", "maximum", st.integers(-12, 12) | QUARTERS))
    | typed("number", bounds("exclusiveMinimum", "exclusiveMaximum", QUARTERS))
    | typed("number", bounds("minimum", "maximum", QUARTERS))
    | typed("string", bounds("minLength", "maxLength", st.integers(0, 3)))
    | typed("string", st.sampled_from(PATTERNS).map(lambda pattern: {"pattern": pattern}))
    | st.lists(VALUES, min_size=1, max_size=3).map(lambda values: {"enum": values})
)
SCHEMAS: st.SearchStrategy[Schema] = st.recursive(
    LEAVES,
    lambda inner: (
        objects(inner)
        | arrays(inner)
        | st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches})
        | st.lists(inner, min_size=2, max_size=2).map(lambda parts: {"allOf": parts})
    ),
    max_leaves=5,
)


@st.composite
def instances(draw: st.DrawFn, schema: Any) -> Any:
    """Draw a value that may fit, its properties in the schema's order."""
    if "anyOf" in schema:
        return draw(instances(draw(st.sampled_from(schema["anyOf"]))))
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    kind = schema.get("type")
    if kind == "object":
        properties, other = schema["properties"], schema.get("additionalProperties", {})
        kept = [k for k in properties if k in schema["required"] or draw(st.booleans())]
        value = {key: draw(instances(properties[key])) for key in kept}
        if other is not False and draw(st.booleans()):
            value["other"] = draw(instances({} if other is True else other))
        return value
    if kind == "array":
        firsts, item = schema.get("prefixItems", []), schema.get("items", {})
        size = draw(st.integers(schema.get("minItems", 0), schema.get("maxItems", 3)))
        return [draw(instances(s)) for s in [*firsts, *[item] * size][:size]]
    simple = {"integer": st.integers(-12, 12), "number": QUARTERS, "string": TEXTS}
    return draw(simple.get(kind, VALUES) if isinstance(kind, str) else VALUES)


@settings(
    max_examples=150 if EVERY_FORMAT else 75, deadline=None, suppress_health_check=list(HealthCheck)
)
@given(st.data(), SCHEMAS.filter(lambda schema: "allOf" not in json.dumps(schema)))
def test_valid_values_are_accepted(data: st.DataObject, schema: Schema) -> None:
    value = data.draw(instances(schema))
    if not Draft202012Validator(schema).is_valid(value):
        return
    grammar = schema_rules(schema, "value")
    assert isinstance(grammar, SchemaGrammar), grammar
    _, engine = compiled_schema(schema)
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert engine.accepts(text), text


@settings(
    max_examples=150 if EVERY_FORMAT else 75, deadline=None, suppress_health_check=list(HealthCheck)
)
@given(st.data(), SCHEMAS)
def test_accepted_values_are_valid(data: st.DataObject, schema: Schema) -> None:
    grammar = schema_rules(schema, "value")
    values = data.draw(st.lists(VALUES, min_size=5, max_size=15))
    valid = [value for value in values if Draft202012Validator(schema).is_valid(value)]
    if isinstance(grammar, list):
        several = all("several patterns" in problem.message for problem in grammar)
        assert several or not valid
        return
    if grammar.notices:
        return
    _, engine = compiled_schema(schema)
    accepted = [value for value in values if engine.accepts(json.dumps(value))]
    assert [value for value in accepted if value not in valid] == []
