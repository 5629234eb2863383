"""The second half of `make bench`: the TypeScript engine beside the Python engine, in one run.

    python -m benchmarks.typescript_speed [NAME ...]

Exit codes: 0 all targets are reached; 1 one is missed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.typescript.toolchain import node

from benchmarks.cases import Format, LongText, long_turn, read_formats, representatives
from benchmarks.measuring import PIECE, Effort, measurable, streamed
from turnspec.codegen.typescript import Script, script_engine

_ROOT = Path(__file__).parent.parent
_SCRIPT = Path(__file__).parent / "typescript_speed.mjs"
_SIZE, _SMALL, _LARGE = 65_536, 16_384, 1_048_576  # characters of the long text
_TIMES = 5.0  # as quick as the Python engine
_GROWTH = 1.5  # the cost of a piece in the longest text by that in the shortest


@dataclass(frozen=True, slots=True)
class Speed:
    """Microseconds per piece of a long text: Python's, and TypeScript's by the text's size."""

    format: Format
    part: LongText
    python: float
    typescript: dict[int, float]

    @property
    def times(self) -> float:
        """How many times as quick TypeScript is."""
        return self.python / self.typescript[_SIZE]

    @property
    def growth(self) -> float:
        """The cost of a piece in the longest text by that in the shortest."""
        return self.typescript[_LARGE] / self.typescript[_SMALL]

    @property
    def ok(self) -> bool:
        """Whether both targets are reached."""
        return self.times >= _TIMES and self.growth <= _GROWTH


def main(names: Sequence[str]) -> int:
    """Measure the parsers named, or one per class; print a table, and return the exit code."""
    known = read_formats(_ROOT)
    chosen = [each for each in known if each.name in names] or representatives(known)
    speeds: list[Speed] = []
    with tempfile.TemporaryDirectory() as folder:
        engine = Path(folder) / "engine.mjs"
        engine.write_text(script_engine(Script.JAVASCRIPT), encoding="utf-8")
        command = [node(), str(_SCRIPT), str(engine)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        ) as process:
            speeds += _speeds(process, chosen)
            process.communicate()
    _show(speeds)
    return int(not all(speed.ok for speed in speeds))


def _speeds(process: subprocess.Popen[str], chosen: Sequence[Format]) -> Iterator[Speed]:
    for known in chosen:
        for part in measurable(known):
            python = streamed(known, part, [_SIZE], Effort(5, 0.5)).microseconds[_SIZE]
            sizes = (_SMALL, _SIZE, _LARGE)
            typescript = {size: _measured(process, known, part, size) for size in sizes}
            yield Speed(known, part, python, typescript)


def _measured(process: subprocess.Popen[str], known: Format, part: LongText, size: int) -> float:
    turn = long_turn(known.spec, part, size)
    request: dict[str, Any] = {
        "table": known.load().FORMAT,
        "options": {"tools": turn.tools, "prefill": known.spec.turn.header},
        "lead": turn.lead,
        "body": turn.body,
        "piece": PIECE,
        "rounds": max(1, 5 * _SIZE // size),
    }
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def _show(speeds: list[Speed]) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    table = Table(title=f"in pieces of {PIECE} characters: µs per piece", title_justify="left")
    for column in ("parser", "long text", "Python", "TypeScript", "times", "1M", "1M : 16k", ""):
        table.add_column(column, justify="left" if column in ("parser", "long text") else "right")
    for speed in speeds:
        table.add_row(
            speed.format.name,
            str(speed.part),
            f"{speed.python:.2f}",
            f"{speed.typescript[_SIZE]:.3f}",
            f"{speed.times:.1f}",
            f"{speed.typescript[_LARGE]:.3f}",
            f"{speed.growth:.2f}",
            "[green]ok[/green]" if speed.ok else "[red]over[/red]",
        )
    console.print(table)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
