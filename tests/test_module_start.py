"""The comparison of parsers with others: what it measures and prints, never how long it takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import module_limits, module_start
from click.testing import CliRunner, Result

NAME, OTHER = "01-ai-yi-1-5-chat", "qwen3-coder"
GENERATED = str(Path(__file__).parent.parent / "generated")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(module_start.main, ["--rounds", "1", *arguments])


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, name in enumerate(("_SHORT", "_SIZE", "_LONG"), 1):
        monkeypatch.setattr(module_start, name, 256 * number)


def test_start_is_measured_beside_other_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_limits, "START_RATIO", 99.0)
    result = run("--against", GENERATED, "--only", "start", "--json", NAME)
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["start"]
    assert found["name"] == NAME
    assert found["ratio"] == pytest.approx(found["seconds"] / found["seconds_before"])
    assert found["seconds"] > 0


def test_each_long_text_is_measured_and_what_is_over_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module_limits, "PIECE_RATIOS", dict.fromkeys(module_limits.PIECE_RATIOS, 0))
    result = run("--against", GENERATED, "--only", "pieces", NAME, OTHER)
    assert result.exit_code == 1
    rows = [line for line in result.stdout.splitlines() if OTHER in line or NAME in line]
    assert [row.split("│")[2].strip() for row in rows] == [
        *("content", "content", "string argument", "code"),
    ]
    assert f"missed: {OTHER}, code, by the floor: " in result.stderr
    assert "\x1b" not in result.stdout


def test_neither_a_folder_nor_a_revision_is_wrong_usage() -> None:
    result = run("--against", "no-such-revision", NAME)
    assert result.exit_code == 2
    assert "no-such-revision is neither a folder nor a git revision" in result.stderr
    assert run("nobody").exit_code == 2


def test_help_has_an_example() -> None:
    assert "python -m benchmarks.module_start --against" in run("--help").stdout
