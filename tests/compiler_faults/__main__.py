"""Plants faults into what compilation does and counts those noticed: `make compiler-faults`."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

import click
from benchmarks.module_limits import NOTICED_SHARE
from rich.console import Console
from rich.progress import track

from tests.compiler_faults.counting import Outcome, plant_some
from tests.compiler_faults.explained import pattern_of, reasons
from tests.compiler_faults.planting import Kind
from tests.generated_formats import FORMATS, KINDS

#: What is planted in each of the chosen formats.
_COUNT = 14


def _outcomes(
    names: Sequence[str], count: int, seed: str, processes: int
) -> Iterator[tuple[list[Outcome], set[str | None]]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        for task in [pool.submit(plant_some, name, count, seed) for name in names]:
            yield task.result()


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--count", default=_COUNT, show_default=True, help="How many in each format.")
@click.option("--seed", default="", help="Choose others.")
@click.option("--processes", type=click.IntRange(min=1), default=os.cpu_count() or 1)
def main(names: tuple[str, ...], count: int, seed: str, processes: int) -> None:
    r"""Plant faults in the parsers of NAMES, or of formats that have all there is.

    \b
    Example:
      python -m tests.compiler_faults qwen3-coder --count 70
    """
    if unknown := sorted(set(names) - set(FORMATS)):
        raise click.UsageError(f"no format {unknown[0]}, or another name of one")
    wanted = names or KINDS
    console = Console(stderr=True)
    hidden = not console.is_terminal
    steps = _outcomes(wanted, count, seed, processes)
    groups = [*track(steps, "formats", len(wanted), console=console, disable=hidden)]
    if not names:
        _tell_reasons(groups)
    share = _tell([outcome for group, _ in groups for outcome in group])
    if share < NOTICED_SHARE:
        raise click.exceptions.Exit(1)


def _tell_reasons(groups: Sequence[tuple[list[Outcome], set[str | None]]]) -> None:
    """Tell of reasons for what no format has, or what is noticed."""
    there = {pattern for _, patterns in groups for pattern in patterns}
    found = [outcome for group, _ in groups for outcome in group]
    noticed = {pattern_of(outcome.title) for outcome in found if outcome.noticed}
    used = {outcome.pattern for outcome in found}
    for pattern in reasons():
        if pattern not in used and (pattern in noticed or pattern not in there):
            click.echo(f"explains nothing: {pattern}")


def _tell(found: Sequence[Outcome]) -> float:
    """Print what came of the faults; return the share that was noticed, of those that matter."""
    for outcome in found:
        if outcome.is_survivor:
            click.echo(f"not noticed: {outcome.title}")
    for kind in Kind:
        _tell_share(str(kind), [outcome for outcome in found if outcome.kind is kind])
    return _tell_share("all", found)


def _tell_share(what: str, found: Sequence[Outcome]) -> float:
    explained = sum(outcome.pattern is not None for outcome in found)
    survivors = sum(outcome.is_survivor for outcome in found)
    counted = len(found) - explained
    share = 1 - survivors / counted if counted else 1.0
    click.echo(f"{what}: {counted} faults, {share:.1%} noticed; {explained} others change nothing")
    return share


if __name__ == "__main__":
    main()
