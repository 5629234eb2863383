"""`turnspec parse`: a model's output through a generated parser, or a file of many outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path

import click

from turnspec.cli import common
from turnspec.cli.console import Fault, Misuse, or_fault, put_json, tell
from turnspec.cli.formats import catalog_of, find, format_names, tell_unverified
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.spec.input_files import file_text, standard_input_in_pieces

#: What is told of a problem.
_TOLD = ("offset", "kind", "message")


@click.command()
@click.argument("fmt", metavar="FORMAT", shell_complete=format_names)
@click.argument(
    "file", metavar="[FILE]", type=click.Path(path_type=Path, allow_dash=True), default="-"
)
@common.TOOLS
@common.THINKING
@common.PREFILL
@click.option(
    "--events",
    is_flag=True,
    help="Print the streaming deltas as the text comes, and the finish reason.",
)
@common.json_option("Print message, finish reason and problems as JSON.")
@click.option("--column", help="FILE is .jsonl or .parquet; the column with the outputs.")
@click.option(
    "--into",
    "out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --column: the file to write, .jsonl or .parquet.",
)
@click.option(
    "--as",
    "result",
    default="parsed",
    metavar="NAME",
    help="With --column: the column for what was read.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="With --column: how many processes (default: one for each core).",
)
@common.HUB_OFFLINE
@common.ROOT
def parse(
    fmt: str,
    file: Path,
    tools: common.FileText | None,
    thinking: bool | None,
    prefill: str | None,
    events: bool,
    as_json: bool,
    column: str | None,
    out: Path | None,
    result: str,
    jobs: int | None,
    root: Path | None,
) -> None:
    """Parse a model's output (a file or standard input) with a generated parser.

    FORMAT is a name or an alias (see turnspec list), a model on the hub (ORG/MODEL), a template (a
    .jinja file, a model folder, a GGUF file), or the path of a spec or of a generated module.

    With --column FILE holds many outputs: an object a line (.jsonl), or columns (.parquet, with the
    extra parquet). Each row is written to --into with what was read of it, in the same order; one
    that can't be read is kept, with the reason, and the exit code is 1. A run that was interrupted
    goes on where it ended.

    \b
    Example:
      echo 'Hello!' | turnspec parse qwen3-coder
      turnspec parse qwen3-coder outputs.jsonl --column text --into parsed.jsonl
    """  # noqa: D301
    given = common.tool_definitions(tools)
    options = {"enable_thinking": thinking, "prefill": prefill, "tools": given}
    if (column is None) != (out is None):
        raise Misuse("give --column and --into together")
    if (column is not None) + events + as_json > 1:
        raise Misuse("give one of --column, --events and --json")
    source = parser_source(fmt, root)
    with _told_of(fmt):
        module = load_module(source)
    with _told_of(fmt) if fmt.endswith(".py") else nullcontext():
        if column is not None and out is not None:
            # Its processes are of no use to a single text, and take time to load.
            from turnspec.cli.transcripts import parse_many

            parse_many(source, file, column, out, result, options, jobs)
            return
        is_piped = str(file) == "-"
        if is_piped:
            common.note_typing()
        pieces = standard_input_in_pieces() if is_piped else [file_text(file, "replace")]
        _parse_one(module, pieces, options, events=events, as_json=as_json)


@contextmanager
def _told_of(fmt: str) -> Iterator[None]:
    """Tell in one line what goes wrong in a module that somebody gave, or edited."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise Fault(f"{fmt}: can't be used as a parser: {type(error).__name__}: {error}") from None


def _parse_one(
    module: FormatModule,
    pieces: Iterable[str],
    options: Mapping[str, object],
    *,
    events: bool,
    as_json: bool,
) -> None:
    """Print the message in one text, or its deltas while it comes, and why it is over."""
    machine = module.Parser(**options)
    steps = chain((partial(machine.feed, piece) for piece in pieces), [machine.finish])
    for found in (step() for step in steps):
        for delta in filter(None, (event.to_delta() for event in found if events)):
            put_json(delta)
    message = machine.message
    if as_json:
        problems = [{key: getattr(told, key) for key in _TOLD} for told in message.problems]
        reason = {"finish_reason": message.finish_reason, "problems": problems}
        put_json({"message": message.to_dict(), **reason}, indent=2)
        return
    if events:
        put_json({"finish_reason": message.finish_reason})
    else:
        put_json(message.to_dict(), indent=2)
    for problem in message.problems:
        tell([(f"at {problem.offset}: {problem.kind}: {problem.message}", "")])


def parser_source(fmt: str, root: Path | None) -> str:
    """Return the source of a format's parser, or of the module at a path."""
    path = Path(fmt)
    if path.suffix != ".py":
        known = find(fmt, catalog_of(root))
        source = or_fault(known.module())
        tell_unverified(known)
        return source
    return file_text(path)
