"""The page and the figures about planted faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.faults.counting import Outcome
from tests.generated_formats import ROOT

PAGE = ROOT / "docs" / "FAULTS.md"

_HEAD = """\
<!-- Written by: make faults -->

# Faults planted, and noticed

Everything rests on the verification ladder, so the ladder is tested by breaking things on purpose.
Each marker, join, order, encoding, slot, stop string and switch of a spec is changed or exchanged,
and each rule of the grammars is loosened, one at a time, in formats of all classes; then the ladder
is climbed. What makes no difference, in any file or any turn, is no fault and isn't counted.

"""


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return the figure in one line."""
    real = [outcome for outcome in outcomes if not outcome.is_same]
    noticed = sum(not outcome.is_survivor for outcome in real)
    names = {outcome.format for outcome in real}
    return (
        f"{len(names)} formats, {len(real)} faults; {noticed} noticed "
        f"({noticed / max(len(real), 1):.1%}), {len(real) - noticed} not; "
        f"{len(outcomes) - len(real)} changes made no difference"
    )


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a table of the faults by kind, and of what noticed them first."""
    rows = ["| Kind of fact | Faults | Noticed | |", "| --- | ---: | ---: | ---: |"]
    real = [outcome for outcome in outcomes if not outcome.is_same]
    for kind in dict.fromkeys(outcome.kind for outcome in real):
        rows.append(_row(kind, [outcome for outcome in real if outcome.kind == kind]))
    rows.append(_row("all", real))
    return "\n".join(rows) + "\n"


def _row(title: str, outcomes: Sequence[Outcome]) -> str:
    noticed = sum(not outcome.is_survivor for outcome in outcomes)
    return f"| {title} | {len(outcomes)} | {noticed} | {noticed / max(len(outcomes), 1):.1%} |"


def page(outcomes: Sequence[Outcome]) -> str:
    """Return the page's text."""
    parts = [_HEAD + summary(outcomes) + ".\n", table(outcomes), *_by_check(outcomes)]
    parts += _survivors([outcome for outcome in outcomes if outcome.is_survivor])
    return "\n".join(parts)


def _by_check(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "## What notices them\n"
    yield "Each fault is counted once, for the first check that notices it, in the order of cost.\n"
    counts = Counter(outcome.noticed for outcome in outcomes if outcome.noticed)
    rows = ["| Check | Faults |", "| --- | ---: |"]
    rows += [f"| {check} | {count} |" for check, count in counts.most_common()]
    yield "\n".join(rows) + "\n"


def _survivors(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "## Those that nothing notices\n"
    for reason in dict.fromkeys(outcome.explanation for outcome in outcomes):
        yield f"{reason or 'Not explained.'}\n"
        shown = [outcome for outcome in outcomes if outcome.explanation == reason]
        yield "\n".join(f"- {o.format}: `{o.fault}`" for o in shown) + "\n"
