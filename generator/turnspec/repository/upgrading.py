"""Specs of an older form in today's; and beside those of a repository the schema of that form."""

from __future__ import annotations

from pathlib import Path

from turnspec.pipeline.project import SCHEMA, Project
from turnspec.pipeline.regenerate import write_schema
from turnspec.spec.atomic import write_all_atomically
from turnspec.spec.files import SPEC_SUFFIX, dump_spec, load_checked_spec
from turnspec.spec.input_files import file_text
from turnspec.spec.problems import Problem


def upgrade_specs(files: list[Path]) -> tuple[list[Path], list[Problem]]:
    """Write the specs in some files in today's form: all of them, or none where one can't be used.

    Returns the files that changed, and all problems. Raises OSError.
    """
    texts: dict[Path, str] = {}
    problems: list[Problem] = []
    for file in files:
        text = file_text(file)
        found = load_checked_spec(text, str(file))
        if isinstance(found, list):
            problems += found
        else:
            texts[file] = _head(text) + dump_spec(found).partition("\n")[2]
    return ([] if problems else list(write_all_atomically(texts))), problems


def upgrade_repository(project: Project) -> tuple[list[Path], list[Problem]]:
    """Do the same for a repository's specs, which then name the schema that lies beside them."""
    changed = [project.root / SCHEMA] if write_schema(project, also_new=True) else []
    texts: dict[Path, str] = {}
    problems: list[Problem] = []
    for file in sorted(project.specs.glob(f"*{SPEC_SUFFIX}")):
        shown = file.relative_to(project.root).as_posix()
        found = load_checked_spec(file_text(file), shown)
        if isinstance(found, list):
            problems += found
        else:
            texts[file] = dump_spec(found, project.recipe)
    return changed + ([] if problems else list(write_all_atomically(texts))), problems


def _head(text: str) -> str:
    """Return the comments that a text begins with."""
    lines = text.splitlines(keepends=True)
    count = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[:count])
