"""Why cases are read otherwise than the suite expects: explained.yaml, and what it leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.outcomes import Outcome, Status
from turnspec.spec.problems import Problem

FILE = Path(__file__).with_name("explained.yaml")
_KEYS = {"status", "reason", "cases"}
_STATUSES = (Status.FAIL, Status.SOFT_PASS)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why some cases, by their ids, come to a status."""

    status: Status
    reason: str
    cases: tuple[str, ...]


def read_explanations(path: Path = FILE) -> tuple[Explanation, ...] | list[Problem]:
    """Return all explanations, or every problem with them."""
    groups = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(groups, list):
        return [Problem("must be a list of explanations", path.name)]
    problems = [
        Problem(problem, path.name, path=f"[{place}]")
        for place, group in enumerate(groups)
        for problem in _problems(group)
    ]
    if problems:
        return problems
    cases = Counter(case for group in groups for case in group["cases"])
    twice = [Problem(f"{case} stands there twice", path.name) for case in cases if cases[case] > 1]
    return twice or tuple(
        Explanation(
            Status(group["status"]), " ".join(group["reason"].split()), tuple(group["cases"])
        )
        for group in groups
    )


def _problems(group: Any) -> Iterator[str]:
    if not isinstance(group, dict) or set(group) != _KEYS:
        yield f"must have exactly the keys {', '.join(sorted(_KEYS))}"
        return
    if group["status"] not in _STATUSES:
        yield f"status must be {' or '.join(_STATUSES)}"
    if not isinstance(group["reason"], str) or not group["reason"].strip():
        yield "reason must be a sentence"
    cases = group["cases"]
    if not isinstance(cases, list) or not cases or not all(isinstance(c, str) for c in cases):
        yield "cases must be a list of ids"


def explanation_of(outcome: Outcome, explanations: Collection[Explanation]) -> str:
    """Return why a case comes to what it comes to, "" if nobody has said."""
    for explanation in explanations:
        if outcome.status is explanation.status and outcome.id in explanation.cases:
            return explanation.reason
    return ""


def unexplained(
    outcomes: Sequence[Outcome], explanations: Collection[Explanation]
) -> list[Outcome]:
    """Return the outcomes that deviate, and nobody has said why."""
    return [o for o in outcomes if o.deviates and not explanation_of(o, explanations)]


def outdated(outcomes: Sequence[Outcome], explanations: Collection[Explanation]) -> list[str]:
    """Return the explanations that explain nothing (any more), a line for each case."""
    status = {outcome.id: outcome.status for outcome in outcomes}
    return [
        f"{FILE.name}: {case}: {_now(status.get(case))}; take it out"
        for explanation in explanations
        for case in explanation.cases
        if status.get(case) in (None, Status.PASS, Status.UNSUPPORTED)
    ]


def _now(status: Status | None) -> str:
    told = {None: "there is no such case", Status.PASS: "it passes"}
    return told.get(status, "there is no format to read it by")
