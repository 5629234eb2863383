"""A review as text for a terminal, as Markdown for a pull request, and as data for scripts."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from turnspec.review.compare import Review, Status, TemplateReview
from turnspec.review.facts import Area, Change
from turnspec.review.reading import Reading
from turnspec.review.rules import Finding, Severity, rule_of
from turnspec.spec.results import Counterexample
from turnspec.spec.visible import shortened, visible
from turnspec.spec.yaml_text import quoted

#: The longest text of an example, in characters.
_LENGTH = 300
_NOTHING = "nothing"
#: What templates are counted by, the worst first.
_KINDS = (*reversed(Severity), Status.ADDED, Status.REMOVED)

Line = tuple[str, str]  # the text, and what it is: a severity, "old", "new", "head" or ""


def text_lines(review: Review) -> Iterator[Line]:
    """Return the lines for a terminal, each with what it is."""
    for template in review.templates:
        yield f"{template.name}: {_verdict(template)}", template.severity
        for line in _readings(template):
            yield f"  {line}", ""
        yield from ((f"    {line}", "") for line in _reverse_example(template))
        for finding in template.told:
            yield from ((f"  {line}", kind) for line, kind in _finding_lines(finding))
        for area, group in groupby(template.changes, key=lambda change: change.area):
            yield f"  {area}", "head"
            yield from ((f"    {_change_text(change)}", "") for change in group)
        yield "", ""
    yield summary_line(review), ""


def markdown(review: Review) -> str:
    """Return the review as a comment on a pull request."""
    lines = [f"### Output formats: {summary_line(review)}", ""]
    if review.templates:
        lines += ["| template | verdict |", "| --- | --- |"]
        lines += [f"| {item.name} | {_verdict(item)} |" for item in review.templates]
        lines.append("")
    for template in review.templates:
        if template.status is Status.CHANGED or template.told:
            lines += _markdown_details(template)
    lines += [f"- {told}" for told in (*review.problems, *review.notes)]
    return "\n".join(lines).rstrip("\n") + "\n"


def changelog(review: Review) -> str:
    """Return the review as the part of a changelog that tells of formats."""
    lines = ["### Formats", "", f"{summary_line(review)}.", ""]
    for kind in _KINDS:
        group = [template for template in review.templates if _kind(template) is kind]
        if kind is Severity.COMPATIBLE and group:  # of these nobody has to know more
            lines.append(f"- **Compatible**: {', '.join(template.name for template in group)}")
        elif group:
            lines.append(f"- **{kind.capitalize()}**:")
            lines += [f"  - {template.name}{_reasons(template)}" for template in group]
    return "\n".join(lines).rstrip("\n") + "\n"


def _reasons(template: TemplateReview) -> str:
    """Return by which rules a change is what it is, or what an added format has."""
    found = (*template.findings, *template.fact_findings())
    rules = dict.fromkeys(it.rule.id for it in found if it.rule.severity is template.severity)
    said = ", ".join(rules) if template.status is Status.CHANGED else template.modes
    return f": {said}" if said else ""


def json_data(review: Review) -> dict[str, object]:
    """Return the review as plain data."""
    return {
        "old": review.old,
        "new": review.new,
        "breaking": review.reaches(Severity.BREAKING),
        "templates": [_template_data(template) for template in review.templates],
        "problems": [str(problem) for problem in review.problems],
        "notes": list(review.notes),
    }


def summary_line(review: Review) -> str:
    """Return what changed, in one line."""
    counts = Counter[str](map(_kind, review.templates))
    said = ", ".join(f"{counts[kind]} {kind}" for kind in _KINDS if counts[kind])
    unusable = f"; problems: {len(review.problems)}" if review.problems else ""
    return f"{said or 'no format changed'} between {review.old} and {review.new}{unusable}"


def _kind(template: TemplateReview) -> Severity | Status:
    return template.severity if template.status is Status.CHANGED else template.status


def _verdict(template: TemplateReview) -> str:
    if template.status is not Status.CHANGED:
        return f"{template.status}: {template.modes}" if template.modes else str(template.status)
    if not template.changes and template.forward is None:
        return f"{template.severity} (the spec is the same, its results aren't)"
    if template.forward is None:
        rules = {finding.rule.id for finding in template.findings}
        also = ", its verification did" if rules - {"rung-red"} else ""
        also = also or ", and isn't verified" * bool(rules)
        return f"{template.severity} (the template changed, its format didn't{also})"
    default = [f.text for f in template.findings if f.rule.id == "thinking-default-flipped"]
    said = f": {default[0]} for whoever sets nothing" if default else ""
    return f"{template.severity}{' (both write the same turns)' * template.same_turns}{said}"


def _readings(template: TemplateReview) -> Iterator[str]:
    """Return how each parser reads the other's turns."""
    if template.forward:
        yield f"old parser, new turns: {_reading(template.forward)}"
    if template.backward:
        yield f"new parser, old turns: {_reading(template.backward)}"


