"""The command of `make module-start`: how soon the parsers are there, and what a piece costs them.

This tree's parsers are compared with others (of a git revision, or of a folder), by turns, in the
time of the processor: the import and a first turn, each in a process of its own with bytecode
written; and pieces of 4 characters. These are compared with a floor as well: a method that keeps a
piece and makes one event.

Exit codes: 0 all limits are kept; 1 some aren't, or a text doesn't come back; 2 wrong usage.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import module_limits as limits
from benchmarks.cases import (
    Format,
    LongText,
    LongTurn,
    has_part,
    read_formats,
    representatives,
    said,
    turn_with,
)
from benchmarks.measuring import PIECE, no_garbage_collection
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.pipeline.project import OutputPaths
from turnspec.pipeline.samples import sample_turns

_ROOT = Path(__file__).parent.parent
#: The last revision whose parsers copied the engine.
_BEFORE = "084c2fb"
_SHORT, _SIZE, _LONG = 16_384, 65_536, 1_048_576  # characters of a long text
_PROSE = "upon a time, in a far-away land, there lived 3 old men; they said little.\n"
_CODE = (
    'def tell(story: str) -> None:\n    for line in story.split("\\n"):\n        print([line])\n'
)
_STARTED = """
import sys, time
sys.path.insert(0, {folder!r})
begun = time.process_time()
import {name} as parser
parser.parse({text!r}, tools={tools!r}, prefill="")
print(time.process_time() - begun)
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a long text is, and where it stands."""

    name: str
    part: LongText
    text: str


KINDS = (
    Kind("content", LongText.CONTENT, _PROSE),
    Kind("reasoning", LongText.REASONING, _PROSE),
    Kind("string argument", LongText.ARGUMENT, _PROSE),
    Kind("code", LongText.ARGUMENT, _CODE),
)


@dataclass(frozen=True, slots=True)
class Started:
    """The seconds until a first turn is read: this tree's parser, and the one from before."""

    format: Format
    now: list[float] = field(default_factory=list)
    before: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """This tree's time by the other one."""
        return statistics.median(self.now) / statistics.median(self.before)


@dataclass(frozen=True, slots=True)
class Streamed:
    """The microseconds that a piece takes in each round; rounds are compared one by one."""

    format: Format
    kind: Kind
    floor: list[float] = field(default_factory=list)
    now: list[float] = field(default_factory=list)
    before: list[float] = field(default_factory=list)
    short: list[float] = field(default_factory=list)
    long: list[float] = field(default_factory=list)

    @property
    def by_floor(self) -> float:
        """What a piece costs, by the floor."""
        return _ratio(self.now, self.floor)

    @property
    def by_before(self) -> float | None:
        """What it costs, by what it cost before; None if there is nothing from before."""
        return _ratio(self.now, self.before) if self.before else None

    @property
    def growth(self) -> float:
        """What it costs in the longest text, by what it costs in the shortest."""
        return _ratio(self.long, self.short)

    @property
    def missed(self) -> Iterator[str]:
        """Each limit that isn't kept."""
        found = {
            "by the floor": (self.by_floor, limits.PIECE_RATIOS[self.kind.name]),
            "by what it cost before": (self.by_before or 0, limits.SPEED_RATIO),
            "1M by 16k": (self.growth, limits.GROWTH_RATIO),
        }
        for what, (value, limit) in found.items():
            if value > limit:
                yield f"{self.format.name}, {self.kind.name}, {what}: {value:.2f}, limit {limit}"


def _ratio(ones: Sequence[float], others: Sequence[float]) -> float:
    return statistics.median(one / other for one, other in zip(ones, others, strict=True))


