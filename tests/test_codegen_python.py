"""The generated parser modules, executed: formats, chunkings, truncation, prefill."""

from __future__ import annotations

import ast
import functools
import json
import warnings
from typing import Any

import black
import pytest

from tests import parser_formats as formats
from tests.parser_checks import (
    added_up,
    assert_any_chunking,
    assert_any_truncation,
    some,
    stream,
    summary,
)
from tests.specs_for_tests import channels_spec
from turnspec.codegen.compiled import BEGINS_COMMON
from turnspec.codegen.facts import facts_of
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load, load_module
from turnspec.codegen.module import generate_module
from turnspec.codegen.typescript import Script, script_text
from turnspec.spec.model import End, Spec
from turnspec.spec.words import Part, ReasoningMode

ARGUMENTS = {"text": 'a "b" \\ </x> é\n', "count": 7}
OBJECT = json.dumps(ARGUMENTS, ensure_ascii=False)
TEXT = 'a "b" \\ </x> é\n'

#: A turn with reasoning, content and two calls `run(ARGUMENTS)` and `stop()` in each format.
TURNS: dict[str, tuple[Spec, str]] = {
    "json-tags": (
        formats.HERMES,
        "<think>\nhm\n</think>\n\nHi!\n"
        '<tool_call>\n{"name": "run", "arguments": ⟨OBJECT⟩}\n</tool_call>\n'
        '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call><|stop|>\n',
    ),
    "json-array": (
        formats.ARRAY,
        "<think>\nhm\n</think>\n\nHi!"
        '[CALLS][{"name": "run", "arguments": ⟨OBJECT⟩, "id": "one"}, '
        '{"name": "stop", "arguments": {}, "id": "two"}]<|stop|>',
    ),
    "name-is-key": (
        formats.NAME_IS_KEY,
        '<think>hm</think>Hi!<|tools|>[{"run": ⟨OBJECT⟩}, {"stop": {}}]<|/tools|><|stop|>',
    ),
    "brackets": (
        formats.BRACKETS,
        "<think>hm</think>Hi![CALL]run[ID]one[ARGS]⟨OBJECT⟩[CALL]stop[ID]two[ARGS]{}<|stop|>",
    ),
    "indexed": (
        formats.INDEXED,
        "<think>hm</think>Hi!<|calls|><|call|>functions.run:0<|args|>⟨OBJECT⟩<|/call|>"
        "<|call|>functions.stop:1<|args|>{}<|/call|><|/calls|><|stop|>",
    ),
    "xml": (
        formats.XML,
        "hm\n</think>\n\nHi!\n\n<tool_call>\n<function=run>\n<parameter=text>\n⟨TEXT⟩\n</parameter>\n"
        "<parameter=count>\n7\n</parameter>\n</function>\n</tool_call>\n"
        "<tool_call>\n<function=stop>\n</function>\n</tool_call><|stop|>\n",
    ),
    "key-value": (
        formats.KEY_VALUE,
        "<think>hm</think>Hi!<tool_call>run\n<arg_key>text</arg_key>\n<arg_value>⟨TEXT⟩</arg_value>\n"
        "<arg_key>count</arg_key>\n<arg_value>7</arg_value>\n</tool_call>"
        "<tool_call>stop\n</tool_call>",
    ),
    "typed": (
        formats.TYPED,
        'hm</think>Hi!\n\n<|calls>\n<|invoke name="run">\n'
        '<|parameter name="text" string="true">⟨TEXT⟩</|parameter>\n'
        '<|parameter name="count" string="false">7</|parameter>\n</|invoke>\n'
        '<|invoke name="stop">\n</|invoke>\n</|calls><|stop|>',
    ),
    "python": (
        formats.PYTHON,
        "<think>hm</think>Hi!<|calls|>[run(text=⟨PYTHON⟩, count=7), stop()]<|/calls|><|stop|>",
    ),
    "quoted": (
        formats.QUOTED,
        '<think>hm</think><|call>call:run{text:<|"|>⟨TEXT⟩<|"|>,count:7}<call|>'
        "<|call>call:stop{}<call|>Hi!<|stop|>",
    ),
    "guarded": (
        formats.GUARDED,
        '<think>hm</think>Hi!<call name="run"><value of="text"><{{⟨TEXT⟩}}></value>'
        '<value of="count">7</value></call>\n<call name="stop"></call><|stop|>',
    ),
    "elements": (
        formats.ELEMENTS,
        '<think>hm</think>Hi!<call name="run"><text>⟨TEXT⟩</text><count>7</count></call>\n'
        '<call name="stop"></call><|stop|>',
    ),
    "closed": (
        formats.CLOSED,
        "<think>hm</think>Hi!<call><name>run</name><text|⟨JSON⟩><count|7></call>\n"
        "<call><name>stop</name></call><|stop|>",
    ),
    "unescaped": (
        formats.UNESCAPED,
        "<think>hm</think>Hi!<|calls|>[run(text='⟨TEXT⟩', count=7), stop()]<|/calls|><|stop|>",
    ),
    "name-last": (
        formats.NAME_LAST,
        "<think>hm</think>Hi!<with> ⟨OBJECT⟩ <do> run <id> one <ok>\n"
        "<with> {} <do> stop <id> two <ok><|stop|>",
    ),
    "numbered": (
        formats.NUMBERED,
        "<think>hm</think>Hi!-- calls --\n1) run <- ⟨OBJECT⟩\n2) stop <- {}\n<|stop|>",
    ),
    "channels": (
        channels_spec(),
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi!"
        "<|end|><|start|>assistant to=functions.run<|channel|>commentary json<|message|>⟨OBJECT⟩"
        "<|end|><|start|>assistant to=functions.stop<|channel|>commentary json<|message|>{}"
        "<|call|>",
    ),
}
TOOLS = [formats.RUN, {"name": "stop"}]


