"""docs/EXPORTS.md: which formats each target takes, how loosely, and what its program reads.

Formats that fare the same with every target share a row. How many turns each was tried on is in
specs/integrations.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from turnspec.spec.integration_results import (
    ExportState,
    IntegrationResult,
    Integrations,
    TargetRecord,
)

_HEAD = """\
<!-- Written by `make integrations`. -->

# Exports

What each target of `turnspec export` takes of each format, and whether its program gives turns
back: those of rungs 1 and 1b of the [verification](verification.md), whole and in pieces.
*Loosened* formats are read less exactly, *refused* ones not exported, as listed below; how many
turns didn't come back is told. [export.md](export.md) says how a format is exported; the counts of
each format are in [specs/integrations.json](../specs/integrations.json).
"""


def exports_page(records: Integrations) -> str:
    """Return the page's text."""
    return "\n".join([_HEAD, _table(records), *(_target(t, r) for t, r in records.items())])


def _table(records: Integrations) -> str:
    """Return the formats by how they fare with all targets, most of them first."""
    names = sorted({name for record in records.values() for name in record.formats})
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        cells = tuple(_cell(record.formats.get(name)) for record in records.values())
        alike.setdefault(cells, []).append(name)
    rows: list[tuple[str, ...]] = [("", *records, "formats"), ("---",) * (len(records) + 2)]
    for cells, found in sorted(alike.items(), key=lambda each: (-len(each[1]), each[1])):
        rows.append((str(len(found)), *cells, ", ".join(found)))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(found: IntegrationResult | None) -> str:
    if found is None:
        return "-"
    failed = found.checks - found.passed
    return f"{found.state}, {failed} of {found.checks} fail" if failed else str(found.state)


def _target(target: str, record: TargetRecord) -> str:
    results = record.formats
    packages = ", ".join(f"{name} {version}" for name, version in record.packages.items())
    states = [found.state for found in results.values()]
    counts = ", ".join(f"{states.count(state)} {state}" for state in ExportState)
    checks, passed, cuts, raised = (
        sum(getattr(found, word) for found in results.values())
        for word in ("checks", "passed", "cuts", "raised")
    )
    lines = [f"## {target}\n", f"With {packages}: {counts}. Of {checks} turns {passed} came back."]
    if loosely := sum(found.loosely for found in results.values()):
        lines.append(f"In {loosely} of these something came back as the losses say.")
    if cuts:
        formats = sum(bool(found.raised) for found in results.values())
        lines.append(
            f"Of {cuts} turns that break off, the program raises at {raised}, in {formats} formats."
        )
    if bridged := sum(found.bridged for found in results.values()):
        never = [name for name, found in sorted(results.items()) if not found.bridged]
        told = f"; in {len(never)} formats behind none ({', '.join(never)})" if never else ""
        lines.append(f"Behind {bridged} turns the next one's prompt was put{told}.")
    return "\n".join([*lines, "", *_losses(results), *_failures(results)])


def _losses(results: Mapping[str, IntegrationResult]) -> Iterator[str]:
    """Yield what is loosened or refused, each with the formats that it is about."""
    for state in (ExportState.LOOSENED, ExportState.REFUSED):
        told: dict[str, list[str]] = {}
        for name, found in sorted(results.items()):
            for loss in found.losses if found.state is state else ():
                told.setdefault(loss, []).append(name)
        if told:
            yield f"{state.capitalize()}:\n"
            yield from (f"- {loss} ({', '.join(names)})" for loss, names in told.items())
            yield ""


def _failures(results: Mapping[str, IntegrationResult]) -> Iterator[str]:
    failing = {
        name: found for name, found in sorted(results.items()) if found.passed < found.checks
    }
    if failing:
        yield "Not read:\n"
        for name, found in failing.items():
            failed = found.checks - found.passed
            yield f"- {name}: {failed} of {found.checks}, the shortest: {_code(found.example)}"
        yield ""


def _code(text: str) -> str:
    fence = "`" * 3
    return f"{fence} {text} {fence}"
