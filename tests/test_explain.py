"""`turnspec explain`: comparisons, sample turns, and what it prints."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import KINDS, committed_format
from tests.own_checkouts import add_text, new_checkout
from tests.own_templates import FOLDER, given_template, own_template
from tests.specs_for_tests import json_native_spec, plain_spec, tag_with_json_spec, tagged_spec
from tests.test_cli import run, run_apart, run_whole
from turnspec.analysis.analyze import analyze_template
from turnspec.analysis.overlay_draft import advise
from turnspec.cli.explain import STYLES
from turnspec.codegen.writer import write_turn
from turnspec.explain.annotate import Kind, annotated_turn
from turnspec.explain.explanation import Explanation, explain_template
from turnspec.explain.samples import sample_turns
from turnspec.explain.shown import explanation_data, explanation_lines
from turnspec.pipeline.standing import Standings
from turnspec.rendering.conversation import Chat
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.overlay import OverlayText
from turnspec.spec.visible import visible

EXPLAINED = (
    "json-in-tags",
    "tagged-parameters",
    "thinking-switch",
    "stripped-reasoning",
    "brackets-with-id",
)


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    with RenderWorker() as worker:
        yield worker


@cache
def explained(name: str, worker: RenderWorker) -> Explanation:
    found = explain_template(own_template(name), Standings())
    assert isinstance(found, Explanation)
    return found


def text_of(explanation: Explanation, *, verbose: bool = False) -> str:
    lines = explanation_lines(explanation, verbose=verbose)
    return "\n".join("".join(text for text, _ in line) for line in lines)


@pytest.mark.parametrize("name", EXPLAINED)
def test_an_explanation(name: str, worker: RenderWorker, snapshot: SnapshotAssertion) -> None:
    assert text_of(explained(name, worker)) == snapshot


def test_with_notes_and_whole_texts(worker: RenderWorker, snapshot: SnapshotAssertion) -> None:
    assert text_of(explained("json-in-tags", worker), verbose=True) == snapshot


def test_as_data(worker: RenderWorker) -> None:
    data = json.loads(json.dumps(explanation_data(explained("json-in-tags", worker))))
    comparisons = {found["name"]: found for found in data["comparisons"]}
    assert list(comparisons) == ["R1", "R2", "R3", "C1", "T1", "T2", "T3", "T4", "A2", "T6", "T7"]
    (difference,) = comparisons["R1"]["differences"]
    assert difference["removed"] == ""
    assert difference["added"] == "<ponder>\nreasqa\n</ponder>\n\n"
    whole = difference["before"] + difference["added"] + difference["after"]
    assert whole == difference["right"]["text"]
    assert comparisons["R1"]["taken"]["reasoning start"] == '"<ponder>\\n"'


def test_the_texts_of_a_difference_add_up(worker: RenderWorker) -> None:
    for name in EXPLAINED:
        for comparison in explained(name, worker).comparisons:
            for difference in comparison.differences:
                if difference.is_there:
                    old, new = difference.parts
                    assert difference.before + old + difference.after == difference.left.text
                    assert difference.before + new + difference.after == difference.right.text
                    assert old != new


def test_calls_that_only_an_overlay_knows(worker: RenderWorker) -> None:
    source = own_template("calls-only-described")
    analysis = analyze_template(source, worker)
    assert analysis.spec is not None
    advice = advise(analysis.spec, source, Chat(worker, source.text, {}, analysis.dialect))
    assert advice.draft is not None
    overlay = OverlayText("overlay.yaml", advice.draft.text)
    found = explain_template(replace(source, overlay=overlay), Standings())
    assert isinstance(found, Explanation)
    assert [comparison.name for comparison in found.comparisons] == ["R1", "R2", "C1", "T1"]
    text = text_of(found)
    assert "  taken: nothing: calls are known from the overlay alone\n" in text
    assert "\nA call:\n  [assistant]<call>\n" in text
    assert "\nfrom the overlay: " in text


def test_what_was_not_found_is_told(worker: RenderWorker) -> None:
    assert text_of(explained("plain-content", worker)).endswith(
        "\nlimits: nothing\nnot found: reasoning markers; calls\nverification: verified"
    )


@pytest.mark.parametrize("name", KINDS)
def test_sample_turns_are_what_the_writer_writes(name: str) -> None:
    spec = committed_format(name).spec
    samples = sample_turns(spec)
    assert len(samples) == (2 if spec.tools else 1)
    for sample in samples:
        assert sample.segments[0].kind is Kind.HEADER
        assert all(segment.text for segment in sample.segments)
        assert not any(0xF0000 <= ord(character) <= 0xF00FF for character in sample.text)
    call = next((segment for segment in samples[-1].segments if segment.kind is Kind.NAME), None)
    assert call is None or call.text == "get_weather"
    assert (call is None) == (spec.tools is None)


@pytest.mark.parametrize(
    "spec", [json_native_spec(), tagged_spec(), tag_with_json_spec(), plain_spec()]
)
def test_parts_add_up_to_the_turn(spec: Spec) -> None:
    call = Call("find", {"text": "a < b", "deep": {"list": [1, None, "x"]}}, "abcdef123")
    calls = (call, call) if spec.tools else ()
    message = Message("Hello.", "Well …" if spec.reasoning.field else "", calls)
    turn = "".join(segment.text for segment in annotated_turn(spec, message))
    assert turn == write_turn(spec, message)


def test_parts_by_kind() -> None:
    spec = tagged_spec()
    found = [(segment.kind.value, segment.text) for segment in sample_turns(spec)[-1].segments]
    assert found[:11] + found[-2:] == [
        ("header", "<|turn|>assistant\n"),
        ("reasoning mark", "<think>\n"),
        ("reasoning", "I need the weather."),
        ("reasoning mark", "\n</think>\n\n"),
        ("call mark", "<tool_call>\n<function="),
        ("name", "get_weather"),
        ("call mark", ">\n"),
        ("argument mark", "<parameter="),
        ("key", "city"),
        ("argument mark", ">\n"),
        ("value", "Paris"),
        ("call mark", "</function>\n</tool_call>"),
        ("end", "<|stop|>\n"),
    ]


def test_every_kind_has_a_style() -> None:
    assert set(Kind) <= set(STYLES)


def test_what_does_something_to_a_terminal_is_escaped() -> None:
    assert visible("a\x1b[31mb\x07ｃ") == "a\\x1B[31mb\\x07ｃ"


def test_a_hostile_template_prints_no_control_characters(tmp_path: Path) -> None:
    text = (FOLDER / "plain-content.jinja").read_text(encoding="utf-8")
    path = tmp_path / "hostile.jinja"
    path.write_text(text.replace("<:end:>", "\x1b]0;x\x07[bold]"), encoding="utf-8")
    result = run("explain", path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "\x1b" not in result.stdout
    assert "It rains in Paris.\\x1B]0;x\\x07[bold]\n" in result.stdout


def test_of_a_checkout_by_name(tmp_path: Path) -> None:
    root = new_checkout(tmp_path / "checkout")
    result = run("explain", "plain-content", "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("plain-content\n\nR1 how is reasoning shown?\n")
    data = json.loads(run("explain", "plain-content", "--root", root, "--json").stdout)
    assert [template["name"] for template in data["templates"]] == ["plain-content"]
    assert data["templates"][0]["not_found"] == ["reasoning markers", "calls"]


def test_of_several_templates_of_a_folder(tmp_path: Path) -> None:
    template = (FOLDER / "plain-content.jinja").read_text(encoding="utf-8")
    named = [{"name": name, "template": template} for name in ("default", "other")]
    config = tmp_path / "model/tokenizer_config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"chat_template": named}), encoding="utf-8")
    result = run("explain", config.parent)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("R1 how is reasoning shown?") == 2


def test_a_template_that_cannot_be_used(tmp_path: Path) -> None:
    root = new_checkout(tmp_path / "checkout")
    add_text(root, "broken", "a\n{% if %}")
    result = run("explain", "broken", "--root", root)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "error: broken.jinja:2: syntax error: Expected an expression, "
        "got 'end of statement block'\n"
    )


def test_a_template_without_content(worker: RenderWorker) -> None:
    found = explain_template(given_template("{{ messages[0].content }}"), Standings())
    assert isinstance(found, list)
    assert [str(problem) for problem in found] == [
        "given.jinja: the template renders no assistant content"
    ]


UNKNOWN = "no format is known as 'none'; turnspec list shows all that are"
UNTRACED = "none.py: a compiled parser has no trace; name its format instead"
MISUSED = "--piece, --tools, --thinking and --prefill belong to --trace"


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["none"], 2, UNKNOWN),
        (["../none"], 1, "../none: there is no such file or folder"),
        (["none.jinja"], 1, "none.jinja: there is no such file or folder"),
        (["x", "--piece", "3"], 2, MISUSED),
        (["x", "--no-thinking"], 2, MISUSED),
        (["x", "--prefill", ""], 2, MISUSED),
        (["x", "--trace", "a", "--trace-file", "-"], 2, "give --trace or --trace-file, not both"),
        (["none", "--trace", "a"], 2, UNKNOWN),
        (["none.py", "--trace", "a"], 2, UNTRACED),
    ],
)
def test_rejected(tmp_path: Path, arguments: list[str], code: int, error: str) -> None:
    root = new_checkout(tmp_path / "checkout")
    result = run_whole("explain", *arguments, cwd=root)
    assert (result.returncode, result.stdout, result.stderr) == (code, "", f"error: {error}\n")


def test_no_colours_in_a_pipe_and_some_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    path = FOLDER / "plain-content.jinja"
    assert "\x1b" not in run_apart("explain", path).stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32mIt rains in Paris." in run_apart("explain", path).stdout


def test_nothing_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(FOLDER / "plain-content.jinja", folder)
    assert run_whole("explain", "plain-content.jinja", cwd=folder).returncode == 0
    assert [path.name for path in folder.iterdir()] == ["plain-content.jinja"]
