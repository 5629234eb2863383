"""Which parts of the engine a format needs, and how they are joined to a parser."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module, resources
from typing import Any

from turnspec import engine
from turnspec.engine.format import Format

#: The engine's files, in an order in which each needs but those before it.
PARTS = (
    *("results", "turn", "markers", "format", "special", "tools", "text_markers", "stream"),
    *("text", "json_text", "python_literal", "calls", "unclosed", "value", "arguments_value"),
    *("other_value", "schemas", "foreign", "heads", "objects", "json_arguments", "text_arguments"),
    *("elements", "value_arguments", "code", "parser"),
)
#: Where the classes are that read calls.
_FILES = {
    "HeadCalls": "heads",
    "ObjectCalls": "objects",
    "JsonArguments": "json_arguments",
    "ValueArguments": "value_arguments",
    "TextArguments": "text_arguments",
    "Elements": "elements",
    "Value": "value",
    "OtherValue": "other_value",
    "Code": "code",
}


@dataclass(frozen=True, slots=True)
class Join:
    """A class of the engine, and those that it is to use, by the names of its parameters."""

    name: str
    uses: Mapping[str, Join] = field(default_factory=dict)

    @property
    def expression(self) -> str:
        """The Python expression that makes it."""
        return f"partial({self.name}, {self.parameters})" if self.uses else self.name

    @property
    def parameters(self) -> str:
        """What it uses, as keyword arguments."""
        return ", ".join(f"{name}={used.expression}" for name, used in self.uses.items())

    @property
    def uses_partial(self) -> bool:
        """Whether one of those that it uses has others to use."""
        return any(used.uses for used in self.uses.values())

    @property
    def maker(self) -> Callable[..., Any]:
        """What the expression gives."""
        made = getattr(import_module(f"turnspec.engine.{_FILES[self.name]}"), self.name)
        return partial(made, **{name: used.maker for name, used in self.uses.items()})

    def names(self) -> Iterator[str]:
        """Yield the names of all classes in it."""
        yield self.name
        for used in self.uses.values():
            yield from used.names()


def join_parts(table: Format) -> Join | None:
    """Return what reads a format's calls; None where it has none."""
    if "calls" not in table:
        return None
    arguments = table["arguments"]
    code = {"code": Join("Code")} if "code" in table else {}
    value = {"value": Join("OtherValue" if "values" in arguments else "Value")}
    if table["calls"]["form"] == "objects":
        return Join("ObjectCalls", {**value, **code})
    nested = {"nested": Join("Elements")} if "elements" in arguments else {}
    readers = {
        "json": Join("JsonArguments", value),
        "values": Join("ValueArguments", value),
        "text": Join("TextArguments", nested),
    }
    return Join("HeadCalls", {"arguments": readers[arguments["form"]], **code})


def needed_parts(table: Format) -> tuple[str, ...]:
    """Return the names of the engine's files that a format needs, in their order."""
    join = join_parts(table)
    needed = {"parser", *(_FILES[name] for name in (join.names() if join else ()))}
    waiting = list(needed)
    while waiting:
        new = part_text(waiting.pop()).needs - needed
        needed |= new
        waiting += new
    return tuple(part for part in PARTS if part in needed)


@dataclass(frozen=True, slots=True)
class Part:
    """A file of the engine: its docstring, what it imports, and all the rest, verbatim."""

    heading: tuple[str, ...]  # its docstring, by lines
    imports: tuple[ast.Import | ast.ImportFrom, ...]  # of the standard library
    needs: frozenset[str]  # other files of the engine
    body: str


@cache
def part_text(name: str) -> Part:
    """Return a file of the engine, taken apart."""
    source = resources.files(engine).joinpath(f"{name}.py").read_text("utf-8")
    tree = ast.parse(source)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    of_engine = {
        _module(node).rpartition(".")[2]
        for node in imports
        if _module(node).startswith(engine.__name__)
    }
    standard = (node for node in imports if not _is_left_out(node))
    lines = source.splitlines(keepends=True)[imports[-1].end_lineno :]
    body = "".join(lines).strip("\n")
    heading = (ast.get_docstring(tree) or "").split("\n")
    return Part(tuple(heading), tuple(standard), frozenset(of_engine), body)


def _is_left_out(node: ast.Import | ast.ImportFrom) -> bool:
    """Tell whether an import is none in a generated module: one of the engine, or the first."""
    return _module(node) == "__future__" or _module(node).startswith(engine.__name__)


def _module(node: ast.Import | ast.ImportFrom) -> str:
    """Return the module of which an import takes names; of any other an empty text."""
    return node.module or "" if isinstance(node, ast.ImportFrom) else ""


def import_lines(nodes: Iterable[ast.Import | ast.ImportFrom], *, with_partial: bool) -> list[str]:
    """Return the lines that import what parts need, each name once and in the usual order."""
    modules: set[str] = set()
    names: dict[str, set[str]] = {"functools": {"partial"}} if with_partial else {}
    for node in nodes:
        aliases = {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            modules |= aliases
        else:
            names.setdefault(node.module or "", set()).update(aliases)
    lines = [f"import {module}" for module in sorted(modules)]
    for module, found in sorted(names.items()):
        lines.append(f"from {module} import {', '.join(sorted(found, key=_import_order))}")
    return lines


def _import_order(name: str) -> tuple[bool, str]:
    """Return the key by which isort sorts names: classes before functions."""
    return (name[0].islower(), name)
