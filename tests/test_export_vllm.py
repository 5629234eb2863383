"""The plugin for vLLM beside stand-ins for vLLM's classes; `make integrations` has the real."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.exported_plugins import plugin
from tests.generated_formats import committed_spec
from tests.integrations.turns import cases
from turnspec.spec.model import Spec

QWEN, DEEPSEEK = "qwen-qwen3-0-6b", "deepseek-ai-deepseek-v3-1"
CALL = '<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>'


class Record(SimpleNamespace):
    def __getattr__(self, name: str) -> None:
        return None


class Base:
    _reasoning_parser: Any = object()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take whatever vLLM gives."""


class Tokenizer:
    """A token for each character, and one for each special text."""

    def __init__(self, *specials: str) -> None:
        self.all_special_tokens = [*specials]
        self.all_special_ids = [-1 - place for place in range(len(specials))]
        self.texts = dict(zip(self.all_special_ids, specials, strict=True))

    def get_added_vocab(self) -> dict[str, int]:
        return {}

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        return "".join(self.texts.get(token) or chr(token) for token in ids)

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        return [*map(ord, text)]


@pytest.fixture(autouse=True)
def vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    deltas = ("DeltaFunctionCall", "DeltaMessage", "DeltaToolCall", "FunctionCall", "ToolCall")
    registry = SimpleNamespace(register_module=lambda name, module: None)
    stand_ins: dict[str, dict[str, Any]] = {
        "vllm.entrypoints.generate.base.protocol": dict.fromkeys(
            (*deltas, "ExtractedToolCallInformation"), Record
        ),
        "vllm.parser.abstract_parser": {"Parser": Base},
        "vllm.parser.parser_manager": {"ParserManager": SimpleNamespace(get_parser=None)},
        "vllm.reasoning": {"ReasoningParser": Base, "ReasoningParserManager": registry},
        "vllm.sampling_params": {"StructuredOutputsParams": Record},
        "vllm.tool_parsers": {"ToolParser": Base, "ToolParserManager": registry},
    }
    for name, members in stand_ins.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)


def states(spec: Spec) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield each state's variables, and turns behind its prompt."""
    for thinking in (True, False):
        state = spec.thinking.state(thinking)
        for case in cases(spec):
            if case.prefill == state.prompt and not case.tools:
                yield {**state.variables}, case


@pytest.mark.parametrize("name", [QWEN, DEEPSEEK, "glm-4-7-flash", "minimax-m3"])
@pytest.mark.parametrize("sees_prompt", [True, False])
def test_thinking_is_told_by_the_prompt_or_by_variables(
    name: str, sees_prompt: bool, tmp_path: Path
) -> None:
    asked = Record(tools=[], include_reasoning=True)
    with plugin(name, "vllm", tmp_path) as made:
        for variables, case in states(committed_spec(name)):
            tokenizer = Tokenizer()
            parser = made.TurnParser(tokenizer, [], chat_template_kwargs=variables)
            alone = made.TurnReasoningParser(tokenizer, chat_template_kwargs=variables)
            if sees_prompt:
                for one in (parser, alone):
                    one.set_prompt_token_ids(tokenizer.encode(f"Hi{case.prefill}"))
            said = parser.parse(case.text, asked, True, tokenizer.encode(case.text))
            wanted = (case.wanted.reasoning or None, case.wanted.content or None)
            assert said[:2] == wanted
            assert alone.extract_reasoning(case.text, asked)[0] == wanted[0]


@pytest.mark.parametrize("is_quoted", [True, False])
def test_a_quoted_call_is_text(is_quoted: bool, tmp_path: Path) -> None:
    tokenizer = Tokenizer("<tool_call>", "</tool_call>")
    ids = [-1, *tokenizer.encode(CALL[11:-12]), -2]
    with plugin(QWEN, "vllm", tmp_path) as made:
        parser = made.TurnParser(tokenizer, [])
        given = tokenizer.encode(CALL) if is_quoted else ids
        _, content, calls = parser.parse(CALL, Record(tools=[]), True, given)
    assert (content, len(calls)) == ((CALL, 0) if is_quoted else (None, 1))


def test_the_grammar_of_a_call_goes_on_with_a_continued_message(tmp_path: Path) -> None:
    tool = Record(model_dump=lambda: {"function": {"name": "add"}})
    roots = {}
    with plugin(QWEN, "vllm", tmp_path) as made:
        for begun in ("", "So: ", "<think>\nWell"):
            tokenizer = Tokenizer()
            parser = made.TurnParser(tokenizer, [])
            parser.set_prompt_token_ids(tokenizer.encode(f"<|im_start|>assistant\n{begun}"))
            asked = parser.adjust_request(Record(tools=[tool], tool_choice="required"))
            tag = json.loads(asked.structured_outputs.structural_tag)
            roots[begun] = re.findall("^root ::= (.*)", tag["format"]["grammar"], re.MULTILINE)
    assert roots == {
        "": ["reasoning-start reasoning-turn"],
        "So: ": ["content-turn"],
        "<think>\nWell": ["reasoning-turn"],
    }
