"""A review as workflow commands: GitHub shows them at the changed specs of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.review.compare import Review, TemplateReview
from turnspec.review.rules import Finding, Severity
from turnspec.spec.visible import visible
from turnspec.spec.yaml_text import quoted

_COMMANDS = {Severity.BREAKING: "error", Severity.LENIENT: "warning", Severity.COMPATIBLE: "notice"}
_LENGTH = 200


def github_lines(review: Review) -> Iterator[str]:
    """Return a command for each finding, each spec that can't be used, and each note."""
    for template in review.templates:
        facts = template.fact_findings()
        # Of the changed facts those that are worse than a mere change.
        worse = [fact for fact in facts if fact.rule.severity is not Severity.COMPATIBLE]
        yield from (_command(template, finding) for finding in (*template.findings, *worse))
    for problem in review.problems:
        yield f"::error file={_property(problem.file)}::{_data(str(problem))}"
    yield from (f"::warning::{_data(note)}" for note in review.notes)


def _command(template: TemplateReview, finding: Finding) -> str:
    said = f" ({finding.text})" if finding.text else ""
    lines = [f"{template.name}: {finding.rule.meaning}{said}"]
    for name, text in finding.example.items() if finding.example else ():
        shown = quoted(text) if name == "written" else visible(text)
        lines.append(f"{name}: {shown[:_LENGTH]}")
    place = f"file={_property(template.file)},title={_property(finding.rule.id)}"
    return f"::{_COMMANDS[finding.rule.severity]} {place}::{_data(chr(10).join(lines))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
