"""Specs of an older form in today's; and beside those of a repository the schema of that form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from turnspec.pipeline.project import SCHEMA, Project
from turnspec.pipeline.regenerate import write_schema
from turnspec.spec.atomic import write_all_atomically
from turnspec.spec.files import SPEC_SUFFIX, dump_spec, load_checked_spec
from turnspec.spec.input_files import file_text
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem


def upgrade_specs(files: list[Path]) -> tuple[list[Path], list[Problem]]:
    """Write the specs in some files in today's form: all of them, or none where one can't be used.

    Returns the files that changed, and all problems. Raises OSError.
    """
    names = {file: str(file) for file in files}
    return _upgraded(names, lambda text, spec: _head(text) + dump_spec(spec).partition("\n")[2])


def upgrade_repository(project: Project) -> tuple[list[Path], list[Problem]]:
    """Do the same for a repository's specs, which then name the schema that lies beside them."""
    changed = [project.root / SCHEMA] if write_schema(project, also_new=True) else []
    files = sorted(project.specs.glob(f"*{SPEC_SUFFIX}"))
    names = {file: file.relative_to(project.root).as_posix() for file in files}
    recipe = project.recipe
    written, problems = _upgraded(names, lambda _, spec: dump_spec(spec, recipe))
    return changed + written, problems


def _upgraded(
    names: Mapping[Path, str], form: Callable[[str, Spec], str]
) -> tuple[list[Path], list[Problem]]:
    """Write specs, whose files problems call by these names, in a form of their old text."""
    texts: dict[Path, str] = {}
    problems: list[Problem] = []
    for file, name in names.items():
        text = file_text(file)
        found = load_checked_spec(text, name)
        if isinstance(found, list):
            problems += found
        else:
            texts[file] = form(text, found)
    return ([] if problems else list(write_all_atomically(texts))), problems


def _head(text: str) -> str:
    """Return the comments that a text begins with."""
    lines = text.splitlines(keepends=True)
    count = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[:count])
