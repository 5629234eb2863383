"""What `turnspec add` does beside pinning: say what is known already, and what an edit changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.identify import Kind, identify_templates
from turnspec.pipeline.project import OutputPaths, Project
from turnspec.pipeline.standing import Standings
from turnspec.pipeline.template_sources import read_overlay_of, source_of
from turnspec.pipeline.trial import predicted_spec
from turnspec.rendering.limits import Limits
from turnspec.review.compare import Review, Source, TemplateReview, compare_sources
from turnspec.sources.add import AddResult, add_templates
from turnspec.sources.index import Entry, Origin, read_index
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.spec.files import read_spec
from turnspec.spec.input_files import file_text
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import TemplateResult


def familiar(source: Path, catalog: Catalog, limits: Limits) -> tuple[list[str], list[Problem]]:
    """Return what is known already of a source's templates, a line each.

    And why one of them can't be read or analysed: then it would fail whenever all are.
    """
    identities, problems = identify_templates(source, catalog, limits)
    lines = []
    for found in identities:
        if found.kind is Kind.KNOWN:
            lines.append(f"{found.label}: this is the template of {found.names[0]}, known already")
        elif found.kind is Kind.SAME_FORMAT:
            lines.append(f"{found.label}: it writes the format of {found.names[0]}, known already")
    return lines, problems


@dataclass(slots=True)
class Repinned:
    """What became of templates that were edited: the pins, and how their formats changed."""

    result: AddResult = field(default_factory=AddResult)
    review: Review | None = None


def repin(project: Project, source: Path, name: str | None, limits: Limits) -> Repinned:
    """Pin a source's templates anew, and compare their formats with the specs that are there.

    A template that can't be analysed is a problem; then nothing is pinned.
    """
    templates, problems = read_templates(source, name)
    if problems:
        return Repinned(AddResult(problems=problems))
    return repin_templates(project, templates, limits)


def repin_templates(
    project: Project,
    templates: Sequence[SourceTemplate],
    limits: Limits,
    packages: Iterable[Origin] = (),
) -> Repinned:
    """Do the same with templates at hand, some of which ``packages`` may hold."""
    index, problems = read_index(project.root)
    changed = [
        (template, entry)
        for template in templates
        if (entry := index.by_name(template.name)) and entry.sha256 != template.sha256
    ]
    if problems:
        return Repinned(AddResult(problems=problems))
    reviews: list[TemplateReview] = []
    for template, entry in changed:
        found, troubles = changed_format(project, template, entry, limits)
        reviews += found
        problems += troubles
    if problems:
        return Repinned(AddResult(problems=problems))
    result = add_templates(templates, project.root, update=True, packages=packages)
    titles = "the specs that are there", "the templates as they are now"
    return Repinned(result, Review(*titles, tuple(reviews)) if reviews else None)


def changed_format(
    project: Project, template: SourceTemplate, entry: Entry, limits: Limits
) -> tuple[list[TemplateReview], list[Problem]]:
    """Return how a format changes with another text of its template; nothing is written.

    There is no review where the format stays as it is, or no spec is there. It stays if the spec
    does, and the template renders what that says.
    """
    found = _analysed(project, template, entry, limits)
    return ([], found) if isinstance(found, list) else (_compared(project, *found), [])


def _analysed(
    project: Project, template: SourceTemplate, entry: Entry, limits: Limits
) -> tuple[Spec, TemplateResult] | list[Problem]:
    listed = replace(
        entry,
        bos_token=template.bos_token or entry.bos_token,
        eos_token=template.eos_token or entry.eos_token,
        tokenizer=template.tokenizer or entry.tokenizer,
    )
    overlay, problems = read_overlay_of(project, template.name)
    if problems:
        return problems
    source = source_of(listed, template.text, overlay)
    return predicted_spec(source, limits)


def known_spec(project: Project, name: str) -> Spec | None:
    """Return the spec that is there of a template, if there is one that can be read."""
    path = OutputPaths.in_project(name).spec
    spec = read_spec(project.root / path, path)
    return spec if isinstance(spec, Spec) else None


def _compared(project: Project, new: Spec, result: TemplateResult) -> list[TemplateReview]:
    """Compare a new spec with the one on the disk, if there is one that can be read."""
    old = known_spec(project, new.name)
    is_same = old is not None and replace(old, template=new.template) == new
    if old is None or (is_same and result.rungs["0"].is_passed):
        return []
    module = project.root / OutputPaths.in_project(new.name).module
    text = file_text(module) if module.is_file() else None
    known = Standings.read(project).results.get(new.name)
    before = Source(old, text, result=known)
    return [compare_sources(new.name, before, Source(new, result=result))]
