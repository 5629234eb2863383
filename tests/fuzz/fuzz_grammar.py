"""The fuzzer's bytes are a request for a grammar: it is refused in words, or GBNF comes of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.fuzzing import Choices, Target
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest, ToolChoice
from turnspec.spec.files import read_spec
from turnspec.spec.model import Spec
from turnspec.verification.gbnf_reader import Grammar, read_grammar

ROOT = Path(__file__).parent.parent.parent
#: One of each kind in which arguments are written, and one without calls.
NAMES = (
    *("qwen-qwen3-0-6b", "qwen3-coder", "minimax-m3", "google-gemma-4-31b-it", "kimi-k3"),
    *("openai-gpt-oss-120b", "glm-4-6", "google-gemma-2-2b-it"),
)
_TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNTS = (
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    *("minContains", "maxContains"),
)
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_INNER = ("items", "additionalProperties", "not", "contains", "if", "then", "propertyNames")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_WORDS = (
    *("pattern", "format", "description", "title", "$schema", "$id", "$anchor", "default"),
    *("uniqueItems", "required", "examples", "deprecated", "unevaluatedProperties"),
)
_PATTERNS = (
    *(
        "^a+$",
        "[a-z]{2,5}",
        "(a|b)*",
        "^\\d{4}-\\d{2}$",
        ".",
        "\\w",
        "[^\\x00-\\x1f]",
        "(?:",
        "[",
        "a{9}",
    ),
    *(
        "(?=a)",
        "\\1",
        "a{2,1}",
        "^$",
        "\\p{L}",
        "(((a)))",
        "[\\]]",
        "a|",
        "x{100000}",
        "(a{50}){50}",
    ),
)
_FORMATS = ("date", "time", "date-time", "uuid", "email", "ipv4", "ipv6", "uri", "duration", "x")
_PATHS = ("#", "#/$defs/a", "#/definitions/a", "#/properties/a", "#/none", "other.json", "#/$defs/")


def _schema(choices: Choices, depth: int = 4) -> Any:
    """Return a schema, or sometimes what is none."""
    if not choices.number(12):
        return choices.value(1)
    schema: dict[str, Any] = {}
    if choices.flag():
        kinds = [choices.one_of(_TYPES) for _ in range(1 + choices.number(1))]
        schema["type"] = kinds[0] if len(kinds) == 1 else kinds
    for _ in range(choices.number(3)):
        key, value = _keyword(choices, depth)
        schema[key] = value
    return schema


def _keyword(choices: Choices, depth: int) -> tuple[str, Any]:
    kind = choices.number(9 if depth else 4)
    if kind == 0:
        return choices.one_of((*_NUMBERS, *_COUNTS)), choices.value(0)
    if kind == 1:
        return choices.one_of(_COUNTS), choices.number(3000)
    if kind == 2:
        return choices.one_of(("pattern", "enum", "const")), choices.value(2)
    if kind == 3:
        words = {"pattern": _PATTERNS, "format": _FORMATS, "$ref": _PATHS, "type": _TYPES}
        key = choices.one_of(tuple(words))
        return key, choices.one_of(words[key])
    if kind == 4:
        return choices.one_of(_WORDS), choices.value(1)
    if kind == 5:
        return choices.one_of(_INNER), _schema(choices, depth - 1)
    if kind == 6:
        many = range(1 + choices.number(3))
        return choices.one_of(_LISTS), [_schema(choices, depth - 1) for _ in many]
    if kind == 7:
        return "enum", [choices.value(1) for _ in range(1 + choices.number(3))]
    if kind == 8:
        return "required", [choices.one_of(("a", "b", choices.text(2)))]
    names = ("a", "b", choices.text(2))[: 1 + choices.number(2)]
    return choices.one_of(_NAMED), {name: _schema(choices, depth - 1) for name in names}


def _tool(choices: Choices) -> Any:
    if not choices.number(9):
        return choices.value(2)
    name = choices.one_of(("get", "f", "a.b:c", "x" * 70, choices.text(2)))
    function: dict[str, Any] = {"name": name}
    if choices.number(5):
        function["parameters"] = _schema(choices)
    return {"type": "function", "function": function} if choices.flag() else function


@cache
def _spec(name: str) -> Spec:
    spec = read_spec(ROOT / "specs" / f"{name}.yaml")
    assert isinstance(spec, Spec), spec
    return spec


def attempt(data: bytes) -> tuple[str, GrammarRequest]:
    """Return what the fuzzer's bytes stand for: a format, and what is asked of it."""
    choices = Choices(data)
    name = choices.one_of(NAMES)
    tools = [_tool(choices) for _ in range(choices.number(3))]
    request = GrammarRequest(
        tools=tools,
        tool_choice=choices.one_of((*ToolChoice, *ToolChoice, "get", choices.text(2))),
        parallel=choices.flag(),
        thinking=choices.flag(),
        response_schema=_schema(choices) if not choices.number(2) else None,
    )
    return name, request


def check(asked: tuple[str, GrammarRequest]) -> None:
    """Bind a grammar, and read it."""
    name, request = asked
    found = bind_grammar(_spec(name), request)
    if not isinstance(found, BoundGrammar):
        assert found
        assert all(problem.message for problem in found), found
        return
    grammar = read_grammar(found.grammar)
    assert isinstance(grammar, Grammar), grammar
    assert all(notice.message for notice in found.notices)


TARGET = Target(attempt, check, longest=400)
