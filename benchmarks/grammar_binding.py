"""The other command of `make bench`: what binding a grammar to tools costs, per request.

Beside it, in the same run, what llama.cpp's own converter takes for the schemas of the same tools.
Processor time is measured, so that other programs on the machine count less; the least of all
rounds counts, as nothing makes a program faster than it is.

Exit codes: 0 all targets are reached; 1 one is missed; 2 wrong usage.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.cases import Format, read_formats, representatives
from benchmarks.targets import Verdict
from turnspec.grammar.bound import BoundGrammar, GrammarBinder
from turnspec.grammar.request import GrammarRequest, ToolChoice

_ROOT = Path(__file__).parent.parent
#: The milliseconds that binding so many tools may take that were never seen before.
TARGETS = {20: 10.0, 100: 50.0, 1000: 600.0}
_AGAIN = 0.2  # milliseconds for the same _FEW tools once more
_FEW, _MANY = 20, 100
_EQUAL = 5.0  # milliseconds for _MANY tools with equal schemas, where the format is known
_ONE_NEW = 1 / 3  # of what all tools cost, if one of them is new
_REPEATS = 20
_KINDS = ("text", "number", "date", "place")


@dataclass(frozen=True, slots=True)
class Binding:
    """What one format takes for some tools, and what llama.cpp's converter does; milliseconds."""

    name: str
    tools: int
    cold: float
    again: float
    one_new: float
    equal: float
    converter: float

    def verdicts(self, slack: float) -> list[Verdict]:
        """Return what is measured beside its target."""
        what = f"{self.name}, {self.tools} tools"
        found = [Verdict(what, self.cold, TARGETS[self.tools] * slack, " ms")]
        if self.tools == _FEW:
            found.append(Verdict(f"{what} again", self.again, _AGAIN * slack, " ms"))
        if self.tools == _MANY:
            most = self.cold * _ONE_NEW * slack
            found.append(Verdict(f"{what}, one of them new", self.one_new, most, " ms"))
            found.append(Verdict(f"{what} with equal schemas", self.equal, _EQUAL * slack, " ms"))
        return found


def tools_of(count: int) -> list[dict[str, Any]]:
    """Return so many tools, each with four arguments of its own."""
    return [{"type": "function", "function": _function(number)} for number in range(count)]


def _function(number: int) -> dict[str, Any]:
    properties = {
        f"query_{number}": {"type": "string", "description": "What to look for."},
        "kind": {"type": "string", "enum": list(_KINDS), "description": "Of which kind."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 10 + number},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
    }
    parameters = {"type": "object", "properties": properties, "required": list(properties)[:2]}
    return {
        "name": f"find_{number}",
        "description": "Finds something.",
        "parameters": parameters,
    }


def measure(known: Format, count: int, rounds: int) -> Binding:
    """Measure the binding of so many tools, in rounds that take turns with the converter's."""
    tools = tools_of(count)
    text = json.dumps(as_one_schema(tools))
    convert = converter()
    one_new, equal = [*tools[:-1], *tools_of(count + 1)[-1:]], _with_equal_schemas(tools)
    cold, again, new, shared, converted = [], [], [], [], []
    for _ in range(rounds):
        binder = GrammarBinder(known.spec)  # once, as a server does
        cold.append(_milliseconds(lambda: _bound(binder, tools), 1))  # noqa: B023
        again.append(_milliseconds(lambda: _bound(binder, tools), _REPEATS))  # noqa: B023
        new.append(_milliseconds(lambda: _bound(binder, one_new), 1))  # noqa: B023
        shared.append(_milliseconds(lambda: _bound(binder, equal), 1))  # noqa: B023
        converted.append(_milliseconds(lambda: convert(text), 1))
    return Binding(known.name, count, *map(min, (cold, again, new, shared, converted)))


