"""Templates as the analysis takes them: those of a project with their overlays, and any others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from turnspec.analysis.source import TemplateSource
from turnspec.pipeline.project import Project
from turnspec.sources.fetch import TemplateFile
from turnspec.sources.reading import read_templates
from turnspec.sources.text_files import read_text
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.overlay import OverlayText
from turnspec.spec.problems import Problem


def read_sources(
    project: Project, templates: Iterable[TemplateFile]
) -> tuple[list[TemplateSource], list[Problem]]:
    """Read the templates' texts and their overlays."""
    sources: list[TemplateSource] = []
    problems: list[Problem] = []
    for template in templates:
        text, found = read_text(template.path, template.file)
        problems += found
        overlay, unreadable = read_overlay_of(project, template.name)
        problems += unreadable
        if not found and not unreadable:
            sources.append(TemplateSource.of(template, text, template.origin, overlay))
    return sources, problems


def read_overlay_of(project: Project, name: str) -> tuple[OverlayText | None, list[Problem]]:
    """Return the text of a template's overlay, or None where there is none."""
    path = project.overlays / f"{name}{SPEC_SUFFIX}"
    if not path.exists():
        return None, []
    file = path.relative_to(project.root).as_posix()
    text, problems = read_text(path, file)
    return OverlayText(file, text), problems


def read_sources_anywhere(paths: Sequence[Path]) -> tuple[list[TemplateSource], list[Problem]]:
    """Read all templates of some files and folders; a second one of a name is a problem."""
    found, problems = read_templates_of(paths)
    return [source for _, source in found], problems


def read_templates_of(
    paths: Sequence[Path],
) -> tuple[list[tuple[Path, TemplateSource]], list[Problem]]:
    """Return the same, each template with the path that it was read from."""
    sources: dict[str, tuple[Path, TemplateSource]] = {}
    problems: list[Problem] = []
    for path in paths:
        templates, found = read_templates(path)
        problems += found
        for template in templates:
            if template.name in sources:
                problems.append(Problem(f"a second template named {template.name}", str(path)))
                continue
            sources[template.name] = (path, TemplateSource.of(template, template.text))
    return list(sources.values()), problems
