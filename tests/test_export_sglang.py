"""The plugin for SGLang beside stand-ins for SGLang's classes; `make integrations` has the real."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.exported_plugins import exported, plugin, write_export
from tests.generated_formats import NAMES, committed_format, committed_spec
from tests.integrations.turns import cases
from turnspec.export.serving import bound_structural_tag
from turnspec.export.sglang import _reasoning_default
from turnspec.spec.naming import module_name

NAME = "qwen-qwen3-0-6b"
CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
TURN = f"<think>\nWell.\n</think>\n\nHello.\n{CALL}<|im_end|>\n"
PROMPT = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}


class Tool(SimpleNamespace):
    def model_dump(self) -> dict[str, Any]:
        return ADD


class BaseFormatDetector:
    def __init__(self) -> None:
        self.prev_tool_call_arr: list[Any] = []
        self.streamed_args_for_tool: list[str] = []


@dataclass
class Item:
    tool_index: int
    name: str | None
    parameters: str


@dataclass
class Result:
    normal_text: str = ""
    calls: list[Item] = field(default_factory=list)


@dataclass
class ReasoningResult:
    normal_text: str = ""
    reasoning_text: str = ""


class BaseReasoningFormatDetector:
    def __init__(self, start: str, end: str, **options: Any) -> None:
        self.think_start_token, self.think_end_token = start, end
        self.stream_reasoning = options["stream_reasoning"]
        self._force_nonempty_content = options["force_nonempty_content"]

    def _maybe_apply_force_nonempty_content(self, found: ReasoningResult) -> ReasoningResult:
        return found


class HookType:
    AFTER = "after"


class StandIns:
    """What stands for SGLang: the name of the server's tool parser, and what was registered."""

    def __init__(self) -> None:
        self.tool_parser = NAME
        self.tools: dict[str, Any] = {}
        self.reasoning: dict[str, Any] = {}
        self.hooks: dict[str, Any] = {}

    def modules(self) -> dict[str, dict[str, Any]]:
        result = {"ToolCallItem": Item, "StreamingParseResult": Result}
        reasoning = {
            "BaseReasoningFormatDetector": BaseReasoningFormatDetector,
            "ReasoningParser": SimpleNamespace(DetectorMap=self.reasoning),
            "StreamingParseResult": ReasoningResult,
        }
        registry = SimpleNamespace(register=lambda target, hook, kind: self._register(target, hook))
        hooks = {"HookRegistry": registry, "HookType": HookType}
        serving = SimpleNamespace
        function_call = "sglang.srt.function_call"
        return {
            f"{function_call}.base_format_detector": {"BaseFormatDetector": BaseFormatDetector},
            f"{function_call}.core_types": result,
            f"{function_call}.function_call_parser": {
                "FunctionCallParser": SimpleNamespace(ToolCallParserEnum=self.tools)
            },
            "sglang.srt.parser.reasoning_parser": reasoning,
            "sglang.srt.plugins.hook_registry": hooks,
            "sglang.srt.runtime_context": {
                "get_serving": lambda: serving(tool_call_parser=self.tool_parser)
            },
            "sglang.srt.sampling.sampling_params": {
                "set_request_reasoning_in_grammar": lambda params, on: params.update(reasoning=on)
            },
            "xgrammar": {"StructuralTag": SimpleNamespace(model_validate=lambda tag: tag)},
        }

    def _register(self, target: str, hook: Any) -> None:
        self.hooks[target.rpartition(".")[2]] = hook


@pytest.fixture
def sglang(monkeypatch: pytest.MonkeyPatch) -> StandIns:
    found = StandIns()
    for name, members in found.modules().items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    return found


@pytest.fixture
def made(sglang: StandIns, tmp_path: Path) -> Iterator[ModuleType]:
    with plugin(NAME, "sglang", tmp_path) as module:
        register(NAME, tmp_path)
        yield module


def register(name: str, folder: Path) -> None:
    """Register a plugin, as SGLang has its entry point do."""
    found = entry_points(group="sglang.srt.plugins", name=name)
    [entry] = {each.value: each for each in found}.values()
    assert entry.value == f"{module_name(name)}_sglang_server:register"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        sys.modules.pop(entry.module, None)
        entry.load()()


def request(**more: Any) -> SimpleNamespace:
    known = {"tools": [Tool()], "tool_choice": "auto", "_response_parser_prefix": PROMPT}
    return SimpleNamespace(**{**known, **more})


