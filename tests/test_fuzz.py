"""A bounded run of the fuzzer, and proof that it would tell of a failure."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.generated_formats import EVERY_FORMAT
from tests.parser_formats import HERMES
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.sources.named_texts import NamedTexts
from turnspec.spec.problems import Problem

ROOT = Path(__file__).parent.parent
#: A parser of each kind; the others are of the same engine, and `make fuzz` has them all.
PARSERS = ("qwen3-coder", "qwen-qwen3-0-6b", "minimax-m3", "kimi-k3", "google-gemma-4-31b-it")
#: How often each target is tried: one for a second or so; longer, and all, in the long runs.
RUNS = {"gguf": 500}
if EVERY_FORMAT:
    RUNS = {"parser": 20_000, "gguf": 3_000, "specs": 150, "grammar": 300, "markers": 3}
NEEDED = "the tests need atheris, which has wheels for Linux on x86_64 with Python 3.11 to 3.13"


@pytest.fixture(autouse=True)
def atheris() -> None:
    """Fail with clear words where the fuzzer isn't installed."""
    if importlib.util.find_spec("atheris") is None:
        pytest.fail(NEEDED, pytrace=False)


@pytest.mark.parametrize("target", RUNS)
def test_fuzzing_finds_nothing(target: str, tmp_path: Path) -> None:
    runs = RUNS[target]
    command = [sys.executable, "-m", "tests.fuzz", target, f"-runs={runs}", "-seed=2026"]
    command += PARSERS if target == "parser" else ()
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
    assert f"Done {runs} runs" in told


def test_what_was_found_once_is_mended() -> None:
    from tests.fuzz.fuzz_markers import TARGET

    for attempt in TARGET.found:
        TARGET.check(attempt)


def test_an_unknown_target_is_told() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "nothing"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.startswith("error: there is no target 'nothing'; there are: parser, ")


@pytest.mark.parametrize(
    ("target", "function", "returned"),
    [
        ("gguf", "read_gguf", (NamedTexts({"default": "x" * 999}, {}), [])),
        ("specs", "load_checked_spec", []),
        ("grammar", "bind_grammar", [Problem("")]),
        ("markers", "check_spec", [Problem("")]),
    ],
)
def test_a_promise_that_is_broken_is_told_of(
    target: str, function: str, returned: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.fuzz.fuzzing import run

    module = importlib.import_module(f"tests.fuzz.fuzz_{target}")
    run(module.TARGET, b"abcdefghijklmnop")
    monkeypatch.setattr(module, function, lambda *_: returned)
    with pytest.raises(AssertionError):
        run(module.TARGET, b"abcdefghijklmnop")


@pytest.mark.parametrize("fault", ["feed", "finish", "parse"])
def test_a_faulty_parser_is_told_of(fault: str) -> None:
    from tests.fuzz.fuzz_parser import Attempt, Target, check

    target = Target("faulty", load(HERMES), HERMES.turn.header, (), ())
    attempt = Attempt(target, ("Hello", " <tool_"), {})
    check(attempt)
    broken = replace(attempt, target=replace(target, module=broken_format(target.module, fault)))
    with pytest.raises((AssertionError, ZeroDivisionError)):
        check(broken)


@dataclass(frozen=True, slots=True)
class Broken:
    """A format with another parser."""

    FORMAT: Mapping[str, Any]
    Parser: type[Any]
    parse: Callable[..., Any]


def broken_format(module: FormatModule, fault: str) -> FormatModule:
    """Return a format whose parser loses chunks or events, or raises."""

    class Faulty(module.Parser):  # type: ignore[misc, name-defined]
        def feed(self, text: str, special: bool = False) -> object:
            if fault == "parse":
                return 1 // 0
            return super().feed(text[:-1] if fault == "feed" else text, special)

        def finish(self) -> object:
            events = super().finish()
            return [] if fault == "finish" else events

    return cast(FormatModule, Broken(module.FORMAT, Faulty, module.parse))
