"""Analysing templates from anywhere into a folder of the user's; nothing else is touched."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from turnspec.analysis.overlay_draft import DRAFT_SUFFIX
from turnspec.analysis.source import TemplateSource
from turnspec.codegen.banner import is_generated
from turnspec.pipeline.build import Build
from turnspec.pipeline.processes import Task, build_in_processes
from turnspec.pipeline.project import OutputPaths
from turnspec.pipeline.template_sources import read_templates_of
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.sources.reading import named_again
from turnspec.sources.text_files import read_text
from turnspec.spec.atomic import write_all_atomically, write_atomically
from turnspec.spec.files import SPEC_BEGINS, SPEC_SUFFIX
from turnspec.spec.input_files import file_bytes, file_text
from turnspec.spec.naming import TEMPLATE_SUFFIX
from turnspec.spec.overlay import OverlayText
from turnspec.spec.problems import Problem
from turnspec.spec.recipe import Recipe
from turnspec.verification.rungs import DEFAULT_MESSAGES


@dataclass(slots=True)
class FolderResult:
    """What came of it: a build for each template, the files written, and all problems."""

    builds: list[Build] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)  # drafts and templates, left as they were
    problems: list[Problem] = field(default_factory=list)


def analyze_into(
    sources: Sequence[Path],
    into: Path | None,
    *,
    overlay: Path | None = None,
    messages: int | None = DEFAULT_MESSAGES,
    on_build: Callable[[Build], None] = lambda build: None,
    limits: Limits = USUAL_LIMITS,
) -> FolderResult:
    """Analyse .jinja files, model folders and GGUF files; write spec, parser and grammar of each.

    With ``into`` None nothing is written; the builds hold the texts. Where a prompt speaks of
    parts that its template never renders, a draft of an overlay is written too, but never over
    another file; so is a template that was taken out of a model's files. ``overlay`` is put over
    the one template of the sources. ``messages`` is the number of random messages for the
    verification (None: no verification). ``limits`` are those of each template. A
    source that fails is a problem and doesn't stop the others.
    """
    found, problems = read_templates_of(sources)
    if overlay is not None and not problems:
        found, problems = _with_overlay(found, overlay)
    result = FolderResult(problems=problems)
    tasks = [task_for(path, source, messages, limits, into, overlay) for path, source in found]
    taken_out = {source.name: source for path, source in found if path.suffix != TEMPLATE_SUFFIX}
    for made in build_in_processes(tasks, os.cpu_count() or 1):
        build = made.marked(made.result)
        result.builds.append(build)
        result.problems += build.problems
        if into is not None:
            _write(build, into, taken_out.get(build.name), result)
        on_build(build)
    return result


def _write(build: Build, into: Path, taken_out: TemplateSource | None, out: FolderResult) -> None:
    """Write the files of a build, unless one would take the place of somebody else's."""
    texts = {into / path: text for path, text in build.files.items()}
    if others := [path for path in texts if _is_of_others(path)]:
        told = "isn't turnspec's; move it away or choose another folder"
        out.problems += [Problem(told, str(path)) for path in others]
        return
    write_all_atomically(texts)
    out.written += texts
    if build.advice is not None and build.advice.draft is not None:
        _write_unless_there(into / f"{build.name}{DRAFT_SUFFIX}", build.advice.draft.text, out)
    if build.files and taken_out is not None:
        _write_unless_there(into / taken_out.file, taken_out.text, out)


def _is_of_others(path: Path) -> bool:
    """Tell whether a file that is there was never written here: `model.py` may be anyone's."""
    try:
        text = file_text(path, "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return False
    is_ours = text.startswith(SPEC_BEGINS) if path.suffix == SPEC_SUFFIX else is_generated(text)
    return bool(text.strip()) and not is_ours


def task_for(
    path: Path,
    source: TemplateSource,
    messages: int | None = DEFAULT_MESSAGES,
    limits: Limits = USUAL_LIMITS,
    into: Path | None = None,
    overlay: Path | None = None,
) -> Task:
    """Return what there is to do for a template that was read from a path."""
    paths, recipe = OutputPaths.in_folder(source.name), Recipe(_command(path, into, overlay))
    return Task(source, paths, messages, recipe, with_advice=True, limits=limits)


def _command(path: Path, into: Path | None, overlay: Path | None) -> str:
    """Return the command as it was given, but without folders of this machine."""
    again = named_again(path)
    words = ["turnspec", "analyze", again if again != str(path) else _named(path)]
    words += ["--overlay", _named(overlay)] if overlay else []
    return shlex.join([*words, "--into", _named(into or Path())])


def _named(path: Path) -> str:
    return path.as_posix() if not path.is_absolute() else path.name


def _write_unless_there(path: Path, text: str, result: FolderResult) -> None:
    """Write a file, unless there is one already: a person may have worked on it."""
    if path.exists():
        if file_bytes(path) != text.encode("utf-8"):
            result.kept.append(path)
        return
    write_atomically(path, text)
    result.written.append(path)


def _with_overlay(
    templates: Sequence[tuple[Path, TemplateSource]], overlay: Path
) -> tuple[list[tuple[Path, TemplateSource]], list[Problem]]:
    """Return the one template with its overlay; several, or a bad file, are a problem."""
    file = str(overlay)
    if len(templates) != 1:
        message = f"an overlay belongs to one template; there are {len(templates)}"
        return [], [Problem(message, file)]
    text, problems = read_text(overlay, file)
    if problems:
        return [], problems
    ((path, source),) = templates
    return [(path, replace(source, overlay=OverlayText(file, text)))], []
