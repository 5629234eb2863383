"""`turnspec remove`: take a template out of the repository, with all that was made from it."""

from __future__ import annotations

from pathlib import Path

import click

from turnspec.cli.common import ROOT, VERBOSE, find_project
from turnspec.cli.console import Fault, Misuse, say
from turnspec.cli.formats import catalog_of, find
from turnspec.repository.removing import files_of, remove_template
from turnspec.spec.problems import Problem


@click.command()
@click.argument("fmt", metavar="NAME")
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@ROOT
@VERBOSE
def remove(fmt: str, dry_run: bool, root: Path | None, verbose: bool) -> None:
    """Take a template out of this repository: its entry, spec, parser, grammar and results.

    \b
    Example:
      turnspec remove my-model
    """  # noqa: D301
    project = find_project(root)
    known = find(fmt, catalog_of(project.root))
    if known.entry is None or known.project != project:
        raise Misuse(f"{known.name} is no template of {project.root}")
    if dry_run:
        there = [file for file in files_of(known.entry) if (project.root / file).exists()]
        say("\n".join(f"would delete {file}" for file in there))
        return
    changed = remove_template(project, known.entry)
    if isinstance(changed, Problem):
        raise Fault(str(changed))
    for file in changed:
        deleted = not (project.root / file).exists()
        say(f"{'deleted' if deleted else 'changed'} {file}")
