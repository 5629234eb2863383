"""`turnspec diff`: what changed in the formats, by meaning."""

from __future__ import annotations

from pathlib import Path

import click

from turnspec.cli.common import ROOT, VERBOSE, find_project
from turnspec.cli.console import Misuse, finish, progress_bar
from turnspec.cli.review_output import ReviewForm, print_review
from turnspec.review.revisions import review_files, review_since
from turnspec.spec.problems import Problem


@click.command()
@click.argument("old", metavar="[REV | OLD.yaml NEW.yaml]", default="HEAD")
@click.argument("new", metavar="", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in ReviewForm]),
    default=ReviewForm.TEXT.value,
    show_default=True,
    help="For a terminal, a pull request, or a script.",
)
@ROOT
@VERBOSE
def diff(old: str, new: str | None, form: str, root: Path | None, verbose: bool) -> None:
    """Say what changed in the formats since a git revision (default: HEAD), by meaning.

    A verdict tells whether the old parser reads what is written in the new format: compatible,
    lenient (it tells of problems) or breaking. With two spec files, compares these. Exit codes: 0
    nothing breaking, 1 something breaking or a spec that can't be used, 2 nothing to compare.

    \b
    Example:
      turnspec diff main --format markdown
    """  # noqa: D301
    with progress_bar("comparing", None) as advance:
        if new is not None:
            review = review_files(Path(old), Path(new))
        else:
            review = review_since(old, find_project(root, Misuse), advance)
    if isinstance(review, Problem):
        raise Misuse(str(review))
    print_review(review, ReviewForm(form))
    finish(review.problems, failed=review.is_breaking)
