"""`turnspec explain --trace`: a text walked through a parser, step by step."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import EVERY_FORMAT, FORMS, ROOT, committed_spec, facts_of_format
from tests.own_templates import FOLDER
from tests.test_cli import run, run_whole
from turnspec.codegen.compiled import compiled_source, shared_source
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.explain.samples import sample_turns
from turnspec.explain.shown import trace_data, trace_lines
from turnspec.explain.trace import Phase, Step, _Walk, trace
from turnspec.pipeline.project import OutputPaths

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            },
        },
    }
]
DEVIATING = """Sure.
<tool_call>
<function=get_weather>
<parameter=city>
Paris
<parameter=days>
three"""


def text_of(name: str, text: str, piece: int | None = None, **options: Any) -> str:
    lines = trace_lines(trace(facts_of_format(name), text, options, piece=piece))
    return "\n".join("".join(part for part, _ in line) for line in lines)


@pytest.mark.parametrize("name", ["qwen3-coder", "qwen-qwen3-0-6b", "glm-4-6"])
def test_the_steps_of_a_sample(name: str, snapshot: SnapshotAssertion) -> None:
    spec = committed_spec(name)
    sample = sample_turns(spec)[-1].text.removeprefix(spec.turn.header)
    assert text_of(name, sample, tools=TOOLS) == snapshot


def test_the_steps_of_a_text_that_deviates(snapshot: SnapshotAssertion) -> None:
    assert text_of("qwen3-coder", DEVIATING, tools=TOOLS) == snapshot


def test_in_pieces(snapshot: SnapshotAssertion) -> None:
    assert text_of("qwen3-coder", "Hello, Paris!<|im_end|>", piece=4) == snapshot


def texts(name: str) -> Iterator[str]:
    """Yield turns, turns cut off and gone on with, and JSON that is or isn't a call."""
    spec = committed_spec(name)
    for sample in sample_turns(spec):
        turn = sample.text.removeprefix(spec.turn.header)
        yield from (turn, turn[: len(turn) // 2], turn + " more", "Look: " + turn)
    yield from ("", '{"name": "get_weather", "x": 1} no', '[{"name": "a"', "<x> </x>")


def consumed(steps: tuple[Step, ...], start: int) -> str:
    """Return what steps took; one that begins before the last one's end took some of it again."""
    text = ""
    for step in steps:
        assert step.offset - start <= len(text)
        text = text[: step.offset - start] + step.consumed
    return text


def data(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__match_args__}


@pytest.mark.parametrize("name", FORMS)
def test_a_trace_is_what_the_parser_does(name: str) -> None:
    """Watching changes nothing, and every character and event is in a step, in order."""
    module = load(committed_spec(name))
    options: tuple[Mapping[str, Any], ...] = ({}, {"prefill": "", "tools": TOOLS}, {"echo": True})
    for number, text in enumerate(texts(name)):
        pieces = (None, 1, 5)
        for given in options:
            for piece in pieces if EVERY_FORMAT else (pieces[number % 3],):
                found = trace(facts_of_format(name), text, given, piece=piece)
                message = module.parse(text, **given)
                assert found.message == message.to_dict()
                assert found.problems == tuple(map(data, message.problems))
                shown = [problem for step in found.steps for problem in step.problems]
                assert sorted(shown, key=str) == sorted(found.problems, key=str)
                prefill = found_prefill(module, given)
                assert consumed(found.steps, -len(prefill)) == prefill + text
                check_events(module, text, given, piece, found.steps)


@pytest.mark.parametrize("piece", [None, 1])
@pytest.mark.parametrize(
    ("name", "marker"),
    [
        ("qwen3-coder", "</function>"),
        ("qwen-qwen3-0-6b", "<think>"),
        ("kimi-k3", "<|open|>think<|sep|>"),
    ],
)
def test_watching_grows_with_the_text(
    name: str, marker: str, piece: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fits is looked at a few times, however much did before."""
    looks = 0
    go = _Walk._go

    def counting(self: Any, phase: Any, rows: Any, here: int) -> Any:
        nonlocal looks
        looks += len(rows)
        return go(self, phase, rows, here)

    monkeypatch.setattr(_Walk, "_go", counting)
    counts = []
    for repeated in (100, 200, 400):
        looks = 0
        trace(facts_of_format(name), f"{marker}a" * repeated, {}, piece=piece)
        counts.append(looks)
    assert counts[0] >= 100
    assert counts[2] - counts[1] <= 2.1 * (counts[1] - counts[0])


@pytest.mark.parametrize("name", ["01-ai-yi-1-5-chat", "qwen3-coder"])
def test_nothing_of_it_is_in_a_compiled_parser(name: str) -> None:
    for source in (compiled_source(facts_of_format(name)), shared_source()):
        assert not re.search("IS_TRACED|OBSERVER|begun, end", source)


def found_prefill(module: FormatModule, options: Mapping[str, Any]) -> str:
    prefill = str(options.get("prefill", module.FORMAT["prompt"]))
    return prefill.removeprefix(module.FORMAT["header"])


def check_events(
    module: FormatModule,
    text: str,
    options: Mapping[str, Any],
    piece: int | None,
    steps: tuple[Step, ...],
) -> None:
    parser = module.Parser(**options)
    size = piece or max(len(text), 1)
    events = [
        event
        for start in range(0, len(text), size)
        for event in parser.feed(text[start : start + size])
    ]
    events += parser.finish()
    told = [event for step in steps if step.phase is not Phase.PROMPT for event in step.events]
    assert told == [{"type": event.type, **data(event)} for event in events]
    assert not any(step.events for step in steps if step.phase is Phase.PROMPT)


def test_a_step_names_its_table_and_rule() -> None:
    first, second = trace(facts_of_format("qwen3-coder"), "Hello!<|im_end|>\n", {}).steps
    assert (first.state, first.role, first.marker) == ("in text", "turn end", "<|im_end|>")
    assert (second.state, second.role, second.marker) == ("after turn end", "", "")
    assert (first.offset, second.offset) == (0, 16)


def test_what_ends_a_text_and_is_read_after_it_is_named() -> None:
    steps = trace(facts_of_format("qwen3-coder"), DEVIATING, {}).steps
    assert ("in value", "next argument", "Paris") in [
        (step.state, step.role, step.consumed) for step in steps
    ]


def test_text_that_is_read_once_more_is_told_where_it_stands() -> None:
    text = '<tool_call>\n{"x": 1}\n</tool_call> Sorry.<|im_end|>'
    found = trace(facts_of_format("qwen-qwen3-0-6b"), text, {})
    told = "".join(event["text"] for step in found.steps for event in step.events)
    assert told == found.message["content"] == text.removesuffix("<|im_end|>")
    assert [step.state for step in found.steps][:3] == ["in text", "between calls", "in object"]


def test_the_prompt_is_told_apart() -> None:
    facts = facts_of_format("deepseek-ai-deepseek-r1-distill-qwen-32b")
    found = trace(facts, "So.</think>Hi", {"enable_thinking": True})
    assert [(step.phase.value, step.offset, step.consumed) for step in found.steps] == [
        ("prompt", -8, "<think>"),
        ("prompt", -1, "\n"),
        ("text", 0, "So.</think>"),
        ("text", 11, "Hi"),
    ]


def test_what_is_settled_at_the_end_is_of_no_state() -> None:
    facts = facts_of_format("qwen-qwq-32b")
    *_, last = trace(facts, "So", {"enable_thinking": True}).steps
    assert (last.phase, last.state, last.offset, last.consumed) == (Phase.END, "", 2, "")
    assert [problem["kind"] for problem in last.problems] == ["unclosed"]


def test_a_problem_is_told_where_it_stands() -> None:
    found = trace(facts_of_format("qwen-qwq-32b"), '<tool_call>\n{"name"', {"prefill": ""})
    assert [(step.offset, step.problems) for step in found.steps if step.problems] == [
        (0, [{"offset": 0, "kind": "cut_off", "message": '<tool_call>\n{"name"'}])
    ]


def test_as_data() -> None:
    found = trace(facts_of_format("qwen3-coder"), DEVIATING, {"tools": TOOLS})
    shown = json.loads(json.dumps(trace_data(found)))
    assert [problem["kind"] for problem in shown["problems"]] == [
        "missing_marker",
        "cut_off",
        "wrong_type",
    ]
    assert shown["message"]["tool_calls"][0]["function"]["name"] == "get_weather"
    assert set(shown["steps"][0]) == {
        *("phase", "state", "role", "marker", "offset", "consumed", "events", "problems"),
    }


def test_the_command(tmp_path: Path) -> None:
    text = "Hello!<|im_end|>"
    said = run("explain", "qwen3-coder", "--trace", text, "--root", ROOT)
    assert (said.exit_code, said.stderr) == (0, "")
    assert said.stdout == (
        "    0 in text: turn end\n"
        '      takes "Hello!<|im_end|>"\n'
        '      tells content: "Hello!"\n'
        "{\n"
        '  "role": "assistant",\n'
        '  "content": "Hello!"\n'
        "}\n"
    )
    path = tmp_path / "output.txt"
    path.write_text(text, encoding="utf-8")
    for file, given in ((path, None), ("-", text)):
        arguments = ("qwen3-coder", "--trace-file", file, "--root", ROOT)
        assert run("explain", *arguments, given=given).stdout == said.stdout


def test_a_compiled_parser_has_none() -> None:
    module = ROOT / OutputPaths.in_project("qwen3-coder").module
    said = run("explain", module, "--trace", "Hi")
    assert said.exit_code == 2
    assert said.stderr.endswith("a compiled parser has no trace; name its format instead\n")


def test_of_a_template_that_was_never_added() -> None:
    result = run("explain", FOLDER / "tagged-parameters.jinja", "--trace", "Hi<:end:>", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = json.loads(result.stdout)
    assert shown["message"] == {"role": "assistant", "content": "Hi"}
    assert [step["state"] for step in shown["steps"]] == ["in text"]


def test_options_reach_the_parser(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS), encoding="utf-8")
    arguments = ["qwen3-coder", "--trace", DEVIATING, "--root", ROOT, "--json"]
    typed = json.loads(run("explain", *arguments, "--tools", tools).stdout)
    plain = json.loads(run("explain", *arguments).stdout)
    assert "wrong_type" in [problem["kind"] for problem in typed["problems"]]
    assert "wrong_type" not in [problem["kind"] for problem in plain["problems"]]
    thinking = ["qwen-qwen3-0-6b", "--root", ROOT, "--trace", "Hi", "--json"]
    assert "prompt" in [
        step["phase"]
        for step in json.loads(run("explain", *thinking, "--no-thinking").stdout)["steps"]
    ]
    prefilled = json.loads(run("explain", *thinking, "--prefill", "<think>\n").stdout)
    assert prefilled["message"]["reasoning_content"] == "Hi"
    assert len(json.loads(run("explain", *thinking, "--piece", "1").stdout)["steps"]) == 2


def test_no_control_characters_are_printed() -> None:
    result = run_whole("explain", "qwen3-coder", "--trace", "a\x1b[31m\x07b", cwd=ROOT)
    assert result.returncode == 0
    assert 'takes "a\\x1B[31m\\x07b"' in result.stdout
    assert "\x1b" not in result.stdout
