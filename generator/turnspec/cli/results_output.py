"""What the commands print of results: a table of the rungs, and what is not as it should be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.table import Table

from turnspec.cli.console import print_error, say, show
from turnspec.pipeline.build import Build
from turnspec.pipeline.regenerate import Regeneration
from turnspec.pipeline.standing import Accepted
from turnspec.spec.problems import Problem
from turnspec.spec.results import RUNGS, RungResult, TemplateResult
from turnspec.spec.verdict import Judgement, judge, rung_title

_NO_RESULT = RungResult(0, 0)


def print_results(done: Regeneration, *, every: bool = False) -> None:
    """Print which templates aren't verified and why, and what was written.

    ``every`` prints the counts of all templates.
    """
    ran = {*(build.name for build in done.built if build.result), *done.unchanged}
    results = {name: result for name, result in done.results.items() if name in ran}
    judged = _judged(results, done.accepted)
    unverified = [name for name, judgement in judged.items() if not judgement.is_verified]
    if results:
        show_checks(results, sorted(judged) if every else unverified, every=every)
    for name in unverified:
        print_shortfalls(name, judged[name])
    print_objections(done.built)
    say(
        f"{sum(bool(build.files) for build in done.built)} built, {len(done.unchanged)} unchanged, "
        f"{len(done.changed_files)} files written"
    )
    for path in done.left_over:
        print_error(f"belongs to no template: {path}")
    print_left_over(len(done.left_over))


def print_left_over(count: int) -> None:
    """Print what deletes the files that belong to no template, if there are any."""
    if count:
        print_error(f"files that belong to no template: {count}; run: turnspec remove --left-over")


def _judged(results: Mapping[str, TemplateResult], accepted: Accepted) -> dict[str, Judgement]:
    return {
        name: judge(result, result.spec_hash, accepted.get(name))
        for name, result in sorted(results.items())
    }


def show_checks(
    results: Mapping[str, TemplateResult], shown: Iterable[str], *, every: bool = False
) -> None:
    """Print what the rungs found: in a table, or of one template in a line unless ``every``.

    What isn't passed is printed apart.
    """
    if len(results) != 1 or every:
        show(result_table(results, shown))
        return
    ((name, result),) = results.items()
    if judge(result, result.spec_hash).is_verified:
        count = sum(rung.total for rung in result.rungs.values())
        say(f"{name}: verified, {count:,} checks")


def result_table(results: Mapping[str, TemplateResult], shown: Iterable[str]) -> Table:
    """Return how many checks each rung made: of all templates, and of those that are shown."""
    count = len(results)
    table = Table(title=f"{count} template{'' if count == 1 else 's'}", title_justify="left")
    table.add_column("template", overflow="fold", min_width=16)
    for rung in RUNGS:
        table.add_column(rung_title(rung), justify="right")
    found = [[result.rungs.get(rung, _NO_RESULT) for rung in RUNGS] for result in results.values()]
    columns = list(zip(*found, strict=True)) or [()] * len(RUNGS)
    passes = [f"{sum(rung.is_passed for rung in column)} pass" for column in columns]
    checks = [f"{sum(rung.total for rung in column):,}" for column in columns]
    table.add_row("all", *passes, style="bold")
    table.add_row("checks", *checks, end_section=True)
    for name in shown:
        table.add_row(name, *(_cell(results[name].rungs.get(rung)) for rung in RUNGS))
    return table


def _cell(rung: RungResult | None) -> str:
    if rung is None or not rung.total:
        return "[red]none[/red]"
    if rung.failed:
        return f"[red]{rung.passed:,}/{rung.total:,}[/red]"
    return f"[green]{rung.passed:,}[/green]"


def print_shortfalls(name: str, judgement: Judgement, *, error: bool = False) -> None:
    """Print every rung of a template that isn't passed, each with its shortest example.

    ``error``: to standard error, where the other output is for a file.
    """
    told = print_error if error else say
    for shortfall in judgement.shortfalls:
        first, *rest = shortfall.lines()
        style = "yellow" if shortfall.accepted else "red"
        told(f"{name}: {first}", style)
        for line in rest:
            told(f"  {line}")


def print_objections(builds: Iterable[Build]) -> None:
    """Print everything that doesn't make sense in a spec, with the place in it."""
    for build in sorted(builds, key=lambda build: build.name):
        by_path: dict[str, list[Problem]] = {}
        for problem in build.objections:
            by_path.setdefault(problem.path, []).append(problem)
        for problems in by_path.values():
            more = f" (and {len(problems) - 1} more of that)" if len(problems) > 1 else ""
            print_error(f"{problems[0]}{more}")


def unverified_problems(results: Mapping[str, TemplateResult]) -> list[Problem]:
    """Return a problem for each template that isn't verified, in one line."""
    judged = _judged(results, {})
    return [Problem(f"{judgement}", name) for name, judgement in judged.items() if judgement.is_red]


def summary(done: Regeneration) -> dict[str, object]:
    """Return what a regeneration did, for scripts."""
    judged = _judged(done.results, done.accepted)
    return {
        "built": sorted(build.name for build in done.built),
        "unchanged": sorted(done.unchanged),
        "changed_files": sorted(done.changed_files),
        "problems": [str(problem) for problem in done.problems],
        "unverified": {
            name: judgement_data(judgement)
            for name, judgement in judged.items()
            if not judgement.is_verified
        },
    }


def results_of(builds: Iterable[Build]) -> dict[str, TemplateResult]:
    """Return what the verification of builds found, by name, as far as there is any."""
    found = {build.name: build.result for build in builds if build.result is not None}
    return dict(sorted(found.items()))


def results_data(results: Mapping[str, TemplateResult]) -> list[dict[str, object]]:
    """Return for scripts what results say of each template."""
    return [
        {"name": name, "verified": judgement.is_verified, **judgement_data(judgement)}
        for name, judgement in _judged(results, {}).items()
    ]


def judgement_data(judgement: Judgement) -> dict[str, object]:
    """Return a judgement as plain data."""
    return {
        "standing": judgement.standing,
        "rungs": {
            shortfall.rung: {
                "passed": shortfall.result.passed,
                "failed": shortfall.result.failed,
                "note": shortfall.result.note,
                "accepted": shortfall.accepted,
                "example": (
                    dict(shortfall.result.example.items()) if shortfall.result.example else None
                ),
            }
            for shortfall in judgement.shortfalls
        },
    }
