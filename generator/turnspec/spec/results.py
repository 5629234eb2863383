"""What verification found, per template: specs/verification.json, apart from the specs.

A result belongs to one spec (by its hash) and one version of the generator; no hash covers it.
What the results of a template amount to, `verdict.py` says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from turnspec.spec.json_values import load_json, read_json
from turnspec.spec.problems import Problem
from turnspec.spec.records import MisfitError, Records
from turnspec.spec.words import Part

#: The rung of the checks that look at a spec as a whole.
SANITY = "sanity"

#: The rungs of the verification ladder that have results, in their order, and what each shows.
RUNGS = {
    "0": "the spec predicts unseen renderings",
    "1": "rendered messages come back from the parser",
    "1b": "so do the spec's own turns behind the real prompts",
    "2": "however the text is cut",
    "3": "parser and grammar agree",
    SANITY: "the parts of the spec fit each other and the template",
}

#: A turn's parts, in the order in which files and tables list them.
PARTS = (Part.REASONING, Part.CONTENT, Part.CALLS)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """What was written, what was wanted of it, and what came of it; any of them may be empty."""

    written: str
    wanted: str = ""
    got: str = ""

    def items(self) -> list[tuple[str, str]]:
        """Return what there is, each with its name."""
        parts = (("written", self.written), ("wanted", self.wanted), ("got", self.got))
        return [(name, text) for name, text in parts if text]


@dataclass(frozen=True, slots=True)
class RungResult:
    """How many checks of a rung passed and failed; ``example`` is the shortest failure.

    ``note`` says what was left out of the checks, and why there were none if there were none.
    """

    passed: int
    failed: int
    example: Counterexample | None = None
    note: str = ""

    @property
    def total(self) -> int:
        """The number of checks."""
        return self.passed + self.failed

    @property
    def is_passed(self) -> bool:
        """Whether something was checked, and nothing failed."""
        return self.passed > 0 and not self.failed

    def __str__(self) -> str:
        if not self.total:
            return f"nothing was checked{f': {self.note}' if self.note else ''}"
        note = f" ({self.note})" if self.note else ""
        what = f"{self.failed} of {self.total} failed" if self.failed else f"{self.passed} passed"
        return what + note


#: How a line ends that tells of a branch which nothing takes, though it may be reached.
NEVER_RENDERED = "never rendered"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which branches of a template that concern answers were rendered.

    ``rendered`` of the ``branches`` are, by the ladder's messages or further tries; ``others`` are
    those that concern no answer, and that nothing took. ``untaken`` has a line for each branch that
    the ladder's messages don't take, ``told`` what answers show beside the parts of the spec.
    """

    branches: int = 0
    rendered: int = 0
    others: int = 0
    untaken: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TemplateResult:
    """The results of one template: for which spec, by which generator, its parts and its rungs.

    ``coverage`` is None where nobody asked the template.
    """

    spec_hash: str
    generator: str
    parts: tuple[Part, ...] = ()
    rungs: Mapping[str, RungResult] = field(default_factory=dict)
    coverage: Coverage | None = None


def dump_results(results: Mapping[str, TemplateResult]) -> str:
    """Return the text of verification.json: templates by name, rungs and parts in their order."""
    data = {name: _template_to_data(results[name]) for name in sorted(results)}
    return json.dumps(data, indent=2) + "\n"


def read_results(path: Path) -> dict[str, TemplateResult] | Problem:
    """Return the results by template name; none when the file isn't there yet."""
    return read_json(path, {}, _templates)


def load_results(text: str, file: str) -> dict[str, TemplateResult] | Problem:
    """Return the results that a text holds, or the first thing in it that can't be understood."""
    return load_json(text, file, _templates)


def _templates(data: object) -> dict[str, TemplateResult]:
    results = _RECORDS.each(TemplateResult, data)
    return {name: replace(found, rungs=_known(found)) for name, found in results.items()}


def _known(result: TemplateResult) -> dict[str, RungResult]:
    return {name: result.rungs[name] for name in RUNGS if name in result.rungs}


def _parts(data: object, place: str) -> tuple[Part, ...]:
    if not isinstance(data, list) or any(part not in PARTS for part in data):
        raise MisfitError(place, f"a list of {', '.join(PARTS)}")
    return tuple(part for part in PARTS if part in data)


_RECORDS = Records(
    required=frozenset({(TemplateResult, "parts"), (TemplateResult, "rungs")}),
    special={(TemplateResult, "parts"): _parts},
)


def _template_to_data(result: TemplateResult) -> dict[str, object]:
    parts = tuple(part for part in PARTS if part in result.parts)
    ordered = replace(result, parts=parts, rungs=_known(result))
    return asdict(ordered, dict_factory=_without_empty)


def _without_empty(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    return {key: value for key, value in pairs if value not in ("", None)}
