"""The generated parser modules, executed: formats, chunkings, truncation, prefill."""

from __future__ import annotations

import json
from typing import Any

import pytest

from generator.spec.model import Spec
from tests import parser_formats as formats
from tests.parser_checks import assert_any_chunking, assert_any_truncation, load_module
from tests.specs_for_tests import channels_spec

ARGUMENTS = {"text": 'a "b" \\ </x> é\n', "count": 7}
OBJECT = json.dumps(ARGUMENTS, ensure_ascii=False)
TEXT = 'a "b" \\ </x> é\n'

#: A turn with reasoning, content and two calls `run(ARGUMENTS)` and `stop()` in each format.
TURNS = {
    "json-tags": (
        formats.HERMES,
        "<think>\nhm\n</think>\n\nHi!\n"
        '<tool_call>\n{"name": "run", "arguments": %s}\n</tool_call>\n'
        '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call><|stop|>\n' % OBJECT,
    ),
    "json-array": (
        formats.ARRAY,
        "<think>\nhm\n</think>\n\nHi!"
        '[CALLS][{"name": "run", "arguments": %s, "id": "one"}, '
        '{"name": "stop", "arguments": {}, "id": "two"}]<|stop|>' % OBJECT,
    ),
    "name-is-key": (
        formats.NAME_IS_KEY,
        '<think>hm</think>Hi!<|tools|>[{"run": %s}, {"stop": {}}]<|/tools|><|stop|>' % OBJECT,
    ),
    "brackets": (
        formats.BRACKETS,
        "<think>hm</think>Hi![CALL]run[ID]one[ARGS]%s[CALL]stop[ID]two[ARGS]{}<|stop|>" % OBJECT,
    ),
    "indexed": (
        formats.INDEXED,
        "<think>hm</think>Hi!<|calls|><|call|>functions.run:0<|args|>%s<|/call|>"
        "<|call|>functions.stop:1<|args|>{}<|/call|><|/calls|><|stop|>" % OBJECT,
    ),
    "xml": (
        formats.XML,
        "hm\n</think>\n\nHi!\n\n<tool_call>\n<function=run>\n<parameter=text>\n%s\n</parameter>\n"
        "<parameter=count>\n7\n</parameter>\n</function>\n</tool_call>\n"
        "<tool_call>\n<function=stop>\n</function>\n</tool_call><|stop|>\n" % TEXT,
    ),
    "key-value": (
        formats.KEY_VALUE,
        "<think>hm</think>Hi!<tool_call>run\n<arg_key>text</arg_key>\n<arg_value>%s</arg_value>\n"
        "<arg_key>count</arg_key>\n<arg_value>7</arg_value>\n</tool_call>"
        "<tool_call>stop\n</tool_call>" % TEXT,
    ),
    "typed": (
        formats.TYPED,
        'hm</think>Hi!\n\n<|calls>\n<|invoke name="run">\n'
        '<|parameter name="text" string="true">%s</|parameter>\n'
        '<|parameter name="count" string="false">7</|parameter>\n</|invoke>\n'
        '<|invoke name="stop">\n</|invoke>\n</|calls><|stop|>' % TEXT,
    ),
    "python": (
        formats.PYTHON,
        "<think>hm</think>Hi!<|calls|>[run(text=%r, count=7), stop()]<|/calls|><|stop|>" % TEXT,
    ),
    "quoted": (
        formats.QUOTED,
        '<think>hm</think><|call>call:run{text:<|"|>%s<|"|>,count:7}<call|>'
        "<|call>call:stop{}<call|>Hi!<|stop|>" % TEXT,
    ),
    "channels": (
        channels_spec(),
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi!"
        "<|end|><|start|>assistant to=functions.run<|channel|>commentary json<|message|>%s"
        "<|end|><|start|>assistant to=functions.stop<|channel|>commentary json<|message|>{}<|call|>"
        % OBJECT,
    ),
}
TOOLS = [formats.BASH, {"name": "stop"}]


@pytest.mark.parametrize("name", TURNS)
def test_turn_in_any_chunking(name: str) -> None:
    spec, text = TURNS[name]
    message = assert_any_chunking(load_module(spec), text, tools=TOOLS)
    assert (message.content, message.reasoning_content) == ("Hi!", "hm")
    found = [(call.name, json.loads(call.arguments), call.complete) for call in message.tool_calls]
    assert found == [("run", ARGUMENTS, True), ("stop", {}, True)]
    assert message.problems == []


@pytest.mark.parametrize("name", TURNS)
def test_turn_cut_off_anywhere(name: str) -> None:
    spec, text = TURNS[name]
    markers = [literal for literal in ("<|stop|>", "<think>", "</think>") if literal in text]
    assert_any_truncation(load_module(spec), text, markers, tools=TOOLS)
