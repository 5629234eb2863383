"""Tools that a parser is given: what is none is told at once, and what JSON Schema allows works."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from tests.generated_formats import committed_format
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load

#: One format for each way to read arguments, and one that has no calls.
NAMES = (
    "qwen3-coder",
    "minimax-m3",
    "qwen-qwen3-0-6b",
    "kimi-k2-instruct",
    "lfm2-5-instruct",
    "google-gemma-2-2b-it",
)
FORMATS: dict[str, FormatModule] = {name: load(committed_format(name).spec) for name in NAMES}
CALL = "<tool_call>\n<function=f>\n<parameter=a>\n{}\n</parameter>\n</function>\n</tool_call>"


def tool(parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "parameters": parameters}}


def with_a(schema: Any, **more: Any) -> dict[str, Any]:
    return tool({"type": "object", "properties": {"a": schema}, **more})


def value(text: str, *tools: Any) -> Any:
    """Return what a tagged format makes of an argument's text."""
    message = FORMATS["qwen3-coder"].parse(CALL.format(text), tools=tools)
    (call,) = message.tool_calls
    return json.loads(call.arguments)["a"]


WRONG: dict[str, tuple[Any, str]] = {
    "not a list": ({"type": "function"}, "tools: not a list"),
    "a text": ("f", "tools: not a list"),
    "no object": ([tool({}), "f"], "tools[1]: not an object"),
    "nameless": ([tool({}), {"type": "web_search"}], "tools[1]: no name"),
    "an empty name": ([{"function": {"name": ""}}], "tools[0].function: no name"),
    "a name of another type": ([{"name": 5}], "tools[0]: no name"),
    "a function of another type": ([{"function": "f"}], "tools[0].function: not an object"),
}
#: Schemas that are none, which say nothing.
NO_SCHEMAS: dict[str, Any] = {
    "parameters of another type": tool(["a"]),
    "properties as a list": tool({"properties": ["a"]}),
    "alternatives that are none": with_a({"anyOf": 5}),
    "a schema of another type": with_a({"items": "string"}),
    "constants that are none": with_a({"enum": 5}),
    "behind a reference": with_a(
        {"$ref": "#/$defs/x"}, **{"$defs": {"x": {"oneOf": {"type": "string"}}}}
    ),
}


WITH_CALLS = [name for name in NAMES if committed_format(name).spec.tools]


@pytest.mark.parametrize("name", WITH_CALLS)
@pytest.mark.parametrize("title", WRONG)
def test_wrong_tools_are_told_when_a_parser_is_made(title: str, name: str) -> None:
    tools, told = WRONG[title]
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        FORMATS[name].Parser(tools=tools)


@pytest.mark.parametrize("title", NO_SCHEMAS)
def test_a_schema_that_is_none_says_nothing(title: str) -> None:
    """The types of values are unknown then, as they are where a tool has no parameters."""
    other = NO_SCHEMAS[title]
    for text in ("Paris", "3", "[1]"):
        assert value(text, other) == value(text, {"name": "f"})
    for name in NAMES:
        form = committed_format(name)
        told = form.module.parse(form.write(form.message), tools=[*form.options["tools"], other])
        assert told == form.module.parse(form.write(form.message), **form.options)


@pytest.mark.parametrize("title", WRONG)
def test_a_format_without_calls_has_no_use_for_tools(title: str) -> None:
    tools, _ = WRONG[title]
    assert FORMATS["google-gemma-2-2b-it"].parse("Hello!", tools=tools).content == "Hello!"


ALLOWED: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "empty": {},
    "a member that is true": {"properties": {"a": True}},
    "a member that is empty": {"properties": {"a": {}}},
    "no members": {"properties": {}},
    "other members": {"additionalProperties": True},
    "references that lead nowhere": {"properties": {"a": {"$ref": "https://example.com/s"}}},
    "a circle": {"properties": {"a": {"$ref": "#/properties/a"}}},
    "itself": {"properties": {"a": {"$ref": "#"}}},
    "elements as older schemas have them": {"properties": {"a": {"items": [{}, {}]}}},
}


@pytest.mark.parametrize("title", ALLOWED)
def test_what_json_schema_allows_works(title: str) -> None:
    assert value("Paris", tool(ALLOWED[title])) == "Paris"
    assert value("Paris", {"name": "f"}) == "Paris"
    for form in FORMATS.values():
        form.parse("Hello!", tools=[tool(ALLOWED[title])])


def test_alternatives_and_references_tell_types_to_any_depth() -> None:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(2000):
        schema = {"anyOf": [schema]}
    assert value("3", with_a(schema)) == 3
    chain = {f"s{at}": {"$ref": f"#/$defs/s{at + 1}"} for at in range(99)}
    chain["s99"] = {"type": "integer"}
    assert value("3", with_a({"$ref": "#/$defs/s0"}, **{"$defs": chain})) == 3


def test_a_schema_is_visited_once_however_often_it_is_referred_to() -> None:
    levels = {
        f"s{at}": {"anyOf": [{"$ref": f"#/$defs/s{at + 1}"} for _ in range(40)]} for at in range(8)
    }
    levels["s8"] = {"type": "integer"}  # type: ignore[dict-item]
    tools = [with_a({"$ref": "#/$defs/s0"}, **{"$defs": levels})]
    start = time.process_time()
    assert value("3", *tools) == 3
    assert time.process_time() - start < 1
