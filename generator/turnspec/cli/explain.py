"""Commands for those who want to understand a format: why it is so, and what a parser does."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from turnspec.analysis.source import TemplateSource
from turnspec.catalog.finding import template_path
from turnspec.catalog.known import KnownFormat
from turnspec.catalog.templates import template_source
from turnspec.cli import common
from turnspec.cli.console import ERR, Misuse, finish, print_notice, put_json, put_told, say_parts
from turnspec.cli.extras import fetch_hint
from turnspec.cli.formats import catalog_of, find, format_names, spec_at, spec_of
from turnspec.codegen.facts import FormatFacts, facts_of
from turnspec.explain import shown
from turnspec.explain.annotate import Kind
from turnspec.explain.explanation import Explanation, explain_spec, explain_template
from turnspec.explain.trace import trace as trace_text
from turnspec.pipeline.standing import Standings
from turnspec.pipeline.template_sources import read_sources_anywhere
from turnspec.rendering.limits import Limits
from turnspec.spec.problems import Problem

_SHOWN_SO = {
    "bold": (shown.HEAD,),
    "dim": (shown.SAME, shown.QUIET, Kind.HEADER, Kind.BETWEEN),
    "red": (shown.OLD, Kind.END),
    "green": (shown.NEW, Kind.CONTENT),
    "bold green": (Kind.CONTENT_MARK,),
    "magenta": (Kind.REASONING,),
    "bold magenta": (Kind.REASONING_MARK,),
    "blue": (Kind.ARGUMENT_MARK,),
    "bold blue": (Kind.CALL_MARK,),
    "cyan": (Kind.ID, Kind.NUMBER),
    "bold cyan": (Kind.NAME,),
    "yellow": (shown.WRONG, Kind.KEY, Kind.TYPE),
    "bright_yellow": (Kind.VALUE, Kind.ARGUMENTS),
}
STYLES = {kind: style for style, kinds in _SHOWN_SO.items() for kind in kinds}


@click.command()
@click.argument("fmt", metavar="FORMAT", shell_complete=format_names)
@click.option("--trace", "text", metavar="TEXT", help="Walk this output through the parser.")
@click.option("--trace-file", type=common.filename, help="Walk a file's text; - is standard input.")
@click.option("--piece", type=click.IntRange(min=1), help="Feed the text in pieces this long.")
@common.TOOLS
@common.THINKING
@common.PREFILL
@click.option("--fetch", is_flag=True, help="Download the template if it isn't here.")
@common.JSON
@common.HUB_OFFLINE
@common.ROOT
@common.TIME_LIMIT
@common.VERBOSE
def explain(
    fmt: str,
    text: str | None,
    trace_file: str | None,
    piece: int | None,
    tools: common.FileText | None,
    thinking: bool | None,
    prefill: str | None,
    fetch: bool,
    as_json: bool,
    root: Path | None,
    limits: Limits,
    verbose: bool,
) -> None:
    """Say why a format is what it is, or what its parser does with an output.

    FORMAT is a name or an alias (see turnspec list), a model on the hub (ORG/MODEL), a spec, or any
    template: a .jinja file, a model folder or a GGUF file. Without --trace, shows each comparison
    of the analysis as two renderings that differ, what was taken from the difference, sample turns,
    and what was not found; where a known format's template isn't here, what its spec alone says.
    With --trace, the parser's steps: which marker counted and as what, the text that was taken, and
    what was told.

    \b
    Example:
      turnspec explain qwen3-coder
      turnspec explain qwen3-coder --trace 'Hello!<|im_end|>'
    """  # noqa: D301
    if text is not None and trace_file is not None:
        raise Misuse("give --trace or --trace-file, not both")
    if trace_file is not None:
        text = trace_file
    if text is None:
        if piece or tools or thinking is not None or prefill is not None:
            raise Misuse("--piece, --tools, --thinking and --prefill belong to --trace")
        _explain(fmt, root, limits, fetch=fetch, as_json=as_json, verbose=verbose)
        return
    given = common.tool_definitions(tools)
    options = {"enable_thinking": thinking, "prefill": prefill, "tools": given}
    found = trace_text(_facts(fmt, root, limits), text, options, piece=piece)
    if as_json:
        put_json({"name": fmt, **shown.trace_data(found)}, indent=2)
    else:
        _print(shown.trace_lines(found))
        put_json(found.message, indent=2)


def _explain(
    fmt: str, root: Path | None, limits: Limits, *, fetch: bool, as_json: bool, verbose: bool
) -> None:
    catalog = catalog_of(root)
    from_hub = common.fetching()
    place = template_path(fmt, catalog, from_hub)
    if isinstance(place, Path):
        sources, problems = read_sources_anywhere([place])
        explanations, more = _analysed(sources, limits)
        problems += more
    else:
        explanations, problems = _of_known(find(fmt, catalog, from_hub), limits, fetch=fetch)
    if as_json:
        put_told({"templates": [*map(shown.explanation_data, explanations)]}, problems)
    else:
        for explanation in explanations:
            _print(shown.explanation_lines(explanation, verbose=verbose))
    finish(problems)


def _of_known(
    known: KnownFormat, limits: Limits, *, fetch: bool
) -> tuple[list[Explanation], list[Problem]]:
    """Explain a known format by its template, or by its spec alone where that isn't here."""
    source = template_source(known, fetch=fetch, console=ERR)
    if isinstance(source, TemplateSource):
        return _analysed([source], limits, known.standings())
    if fetch:
        return [], [source]
    hint = f"; {fetch_hint('explain', known.name)}" if known.entry else ""
    found = explain_spec(spec_of(known), known.judgement())
    print_notice(f"{source}; this is what the spec alone says{hint}")
    return [found], []


def _analysed(
    sources: Iterable[TemplateSource], limits: Limits, standings: Standings | None = None
) -> tuple[list[Explanation], list[Problem]]:
    problems: list[Problem] = []
    found: list[Explanation] = []
    for source in sources:
        explanation = explain_template(source, standings or Standings(), limits)
        if isinstance(explanation, Explanation):
            found.append(explanation)
        else:
            problems += explanation
    return found, problems


def _print(lines: Iterable[shown.Line]) -> None:
    for line in lines:
        say_parts((part, STYLES.get(kind, "")) for part, kind in line)


def _facts(fmt: str, root: Path | None, limits: Limits) -> FormatFacts:
    """Return the facts of a known format, or of a template."""
    if fmt.endswith(".py"):
        raise Misuse(f"{fmt}: a compiled parser has no trace; name its format instead")
    return facts_of(spec_at(fmt, catalog_of(root), limits))
