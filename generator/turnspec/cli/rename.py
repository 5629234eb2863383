"""`turnspec rename`: give a template of the repository another name."""

from __future__ import annotations

from pathlib import Path

import click

from turnspec.cli.common import ROOT, find_project
from turnspec.cli.console import Fault, Misuse, or_fault, print_error
from turnspec.cli.formats import format_names
from turnspec.cli.remove import own_entry, say_changed
from turnspec.repository.removing import rename_template
from turnspec.sources.index import LOCAL, LOCAL_FOLDER, read_index
from turnspec.spec.naming import TEMPLATE_SUFFIX, naming_faults, template_name


@click.command()
@click.argument("old", metavar="OLD", shell_complete=format_names)
@click.argument("new", metavar="NEW")
@ROOT
def rename(old: str, new: str, root: Path | None) -> None:
    """Give a template of this repository another name: its file, entry and overlay.

    What was made from it holds the old name and is deleted; turnspec regen makes it anew.

    \b
    Example:
      turnspec rename my-model my-model-2
    """  # noqa: D301
    project = find_project(root)
    entry = own_entry(old, project)
    file = f"{new.removesuffix(TEMPLATE_SUFFIX)}{TEMPLATE_SUFFIX}"
    if entry.origin != LOCAL:
        raise Misuse(f"{entry.name} is fetched; its name is the `file` of its entry in the index")
    if Path(file).name != file or (faults := naming_faults([file])):
        raise Misuse(f"{new}: no name for a template" if Path(file).name != file else faults[0])
    other = read_index(project.root)[0].by_name(template_name(file))
    if file == entry.file or (other is not None and other.file != entry.file):
        raise Misuse(f"a template is named {template_name(file)} already; choose another name")
    old_file, new_file = project.root / entry.location, project.root / LOCAL_FOLDER / file
    if not old_file.exists() or (new_file.exists() and not new_file.samefile(old_file)):
        what = f"{file} is there" if old_file.exists() else f"{entry.file} isn't there"
        raise Fault(f"{LOCAL_FOLDER}/{what}")
    say_changed(project, or_fault(rename_template(project, entry, file)))
    print_error(f"now run: {project.recipe.command}")
