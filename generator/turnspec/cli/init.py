"""`turnspec init`: a repository of one's own."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from turnspec.cli.console import or_fault, print_error, say_written
from turnspec.repository.starting import start_repository


@click.command()
@click.argument(
    "folder", type=click.Path(path_type=Path, file_okay=False), default=".", metavar="[DIR]"
)
def init(folder: Path) -> None:
    """Make a folder (default: this one) a repository of formats of your own.

    Writes an index of templates, a pre-commit configuration, and two workflows for GitHub: what a
    pull request changes in the formats, and, each week, a pull request for newer templates. Nothing
    that is there is written over.

    \b
    Example:
      turnspec init my-formats
    """  # noqa: D301
    root = folder.resolve()
    written, kept = or_fault(start_repository(root))
    say_written(folder / file for file in written)
    for file in kept:
        print_error(f"left {folder / file} as it was")
    there = "" if root == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    print_error(f"now run: {there}turnspec add SOURCE && turnspec regen")
