"""Pinned templates that have another text now, and what that does to their formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from turnspec.pipeline.project import OutputPaths, Project
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.repository.adding import Repinned, changed_format, repin_templates
from turnspec.review.compare import TemplateReview
from turnspec.sources.add import AddResult
from turnspec.sources.hub_place import Fetch
from turnspec.sources.index import Entry, read_index
from turnspec.sources.newest import Newest, newest_templates
from turnspec.spec.problems import Problem

#: What is said of a format, beside the verdicts of a review.
AS_IT_WAS, UNKNOWN = "as it was", "unknown"


@dataclass(frozen=True, slots=True)
class Outdated:
    """A template with another text, and how its format changes; None if it doesn't.

    ``is_known``: there is a spec to compare with, and the new text could be analysed.
    """

    newest: Newest
    review: TemplateReview | None = None
    is_known: bool = True

    @property
    def verdict(self) -> str:
        """What the new text does to those who keep the old parser."""
        if not self.is_known:
            return UNKNOWN
        return self.review.severity.value if self.review else AS_IT_WAS


def find_outdated(
    project: Project,
    entries: Sequence[Entry],
    fetch: Fetch,
    limits: Limits = USUAL_LIMITS,
    on_entries: Callable[[int], None] = lambda count: None,
) -> tuple[list[Outdated], list[Problem]]:
    """Return which templates of a repository have another text now, and what went wrong.

    Nothing of the repository is changed. ``fetch`` asks the hub; packages are looked for, and
    downloaded, where pip would. ``on_entries`` is told how many more are done.
    """
    index, problems = read_index(project.root)
    found: list[Outdated] = []
    for group in newest_templates(index, entries, fetch):
        for newest in group:
            if isinstance(newest, Problem):
                problems.append(newest)
                continue
            reviews, wrong = changed_format(project, newest.template, newest.entry, limits)
            problems += wrong
            spec = project.root / OutputPaths.in_project(newest.entry.name).spec
            review = reviews[0] if reviews else None
            found.append(Outdated(newest, review, not wrong and spec.is_file()))
        on_entries(1)
    return found, problems


def take_newest(
    project: Project, entry: Entry, fetch: Fetch, limits: Limits = USUAL_LIMITS
) -> Repinned:
    """Pin the newest text of a template that is fetched, and compare its format."""
    index, problems = read_index(project.root)
    groups = newest_templates(index, [entry], fetch)
    found = [newest for group in groups for newest in group]
    problems += [newest for newest in found if isinstance(newest, Problem)]
    if problems:
        return Repinned(AddResult(problems=problems))
    newer = [newest for newest in found if isinstance(newest, Newest)]
    packages = [newest.origin for newest in newer if newest.origin is not None]
    return repin_templates(project, [newest.template for newest in newer], limits, packages)
