"""The terminal: where commands print, their errors, and progress.

Nothing here needs more than the terminal's library, as every command loads it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from turnspec.spec.problems import Problem

# A marker such as <:end:> is no picture's name.
OUT = Console(emoji=False)
ERR = Console(stderr=True, emoji=False)


class Fault(click.ClickException):
    """An error whose message says all there is to say."""

    exit_code = 1

    def show(self, file: object = None) -> None:
        """Print the message in one line."""
        ERR.print(f"[red]error:[/red] {escape(self.message)}", highlight=False, soft_wrap=True)


class Misuse(Fault):
    """A command that was given what it can't work on."""

    exit_code = 2


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal; yields a function that moves it on, by 1 or a number."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=ERR, transient=True, disable=not ERR.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps=1: bar.advance(task, steps)


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


def finish(problems: Sequence[Problem], *, failed: bool = False, code: int = 1) -> None:
    """Print all problems, each on one line, and leave with an exit code if there are any."""
    for problem in problems:
        ERR.print(f"[red]error:[/red] {escape(str(problem))}", highlight=False, soft_wrap=True)
    if problems or failed:
        raise click.exceptions.Exit(code)
