"""The command of `make figures`: how long the committed parsers are, and what generates them.

Exit codes: 0 all figures keep to their limits; 1 some are over; 2 wrong usage.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import module_limits as limits
from benchmarks.module_limits import CLASSES, Figure, by_class
from benchmarks.modules import ROOT, Module, read_modules

_PACKAGE = Path("generator") / "turnspec"
#: What only scripts need, and the folder of what prints them.
_OF_SCRIPTS = ("typescript.py", "printer")


@dataclass(frozen=True, slots=True)
class GeneratorLines:
    """The lines of what generates parsers. Those that scripts alone need count nowhere else."""

    engine: int
    compiling: int
    scripts: int

    @property
    def counted(self) -> int:
        """What has a limit: all that Python's parsers are made with."""
        return self.engine + self.compiling

    @classmethod
    def of(cls, root: Path = ROOT) -> GeneratorLines:
        """Count the lines of a checkout."""
        folder = root / _PACKAGE / "codegen"
        codegen = {f"{path.relative_to(folder)}": _lines(path) for path in folder.rglob("*.py")}
        scripts = sum(codegen.pop(name) for name in [*codegen] if name.startswith(_OF_SCRIPTS))
        engine = sum(map(_lines, (root / _PACKAGE / "engine").glob("*.py")))
        return cls(engine, sum(codegen.values()), scripts)


def _lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


def figures(modules: Sequence[Module], generator: GeneratorLines) -> list[Figure]:
    """Return all figures that have limits."""
    lines = [module.lines for module in modules]
    return [
        *by_class("lines", _most(modules, "lines"), limits.LINES),
        *by_class("lines above", _most(modules, "lines_above"), limits.LINES_ABOVE),
        *by_class("statements", _most(modules, "statements"), limits.STATEMENTS),
        Figure("lines, median", statistics.median(lines), limits.MEDIAN_LINES),
        Figure("lines, mean", statistics.mean(lines), limits.MEAN_LINES),
        Figure("lines, all", sum(lines), limits.ALL_LINES),
        Figure("common texts", len({each.common for each in modules}), limits.COMMON_TEXTS),
        Figure("lines of the engine and codegen", generator.counted, limits.ENGINE_LINES),
    ]


def _most(modules: Sequence[Module], what: str) -> dict[str, float]:
    """Return the largest number of each class."""
    found: dict[str, float] = {}
    for module in modules:
        found[module.kind] = max(found.get(module.kind, 0), getattr(module, what))
    return found


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def main(as_json: bool) -> None:
    r"""Show how long the committed parsers are, by class, and what generates them.

    \b
    Example:
      python -m benchmarks.module_figures --json
    """
    console = Console(stderr=True)
    hidden = not console.is_terminal
    modules = list(
        track(read_modules(), "counting", console=console, transient=True, disable=hidden)
    )
    generator = GeneratorLines.of()
    found = figures(modules, generator)
    if as_json:
        click.echo(json.dumps(_as_data(modules, generator, found), indent=2))
    else:
        _show(modules, generator, found)
    over = [figure for figure in found if not figure.ok]
    for figure in over:
        click.echo(f"over: {figure}", err=True)
    if over:
        raise click.exceptions.Exit(1)


def _rows(modules: Sequence[Module]) -> Iterator[tuple[str, list[Module]]]:
    for kind in CLASSES:
        yield kind, [module for module in modules if module.kind == kind]
    yield "all", list(modules)


def _spread(values: Sequence[int]) -> dict[str, float]:
    return {
        "least": min(values),
        "median": statistics.median(values),
        "mean": round(statistics.mean(values), 1),
        "most": max(values),
    }


def _as_data(
    modules: Sequence[Module], generator: GeneratorLines, found: Sequence[Figure]
) -> dict[str, object]:
    return {
        "classes": {
            kind: {
                "modules": len(group),
                "lines": _spread([module.lines for module in group]),
                "above": _spread([module.lines_above for module in group]),
                "below": _spread([module.lines - module.lines_above for module in group]),
                "statements": _spread([module.statements for module in group]),
                "all_lines": sum(module.lines for module in group),
                "common_texts": len({module.common for module in group}),
            }
            for kind, group in _rows(modules)
            if group
        },
        "generator": {
            "engine": generator.engine,
            "compiling": generator.compiling,
            "scripts": generator.scripts,
            "counted": generator.counted,
        },
        "figures": [
            {"name": each.name, "value": each.value, "limit": each.limit, "ok": each.ok}
            for each in found
        ],
    }


def _show(modules: Sequence[Module], generator: GeneratorLines, found: Sequence[Figure]) -> None:
    """Print tables; in a pipe no line is cut to a terminal's width."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=170)
    console.print(_class_table(modules))
    console.print(
        f"lines of the engine {generator.engine:,}, of what compiles it {generator.compiling:,}: "
        f"together {generator.counted:,}\n"
        f"not counted: what scripts alone need ({', '.join(_OF_SCRIPTS)}), {generator.scripts:,}"
    )
    console.print(_figure_table(found))


def _class_table(modules: Sequence[Module]) -> Table:
    table = Table(title="the committed parsers: least, median, most", title_justify="left")
    table.add_column("class")
    for column in ("modules", "lines", "above", "below", "statements", "all lines", "texts below"):
        table.add_column(column, justify="right")
    for kind, group in _rows(modules):
        if kind == "all":
            table.add_section()
        if group:
            table.add_row(
                kind,
                f"{len(group)}",
                _shown([module.lines for module in group]),
                _shown([module.lines_above for module in group]),
                _shown([module.lines - module.lines_above for module in group]),
                _shown([module.statements for module in group]),
                f"{sum(module.lines for module in group):,}",
                f"{len({module.common for module in group})}",
            )
    return table


def _shown(values: Sequence[int]) -> str:
    return f"{min(values):,}  {statistics.median(values):,.0f}  {max(values):,}"


def _figure_table(found: Sequence[Figure]) -> Table:
    table = Table(title="the figures that have limits", title_justify="left")
    for number, column in enumerate(("figure", "value", "at most", "")):
        table.add_column(column, justify="right" if number in (1, 2) else "left")
    for each in found:
        word = "[green]ok[/green]" if each.ok else "[red]over[/red]"
        table.add_row(each.name, f"{each.value:,.0f}", f"{each.limit:,.0f}", word)
    return table


if __name__ == "__main__":
    main()