@functools.cache
def module_and_turn(name: str) -> tuple[FormatModule, str]:
    spec, text = TURNS[name]
    written = {"OBJECT": OBJECT, "TEXT": TEXT, "JSON": json.dumps(TEXT), "PYTHON": repr(TEXT)}
    for placeholder, value in written.items():
        text = text.replace(f"⟨{placeholder}⟩", value)
    return load(spec), text


def parts(message: Any) -> tuple[Any, ...]:
    return message.content, message.reasoning_content, message.tool_calls


@pytest.mark.parametrize("name", TURNS)
def test_turn_in_any_chunking(name: str) -> None:
    module, text = module_and_turn(name)
    message = assert_any_chunking(module, text, tools=TOOLS)
    assert (message.content, message.reasoning_content) == ("Hi!", "hm")
    found = [(call.name, json.loads(call.arguments), call.complete) for call in message.tool_calls]
    assert found == [("run", ARGUMENTS, True), ("stop", {}, True)]
    assert message.problems == []


@pytest.mark.parametrize("name", TURNS)
def test_turn_cut_off_anywhere(name: str) -> None:
    module, text = module_and_turn(name)
    markers = [literal for literal in ("<|stop|>", "<think>", "</think>") if literal in text]
    assert_any_truncation(module, text, markers, tools=TOOLS)


@pytest.mark.parametrize("name", TURNS)
def test_any_beginning_of_the_turn_as_prefill(name: str) -> None:
    module, text = module_and_turn(name)
    whole = module.parse(text, tools=TOOLS)
    for at in some(range(len(text))):
        prefill = module.FORMAT["prompt"] + text[:at]
        options = {"tools": TOOLS, "prefill": prefill}
        echoed, events = stream(module, text[at:], echo=True, **options)
        assert parts(echoed) == parts(whole), prefill
        assert added_up(events) == summary(whole), prefill
        continued, events = stream(module, text[at:], **options)
        assert whole.content.endswith(continued.content), prefill
        assert whole.reasoning_content.endswith(continued.reasoning_content), prefill
        names = [call.name for call in continued.tool_calls]
        assert names == ["run", "stop"][2 - len(names) :], prefill
        assert added_up(events) == summary(continued), prefill


@pytest.mark.parametrize("name", TURNS)
def test_inline_reasoning_keeps_its_markers(name: str) -> None:
    module, text = module_and_turn(name)
    message = assert_any_chunking(module, text, tools=TOOLS, reasoning="inline")
    assert message.reasoning_content == ""
    assert message.content.replace("\n", "").endswith("Hi!")
    end = "<|end|>" if name == "channels" else "</think>"
    assert f"hm{end}" in message.content.replace("\n", "")
    assert [call.name for call in message.tool_calls] == ["run", "stop"]


