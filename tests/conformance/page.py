"""The page and the figures about canitoolcall's cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tests.conformance.explained import Explanation, explanation_of
from tests.conformance.formats import NOT_READ, READ_AS
from tests.conformance.outcomes import Counts, Outcome
from tests.conformance.published import Published, published, snapshot
from tests.conformance.running import Run
from tests.generated_formats import ROOT
from turnspec import __version__

PAGE = ROOT / "docs" / "CONFORMANCE.md"
PROJECT = "https://github.com/redd34/canitoolcall"
MATRIX = "https://redd34.github.io/canitoolcall/"

_HEAD = """\
<!-- Written by: make conformance -->

# Conformance

[canitoolcall]({project}) {version} is a suite of others: {total} outputs of
models, each with where it comes from and what should be read from it, and checks that judge what an
engine reads. `make conformance` installs it from PyPI and has its checks judge the parsers in
[generated/](../generated), each case whole and streamed in the suite's {ways} ways. The hash of its
cases is `{digest}`.

"""

_OTHERS = """\
The first row leaves out calls that aren't `complete`, as clients should; the second counts them
([below](#calls-that-are-cut-off)). The other rows are what canitoolcall publishes of its own
runs{snapshot}, in the description of the package;
[its matrix]({matrix}) tells each of their failures. They are no
ranking, as it says itself: engines can read different subsets of the cases, and a call that was cut
off and is returned all the same is a failure there. It runs them with their own tokenizers, and
judges llama.cpp, Ollama and transformers by the stream of single tokens alone.
"""

_NO_OTHERS = """\
The first row leaves out calls that aren't `complete`, as clients should; the second counts them
([below](#calls-that-are-cut-off)). What canitoolcall publishes of other engines isn't in this
version of the package; [its matrix]({matrix}) tells it.
"""

_HOW = """\
## How they are run

- A parser is given what a server knows: the tools, whether thinking is on, and, as `prefill`, the
  case's generation prompt or its model's default.
- The package holds no vocabularies, so the text is cut between characters where the suite cuts
  between tokens: `token` is a character at a time, `rand` 8 of them at most. All ways count.
- A call counts as returned if it is `complete`, as a client has to ask before it runs one.
- What a parser raises is an error here, also where the suite would accept that.
"""

_INCOMPLETE = """\
## Calls that are cut off

The suite wants no call from a text that stops inside of one, or holds a broken one; our parsers
return it, with `complete` false. {count} cases are passed because such calls don't count as
returned, and would fail otherwise:
"""


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return the figures in one line."""
    counts = Counts.of(outcomes)
    return (
        f"{counts.read} cases read: {counts.passed} pass, {counts.soft} pass softly, "
        f"{counts.failed} fail; {counts.unread} have no format here"
    )


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a table of the cases by families."""
    heads = ["| Family | Cases | Pass | Soft pass | Fail | No format |", "| --- |" + " ---: |" * 5]
    rows = list(_counted(outcomes, lambda outcome: outcome.family))
    return "\n".join([*heads, *rows, _row("all", outcomes)]) + "\n"


def _counted(outcomes: Sequence[Outcome], key: Callable[[Outcome], str]) -> Iterator[str]:
    for title in dict.fromkeys(map(key, outcomes)):
        yield _row(title, [outcome for outcome in outcomes if key(outcome) == title])


def _row(title: str, outcomes: Sequence[Outcome]) -> str:
    counts = Counts.of(outcomes)
    cells = (counts.read + counts.unread, counts.passed, counts.soft, counts.failed, counts.unread)
    return f"| {title} | {' | '.join(map(str, cells))} |"


def page(run: Run, explanations: Sequence[Explanation]) -> str:
    """Return the page's text."""
    outcomes = run.outcomes
    head = _HEAD.format(
        project=PROJECT,
        version=run.version,
        total=len(outcomes),
        digest=run.digest[:16],
        ways=run.ways,
    )
    parts = [
        head + summary(outcomes) + ".\n",
        *_engines(outcomes, run.description),
        "## By family\n",
        table(outcomes),
        *_models(outcomes),
        _HOW,
        *_deviations(outcomes, explanations),
        *_incomplete(outcomes),
    ]
    return "\n".join(parts)


def _engines(outcomes: Sequence[Outcome], description: str) -> Iterator[str]:
    counted = [replace(o, status=o.with_incomplete_calls or o.status) for o in outcomes]
    ours = (_ours("turnspec", outcomes), _ours("turnspec, with incomplete calls", counted))
    others = published(description)
    rows = ["| Engine | Version | Cases read | Pass | Soft pass | Fail |"]
    rows += ["| --- | --- | ---: | ---: | ---: | ---: |"]
    rows += [
        f"| {e.engine} | {e.version} | {e.supported} | {e.passed} | {e.soft} | {e.failed} |"
        for e in (*ours, *others)
    ]
    yield "\n".join(rows) + "\n"
    date = snapshot(description)
    told = _OTHERS if others else _NO_OTHERS
    yield told.format(matrix=MATRIX, snapshot=f" ({date})" if date else "")


def _ours(title: str, outcomes: Sequence[Outcome]) -> Published:
    counts = Counts.of(outcomes)
    return Published(title, __version__, counts.read, counts.passed, counts.soft, counts.failed)


def _models(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "## By model, and the format by which its cases are read\n"
    yield "A soft pass, in the suite's words, differs in white space around content or reasoning.\n"
    rows = ["| Model | Cases | Pass | Soft pass | Fail | Format | Why this one |"]
    rows += ["| --- | ---: | ---: | ---: | ---: | --- | --- |"]
    for model in dict.fromkeys(o.model for o in outcomes if o.is_read):
        counts = Counts.of([outcome for outcome in outcomes if outcome.model == model])
        name, reason = READ_AS[model]
        cells = (model, counts.read, counts.passed, counts.soft, counts.failed)
        link = f"[{name}](../specs/{name}.yaml)"
        rows.append(f"| {' | '.join(map(str, cells))} | {link} | {reason} |")
    yield "\n".join(rows) + "\n"
    yield "No template here writes the formats of these:\n"
    rows = ["| Model | Cases | |", "| --- | ---: | --- |"]
    for model in dict.fromkeys(o.model for o in outcomes if not o.is_read):
        count = sum(outcome.model == model for outcome in outcomes)
        rows.append(f"| {model} | {count} | {NOT_READ.get(model, '')} |")
    yield "\n".join(rows) + "\n"


def _deviations(outcomes: Sequence[Outcome], explanations: Sequence[Explanation]) -> Iterator[str]:
    for title, wanted in (("## Failures\n", True), ("## Soft passes\n", False)):
        deviating = [o for o in outcomes if o.deviates and o.fails == wanted]
        yield title
        reasons = [explanation_of(outcome, explanations) for outcome in deviating]
        if not deviating:
            yield "None.\n"
        for reason in dict.fromkeys(reasons):
            shown = [o for o, other in zip(deviating, reasons, strict=True) if other == reason]
            yield f"{reason or 'Not explained.'}\n"
            yield "\n".join(map(_item, shown)) + "\n"


def _item(outcome: Outcome) -> str:
    link = f"[{outcome.id}]({outcome.source})"
    return f"- {link}, read as {outcome.format}: {', '.join(outcome.checks) or outcome.status}"


def _incomplete(outcomes: Sequence[Outcome]) -> Iterator[str]:
    found = [outcome for outcome in outcomes if outcome.hangs_on_completeness]
    yield _INCOMPLETE.format(count=len(found))
    yield "\n".join(f"- [{o.id}]({o.source}), read as {o.format}" for o in found) + "\n"
