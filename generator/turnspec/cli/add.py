"""`turnspec add`: pin one more template, or one that was edited."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.finding import fetched_path
from turnspec.cli import results_output
from turnspec.cli.common import HUB_OFFLINE, JSON, ROOT, SOURCE, TIME_LIMIT, fetching, find_project
from turnspec.cli.console import finish, print_notice, progress_bar, put_told, say
from turnspec.cli.extras import is_installed
from turnspec.cli.review_output import ReviewForm, print_review
from turnspec.pipeline.build import Build
from turnspec.pipeline.project import Project
from turnspec.pipeline.standing import accepted_failures, standing_problems
from turnspec.rendering.limits import Limits
from turnspec.repository.adding import Repinned, familiar, known_spec, repin
from turnspec.repository.outdated import take_newest
from turnspec.review.shown import json_data
from turnspec.sources.add import AddResult, add_source, location
from turnspec.sources.hub_place import HubModel
from turnspec.sources.index import LOCAL, read_index
from turnspec.sources.reading import SourceTemplate
from turnspec.spec.naming import template_name
from turnspec.spec.problems import Problem
from turnspec.spec.verdict import judge

#: What is told of a template, by what of a result it is in.
_TOLD = {
    "added": "added {} from {}",
    "updated": "pinned {} anew",
    "unchanged": "{} is there already",
}


@click.command()
@click.argument("source", type=SOURCE)
@click.option("--name", help="A file name for the template, instead of the source's own.")
@click.option(
    "--update",
    is_flag=True,
    help="Pin a template anew that was edited, and show how its format changes.",
)
@JSON
@HUB_OFFLINE
@ROOT
@TIME_LIMIT
def add(
    source: Path, name: str | None, update: bool, as_json: bool, root: Path | None, limits: Limits
) -> None:
    """Bring in a template: a .jinja file, a model folder, a GGUF file or ORG/MODEL[@REVISION].

    It is named as the source calls its model, or else after the file, pinned by its hash, and
    tried: exit code 1 if its format can't be verified as it is. The template stays pinned then; one
    that can't be rendered isn't added. A template whose text isn't the pinned one is an error from
    then on, until --update takes the new text for it: SOURCE is then the edited file, the
    template's name, or a newer model. A model's template is fetched from the hub, and pinned at its
    commit. --update by the name of one that is fetched takes what the hub, or the newest package,
    has now.

    \b
    Example:
      turnspec add ~/models/my-model && turnspec regen
      turnspec add --update templates/my-model.jinja
      turnspec add SomeOrg/BrandNew-7B
    """  # noqa: D301
    project = find_project(root)
    if update:
        _update(_repinned(source, project, name, limits), project, limits, as_json=as_json)
        return
    place = fetched_path(str(source), fetching(to_keep=True)) or source
    known, problems = _familiar(place, project, limits)
    if problems:
        print_notice("nothing was added")
    result = AddResult()
    if isinstance(place, Path) and not problems:
        result = add_source(place, project.root, name)
    problems += result.problems
    if not as_json:
        _print(result)
    builds: list[Build] = []
    if result.added:
        for line in known:
            print_notice(line)
        builds, wrong = _tried(project, result.added, limits)
        problems += wrong
    if as_json:
        _put(result, builds, problems)
    elif result.added:
        _print_tried(builds)
        say(f"now run: {project.recipe.command}")
    finish(problems)


def _update(done: Repinned, project: Project, limits: Limits, *, as_json: bool) -> None:
    """Tell what became of templates that were pinned anew, and of their formats."""
    builds, problems = _tried(project, done.result.updated, limits)
    problems = [*done.result.problems, *problems]
    if as_json:
        review = json_data(done.review) if done.review else None
        _put(done.result, builds, problems, review=review)
    else:
        _print(done.result)
        _print_change(done, builds, project)
        _print_red(builds)
        if done.result.updated:
            say(f"now run: {project.recipe.command}")
    finish(problems)


def _familiar(
    source: Path | Problem, project: Project, limits: Limits
) -> tuple[list[str], list[Problem]]:
    if isinstance(source, Problem):
        return [], [source]
    if not source.exists():
        return [], []
    return familiar(source, Catalog.around(project.root), limits)


def _tried(
    project: Project, templates: Sequence[SourceTemplate], limits: Limits
) -> tuple[list[Build], list[Problem]]:
    """Verify templates that were pinned; returns builds, and what went wrong or is red."""
    if not templates:
        return [], []
    if not is_installed("build"):
        print_notice("not tried yet: the extra that builds formats isn't installed")
        return [], []
    from turnspec.pipeline.trial import try_templates  # which needs the extra `build`

    with progress_bar("verifying", None) as advance:
        builds, wrong = try_templates(project, [it.name for it in templates], limits)
        advance()
    accepted = accepted_failures(project)
    return builds, [*wrong, *standing_problems(results_output.results_of(builds), accepted)]


def _print_tried(builds: Sequence[Build]) -> None:
    results = results_output.results_of(builds)
    if results:
        results_output.show_checks(results, results)
    _print_red(builds)


def _print_red(builds: Sequence[Build]) -> None:
    for name, found in results_output.results_of(builds).items():
        results_output.print_shortfalls(name, judge(found, found.spec_hash))
    results_output.print_objections(builds)


def _repinned(source: Path, project: Project, name: str | None, limits: Limits) -> Repinned:
    """Pin a template anew: one that was edited, one by its name, or a newer model's."""
    index, _ = read_index(project.root)
    entry = index.by_name(template_name(source.name))
    by_name = entry if not source.exists() and HubModel.read(str(source)) is None else None
    fetch = fetching(to_keep=True)
    if by_name is not None and by_name.origin != LOCAL:
        return take_newest(project, by_name, fetch, limits)
    place = project.root / by_name.location if by_name else fetched_path(str(source), fetch)
    if isinstance(place, Problem):
        return Repinned(AddResult(problems=[place]))
    return repin(project, place or source, name, limits)


def _put(
    result: AddResult, builds: Sequence[Build], problems: Sequence[Problem], **more: object
) -> None:
    files = {what: [*map(location, getattr(result, what))] for what in _TOLD}
    templates = results_output.results_data(results_output.results_of(builds))
    put_told({**files, **more, "templates": templates}, problems)


def _print(result: AddResult) -> None:
    for what, told in _TOLD.items():
        for template in getattr(result, what):
            say(told.format(location(template), template.source))


def _print_change(done: Repinned, builds: Sequence[Build], project: Project) -> None:
    results = results_output.results_of(builds).values()
    if done.review is not None:
        print_review(done.review, ReviewForm.TEXT)
    elif any(known_spec(project, it.name) is None for it in done.result.updated):
        say("no spec of it is here yet that its format could be compared with")
    elif any(not judge(found, found.spec_hash).is_verified for found in results):
        say("its spec is as it was, and isn't verified")
    elif done.result.updated:
        say("its format is as it was")
