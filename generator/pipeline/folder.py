"""Analysing templates from anywhere into a folder of the user's; nothing else is touched."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from generator.analysis.analyze import TemplateSource
from generator.pipeline.build import Build
from generator.pipeline.processes import Task, build_in_processes
from generator.pipeline.project import OutputPaths
from generator.sources.reading import read_templates
from generator.spec.atomic import write_atomically
from generator.spec.problems import Problem
from generator.verification.rungs import DEFAULT_MESSAGES


@dataclass(slots=True)
class FolderResult:
    """What came of it: a build for each template, the files written, and all problems."""

    builds: list[Build] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def analyze_into(
    sources: Sequence[Path],
    into: Path | None,
    *,
    messages: int | None = DEFAULT_MESSAGES,
    on_build: Callable[[Build], None] | None = None,
) -> FolderResult:
    """Analyse .jinja files, model folders and GGUF files; write spec, parser and grammar of each.

    With ``into`` None nothing is written; the builds hold the texts. ``messages`` is the number
    of random messages for the verification (None: no verification). A source that fails is a
    problem and doesn't stop the others. A script that calls this needs the usual
    ``if __name__ == "__main__":``, as templates are rendered in processes of their own.
    """
    templates, problems = read_sources_anywhere(sources)
    result = FolderResult(problems=problems)
    tasks = [Task(source, OutputPaths.in_folder(source.name), messages) for source in templates]
    for build in build_in_processes(tasks, os.cpu_count() or 1):
        result.builds.append(build)
        result.problems += build.problems
        for path, text in build.files.items():
            if into is not None:
                write_atomically(into / path, text)
                result.written.append(into / path)
        if on_build is not None:
            on_build(build)
    return result


def read_sources_anywhere(
    paths: Sequence[Path],
) -> tuple[list[TemplateSource], list[Problem]]:
    """Read all templates of some files and folders; a second one of a name is a problem."""
    sources: list[TemplateSource] = []
    problems: list[Problem] = []
    for path in paths:
        templates, found = read_templates(path)
        problems += found
        for template in templates:
            if any(template.name == source.name for source in sources):
                problems.append(Problem(f"a second template named {template.name}", str(path)))
                continue
            tokens = {"bos_token": template.bos_token, "eos_token": template.eos_token}
            known = {name: value for name, value in tokens.items() if value is not None}
            sources.append(
                TemplateSource(template.name, template.text, template.file, "local", known)
            )
    return sources, problems