@pytest.mark.parametrize("name", TURNS)
def test_text_without_markers_is_content_to_the_character(name: str) -> None:
    module, _ = module_and_turn(name)
    text = "a < b\n\n  [1] {x} `</`  <tool_cal"
    prefill = module.FORMAT["prompt"].removesuffix("<think>\n").removesuffix("<think>") + "</think>"
    options = {} if name != "typed" else {"prefill": prefill}
    if name == "xml":
        options = {"prefill": ""}
    message = assert_any_chunking(module, text, **options)
    assert parts(message) == (text, "", [])
    assert message.problems == []


def test_prompts_decide_whether_reasoning_is_open() -> None:
    module, _ = module_and_turn("xml")
    assert module.parse("hm</think>Hi").reasoning_content == "hm"
    assert module.parse("Hi", enable_thinking=False).content == "Hi"
    assert module.parse("hm", prefill="<think>").reasoning_content == "hm"
    assert module.parse("<think>hm</think>Hi", prefill="").reasoning_content == "hm"
    inline = module.parse("hm\n</think>\n\nHi", reasoning="inline")
    assert inline.content == "<think>hm\n</think>\n\nHi"
    # A prompt that has closed its reasoning has shown none.
    assert module.parse("Hi", enable_thinking=False, reasoning="inline").content == "Hi"


