"""`turnspec add`: pin one more template."""

from __future__ import annotations

from pathlib import Path

import click

from turnspec.cli.common import ROOT, VERBOSE, find_project
from turnspec.cli.console import OUT, finish
from turnspec.sources.add import add_source


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--name", help="A file name for the template, instead of the source's own.")
@ROOT
@VERBOSE
def add(source: Path, name: str | None, root: Path | None, verbose: bool) -> None:
    """Bring in a template: a .jinja file, a model folder or a GGUF file.

    \b
    Example:
      turnspec add ~/models/my-model && turnspec regen
    """  # noqa: D301
    project = find_project(root)
    result = add_source(source, project.root, name)
    for template in result.added:
        OUT.print(f"added templates/{template.file} from {template.source}", highlight=False)
    for template in result.unchanged:
        OUT.print(f"templates/{template.file} is there already", highlight=False)
    if result.added:
        OUT.print(f"now run: {project.recipe.command}")
    finish(result.problems)
