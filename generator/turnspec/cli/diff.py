"""`turnspec diff`: what changed in the formats, by meaning."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import click

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.known import KnownFormat
from turnspec.cli import formats
from turnspec.cli.common import HUB_OFFLINE, ROOT, find_project, json_option
from turnspec.cli.console import AS_JSON, Fault, Misuse, finish, print_notice, progress_bar
from turnspec.cli.review_output import ReviewForm, print_review
from turnspec.codegen.banner import is_generated, is_unedited
from turnspec.pipeline.project import OutputPaths, Project
from turnspec.review.compare import Review, Source
from turnspec.review.copies import review_copy
from turnspec.review.revisions import review_since, review_specs
from turnspec.review.rules import Severity
from turnspec.sources.add import edited_templates
from turnspec.sources.index import read_index
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.input_files import file_text
from turnspec.spec.problems import Problem


@click.command()
@click.argument(
    "old",
    metavar="[REV | REV..REV | COPY.py | OLD NEW]",
    default="HEAD",
    shell_complete=formats.format_names,
)
@click.argument("new", metavar="", required=False, shell_complete=formats.format_names)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in ReviewForm]),
    default=ReviewForm.TEXT.value,
    help="For a terminal, a pull request, a script, GitHub's annotations, or a changelog.",
)
@json_option("The same as --format json.")
@click.option(
    "--fail-on",
    type=click.Choice([Severity.BREAKING.value, Severity.LENIENT.value]),
    default=Severity.BREAKING.value,
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
        catalog = formats.catalog_of(root)
        first, second = (_source(side, catalog) for side in (old, new))
        return review_specs(_overlaid(first, second), _overlaid(second, first))
    if old.endswith(".py"):
        copy = Path(old)
        text = file_text(copy, "replace") if copy.is_file() else ""
        if is_generated(text) and not is_unedited(text):
            print_notice(f"{copy} was edited; it is compared as it is")
        return review_copy(copy, formats.catalog_of(root))
    project = find_project(root, Misuse)
    notes = tuple(_outdated_specs(project))
    for note in notes:
        print_notice(note)
    review = review_since(old, project, advance)
    return replace(review, notes=notes) if isinstance(review, Review) else review


def _outdated_specs(project: Project) -> Iterator[str]:
    """Yield of which templates' texts no spec tells yet: a review can't show what they change."""
    index, _ = read_index(project.root)
    edited = edited_templates(index.entries, project.root)
    for entry in edited:
        yield (
            f"{entry.location}: its text isn't the pinned one, so its spec says nothing of it yet; "
            f"if the change is wanted, run: turnspec add --update {shlex.quote(entry.location)}"
        )
    for entry in index.entries:
        spec = OutputPaths.in_project(entry.name).spec
        path = project.root / spec
        if not path.is_file():
            yield f"{spec}: isn't there yet; run: {project.recipe.command}"
        # Asked of the file as it is: reading hundreds of specs would take seconds.
        elif entry not in edited and entry.sha256 not in file_text(path, "replace"):
            yield f"{spec}: is of another text than is pinned; run: {project.recipe.command}"


def _source(side: str, catalog: Catalog) -> Source:
    """Return a spec that is compared; that it isn't verified is told.

    Of a template that is analysed it is tried whether it renders what its spec says.
    """
    found = formats.format_or_template(side, catalog)
    if isinstance(found, KnownFormat):
        spec = formats.spec_of(found)
        formats.tell_unverified(found)
        return Source(spec, result=found.result, file=side)
    from turnspec.pipeline.trial import predicted_spec

    predicted = predicted_spec(found)
    if isinstance(predicted, list):
        raise Fault(*map(str, predicted))
    spec, result = predicted
    analyse = f"turnspec analyze {shlex.quote(side)} --into DIR"
    print_notice(f"{side}: was analysed, and not verified; to have it verified, run: {analyse}")
    return Source(spec, result=result, file=side)


def _overlaid(source: Source, other: Source) -> Source:
    """Return a template that was analysed with the other's overlay, if all else is the same.

    Where more differs, nobody knows whether that holds for it; then it is told.
    """
    spec, known = source.spec, other.spec
    is_analysed = source.result is not None and [*source.result.rungs] == ["0"]
    if not known.overlay or spec.overlay or not is_analysed:
        return source
    from turnspec.analysis.overlaid import overlaid_as

    more = overlaid_as(spec, known) if spec.tools else None
    if more is not None and fingerprint(more) == fingerprint(known):
        return replace(source, spec=more)
    print_notice(
        f"{source.file}: was analysed without the overlay of {known.name}, which adds "
        f"{', '.join(known.overlay)}; that these are gone may be no change of the template"
    )
    return source