#: What models write instead of what the template shows: format, text, and what comes out of it
#: (content, reasoning, the calls' names and arguments) with the problems' kinds.
DEVIATIONS: dict[str, tuple[str, str, str, str, list[tuple[str, Any]], list[str]]] = {
    "white space": (
        "json-tags",
        "  <think>\r\n hm </think>Hi <tool_call>"
        '{\n  "name" : "run",\n  "arguments":\n{ } }</tool_call>',
        "Hi",
        "hm",
        [("run", {})],
        [],
    ),
    "arguments before the name": (
        "json-tags",
        '<tool_call>{"arguments": {"count": 7}, "name": "run"}</tool_call>',
        "",
        "",
        [("run", {"count": 7})],
        ["order"],
    ),
    "wrapper, and arguments as a string": (
        "json-tags",
        '<tool_call>{"type": "function", "function": {"name": "run", '
        '"arguments": "{\\"count\\": 7}"}}</tool_call>',
        "",
        "",
        [("run", {"count": 7})],
        ["wrapper", "string_arguments"],
    ),
    "extra field, null arguments": (
        "json-tags",
        '<tool_call>{"name": "run", "why": [1, {"x": "}"}], "arguments": null}</tool_call>',
        "",
        "",
        [("run", {})],
        ["extra_field", "no_arguments"],
    ),
    "missing arguments": (
        "json-tags",
        '<tool_call>{"name": "run"}</tool_call>',
        "",
        "",
        [("run", {})],
        ["no_arguments"],
    ),
    "an array where the template has one call": (
        "json-tags",
        '<tool_call>[{"name": "run", "arguments": {}}, '
        '{"name": "stop", "arguments": {}}]</tool_call>',
        "",
        "",
        [("run", {}), ("stop", {})],
        ["array"],
    ),
    "one call where the template has an array": (
        "json-array",
        '[CALLS]{"name": "run", "arguments": {}, "id": "x"}',
        "",
        "",
        [("run", {})],
        ["array"],
    ),
    "text between and after calls": (
        "json-tags",
        'A<tool_call>{"name": "run", "arguments": {}}</tool_call> B '
        '<tool_call>{"name": "stop", "arguments": {}}</tool_call>C',
        "A B C",
        "",
        [("run", {}), ("stop", {})],
        ["misplaced", "misplaced"],
    ),
    "a marker that no call follows": (
        "json-tags",
        "Use <tool_call> and {braces}, or <tool_call>{1}.",
        "Use <tool_call> and {braces}, or <tool_call>{1}.",
        "",
        [],
        ["no_name"],
    ),
    "an object that is not a call": (
        "json-tags",
        '<tool_call>{"a": 1}',
        '<tool_call>{"a": 1}',
        "",
        [],
        ["no_name"],
    ),
    "an unknown name": (
        "json-tags",
        '<tool_call>{"name": "fly", "arguments": {}}</tool_call>',
        "",
        "",
        [("fly", {})],
        ["unknown_tool"],
    ),
    "a JSON answer": (
        "bare-json",
        '{"name": "Bob", "age": 7}',
        '{"name": "Bob", "age": 7}',
        "",
        [],
        [],
    ),
    "a bare call": (
        "bare-json",
        ' {"name": "run", "parameters": {"count": 7}}',
        "",
        "",
        [("run", {"count": 7})],
        [],
    ),
    "markers inside a string": (
        "json-tags",
        '<tool_call>{"name": "run", "arguments": '
        '{"text": "}]</tool_call><|stop|>\\"{"}}</tool_call>',
        "",
        "",
        [("run", {"text": '}]</tool_call><|stop|>"{'})],
        [],
    ),
    "an object that is not closed": (
        "json-tags",
        '<tool_call>{"name": "run", "arguments": {"list": [1, 2</tool_call>Hi',
        "Hi",
        "",
        [("run", {"list": [1, 2]})],
        ["malformed", "malformed", "misplaced"],
    ),
    "reasoning opened twice, and several blocks": (
        "json-tags",
        "<think>a<think>b</think>A<think> </think>B<think>c</think>C",
        "ABC",
        "ab c",
        [],
        ["repeated", "misplaced", "misplaced"],
    ),
    "reasoning closed without opening": ("json-tags", "A</think>B", "AB", "", [], ["stray_marker"]),
    "reasoning never closed": ("json-tags", "<think>a<|stop|>", "", "a", [], ["unclosed"]),
    "a call inside the reasoning": (
        "json-tags",
        '<think>a<tool_call>{"name": "run", "arguments": {}}</tool_call>',
        "",
        "a",
        [("run", {})],
        ["unclosed"],
    ),
    "text after the end": ("json-tags", "A<|stop|>\nB", "A", "", [], ["text_after_end"]),
    "no opening tag around a function": (
        "xml",
        "</think><function=run>\n<parameter=count>7</parameter></function>",
        "",
        "",
        [("run", {"count": 7})],
        ["missing_marker"],
    ),
    "values that are not of their type": (
        "xml",
        "</think><tool_call><function=run><parameter=count>1,0</parameter>"
        "<parameter=flag>True</parameter><parameter=text>7</parameter></function></tool_call>",
        "",
        "",
        [("run", {"count": "1,0", "flag": True, "text": "7"})],
        ["wrong_type"],
    ),
    "unknown and repeated arguments, text between": (
        "xml",
        "</think><tool_call><function=run>hm<parameter=x>1</parameter>"
        "<parameter=x>2</parameter></function></tool_call>",
        "",
        "",
        [("run", {"x": "2"})],
        ["unexpected_text", "unknown_argument", "unknown_argument", "repeated_argument"],
    ),
    "an argument that is not closed": (
        "xml",
        "</think><tool_call><function=run><parameter=text>\na\n</function></tool_call>",
        "",
        "",
        [("run", {"text": "a"})],
        ["missing_marker"],
    ),
    "section markers missing": (
        "indexed",
        "<|call|>functions.run:41<|args|>{}<|/call|>",
        "",
        "",
        [("run", {})],
        ["missing_marker"],
    ),
    "no arguments, and a string": (
        "indexed",
        "<|calls|><|call|>functions.run:0<|args|><|/call|>"
        '<|call|>functions.run:0<|args|>"{}"<|/call|><|/calls|>',
        "",
        "",
        [("run", {}), ("run", {})],
        ["no_arguments", "string_arguments"],
    ),
    "Python's words and strings": (
        "python",
        "<|calls|>[run(text=\"it's \\x41\", list=[True, None, {'a': 'b'}])]<|/calls|>",
        "",
        "",
        [("run", {"text": "it's A", "list": [True, None, {"a": "b"}]})],
        [],
    ),
    "a guard around what looks like markers": (
        "guarded",
        '<call name="run"><value of="text"><{{7</value><value of="x">}}</value></call>}}></value>'
        '<value of="list"><{{[1]}}></value></call>',
        "",
        "",
        [("run", {"text": '7</value><value of="x">}}</value></call>', "list": [1]})],
        [],
    ),
    "values without a guard, and with half a one": (
        "guarded",
        '<call name="run"><value of="text">}}></value><value of="more"><{</value></call>',
        "",
        "",
        [("run", {"text": "}}>", "more": "<{"})],
        ["unknown_argument"],
    ),
    "elements inside a value": (
        "elements",
        '<call name="run"><text><b>x</b><i>y</i></text><list>[1]</list></call>',
        "",
        "",
        [("run", {"text": "<b>x</b><i>y</i>", "list": [1]})],
        [],
    ),
    "escapes in a list alone, quotes inside a string": (
        "unescaped",
        "<|calls|>[run(text='it's \\n', list=['it\\'s \\n', {\"a\": '\\f'}], "
        'more="\\n")]<|/calls|>',
        "",
        "",
        [("run", {"text": "it's \\n", "list": ["it's \n", {"a": "\f"}], "more": "\n"})],
        ["unknown_argument"],
    ),
    "strings in three quotes": (
        "python",
        "<|calls|>[run(text=\"\"\"a 'b' \"\"c\"\" \\n\"\"\", list=['''''', ''])]<|/calls|>",
        "",
        "",
        [("run", {"text": 'a \'b\' ""c"" \n', "list": ["", ""]})],
        [],
    ),
    "tuples, and numbers as Python has them": (
        "python",
        "<|calls|>[run(text='a', list=[(1, ')'), (), (-7, +1_000, [10])])]<|/calls|>",
        "",
        "",
        [("run", {"text": "a", "list": [[1, ")"], [], [-7, 1000, [10]]]})],
        [],
    ),
    "a tuple that is closed by another bracket, and one that isn't opened": (
        "python",
        "<|calls|>[run(list=(1, 2], text='a'), run(list=[1)]<|/calls|>",
        "",
        "",
        [("run", {"list": [1, 2], "text": "a"}), ("run", {"list": [1]})],
        ["malformed"],
    ),
    "a call whose name is none, in a format in which nothing closes calls": (
        "brackets",
        '[CALL]run()[ID]one[ARGS]{"text": "a"}<|stop|>',
        '[CALL]run()[ID]one[ARGS]{"text": "a"}',
        "",
        [],
        ["no_name"],
    ),
    "a call whose first mark is misspelt, in such a format": (
        "brackets",
        '[CALLS]run[ID]one[ARGS]{"text": "a"}<|stop|>',
        '[CALLS]run[ID]one[ARGS]{"text": "a"}',
        "",
        [],
        ["no_name"],
    ),
    "a mark in a sentence, in such a format": (
        *("brackets", "Write [ARGS] for run.<|stop|>", "Write [ARGS] for run.", "", [], []),
    ),
    "arguments whose name is missing": (
        "name-last",
        "A<with> {} B",
        "A B",
        "",
        [],
        ["missing_marker"],
    ),
    "cut off before the name": ("name-last", 'A<with> {"a": 1} <do> ru', "A", "", [], ["cut_off"]),
    "a line break in a JSON string": (
        "json-tags",
        '<tool_call>{"name": "run", "arguments": {"text": "a\n\tb"}}</tool_call>',
        "",
        "",
        [("run", {"text": "a\n\tb"})],
        [],
    ),
}


