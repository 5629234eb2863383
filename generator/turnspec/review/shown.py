"""A review as text for a terminal, as Markdown for a pull request, and as data for scripts."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from turnspec.review.compare import Review, Status, TemplateReview
from turnspec.review.facts import Area, Change
from turnspec.review.reading import Compatibility, Example, Reading
from turnspec.spec.yaml_text import quoted

#: The longest text of an example, in characters.
_LENGTH = 300
_NOTHING = "nothing"

Line = tuple[str, str]  # the text, and what it is: a compatibility, "old", "new", "head" or ""


def text_lines(review: Review) -> Iterator[Line]:
    """Return the lines for a terminal, each with what it is."""
    for template in review.templates:
        yield f"{template.name}: {_verdict(template)}", template.compatibility
        for line in _explanation(template):
            yield f"  {line}", ""
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
        if template.status is Status.CHANGED:
            lines += _markdown_details(template)
    lines += [f"- {problem}" for problem in review.problems]
    return "\n".join(lines).rstrip("\n") + "\n"


def json_data(review: Review) -> dict[str, object]:
    """Return the review as plain data."""
    return {
        "old": review.old,
        "new": review.new,
        "breaking": review.is_breaking,
        "templates": [_template_data(template) for template in review.templates],
        "problems": [str(problem) for problem in review.problems],
    }


def summary_line(review: Review) -> str:
    """Return what changed, in one line."""
    counts = Counter[str](
        template.compatibility if template.status is Status.CHANGED else template.status
        for template in review.templates
    )
    order = (*reversed(Compatibility), Status.ADDED, Status.REMOVED)
    said = ", ".join(f"{counts[kind]} {kind}" for kind in order if counts[kind])
    unusable = f"; problems: {len(review.problems)}" if review.problems else ""
    return f"{said or 'no format changed'} between {review.old} and {review.new}{unusable}"


def _verdict(template: TemplateReview) -> str:
    if template.status is not Status.CHANGED:
        return f"{template.status}: {template.modes}" if template.modes else str(template.status)
    if template.forward is None:
        return f"{template.compatibility} (the template changed, its format didn't)"
    if template.same_turns:
        return f"{template.compatibility} (both write the same turns)"
    return str(template.compatibility)


def _explanation(template: TemplateReview) -> Iterator[str]:
    """Return what was tried, and an example of what goes wrong."""
    yield from _readings(template)
    if template.forward and template.forward.example:
        yield from _example_lines(template.forward.example)


def _readings(template: TemplateReview) -> Iterator[str]:
    if template.forward:
        yield f"old parser, new turns: {_reading(template.forward)}"
    if template.backward:
        yield f"new parser, old turns: {_reading(template.backward)}"


def _reading(reading: Reading) -> str:
    counts = {
        "read the same": reading.same,
        "read the same with problems": reading.with_problems,
        "read otherwise": reading.differing,
    }
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    text = f"{reading.compatibility}; of {reading.turns} turns {said or 'none could be compared'}"
    if reading.kinds:
        text += f" ({', '.join(reading.kinds)})"
    if reading.with_prompt is not reading.compatibility:
        text += f"; {reading.with_prompt} if it is given the prompt as prefill"
    return text


def _example_lines(example: Example) -> Iterator[str]:
    yield f"for instance: {quoted(_cut(example.text))}"
    yield f"     meant is: {_cut(example.meant) or _NOTHING}"
    yield f"      read is: {_cut(example.read) or _NOTHING}"


def _cut(text: str) -> str:
    return text if len(text) <= _LENGTH else text[:_LENGTH] + "…"


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
    if template.forward:
        yield from (f"- {line}" for line in _readings(template))
        yield ""
    if template.forward and template.forward.example:
        yield from _fenced("text", _example_lines(template.forward.example))
    yield from _fenced("diff", _diff_lines(template.changes))
    yield "</details>"
    yield ""


def _diff_lines(changes: Iterable[Change]) -> Iterator[str]:
    for area, group in groupby(changes, key=lambda change: change.area):
        yield f"@@ {area} @@"
        for change in group:
            for sign, text in (("-", change.before), ("+", change.after)):
                if text is not None:
                    yield f"{sign} {change.name}{': ' + text if text else ''}"


def _fenced(language: str, lines: Iterable[str]) -> Iterator[str]:
    """Return a code block whose fence is longer than any that the lines hold."""
    held = list(lines)
    longest = max((len(run) for line in held for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}{language}", *held, fence, "")


def _template_data(template: TemplateReview) -> dict[str, object]:
    return {
        "name": template.name,
        "status": template.status,
        "compatibility": template.compatibility,
        "same_turns": template.same_turns,
        "modes": template.modes,
        "old_parser_new_turns": _reading_data(template.forward),
        "new_parser_old_turns": _reading_data(template.backward),
        "changes": [dataclasses.asdict(change) for change in template.changes],
    }


def _reading_data(reading: Reading | None) -> dict[str, object] | None:
    return dataclasses.asdict(reading) if reading else None
