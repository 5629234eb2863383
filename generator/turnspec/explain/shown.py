"""Explanations and traces as lines for a terminal, and as data for scripts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from turnspec.analysis.text import splits_marker
from turnspec.explain.comparisons import Comparison, Difference
from turnspec.explain.explanation import Explanation
from turnspec.explain.samples import Sample
from turnspec.explain.trace import Phase, Step, Trace, shown_event
from turnspec.review.facts import Area, facts_by_area
from turnspec.spec.model import Spec
from turnspec.spec.verdict import Judgement
from turnspec.spec.visible import visible
from turnspec.spec.words import PrefixStep
from turnspec.spec.yaml_text import quoted

#: What texts on both sides of a difference are cut to, in characters.
_CONTEXT = 60

#: Stretches of a line, each with what it is: a kind of a turn's parts, or one of the words below.
Line = tuple[tuple[str, str], ...]

HEAD, SAME, OLD, NEW, QUIET, WRONG = "head", "same", "old", "new", "quiet", "wrong"


def explanation_lines(explanation: Explanation, *, verbose: bool = False) -> Iterator[Line]:
    """Return an explanation; ``verbose`` adds what the analysis noted, and whole texts."""
    yield ((explanation.name, HEAD),)
    for comparison in explanation.comparisons:
        yield ()
        yield from _comparison_lines(comparison, verbose)
    if explanation.missing is None:
        yield from _fact_lines(explanation.spec)
    for sample in explanation.samples:
        yield ()
        yield ((f"{sample.title}:", HEAD),)
        yield from _sample_lines(sample)
    yield ()
    for title, texts in _said_of(explanation).items():
        yield ((f"{title}: ", HEAD), ("; ".join(texts) or "nothing", WRONG if texts else ""))
    yield from _judgement_lines(explanation.judgement)


def _judgement_lines(judgement: Judgement) -> Iterator[Line]:
    """Return what the ladder says: that all is well, or each rung that isn't passed."""
    if judgement.is_verified:
        yield (("verification: ", HEAD), (str(judgement), ""))
        return
    yield (("verification: ", HEAD), (judgement.standing, WRONG))
    for shortfall in judgement.shortfalls:
        yield from (((f"  {line}", WRONG),) for line in shortfall.lines())


def _said_of(explanation: Explanation) -> dict[str, list[str]]:
    """Return what there is to know beside the comparisons, by title."""
    limits = list(facts_by_area(explanation.spec).get(Area.LIMIT, {}))
    overlay = list(explanation.spec.overlay)
    said = {"from the overlay": overlay} if overlay else {}
    step = explanation.spec.capabilities.prefix_broken_by
    broken = [str(step)] if step and step is not PrefixStep.NOTHING else []
    prefix = {"what was rendered before is changed by": broken} if step else {}
    missing = {} if explanation.missing is None else {"not found": list(explanation.missing)}
    return {**said, **prefix, "limits": limits, **missing}


def _fact_lines(spec: Spec) -> Iterator[Line]:
    """Return what a spec says of a turn; what its template takes of messages is left out."""
    facts = facts_by_area(spec)
    for area in (Area.MODE, Area.MARKER, Area.ARGUMENTS, Area.TURN_END, Area.THINKING):
        said = facts.get(area, {})
        if said:
            yield ()
            yield ((area.value, HEAD),)
        for name, text in said.items():
            yield ((f"  {name}", ""), (f" = {text}" if text else "", ""))


def _comparison_lines(comparison: Comparison, verbose: bool) -> Iterator[Line]:
    yield ((f"{comparison.name} ", HEAD), (comparison.question, ""))
    last = None
    for difference in comparison.differences:
        yield from _difference_lines(difference, last, verbose)
        last = difference
    if not comparison.taken:
        yield (("  taken: ", QUIET), ("nothing", ""))
    for name, text in comparison.taken.items():
        yield (("  taken: ", QUIET), (f"{name} = {text}" if text else name, ""))
    if not verbose and comparison.differences:
        return
    for finding in comparison.findings:
        yield (("  noted: ", QUIET), (finding.result, ""))
        yield from (((f"    from {quoted(text)}", SAME),) for text in finding.evidence)


