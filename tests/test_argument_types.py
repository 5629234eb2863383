"""Which type a tagged argument has: what the tool's schema says, wherever it says it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.generated_formats import committed_format, in_memory

_ADDRESS = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "number": {"$ref": "#/$defs/Number"}},
}
_DEFINITIONS = {
    "Address": _ADDRESS,
    "Number": {"type": "integer"},
    "Unit": {"type": "string", "enum": ["1", "2"]},
    "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"$ref": "#/$defs/Number"}]},
}


def _tools(schema: Any, **more: Any) -> list[dict[str, Any]]:
    parameters = {"type": "object", "properties": {"x": schema}, "$defs": _DEFINITIONS, **more}
    return [{"type": "function", "function": {"name": "f", "parameters": parameters}}]


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"$ref": "#/$defs/Number"}, "5", 5),
        ({"$ref": "#/$defs/Unit"}, "1", "1"),
        ({"$ref": "#/$defs/Address"}, '{"street": "A", "number": 1}', {"street": "A", "number": 1}),
        ({"allOf": [{"$ref": "#/$defs/Number"}], "minimum": 1}, "5", 5),
        ({"anyOf": [{"$ref": "#/$defs/Number"}, {"type": "null"}]}, "null", None),
        ({"$ref": "#/$defs/Loop"}, "5", 5),
        ({"$ref": "#/$defs/Missing"}, "5", "5"),
        ({"enum": [1, 2]}, "1", 1),
        ({"enum": ["1", "2"]}, "1", "1"),
        ({"enum": ["auto", 1]}, "auto", "auto"),
        ({"const": True}, "true", True),
        ({"type": "INTEGER"}, "5", 5),
        ({"type": "integer", "nullable": True}, "null", None),
        ({"type": "string", "nullable": True}, "null", None),
        ({"type": ["any", "List"]}, "[5]", [5]),
        ({"type": "any"}, "5", "5"),
        ({"type": "int64"}, "5", 5),
        ({"type": "Float32"}, "2.5", 2.5),
        ({"type": "double"}, "2.5", 2.5),
        ({"type": "list[str]"}, '["5"]', ["5"]),
        ({"type": "Dict[str, int]"}, '{"street": 5}', {"street": 5}),
        ({"type": ["str", "int8"]}, "5", 5),
        ({"type": "varchar(20)"}, "5", "5"),
        ({"properties": {"street": {}}}, '{"street": "A"}', {"street": "A"}),
        ({"items": {"type": "integer"}}, "[5]", [5]),
        ({"items": {}, "type": "string"}, "[5]", "[5]"),
        ({"type": "integer"}, "5.0", 5.0),
        ({"type": "integer"}, '"5"', 5),
        ({"type": "integer"}, "+5", 5),
        ({"type": "integer"}, "12_000", 12000),
        ({"type": "number"}, "-.5", -0.5),
        ({"type": ["number", "null"]}, ".5", 0.5),
        ({"type": ["integer", "string"]}, "+5", "+5"),
        ({"type": "object"}, r'"{\"street\": \"A\"}"', {"street": "A"}),
        ({"type": ["integer", "string"]}, '"5"', "5"),
        ({"type": "string", "nullable": True}, '"an exact phrase"', '"an exact phrase"'),
        ({"type": ["integer", "string"]}, '"5 miles"', '"5 miles"'),
        ({"type": ["object", "string"]}, '"{}"', "{}"),
    ],
)
def test_types(schema: Any, text: str, value: Any) -> None:
    """References, enumerations, constants and combined schemas say a type too."""
    for name, call in (
        ("qwen3-coder", "<function=f>\n<parameter=x>\n{}\n</parameter>\n</function>\n"),
        ("glm-4-6", "f\n<arg_key>x</arg_key>\n<arg_value>{}</arg_value>\n"),
    ):
        written = f"<tool_call>\n{call.format(text)}</tool_call>"
        message = in_memory(name).parse(written, tools=_tools(schema), prefill="")
        assert json.loads(message.tool_calls[0].arguments) == {"x": value}
        assert not message.problems


class _Counted(dict[str, Any]):
    """A schema that counts how often it is asked for something."""

    asked = 0

    def get(self, key: str, default: Any = None) -> Any:
        type(self).asked += 1
        return super().get(key, default)


def test_a_huge_schema_is_not_read_whole_for_each_argument() -> None:
    """It may be a stranger's, who also has the model write as many arguments as he likes."""
    many = [_Counted() for _ in range(20_000)]
    parameters = {"type": "object", "anyOf": many, "properties": {"x": {"oneOf": many}}}
    arguments = "".join(f"<parameter={key}>\n5\n</parameter>\n" for key in "uvwx")
    written = f"<tool_call>\n<function=f>\n{arguments}</function>\n</tool_call>"
    _Counted.asked = 0
    tools = [{"name": "f", "parameters": parameters}]
    (call,) = in_memory("qwen3-coder").parse(written, tools=tools).tool_calls
    assert len(json.loads(call.arguments)) == 4
    assert 0 < _Counted.asked < 100_000


