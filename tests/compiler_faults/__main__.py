"""Plants faults into what compilation does, and counts how many are noticed: `make compiler-faults`."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import click
from benchmarks.module_limits import NOTICED_SHARE
from rich.console import Console
from rich.progress import track

from tests.compiler_faults.explained import pattern_of, reasons
from tests.compiler_faults.noticing import noticed_by
from tests.compiler_faults.planting import Fault, Kind, faults, right_source, sample
from tests.generated_formats import FORMATS, KINDS

#: What is planted in each of the chosen formats.
_COUNT = 14


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a fault."""

    kind: Kind
    title: str
    noticed: str
    is_same: bool  # the text of the parser is what it was

    @property
    def pattern(self) -> str | None:
        """What explains that nothing was noticed."""
        return None if self.noticed or self.is_same else pattern_of(self.title)

    @property
    def is_survivor(self) -> bool:
        """Whether nothing was noticed, and nothing explains it."""
        return not self.noticed and not self.is_same and self.pattern is None


def plant(fault: Fault) -> Outcome:
    """Plant a fault."""
    source = fault.source
    is_same = source == right_source(fault.form)
    noticed = "" if is_same else noticed_by(source, fault.form)
    return Outcome(fault.kind, fault.title, noticed, is_same)


def plant_some(form: str, count: int) -> list[Outcome]:
    """Plant faults in a format: of each kind as many."""
    return [plant(fault) for fault in sample(faults(form), count)]


def _outcomes(names: Sequence[str], count: int, processes: int) -> Iterator[list[Outcome]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        for task in [pool.submit(plant_some, name, count) for name in names]:
            yield task.result()


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--count", default=_COUNT, show_default=True, help="How many in each format.")
@click.option("--processes", type=click.IntRange(min=1), default=os.cpu_count() or 1)
def main(names: tuple[str, ...], count: int, processes: int) -> None:
    r"""Plant faults in the parsers of NAMES, or of formats that have all there is.

    \b
    Example:
      python -m tests.compiler_faults qwen3-coder --count 70
    """  # noqa: D301
    if unknown := sorted(set(names) - set(FORMATS)):
        raise click.UsageError(f"no format {unknown[0]}, or another name of one")
    wanted = names or KINDS
    console = Console(stderr=True)
    hidden = not console.is_terminal
    steps = _outcomes(wanted, count, processes)
    groups = track(steps, "formats", len(wanted), console=console, disable=hidden)
    found = [outcome for group in groups for outcome in group]
    share = _tell(found, is_whole=not names)
    if share < NOTICED_SHARE:
        raise click.exceptions.Exit(1)


def _tell(found: Sequence[Outcome], *, is_whole: bool) -> float:
    """Print what came of the faults; return the share that was noticed, of those that matter."""
    for outcome in found:
        if outcome.is_survivor:
            click.echo(f"not noticed: {outcome.title}")
    used = {outcome.pattern for outcome in found}
    for pattern in reasons() if is_whole else ():
        if pattern not in used:
            click.echo(f"explains nothing: {pattern}")
    for kind in Kind:
        _tell_share(str(kind), [outcome for outcome in found if outcome.kind is kind])
    return _tell_share("all", found)


def _tell_share(what: str, found: Sequence[Outcome]) -> float:
    same = sum(outcome.is_same for outcome in found)
    explained = sum(outcome.pattern is not None for outcome in found)
    survivors = sum(outcome.is_survivor for outcome in found)
    counted = len(found) - same - explained
    share = 1 - survivors / counted if counted else 1.0
    click.echo(
        f"{what}: {counted} faults, {share:.1%} noticed; "
        f"{explained} others change nothing, {same} not even the text"
    )
    return share


if __name__ == "__main__":
    main()
