"""Has canitoolcall's checks judge the generated parsers: `make conformance`.

Without names it asks about all cases and writes docs/CONFORMANCE.md. A case that is read otherwise
than canitoolcall expects, and that explained.yaml doesn't explain, is an error; so is an
explanation of a case that is passed.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console

from tests.conformance.environment import prepared
from tests.conformance.explained import (
    Explanation,
    explanation_of,
    outdated,
    read_explanations,
    unexplained,
)
from tests.conformance.page import PAGE, page, summary, table
from tests.conformance.running import Failed, Run, replayed
from tests.generated_formats import ROOT
from turnspec.spec.atomic import write_atomically
from turnspec.spec.problems import Problem

FOLDER = ROOT / "build" / "conformance"
EXAMPLES = """\
examples:
  make conformance
  make conformance CASES="kimi 'mistral/v11-*' qwen3-coder"
  .venv/bin/python -m tests.conformance --json kimi-k3

exit codes: 0 all is passed or explained, 1 something isn't, or nothing could be run, 2 wrong usage
"""


def main(arguments: Sequence[str]) -> int:
    """Judge the chosen cases, print the table and what deviates, and write the page of all."""
    given = _parser().parse_args(arguments)
    explanations = read_explanations()
    if isinstance(explanations, list):
        return _refused(*explanations)
    python = prepared(FOLDER)
    if isinstance(python, Problem):
        return _refused(python)
    try:
        run = replayed(python, given.cases)
    except Failed as failed:
        return failed.code
    print(_as_json(run, explanations) if given.json else _as_text(run, bool(given.cases)))
    if not given.cases:
        write_atomically(PAGE, page(run, explanations))
    return _verdict(run, explanations, is_whole=not given.cases)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m tests.conformance",
        description="Has canitoolcall's checks judge the generated parsers.",
        epilog=EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    help_ = "a case's id, a family or a format, or a pattern of these; all if there is none"
    parser.add_argument("cases", nargs="*", metavar="CASE", help=help_)
    parser.add_argument("--json", action="store_true", help="print all outcomes as JSON")
    return parser


def _as_text(run: Run, is_chosen: bool) -> str:
    """Return the table, and of chosen cases all that is known of those that deviate."""
    reports = [o.report() for o in run.outcomes if o.deviates and is_chosen]
    return "\n".join([*reports, table(run.outcomes), summary(run.outcomes)])


def _as_json(run: Run, explanations: Sequence[Explanation]) -> str:
    cases = [
        {**asdict(outcome), "explanation": explanation_of(outcome, explanations)}
        for outcome in run.outcomes
    ]
    found = {"version": run.version, "digest": run.digest, "cases": cases}
    return json.dumps(found, indent=1, ensure_ascii=False)


def _verdict(run: Run, explanations: Sequence[Explanation], *, is_whole: bool) -> int:
    """Say what nobody has explained, and which explanations explain nothing; 1 if there is any."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    wrong = [
        f"not explained: {outcome.report() if is_whole else outcome.id}"
        for outcome in unexplained(run.outcomes, explanations)
    ]
    wrong += outdated(run.outcomes, explanations) if is_whole else []
    for line in wrong:
        console.print(line, style="red", markup=False)
    return int(bool(wrong))


def _refused(*problems: Problem) -> int:
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
