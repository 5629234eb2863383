"""The second half of `make bench`: parsers in JavaScript beside those in Python, in one run.

    python -m benchmarks.typescript_speed [NAME ...]

Exit codes: 0 all targets are reached; 1 one is missed.
"""

from __future__ import annotations

import json
import statistics
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
from benchmarks.measuring import PIECE, Effort, measurable, streamed_rounds
from turnspec.codegen.facts import facts_of
from turnspec.codegen.typescript import Script, script_text

_ROOT = Path(__file__).parent.parent
_SCRIPT = Path(__file__).parent / "typescript_speed.mjs"
_SIZES = _SMALL, _SIZE, _LARGE = 16_384, 65_536, 1_048_576  # characters of the long text
_EFFORT = Effort(9, 20.0)
_TIMES = 5.0  # as quick as the Python engine
_GROWTH = 1.5  # the cost of a piece in the longest text by that in the shortest


@dataclass(frozen=True, slots=True)
class Speed:
    """Microseconds per piece of a long text, by rounds: Python's, and TypeScript's by size.

    Rounds are compared one by one, as the machine may have more to do in one than in another.
    """

    format: Format
    part: LongText
    python: list[float]
    typescript: dict[int, list[float]]

    @property
    def times(self) -> float:
        """How many times as quick TypeScript is."""
        return _ratio(self.python, self.typescript[_SIZE])

    @property
    def growth(self) -> float:
        """The cost of a piece in the longest text by that in the shortest."""
        return _ratio(self.typescript[_LARGE], self.typescript[_SMALL])

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
        for each in chosen:
            text = script_text(each.source, facts_of(each.spec), Script.JAVASCRIPT)
            (Path(folder) / f"{each.name}.mjs").write_text(text, encoding="utf-8")
        command = [node(), str(_SCRIPT), folder]
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
            speed = Speed(known, part, [], {size: [] for size in _SIZES})
            _measured(process, _request(known, part))  # this round doesn't count
            for taken in streamed_rounds(known, part, [_SIZE], _EFFORT):
                speed.python.extend(taken[_SIZE])
                for size, each in zip(_SIZES, _measured(process, None), strict=True):
                    speed.typescript[size].append(each)
            yield speed


def _request(known: Format, part: LongText) -> dict[str, Any]:
    turns = [long_turn(known.spec, part, size) for size in _SIZES]
    return {
        "name": known.name,
        "options": {"tools": turns[0].tools, "prefill": known.spec.turn.header},
        "turns": [{"lead": turn.lead, "body": turn.body} for turn in turns],
        "piece": PIECE,
    }


def _measured(process: subprocess.Popen[str], request: dict[str, Any] | None) -> list[float]:
    """Return the microseconds of a piece, by the text's size; of the last request if it is None."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    return [float(each) for each in json.loads(process.stdout.readline())]


def _ratio(ones: list[float], others: list[float]) -> float:
    return statistics.median(one / other for one, other in zip(ones, others, strict=True))


def _show(speeds: list[Speed]) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    table = Table(title=f"in pieces of {PIECE} characters: µs per piece", title_justify="left")
    for column in ("parser", "long text", "Python", "TypeScript", "times", "1M", "1M : 16k", ""):
        table.add_column(column, justify="left" if column in ("parser", "long text") else "right")
    for speed in speeds:
        table.add_row(
            speed.format.name,
            str(speed.part),
            f"{statistics.median(speed.python):.2f}",
            f"{statistics.median(speed.typescript[_SIZE]):.3f}",
            f"{speed.times:.1f}",
            f"{statistics.median(speed.typescript[_LARGE]):.3f}",
            f"{speed.growth:.2f}",
            "[green]ok[/green]" if speed.ok else "[red]over[/red]",
        )
    console.print(table)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
