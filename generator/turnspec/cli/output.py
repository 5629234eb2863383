"""What the commands print: differences, findings, advice, reviews, copies, and problems."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from turnspec.analysis.overlay_draft import Advice
from turnspec.chat.summary import capabilities_in_words
from turnspec.cli.console import print_error, put, say
from turnspec.pipeline.build import Build
from turnspec.pipeline.freshness import Difference
from turnspec.spec.files import SPEC_SUFFIX, load_spec
from turnspec.spec.model import Spec
from turnspec.spec.results import NEVER_RENDERED, Coverage
from turnspec.spec.words import Verdict

#: How many lines of a spec's difference are printed.
_MOST_LINES = 40
#: How many branches that nothing rendered are named, unless all are asked for.
_MOST_BRANCHES = 5


def print_difference(difference: Difference) -> None:
    """Print that a file isn't what regenerating would write; of a spec also how, in some lines."""
    found, wanted = difference.found, difference.wanted
    if found is None or wanted is None:
        say(f"{'missing' if found is None else 'belongs to no template'}: {difference.path}")
        return
    say(f"stale: {difference.path}")
    if not difference.path.endswith(SPEC_SUFFIX):
        return
    names = (f"a/{difference.path}", f"b/{difference.path}")
    lines = [*difflib.unified_diff(found.splitlines(), wanted.splitlines(), *names, lineterm="")]
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines[:_MOST_LINES]:
        say(line, styles.get(line[:1], ""))
    if len(lines) > _MOST_LINES:
        say(f"… {len(lines) - _MOST_LINES} more lines")


def print_findings(builds: Iterable[Build]) -> None:
    """Print how each finding was derived."""
    for build in builds:
        for finding in build.findings:
            print_error(str(finding))


def print_build(build: Build, into: Path | None, *, verbose: bool) -> None:
    """Print what an analysis found and what it didn't, and the spec where it isn't written."""
    if verbose:
        print_findings([build])
    if into is not None:
        _print_capabilities(build)
    if build.advice is not None:
        _print_advice(build.name, build.advice, into)
    if build.result is not None and build.result.coverage is not None:
        _print_coverage(build.name, build.result.coverage, verbose=verbose)
    if into is None:
        for path, text in build.files.items():
            if path.endswith(".yaml"):
                put(text)


def _print_coverage(name: str, coverage: Coverage, *, verbose: bool) -> None:
    left = [line for line in coverage.untaken if line.endswith(NEVER_RENDERED)]
    more = 0 if verbose else len(left[_MOST_BRANCHES:])
    rest = [f"{more} more branches: {NEVER_RENDERED} (--verbose names them)"] if more > 1 else []
    for line in (*(left[:_MOST_BRANCHES] if rest else left), *rest, *coverage.told):
        print_error(f"{name}: {line}")


def _print_capabilities(build: Build) -> None:
    for path, text in build.files.items():
        spec = load_spec(text, path) if path.endswith(SPEC_SUFFIX) else None
        if isinstance(spec, Spec):
            say(f"{build.name}: {capabilities_in_words(spec)}")
            # Where there is a draft of an overlay, that says all that is told.
            has_draft = build.advice is not None and build.advice.draft is not None
            said = (Verdict.AMBIGUOUS, *(() if has_draft else (Verdict.TOLD,)))
            for limit in spec.limits:
                if limit.verdict in said:
                    print_error(f"{build.name}: {limit.subject} ({limit.verdict}): {limit.reason}")


def _print_advice(name: str, advice: Advice, into: Path | None) -> None:
    if advice.missing:
        print_error(f"{name}: not found: {', '.join(advice.missing)}")
    if advice.draft is None:
        return
    for said in advice.draft.said:
        print_error(f"{name}: with {said.setting}, its prompt also says:")
        for line in said.text.strip("\n").splitlines():
            print_error(f"  + {line}".rstrip())
    if into is None:
        print_error(f"{name}: a draft of an overlay (--into writes it):")
        print_error(advice.draft.text.rstrip("\n"))
    for problem in advice.draft_problems:
        print_error(f"{name}: the draft can't be applied yet: {problem}")
    print_error(
        f"{name}: to accept the draft, look at it, complete it, try it with --overlay, "
        f"move it to templates/overlays/{name}.yaml, and run: turnspec regen"
    )
