"""Arrays and objects as elements within elements: read back, and where a model deviates."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest

from tests import parser_formats as formats
from tests.generated_formats import committed_format
from tests.grammar_engines.engine_llguidance import LlguidanceGrammar, compile_grammar
from tests.parser_checks import assert_any_chunking, assert_any_truncation, stream
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.codegen.writer import write_calls, write_turn
from turnspec.grammar.turn import generate_grammar
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec

FORMATS = {
    spec.name: spec
    for spec in (
        formats.NESTED_FIELDS,
        formats.NESTED_PREFIXED,
        formats.NESTED_PLAIN,
        formats.NESTED_LINES,
        formats.NESTED_TYPED,
    )
}

VALUES: dict[str, object] = {
    "strings": ["a", "", "7", "true"],
    "numbers": [1, -2.5],
    "words": [True, False, None],
    "members": {"a": 1, "b": "two", "c": False},
    "the same key inside": {"v": {"v": {"v": "x"}}},
    "arrays in arrays": [[[1], [2, 3]], [[4]]],
    "objects in arrays": [{"id": 1, "tags": ["x", "y"]}, {"id": 2}],
    "an element's name as a key": {"item": "a", "li": "b", "entry": "c"},
    "nothing": {"a": [], "b": {}, "c": [[]], "d": [{}]},
    "empty array": [],
    "empty object": {},
    "awkward text": {"a": 'quotes " and \\ and a < b & more\n\n line', "b": ["é 🎉", " x "]},
}


@functools.cache
def module_of(name: str) -> FormatModule:
    return load(FORMATS[name])


def written(spec: Spec, *calls: Call) -> str:
    assert spec.tools is not None
    return write_calls(spec.tools, calls)


def call_of(**arguments: object) -> Call:
    return Call("run", arguments, "")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("value", VALUES)
def test_a_value_comes_back(name: str, value: str) -> None:
    call = call_of(before="b", v=VALUES[value], after=[3])
    options: dict[str, Any] = {"tools": tool_definitions([call])}
    message = assert_any_chunking(module_of(name), written(FORMATS[name], call, call), **options)
    assert [json.loads(found.arguments) for found in message.tool_calls] == [call.arguments] * 2
    assert message.problems == []
    assert all(found.complete for found in message.tool_calls)


def test_text_may_look_like_elements_that_are_plain() -> None:
    call = call_of(v={"a": "<b>bold</b> and <a>", "b": ["<li>x"]})
    text = written(formats.NESTED_PLAIN, call)
    message = assert_any_chunking(module_of("nested-plain"), text, tools=tool_definitions([call]))
    assert json.loads(message.tool_calls[0].arguments) == call.arguments
    assert message.problems == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_value_that_breaks_off_is_closed(name: str) -> None:
    call = call_of(v={"list": [{"a": "text"}, {"a": "x", "n": 12}], "t": ["y"]}, w=[[1]])
    options: dict[str, Any] = {"tools": tool_definitions([call])}
    text = written(FORMATS[name], call)
    assert_any_truncation(module_of(name), text, (), **options)
    cut = text[: text.index("2") + 1]
    message = module_of(name).parse(cut, **options)
    (found,) = message.tool_calls
    assert json.loads(found.arguments) == {"v": {"list": [{"a": "text"}, {"a": "x", "n": 12}]}}
    assert not found.complete
    assert [problem.kind for problem in message.problems] == ["cut_off"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_string_inside_comes_out_as_it_arrives(name: str) -> None:
    call = call_of(v=[{"a": "word " * 50}])
    text = written(FORMATS[name], call)
    parser = module_of(name).Parser(tools=tool_definitions([call]))
    parser.feed(text[: text.index("word") + 5])
    for _ in range(40):
        assert "".join(event.arguments for event in parser.feed("word ")) == "word "


WITHOUT_SCHEMA = {
    "nested-fields": {"v": {"a": "1", "b": ["true", "x"]}},
    "nested-prefixed": {"v": {"a": "1", "b": ["true", "x"]}},
    "nested-plain": {"v": "<a>1</a>;\n<b><li>true</li>;\n<li>x</li></b>"},
    "nested-typed": {"v": {"a": "1", "b": "<=>true</=><=>x</=>"}},
    "nested-lines": {
        "v": "<its a>\n1\n</its>\n<its b>\n<one>\ntrue\n</one>\n<one>\nx\n</one>\n\n</its>\n"
    },
}


@pytest.mark.parametrize("name", FORMATS)
def test_without_a_schema_the_text_tells_what_can_be_nothing_else(name: str) -> None:
    text = written(FORMATS[name], call_of(v={"a": 1, "b": [True, "x"]}))
    message = assert_any_chunking(module_of(name), text)
    assert json.loads(message.tool_calls[0].arguments) == WITHOUT_SCHEMA[name]
    assert message.problems == []


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "nested-typed"])
def test_a_string_by_its_schema_is_no_element(name: str) -> None:
    nested = call_of(v={"a": "x", "b": ["y"]}, w="z")
    text = written(FORMATS[name], nested)
    tools = tool_definitions([call_of(v="", w="")])
    found = json.loads(
        assert_any_chunking(module_of(name), text, tools=tools).tool_calls[0].arguments
    )
    assert isinstance(found["v"], str)
    assert found["w"] == "z"


def schema_tools(**properties: Any) -> list[dict[str, Any]]:
    parameters = {"type": "object", "properties": properties}
    return [{"type": "function", "function": {"name": "run", "parameters": parameters}}]


TOOLS = schema_tools(
    docs={
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"id": {"type": "integer"}, "title": {"type": "string"}},
        },
    },
    counts={"type": "object", "additionalProperties": {"type": "integer"}},
    either={"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "object"}]},
    maybe={"oneOf": [{"type": "null"}, {"type": "array", "items": {"type": "boolean"}}]},
    city={"type": "string"},
)

FIELDS = "nested-fields"
PREFIXED = "nested-prefixed"


def prefixed(text: str) -> str:
    """Return arguments with what stands before every tag inside of a call."""
    return text.replace("<", "@{x}@<").removeprefix("@{x}@") + "@{x}@"


#: A format, arguments as a model writes them, what is read, and the kinds of problems.
READ: dict[str, tuple[str, str, object, list[str]]] = {
    "white space": (
        FIELDS,
        '<given name="docs">\n  <entry>\n <field of="id">1</field>\n\n</entry> </given>',
        {"docs": [{"id": 1}]},
        [],
    ),
    "white space after a prefix": (
        PREFIXED,
        prefixed("<docs>\n<item>\n <id>1</id>\n</item>\n</docs>"),
        {"docs": [{"id": 1}]},
        [],
    ),
    "other members by their own schema": (
        PREFIXED,
        prefixed("<counts><a>1</a><b>2</b></counts>"),
        {"counts": {"a": 1, "b": 2}},
        [],
    ),
    "either an array": (
        PREFIXED,
        prefixed("<either><item>1.5</item></either>"),
        {"either": [1.5]},
        [],
    ),
    "or an object": (PREFIXED, prefixed("<either><a>1</a></either>"), {"either": {"a": "1"}}, []),
    "nothing, of two kinds": (
        PREFIXED,
        prefixed("<either></either>"),
        {"either": ""},
        ["wrong_type"],
    ),
    "one kind beside null": (
        FIELDS,
        '<given name="maybe"><entry>true</entry></given>\n<given name="maybe"></given>',
        {"maybe": []},
        ["repeated_argument"],
    ),
    "JSON instead": (FIELDS, '<given name="docs">[{"id": 1}]</given>', {"docs": [{"id": 1}]}, []),
    "JSON inside": (
        FIELDS,
        '<given name="docs"><entry>{"id": 1}</entry></given>',
        {"docs": [{"id": 1}]},
        [],
    ),
    "text instead": (
        FIELDS,
        '<given name="docs">none</given>',
        {"docs": "none"},
        ["wrong_type"],
    ),
    "text instead, inside": (
        FIELDS,
        '<given name="docs"><entry>none</entry></given>',
        {"docs": ["none"]},
        ["wrong_type"],
    ),
    "unknown key": (
        FIELDS,
        '<given name="docs"><entry><field of="odd">1</field></entry></given>',
        {"docs": [{"odd": "1"}]},
        ["unknown_argument"],
    ),
    "a key in an array": (
        PREFIXED,
        prefixed("<docs><doc><id>1</id></doc></docs>"),
        {"docs": [{"id": 1}]},
        ["malformed"],
    ),
    "an object instead of an array": (
        FIELDS,
        '<given name="docs"><field of="id">1</field></given>',
        {"docs": {"id": "1"}},
        ["wrong_type"],
    ),
    "a text not closed before the next": (
        FIELDS,
        '<given name="docs"><entry><field of="id">1<field of="title">x</field></entry></given>',
        {"docs": [{"id": 1, "title": "x"}]},
        ["missing_marker"],
    ),
    "a text not closed before what is around it": (
        FIELDS,
        '<given name="docs"><entry><field of="title">x</entry></given>',
        {"docs": [{"title": "x"}]},
        ["missing_marker"],
    ),
    "an element not closed before the next": (
        PREFIXED,
        prefixed("<docs><item><id>1</id><item><id>2</id></item></docs>"),
        {"docs": [{"id": 1}, {"id": 2}]},
        ["missing_marker"],
    ),
    "an element not closed before the value's end": (
        PREFIXED,
        prefixed("<docs><item><id>1</id></docs><city>Rome</city>"),
        {"docs": [{"id": 1}], "city": "Rome"},
        ["missing_marker"],
    ),
    "an element not closed before a tag of another kind": (
        FIELDS,
        '<given name="docs"><entry>{}</entry><entry></given>\n<given name="city">Oslo</given>',
        {"docs": [{}, {}], "city": "Oslo"},
        ["missing_marker"],
    ),
    "a value not closed before the next": (
        FIELDS,
        '<given name="docs"><entry>{}</entry>\n<given name="city">Rome</given>',
        {"docs": [{}], "city": "Rome"},
        ["missing_marker"],
    ),
    "a value not closed before one that begins alike": (
        PREFIXED,
        prefixed("<docs><item>{}</item><city>Rome</city>"),
        {"docs": [{}], "city": "Rome"},
        ["missing_marker"],
    ),
    "a value not closed before the call's end": (
        PREFIXED,
        prefixed("<docs><item><id>1</id></item>"),
        {"docs": [{"id": 1}]},
        ["missing_marker"],
    ),
    "the wrong order of closing tags": (
        PREFIXED,
        prefixed("<docs><item><title>x</item></title></docs>"),
        {"docs": [{"title": "x"}]},
        ["missing_marker", "stray_marker"],
    ),
    "the wrong order of closing tags without keys": (
        FIELDS,
        '<given name="docs"><entry><field of="title">x</entry></field></given>',
        {"docs": [{"title": "x"}]},
        ["missing_marker", "stray_marker"],
    ),
    "a closing tag in a text": (
        FIELDS,
        '<given name="docs"><entry><field of="title">a </field> b</field></entry></given>',
        {"docs": [{"title": "a </field> b"}]},
        ["inner_marker"],
    ),
    "an opening tag in a text": (
        FIELDS,
        '<given name="docs"><entry><field of="title">a <field of="x"> b</field></entry></given>',
        {"docs": [{"title": 'a <field of="x"> b'}]},
        ["inner_marker"],
    ),
}


@pytest.mark.parametrize("case", READ)
def test_what_deviates_is_read_and_told(case: str) -> None:
    name, arguments, wanted, told = READ[case]
    before, after = written(FORMATS[name], call_of()).split("</call>")
    text = f"{before}{arguments}</call>{after}<|stop|>"
    message = assert_any_chunking(module_of(name), text, tools=TOOLS)
    assert json.loads(message.tool_calls[0].arguments) == wanted
    assert [problem.kind for problem in message.problems] == told
    assert message.tool_calls[0].complete
    assert_any_truncation(module_of(name), text, tools=TOOLS)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nested-fields", '<given name="docs"><entry>x</entyr></given>'),
        ("nested-fields", '<given name="docs"><entry><field of="title">a</feild></entry></given>'),
        ("nested-fields", '<given name="docs"><entry><field of="title">a</field>b</field></entry>'),
        ("nested-fields", '<given name="maybe"><entry>true</entry</given>'),
    ],
)
def test_a_mark_of_an_element_that_is_misspelt_makes_a_call_incomplete(
    name: str, arguments: str
) -> None:
    text = f'<call name="run">{arguments}</call><|stop|>'
    message = assert_any_chunking(module_of(name), text, tools=TOOLS)
    assert [call.complete for call in message.tool_calls] == [False], message
    assert message.problems


def test_a_closing_mark_without_its_special_token_makes_a_call_incomplete() -> None:
    form = committed_format("minimax-m3")
    city, token = {"city": {"type": "string"}}, "]<]minimax[>["
    tools = [{"name": "look", "parameters": {"type": "object", "properties": city}}]
    text = form.write(Message(calls=(Call("look", {"city": "Bern"}),)))
    for closing, is_complete in (("", False), (token, True)):
        damaged = text.replace(f"{token}</city>", f"{closing}</city>")
        (call,) = load(form.spec).parse(damaged, tools=tools).tool_calls
        assert call.complete == is_complete, call


def test_text_between_elements_is_told_and_makes_a_call_incomplete() -> None:
    value = "<entry>{}</entry>, and <entry>{}</entry>"
    text = f'<call name="run"><given name="docs">{value}</given></call>'
    message = assert_any_chunking(module_of(FIELDS), text, tools=TOOLS)
    (call,) = message.tool_calls
    assert (json.loads(call.arguments), call.complete) == ({"docs": [{}, {}]}, False)
    assert [(problem.kind, problem.message) for problem in message.problems] == [
        ("unexpected_text", "between elements: , and")
    ]


DEPTH = 3_000  # far beyond what Python's calls may be nested, and what parsers take


@pytest.mark.parametrize(
    "text",
    [
        "<docs>" + "<item>" * DEPTH,
        "<docs>" + "<a>" * DEPTH + "</b>" * DEPTH + "</docs>",
        "<docs>" + "<a>" * DEPTH + "x" + "</a>" * DEPTH + "</docs>",
        "<docs>" + "<a><b>" * DEPTH + "</a>" * DEPTH,
    ],
    ids=["never closed", "closed by others", "closed", "half closed"],
)
def test_hostile_depth(text: str) -> None:
    begin, _ = written(FORMATS[PREFIXED], call_of()).split("</call>")
    whole = begin + prefixed(text) + "</call><|stop|>"
    message, _ = stream(
        module_of(PREFIXED), [whole[at : at + 999] for at in range(0, len(whole), 999)]
    )
    assert message == module_of(PREFIXED).parse(whole)
    arguments = message.tool_calls[0].arguments
    assert arguments.count("[") == arguments.count("]")
    assert arguments.count("{") == arguments.count("}") > 0


@functools.cache
def grammar_of(name: str) -> LlguidanceGrammar:
    compiled = compile_grammar(generate_grammar(FORMATS[name], spec_path="", spec_hash=""))
    assert isinstance(compiled, LlguidanceGrammar), compiled
    return compiled


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("value", VALUES)
def test_the_grammar_accepts_a_value(name: str, value: str) -> None:
    spec = FORMATS[name]
    message = Message(calls=(call_of(before="b", v=VALUES[value], after=[3]),))
    assert grammar_of(name).accepts(write_turn(spec, message).removeprefix(spec.turn.header))


@pytest.mark.parametrize("name", FORMATS)
def test_the_grammar_refuses_elements_that_are_not_closed(name: str) -> None:
    spec = FORMATS[name]
    turn = write_turn(spec, Message(calls=(call_of(v=[{"a": "x"}]),)))
    inner = {
        FIELDS: "</entry>",
        PREFIXED: "@{x}@</item>",
        "nested-plain": "</li>",
        "nested-lines": "</one>",
        "nested-typed": "</=>",
    }[name]
    assert inner in turn
    assert not grammar_of(name).accepts(turn.replace(inner, "").removeprefix(spec.turn.header))
