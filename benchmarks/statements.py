"""The statements of a source: which there are, and which of them run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

_RAN = "__ran__"
_BODIES = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: the function or class that it is in, its line, and how it begins."""

    place: str
    line: int
    text: str


class Traced:
    """A module of which it is noted which statements run.

    Each statement but docstrings, and what is for type checkers alone, notes that it was reached:
    that takes less time than being told of each line, and tells statements in a line apart.
    """

    def __init__(self, source: str) -> None:
        """Load a source."""
        tree = ast.parse(source)
        self.statements: list[Statement] = []
        self._note(tree, "")
        self._ran = bytearray(len(self.statements))
        self.module = ModuleType("traced_parser")
        vars(self.module)[_RAN] = self._ran
        code = compile(ast.fix_missing_locations(tree), "<traced parser>", "exec")
        exec(code, vars(self.module))

    @property
    def ran(self) -> list[bool]:
        """Of each statement, whether it ran."""
        return list(map(bool, self._ran))

    @property
    def count(self) -> int:
        """How many statements ran."""
        return self._ran.count(1)

    def _note(self, node: ast.AST, place: str) -> None:
        """Have each statement inside of a node noted, before it runs."""
        for body in _bodies(node):
            body[:] = [made for statement in body for made in self._noted(statement, place)]

    def _noted(self, node: ast.stmt, place: str) -> Iterator[ast.stmt]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            self._note(node, f"{place}.{node.name}" if place else node.name)
        elif not is_for_checkers(node):
            self._note(node, place)
        if not is_aside(node):
            text = ast.unparse(node).split("\n")[0]
            self.statements.append(Statement(place, node.lineno, text))
            yield ast.copy_location(_note_of(len(self.statements) - 1), node)
        yield node


def statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield all statements inside of a node, without going through expressions."""
    for body in _bodies(node):
        for statement in body:
            yield statement
            yield from statements_in(statement)


def is_docstring(node: ast.AST) -> bool:
    """Tell whether a statement is a text that stands for itself."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def is_for_checkers(node: ast.AST) -> bool:
    """Tell whether a statement is read by type checkers alone."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
    return False


def is_aside(node: ast.stmt) -> bool:
    """Tell whether a statement isn't noted: it can't be, or it is no work of the module's."""
    is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    return is_future or is_docstring(node) or is_for_checkers(node)


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in _BODIES:
        body = getattr(node, name, None)
        if isinstance(body, list):
            yield body
    for name in ("handlers", "cases"):
        for inner in getattr(node, name, ()):
            yield inner.body


def _note_of(number: int) -> ast.stmt:
    return ast.parse(f"{_RAN}[{number}] = 1").body[0]
