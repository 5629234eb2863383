"""Replays canitoolcall's cases, and prints what came of each: one line of JSON after the other.

`make conformance` runs this in an environment that has canitoolcall, from the checkout's root:

    build/conformance/bin/python -m tests.conformance.replay 'kimi/*' mistral

The first line says how many cases follow, and what canitoolcall says of its own results.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from importlib.metadata import metadata, version
from typing import Any

from canitoolcall.adapters.base import ReplayInput
from canitoolcall.adapters.worker import replay
from canitoolcall.chunking import DEFAULT_STRATEGIES
from canitoolcall.fixtures import Family, Fixture, fixtures_digest, load_families, load_fixtures
from canitoolcall.results import CaseResult, Status
from canitoolcall.runner import evaluate

from tests.conformance.adapter import Turnspec, TurnspecWithIncompleteCalls
from tests.conformance.formats import NOT_READ, READ_AS


def main(patterns: Sequence[str]) -> int:
    """Replay the chosen cases, or all; 1 if a model is unknown, 2 if nothing goes by a pattern."""
    fixtures = load_fixtures()
    for model in {f.reference_model for f in fixtures} - {*READ_AS, *NOT_READ}:
        print(f"error: formats.py doesn't say by which format {model} is read", file=sys.stderr)
        return 1
    for pattern in patterns:
        if not any(_goes_by(fixture, pattern) for fixture in fixtures):
            print(f"error: no case, family or format goes by {pattern!r}", file=sys.stderr)
            return 2
    chosen = [f for f in fixtures if not patterns or any(_goes_by(f, p) for p in patterns)]
    _tell(
        {
            "total": len(chosen),
            "version": version("canitoolcall"),
            "digest": fixtures_digest(fixtures),
            "ways": len(DEFAULT_STRATEGIES),
            "description": metadata("canitoolcall").json["description"],
        }
    )
    families = load_families()
    for fixture in chosen:
        _tell(_outcome(fixture, families[fixture.family]))
    return 0


def _tell(found: dict[str, Any]) -> None:
    print(json.dumps(found), flush=True)


def _goes_by(fixture: Fixture, pattern: str) -> bool:
    reading = READ_AS.get(fixture.reference_model)
    names = (fixture.id, fixture.family, reading.format if reading else "")
    return any(fnmatchcase(name, pattern) for name in names)


def _outcome(fixture: Fixture, family: Family) -> dict[str, Any]:
    case = _judged(Turnspec(), fixture, family)
    reading = READ_AS.get(fixture.reference_model)
    found = {
        "id": fixture.id,
        "family": fixture.family,
        "model": fixture.reference_model,
        "format": reading.format if reading else "",
        "source": fixture.provenance.source_url,
        "status": case.status.value,
        "checks": sorted({row.check for row in case.checks if row.status is case.status}),
        "details": list(_details(case)),
    }
    if reading and case.status is not Status.ERROR:
        found["with_incomplete_calls"] = _judged(
            TurnspecWithIncompleteCalls(), fixture, family
        ).status.value
        if case.status is not Status.PASS:
            found["shown"] = list(_shown(fixture, family, case))
    return found


def _judged(adapter: Turnspec, fixture: Fixture, family: Family) -> CaseResult:
    """Return what canitoolcall's checks say of one case, whole and streamed in all its ways."""
    try:
        reply = replay(adapter, fixture, family, DEFAULT_STRATEGIES)
        return evaluate(fixture, family, reply, "all")
    except Exception as error:  # a parser that raises is red, whatever the case
        told = f"{type(error).__name__}: {error}"
        return CaseResult(fixture.id, fixture.family, Status.ERROR, harness_error=told)


def _details(case: CaseResult) -> Iterator[str]:
    """Yield what the checks tell, each once, for the first way of reading that shows it."""
    if case.harness_error:
        yield case.harness_error
    seen = set()
    for row in case.checks:
        if row.status is not Status.PASS and (row.check, row.detail) not in seen:
            seen.add((row.check, row.detail))
            yield f"{row.check} ({row.strategy}): {row.detail or row.status.value}"


def _shown(fixture: Fixture, family: Family, case: CaseResult) -> Iterator[tuple[str, str]]:
    """Yield what a person needs to see of a case that isn't passed."""
    yield "text", repr(fixture.raw_output)
    yield "options", str(case.parser_config)
    yield "wanted", str(fixture.to_dict().get("expected") or fixture.to_dict()["expected_error"])
    message = Turnspec().message(ReplayInput.from_fixture(fixture, family), fixture.tools)
    yield "given", str(message.to_dict())
    for problem in message.problems:
        yield "problem", f"{problem.kind} at {problem.offset}: {problem.message}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
