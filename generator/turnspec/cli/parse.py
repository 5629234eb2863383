"""`turnspec parse`: a model's output through a generated parser, or a file of many outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

from turnspec.cli.common import (
    PREFILL,
    ROOT,
    THINKING,
    TOOLS,
    VERBOSE,
    tool_definitions,
)
from turnspec.cli.console import Fault, Misuse, print_error, put_json
from turnspec.cli.formats import catalog_of, find, text_of
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.spec.input_files import file_text, standard_input


@click.command()
@click.argument("fmt", metavar="FORMAT")
@click.argument(
    "file",
    metavar="[FILE]",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
    default="-",
)
@TOOLS
@THINKING
@PREFILL
@click.option("--events", is_flag=True, help="Print the streaming events instead.")
@click.option("--column", help="FILE is .jsonl or .parquet; the column with the outputs.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --column: the file to write, .jsonl or .parquet.",
)
@click.option(
    "--as",
    "result",
    default="parsed",
    show_default=True,
    metavar="NAME",
    help="With --column: the column for what was read.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="With --column: how many processes (default: one for each core).",
)
@ROOT
@VERBOSE
def parse(
    fmt: str,
    file: Path,
    tools: str | None,
    thinking: bool | None,
    prefill: str | None,
    events: bool,
    column: str | None,
    out: Path | None,
    result: str,
    jobs: int | None,
    root: Path | None,
    verbose: bool,
) -> None:
    """Parse a model's output (a file or standard input) with a generated parser.

    FORMAT is a name or an alias (see turnspec list), a model's id as a hub writes it, a template (a
    .jinja file, a model folder, a GGUF file), or the path of a generated module.

    With --column FILE holds many outputs: an object a line (.jsonl), or columns (.parquet, with the
    extra parquet). Each row is written to --out with what was read of it, in the same order; one
    that can't be read is kept, with the reason, and the exit code is 1. A run that was interrupted
    goes on where it ended.

    \b
    Example:
      echo 'Hello!' | turnspec parse qwen3-coder
      turnspec parse qwen3-coder outputs.jsonl --column text --out parsed.jsonl
    """  # noqa: D301
    options: dict[str, object] = {"enable_thinking": thinking, "prefill": prefill}
    if tools is not None:
        options["tools"] = tool_definitions(tools)
    if (column is None) != (out is None):
        raise Misuse("give --column and --out together")
    source = parser_source(fmt, root)
    with _told_of(fmt):
        module = load_module(source)
    with _told_of(fmt) if fmt.endswith(".py") else nullcontext():
        if column is not None and out is not None:
            # Its processes are of no use to a single text, and take time to load.
            from turnspec.cli.transcripts import parse_many

            parse_many(source, file, column, out, result, options, jobs)
            return
        text = standard_input() if str(file) == "-" else file_text(file, "replace")
        _parse_one(module, text, options, events=events)


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
    module: FormatModule, text: str, options: Mapping[str, object], *, events: bool
) -> None:
    """Print the message in one text, or its events."""
    machine = module.Parser(**options)
    found = [*machine.feed(text), *machine.finish()]
    if events:
        for delta in filter(None, (event.to_delta() for event in found)):
            put_json(delta)
        return
    put_json(machine.message.to_dict(), indent=2)
    for problem in machine.message.problems:
        shown = f"at {problem.offset}: {problem.kind}: {problem.message!r}"
        print_error(shown)


def parser_source(fmt: str, root: Path | None) -> str:
    """Return the source of a format's parser, or of the module at a path."""
    path = Path(fmt)
    if path.suffix != ".py":
        return text_of(find(fmt, catalog_of(root)).module())
    if not path.exists():
        raise Misuse(f"{fmt}: there is no such file")
    return file_text(path)
