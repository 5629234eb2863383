"""The command of `make module-coverage`: which statements of the parsers run when all is tried.

Each format's parser reads its turns and deviations, whole, in pieces and cut off, then mutants and
markers in any order, with all options; of some formats of each class more of these. What never runs
is grouped by the functions of the engine. And names that nothing uses are told.

Exit codes: 0 in each parser enough runs, and all names are used; 1 they don't; 2 wrong usage.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table
from tests.generated_formats import FORMATS, committed_format, committed_spec, module_source
from tests.parser_uses import turns_to_use, use
from tests.reading_samples import Amount, Sample, samples, search

from benchmarks.module_limits import CLASSES, RUN_SHARE
from benchmarks.modules import class_of
from benchmarks.names import unused_names
from benchmarks.statements import Statement, Traced
from turnspec.codegen.compiled import BEGINS_COMMON, compiled_source
from turnspec.codegen.facts import facts_of

#: How much is tried of each format, and of the first formats of each class.
USUAL, MORE = Amount(odd=600, cuts=8, searched=300), Amount(odd=2000, cuts=40, searched=3000)
#: The same for the tests.
LESS = Amount(odd=300, cuts=4)
OF_EACH_CLASS = 2
_APART = 16


@dataclass(frozen=True, slots=True)
class Covered:
    """What ran of a parser. Statements are told apart by their number."""

    name: str
    kind: str
    statements: Sequence[Statement]
    ran: Sequence[bool]
    common_from: int  # the line from which parsers of the class are alike
    unused: Sequence[str]

    @property
    def share(self) -> float:
        """The share of the statements that ran."""
        return sum(self.ran) / len(self.ran)

    @property
    def never(self) -> list[Statement]:
        """The statements that never ran."""
        return [each for each, ran in zip(self.statements, self.ran, strict=True) if not ran]


def covered(
    name: str, amount: Amount, *, fresh: bool = False, enough: float | None = None
) -> Covered:
    """Have a format's parser read what there is to read, until so large a share of it has run.

    ``fresh`` compiles it anew.
    """
    facts = facts_of(committed_spec(name))
    source = compiled_source(facts) if fresh else module_source(name)
    traced = Traced(source)
    form = committed_format(name)
    use(traced.module, turns_to_use(form), form.options)
    run = _Run(traced)
    there = samples(form, amount)
    if enough is not None:  # neighbours are much alike
        known = [*there]
        there = (sample for at in range(_APART) for sample in known[at::_APART])
    for sample in chain(there, search(form, run.finds, amount.searched)):
        if enough is not None and traced.count >= enough * len(traced.statements):
            break
        run.read(sample)
    common_from = source.partition(BEGINS_COMMON)[0].count("\n") + 1
    unused = [
        f"{each.kind} {each.owner}.{each.name}" if each.owner else f"{each.kind} {each.name}"
        for each in unused_names(source)
    ]
    return Covered(
        name, class_of(committed_spec(name)), traced.statements, traced.ran, common_from, unused
    )


class _Run:
    """Reads samples, and keeps those with which something ran for the first time."""

    def __init__(self, traced: Traced) -> None:
        self._traced = traced
        self._known = 0
        self.finds: list[Sample] = []

    def read(self, sample: Sample) -> None:
        parser = self._traced.module.Parser(**sample.options)
        for piece in sample.pieces:
            parser.feed(*piece)
        parser.message  # noqa: B018
        parser.finish()
        if self._traced.count > self._known:
            self._known = self._traced.count
            self.finds.append(sample)


@dataclass(frozen=True, slots=True)
class Dead:
    """Statements of one function that never ran: in which formats, of those that have it."""

    place: str
    is_common: bool
    lines: Mapping[str, Sequence[str]]  # the formats, by how the statement begins
    having: int  # how many formats have the function

    @property
    def formats(self) -> set[str]:
        """The formats in which any of them never ran."""
        return {name for names in self.lines.values() for name in names}

    @property
    def statements(self) -> int:
        """How many statements that is in all modules together."""
        return sum(map(len, self.lines.values()))


def grouped(found: Iterable[Covered]) -> list[Dead]:
    """Return what never ran by functions, those first of which most is dead."""
    lines: dict[tuple[str, bool], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    having: dict[tuple[str, bool], set[str]] = defaultdict(set)
    for each in found:
        for statement in each.statements:
            having[statement.place, statement.line > each.common_from].add(each.name)
        for statement in each.never:
            key = statement.place, statement.line > each.common_from
            lines[key][statement.text].append(each.name)
    dead = [Dead(*key, dict(inner), len(having[key])) for key, inner in lines.items()]
    return sorted(dead, key=lambda each: (-each.statements, each.place))


def amounts(names: Sequence[str]) -> dict[str, Amount]:
    """Return how much is tried of each format."""
    found = dict.fromkeys(names, USUAL)
    for kind in CLASSES:
        of_kind = (name for name in names if class_of(committed_spec(name)) == kind)
        found |= {name: MORE for name, _ in zip(of_kind, range(OF_EACH_CLASS), strict=False)}
    return found


def measured(names: Sequence[str], *, fresh: bool, processes: int) -> Iterator[Covered]:
    """Yield what ran of each format's parser, as processes are done."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        tasks = [
            pool.submit(covered, name, amount, fresh=fresh)
            for name, amount in amounts(names).items()
        ]
        for task in tasks:
            yield task.result()


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--lines", is_flag=True, help="List what never ran, by functions of the engine.")
@click.option("--fresh", is_flag=True, help="Compile the parsers anew, whatever is committed.")
@click.option("--processes", type=click.IntRange(min=1), default=os.cpu_count() or 1)
@click.option("--json", "as_json", is_flag=True, help="Print all as JSON.")
def main(names: tuple[str, ...], lines: bool, fresh: bool, processes: int, as_json: bool) -> None:
    r"""Tell what of the parsers never runs: of NAMES as in specs/, or of all formats.

    \b
    Example:
      python -m benchmarks.module_coverage --lines
    """
    if unknown := sorted(set(names) - set(FORMATS)):
        raise click.UsageError(f"no format {unknown[0]}, or another name of one")
    console = Console(stderr=True)
    wanted = names or FORMATS
    hidden = not console.is_terminal
    steps = measured(wanted, fresh=fresh, processes=processes)
    found = list(track(steps, "reading", len(wanted), console=console, disable=hidden))
    if as_json:
        click.echo(json.dumps(_as_data(found), indent=2))
    else:
        _show(found, lines)
    if any(each.share < RUN_SHARE or each.unused for each in found):
        raise click.exceptions.Exit(1)


