"""`turnspec check`: are specs and generated files what regenerating would write?"""

from __future__ import annotations

from pathlib import Path

import click

from turnspec.cli.common import OFFLINE, ROOT, TIME_LIMIT, VERBOSE, find_project, project_sources
from turnspec.cli.console import finish, print_error, progress_bar, say
from turnspec.cli.extras import needs
from turnspec.cli.output import print_difference
from turnspec.cli.results_output import print_left_over
from turnspec.pipeline.freshness import check_freshness
from turnspec.rendering.limits import Limits


@click.command()
@OFFLINE
@ROOT
@TIME_LIMIT
@VERBOSE
@needs("build")
def check(offline: bool, root: Path | None, limits: Limits, verbose: bool) -> None:
    """Say whether specs and generated files are what `turnspec regen` would write.

    Writes nothing; prints which files aren't, and how specs differ.

    \b
    Example:
      turnspec check
    """  # noqa: D301
    project = find_project(root)
    sources, problems = project_sources(project, offline=offline)
    with progress_bar("checking", len(sources)) as advance:
        differences, found = check_freshness(project, sources, lambda build: advance(), limits)
    for difference in differences:
        print_difference(difference)
    stale = [difference for difference in differences if difference.wanted is not None]
    if stale:
        command = project.recipe.command
        print_error(f"files that are not fresh: {len(stale)}; run: {command}")
    print_left_over(len(differences) - len(stale))
    if not differences and not found and not problems:
        say(f"{len(sources)} templates: specs and generated files are fresh")
    finish([*problems, *found], failed=bool(differences))
