"""`turnspec explain --trace`: a text walked through a parser, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import PARTS, ROOT, committed_format, committed_spec
from tests.own_templates import FOLDER
from tests.test_cli import run, run_whole
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.explain import trace as trace_module
from turnspec.explain.samples import sample_turns
from turnspec.explain.shown import trace_data, trace_lines
from turnspec.explain.trace import Phase, Step, trace
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


def text_of(module: FormatModule, text: str, piece: int | None = None, **options: Any) -> str:
    lines = trace_lines(trace(module, text, options, piece=piece))
    return "\n".join("".join(part for part, _ in line) for line in lines)


@pytest.mark.parametrize("name", ["qwen3-coder", "qwen-qwen3-0-6b", "glm-4-6"])
def test_the_steps_of_a_sample(name: str, snapshot: SnapshotAssertion) -> None:
    spec, module = committed_spec(name), load(committed_spec(name))
    sample = sample_turns(spec)[-1].text.removeprefix(spec.turn.header)
    assert text_of(module, sample, tools=TOOLS) == snapshot


def test_the_steps_of_a_text_that_deviates(snapshot: SnapshotAssertion) -> None:
    module = load(committed_spec("qwen3-coder"))
    assert text_of(module, DEVIATING, tools=TOOLS) == snapshot


def test_in_pieces(snapshot: SnapshotAssertion) -> None:
    module = load(committed_spec("qwen3-coder"))
    assert text_of(module, "Hello, Paris!<|im_end|>", piece=4) == snapshot


def texts(name: str) -> Iterator[str]:
    """Yield turns, turns cut off and gone on with, and JSON that is or isn't a call."""
    spec = committed_format(name).spec
    for sample in sample_turns(spec):
        turn = sample.text.removeprefix(spec.turn.header)
        yield from (turn, turn[: len(turn) // 2], turn + " more", "Look: " + turn)
    yield from ("", '{"name": "get_weather", "x": 1} no', '[{"name": "a"', "<x> </x>")


def consumed(steps: tuple[Step, ...]) -> str:
    text = ""
    for step in steps:
        text = text[: len(text) - len(step.returned)] + step.consumed
    return text


@pytest.mark.parametrize("name", PARTS)
def test_a_trace_is_what_the_parser_does(name: str) -> None:
    """Watching changes nothing, and every character and event is in a step, in order."""
    module = load(committed_spec(name))
    options: tuple[Mapping[str, Any], ...] = ({}, {"prefill": "", "tools": TOOLS}, {"echo": True})
    for text in texts(name):
        for given in options:
            for piece in (None, 1, 5):
                found = trace(module, text, given, piece=piece)
                message = module.parse(text, **given)
                assert found.message == message.to_dict()
                assert found.problems == tuple(map(asdict, message.problems))
                prefill = found_prefill(module, given)
                assert consumed(found.steps) == prefill + text
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
    """What is told is looked at once, however much was told before."""
    looks = 0

    def counting(item: object) -> int:
        nonlocal looks
        looks += 1
        return id(item)

    monkeypatch.setattr(trace_module, "id", counting, raising=False)
    counts = []
    for repeated in (100, 200, 400):
        looks = 0
        trace(load(committed_spec(name)), f"{marker}a" * repeated, {}, piece=piece)
        counts.append(looks)
    assert counts[0] > 100
    assert counts[2] - counts[1] <= 2.1 * (counts[1] - counts[0])


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
    # With echo, what the prompt tells comes with the first piece; else it is left out.
    phases = set(Phase) if options.get("echo") else {Phase.TEXT, Phase.END}
    told = [event for step in steps if step.phase in phases for event in step.events]
    assert told == [asdict(event) for event in events]


def test_states_are_named_and_described() -> None:
    module = load(committed_spec("qwen3-coder"))
    first = trace(module, "Hello!<|im_end|>", {}).steps[0]
    assert (first.state, first.next_state, first.offset) == ("text", "rest", 0)
    assert first.about == "Read text up to a marker, and do what the marker asks for."


def test_the_prompt_is_told_apart() -> None:
    module = load(committed_spec("deepseek-ai-deepseek-r1-distill-qwen-32b"))
    found = trace(module, "So.</think>Hi", {"enable_thinking": True})
    assert [(step.phase.value, step.offset, step.consumed) for step in found.steps] == [
        ("prompt", -8, "<think>"),
        ("prompt", -1, "\n"),
        ("text", 0, "So.</think>"),
        ("text", 11, "Hi"),
    ]


def test_what_is_settled_at_the_end_is_of_no_state() -> None:
    module = load(committed_spec("qwen-qwq-32b"))
    *_, dropped, unclosed = trace(module, '<tool_call>\n{"name"', {"enable_thinking": True}).steps
    for step, kind in ((dropped, "cut_off"), (unclosed, "unclosed")):
        assert (step.phase, step.state) == (Phase.END, "")
        assert [problem["kind"] for problem in step.problems] == [kind]


def test_as_data() -> None:
    module = load(committed_spec("qwen3-coder"))
    data = json.loads(json.dumps(trace_data(trace(module, DEVIATING, {"tools": TOOLS}))))
    assert [problem["kind"] for problem in data["problems"]] == [
        "missing_marker",
        "cut_off",
        "wrong_type",
    ]
    assert data["message"]["tool_calls"][0]["function"]["name"] == "get_weather"
    assert {"state", "next_state", "consumed", "events", "problems"} <= set(data["steps"][0])


def test_the_command(tmp_path: Path) -> None:
    text = "Hello!<|im_end|>"
    said = run("explain", "qwen3-coder", "--trace", text, "--root", ROOT)
    assert (said.exit_code, said.stderr) == (0, "")
    assert said.stdout == (
        "    0 text → rest\n"
        '      takes "Hello!<|im_end|>"\n'
        '      tells content: "Hello!"\n'
        "{\n"
        '  "role": "assistant",\n'
        '  "content": "Hello!"\n'
        "}\n"
    )
    path = tmp_path / "output.txt"
    path.write_text(text, encoding="utf-8")
    module = ROOT / OutputPaths.in_project("qwen3-coder").module
    for arguments in (
        ("qwen3-coder", "--trace-file", path, "--root", ROOT),
        (module, "--trace", text),
    ):
        assert run("explain", *arguments).stdout == said.stdout
    given = run("explain", module, "--trace-file", "-", given=text)
    assert given.stdout == said.stdout


def test_of_a_template_that_was_never_added() -> None:
    result = run("explain", FOLDER / "tagged-parameters.jinja", "--trace", "Hi<:end:>", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    data = json.loads(result.stdout)
    assert data["message"] == {"role": "assistant", "content": "Hi"}
    assert [step["state"] for step in data["steps"]] == ["text"]


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
