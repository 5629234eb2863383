"""Spec files: reading, writing and hashing. Problems are values with file, line and path."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from turnspec.spec.checks import check_spec
from turnspec.spec.input_files import file_text
from turnspec.spec.model import Spec
from turnspec.spec.os_reasons import reason
from turnspec.spec.plain import spec_from_data, spec_to_data
from turnspec.spec.problems import Problem
from turnspec.spec.recipe import USUAL, Recipe
from turnspec.spec.schema import schema_problems
from turnspec.spec.versions import upgraded, version_problem
from turnspec.spec.yaml_document import Document, read_document
from turnspec.spec.yaml_text import quoted, yaml_text

SPEC_SUFFIX = ".yaml"
#: How the file of a spec begins that turnspec wrote.
SPEC_BEGINS = "# Written by turnspec "


def dump_spec(spec: Spec, recipe: Recipe = USUAL) -> str:
    """Return the text of a spec's YAML file; equal specs of one place have equal texts."""
    source, command = (quoted(text)[1:-1] for text in (spec.template.file, recipe.command))
    head = f"{SPEC_BEGINS}from {source}; regenerate with: {command}\n"
    if recipe.schema:
        head += f"# yaml-language-server: $schema={recipe.schema}\n"
    return head + yaml_text(spec_to_data(spec))


def spec_hash(spec: Spec) -> str:
    """Return the SHA-256 of the spec's YAML, in hexadecimal.

    Comments are left out, and what a tokenizer's lists add: results are those of the template.
    """
    return hashlib.sha256(yaml_text(spec_to_data(spec.of_template)).encode("utf-8")).hexdigest()


def load_spec(text: str, file: str) -> Spec | list[Problem]:
    """Return the spec that a YAML text holds, or everything that its form makes impossible.

    ``file`` is only for the problems, which come sorted by line. What the form can't say (see
    ``check_spec``) isn't looked at.
    """
    loaded = _load(text, file)
    return loaded[0] if isinstance(loaded, tuple) else loaded


def load_checked_spec(text: str, file: str) -> Spec | list[Problem]:
    """Return the spec that a YAML text holds, or every problem with its form and its sense."""
    found = _checked(text, file)
    return found if isinstance(found, Spec) else [*found]


def read_spec(path: Path, shown_as: str = "") -> Spec | list[Problem]:
    """Return the spec of a file, or every problem with it; ``shown_as`` names it in problems."""
    file = shown_as or str(path)
    try:
        text = file_text(path)
    except OSError as error:
        return [Problem(reason(error), file)]
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return [Problem("not UTF-8", file, line)]
    return load_checked_spec(text, file)


@lru_cache(maxsize=512)  # who names formats reads all specs, some of them several times
def _checked(text: str, file: str) -> Spec | tuple[Problem, ...]:
    loaded = _load(text, file)
    if isinstance(loaded, list):
        return tuple(loaded)
    spec, document = loaded
    return tuple(_sorted(check_spec(spec, file, document))) or spec


def _load(text: str, file: str) -> tuple[Spec, Document] | list[Problem]:
    document, problems = read_document(text, file)
    if document is None:
        return _sorted(problems)
    if told := version_problem(document.data):
        return [document.problem(("spec_version",), told, file)]
    document = upgraded(document)
    problems = problems + schema_problems(document, file)
    if problems:
        return _sorted(problems)
    return spec_from_data(cast("dict[str, Any]", document.data)), document


def _sorted(problems: list[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: problem.line or 0)
