"""The command line: one thin command per verb; those in the other `cli_….py` belong to it.

Exit codes: 0 all well; 1 something was wrong with a template, a spec or a file, or files aren't
fresh; 2 the command was used wrongly.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

import click
from rich.markup import escape

from generator import __version__
from generator.analysis.analyze import TemplateSource
from generator.cli_common import (
    FOLDER,
    NO_THINKING,
    PREFILL,
    ROOT,
    TEXT_FILE,
    TOOLS,
    VERBOSE,
    find_project,
    parser_path,
    tool_definitions,
)
from generator.cli_explain import explain
from generator.cli_grammar import grammar
from generator.cli_live import live
from generator.cli_output import (
    ERR,
    OUT,
    finish,
    json_text,
    print_build,
    print_difference,
    print_error,
    print_findings,
    print_results,
    progress_bar,
    result_table,
    summary,
)
from generator.cli_render import render
from generator.cli_report import report
from generator.cli_upkeep import diff, vendor
from generator.pipeline.build import load_module
from generator.pipeline.folder import analyze_into
from generator.pipeline.project import Project
from generator.pipeline.regenerate import check_freshness, read_sources, regenerate
from generator.sources.add import add_source
from generator.sources.fetch import fetch_templates
from generator.spec.problems import Problem
from generator.verification.rungs import DEFAULT_MESSAGES


def main() -> None:
    """Run the command; an unexpected error is one line unless -v is given."""
    try:
        sys.exit(turnspec.main(standalone_mode=False) or 0)
    except click.ClickException as fault:
        fault.show()
        sys.exit(fault.exit_code)
    except (KeyboardInterrupt, click.Abort):
        ERR.print("interrupted; files already written are whole")
        sys.exit(130)
    except Exception as error:
        if "-v" in sys.argv or "--verbose" in sys.argv:
            traceback.print_exc()
        ERR.print(f"[red]internal error:[/red] {type(error).__name__}: {escape(str(error))}")
        ERR.print("(run with -v for the traceback)", style="dim")
        sys.exit(1)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="turnspec")
def turnspec() -> None:
    """Find the output format of chat templates; write specs, parsers and grammars.

    \b
    Example:
      turnspec regen                        all templates of this checkout
      turnspec analyze model.jinja --into out   one template, into a folder
    """  # noqa: D301


_OFFLINE = click.option("--offline", is_flag=True, help="Don't download templates.")


@turnspec.command()
@click.option(
    "--messages",
    type=click.IntRange(min=1),
    default=DEFAULT_MESSAGES,
    show_default=True,
    help="Random messages per template for the round trip.",
)
@click.option("--all", "everything", is_flag=True, help="Rebuild also what hasn't changed.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@_OFFLINE
@ROOT
@VERBOSE
def regen(
    messages: int, everything: bool, as_json: bool, offline: bool, root: Path | None, verbose: bool
) -> None:
    """Fetch the templates, analyse them, write and verify specs, parsers and grammars.

    Only what changed is built again.

    \b
    Example:
      turnspec regen --messages 1000
    """  # noqa: D301
    project = find_project(root)
    sources, problems = _sources(project, offline)
    with progress_bar("building", len(sources)) as advance:
        done = regenerate(
            project,
            sources,
            messages=messages,
            everything=everything,
            on_build=lambda build: advance(),
        )
    done.problems[:0] = problems
    if verbose:
        print_findings([build for build in done.built if build.problems])
    if as_json:
        click.echo(json.dumps(summary(done), indent=2))
    else:
        print_results(done)
    finish(done.problems)


@turnspec.command()
@_OFFLINE
@ROOT
@VERBOSE
def check(offline: bool, root: Path | None, verbose: bool) -> None:
    """Say whether specs and generated files are what `turnspec regen` would write.

    Writes nothing; prints the differences.

    \b
    Example:
      turnspec check
    """  # noqa: D301
    project = find_project(root)
    sources, problems = _sources(project, offline)
    with progress_bar("checking", len(sources)) as advance:
        differences, found = check_freshness(project, sources, lambda build: advance())
    for difference in differences:
        print_difference(difference)
    stale = [difference for difference in differences if difference.wanted is not None]
    if stale:
        ERR.print(f"files that are not fresh: {len(stale)}; run: make regen", soft_wrap=True)
    if not differences and not found and not problems:
        OUT.print(f"{len(sources)} templates: specs and generated files are fresh")
    finish([*problems, *found], failed=bool(differences))


@turnspec.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--name", help="A file name for the template, instead of the source's own.")
@ROOT
@VERBOSE
def add(source: Path, name: str | None, root: Path | None, verbose: bool) -> None:
    """Bring in a template: a .jinja file, a model folder or a GGUF file.

    \b
    Example:
      turnspec add ~/models/my-model && turnspec regen
    """  # noqa: D301
    result = add_source(source, find_project(root).root, name)
    for template in result.added:
        OUT.print(f"added templates/{template.file} from {template.source}", highlight=False)
    for template in result.unchanged:
        OUT.print(f"templates/{template.file} is there already", highlight=False)
    if result.added:
        OUT.print("now run: make regen")
    finish(result.problems)


@turnspec.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--into", type=FOLDER, help="Where to write.")
@click.option(
    "--overlay",
    type=click.Path(path_type=Path),
    help="An overlay to put over the spec; for one template only.",
)
@click.option(
    "--messages",
    type=click.IntRange(min=1),
    default=DEFAULT_MESSAGES,
    show_default=True,
    help="Random messages per template for the verification.",
)
@VERBOSE
def analyze(
    sources: tuple[Path, ...],
    into: Path | None,
    overlay: Path | None,
    messages: int,
    verbose: bool,
) -> None:
    """Analyse templates anywhere and write spec, parser and grammar into a folder.

    Takes .jinja files, model folders and GGUF files; one that fails doesn't stop the others.
    Without --into the specs are printed. Nothing else is touched. What a template doesn't show is
    told, and so is what its prompt says of it: calls that it never renders, with a draft of an
    overlay for them.

    \b
    Example:
      turnspec analyze my-model.jinja --into parsers
    """  # noqa: D301
    with progress_bar("analysing", None) as advance:
        result = analyze_into(
            sources, into, overlay=overlay, messages=messages, on_build=lambda build: advance()
        )
    for build in sorted(result.builds, key=lambda build: build.name):
        print_build(build, into, verbose=verbose)
    for path in result.written:
        OUT.print(f"wrote {path}", highlight=False, soft_wrap=True)
    for path in result.kept:
        OUT.print(f"left {path} as it was", highlight=False, soft_wrap=True)
    results = {build.name: build.result for build in result.builds if build.result is not None}
    if into is not None and results:
        OUT.print(result_table(results))
    finish(result.problems)


@turnspec.command()
@click.argument("parser")
@click.argument("text", type=TEXT_FILE, default="-")
@TOOLS
@NO_THINKING
@PREFILL
@click.option("--events", is_flag=True, help="Print the streaming events instead.")
@ROOT
@VERBOSE
def parse(
    parser: str,
    text: Iterable[str],
    tools: Iterable[str] | None,
    no_thinking: bool,
    prefill: str | None,
    events: bool,
    root: Path | None,
    verbose: bool,
) -> None:
    """Parse a model's output (a file or standard input) with a generated parser.

    PARSER is a template's name or the path of a generated module.

    \b
    Example:
      echo 'Hello!' | turnspec parse my-model
    """  # noqa: D301
    module = load_module(parser_path(parser, root).read_text(encoding="utf-8"))
    options: dict[str, object] = {"enable_thinking": not no_thinking, "prefill": prefill}
    if tools is not None:
        options["tools"] = tool_definitions("".join(tools))
    machine = module.Parser(**options)
    found = [*machine.feed("".join(text)), *machine.finish()]
    if events:
        for delta in filter(None, (event.to_delta() for event in found)):
            click.echo(json_text(delta))
        return
    click.echo(json_text(machine.message.to_dict(), indent=2))
    for problem in machine.message.problems:
        shown = f"at {problem.offset}: {problem.kind}: {problem.message!r}"
        print_error(shown)


def _sources(project: Project, offline: bool) -> tuple[list[TemplateSource], list[Problem]]:
    fetched = fetch_templates(project.root, offline=offline, console=ERR)
    sources, problems = read_sources(project, fetched.templates)
    return sources, [*fetched.problems, *problems]


for _command in (diff, explain, grammar, live, render, report, vendor):
    turnspec.add_command(_command)


if __name__ == "__main__":
    main()
