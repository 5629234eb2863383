"""`turnspec check`: are specs and generated files what regenerating would write?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from turnspec.cli.common import JSON, OFFLINE, ROOT, TIME_LIMIT, find_project, project_sources
from turnspec.cli.console import finish, print_error, progress_bar, put_told, say
from turnspec.cli.extras import needs
from turnspec.cli.output import print_difference
from turnspec.cli.results_output import print_left_over
from turnspec.pipeline.freshness import Difference, FileState, check_freshness
from turnspec.rendering.limits import Limits


@click.command()
@JSON
@OFFLINE
@ROOT
@TIME_LIMIT
@needs("build")
def check(as_json: bool, offline: bool, root: Path | None, limits: Limits) -> None:
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
    problems += found
    if as_json:
        told: dict[str, object] = {"templates": sorted(source.name for source in sources)}
        for state in FileState:
            told[state] = [one.path for one in differences if one.state is state]
        put_told(told, problems)
    else:
        _print(differences, project.recipe.command)
        if not differences and not problems:
            say(f"templates: {len(sources)}; specs and generated files are fresh")
    finish(problems, failed=bool(differences))


def _print(differences: Sequence[Difference], command: str) -> None:
    for difference in differences:
        print_difference(difference)
    left_over = sum(difference.state is FileState.LEFT_OVER for difference in differences)
    if stale := len(differences) - left_over:
        print_error(f"files that are not fresh: {stale}; run: {command}")
    print_left_over(left_over)