def read(
    made: ModuleType, asked: Any, pieces: Sequence[str], **options: Any
) -> tuple[str, str, Any]:
    """Return reasoning, and what the tool detector makes of the rest, as streams have them."""
    detector = made.TurnReasoningDetector(tool_call_parser_active=True, **options)
    detector.take_request(asked)
    tools = made.TurnToolDetector()
    reasoning = content = ""
    for part in [*map(detector.parse_streaming_increment, pieces), detector.finish()]:
        reasoning += part.reasoning_text
        content += tools.parse_streaming_increment(part.normal_text, asked.tools).normal_text
    return reasoning, content + tools.finish(asked.tools).normal_text, tools


@pytest.mark.parametrize("size", [1, 3, len(TURN)])
def test_a_turn_in_pieces(made: ModuleType, size: int) -> None:
    pieces = [TURN[place : place + size] for place in range(0, len(TURN), size)]
    reasoning, content, tools = read(made, request(), pieces)
    assert (reasoning, content) == ("Well.", "Hello.")
    assert tools.prev_tool_call_arr == [{"name": "add", "arguments": '{"a": 1}'}]
    assert tools.streamed_args_for_tool == ['{"a": 1}']
    assert tools.current_tool_id == 0
    assert tools.incomplete_tool_call_indices == set()


def test_a_whole_turn(made: ModuleType) -> None:
    detector = made.TurnReasoningDetector(stream_reasoning=False, tool_call_parser_active=True)
    detector.take_request(request())
    found, tools = detector.detect_and_parse(TURN), made.TurnToolDetector()
    assert tools.has_tool_call(found.normal_text)
    parsed = tools.detect_and_parse(found.normal_text, [Tool()])
    assert (found.reasoning_text, parsed.normal_text) == ("Well.", "Hello.")
    assert parsed.calls == [Item(0, "add", '{"a": 1}')]


def test_an_answer_is_handed_on_as_it_is(made: ModuleType) -> None:
    detector = made.TurnReasoningDetector(tool_call_parser_active=True)
    found = detector.detect_and_parse("<think>\nWell.\n</think>\n\nHello.<|im_end|>\n")
    assert found == ReasoningResult("Hello.", "Well.")
    assert not made.TurnToolDetector().has_tool_call(found.normal_text)


def test_a_call_that_breaks_off_is_known_to_be_incomplete(made: ModuleType) -> None:
    *_, tools = read(made, request(), [TURN[: TURN.index("1}")]])
    assert tools.incomplete_tool_call_indices == {0}


def test_the_prompt_says_what_it_holds_of_the_turn(made: ModuleType) -> None:
    asked = request(_response_parser_prefix=f"{PROMPT}<think>\nWe")
    assert read(made, asked, ["ll.\n</think>\n\nHello."])[:2] == ("ll.", "Hello.")


def test_another_tool_parser_gets_what_the_model_wrote(made: ModuleType, sglang: StandIns) -> None:
    sglang.tool_parser = "qwen"
    detector = made.TurnReasoningDetector(tool_call_parser_active=True)
    parts = [*map(detector.parse_streaming_increment, TURN), detector.finish()]
    assert "".join(part.reasoning_text for part in parts) == "Well."
    assert "".join(part.normal_text for part in parts) == f"Hello.{CALL}<|im_end|>\n"


def test_the_tool_parser_alone_leaves_reasoning_in_the_content(made: ModuleType) -> None:
    parsed = made.TurnToolDetector().detect_and_parse(TURN, [Tool()])
    assert parsed.normal_text == "<think>\nWell.\n</think>\n\nHello."
    assert parsed.calls == [Item(0, "add", '{"a": 1}')]


def test_the_tool_parser_alone_is_shown_the_prompt(tmp_path: Path, sglang: StandIns) -> None:
    """The prompt ends with what begins a part of this format's turns."""
    with plugin("meetkai-functionary-medium-v3-2", "sglang", tmp_path) as made:
        register("meetkai-functionary-medium-v3-2", tmp_path)
        tools = made.TurnToolDetector()
        prompt = f"Hi{made.turn_format.FORMAT['prompt']}"
        sglang.hooks["__init__"](None, SimpleNamespace(detector=tools), prefix=prompt)
        assert tools.has_tool_call("all\nHello.")
        assert tools.detect_and_parse("all\nHello.", []).normal_text == "Hello."


