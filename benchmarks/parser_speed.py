"""The command of `make bench`: measure the generated parsers and compare them with the targets.

Exit codes: 0 all targets are reached; 1 one is missed or a parser can't be measured; 2 wrong usage.
"""

from __future__ import annotations

import io
import json
import statistics
import tokenize
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.cases import Format, LongText, has_part, read_formats, representatives
from benchmarks.measuring import (
    PIECE,
    Effort,
    Streamed,
    Whole,
    WrongResult,
    calibration,
    measurable,
    streamed,
    whole,
)
from benchmarks.targets import Verdict, judge_streamed, judge_whole

_ROOT = Path(__file__).parent.parent
_SIZES = (1024, 4096, 16384, 65536)
_WHOLE_PARTS = (LongText.CONTENT, LongText.ESCAPES)


@dataclass(frozen=True, slots=True)
class Length:
    """How long the modules of a class are, in lines without banner and docstring."""

    format_class: str
    modules: int
    median: float
    longest: int
    longest_name: str


@dataclass(frozen=True, slots=True)
class Report:
    """All that a run found out; ``call`` is the calibration loop's microseconds per call."""

    call: float
    slack: float
    streamed: Sequence[Streamed]
    whole: Sequence[Whole]
    lengths: Sequence[Length]

    @property
    def missed(self) -> list[Verdict]:
        """Every target that isn't reached."""
        verdicts = [judge_whole(result, self.slack) for result in self.whole]
        for result in self.streamed:
            verdicts += judge_streamed(result, self.slack)
        return [verdict for verdict in verdicts if not verdict.ok]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Measure all parsers, not one per class.")
@click.option(
    "--size",
    "sizes",
    multiple=True,
    type=click.IntRange(min=64),
    default=_SIZES,
    show_default=True,
    help="Characters of the long text; repeat the option for several.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=7,
    show_default=True,
    help="How often to measure; the median counts.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=2.0,
    show_default=True,
    help="Begin no further round of a measurement after so long.",
)
@click.option(
    "--slack",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Multiply all targets by this, as on a slower machine.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def bench(
    names: tuple[str, ...],
    everything: bool,
    sizes: tuple[int, ...],
    rounds: int,
    seconds: float,
    slack: float,
    as_json: bool,
) -> None:
    """Measure generated parsers: NAMES as in specs/, or one parser per class of format.

    \b
    Example:
      python -m benchmarks.parser_speed qwen3-coder --size 1024 --size 65536
    """  # noqa: D301
    known = read_formats(_ROOT)
    chosen = _chosen(known, names, everything)
    try:
        report = _measure(known, chosen, sorted(set(sizes)), Effort(rounds, seconds), slack)
    except WrongResult as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(_as_data(report), indent=2))
    else:
        _show(report)
    for verdict in report.missed:
        click.echo(f"missed: {verdict}", err=True)
    if report.missed:
        raise click.exceptions.Exit(1)


def _chosen(known: Sequence[Format], names: Sequence[str], everything: bool) -> list[Format]:
    if unknown := sorted(set(names) - {each.name for each in known}):
        raise click.UsageError(f"no spec {unknown[0]}; see specs/README.md for the names")
    if names:
        return [each for each in known if each.name in names]
    return list(known) if everything else representatives(known)


def _measure(
    known: Sequence[Format],
    chosen: Sequence[Format],
    sizes: Sequence[int],
    effort: Effort,
    slack: float,
) -> Report:
    in_pieces = [(each, part) for each in chosen for part in measurable(each)]
    at_once = [
        (each, part) for each in chosen for part in _WHOLE_PARTS if has_part(each.spec, part)
    ]
    fed: list[Streamed] = []
    parsed: list[Whole] = []
    with _progress(len(in_pieces) + len(at_once)) as advance:
        for each, part in in_pieces:
            fed.append(streamed(each, part, sizes, effort))
            advance()
        for each, part in at_once:
            parsed.append(whole(each, part, max(sizes), effort))
            advance()
    call = calibration(max(sizes), Effort(effort.rounds * 5, effort.seconds))
    return Report(call, slack, fed, parsed, _lengths(known))


def _lengths(known: Sequence[Format]) -> list[Length]:
    classes: dict[str, list[tuple[int, str]]] = {}
    for each in known:
        classes.setdefault(each.format_class, []).append((_lines(each.source), each.name))
    return [
        Length(name, len(lines), statistics.median(count for count, _ in lines), *max(lines))
        for name, lines in sorted(classes.items())
    ]