def _with_equal_schemas(tools: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tools with one schema, which is none of theirs."""
    parameters = _function(len(tools))["parameters"]
    functions = [{**tool["function"], "parameters": parameters} for tool in tools]
    return [{"type": "function", "function": function} for function in functions]


def as_one_schema(tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a call of any of the tools, as llama.cpp's converter takes one."""
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"const": tool["function"]["name"]},
                "arguments": tool["function"]["parameters"],
            },
            "required": ["name", "arguments"],
        }
        for tool in tools
    ]
    return {"oneOf": calls}


def _bound(binder: GrammarBinder, tools: Sequence[dict[str, Any]]) -> BoundGrammar:
    found = binder.bind(GrammarRequest(tools, ToolChoice.AUTO, parallel=True))
    if isinstance(found, list):
        raise click.ClickException(str(found[0]))
    return found


def _milliseconds(function: Callable[[], object], repeats: int) -> float:
    start = process_time()
    for _ in range(repeats):
        function()
    return (process_time() - start) * 1e3 / repeats


def converter() -> Callable[[str], str]:
    """Return llama.cpp's own converter: a JSON Schema, as text, to GBNF."""
    with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):
        from llama_cpp.llama_grammar import json_schema_to_gbnf
    convert: Callable[[str], str] = json_schema_to_gbnf
    return convert


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True)
@click.option(
    "--tools",
    "counts",
    multiple=True,
    type=click.Choice([str(count) for count in TARGETS]),
    default=tuple(str(count) for count in TARGETS),
    help="How many tools; repeat the option for several.",
)
@click.option(
    "--slack",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Multiply all targets by this, as on a slower machine.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def bench(
    names: tuple[str, ...], rounds: int, counts: tuple[str, ...], slack: float, as_json: bool
) -> None:
    """Measure the binding of tools: NAMES as in specs/, or one format per class.

    \b
    Example:
      python -m benchmarks.grammar_binding qwen3-coder --tools 20
    """  # noqa: D301
    formats = [known for known in read_formats(_ROOT) if known.spec.tools is not None]
    unknown = set(names) - {known.name for known in formats}
    if unknown:
        raise click.UsageError(f"no format with tools is named {', '.join(sorted(unknown))}")
    chosen = [f for f in formats if f.name in names] if names else representatives(formats)
    results = [measure(known, int(count), rounds) for known in chosen for count in counts]
    missed = [v for result in results for v in result.verdicts(slack) if not v.ok]
    if as_json:
        click.echo(json.dumps([_data(result) for result in results], indent=2))
    else:
        _show(results, slack)
    for verdict in missed:
        click.echo(f"missed: {verdict}", err=True)
    raise SystemExit(1 if missed else 0)


def _data(result: Binding) -> dict[str, object]:
    return {
        "name": result.name,
        "tools": result.tools,
        "cold_milliseconds": result.cold,
        "again_milliseconds": result.again,
        "one_new_milliseconds": result.one_new,
        "equal_milliseconds": result.equal,
        "converter_milliseconds": result.converter,
    }


def _show(results: Sequence[Binding], slack: float) -> None:
    table = Table(title="binding a grammar to tools: ms of processor time", title_justify="left")
    timed = ("cold", "target", "again", "one new", "equal", "llama.cpp's converter")
    columns = ("parser", "tools", *timed, "ratio", "")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    for result in results:
        ok = all(verdict.ok for verdict in result.verdicts(slack))
        table.add_row(
            *(result.name, str(result.tools), f"{result.cold:.2f}"),
            f"{TARGETS[result.tools] * slack:.0f}",
            *(f"{result.again:.3f}", f"{result.one_new:.2f}", f"{result.equal:.2f}"),
            f"{result.converter:.2f}",
            f"{result.cold / result.converter:.1f}",
            "[green]ok[/green]" if ok else "[red]over[/red]",
        )
    console = Console(highlight=False)
    (console if console.is_terminal else Console(highlight=False, width=120)).print(table)


if __name__ == "__main__":
    bench()
