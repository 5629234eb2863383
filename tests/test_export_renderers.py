"""The renderer for reinforcement learning, on a stand-in for its package and a tokenizer of signs.

`make integrations` runs it on the package itself, for every format.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.generated_formats import ROOT, committed_format
from turnspec.codegen.loading import load_module
from turnspec.export.exporting import Exported, ExportOptions
from turnspec.export.renderers import export_renderers

NAME = "qwen3-coder"
CALL = (  # as the format writes it
    "<tool_call>\n<function=add>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call><|im_end|>"
)
TOOLS = [{"name": "add", "parameters": {"properties": {"x": {"type": "integer"}}}}]
PROMPT = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


class Tokenizer:
    """A token for each sign, and one for each marker of Qwen's."""

    unk_token_id = 0
    eos_token_id = None
    marks = ("<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>")

    def convert_tokens_to_ids(self, text: str) -> int:
        return self.marks.index(text) + 1 if text in self.marks else 0

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        pieces = re.split(f"({'|'.join(map(re.escape, self.marks))})", text)
        return [token for piece in pieces for token in self._tokens(piece)]

    def _tokens(self, piece: str) -> list[int]:
        mark = self.convert_tokens_to_ids(piece)
        return [mark] if mark else [ord(sign) + 100 for sign in piece]

    def decode(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        return "".join(self.marks[i - 1] if i < 100 else chr(i - 100) for i in ids)

    def apply_chat_template(
        self, messages: list[Any], tokenize: bool, add_generation_prompt: bool, tools: Any = None
    ) -> str:
        text = "".join(map(_rendered, messages))
        return text + ("<|im_start|>assistant\n" if add_generation_prompt else "")


def _rendered(message: Any) -> str:
    calls = "".join(
        f"\n<tool_call>\n<function={call['function']['name']}>\n"
        + "".join(
            f"<parameter={key}>\n{value}\n</parameter>\n"
            for key, value in call["function"]["arguments"].items()
        )
        + "</function>\n</tool_call>"
        for call in message.get("tool_calls", [])
    )
    return f"<|im_start|>{message['role']}\n{message['content']}{calls}<|im_end|>\n"


class _Status(StrEnum):
    OK = "ok"
    INVALID_JSON = "invalid_json"
    UNCLOSED_BLOCK = "unclosed_block"


class _DefaultRenderer:
    def __init__(self, tokenizer: Any, config: Any) -> None:
        self._tokenizer, self.config = tokenizer, config

    def get_stop_token_ids(self) -> list[int]:
        return []


@pytest.fixture(scope="module")
def renderer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    source = (ROOT / "generated" / "qwen3_coder.py").read_text(encoding="utf-8")
    exported = export_renderers(committed_format(NAME).spec, ExportOptions(module=source))
    assert isinstance(exported, Exported)
    folder = tmp_path_factory.mktemp("rl")
    for name, text in exported.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name, members in _package().items():
            module = ModuleType(name)
            vars(module).update(members)
            patch.setitem(sys.modules, name, module)
        patch.syspath_prepend(str(folder))
        yield _renderer(folder)
        sys.modules.pop("qwen3_coder", None)


def _renderer(folder: Path) -> Any:
    source = (folder / "qwen3_coder_renderers.py").read_text(encoding="utf-8")
    module: Any = load_module(source.replace("Path(__file__)", f"Path({str(folder / 'x')!r})"))
    return module.Renderer(Tokenizer())


class LastTokenTokenizer(Tokenizer):
    """Its template writes a token behind the last message where no prompt is asked for."""

    def apply_chat_template(
        self, messages: list[Any], tokenize: bool, add_generation_prompt: bool, tools: Any = None
    ) -> str:
        text = super().apply_chat_template(messages, tokenize, add_generation_prompt, tools)
        return text if add_generation_prompt else f"{text}</s>"


def _package() -> dict[str, dict[str, object]]:
    base = {
        "ParsedResponse": SimpleNamespace,
        "ParsedToolCall": SimpleNamespace,
        "RenderedTokens": SimpleNamespace,
        "ToolCallParseStatus": _Status,
        "extract_message_tool_names": lambda messages: [],
        "reject_assistant_in_extension": lambda given: given[0]["role"] == "assistant",
        "resolve_thinking_retention": lambda config, implied: implied,
        "should_rerender_for_thinking_retention": lambda kept, messages: kept != "all",
    }
    return {
        "renderers": {},
        "renderers.base": base,
        "renderers.configs": {
            "DefaultRendererConfig": lambda **extra: SimpleNamespace(model_extra=extra),
        },
        "renderers.default": {"DefaultRenderer": _DefaultRenderer},
    }


def ids(text: str) -> list[int]:
    return Tokenizer().encode(text)


def test_a_turn_is_read_from_its_tokens(renderer: Any) -> None:
    parsed = renderer.parse_response(ids(f"Sure.\n{CALL}"), tools=TOOLS, prompt_ids=ids(PROMPT))
    (call,) = parsed.tool_calls
    assert (parsed.content, parsed.reasoning_content) == ("Sure.", None)
    assert (call.name, call.arguments, call.status) == ("add", {"x": 1}, "ok")
    assert call.raw.strip().startswith("<function=add>")
    cut = renderer.parse_response(ids(CALL[:50]), tools=TOOLS)
    assert [call.status for call in cut.tool_calls] == ["unclosed_block"]
    assert renderer.get_stop_token_ids() == ids("<|im_end|>")


@pytest.mark.parametrize(
    ("written", "added"),
    [
        (CALL, "\n"),
        (CALL.removesuffix("<|im_end|>"), "<|im_end|>\n"),  # the engine took it away
        ("Hello.<|im_end|>", "\n"),
        ("Hel", "<|im_end|>\n"),  # cut off: the turn is closed
    ],
)
def test_a_bridge_keeps_what_was_written(renderer: Any, written: str, added: str) -> None:
    new = [{"role": "tool", "content": "2"}]
    bridge = renderer.bridge_to_next_turn(ids(PROMPT), ids(written), new, tools=TOOLS)
    behind = f"{added}<|im_start|>tool\n2<|im_end|>\n<|im_start|>assistant\n"
    assert bridge.token_ids == [*ids(PROMPT), *ids(written), *ids(behind)]
    assert len(bridge.message_indices) == len(bridge.token_ids)
    of_message = [
        t for t, at in zip(bridge.token_ids, bridge.message_indices, strict=True) if at == 0
    ]
    assert Tokenizer().decode(of_message) == "<|im_start|>tool\n2<|im_end|>\n"


def test_a_token_behind_the_last_message_is_not_bridged(renderer: Any) -> None:
    new = [{"role": "tool", "content": "2"}, {"role": "tool", "content": "3"}]
    bridges = [
        made.bridge_to_next_turn(ids(PROMPT), ids(CALL), new, tools=TOOLS)
        for made in (renderer, type(renderer)(LastTokenTokenizer()))
    ]
    assert len({tuple(bridge.token_ids) for bridge in bridges}) == 1
    assert len({tuple(bridge.message_indices) for bridge in bridges}) == 1
    assert {*bridges[1].message_indices} == {-1, 0, 1}


@pytest.mark.parametrize(("final", "bridged"), [("\n", True), ("", False)])
def test_a_stop_token_may_be_how_a_call_itself_ends(
    renderer: Any, monkeypatch: pytest.MonkeyPatch, final: str, bridged: bool
) -> None:
    """As gpt-oss ends calls; but what the template writes behind that mustn't be left out."""
    new = [{"role": "tool", "content": "2"}]
    wanted = renderer.bridge_to_next_turn(ids(PROMPT), ids(CALL), new, tools=TOOLS)
    facts = type(renderer).bridge_to_next_turn.__globals__
    monkeypatch.setitem(facts, "FINAL", {"calls": final})
    found = renderer.bridge_to_next_turn(ids(PROMPT), ids(CALL), new, tools=TOOLS)
    assert (found.token_ids if found else None) == (wanted.token_ids if bridged else None)


def test_there_is_no_bridge_where_nothing_is_proved(renderer: Any) -> None:
    bridge = renderer.bridge_to_next_turn
    assert bridge(ids(PROMPT), ids("Hi<|im_end|>"), []) is None
    assert bridge(ids(PROMPT), ids("Hi"), [{"role": "assistant", "content": ""}]) is None
