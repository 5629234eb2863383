"""The README's example prints what the README says, and its figures are those of the results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from turnspec.spec.results import RUNGS, read_results

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_it_says() -> None:
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    shown = re.findall(r"```\n(\{'role.*?)\n```", README, re.DOTALL)[0]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "generated",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == shown


def test_the_figures_are_those_of_the_results() -> None:
    results = read_results(ROOT / "specs" / "verification.json")
    assert isinstance(results, dict)
    for rung in RUNGS:
        passing = sum(result.rungs[rung].failed == 0 for result in results.values())
        row = re.search(rf"^\| rung {rung}: .*\| (\d+) \|$", README, re.MULTILINE)
        assert row is not None
        assert int(row.group(1)) == passing
