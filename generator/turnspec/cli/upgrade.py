"""`turnspec upgrade`: specs of an older form in today's."""

from __future__ import annotations

from pathlib import Path

import click

from turnspec.cli.common import JSON, ROOT, find_project
from turnspec.cli.console import finish, put_told, say, say_written
from turnspec.repository.upgrading import upgrade_repository, upgrade_specs
from turnspec.spec.versions import SPEC_VERSION


@click.command()
@click.argument(
    "files", nargs=-1, metavar="[SPEC]...", type=click.Path(path_type=Path, dir_okay=False)
)
@JSON
@ROOT
def upgrade(files: tuple[Path, ...], as_json: bool, root: Path | None) -> None:
    """Write specs of an older form in today's: those that are named, or a repository's.

    What they say stays the same, and so do their hashes. In a repository the schema of the form is
    written beside them, where editors find it. It needs no template, and analyses nothing.

    \b
    Example:
      turnspec upgrade
      turnspec upgrade formats/my-model.yaml
    """  # noqa: D301
    if files:
        changed, problems = upgrade_specs(list(files))
    else:
        changed, problems = upgrade_repository(find_project(root))
    if as_json:
        put_told({"spec_version": SPEC_VERSION, "written": [*map(str, changed)]}, problems)
    else:
        say_written(changed)
        if not changed and not problems:
            say(f"all specs are of version {SPEC_VERSION} already")
    finish(problems)
