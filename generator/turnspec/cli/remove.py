"""`turnspec remove`: take a template out of the repository, with all that was made from it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from turnspec.catalog.finding import Found, How, find_format
from turnspec.cli.common import ROOT, find_project
from turnspec.cli.console import Misuse, or_fault, print_notice, say
from turnspec.cli.formats import catalog_of, format_names
from turnspec.codegen.banner import is_generated
from turnspec.pipeline.project import Project
from turnspec.pipeline.regenerate import left_over
from turnspec.repository.removing import delete_files, files_of, remove_template
from turnspec.sources.index import Entry
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.input_files import file_text


@click.command()
@click.argument("fmt", metavar="[NAME]", required=False, shell_complete=format_names)
@click.option(
    "--left-over",
    "leftovers",
    is_flag=True,
    help="Delete the specs, overlays, parsers and grammars that belong to no template instead.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@ROOT
def remove(fmt: str | None, leftovers: bool, dry_run: bool, root: Path | None) -> None:
    """Take a template out of this repository: its entry, spec, parser, grammar and results.

    \b
    Example:
      turnspec remove my-model
      turnspec remove --left-over
    """  # noqa: D301
    if leftovers is (fmt is not None):
        raise Misuse("give the NAME of a template or --left-over")
    project = find_project(root)
    entry = own_entry(fmt, project) if fmt is not None else None
    files = files_of(entry) if entry else _left_over(project)
    if dry_run:
        for file in files:
            if (project.root / file).exists():
                say(f"would delete {file}")
        return
    changed = remove_template(project, entry) if entry else delete_files(project, files)
    say_changed(project, or_fault(changed))
    if not changed:
        say("nothing is left over")


def _left_over(project: Project) -> list[str]:
    """Return what belongs to no template; what turnspec didn't write is told, and left."""
    files = left_over(project)
    own = [
        file
        for file in files
        if not file.endswith(SPEC_SUFFIX)
        and not is_generated(file_text(project.root / file, "replace"))
    ]
    for file in own:
        print_notice(f"{file} isn't what turnspec generated; delete it yourself")
    return [file for file in files if file not in own]


def own_entry(name: str, project: Project) -> Entry:
    """Return a template's entry by its name, which is no guess. Raises Misuse if there is none."""
    catalog = catalog_of(project.root)
    found = find_format(name, catalog)
    if not isinstance(found, Found):
        raise Misuse(str(found))
    known = found.format
    if known.entry is None or known.project != project:
        raise Misuse(f"{known.name} is no template of {project.root}")
    if found.how is not How.NAME:
        raise Misuse(f"{name} may be {known.name}; give that name")
    return known.entry


def say_changed(project: Project, files: Iterable[str]) -> None:
    """Print which files were deleted, and which changed."""
    for file in files:
        deleted = not (project.root / file).exists()
        say(f"{'deleted' if deleted else 'changed'} {file}")
