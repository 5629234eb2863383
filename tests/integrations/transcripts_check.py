"""A Parquet file through `turnspec parse`, by one process and by all, and through Ray Data.

All have to give the same. Prints the rows per second of each: medians of several runs, from the
command's start to its end, taken in turn so that another load of the machine meets all alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from tests.generated_formats import ROOT, committed_format
from tests.integrations.environments import environment
from tests.integrations.turns import cases
from turnspec.pipeline.project import OutputPaths

NAME = "qwen3-coder"
ROWS = 50_000
RUNS = 3
#: What runs turnspec without llama.cpp, and Ray Data.
PACKAGES = [
    "click",
    "jinja2",
    "jsonschema",
    "platformdirs",
    "pyyaml",
    "rich",
    "ray[data]",
    "pyarrow",
]
_EXAMPLE = ROOT / "examples" / "ray_data" / "parse_transcripts.py"
_WRITE = """
import json, sys
import pyarrow as pa
from pyarrow.parquet import write_table
texts, count, path = json.load(sys.stdin), int(sys.argv[1]), sys.argv[2]
rows = [texts[number % len(texts)] for number in range(count)]
write_table(pa.table({"id": range(count), "text": rows}), path, row_group_size=4096)
"""
_READ = """
import json, sys
from pyarrow.parquet import read_table
table = read_table(sys.argv[1]).sort_by("id")
print(json.dumps([table["parsed"].to_pylist(), table["id"].to_pylist()]))
"""


def check_transcripts() -> list[str]:
    """Return what went wrong."""
    python = environment("transcripts", [PACKAGES])
    turns = [case.text for case in cases(committed_format(NAME).spec)] + [None]
    with TemporaryDirectory() as name:
        folder = Path(name)
        given = folder / "in.parquet"
        _run(python, ["-c", _WRITE, str(ROWS), str(given)], json.dumps(turns))
        parser = ROOT / OutputPaths.in_project(NAME).module
        command = ["-m", "turnspec", "parse", str(parser), str(given), "--column", "text"]
        ways = {
            "one process": ("one.parquet", [*command, "--jobs", "1", "--into"]),
            "all cores": ("all.parquet", [*command, "--into"]),
            "Ray Data": ("ray", [str(_EXAMPLE), str(parser), str(given)]),
        }
        seconds: dict[str, list[float]] = {title: [] for title in ways}
        for number in range(RUNS):
            for title, (out, arguments) in ways.items():
                start = time.monotonic()
                _run(python, [*arguments, str(folder / f"{number}-{out}")])
                seconds[title].append(time.monotonic() - start)
            print(f"transcripts: run {number + 1}, load {os.getloadavg()[0]:.1f}")
        _tell(seconds)
        one, every, ray = (_found(python, folder / f"0-{out}") for out, _ in ways.values())
    faults = [] if one == every else ["all cores give something else than one process"]
    return faults + ([] if _texts(one) == _texts(ray) else ["Ray Data gives something else"])


def _tell(seconds: Mapping[str, Sequence[float]]) -> None:
    for title, taken in seconds.items():
        rates = sorted(ROWS / each for each in taken)
        span = f"{rates[0]:,.0f} to {rates[-1]:,.0f}"
        print(f"transcripts: {title}: {median(rates):,.0f} rows a second ({span})")


def _found(python: Path, path: Path) -> Any:
    texts, numbers = json.loads(_run(python, ["-c", _READ, str(path)]))
    assert numbers == [*range(ROWS)], "rows are missing"
    return texts


def _texts(found: Sequence[str]) -> list[Any]:
    """Return what was read, without the words for what is no text."""
    return [read if "error" not in (read := json.loads(text)) else None for text in found]


def _run(python: Path, arguments: Sequence[str], given: str = "") -> str:
    """Run Python; a row that isn't text makes turnspec's exit code 1."""
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "generator")))
    done = subprocess.run(
        [python, *arguments],
        input=given,
        capture_output=True,
        text=True,
        # Ray's processes are as urgent as the others that are measured.
        env={**os.environ, "PYTHONPATH": paths, "RAY_DEDUP_LOGS": "0", "RAY_worker_niceness": "0"},
    )
    if done.returncode not in (0, 1) or (done.returncode and "can't be read" not in done.stderr):
        raise RuntimeError(done.stderr[-2000:])
    return done.stdout
