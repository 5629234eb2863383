"""What the commands print: results, differences, findings, advice, and problems."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from turnspec.analysis.advice import Advice
from turnspec.chat.summary import capabilities_in_words
from turnspec.cli.console import OUT, print_error
from turnspec.pipeline.build import Build
from turnspec.pipeline.regenerate import Difference, Regeneration
from turnspec.spec.files import SPEC_SUFFIX, load_spec
from turnspec.spec.model import Spec
from turnspec.spec.results import RUNGS, TemplateResult


def print_results(done: Regeneration) -> None:
    """Print which of the templates that were there fail a rung, and what was written."""
    ran = {*(build.name for build in done.built), *done.unchanged}
    results = {name: result for name, result in done.results.items() if name in ran}
    if results:
        OUT.print(result_table(results, failing_only=True))
    OUT.print(
        f"{len(done.built)} built, {len(done.unchanged)} unchanged, "
        f"{len(done.changed_files)} files written",
        highlight=False,
    )
    for path in done.left_over:
        print_error(f"{path} belongs to no template; delete it")


def result_table(results: dict[str, TemplateResult], *, failing_only: bool = False) -> Table:
    """Return passes per rung over all templates, and the templates that fail one."""
    table = Table(
        title=f"{len(results)} template{'' if len(results) == 1 else 's'}", title_justify="left"
    )
    table.add_column("template", overflow="fold")
    for rung in RUNGS:
        table.add_column(f"rung {rung}", justify="right")
    totals = [f"{sum(_passes(result, rung) for result in results.values())} pass" for rung in RUNGS]
    table.add_row("all", *totals, style="bold", end_section=True)
    for name, result in sorted(results.items()):
        passes = [_passes(result, rung) for rung in RUNGS]
        if all(passes) and failing_only:
            continue
        cells = [
            "[green]ok[/green]" if passed else f"[red]{_ratio(result, rung)}[/red]"
            for rung, passed in zip(RUNGS, passes, strict=True)
        ]
        table.add_row(name, *cells)
    return table


def _passes(result: TemplateResult, rung: str) -> bool:
    found = result.rungs.get(rung)
    return found is not None and found.failed == 0 and found.passed > 0


def _ratio(result: TemplateResult, rung: str) -> str:
    found = result.rungs.get(rung)
    return f"{found.passed}/{found.total}" if found else "-"


def summary(done: Regeneration) -> dict[str, object]:
    """Return what a regeneration did, for scripts."""
    return {
        "built": sorted(build.name for build in done.built),
        "unchanged": sorted(done.unchanged),
        "changed_files": sorted(done.changed_files),
        "problems": [str(problem) for problem in done.problems],
        "failing": {
            name: {rung: found.example for rung, found in result.rungs.items() if found.failed}
            for name, result in sorted(done.results.items())
            if any(found.failed for found in result.rungs.values())
        },
    }


def print_difference(difference: Difference) -> None:
    """Print how a file differs from what regenerating would write."""
    if difference.wanted is None:
        OUT.print(
            f"{difference.path} belongs to no template; delete it", highlight=False, soft_wrap=True
        )
        return
    found = (difference.found or "").splitlines(keepends=True)
    lines = difflib.unified_diff(
        found,
        difference.wanted.splitlines(keepends=True),
        f"a/{difference.path}" if difference.found is not None else "/dev/null",
        f"b/{difference.path}",
    )
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines:
        OUT.print(
            escape(line.rstrip("\n")), style=styles.get(line[:1]), highlight=False, soft_wrap=True
        )


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
    if into is None:
        for path, text in build.files.items():
            if path.endswith(".yaml"):
                click.echo(text, nl=False)


def _print_capabilities(build: Build) -> None:
    for path, text in build.files.items():
        spec = load_spec(text, path) if path.endswith(SPEC_SUFFIX) else None
        if isinstance(spec, Spec):
            OUT.print(
                escape(f"{build.name}: {capabilities_in_words(spec)}"),
                highlight=False,
                soft_wrap=True,
            )


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
