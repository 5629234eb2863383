"""Overlays: what no rendering of a template can show, said by a person with a reason and a source.

`overlay.json` beside this file is the manual for writers of such a file. Reading one gives values;
nothing here knows what an overlay's keys entail.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import getitem
from typing import Any, cast

from turnspec.spec.files import dump_spec
from turnspec.spec.model import Spec
from turnspec.spec.plain import spec_from_data, spec_to_data
from turnspec.spec.problems import Problem
from turnspec.spec.schema import OVERLAY_SCHEMA, schema_problems
from turnspec.spec.yaml_document import Document, YamlPath, read_document


@dataclass(frozen=True, slots=True)
class OverlayText:
    """An overlay that nobody has read yet: its file and its text."""

    file: str
    text: str


@dataclass(frozen=True, slots=True)
class OverlayKey:
    """One key of a spec (with dots between the steps), its value, and how it is known."""

    key: str
    value: object
    reason: str
    source: str
    quote: str = ""

    @property
    def path(self) -> YamlPath:
        """Where the key stands in a spec."""
        return tuple(self.key.split("."))


@dataclass(frozen=True, slots=True)
class Overlay:
    """An overlay's keys, the template it is for, and the file they stand in."""

    file: str
    template: str
    sha256: str
    keys: tuple[OverlayKey, ...]
    document: Document


def read_overlay(text: str, file: str) -> Overlay | list[Problem]:
    """Return the overlay that a YAML text holds, or every problem with its form."""
    document, problems = read_document(text, file)
    if document is None:
        return problems
    problems = problems + schema_problems(document, file, OVERLAY_SCHEMA)
    if problems:
        return problems
    data = cast("Mapping[str, Any]", document.data)
    keys = tuple(OverlayKey(**key) for key in data["keys"])
    overlay = Overlay(file, data["template"], data["sha256"], keys, document)
    return list(_overlapping(overlay)) or overlay


def _overlapping(overlay: Overlay) -> Iterator[Problem]:
    for index, later in enumerate(overlay.keys):
        for earlier in overlay.keys[:index]:
            shorter = min(earlier.path, later.path, key=len)
            if earlier.path[: len(shorter)] == later.path[: len(shorter)]:
                yield _problem(overlay, index, "key", f"overlaps the key {earlier.key}")


def source_problems(overlay: Overlay, file: str, text: str) -> list[Problem]:
    """Return why the overlay doesn't belong to a template: its name, its hash, its own words."""
    problems: list[Problem] = []
    if overlay.template != file:
        problems.append(_problem(overlay, None, "template", f"the template here is {file}"))
    found = hashlib.sha256(text.encode()).hexdigest()
    if overlay.sha256 != found:
        message = f"for another text of {file}; look at its keys again, then set this to {found}"
        problems.append(_problem(overlay, None, "sha256", message))
    for index, key in enumerate(overlay.keys):
        if key.quote not in text:
            problems.append(_problem(overlay, index, "quote", f"{file} doesn't say this"))
    return problems


def put_over(overlay: Overlay, spec: Spec) -> Spec | list[Problem]:
    """Return the spec with the overlay's keys in it, or what is wrong with their values.

    A value that the spec has without the overlay is a problem too: the key isn't needed.
    """
    document, _ = read_document(dump_spec(spec), "")
    assert document is not None, "a spec's own text can be read"
    data = cast("dict[str, Any]", document.data)
    problems: list[Problem] = []
    for index, key in enumerate(overlay.keys):
        message = _set(data, key.path, key.value)
        if message:
            problems.append(_problem(overlay, index, "key", message))
    if problems:
        return problems
    data["overlay"] = [key.key for key in overlay.keys]
    found = schema_problems(Document(data, overlaid_lines(overlay)), overlay.file)
    return found or spec_from_data(data)


def put_as(spec: Spec, known: Spec) -> Spec | None:
    """Return a spec with the values that another one has from its overlay, if there is room."""
    data, given = (json.loads(json.dumps(spec_to_data(it))) for it in (spec, known))
    paths = [tuple(key.split(".")) for key in known.overlay]
    if any(_set(data, path, functools.reduce(getitem, path, given)) for path in paths):
        return None
    return spec_from_data({**data, "overlay": [*known.overlay]})


def overlaid_lines(overlay: Overlay) -> dict[YamlPath, int]:
    """Return the lines of the overlay's file at which parts of the spec stand."""
    lines: dict[YamlPath, int] = {(): 1}
    for path, line in overlay.document.lines.items():
        match path:
            case ("keys", int(index), "value", *rest):
                lines[(*overlay.keys[index].path, *rest)] = line
    return lines


def _set(data: dict[str, Any], path: YamlPath, value: object) -> str:
    """Set a value in a spec's data; return what stands in the way."""
    *steps, last = path
    place: Any = data
    for step in steps:
        place = place.setdefault(step, {})
        if not isinstance(place, dict):
            return f"{step} has no keys below it; give it whole"
    if last in place and place[last] == value:
        return "the template shows this already; take the key out"
    place[last] = value
    return ""


def _problem(overlay: Overlay, index: int | None, key: str, message: str) -> Problem:
    path: YamlPath = (key,) if index is None else ("keys", index, key)
    return overlay.document.problem(path, message, overlay.file)
