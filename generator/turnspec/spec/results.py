"""What verification found, per template: specs/verification.json, apart from the specs.

A result belongs to one spec (by its hash) and one version of the generator; no hash covers it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from turnspec.spec.atomic import write_atomically
from turnspec.spec.json_values import MisfitError, count, load_json, mapping, read_json, text
from turnspec.spec.model import Part
from turnspec.spec.problems import Problem

#: The rungs of the verification ladder that have results, in their order.
RUNGS = ("0", "1", "1b", "2")

#: A turn's parts, in the order in which files and tables list them.
PARTS = (Part.REASONING, Part.CONTENT, Part.CALLS)


@dataclass(frozen=True, slots=True)
class RungResult:
    """How many checks of a rung passed and failed; ``example`` is the first failure, in one line.

    ``note`` says what the numbers don't, such as why a rung has no checks.
    """

    passed: int
    failed: int
    example: str = ""
    note: str = ""

    @property
    def total(self) -> int:
        """The number of checks."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True)
class TemplateResult:
    """The results of one template: for which spec, by which generator, its parts and its rungs."""

    spec_hash: str
    generator: str
    parts: tuple[Part, ...] = ()
    rungs: Mapping[str, RungResult] = field(default_factory=dict)


def dump_results(results: Mapping[str, TemplateResult]) -> str:
    """Return the text of verification.json: templates by name, rungs and parts in their order."""
    data = {name: _template_to_data(results[name]) for name in sorted(results)}
    return json.dumps(data, indent=2) + "\n"


def write_results(path: Path, results: Mapping[str, TemplateResult]) -> bool:
    """Write verification.json and return whether it changed."""
    return write_atomically(path, dump_results(results))


def read_results(path: Path) -> dict[str, TemplateResult] | Problem:
    """Return the results by template name; none when the file isn't there yet.

    A file that can't be understood gives a problem; results can always be found anew.
    """
    return read_json(path, {}, load_results)


def load_results(text: str, file: str) -> dict[str, TemplateResult] | Problem:
    """Return the results that a text holds, or the first thing in it that can't be understood."""
    return load_json(text, file, _templates)


def _templates(data: object) -> dict[str, TemplateResult]:
    return {name: _template(entry, name) for name, entry in mapping(data, "").items()}


def _template(data: object, place: str) -> TemplateResult:
    entry = mapping(data, place)
    rungs = mapping(entry.get("rungs"), f"{place}.rungs")
    return TemplateResult(
        spec_hash=text(entry.get("spec_hash"), f"{place}.spec_hash"),
        generator=text(entry.get("generator"), f"{place}.generator"),
        parts=_parts(entry.get("parts"), f"{place}.parts"),
        rungs={
            name: _rung(rungs[name], f"{place}.rungs.{name}") for name in RUNGS if name in rungs
        },
    )


def _rung(data: object, place: str) -> RungResult:
    entry = mapping(data, place)
    return RungResult(
        passed=count(entry.get("passed"), f"{place}.passed"),
        failed=count(entry.get("failed"), f"{place}.failed"),
        example=text(entry.get("example", ""), f"{place}.example"),
        note=text(entry.get("note", ""), f"{place}.note"),
    )


def _parts(data: object, place: str) -> tuple[Part, ...]:
    names = [str(part) for part in PARTS]
    if not isinstance(data, list) or any(name not in names for name in data):
        raise MisfitError(place, f"a list of {', '.join(names)}")
    return tuple(part for part in PARTS if part in data)


def _template_to_data(result: TemplateResult) -> dict[str, object]:
    return {
        "spec_hash": result.spec_hash,
        "generator": result.generator,
        "parts": [part for part in PARTS if part in result.parts],
        "rungs": {
            name: _rung_to_data(result.rungs[name]) for name in RUNGS if name in result.rungs
        },
    }


def _rung_to_data(rung: RungResult) -> dict[str, object]:
    data: dict[str, object] = {"passed": rung.passed, "failed": rung.failed}
    texts = {"example": rung.example, "note": rung.note}
    return {**data, **{name: text for name, text in texts.items() if text}}
