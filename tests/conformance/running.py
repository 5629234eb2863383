"""Starts `replay.py` in the environment that has canitoolcall, and reads what it prints."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

from tests.conformance.outcomes import Outcome
from tests.generated_formats import ROOT


class Failed(Exception):
    """The run ended before all cases were judged; what was wrong has been told."""

    def __init__(self, code: int) -> None:
        """Keep the exit code."""
        super().__init__(f"exit code {code}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Run:
    """What came of all chosen cases, and what canitoolcall says of itself.

    ``digest`` is the hash over all its cases, ``ways`` in how many ways each is streamed, and
    ``description`` the text of its package's page.
    """

    version: str
    digest: str
    ways: int
    description: str
    outcomes: tuple[Outcome, ...]


def replayed(python: Path, patterns: Sequence[str]) -> Run:
    """Replay the cases that go by a pattern, or all; raise `Failed` if that can't be done."""
    command = [str(python), "-m", "tests.conformance.replay", *patterns]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        run = read_run(process.stdout)
        code = process.wait()
    if run is None or code:
        raise Failed(code or 1)
    return run


def read_run(lines: Iterable[str]) -> Run | None:
    """Return what the lines of `replay.py` tell, None if there are none, or fewer than it said."""
    found = map(json.loads, lines)
    head = next(found, None)
    if head is None:
        return None
    console = Console(stderr=True)
    cases = track(found, "replaying", head["total"], console=console, transient=True)
    outcomes = tuple(map(Outcome.of, cases))
    if len(outcomes) < head["total"]:
        return None
    return Run(head["version"], head["digest"], head["ways"], head["description"], outcomes)