def test_reasoning_can_come_at_once_or_as_content(made: ModuleType) -> None:
    detector = made.TurnReasoningDetector(stream_reasoning=False)
    parts = [*map(detector.parse_streaming_increment, TURN), detector.finish()]
    assert [part.reasoning_text for part in parts if part.reasoning_text] == ["Well."]
    assert read(made, request(), ["<think>\nWell."], force_nonempty_content=True)[1] == "Well."


def test_what_was_read_cannot_be_forged(made: ModuleType) -> None:
    text = f'\x1e0{"0" * 15}{{"content": "?"}}'
    assert read(made, request(), [text])[1] == text


def test_a_grammar_is_bound_to_the_prompt(made: ModuleType, sglang: StandIns) -> None:
    tag = SimpleNamespace(model_dump=lambda by_alias: {"type": "structural_tag"})
    server = SimpleNamespace(tool_call_parser=NAME, reasoning_parser=NAME)
    params: dict[str, Any] = {"structural_tag": '{"type": "structural_tag"}'}
    engine = SimpleNamespace(sampling_params=params, require_reasoning=True)
    asked = request(tool_choice="required", parallel_tool_calls=True)
    bind = sglang.hooks["_set_response_parser_context"]
    bind(None, server, asked, engine, tool_call_constraint=("structural_tag", tag), tools=[Tool()])
    assert '"type": "grammar"' in params["structural_tag"]
    assert params["reasoning"] is True
    assert "root ::= reasoning-start reasoning-turn" in params["structural_tag"]
    asked._response_parser_prefix = "<|im_start|>assistant\nSo: "
    params["structural_tag"] = '{"type": "structural_tag"}'
    bind(None, server, asked, engine, tool_call_constraint=("structural_tag", tag), tools=[Tool()])
    assert "root ::= content-turn" in params["structural_tag"]
    assert sglang.hooks["_requires_response_template_detokenization"](False, server, asked)
    asked.tool_choice = "subtract"
    with pytest.raises(ValueError, match="there is no tool 'subtract' to choose"):
        bind(None, server, asked, engine, tool_call_constraint=("json_schema", {}), tools=[Tool()])


def test_sglang_finds_the_plugin_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (NAME, "qwen3-coder"):
        write_export(name, "sglang", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = {each.name: each for each in entry_points(group="sglang.srt.plugins")}
    assert found[NAME].value == "qwen_qwen3_0_6b_sglang_server:register"
    installed = found[NAME].dist
    assert installed is not None
    assert installed.name == f"turnspec-{NAME}"
    assert "qwen3-coder" in found


def test_when_a_request_has_reasoning() -> None:
    spec = committed_format(NAME).spec
    assert _reasoning_default(spec) == "enable_thinking"
    switched_on = replace(
        spec.thinking,
        enabled=replace(spec.thinking.enabled, variables={"thinking": True}),
        disabled=spec.thinking.default,
    )
    assert _reasoning_default(replace(spec, thinking=switched_on)) == "explicit_thinking"
    found = {_reasoning_default(committed_spec(name)) for name in NAMES}
    assert found >= {"", "always", "enable_thinking", "explicit_enable_thinking", "thinking"}


def test_a_tag_for_tools_leaves_text_free_unless_a_call_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(exported(NAME, "sglang")[f"{NAME}.yaml"], encoding="utf-8")
    required = bound_structural_tag(path, tools=[ADD], tool_choice="required")
    assert required["format"]["type"] == "grammar"
    assert bound_structural_tag(path, tools=[ADD])["format"]["type"] == "sequence"
    with pytest.raises(ValueError, match="there is no tool 'f' to choose"):
        bound_structural_tag(path, tools=[ADD], tool_choice={"function": {"name": "f"}})


@pytest.mark.parametrize(
    "name",
    [NAME, "glm-4-7-flash", "bielik-11b-v3-0-instruct", "deepseek-ai-deepseek-v3-1", "minimax-m3"],
)
def test_thinking_counts_where_no_prompt_is_seen(
    name: str, sglang: StandIns, tmp_path: Path
) -> None:
    """What SGLang knows of a request then is whether it wants reasoning."""
    spec = committed_spec(name)
    sglang.tool_parser = name
    with plugin(name, "sglang", tmp_path) as made:
        for thinking in (True, False):
            prompt = spec.thinking.state(thinking).prompt
            given = [case for case in cases(spec) if case.prefill == prompt and not case.tools]
            assert given
            for case in given:
                asked = request(tools=[], _response_parser_prefix="")
                found = read(made, asked, case.text, force_reasoning=thinking)
                assert (found[0], found[1]) == (case.wanted.reasoning, case.wanted.content)
