"""What the commands print: results, differences, findings, advice, and problems."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from turnspec.analysis.advice import Advice
from turnspec.chat.summary import capabilities_in_words
from turnspec.pipeline.build import Build
from turnspec.pipeline.regenerate import Difference, Regeneration
from turnspec.pipeline.vendor import CopyState, Vendored, VendoredCopy, renewal
from turnspec.review.compare import Review
from turnspec.review.reading import Compatibility
from turnspec.review.shown import json_data, markdown, text_lines
from turnspec.spec.files import SPEC_SUFFIX, load_spec
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import RUNGS, TemplateResult

# A marker such as <:end:> is no picture's name.
OUT = Console(emoji=False)
ERR = Console(stderr=True, emoji=False)


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Callable[[], None]]:
    """Show a progress bar on a terminal; yields a function that moves it on."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=ERR, transient=True, disable=not ERR.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


def print_results(done: Regeneration) -> None:
    """Print which templates fail a rung, and what was written."""
    OUT.print(result_table(done.results, failing_only=True))
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


def print_error(text: str) -> None:
    """Print text to standard error as it is."""
    ERR.print(escape(text), highlight=False, soft_wrap=True)


def print_notice(text: str) -> None:
    """Print to standard error what a user should know of, and need not mend."""
    ERR.print(f"[yellow]notice:[/yellow] {escape(text)}", highlight=False, soft_wrap=True)


def json_text(value: object, indent: int | None = None) -> str:
    """Return readable JSON; half a surrogate pair stays escaped, as it can't be printed."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class ReviewForm(StrEnum):
    """The forms in which a review is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


_REVIEW_STYLES = {
    Compatibility.COMPATIBLE: "bold green",
    Compatibility.LENIENT: "bold yellow",
    Compatibility.BREAKING: "bold red",
    "head": "cyan",
}


def print_review(review: Review, form: ReviewForm) -> None:
    """Print what changed between two sets of specs."""
    match form:
        case ReviewForm.JSON:
            click.echo(json_text(json_data(review), indent=2))
        case ReviewForm.MARKDOWN:
            click.echo(markdown(review), nl=False)
        case ReviewForm.TEXT:
            for text, kind in text_lines(review):
                style = _REVIEW_STYLES.get(kind)
                OUT.print(escape(text), style=style, highlight=False, soft_wrap=True)


_COPY_STYLES = {
    CopyState.FRESH: "green",
    CopyState.STALE: "yellow",
    CopyState.EDITED: "red",
    CopyState.GONE: "red",
}


def print_vendored(done: Vendored, *, as_json: bool) -> None:
    """Print which files were copied."""
    if as_json:
        paths = {"written": done.written, "unchanged": done.unchanged}
        data: dict[str, list[str]] = {key: [*map(str, files)] for key, files in paths.items()}
        click.echo(json_text({**data, "problems": [*map(str, done.problems)]}, indent=2))
        return
    for path in done.written:
        OUT.print(f"wrote {path}", highlight=False, soft_wrap=True, markup=False)
    for path in done.unchanged:
        OUT.print(f"{path} is fresh already", highlight=False, soft_wrap=True, markup=False)


def print_copies(copies: Sequence[VendoredCopy], folder: Path, *, as_json: bool) -> None:
    """Print what each copy in a folder is, and how to renew those that are stale."""
    if as_json:
        data = [{**asdict(copy), "path": str(copy.path)} for copy in copies]
        click.echo(json_text({"copies": data}, indent=2))
        return
    for copy in copies:
        style = _COPY_STYLES[copy.state]
        reason = f": {copy.reason}" if copy.reason else ""
        text = f"[{style}]{copy.state:6}[/{style}] {escape(str(copy.path))}{escape(reason)}"
        OUT.print(text, highlight=False, soft_wrap=True)
    if command := renewal(copies, folder):
        print_error(f"to renew what is stale, run: {command}")


def finish(problems: Sequence[Problem], *, failed: bool = False) -> None:
    """Print all problems, each on one line, and leave with exit code 1 if there are any."""
    for problem in problems:
        ERR.print(f"[red]error:[/red] {escape(str(problem))}", highlight=False, soft_wrap=True)
    if problems or failed:
        raise click.exceptions.Exit(1)
