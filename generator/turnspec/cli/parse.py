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
    parser_path,
    tool_definitions,
)
from turnspec.cli.console import json_text, print_error
from turnspec.codegen.loading import load_module


@click.command()
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
