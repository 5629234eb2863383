"""Templates as the analysis takes them: those of a project with their overlays, and any others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from turnspec.analysis.source import TemplateSource
from turnspec.pipeline.project import Project
from turnspec.sources.index import LOCAL, Entry
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.sources.text_files import read_text
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.overlay import OverlayText
from turnspec.spec.problems import Problem


def source_of(
    listed: Entry | SourceTemplate, text: str, overlay: OverlayText | None = None
) -> TemplateSource:
    """Return the template that has a text, with what is known of it beside that."""
    tokens = {"bos_token": listed.bos_token, "eos_token": listed.eos_token}
    known = {name: token for name, token in tokens.items() if token is not None}
    origin = listed.origin if isinstance(listed, Entry) else LOCAL
    return TemplateSource(listed.name, text, listed.file, origin, known, overlay, listed.tokenizer)


def read_sources(
    project: Project, entries: Iterable[Entry]
) -> tuple[list[TemplateSource], list[Problem]]:
    """Read the templates' texts and their overlays."""
    sources: list[TemplateSource] = []
    problems: list[Problem] = []
    for entry in entries:
        text, found = read_text(project.root / entry.location, entry.file)
        problems += found
        overlay, unreadable = read_overlay_of(project, entry.name)
        problems += unreadable
        if not found and not unreadable:
            sources.append(source_of(entry, text, overlay))
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
            sources[template.name] = (path, source_of(template, template.text))
    return list(sources.values()), problems
