"""Pairs: a template, and a tag that lets through what it reads; docs/PAIR.md has real programs."""

from __future__ import annotations

import ast
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.exported_plugins import exported, plugin
from tests.generated_formats import ROOT, committed_spec
from tests.integrations.pair_page import pairs_page
from tests.test_cli import run
from turnspec.export.exporting import ExportOptions, ReasoningField, Refusal
from turnspec.export.pair import pair_tag
from turnspec.export.pair_grammar import narrowed
from turnspec.export.response_template import response_template
from turnspec.grammar.bound import bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.spec.integration_results import read_integrations
from turnspec.spec.problems import Problem
from turnspec.verification.gbnf_reader import read_grammar
from turnspec.verification.recognizer import Recognizer

NAME = "qwen-qwen3-0-6b"
PARAMETERS = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "string"}}},
}
TOOL = {"type": "function", "function": {"name": "f", "parameters": PARAMETERS}}
REQUIRED = GrammarRequest(tools=[TOOL], tool_choice="required", parallel=True, thinking=False)


def recognizers(name: str) -> list[Recognizer]:
    """Return the grammar that is bound to a request as it is, and as a pair's tag has it."""
    spec = committed_spec(name)
    bound = bind_grammar(spec, REQUIRED)
    assert not isinstance(bound, list)
    found = [read_grammar(text) for text in (bound.grammar, narrowed(spec, bound.grammar))]
    return [Recognizer(grammar) for grammar in found if not isinstance(grammar, Problem)]


OBJECT = '<tool_call>\n{{"name": "f", "arguments": {{"a": "{}"}}}}\n</tool_call>'
TAGGED = "<tool_call>\n<function=f>\n<parameter={}>\n{}\n</parameter>\n</function>\n</tool_call>"
ARRAY = (
    '<|START_ACTION|>[{{"tool_call_id": "0", "tool_name": "f", "parameters": {{"a": "{}"}}}}]'
    "<|END_ACTION|>"
)
PYTHON = "<|tool_call_start|>[f(a='{}')]<|tool_call_end|>"


@pytest.mark.parametrize(
    ("name", "text", "narrowed_away"),
    [
        (NAME, OBJECT.format("} a < </tool_call> b"), False),
        (NAME, OBJECT.format("}</tool_call>"), True),
        (NAME, OBJECT.format("} }  <tool_call>"), True),
        (NAME, OBJECT.format(r"}\u003c/tool_call>"), False),
        (NAME, OBJECT.format("}"), False),
        ("qwen3-coder", TAGGED.format("a", "</function> } </p>"), False),
        ("qwen3-coder", TAGGED.format("a", "</function>\n</tool_call>"), True),
        ("qwen3-coder", TAGGED.format("b", '["</tool_call>"]'), True),
        ("qwen3-coder", TAGGED.format("b", r'["\u003c/tool_call>"]'), False),
        ("cohere2moe", ARRAY.format("}<|END_ACTION|>"), False),
        ("cohere2moe", ARRAY.format("]<|END_ACTION|>"), True),
        ("lfm2-8b-a1b", PYTHON.format(")] "), False),
        ("lfm2-8b-a1b", PYTHON.format(")]<|tool_call_end|>"), True),
        ("lfm2-8b-a1b", PYTHON.format("), f("), True),
        ("lfm2-8b-a1b", PYTHON.format(r")\x2c f("), False),
    ],
)
def test_no_text_in_a_call_holds_what_ends_it_for_the_template(
    name: str, text: str, narrowed_away: bool
) -> None:
    plain, narrow = recognizers(name)
    assert plain.accepts(text)
    assert narrow.accepts(text) is not narrowed_away


def test_servers_take_no_joined_pieces_and_find_the_end_of_reasoning_by_its_text() -> None:
    for field, joined in (
        (ReasoningField.THINKING, False),
        (ReasoningField.REASONING_CONTENT, True),
    ):
        found = response_template(committed_spec(NAME), ExportOptions(reasoning_field=field))
        assert not isinstance(found, Refusal)
        fields = found[0]["fields"]
        assert ["join" in fields[key] for key in (field, "content")] == [joined, joined]
        assert fields[field]["close"][0] == "</think>"


