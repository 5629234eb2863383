"""Cases of formats for suites: what was written is in them, and read; each suite's form."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

import turnspec.cli.cases as command
from tests.generated_formats import KINDS, committed_format
from turnspec.cases.drawing import DrawnCase, differences, draw_cases, without_stop
from turnspec.cases.forms import FORMS, Suite
from turnspec.cases.tokens import Vocabulary
from turnspec.cli.tokens import tokens
from turnspec.spec.turn_end import stop_strings

COUNT = 12


def drawn_in(name: str, form: str, seed: int = 0) -> list[DrawnCase]:
    """Return a format's cases in a form."""
    fit = partial(FORMS[form].fit, suite(name))
    return draw_cases(committed_format(name), COUNT, seed, fit)


def suite(name: str) -> Suite:
    """Return a suite that names a format as turnspec does."""
    return Suite(committed_format(name), name, f"turnspec/{name}", "0" * 40, 0)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("form", ["turnspec", "canitoolcall", "dynamo"])
def test_cases_are_read_as_they_were_written(name: str, form: str) -> None:
    drawn = drawn_in(name, form)
    assert [case.deviation != "" for case in drawn].count(True) == COUNT // 2
    for case in drawn:
        assert "".join(case.pieces) == case.case.text
        assert not list(differences(committed_format(name).module, case.case, case.pieces))
        stops = stop_strings(committed_format(name).spec)
        assert form == "turnspec" or not any(stop in case.case.text for stop in stops)
        json.dumps(FORMS[form].line(suite(name), 1, case))
    assert drawn == drawn_in(name, form) != drawn_in(name, form, seed=1)


def test_a_case_that_is_read_otherwise_is_told() -> None:
    form = committed_format("qwen3-coder")
    case = drawn_in("qwen3-coder", "turnspec")[0].case
    assert not list(differences(form.module, case))
    for wrong in (replace(case, content="other"), replace(case, told=frozenset({"malformed"}))):
        assert list(differences(form.module, wrong))


def test_suites_get_no_text_behind_what_stops_a_model() -> None:
    spec = committed_format("kimi-k3").spec
    ended = "x<|close|>response<|sep|><|close|>message<|sep|>"
    assert without_stop(spec, f"{ended}<|end_of_msg|>") == "x<|close|>response<|sep|>"
    assert without_stop(spec, f"{ended} And more.") is None


def test_dynamos_stages_are_told_apart() -> None:
    for drawn in drawn_in("moonshotai-kimi-k2-5", "dynamo"):
        line = FORMS["dynamo"].line(suite("moonshotai-kimi-k2-5"), 1, drawn)
        ((key, case),) = line["cases"].items()
        stage = "TOOLCALLING" if drawn.case.calls else "REASONING"
        assert key == f"{stage}.batch.1"
        expected = case["expected"]["dynamo"]
        assert expected.get("reasoning_text", "") == drawn.case.reasoning
        assert expected.get("calls", []) == [
            {"name": name, "arguments": arguments} for name, arguments in drawn.case.calls
        ]
        streamed = FORMS["dynamo-stream"].line(suite("moonshotai-kimi-k2-5"), 1, drawn)
        ((_, stream),) = streamed["cases"].items()
        chunks = [
            chunk if isinstance(chunk, str) else chunk["delta_text"] for chunk in stream["chunks"]
        ]
        assert "".join(chunks) == case["model_text"]


class Bytes:
    """A tokenizer with a token for each byte, and one for a marker, as byte-level ones cut text."""

    def encode(self, text: str, *, add_special_tokens: bool) -> Any:
        ids: list[int] = []
        offsets = []
        for at, sign in enumerate(text.replace("<|im_end|>", "\0")):
            for byte in sign.encode():
                ids.append(byte)
                offsets.append((at, at + 1))
        return SimpleNamespace(ids=ids, offsets=offsets)

    def decode(self, ids: tuple[int, ...], *, skip_special_tokens: bool) -> str:
        return bytes(ids).decode()


def test_a_piece_is_a_token_and_characters_stay_whole() -> None:
    vocabulary = Vocabulary(Bytes(), {})
    assert vocabulary.cut("aé<") == (("a", "", "é", "<"), (97, 0xC3, 0xA9, 60))
    assert vocabulary.cut("") == ((), ())
    assert vocabulary.cut("\udbff") is None
    assert vocabulary.cut("<|im_end|>") is None, "its tokens stand for another text"


def test_markers_are_tokens_or_pieces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    vocabulary = Vocabulary(Bytes(), {"<|im_end|>": 0})
    monkeypatch.setattr(Vocabulary, "read", lambda path: vocabulary)
    file = tmp_path / "tokenizer.json"
    file.touch()
    given = ["qwen3-coder", "--tokenizer", str(file)]
    told = CliRunner().invoke(tokens, given).stdout.splitlines()
    assert told[0] == 'stop              "<|im_end|>" token 0'
    assert 'marker            "<parameter=" pieces 60 112 97 114 97 109 101 116 101 114 61' in told
    rows = json.loads(CliRunner().invoke(tokens, [*given, "--json"]).stdout)
    assert rows[0] == {"role": "stop", "text": "<|im_end|>", "ids": [0], "token": True}
    assert CliRunner().invoke(tokens, ["qwen3-coder"]).exit_code == 2


def test_the_command_writes_what_the_suite_looks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["qwen3-coder", "-n", "6", "--form", "canitoolcall", "--into", str(tmp_path)]
    result = CliRunner().invoke(command.cases, given)
    assert result.exit_code == 0, result.output
    folder = tmp_path / "qwen3-coder"
    family = json.loads((folder / "family.json").read_text(encoding="utf-8"))
    lines = (folder / "turnspec.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 6
    for line in map(json.loads, lines):
        assert line["models"] == [family["reference_models"][0]["repo"]]
        assert line["expected"].keys() == {"content", "reasoning_content", "tool_calls"}
    monkeypatch.setattr(command, "differences", lambda *given: ["content: wanted 'a'"])
    result = CliRunner().invoke(command.cases, ["qwen3-coder", "-n", "1"])
    assert result.exit_code == 1
    assert "otherwise: content" in result.output