@pytest.mark.parametrize("case", DEVIATIONS)
def test_deviation(case: str) -> None:
    name, text, content, reasoning, calls, problems = DEVIATIONS[case]
    module = module_and_turn(name)[0] if name in TURNS else load(formats.BARE)
    message = assert_any_chunking(module, text, tools=TOOLS)
    assert (message.content, message.reasoning_content) == (content, reasoning)
    assert [(call.name, json.loads(call.arguments)) for call in message.tool_calls] == calls
    assert [problem.kind for problem in message.problems] == problems


def test_bare_json_depends_on_the_tools() -> None:
    module = load(formats.BARE)
    text = '{"name": "fly", "parameters": {}}'
    assert module.parse(text).tool_calls[0].name == "fly"
    assert module.parse(text, tools=[]).content == text
    assert module.parse(text, tools=TOOLS).content == text
    assert module.parse(f"See: {text}").content == f"See: {text}"


def test_the_end_of_a_turn_closes_reasoning_that_has_no_marker_for_it() -> None:
    reasoning = (ReasoningMode.TAG_BASED, "-- why --\n", "\n")
    module = load(formats.make_spec("titles", None, reasoning=reasoning))
    message = assert_any_chunking(module, "-- why --\nhm\n<|stop|>")
    assert (message.reasoning_content, message.problems) == ("hm", [])
    cut_off = module.parse("-- why --\nhm")
    assert [problem.kind for problem in cut_off.problems] == ["unclosed"]


def test_offsets_count_from_the_text() -> None:
    module, _ = module_and_turn("json-tags")
    assert [problem.offset for problem in module.parse("ab</think>c").problems] == [2]
    message = module.parse("c", prefill="ab</think>", echo=True)
    assert [problem.offset for problem in message.problems] == [-8]