@contextmanager
def modules_from(source: str) -> Iterator[Path]:
    """Give a folder with the modules of another one, or of a git revision."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if Path(source).is_dir():
            for path in Path(source).glob("*.py"):
                shutil.copy(path, folder)
        else:
            archive = ["git", "archive", source, "generated"]
            made = subprocess.run(archive, cwd=_ROOT, capture_output=True, check=False)
            if made.returncode:
                raise click.UsageError(f"{source} is neither a folder nor a git revision")
            unpack = ["tar", "-x", "--strip-components=1", "-C", temporary]
            subprocess.run(unpack, input=made.stdout, check=True)
        yield folder


def started(known: Format, now: Path, before: Path, rounds: int) -> Started:
    """Measure how soon two parsers have read a first turn; the first round counts for nothing."""
    found = Started(known)
    for number in range(rounds + 1):
        taken = [_seconds(known, folder) for folder in (now, before)]
        if number:
            found.now.append(taken[0])
            found.before.append(taken[1])
    return found


def _seconds(known: Format, folder: Path) -> float:
    tools = [{"name": "get_weather", "parameters": {"type": "object"}}]
    script = _STARTED.format(
        folder=str(folder),
        name=_path(known, folder).stem,
        text=sample_turns(known.spec)[-1],
        tools=tools if known.spec.tools else None,
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def streamed(known: Format, kind: Kind, before: Path | None, rounds: int) -> Streamed:
    """Measure what a piece of a long text costs, beside the floor and a parser from before."""
    found = Streamed(known, kind)
    turns = {size: _turn(known, kind, size) for size in (_SHORT, _SIZE, _LONG)}
    module = known.load()
    if not _comes_back(known, kind, turns[_SHORT], module):
        raise click.ClickException(f"{known.name}: the {kind.name} didn't come back")
    other = _load(known, before) if before else None
    if other and not _comes_back(known, kind, turns[_SHORT], other):
        other = None  # the format was another one then
    for _ in range(rounds):
        with no_garbage_collection():
            found.floor.append(_cost(_Floor(module).feed, turns[_SIZE]))
            found.now.append(_cost_of(known, module, turns[_SIZE]))
            if other:
                found.before.append(_cost_of(known, other, turns[_SIZE]))
            found.short.append(_cost_of(known, module, turns[_SHORT]))
            found.long.append(_cost_of(known, module, turns[_LONG]))
    return found


class _Floor:
    """Keeps each piece, and makes one event: what no parser can do in less time."""

    def __init__(self, module: FormatModule) -> None:
        self._event: Callable[..., object] = vars(module)["ContentDelta"]
        self._pieces: list[str] = []
        self._at = 0

    def feed(self, text: str) -> list[object]:
        """Take the next piece."""
        self._pieces.append(text)
        start, self._at = self._at, self._at + len(text)
        return [self._event(text, start, self._at)]


def _path(known: Format, folder: Path) -> Path:
    return folder / Path(OutputPaths.in_project(known.name).module).name


def _load(known: Format, folder: Path) -> FormatModule:
    return load_module(_path(known, folder).read_text(encoding="utf-8"))


def _turn(known: Format, kind: Kind, size: int) -> LongTurn:
    return turn_with(known.spec, kind.part, (kind.text * (size // len(kind.text) + 1))[:size])


def _comes_back(known: Format, kind: Kind, turn: LongTurn, module: FormatModule) -> bool:
    parser = _parser(known, module, turn)
    for piece in _pieces(turn.body + turn.tail):
        parser.feed(piece)
    parser.finish()
    return said(kind.part, parser.message) == turn.value


def _cost_of(known: Format, module: FormatModule, turn: LongTurn) -> float:
    return _cost(_parser(known, module, turn).feed, turn)


def _parser(known: Format, module: FormatModule, turn: LongTurn) -> Any:
    parser = module.Parser(tools=turn.tools, prefill=known.spec.turn.header)
    parser.feed(turn.lead)
    return parser


def _cost(feed: Callable[[str], object], turn: LongTurn) -> float:
    """Return the microseconds of the processor that a piece takes."""
    pieces = _pieces(turn.body)
    begun = time.process_time()
    for piece in pieces:
        feed(piece)
    return (time.process_time() - begun) / len(pieces) * 1e6


def _pieces(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--against", default=_BEFORE, show_default=True, help="A git revision or a folder.")
@click.option("--rounds", type=click.IntRange(min=1), default=7, show_default=True)
@click.option("--only", type=click.Choice(["start", "pieces"]), help="Measure one of both.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def main(
    names: tuple[str, ...], against: str, rounds: int, only: str | None, as_json: bool
) -> None:
    r"""Compare parsers with others: NAMES as in specs/, or one parser per class of format.

    \b
    Example:
      python -m benchmarks.module_start --against 084c2fb qwen3-coder
    """
    known = read_formats(_ROOT)
    if unknown := sorted(set(names) - {each.name for each in known}):
        raise click.UsageError(f"no spec {unknown[0]}; see specs/README.md for the names")
    begun: list[Started] = []
    fed: list[Streamed] = []
    with modules_from(str(_ROOT / "generated")) as now, modules_from(against) as before:
        both = [each for each in known if _path(each, before).is_file()]
        if lacking := sorted(set(names) - {each.name for each in both}):
            raise click.UsageError(f"{against} has no parser for {lacking[0]}")
        chosen = [each for each in both if each.name in names] or representatives(both)
        if only != "pieces":
            begun += (started(each, now, before, rounds) for each in _shown(chosen, "starting"))
        if only != "start":
            cases = [(each, kind) for each in chosen for kind in KINDS]
            cases = [(each, kind) for each, kind in cases if has_part(each.spec, kind.part)]
            steps = _shown(cases, "reading")
            fed += (streamed(each, kind, before, rounds) for each, kind in steps)
    _tell(begun, fed, as_json)


def _shown(items: Sequence[Any], title: str) -> Iterator[Any]:
    console = Console(stderr=True)
    hidden = not console.is_terminal
    return iter(track(items, title, console=console, transient=True, disable=hidden))


def _tell(begun: Sequence[Started], fed: Sequence[Streamed], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(_as_data(begun, fed), indent=2))
    else:
        console = Console(highlight=False)
        if not console.is_terminal:
            console = Console(highlight=False, width=140)
        if begun:
            console.print(_start_table(begun))
        if fed:
            console.print(_piece_table(fed))
    missed = [
        f"{each.format.name}, start: {each.ratio:.2f}, limit {limits.START_RATIO}"
        for each in begun
        if each.ratio > limits.START_RATIO
    ]
    missed += [text for each in fed for text in each.missed]
    for text in missed:
        click.echo(f"missed: {text}", err=True)
    if missed:
        raise click.exceptions.Exit(1)


def _as_data(begun: Sequence[Started], fed: Sequence[Streamed]) -> dict[str, object]:
    return {
        "start": [
            {
                "class": each.format.format_class,
                "name": each.format.name,
                "seconds": statistics.median(each.now),
                "seconds_before": statistics.median(each.before),
                "ratio": each.ratio,
            }
            for each in begun
        ],
        "pieces": [
            {
                "class": each.format.format_class,
                "name": each.format.name,
                "text": each.kind.name,
                "microseconds": statistics.median(each.now),
                "by_floor": each.by_floor,
                "by_before": each.by_before,
                "growth": each.growth,
                "missed": list(each.missed),
            }
            for each in fed
        ],
    }


def _start_table(begun: Sequence[Started]) -> Table:
    table = Table(title="import and first turn: ms of the processor", title_justify="left")
    for number, column in enumerate(("class", "parser", "now", "before", "ratio", "at most", "")):
        table.add_column(column, justify="right" if 1 < number < 6 else "left")
    for each in begun:
        times = (statistics.median(each.now) * 1e3, statistics.median(each.before) * 1e3)
        numbers = (f"{number:.2f}" for number in (*times, each.ratio, limits.START_RATIO))
        ok = _word(each.ratio <= limits.START_RATIO)
        table.add_row(each.format.format_class, each.format.name, *numbers, ok)
    return table


def _piece_table(fed: Sequence[Streamed]) -> Table:
    title = f"a piece of {PIECE} characters: µs of the processor, and by what else that is"
    table = Table(title=title, title_justify="left")
    columns = ("parser", "long text", "floor", "µs", "by floor", "at most", "by before", "1M : 16k")
    for number, column in enumerate((*columns, "")):
        table.add_column(column, justify="right" if 1 < number < 8 else "left")
    for each in fed:
        numbers = (
            *(statistics.median(each.floor), statistics.median(each.now), each.by_floor),
            *(limits.PIECE_RATIOS[each.kind.name], each.by_before, each.growth),
        )
        cells = ("-" if number is None else f"{number:.2f}" for number in numbers)
        table.add_row(each.format.name, each.kind.name, *cells, _word(not list(each.missed)))
    return table


def _word(ok: bool) -> str:
    return "[green]ok[/green]" if ok else "[red]over[/red]"


if __name__ == "__main__":
    main()
