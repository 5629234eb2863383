"""Random schemas in every format: what a bound grammar lets through is read as a value that fits.

Values that look like ones of other types are among them, as tags don't tell a number from a string
that holds it.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.bound_grammars import Bound
from tests.generated_formats import EVERY_FORMAT, KINDS, committed_spec
from tests.grammar_engines import Compile, engine_llguidance
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.spec.message import Call, Message
from turnspec.spec.problems import Problem
from turnspec.verification import engine_llama_cpp
from turnspec.verification.turns import written_input

WITH_TOOLS = [name for name in KINDS if committed_spec(name).tools]
TAGGED, QUOTED, PLAIN = "qwen3-coder", "google-gemma-4-31b-it", "qwen-qwen3-0-6b"
#: Of each format, and turns for each of them.
SCHEMAS, TURNS = (60 if EVERY_FORMAT else 12), 4

TEXTS = ("", "1", "-2.5", "true", "True", "null", "None", "[]", "{}", '"a"', "a", "b c", "2x", " 3")
CONSTANTS: tuple[Any, ...] = (1, -2.5, True, False, None, [], {}, 2.0, [1])
PATTERNS = ("^a", "b$", "^[0-9]+$", "^[^b1]*$", "^(a|b1)+$", "^n", "^.{2}$", '^"a"$', "e?1")
TYPES = ("string", "integer", "null", "boolean", "number")


def bounds(random: Random, low: str, high: str, least: int, most: int) -> dict[str, int]:
    ends = sorted(random.randint(least, most) for _ in range(2))
    return {key: end for key, end in zip((low, high), ends, strict=True) if random.random() < 0.5}


def leaf(random: Random) -> dict[str, Any]:
    numbers = bounds(random, "minimum", "exclusiveMaximum", -9, 9)
    lengths = bounds(random, "minLength", "maxLength", 0, 5)
    some = [*random.sample(TEXTS, 2), *random.sample(CONSTANTS, random.randint(0, 2))]
    choices: list[dict[str, Any]] = [
        {},
        {"type": random.choice(TYPES)},
        {"type": random.sample(TYPES, random.randint(2, 3)), **numbers, **lengths},
        {"enum": some},
        {"const": random.choice((*TEXTS, 1, True, None))},
        {"type": random.choice(("integer", "number")), **numbers},
        {"type": "string", **lengths},
        {"type": "string", "pattern": random.choice(PATTERNS)},
        {"type": "string", "format": random.choice(("date", "uuid", "time"))},
    ]
    return random.choice(choices)


def schema(random: Random, depth: int = 2) -> dict[str, Any]:
    kind = random.choice(("leaf", "leaf", "anyOf", "array", "object")) if depth else "leaf"
    if kind == "anyOf":
        return {"anyOf": [schema(random, depth - 1) for _ in range(random.randint(2, 3))]}
    if kind == "array":
        items = schema(random, depth - 1)
        return {"type": "array", "items": items, **bounds(random, "minItems", "maxItems", 0, 3)}
    if kind == "object":
        keys = random.sample("abc", random.randint(1, 2))
        return {"type": "object", "properties": {key: schema(random, depth - 1) for key in keys}}
    return leaf(random)


def parameters(random: Random) -> dict[str, Any]:
    """Return a schema of arguments, which may state a type where parsers don't look for it."""
    properties = {"qxa": schema(random), "qxb": schema(random)}
    plain = {
        "type": "object",
        "properties": properties,
        "required": random.sample([*properties], random.randint(0, 2)),
    }
    key, reference = random.choice((("s", "s"), ("s/t", "s~1t")))
    referring = {**properties, "qxa": {"$ref": f"#/$defs/{reference}"}}
    other = {**plain, "properties": referring, "$defs": {key: properties["qxa"]}}
    elsewhere: list[dict[str, Any]] = [
        {"type": "object", "allOf": [plain]},
        {"anyOf": [plain, {"type": "null"}]},
        {"$ref": "#/$defs/all", "$defs": {"all": plain}},
    ]
    return random.choice((plain, plain, other, *elsewhere))


def tool(parameters: Any) -> GrammarRequest:
    function = {"name": "look", "parameters": parameters}
    return GrammarRequest([{"function": function}], tool_choice="required", thinking=False)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_what_a_grammar_lets_through_fits_the_schema(name: str) -> None:
    random, bound = Random(name), 0
    for _ in range(SCHEMAS):
        request = tool(parameters(random))
        if not isinstance(bind_grammar(committed_spec(name), request), BoundGrammar):
            continue
        form = Bound.of(name, request)
        for turn in form.turns(random, TURNS):
            assert form.faults(turn) == [], f"{request.tools}: {turn!r}"
        bound += 1
    assert bound > SCHEMAS // 3


def problems(**properties: Any) -> list[str]:
    found = bind_grammar(committed_spec(TAGGED), tool({"properties": properties}))
    assert isinstance(found, list)
    return [str(problem).partition("/parameters")[2] for problem in found]


