"""How canitoolcall is installed, and what its adapter makes of our parsers; neither asks for it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.conformance.environment import REQUIREMENT, prepared
from tests.conformance.formats import NOT_READ
from turnspec.spec.problems import Problem

GEMMA = "google/gemma-4-31B-it"
UNREAD = "deepseek-ai/DeepSeek-V4.1-Flash"


@pytest.mark.long
def test_without_an_index_it_says_so_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    folder = tmp_path / "env"
    found = prepared(folder)
    assert isinstance(found, Problem)
    assert str(found) == (
        f"{REQUIREMENT} can't be installed into {folder}: No matching distribution found for "
        f"{REQUIREMENT.split()[0]}; the first run needs a package index, later ones need none"
    )
    assert isinstance(prepared(folder), Problem), "half an environment is none"
    (folder / ".installed").write_text(REQUIREMENT, encoding="utf-8")
    assert prepared(folder) == folder / "bin" / "python"
    assert isinstance(prepared(folder, "canitoolcall==0.0.1"), Problem), "of another version"


class _Added:
    """Adds up deltas, as much of it as the test needs."""

    def __init__(self) -> None:
        self.content = ""
        self.calls: list[list[str]] = []

    def add_openai_delta(self, delta: Mapping[str, Any]) -> None:
        self.content += delta.get("content") or ""
        for call in delta.get("tool_calls", ()):
            if "name" in call["function"]:
                self.calls.append([call["function"]["name"], ""])
            self.calls[call["index"]][1] += call["function"]["arguments"]

    def result(self) -> SimpleNamespace:
        return _result(self.content, None, tuple((name, text) for name, text in self.calls))


def _result(content: str | None, reasoning: str | None, calls: tuple[Any, ...]) -> SimpleNamespace:
    return SimpleNamespace(content=content, reasoning_content=reasoning, tool_calls=calls)


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The adapter, with stand-ins for what it takes from canitoolcall."""
    families = {"made-up": SimpleNamespace(markers=("<tool_call>", "</tool_call>"))}
    stand_ins: dict[str, dict[str, Any]] = {
        "canitoolcall": {},
        "canitoolcall.adapters": {},
        "canitoolcall.adapters.base": {
            **dict.fromkeys(("ReplayInput", "ToolSpec"), Any),
            **{"Adapter": object, "Support": lambda able, reason="": (able, reason)},
        },
        "canitoolcall.fixtures": {"load_families": lambda: families},
        "canitoolcall.results": {
            **{"ParsedToolCall": lambda name, text: (name, text), "ParseResult": _result},
            "StreamAccumulator": _Added,
        },
    }
    for name, members in stand_ins.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "tests.conformance.adapter", raising=False)
    yield importlib.import_module("tests.conformance.adapter")
    sys.modules.pop("tests.conformance.adapter")


CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "it"}}\n</tool_call>'
CUT = 'Well. <tool_call>\n{"name": "look", "arguments": {"at": "i'
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def given(text: str) -> SimpleNamespace:
    """Return what canitoolcall would give the adapter."""
    prompt = "<|im_start|>assistant\n"
    return SimpleNamespace(
        text=text,
        family="made-up",
        model="Qwen/Qwen3-0.6B",
        generation_prompt=prompt,
        thinking=None,
    )


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_adapter_reads_whole_and_streamed(adapter: Any, size: int) -> None:
    engine, raw = adapter.Turnspec(), given(CALL)
    whole = engine.parse(raw, TOOLS)
    assert whole == _result(None, None, (("look", '{"at": "it"}'),))
    units = engine.units(raw)
    chunks = [units[start : start + size] for start in range(0, len(units), size)]
    assert engine.parse_stream(raw, chunks, TOOLS) == whole
    assert engine.parser_config(raw) == {
        "format": "qwen-qwen3-0-6b",
        "prefill": raw.generation_prompt,
    }


def test_the_adapter_returns_complete_calls_alone(adapter: Any) -> None:
    raw = given(CUT)
    engine, other = adapter.Turnspec(), adapter.TurnspecWithIncompleteCalls()
    units = [[unit] for unit in engine.units(raw)]
    for read in (engine.parse(raw, TOOLS), engine.parse_stream(raw, units, TOOLS)):
        assert (read.content, read.tool_calls) == ("Well.", ())
    for read in (other.parse(raw, TOOLS), other.parse_stream(raw, units, TOOLS)):
        assert read.tool_calls == (("look", '{"at": "i"}'),)


def test_the_adapter_knows_markers_and_models(adapter: Any) -> None:
    engine, raw = adapter.Turnspec(), given("a<tool_call>b</tool_call>")
    assert engine.special_token_ids(raw) == {*range(1, 12), *range(13, 25)}
    assert engine.supports("deepseek", UNREAD) == (False, NOT_READ[UNREAD])
    assert engine.supports("gemma4", GEMMA) == (True, "")
