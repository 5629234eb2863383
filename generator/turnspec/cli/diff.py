"""`turnspec diff`: what changed in the formats, by meaning."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import click

from turnspec.catalog.catalog import Catalog
from turnspec.cli.common import HUB_OFFLINE, ROOT, find_project, json_option
from turnspec.cli.console import AS_JSON, Misuse, finish, print_notice, progress_bar
from turnspec.cli.formats import catalog_of, find, format_names, spec_at, tell_unverified
from turnspec.cli.review_output import ReviewForm, print_review
from turnspec.codegen.banner import is_generated, is_unedited
from turnspec.rendering.limits import USUAL_LIMITS
from turnspec.review.compare import Review, Source
from turnspec.review.copies import review_copy
from turnspec.review.revisions import review_since, review_specs
from turnspec.review.rules import Severity
from turnspec.sources.add import edited_templates
from turnspec.sources.index import read_index
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.input_files import file_text
from turnspec.spec.problems import Problem


@click.command()
@click.argument(
    "old",
    metavar="[REV | REV..REV | COPY.py | OLD NEW]",
    default="HEAD",
    shell_complete=format_names,
)
@click.argument("new", metavar="", required=False, shell_complete=format_names)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in ReviewForm]),
    default=ReviewForm.TEXT.value,
    show_default=True,
    help="For a terminal, a pull request, a script, GitHub's annotations, or a changelog.",
)
@json_option("The same as --format json.")
@click.option(
    "--fail-on",
    type=click.Choice([Severity.BREAKING.value, Severity.LENIENT.value]),
    default=Severity.BREAKING.value,
    show_default=True,
    help="From which severity on the exit code is 1.",
)
@HUB_OFFLINE
@ROOT
def diff(
    old: str, new: str | None, form: str, as_json: bool, fail_on: str, root: Path | None
) -> None:
    """Say what changed in the formats since a git revision (default: HEAD), by meaning.

    A verdict tells what becomes of those who keep the old parser and the old grammar: compatible,
    lenient (what was meant is read, something is worse) or breaking. Each kind of change has a rule
    by name. With two revisions, or two specs, formats or templates (ORG/MODEL[@REVISION], too),
    compares these; with a vendored parser, compares it with the format as it is known here. Exit
    codes: 0 nothing as bad as --fail-on says, 1 something, or a spec that can't be used, 2 nothing
    to compare.

    \b
    Example:
      turnspec diff main --format markdown
      turnspec diff v0.1.0..v0.2.0 --format changelog
      turnspec diff my-app/formats/qwen3_coder.py
      turnspec diff SomeOrg/BrandNew-7B@v1 SomeOrg/BrandNew-7B
    """  # noqa: D301
    click.get_current_context().meta[AS_JSON] = as_json = as_json or form == ReviewForm.JSON
    with progress_bar("comparing", None) as advance:
        review = _review(old, new, root, advance)
    if isinstance(review, Problem):
        raise Misuse(str(review))
    print_review(review, ReviewForm.JSON if as_json else ReviewForm(form))
    finish(review.problems, failed=review.reaches(Severity(fail_on)))


def _review(
    old: str, new: str | None, root: Path | None, advance: Callable[[], None]
) -> Review | Problem:
    if new is not None:
        catalog = catalog_of(root)
        return review_specs(*(_source(side, catalog) for side in (old, new)))
    if old.endswith(".py"):
        _tell_of_edits(Path(old))
        return review_copy(Path(old), catalog_of(root))
    project = find_project(root, Misuse)
    index, _ = read_index(project.root)
    for entry in edited_templates(index.entries, project.root):
        print_notice(
            f"{entry.location}: its text isn't the pinned one, so its spec says nothing of it yet; "
            f"if the change is wanted, run: turnspec add --update {shlex.quote(entry.location)}"
        )
    return review_since(old, project, advance)


def _source(side: str, catalog: Catalog) -> Source:
    """Return a spec that is compared; that it isn't verified is told."""
    spec = spec_at(side, catalog, USUAL_LIMITS)
    known = next((it for it in catalog if it.sha256 == spec.template.sha256), None)
    if side.endswith(SPEC_SUFFIX):
        known = find(side, catalog)
    if known is None:
        analyse = f"turnspec analyze {shlex.quote(side)} --into DIR"
        print_notice(f"{side}: was analysed, and not verified; to have it verified, run: {analyse}")
    else:
        tell_unverified(known)
    return Source(spec, file=side)


def _tell_of_edits(copy: Path) -> None:
    text = file_text(copy, "replace") if copy.is_file() else ""
    if is_generated(text) and not is_unedited(text):
        print_notice(f"{copy} was edited; it is compared as it is")