OTHER = "is read as a value of another type in this format"


def test_a_constant_that_is_read_otherwise_is_refused() -> None:
    assert problems(a={"enum": [1, "2"]}) == [f'/properties/a/enum: "2" {OTHER}']
    assert problems(a={"enum": [None, "null", "no"]}) == [f'/properties/a/enum: "null" {OTHER}']
    assert problems(a={"enum": ['"b"', True]}) == [f'/properties/a/enum: "\\"b\\"" {OTHER}']
    fine = {"a": {"enum": ["2", "null"]}, "b": {"enum": [1, "b"]}}
    assert isinstance(
        bind_grammar(committed_spec(TAGGED), tool({"properties": fine})), BoundGrammar
    )


def test_a_string_beside_a_type_that_is_bounded_begins_otherwise() -> None:
    either = {"type": ["string", "integer"], "minimum": 5}
    found = bind_grammar(committed_spec(TAGGED), tool({"properties": {"a": either}}))
    assert isinstance(found, BoundGrammar)
    assert any(
        "the string doesn't begin with '\\t', ' ', '-', '0' to '9', as a value" in str(notice)
        for notice in found.notices
    )
    digits = {
        "anyOf": [{"type": "string", "pattern": "^[0-9]+$"}, {"type": "integer", "minimum": 5}]
    }
    (told,) = problems(a=digits)
    assert told.endswith(
        "/pattern: the pattern is beyond a grammar: it lets through what is read as "
        "a value of another type"
    )


def test_a_type_that_parsers_dont_see_is_refused() -> None:
    hidden = {"$defs": {"a/b": {"type": "integer"}}, "properties": {"n": {"$ref": "#/$defs/a~1b"}}}
    found = bind_grammar(committed_spec(TAGGED), tool(hidden))
    assert isinstance(found, list)
    assert "the type is stated where a parser of this format doesn't look" in str(found[0])


ENGINES = (engine_llama_cpp.compile_grammar, engine_llguidance.compile_grammar)


def accepts(compile_grammar: Compile, name: str, grammar: str, value: object) -> bool:
    """Say whether an engine lets the format's own way to write an argument through."""
    engine = compile_grammar(grammar)
    assert not isinstance(engine, Problem), engine
    call = Call("look", {"p": value}, id="abcdefgh1")
    given = written_input(committed_spec(name), Message(calls=(call,)), thinking=False)
    assert given
    return engine.accepts(given.text)


@pytest.mark.parametrize("compile_grammar", ENGINES)
@pytest.mark.parametrize("kind", ["integer", "number"])
def test_a_number_is_no_beginning_of_its_bound_alone(kind: str, compile_grammar: Compile) -> None:
    bounded = {"properties": {"p": {"type": kind, "minimum": 0, "maximum": 100}}}
    found = bind_grammar(committed_spec(TAGGED), tool(bounded))
    assert isinstance(found, BoundGrammar)
    fits = [n for n in range(102) if accepts(compile_grammar, TAGGED, found.grammar, n)]
    assert fits == list(range(101))


@pytest.mark.parametrize("compile_grammar", ENGINES)
def test_a_number_is_no_beginning_of_a_string_in_its_lines(compile_grammar: Compile) -> None:
    """A string's lines and what is in them are one token of llguidance's lexer."""
    either = {"anyOf": [{"type": "string", "pattern": "^[0-9]+ km$"}, {"type": ["number", "null"]}]}
    found = bind_grammar(committed_spec(TAGGED), tool({"properties": {"p": either}}))
    assert isinstance(found, BoundGrammar)
    values = (7, 70.5, "7 km", None, "7", "km")
    taken = [v for v in values if accepts(compile_grammar, TAGGED, found.grammar, v)]
    assert taken[:4] == [7, 70.5, "7 km", None]
    # What looks like a number is read as one.
    assert taken[4:] == ["7"]


@pytest.mark.parametrize("compile_grammar", ENGINES)
def test_any_string_stands_beside_constants_of_several_types(compile_grammar: Compile) -> None:
    either = {"anyOf": [{"type": "string"}, {"enum": ["high", 3, None]}]}
    found = bind_grammar(committed_spec(QUOTED), tool({"properties": {"p": either}}))
    assert isinstance(found, BoundGrammar)
    values = ("hi", "high", "higher", 3, None, 4)
    taken = [v for v in values if accepts(compile_grammar, QUOTED, found.grammar, v)]
    assert taken == ["hi", "high", "higher", 3, None]


OPEN = "additionalProperties"
INSIDE = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
ALL = {"type": "object", "properties": {"p": INSIDE, "n": {"type": "number"}}, "required": ["p"]}