def test_dictionaries_are_those_of_chat_completions() -> None:
    module, text = module_and_turn("indexed")
    function = {"name": "stop", "arguments": "{}"}
    message = module.parse("<think>hm</think>" + text[text.index("<|calls|>") :])
    assert message.to_dict()["tool_calls"][1] == {
        "id": "call_1",
        "type": "function",
        "function": function,
    }
    assert message.to_dict()["content"] is None
    assert message.to_dict()["reasoning_content"] == "hm"
    assert module.parse("Hi").to_dict() == {"role": "assistant", "content": "Hi"}
    _, events = stream(module, ["Hi<|call|>functions.stop:0<|args|>{}<|/call|>"])
    start = {
        "index": 0,
        "id": "call_0",
        "type": "function",
        "function": {**function, "arguments": ""},
    }
    assert [event.to_delta() for event in events] == [
        {"content": "Hi"},
        {"tool_calls": [start]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
        None,
    ]


def test_late_ids_come_with_the_end_of_a_call() -> None:
    module, text = module_and_turn("json-array")
    message, events = stream(module, text)
    assert [call.id for call in message.tool_calls] == ["one", "two"]
    assert [event.id for event in events if event.type == "tool_call_start"] == ["", ""]
    assert [event.id for event in events if event.type == "tool_call_end"] == ["one", "two"]


def test_string_arguments_arrive_as_they_are_written() -> None:
    for name, opening in {
        "json-tags": '<tool_call>{"name": "run", "arguments": {"text": "',
        "xml": "<tool_call><function=run><parameter=text>",
        "quoted": '<|call>call:run{text:<|"|>',
        "python": "<|calls|>[run(text='",
    }.items():
        module, _ = module_and_turn(name)
        parser = module.Parser(enable_thinking=False)
        parser.feed(opening)
        pieces = [event.arguments for event in parser.feed("abc")]
        assert pieces[-1] == "abc", name


HOSTILE = '"""\\"); import os #{{ x }}{% y %}\x00\u202e'


def test_no_text_of_a_template_becomes_code() -> None:
    spec = formats.make_spec(
        HOSTILE,
        formats.tagged_json(f"<{HOSTILE}>⟨NAME⟩[{HOSTILE}]⟨ARGUMENTS⟩"),
        reasoning=(ReasoningMode.TAG_BASED, f"<{HOSTILE}", f"{HOSTILE}>"),
        header=HOSTILE,
        stop=(HOSTILE,),
    )
    source = generate_module(spec, spec_path=HOSTILE, spec_hash="\n1/0", samples=[HOSTILE])
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)]
    assert {alias.name for node in imports for alias in node.names} <= {"ast", "json", "re", "sys"}
    module = load(spec)
    message = module.parse(f"Hi<{HOSTILE}>run[{HOSTILE}]{{}}")
    assert (message.content, message.tool_calls[0].name) == ("Hi", "run")


def test_a_format_without_any_marker_is_ended_by_stop_texts_alone() -> None:
    unmarked = (ReasoningMode.NONE, "", "")
    ends = (End(Part.CONTENT, "", ""),)
    spec = formats.make_spec(
        "bare", None, reasoning=unmarked, order=(Part.CONTENT,), ends=ends, stop=(), header=""
    )
    source = generate_module(spec, spec_path="specs/x.yaml", spec_hash="0", samples=["Hi"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a comparison with nothing, say
        compiled = load_module(source)
    script = script_text(source, facts_of(spec), Script.TYPESCRIPT, shared=False)
    assert "[] === " not in script
    assert " === []" not in script
    for module in (load(spec), compiled):
        assert module.parse("Hi <|stop|>").content == "Hi <|stop|>"
        ended = module.parse("Hi END more", stop=["END"])
        assert ended.content == "Hi"
        assert [problem.kind for problem in ended.problems] == ["text_after_end"]


@pytest.mark.parametrize("name", some([*TURNS], 6))
def test_source_is_formatted(name: str) -> None:
    source = generate_module(
        TURNS[name][0], spec_path="specs/x.yaml", spec_hash="0", samples=["Hi"]
    )
    # What follows is the same in committed modules: test_generated_style.
    own, begins, _ = source.partition(f"\n\n\n{BEGINS_COMMON}")
    assert begins
    assert black.format_str(f"{own}\n", mode=black.Mode()) == f"{own}\n"
    assert source.startswith("# Generated by turnspec")