def _as_data(found: Sequence[Covered]) -> dict[str, object]:
    return {
        "formats": {
            each.name: {
                "class": each.kind,
                "statements": len(each.statements),
                "share": each.share,
                "unused": each.unused,
                "never": [[line.place, line.line, line.text] for line in each.never],
            }
            for each in found
        },
        "functions": [
            {
                "function": each.place,
                "common": each.is_common,
                "having": each.having,
                "lines": each.lines,
            }
            for each in grouped(found)
        ],
    }


def _show(found: Sequence[Covered], lines: bool) -> None:
    """Print tables; in a pipe no line is cut to a terminal's width."""
    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console = Console(highlight=False, width=140, soft_wrap=True)
    console.print(_class_table(found))
    below = sorted((each for each in found if each.share < RUN_SHARE), key=lambda each: each.share)
    console.print(f"{len(below)} of {len(found)} below {RUN_SHARE:.0%}")
    for each in below[: None if lines else 10]:
        console.print(f"  {each.share:.1%}  {each.name}")
    for name, of in _unused(found).items():
        console.print(f"unused in {len(of)}: {name}  ({_few(of)})")
    if lines:
        _show_lines(console, found)


def _class_table(found: Sequence[Covered]) -> Table:
    table = Table(title="the share of statements that run", title_justify="left")
    for number, column in enumerate(("class", "formats", "least", "median", "most", "lowest")):
        table.add_column(column, justify="right" if 0 < number < 5 else "left")
    for kind in CLASSES:
        group = sorted((each.share, each.name) for each in found if each.kind == kind)
        if group:
            shares = [share for share, _ in group]
            spread = (min(shares), statistics.median(shares), max(shares))
            cells = (f"{share:.1%}" for share in spread)
            table.add_row(kind, f"{len(group)}", *cells, group[0][1])
    return table


def _unused(found: Sequence[Covered]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = defaultdict(list)
    for each in found:
        for name in each.unused:
            names[name].append(each.name)
    return dict(sorted(names.items(), key=lambda item: -len(item[1])))


def _show_lines(console: Console, found: Sequence[Covered]) -> None:
    kinds = {each.name: each.kind for each in found}
    for each in grouped(found):
        where = "common" if each.is_common else "own"
        console.print(
            f"\n[bold]{each.place or 'module'}[/bold] ({where}): {each.statements} statements, "
            f"in {len(each.formats)} of {each.having} formats: {_classes(each.formats, kinds)}"
        )
        for text, names in each.lines.items():
            console.print(f"  {len(names):4}  {text[:100]}  ({_few(names)})", markup=False)


def _classes(names: Iterable[str], kinds: Mapping[str, str]) -> str:
    of_kinds = [kinds[name] for name in names]
    return ", ".join(f"{kind} {of_kinds.count(kind)}" for kind in CLASSES if kind in of_kinds)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + (", ..." if len(names) > 2 else "")


if __name__ == "__main__":
    main()
