"""A bounded run of the fuzzer, and proof that it would tell of a failure."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.parser_formats import HERMES
from turnspec.codegen.loading import FormatModule, LoadedFormat, load

ROOT = Path(__file__).parent.parent
RUNS = 60_000
NEEDED = "the tests need atheris, which has wheels for Linux on x86_64 with Python 3.11 to 3.13"


@pytest.fixture(autouse=True)
def atheris() -> None:
    """Fail with clear words where the fuzzer isn't installed."""
    if importlib.util.find_spec("atheris") is None:
        pytest.fail(NEEDED, pytrace=False)


def test_fuzzing_finds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz.fuzz_parser", f"-runs={RUNS}", "-seed=2026"]
    result = subprocess.run(
        [*command, f"-artifact_prefix={tmp_path}/"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    told = result.stdout + result.stderr
    failure = [line for line in told.splitlines() if "Error: " in line]
    assert result.returncode == 0, "\n".join(failure[:1]) or told[-2000:]
    assert f"Done {RUNS} runs" in told


@pytest.mark.parametrize("fault", ["feed", "finish", "parse"])
def test_a_faulty_parser_is_told_of(fault: str) -> None:
    from tests.fuzz.fuzz_parser import Attempt, Target, check

    target = Target("faulty", load(HERMES), HERMES.turn.header, (), ())
    attempt = Attempt(target, ("Hello", " <tool_"), {})
    check(attempt)
    broken = replace(attempt, target=replace(target, module=broken_format(target.module, fault)))
    with pytest.raises((AssertionError, ZeroDivisionError)):
        check(broken)


def broken_format(module: FormatModule, fault: str) -> FormatModule:
    """Return a format whose parser loses chunks or events, or raises."""

    class Faulty(module.Parser):  # type: ignore[misc, name-defined]
        def feed(self, text: str) -> object:
            if fault == "parse":
                return 1 // 0
            return super().feed(text[:-1] if fault == "feed" else text)

        def finish(self) -> object:
            events = super().finish()
            return [] if fault == "finish" else events

    return LoadedFormat(module.FORMAT, Faulty)