@pytest.mark.parametrize(
    ("type_", "word", "text", "value", "complete"),
    [
        ("string", "false", "Paris", "Paris", True),
        ("string", "false", "5", 5, True),
        ("string", "true", "5", "5", True),
        ("integer", "false", "many", "many", False),
        ("integer", "true", "5", "5", True),
        ("integer", "false", '"many"', "many", True),
        ("string", "false", '"many"', "many", True),
        ("string", "a b", "", "a b", True),  # the value itself is where the word belongs
        ("integer", "5", "", 5, True),
    ],
)
def test_a_type_word_wins_unless_the_value_is_the_string_that_the_schema_wants(
    type_: str, word: str, text: str, value: Any, complete: bool
) -> None:
    item = f'<｜DSML｜parameter name="x" string="{word}">{text}</｜DSML｜parameter>'
    written = f'<｜DSML｜invoke name="f">\n{item}\n</｜DSML｜invoke>'
    written = f"<｜DSML｜function_calls>\n{written}\n</｜DSML｜function_calls>"
    read = in_memory("deepseek-ai-deepseek-v3-2").parse
    message = read(written, tools=_tools({"type": type_}))
    assert json.loads(message.tool_calls[0].arguments) == {"x": value}
    assert message.tool_calls[0].complete == complete


def test_types_inside_elements() -> None:
    """What is referred to tells the types of members as well."""
    mark = "]<]minimax[>["
    members = "".join(
        f"{mark}<{key}>{text}{mark}</{key}>" for key, text in (("street", "7"), ("number", "7"))
    )
    text = (
        f'{mark}<tool_call>\n{mark}<invoke name="f">{mark}<x>{members}{mark}</x>'
        f"{mark}</invoke>\n{mark}</tool_call>"
    )
    message = committed_format("minimax-m3").module.parse(
        text, tools=_tools({"$ref": "#/$defs/Address"}), prefill=""
    )
    assert json.loads(message.tool_calls[0].arguments) == {"x": {"street": "7", "number": 7}}
    assert not message.problems


def test_types_by_position() -> None:
    """An array's first elements may have schemas of their own."""
    mark = "]<]minimax[>["
    items = "".join(f"{mark}<item>{text}{mark}</item>" for text in ("7", "7", "7"))
    text = (
        f'{mark}<tool_call>\n{mark}<invoke name="f">{mark}<x>{items}{mark}</x>'
        f"{mark}</invoke>\n{mark}</tool_call>"
    )
    firsts = [{"type": "string"}, {"type": "integer"}]
    schema = {"type": "array", "prefixItems": firsts, "items": {"type": "string"}}
    message = committed_format("minimax-m3").module.parse(text, tools=_tools(schema), prefill="")
    assert json.loads(message.tool_calls[0].arguments) == {"x": ["7", 7, "7"]}
    assert not message.problems


@pytest.mark.parametrize(
    ("others", "value", "kinds"),
    [
        (None, "5", ["unknown_argument"]),
        (False, "5", ["unknown_argument"]),
        (True, "5", []),
        ({"type": "integer"}, 5, []),
    ],
)
def test_arguments_that_a_tool_does_not_name(others: Any, value: Any, kinds: list[str]) -> None:
    """They are told unless the schema says of its own accord that there may be others."""
    more = {} if others is None else {"additionalProperties": others}
    text = "<tool_call>\n<function=f>\n<parameter=y>\n5\n</parameter>\n</function>\n</tool_call>"
    message = committed_format("qwen3-coder").module.parse(
        text, tools=_tools({"type": "string"}, **more)
    )
    assert json.loads(message.tool_calls[0].arguments) == {"y": value}
    assert [problem.kind for problem in message.problems] == kinds


@pytest.mark.parametrize(
    "parameters",
    [
        {"$ref": "#/$defs/Own", "$defs": {"Own": {"properties": {"y": {"type": "integer"}}}}},
        {"allOf": [{"properties": {"x": {}}}, {"properties": {"y": {"type": "integer"}}}]},
    ],
)
def test_arguments_of_combined_schemas(parameters: dict[str, Any]) -> None:
    """What a tool takes may stand in what its schema refers to, or is made of."""
    text = "<tool_call>\n<function=f>\n<parameter=y>\n5\n</parameter>\n</function>\n</tool_call>"
    tools = [{"name": "f", "parameters": parameters}]
    message = in_memory("qwen3-coder").parse(text, tools=tools)
    assert json.loads(message.tool_calls[0].arguments) == {"y": 5}
    assert not message.problems