def _lines(source: str) -> int:
    """Count the lines behind a module's docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    docstring = next(token for token in tokens if token.type == tokenize.STRING)
    return len(source.splitlines()) - docstring.end[0]


def _as_data(report: Report) -> dict[str, object]:
    """Return the report as JSON has it; costs ``in_calls`` are multiples of the calibration's."""
    return {
        "call_microseconds": report.call,
        "streamed": [_streamed_data(result, report) for result in report.streamed],
        "whole": [_whole_data(result, report) for result in report.whole],
        "lengths": [
            {
                "class": length.format_class,
                "modules": length.modules,
                "median": length.median,
                "longest": length.longest,
                "longest_name": length.longest_name,
            }
            for length in report.lengths
        ],
        "missed": [str(verdict) for verdict in report.missed],
    }


def _streamed_data(result: Streamed, report: Report) -> dict[str, object]:
    verdicts = list(judge_streamed(result, report.slack))
    return {
        "class": result.format.format_class,
        "name": result.format.name,
        "text": str(result.part),
        "microseconds": {str(size): cost for size, cost in result.microseconds.items()},
        "in_calls": {str(size): cost / report.call for size, cost in result.microseconds.items()},
        "growth": result.growth,
        "target_microseconds": verdicts[0].target,
        "ok": all(verdict.ok for verdict in verdicts),
    }


def _whole_data(result: Whole, report: Report) -> dict[str, object]:
    verdict = judge_whole(result, report.slack)
    return {
        "class": result.format.format_class,
        "name": result.format.name,
        "text": str(result.part),
        "size": result.size,
        "milliseconds": result.milliseconds,
        "in_calls": result.milliseconds * 1e3 / report.call,
        "target_milliseconds": verdict.target,
        "ok": verdict.ok,
    }


def _show(report: Report) -> None:
    """Print tables, with colours on a terminal; in a pipe no line is cut to a terminal's width."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    console.print(_streamed_table(report))
    console.print(_whole_table(report))
    console.print(_length_table(report))
    console.print(f"a method call that returns an empty list: {report.call:.4f} µs")


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < 2 else "right", overflow="fold")
    return table


def _streamed_table(report: Report) -> Table:
    sizes = list(report.streamed[0].microseconds)
    table = _table(
        f"fed in pieces of {PIECE} characters: µs per piece, and in calls of an empty method",
        *("parser", "long text"),
        *(_short(size) for size in sizes),
        *("in calls", "target µs", "", f"{_short(sizes[-1])} : {_short(sizes[0])}", "target", ""),
    )
    for name, group in _by_format(report.streamed):
        table.add_row(f"[bold]{name.format_class}[/bold]")
        for result in group:
            table.add_row(*_streamed_cells(result, report))
        table.add_section()
    return table


def _streamed_cells(result: Streamed, report: Report) -> list[str]:
    cost, *growth = judge_streamed(result, report.slack)
    costs = [f"{each:.2f}" for each in result.microseconds.values()]
    in_calls = f"{list(result.microseconds.values())[-1] / report.call:.0f}"
    cells = [result.format.name, str(result.part), *costs, in_calls]
    for verdict in (cost, *growth):
        cells += [f"{verdict.value:.2f}"] if verdict is not cost else []
        cells += [f"{verdict.target:.2f}", _word(verdict)]
    return cells


def _by_format(results: Sequence[Streamed]) -> Iterator[tuple[Format, list[Streamed]]]:
    for known in dict.fromkeys(result.format.name for result in results):
        group = [result for result in results if result.format.name == known]
        yield group[0].format, group


def _whole_table(report: Report) -> Table:
    table = _table(
        "fed at once: ms for the whole turn, and in calls of an empty method",
        *("parser", "long text", "characters", "ms", "in calls", "target ms", ""),
    )
    for result in report.whole:
        verdict = judge_whole(result, report.slack)
        calls = f"{result.milliseconds * 1e3 / report.call:.0f}"
        cells = (_short(result.size), f"{result.milliseconds:.3f}", calls, f"{verdict.target:.3f}")
        table.add_row(result.format.name, str(result.part), *cells, _word(verdict))
    return table


def _length_table(report: Report) -> Table:
    table = _table(
        "lines of the modules, without banner and docstring",
        *("class", "longest module", "modules", "median", "longest"),
    )
    for length in report.lengths:
        numbers = (f"{length.modules}", f"{length.median:.0f}", f"{length.longest}")
        table.add_row(length.format_class, length.longest_name, *numbers)
    return table


def _short(size: int) -> str:
    return f"{size // 1024}k" if size % 1024 == 0 else str(size)


def _word(verdict: Verdict) -> str:
    return "[green]ok[/green]" if verdict.ok else "[red]over[/red]"


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on a terminal; yields a function that moves it on."""
    console = Console(stderr=True)
    columns = (TextColumn("measuring"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bar:
        task = bar.add_task("measuring", total=total)
        yield lambda: bar.advance(task)


if __name__ == "__main__":
    bench()