def _difference_lines(
    difference: Difference, last: Difference | None, verbose: bool
) -> Iterator[Line]:
    """Return a difference; one in the same place as the ``last`` takes a single line."""
    left, right = difference.left, difference.right
    if last and difference.is_there and difference.place == last.place and not verbose:
        old, new = map(quoted, difference.parts)
        yield ((f"  {left.given} → {right.given}: ", ""), (old, OLD), (" → ", ""), (new, NEW))
        return
    yield ((f"  {left.given} → {right.given}", ""),)
    for side in (left, right):
        if side.text is None:
            yield ((f"    {side.given}: not rendered: {side.error}", WRONG),)
    if None in (left.text, right.text):
        return
    if not difference.is_there:
        yield ((f"    no difference: {quoted(left.text or '')}", SAME),)
        return
    old, new = difference.parts
    before, after = difference.before, difference.after
    start = 0 if verbose else _cut(before, len(before) - _CONTEXT)
    end = len(after) if verbose else _cut(after, _CONTEXT)
    lead, rest = "…" if start else "", "…" if end < len(after) else ""
    for text, line, kind in (
        (before, f"= {lead}{quoted(before[start:])}", SAME),
        (old, f"- {quoted(old)}", OLD),
        (new, f"+ {quoted(new)}", NEW),
        (after, f"= {quoted(after[:end])}{rest}", SAME),
    ):
        if text:
            yield ((f"    {line}", kind),)


def _cut(text: str, position: int) -> int:
    """Return where to cut a text near a position: not in a marker, nor beyond its ends."""
    position = min(max(position, 0), len(text))
    while splits_marker(text, position):
        position -= 1
    return position


def _sample_lines(sample: Sample) -> Iterator[Line]:
    """Return a turn as it is, line by line, with its parts; what can't be seen is escaped."""
    line: list[tuple[str, str]] = []
    for segment in sample.segments:
        for number, text in enumerate(segment.text.split("\n")):
            if number:
                yield tuple(line)
                line = []
            if text:
                line += [*([] if line else [("  ", "")]), (visible(text), segment.kind)]
    if line:
        yield tuple(line)


def trace_lines(found: Trace) -> Iterator[Line]:
    """Return the steps of a trace; the message and its problems come after them."""
    for step in found.steps:
        yield from _step_lines(step)


def _step_lines(step: Step) -> Iterator[Line]:
    state = f"{step.state}: {step.role}" if step.role else step.state or "(end)"
    prompt = " (prompt)" if step.phase is Phase.PROMPT else ""
    yield ((f"{step.offset:>5} ", QUIET), (f"{state}{prompt}", HEAD))
    if step.consumed:
        yield (("      takes ", QUIET), (quoted(step.consumed), NEW))
    yield from (((f"      tells {shown_event(event)}", ""),) for event in step.events)
    for problem in step.problems:
        text = f"{problem['kind']} at {problem['offset']}: {visible(problem['message'])}"
        yield (("      problem ", QUIET), (text, WRONG))


def explanation_data(explanation: Explanation) -> dict[str, object]:
    """Return an explanation as plain data."""
    return {
        "name": explanation.name,
        "comparisons": [_comparison_data(found) for found in explanation.comparisons],
        "facts": facts_by_area(explanation.spec),
        "samples": [dataclasses.asdict(sample) for sample in explanation.samples],
        **{title.replace(" ", "_"): texts for title, texts in _said_of(explanation).items()},
        "verification": {
            "standing": explanation.judgement.standing,
            "shortfalls": [dataclasses.asdict(short) for short in explanation.judgement.shortfalls],
        },
    }


def _comparison_data(comparison: Comparison) -> dict[str, object]:
    return {
        "name": comparison.name,
        "question": comparison.question,
        "differences": [
            {
                **dataclasses.asdict(difference),
                "removed": difference.parts[0] if difference.is_there else "",
                "added": difference.parts[1] if difference.is_there else "",
            }
            for difference in comparison.differences
        ],
        "taken": dict(comparison.taken),
        "noted": [dataclasses.asdict(finding) for finding in comparison.findings],
    }


def trace_data(found: Trace) -> dict[str, object]:
    """Return a trace as plain data."""
    return {
        "steps": [dataclasses.asdict(step) for step in found.steps],
        "message": dict(found.message),
        "problems": [dict(problem) for problem in found.problems],
    }
