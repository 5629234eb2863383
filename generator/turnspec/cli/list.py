"""`turnspec list`: the formats that are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from turnspec.catalog.summary import FormatSummary, summaries
from turnspec.cli.common import ROOT, VERBOSE
from turnspec.cli.console import OUT, finish, put_json, say, show
from turnspec.cli.formats import catalog_of
from turnspec.spec.model import Encoding, ReasoningMode, ToolMode
from turnspec.spec.naming import template_name
from turnspec.spec.visible import visible

_NO_CALLS = "NONE"


@click.command("list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option(
    "--mode",
    type=click.Choice([*ToolMode, _NO_CALLS], case_sensitive=False),
    help="How calls are written.",
)
@click.option(
    "--reasoning",
    type=click.Choice([*ReasoningMode], case_sensitive=False),
    help="How reasoning is marked.",
)
@click.option(
    "--encoding",
    type=click.Choice([*Encoding, _NO_CALLS], case_sensitive=False),
    help="How strings in calls are written.",
)
@click.option("--verified/--unverified", default=None, help="Whether every check passed.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@ROOT
@VERBOSE
def list_(
    words: tuple[str, ...],
    mode: str | None,
    reasoning: str | None,
    encoding: str | None,
    verified: bool | None,
    as_json: bool,
    root: Path | None,
    verbose: bool,
) -> None:
    """List the formats that are known: those of the repository here, and turnspec's own.

    WORDs narrow the list to the names that hold them all. A name works in every command.

    \b
    Example:
      turnspec list qwen --mode TAG_WITH_TAGGED
      turnspec list --verified --json
    """  # noqa: D301
    catalog = catalog_of(root)
    found, problems = summaries(catalog)
    wanted = {"calls": mode, "reasoning": reasoning, "strings": encoding, "verified": verified}
    shown = [entry for entry in found if _fits(entry, words, wanted)]
    if as_json:
        put_json({"formats": [entry.data() for entry in shown]}, indent=2)
    else:
        _print(shown, total=len(found))
    finish([*catalog.problems, *problems])


def _fits(entry: FormatSummary, words: Iterable[str], wanted: Mapping[str, object]) -> bool:
    names = [entry.name, *map(template_name, entry.aliases)]
    held = all(any(template_name(word) in name for name in names) for word in words)
    return held and all(
        value is None or getattr(entry, key) == value for key, value in wanted.items()
    )


def _print(entries: list[FormatSummary], total: int) -> None:
    """Print a table; where it isn't for a terminal, lines that nothing cuts."""
    columns = ["name", "reasoning", "calls", "strings", "verified", "from"]
    rows = [_row(entry) for entry in entries]
    if not OUT.is_terminal:
        widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
        for row in (columns, *rows):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            say("  ".join(cells).rstrip())
        return
    counted = f"{len(entries)} of {total}" if len(entries) < total else str(total)
    table = Table(title=f"{counted} formats", title_justify="left", box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column != "name")
    for row in rows:
        styles = ["bold", "", "", "", "green" if row[4] == "yes" else "red", "dim"]
        table.add_row(*map(Text, row, styles))
    show(table)


def _row(entry: FormatSummary) -> list[str]:
    also = f" ({', '.join(entry.aliases)})" if entry.aliases else ""
    verified = "yes" if entry.verified else "no"
    name = f"{entry.name}{also}"
    cells = [name, entry.reasoning, entry.calls, entry.strings, verified, entry.place]
    return list(map(visible, cells))  # as wide as they are shown
