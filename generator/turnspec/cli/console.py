"""The terminal: the one place through which commands print, their errors, and progress.

What commands print holds texts of others: markers, file names, messages of a template. None of it
may do anything to a terminal, so all of it goes through here: what is for people is shown with
escapes for all that doesn't print, and what is data (`put`) at least where a terminal would see it.
Nothing here needs more than the terminal's library, as every command loads it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

from turnspec.spec.problems import Problem
from turnspec.spec.visible import cut, visible, visible_json

#: What a line is cut to, in characters: of a message, and of what was asked for.
LONGEST_MESSAGE = 2_000
LONGEST_LINE = 20_000

#: What of a command's context says that it is to print one JSON document.
AS_JSON = "turnspec.json"

_LAYOUT = "\n\t"
_T = TypeVar("_T")


class Terminal(Console):
    """A console that nothing but itself controls, whatever stands in the texts it prints."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield what is to be printed, with escapes in its texts."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text, _LAYOUT), style, control)


# A marker such as <:end:> is no picture's name.
OUT = Terminal(emoji=False, highlight=False)
ERR = Terminal(stderr=True, emoji=False, highlight=False)

#: Stretches of a line, each with its style.
Parts = Iterable[tuple[str, str]]


def say(text: str = "", style: str = "", *, end: str = "\n") -> None:
    """Print text for people, line by line as it is but for what doesn't print."""
    _print(OUT, [(text, style)], LONGEST_LINE, end)


def say_parts(parts: Parts) -> None:
    """Print a line of several styles."""
    _print(OUT, parts, LONGEST_LINE)


def show(table: RenderableType) -> None:
    """Print a table: whole rows, unless a terminal has no room for them."""
    wide = Terminal(width=LONGEST_LINE, emoji=False, highlight=False)
    (OUT if OUT.is_terminal else wide).print(table)


def put(text: str, *, end: str = "") -> None:
    """Print data: to a file or another program as it is, to a terminal as `say` does."""
    if sys.stdout.isatty():
        click.echo(visible(text, _LAYOUT) + end, nl=False)
    else:  # as bytes, of which nothing is taken out; half a surrogate pair has none
        click.echo((text + end).encode("utf-8", "backslashreplace"), nl=False)


def put_json(value: object, indent: int | None = None) -> None:
    """Print data as JSON, whose own escapes stand for what doesn't print."""
    text = json_text(value, indent)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent)
    click.echo(text)


def put_told(told: Mapping[str, object], problems: Iterable[Problem]) -> None:
    """Print data as JSON, and the problems beside it."""
    put_json({**told, "problems": [*map(str, problems)]}, indent=2)


def tell(parts: Parts) -> None:
    """Print one line of several styles to standard error: a line end in it is an escape, too."""
    _print(ERR, [(visible(text), style) for text, style in parts], LONGEST_MESSAGE)


def print_error(text: str, style: str = "") -> None:
    """Print lines to standard error."""
    _print(ERR, [(text, style)], LONGEST_MESSAGE)


def print_notice(text: str) -> None:
    """Print to standard error what a user should know of, and need not mend."""
    tell([("notice:", "yellow"), (f" {text}", "")])


def print_fault(text: str, what: str = "error:") -> None:
    """Print to standard error what went wrong, in one line."""
    tell([(what, "red"), (f" {text}", "")])


def say_written(paths: Iterable[object]) -> None:
    """Print which files were written."""
    for path in paths:
        say(f"wrote {path}")


def json_text(value: object, indent: int | None = None) -> str:
    """Return readable JSON; what can't be printed stays escaped."""
    return visible_json(json.dumps(value, indent=indent, ensure_ascii=False))


def finish(problems: Sequence[Problem], *, failed: bool = False, code: int = 1) -> None:
    """Print all problems, each on one line, and leave with an exit code if there are any."""
    for problem in problems:
        print_fault(str(problem))
    if problems or failed:
        raise click.exceptions.Exit(code)


class Fault(click.ClickException):
    """An error, or several, whose lines say all there is to say."""

    exit_code = 1

    def __init__(self, *lines: str) -> None:
        super().__init__("; ".join(lines))
        self.lines = lines

    def show(self, file: object = None) -> None:
        """Print each in one line."""
        for line in self.lines:
            print_fault(line)


class Misuse(Fault):
    """A command that was given what it can't work on."""

    exit_code = 2


def or_fault(found: _T | Problem) -> _T:
    """Return what was found, or end the command with what was wrong."""
    if isinstance(found, Problem):
        raise Fault(str(found))
    return found


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal; yields a function that moves it on, by 1 or a number."""
    count = [MofNCompleteColumn()] if total else []
    columns = (TextColumn(what), BarColumn(), *count, TimeElapsedColumn())
    with Progress(*columns, console=ERR, transient=True, disable=not ERR.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps=1: bar.advance(task, steps)


def _print(console: Console, parts: Parts, longest: int, end: str = "\n") -> None:
    """Print lines, each cut to a length."""
    line = Text()
    for text, style in parts:
        cut_lines = (cut(part, longest) for part in text.split("\n"))
        line.append(visible("\n".join(cut_lines), _LAYOUT), style)
    # What is told where nobody can hear it doesn't end a command.
    with suppress(*[OSError] if console is ERR else []):
        console.print(line, soft_wrap=True, end=end)
