"""`turnspec regen`: the main job, from templates to verified parsers."""

from __future__ import annotations

from pathlib import Path

import click

from turnspec.cli import common
from turnspec.cli.console import finish, progress_bar, put_json
from turnspec.cli.extras import needs
from turnspec.cli.output import print_findings
from turnspec.cli.results_output import print_results, summary
from turnspec.pipeline.regenerate import regenerate
from turnspec.rendering.limits import Limits
from turnspec.verification.rungs import DEFAULT_MESSAGES

MESSAGES = click.option(
    "--messages",
    type=click.IntRange(min=1),
    default=DEFAULT_MESSAGES,
    help="Random messages per template for the verification; fewer make all of it shorter.",
)


@click.command()
@MESSAGES
@click.option("--all", "everything", is_flag=True, help="Rebuild also what hasn't changed.")
@common.JSON
@common.OFFLINE
@common.ROOT
@common.TIME_LIMIT
@common.VERBOSE
@needs("build")
def regen(
    messages: int,
    everything: bool,
    as_json: bool,
    offline: bool,
    root: Path | None,
    limits: Limits,
    verbose: bool,
) -> None:
    """Fetch the templates, analyse them, write and verify specs, parsers and grammars.

    Only what changed is built again. Exit code 1 if a format isn't verified, unless
    templates/index.yaml accepts that with a reason.

    \b
    Example:
      turnspec regen --messages 1000
    """  # noqa: D301
    project = common.find_project(root)
    sources, problems = common.project_sources(project, offline=offline)
    with progress_bar("building", len(sources)) as advance:
        done = regenerate(
            project,
            sources,
            messages=messages,
            everything=everything,
            on_build=lambda build: advance(),
            limits=limits,
        )
    done.problems[:0] = problems
    if verbose:
        print_findings([build for build in done.built if build.problems])
    if as_json:
        put_json(summary(done), indent=2)
    else:
        print_results(done, every=verbose)
    finish(done.problems)
