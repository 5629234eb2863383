"""`turnspec list`: the formats that are known."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence, Sized
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path

import click

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.finding import named_formats, unknown_name
from turnspec.catalog.summary import FormatSummary, summaries
from turnspec.cli.common import JSON, ROOT
from turnspec.cli.console import OUT, finish, print_notice, put_told, say, say_parts
from turnspec.cli.formats import catalog_of
from turnspec.spec.problems import Problem
from turnspec.spec.visible import visible
from turnspec.spec.words import Encoding, ReasoningMode, ToolMode

_NO_CALLS = "NONE"
_COLUMNS = ["name", "reasoning", "calls", "strings", "verified", "from", "also"]
_GAP = "  "


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
@JSON
@ROOT
def list_(
    words: tuple[str, ...],
    mode: str | None,
    reasoning: str | None,
    encoding: str | None,
    verified: bool | None,
    as_json: bool,
    root: Path | None,
) -> None:
    """List the formats that are known: those of the repository here, and turnspec's own.

    WORDs narrow the list to the names that hold them all, or that they mean: Qwen3-32B is a name of
    what has the format of Qwen3-0.6B. A name works in every command. Exit code 1 if none fits.

    \b
    Example:
      turnspec list qwen --mode TAG_WITH_TAGGED
      turnspec list openai/gpt-oss-20b
      turnspec list --verified --json
    """  # noqa: D301
    catalog = catalog_of(root)
    found, problems = summaries(catalog)
    wanted = {"calls": mode, "reasoning": reasoning, "strings": encoding, "verified": verified}
    meant = [named_formats(word, catalog) for word in words]
    shown = [entry for entry in found if _fits(entry, meant, wanted)]
    nothing = [] if shown or problems else [_nothing(words, meant, catalog)]
    wrong = [*catalog.problems, *problems, *nothing]
    if as_json:
        put_told({"formats": [asdict(entry) for entry in shown]}, wrong)
    elif shown:
        _print(shown, total=len(found))
    finish(wrong)


def _fits(
    entry: FormatSummary, meant: Iterable[Container[str]], wanted: Mapping[str, object]
) -> bool:
    return all(entry.name in names for names in meant) and all(
        value is None or getattr(entry, key) == value for key, value in wanted.items()
    )


def _nothing(words: Sequence[str], meant: Iterable[Sized], catalog: Catalog) -> Problem:
    """Return why the list is empty: a word that nothing goes by, or too many filters."""
    strange = next((word for word, names in zip(words, meant, strict=True) if not names), None)
    return unknown_name(strange, catalog) if strange else Problem("no format fits all of this")


def _print(entries: list[FormatSummary], total: int) -> None:
    """Print a table whose names are never cut: a terminal gets the columns that it has room for."""
    rows = [_COLUMNS, *map(_row, entries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    shown = len(_COLUMNS) if any(entry.aliases for entry in entries) else len(_COLUMNS) - 1
    if OUT.is_terminal:
        counted = f"{len(entries)} of {total}" if len(entries) < total else str(total)
        say(f"{counted} formats\n")
        ends = accumulate(width + len(_GAP) for width in widths[:shown])
        known, shown = shown, max(1, sum(end - len(_GAP) <= OUT.width for end in ends))
        if shown < known:
            print_notice("more columns in a wider terminal, or with --json")
    for row in rows:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        name, *others = _GAP.join(padded[:shown]).rstrip().partition(_GAP)
        say_parts([(name, "bold"), ("".join(others), "red" if "no" in row[4:5] else "")])


def _row(entry: FormatSummary) -> list[str]:
    verified = "yes" if entry.verified else "no"
    modes = [entry.reasoning, entry.calls, entry.strings]
    cells = [entry.name, *modes, verified, entry.place, ", ".join(entry.aliases)]
    return list(map(visible, cells))  # as wide as they are shown
