"""`turnspec parse`: a model's output through a generated parser."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from turnspec.cli.common import (
    NO_THINKING,
    PREFILL,
    ROOT,
    TEXT_FILE,
    TOOLS,
    VERBOSE,
    tool_definitions,
)
from turnspec.cli.console import Misuse, print_error, put_json
from turnspec.cli.formats import catalog_of, find, text_of
from turnspec.codegen.loading import FormatModule, load_module


@click.command()
@click.argument("fmt", metavar="FORMAT")
@click.argument("text", type=TEXT_FILE, default="-")
@TOOLS
@NO_THINKING
@PREFILL
@click.option("--events", is_flag=True, help="Print the streaming events instead.")
@ROOT
@VERBOSE
def parse(
    fmt: str,
    text: Iterable[str],
    tools: Iterable[str] | None,
    no_thinking: bool,
    prefill: str | None,
    events: bool,
    root: Path | None,
    verbose: bool,
) -> None:
    """Parse a model's output (a file or standard input) with a generated parser.

    FORMAT is a name or an alias (see turnspec list), a model's id as a hub writes it, a template (a
    .jinja file, a model folder, a GGUF file), or the path of a generated module.

    \b
    Example:
      echo 'Hello!' | turnspec parse qwen3-coder
    """  # noqa: D301
    module = parser_module(fmt, root)
    options: dict[str, object] = {"enable_thinking": not no_thinking, "prefill": prefill}
    if tools is not None:
        options["tools"] = tool_definitions("".join(tools))
    machine = module.Parser(**options)
    found = [*machine.feed("".join(text)), *machine.finish()]
    if events:
        for delta in filter(None, (event.to_delta() for event in found)):
            put_json(delta)
        return
    put_json(machine.message.to_dict(), indent=2)
    for problem in machine.message.problems:
        shown = f"at {problem.offset}: {problem.kind}: {problem.message!r}"
        print_error(shown)


def parser_module(fmt: str, root: Path | None) -> FormatModule:
    """Return the parser of a format, or the module of a path."""
    path = Path(fmt)
    if path.suffix != ".py":
        return load_module(text_of(find(fmt, catalog_of(root)).module()))
    if not path.is_file():
        raise Misuse(f"{fmt}: there is no such file")
    return load_module(path.read_text(encoding="utf-8"))
