"""`turnspec analyze`: templates anywhere, into a folder of the user's."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from turnspec.analysis.overlay_draft import DRAFT_SUFFIX
from turnspec.catalog.identify import Identity, Kind, as_overlaid
from turnspec.cli import results_output
from turnspec.cli.common import FOLDER, HUB_OFFLINE, JSON, SOURCE, TIME_LIMIT, VERBOSE, paths_of
from turnspec.cli.console import finish, print_error, progress_bar, put_told, say, say_written
from turnspec.cli.extras import needs
from turnspec.cli.formats import catalog_of
from turnspec.cli.output import print_build, print_findings
from turnspec.cli.regen import MESSAGES
from turnspec.pipeline.folder import FolderResult, analyze_into
from turnspec.rendering.limits import Limits
from turnspec.spec.files import SPEC_SUFFIX, load_spec
from turnspec.spec.model import Spec
from turnspec.spec.results import TemplateResult
from turnspec.spec.verdict import judge

#: What to do where a format isn't verified.
_ADVICE = (
    "parser and grammar say in their first lines that they aren't verified; what the template "
    "renders otherwise, or not at all, can be said in an overlay (--overlay FILE); "
    "docs/verification.md says what is checked; if the analysis errs: "
    "turnspec report-problem TEMPLATE"
)


@click.command()
@click.argument("sources", nargs=-1, required=True, type=SOURCE)
@click.option("--into", type=FOLDER, help="Where to write.")
@click.option(
    "--overlay",
    type=click.Path(path_type=Path),
    help="An overlay to put over the spec; for one template only.",
)
@MESSAGES
@JSON
@HUB_OFFLINE
@TIME_LIMIT
@VERBOSE
@needs("build")
def analyze(
    sources: tuple[Path, ...],
    into: Path | None,
    overlay: Path | None,
    messages: int,
    as_json: bool,
    limits: Limits,
    verbose: bool,
) -> None:
    """Analyse templates anywhere and write spec, parser and grammar into a folder.

    Takes .jinja files, model folders, GGUF files, and ORG/MODEL[@REVISION], whose template is
    fetched from the hub; one that fails doesn't stop the others.
    Without --into the specs are printed. Nothing else is touched. What a template doesn't show is
    told, and so is what its prompt says of it: calls that it never renders, with a draft of an
    overlay for them. Every format is verified; exit code 1 if one isn't as it should be.

    \b
    Example:
      turnspec analyze my-model.jinja --into parsers
      turnspec analyze SomeOrg/BrandNew-7B --into parsers
    """  # noqa: D301
    paths, missing = paths_of(sources)
    with progress_bar("analysing", None) as advance:
        result = analyze_into(
            paths,
            into,
            overlay=overlay,
            messages=messages,
            on_build=lambda build: advance(),
            limits=limits,
        )
    results = results_output.results_of(result.builds)
    problems = [*missing, *result.problems, *results_output.unverified_problems(results)]
    if not as_json:
        _print(result, results, into, verbose=verbose)
        finish(problems)
        return
    if verbose:
        print_findings(result.builds)
    specs = {} if into else {"specs": _specs(result)}
    files = {"written": [*map(str, result.written)], "kept": [*map(str, result.kept)]}
    put_told({"templates": results_output.results_data(results), **files, **specs}, problems)
    finish(problems)


def _specs(result: FolderResult) -> dict[str, str]:
    files = {path: text for build in result.builds for path, text in build.files.items()}
    return {path: text for path, text in sorted(files.items()) if path.endswith(SPEC_SUFFIX)}


def _print(
    result: FolderResult, results: Mapping[str, TemplateResult], into: Path | None, *, verbose: bool
) -> None:
    for build in sorted(result.builds, key=lambda build: build.name):
        print_build(build, into, verbose=verbose)
    say_written(result.written)
    for path in result.kept:
        say(f"left {path} as it was")
    _tell_overlays(result)
    if into is not None and results:
        results_output.show_checks(results, results, every=verbose)
    for name, found in results.items():
        judgement = judge(found, found.spec_hash)
        results_output.print_shortfalls(name, judgement, error=into is None)
        if not judgement.is_verified:
            print_error(f"{name}: {_ADVICE}")
    results_output.print_objections(result.builds)
    is_drafted = any(str(path).endswith(DRAFT_SUFFIX) for path in (*result.written, *result.kept))
    if into is not None and len(results) == 1 and not is_drafted:  # else that comes first
        ((name, found),) = results.items()
        if judge(found, found.spec_hash).is_verified:
            spec = shlex.quote(str(into / f"{name}{SPEC_SUFFIX}"))
            print_error(f"to start a server with it: turnspec flags {spec}")


def _tell_overlays(result: FolderResult) -> None:
    """Name a known format that is the same but for an overlay, as of an edited template."""
    for path, text in _specs(result).items():
        spec = load_spec(text, path)
        if isinstance(spec, Spec):
            found = as_overlaid(Identity(path, "", Kind.NEW, spec=spec), catalog_of(None))
            vendor = f"to have that, too: turnspec vendor {' '.join(found.names)}"
            if found.names:
                print_error(f"{spec.name}: this is the format of {found.in_words}; {vendor}")