@pytest.mark.parametrize("name", [TAGGED, "minimax-m3", "glm-4-6"])
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/all", "$defs": {"all": ALL}},
        {"allOf": [ALL]},
        {"properties": {"word": {"type": "string"}}, "anyOf": [ALL, INSIDE]},
    ],
)
def test_types_are_found_where_a_parser_looks_for_them(name: str, schema: Any) -> None:
    request = tool(schema)
    found = bind_grammar(committed_spec(name), request)
    assert isinstance(found, BoundGrammar), list(map(str, found))
    assert not found.notices
    form = Bound.of(name, request)
    for turn in form.turns(Random(name), 40):
        assert form.faults(turn) == [], turn


@pytest.mark.parametrize("name", [TAGGED, "glm-4-6"])
@pytest.mark.parametrize("other", [{"type": "object"}, {"properties": {"m": {}}, **{OPEN: True}}])
def test_a_name_is_read_by_its_alternative_in_an_open_object_beside_it(
    name: str, other: Any
) -> None:
    request = tool({"anyOf": [other, INSIDE]})
    found = bind_grammar(committed_spec(name), request)
    assert isinstance(found, BoundGrammar), list(map(str, found))
    engine = engine_llguidance.compile_grammar(found.grammar)
    assert not isinstance(engine, Problem), engine
    for value, fits in (({"x": 3}, True), ({"x": "three"}, False), ({"y": "three"}, True)):
        message = Message(calls=(Call("look", value, id="abcdefgh1"),))
        given = written_input(committed_spec(name), message, thinking=False)
        assert given
        assert engine.accepts(given.text) is fits, value


def test_many_names_of_an_alternative_beside_an_open_object_are_told() -> None:
    many = {"properties": {f"p{number}": {"type": "integer"} for number in range(401)}}
    found = bind_grammar(committed_spec(TAGGED), tool({"anyOf": [{"type": "object"}, many]}))
    assert isinstance(found, BoundGrammar), list(map(str, found))
    message = "llguidance may stop at 401 properties that may be missing"
    assert [notice.message for notice in found.notices].count(message) == 1


UNKNOWN = "a parser of this format tells of a name as unknown that the schema allows"


def test_a_name_that_a_parser_does_not_know_is_told() -> None:
    def notices(name: str, schema: Any) -> list[str]:
        found = bind_grammar(committed_spec(name), tool(schema))
        assert isinstance(found, BoundGrammar), list(map(str, found))
        return [notice.message for notice in found.notices]

    missing = {"properties": {"a": {"type": "string"}}, "required": ["b"]}
    assert notices(TAGGED, missing) == [f"{UNKNOWN}: 'b'"]
    assert notices(PLAIN, missing) == []
    beside = {"properties": {"a": {"type": "string"}}, "anyOf": [INSIDE]}
    assert notices(QUOTED, beside) == [f"{UNKNOWN}: 'x'"]
    assert notices(TAGGED, beside) == []
    opened = {"oneOf": [{"type": "object"}, {"type": "null"}, INSIDE]}
    assert f"{UNKNOWN}: any other" in notices(TAGGED, opened)


def test_a_constant_with_a_key_that_needs_quotes_is_refused_where_keys_have_none() -> None:
    def found(value: object) -> object:
        request = tool({"properties": {"p": {"enum": [value]}}})
        return bind_grammar(committed_spec(QUOTED), request)

    assert isinstance(found([{"k": 1}]), BoundGrammar)
    for value in ({"": 1}, [{"a": {"b,c": 2}}]):
        refused = found(value)
        assert isinstance(refused, list)
        assert "cannot be written in this format" in str(refused[0])


@pytest.mark.parametrize("compile_grammar", ENGINES)
@pytest.mark.parametrize("name", [QUOTED, TAGGED, "trl-gemma-4-v3"])
def test_a_call_without_arguments_may_be_the_last(name: str, compile_grammar: Compile) -> None:
    functions = [{"name": "look", "parameters": {"type": "object", "properties": {}}}]
    request = GrammarRequest(functions, tool_choice="required", parallel=True, thinking=False)
    found = bind_grammar(committed_spec(name), request)
    assert isinstance(found, BoundGrammar)
    engine = compile_grammar(found.grammar)
    assert not isinstance(engine, Problem)
    calls = (Call("look", {}, id="abcdefgh1"), Call("look", {}, id="abcdefgh2"))
    given = written_input(committed_spec(name), Message(calls=calls), thinking=False)
    assert given
    assert engine.accepts(given.text)


@pytest.mark.parametrize("compile_grammar", ENGINES)
def test_a_call_that_is_one_regular_expression_leaves_reasoning_alone(
    compile_grammar: Compile,
) -> None:
    functions = [{"name": "look", "parameters": {"properties": {"p": {"type": "boolean"}}}}]
    request = GrammarRequest(functions, tool_choice="required", thinking=True)
    found = bind_grammar(committed_spec(QUOTED), request)
    assert isinstance(found, BoundGrammar)
    engine = compile_grammar(found.grammar)
    assert not isinstance(engine, Problem)
    message = Message(reasoning="So.", calls=(Call("look", {"p": True}, id="abcdefgh1"),))
    given = written_input(committed_spec(QUOTED), message, thinking=True)
    assert given
    assert engine.accepts(given.text)