def test_both_are_written_by_one_command(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([TOOL]), encoding="utf-8")
    config = tmp_path / "model" / "tokenizer_config.json"
    config.parent.mkdir()
    template = (ROOT / "tests" / "templates" / "unseen-arguments-into.jinja").read_text("utf-8")
    command = ("export", NAME, "--to", "pair", "--root", ROOT)
    result = run(*command, "--tools", tools, "--into", tmp_path / "new")
    assert result.exit_code == 0
    written = {path.name for path in (tmp_path / "new").iterdir()}
    assert written >= {"response_template.json", "structural_tag.json", "qwen_qwen3_0_6b_pair.py"}
    loosened, line = result.stderr.splitlines()
    wanted = "strings in calls: behind } the tag wants < as an escape"
    assert loosened == f"notice: loosened: {wanted}"
    parts = shlex.split(line)
    assert parts.count(str(tmp_path / "new" / "qwen_qwen3_0_6b_pair.py")) == 2
    config.write_text(json.dumps({"chat_template": template}), encoding="utf-8")
    assert "is of another model" in run(*command, "--tokenizer-config", config).stderr


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("microsoft-phi-4", "tools: the format has no calls to hold; its response-template is"),
        ("team-ace-toolace-8b", "tool calls: neither they nor their section begin with a mark"),
    ],
)
def test_what_makes_no_pair_is_refused(name: str, why: str) -> None:
    result = run("export", name, "--to", "pair", "--root", ROOT)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {name} can't be exported to pair: {why}")


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[..., Any]]:
    """A stand-in for xgrammar: a registry of tags by models."""
    found: dict[str, Callable[..., Any]] = {}
    xgrammar: Any = ModuleType("xgrammar")
    xgrammar.StructuralTag = SimpleNamespace(model_validate=lambda tag: tag)
    xgrammar.register_model_structural_tag = lambda name: lambda tag: found.setdefault(name, tag)

    monkeypatch.setitem(sys.modules, "xgrammar", xgrammar)
    return found


@pytest.mark.parametrize(("reasoning", "thinking"), [("enabled", True), ("auto", None)])
def test_xgrammar_knows_the_tag_by_the_formats_name(
    registry: dict[str, Callable[..., Any]],
    reasoning: str,
    thinking: bool | None,
    tmp_path: Path,
) -> None:
    spec = committed_spec(NAME)
    request = GrammarRequest([TOOL], "required", parallel=True, thinking=thinking)
    bound = bind_grammar(spec, request)
    assert not isinstance(bound, list)
    tools = [SimpleNamespace(model_dump=lambda **_: TOOL)]
    with plugin(NAME, "pair", tmp_path) as module:
        vars(module)["BINDING_SECONDS"] = None  # in this process
        tag = registry[NAME](tools, [], "forced", reasoning)
    assert tag == pair_tag(spec, request, bound)


@pytest.mark.parametrize("name", ["qwen-qwen3-thinking-2507", "baichuan-inc-baichuan-m2"])
def test_a_tag_without_reasoning_holds_behind_it(
    name: str, registry: dict[str, Callable[..., Any]], tmp_path: Path
) -> None:
    """Whatever the prompts say of it: servers let reasoning pass first."""
    with plugin(name, "pair", tmp_path) as module:
        vars(module)["BINDING_SECONDS"] = None  # in this process
        tools = [SimpleNamespace(model_dump=lambda **_: TOOL)]
        tags = [registry[name](tools, [], "required", word) for word in ("enabled", "disabled")]
    grammars = [read_grammar(tag["format"]["grammar"]) for tag in tags]
    accepted = [
        [Recognizer(grammar).accepts(text) for text in (f"So.</think>{call}", call)]
        for call in (OBJECT.format("x"),)
        for grammar in grammars
        if not isinstance(grammar, Problem)
    ]
    assert accepted == [[True, False], [False, True]]


def test_the_module_names_its_prompts_the_longest_first() -> None:
    text = exported(NAME, "pair")["qwen_qwen3_0_6b_pair.py"]
    prompts = ast.literal_eval(text.partition("PROMPTS = ")[2].partition("\n")[0])
    off = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    assert prompts == ((off, False), ("<|im_start|>assistant\n", True))


def test_the_page_says_what_was_recorded() -> None:
    records = read_integrations(ROOT / "specs" / "pairs.json")
    assert not isinstance(records, Problem)
    assert (ROOT / "docs" / "PAIR.md").read_text("utf-8") == pairs_page(records)
    for target in ("pair", "pair-sglang", "pair-vllm"):
        for name in (NAME, "qwen3-coder", "openai-gpt-oss-120b"):
            found = records[target].formats[name]
            assert found.passed == found.checks > 0
