"""Texts that fuzzing found: however they are cut the message is the same, in both engines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.generated_formats import committed_spec
from tests.parser_checks import assert_any_chunking
from tests.typescript.engines import TypeScriptEngine, difference, opened_engine
from turnspec.codegen.loading import load

KIMI = "<|tool_calls_section_begin|>"
GIGA = {"prefill": 'assistant<|role_sep|>\n<|function_call|>{"name": "'}
#: A format, a text and the parser's options, with the content that is read.
FOUND: list[tuple[str, str, dict[str, Any], str | None]] = [
    # What was no call broke off in a marker, which counted only where all of it had come.
    ("lgai-exaone-4-0", 'Hi <tool_call>{"":[|endofturn|]', {}, 'Hi <tool_call>{"":'),
    ("lgai-exaone-4-0", '<tool_call>{"":[|assistant|]Hi', {}, '<tool_call>{"":Hi'),
    ("gigachat3-1-10b-a1-8b", '""":assistant<|role_sep|>', GIGA, '""":'),
    # A text that stops the model begins at the end of a marker that is text.
    ("nvidia-nemotron-3-nano-30b-a3b-bf16", "</function>\n", {"stop": [">\n"]}, ""),
    (
        *("ibm-granite-20b-functioncalling", '<function_call> {"name": ", "arguments": \r\'"fals'),
        *({"stop": ['", "arguments":']}, None),
    ),
    # A call in another syntax held more than a name and arguments, or one argument twice.
    ("moonshotai-kimi-k2", f'{KIMI}{{"name": "look", "argument\u2028": {{"x": 1}}}}', {}, ""),
    ("qwen-qwen3-0-6b", "<tool_call><function=f><p=a>1</p><p=a>2</p></function>", {}, ""),
    # A text that stops the model is what ends reasoning: it ends the turn.
    ("qwen-qwen3-0-6b", "</think>Hi</think>, you", {"stop": ["</think>"]}, ""),
    ("lgai-exaone-4-0", "Hi<think>\nHm</think> a </think>}", {"stop": ["</think>"]}, None),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypeScriptEngine]:
    with opened_engine(tmp_path_factory.mktemp("engine")) as opened:
        yield opened


@pytest.mark.parametrize(("name", "text", "options", "content"), FOUND)
def test_a_text_is_read_alike(
    name: str, text: str, options: dict[str, Any], content: str | None, engine: TypeScriptEngine
) -> None:
    module = load(committed_spec(name))
    message = assert_any_chunking(module, text, **options)
    assert content in (None, message.content)
    assert difference(engine, name, module, text, options) is None


def test_what_a_call_in_another_syntax_holds_is_not_lost() -> None:
    kimi, qwen = (load(committed_spec(name)) for name in ("moonshotai-kimi-k2", "qwen-qwen3-0-6b"))
    message = kimi.parse(f'{KIMI}{{"name": "look", "arguments": {{}}, "seen": {{"x": 1}}}}')
    told = 'the call is an object: {"name": "look", "arguments": {}, "seen": {"x": 1}}'
    assert [problem.message for problem in message.problems] == [told]
    message = qwen.parse("<tool_call><function=f><p=a>1</p><p=a>2</p></function>")
    assert message.tool_calls[0].arguments == '{"a": "1", "a": "2"}'
    assert [problem.kind for problem in message.problems] == ["other_syntax", "repeated_argument"]
