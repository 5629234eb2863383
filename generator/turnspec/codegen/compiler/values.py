"""What an expression is worth, if facts alone decide it."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

#: The value of what facts don't decide.
UNKNOWN = object()

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne},
    **{ast.Is: operator.is_, ast.IsNot: operator.is_not},
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known when a module is made.

    ``values`` are constants by name, which take the name's place. ``tables`` are names of which it
    is only known whether they hold anything. ``never`` are members of enumerations, as ``Role.X``,
    that nothing ever is.
    """

    values: Mapping[str, object]
    tables: Mapping[str, bool]
    never: Set[str] = frozenset()

    def __hash__(self) -> int:
        return hash(tuple(map(frozenset, (self.values.items(), self.tables.items(), self.never))))

    def of(self, text: str) -> Facts:
        """Return those of the facts that a text names."""
        names = set(re.findall(r"\w+(?:\.[A-Z_]+)?", text))
        return Facts(
            {name: value for name, value in self.values.items() if name in names},
            {name: value for name, value in self.tables.items() if name in names},
            frozenset(names & self.never),
        )

    def value(self, node: ast.expr) -> Any:
        """Return what an expression is worth, or `UNKNOWN`."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.values.get(name, UNKNOWN)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self.truth(operand)
                return UNKNOWN if truth is None else not truth
            case ast.BoolOp():
                return self._joined(node)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(left, op, right)
        return UNKNOWN

    def truth(self, node: ast.expr) -> bool | None:
        """Return whether a condition holds; None if facts don't decide it."""
        if isinstance(node, ast.Name) and node.id in self.tables:
            return self.tables[node.id]
        is_literal = isinstance(node, ast.Constant) and not isinstance(node.value, bool)
        if is_literal or isinstance(node, ast.Tuple | ast.Set):
            return None  # it is there for its value
        value = self.value(node)
        return None if value is UNKNOWN else bool(value)

    def is_never(self, node: ast.AST) -> bool:
        """Tell whether an expression or a pattern names a member that nothing ever is."""
        named = ast.Attribute | ast.Name | ast.MatchValue
        return isinstance(node, named) and ast.unparse(node) in self.never

    def _joined(self, node: ast.BoolOp) -> Any:
        """Return what `and` and `or` give: the first operand that decides may stand anywhere."""
        decides = isinstance(node.op, ast.Or)
        truths = [self.truth(operand) for operand in node.values]
        if decides in truths:
            return decides
        return UNKNOWN if None in truths else not decides

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Any:
        members = [right]
        if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.Set):
            members = right.elts
        are_never = all(map(self.is_never, members))
        if are_never and isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return isinstance(op, ast.IsNot | ast.NotIn)
        values = self.value(left), self.value(right)
        if UNKNOWN in values or type(op) not in _COMPARED:
            return UNKNOWN
        return _COMPARED[type(op)](*values)
