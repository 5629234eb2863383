"""Pinned templates that have another text now, and what that does to their formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from turnspec.pipeline.project import OutputPaths, Project
from turnspec.rendering.limits import Limits
from turnspec.repository.adding import Repinned, changed_format, repin_templates
from turnspec.review.compare import TemplateReview
from turnspec.sources.add import AddResult
from turnspec.sources.hub_place import HUB, Fetch, HubModel
from turnspec.sources.index import INDEX_FILE, LOCAL, Entry, Index, Origin, read_index
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.spec.input_files import file_bytes
from turnspec.spec.problems import Problem

#: What is said of a format, beside the verdicts of a review.
AS_IT_WAS, UNKNOWN = "as it was", "unknown"


@dataclass(frozen=True, slots=True)
class Newest:
    """Another text of a template than the pinned one, under the name that it is pinned by.

    ``was`` and ``now`` are the pinned and the newest commit or version, ``where`` the repository or
    the project. ``package`` is what has it now, None at the hub. ``verdict`` says what the new text
    does to those who keep the old parser, ``review`` why, where it does anything.
    """

    entry: Entry
    where: str
    was: str
    now: str
    template: SourceTemplate
    package: Origin | None = None
    verdict: str = UNKNOWN
    review: TemplateReview | None = None


def find_outdated(
    project: Project,
    entries: Sequence[Entry],
    fetch: Fetch,
    limits: Limits,
    on_place: Callable[[], None],
) -> tuple[list[Newest], list[Problem]]:
    """Return which templates of a repository have another text now, and what went wrong.

    Nothing of the repository is changed. ``fetch`` asks the hub; packages are looked for, and
    downloaded, where pip would. ``on_place`` is called behind each repository and package. A format
    whose spec isn't there, or whose new text can't be analysed, has no known verdict.
    """
    index, problems = read_index(project.root)
    found: list[Newest] = []
    for group in _newest(index, entries, fetch):
        for newest in group:
            if isinstance(newest, Problem):
                problems.append(newest)
                continue
            reviews, wrong = changed_format(project, newest.template, newest.entry, limits)
            problems += wrong
            spec = project.root / OutputPaths.in_project(newest.entry.name).spec
            verdict = UNKNOWN if wrong or not spec.is_file() else AS_IT_WAS
            review = next(iter(reviews), None)
            verdict = review.severity.value if review else verdict
            found.append(replace(newest, verdict=verdict, review=review))
        on_place()
    return found, problems


def take_newest(project: Project, entry: Entry, fetch: Fetch, limits: Limits) -> Repinned:
    """Pin the newest text of a template that is fetched, and compare its format."""
    index, problems = read_index(project.root)
    found = [newest for group in _newest(index, [entry], fetch) for newest in group]
    problems += [newest for newest in found if isinstance(newest, Problem)]
    if problems:
        return Repinned(AddResult(problems=problems))
    newer = [newest for newest in found if isinstance(newest, Newest)]
    packages = [newest.package for newest in newer if newest.package is not None]
    return repin_templates(project, [newest.template for newest in newer], limits, packages)


def _newest(
    index: Index, entries: Iterable[Entry], fetch: Fetch
) -> Iterator[list[Newest | Problem]]:
    """Yield the templates that have another text now, for each repository and package."""

    def place(entry: Entry) -> tuple[str, str]:
        return entry.origin, entry.repository

    pinned = sorted((entry for entry in entries if entry.origin != LOCAL), key=place)
    for (origin, repository), group in groupby(pinned, place):
        of_one = list(group)
        if origin == HUB:
            found = _at_the_hub(HubModel(repository), of_one, fetch)
        else:
            found = _in_package(index.origins[origin], of_one)
        yield [n for n in found if isinstance(n, Problem) or n.template.sha256 != n.entry.sha256]


def _at_the_hub(
    model: HubModel, entries: Sequence[Entry], fetch: Fetch
) -> Iterator[Newest | Problem]:
    path = fetch(model)
    templates, problems = ([], [path]) if isinstance(path, Problem) else read_templates(path)
    yield from problems
    for entry in entries if templates else ():
        found = _same(entry, templates)
        if found is None:
            yield Problem(f"{model} holds no {entry.path} any more", entry.name)
            continue
        template = replace(found, name=entry.name, file=entry.file)
        yield Newest(entry, entry.repository, entry.commit, found.pin["commit"], template)


def _same(entry: Entry, templates: Sequence[SourceTemplate]) -> SourceTemplate | None:
    """Return the template that an entry was pinned as, which may be in another file now."""
    by_text = [template for template in templates if template.sha256 == entry.sha256]
    by_name = [template for template in templates if template.name == entry.name]
    by_path = [template for template in templates if template.pin.get("path") == entry.path]
    sole = templates if len(templates) == 1 else ()
    return next(iter((*by_text, *by_name, *by_path, *sole)), None)


def _in_package(origin: Origin, entries: Sequence[Entry]) -> Iterator[Newest | Problem]:
    # The network's libraries take long to load.
    from turnspec.sources.download import newest_origin, obtain
    from turnspec.sources.package_files import extract

    newest = newest_origin(origin)
    if isinstance(newest, str):
        yield Problem(newest, INDEX_FILE, origin.line)
        return
    if newest == origin:
        return
    archive = obtain(newest, console=Console(quiet=True))
    if isinstance(archive, Problem):
        yield replace(archive, file=INDEX_FILE, line=origin.line)
        return
    with TemporaryDirectory() as folder:
        yield from extract(archive, newest, entries, Path(folder), is_pinned=False)
        there = [entry for entry in entries if (Path(folder) / entry.location).is_file()]
        for entry in there:
            text = file_bytes(Path(folder) / entry.location).decode("utf-8")
            pin = {"origin": newest.id, "path": entry.path}
            tokens = entry.bos_token, entry.eos_token, entry.tokenizer
            template = SourceTemplate(entry.name, entry.file, text, newest.file, *tokens, pin)
            was = origin.project, origin.version
            yield Newest(entry, *was, newest.version, template, newest)