def _reverse_example(template: TemplateReview) -> Iterator[str]:
    """Return a turn that only the new parser misreads, so that no finding shows it."""
    forward, backward = template.forward, template.backward
    if forward and backward and not forward.example and backward.example:
        yield from _example_lines(backward.example)


def _reading(reading: Reading) -> str:
    counts = {
        "read as meant": reading.same,
        "read as meant, with problems": reading.with_problems,
        "read otherwise": reading.differing,
    }
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    text = f"{reading.severity}; of {reading.turns} turns {said or 'none could be compared'}"
    if reading.kinds:
        text += f" ({', '.join(reading.kinds)})"
    if reading.only_behind:
        text += f"; only behind {reading.only_behind}"
    if reading.unreadable:
        text += f"; {reading.unreadable} aren't read even by their own parser, and prove nothing"
    if reading.with_prompt is not reading.severity:
        text += f"; {reading.with_prompt} if it is given the prompt as prefill"
    return text


def _finding_lines(finding: Finding) -> Iterator[Line]:
    """Return a finding's rule and what it means, and its example."""
    said = f" ({finding.text})" if finding.text else ""
    yield f"{finding.rule.id}: {finding.rule.meaning}{said}", finding.rule.severity
    if finding.example:
        yield from ((f"  {line}", "") for line in _example_lines(finding.example))


def _example_lines(example: Counterexample) -> Iterator[str]:
    names = {"written": "for instance", "wanted": "wanted", "got": "got"}
    for name, text in example.items():
        short = shortened(text, _LENGTH)
        shown = quoted(short) if name == "written" else visible(short)
        yield f"{names[name]:>12}: {shown}"


def _change_text(change: Change) -> str:
    """Return a change in one line."""
    match change.before, change.after:
        case None, "":
            return f"{change.name}: new"
        case "", None:
            return f"{change.name}: gone"
        case "no", "yes" if change.area is Area.CAPABILITY:
            return f"{change.name}: won"
        case "yes", "no" if change.area is Area.CAPABILITY:
            return f"{change.name}: lost"
    before, after = (_NOTHING if text is None else text for text in (change.before, change.after))
    return f"{change.name}: {before} → {after}"


def _markdown_details(template: TemplateReview) -> Iterator[str]:
    yield f"<details><summary><b>{template.name}</b>: {_verdict(template)}</summary>"
    yield ""
    yield from (f"- {line}" for line in _readings(template))
    for finding in template.told:
        said = f" ({finding.text})" if finding.text else ""
        yield f"- **{finding.rule.severity}**, `{finding.rule.id}`: {finding.rule.meaning}{said}"
    yield ""
    if reverse := [*_reverse_example(template)]:
        yield from fenced("text", ["new parser, old turns", *reverse])
    for finding in template.told:
        if finding.example:
            lines = [f"{finding.rule.id}", *_example_lines(finding.example)]
            yield from fenced("text", lines)
    yield from fenced("diff", _diff_lines(template.changes))
    yield "</details>"
    yield ""


def _diff_lines(changes: Iterable[Change]) -> Iterator[str]:
    for area, group in groupby(changes, key=lambda change: change.area):
        yield f"@@ {area} @@"
        for change in group:
            for sign, text in (("-", change.before), ("+", change.after)):
                if text is not None:
                    yield f"{sign} {change.name}{': ' + text if text else ''}"


def fenced(language: str, lines: Iterable[str]) -> Iterator[str]:
    """Return a code block whose fence is longer than any that the lines hold."""
    held = list(lines)
    if not held:
        return
    longest = max((len(run) for line in held for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}{language}", *held, fence, "")


def _template_data(template: TemplateReview) -> dict[str, object]:
    return {
        "name": template.name,
        "file": template.file,
        "status": template.status,
        "severity": template.severity,
        "same_turns": template.same_turns,
        "modes": template.modes,
        "findings": [_finding_data(finding) for finding in template.findings],
        "old_parser_new_turns": template.forward and dataclasses.asdict(template.forward),
        "new_parser_old_turns": template.backward and dataclasses.asdict(template.backward),
        "changes": [
            {**dataclasses.asdict(change), "rule": rule_of(change).id}
            for change in template.changes
        ],
    }


def _finding_data(finding: Finding) -> dict[str, object]:
    return {
        "rule": finding.rule.id,
        "severity": finding.rule.severity,
        "meaning": finding.rule.meaning,
        "text": finding.text,
        "example": dict(finding.example.items()) if finding.example else None,
    }
