"""The branches of a template's syntax tree, and a compiler that has renderings tell which they took.

A branch is what a condition decides on: the bodies of ``if``, ``for`` and macros, and the two sides
of an inline ``if``. Branches are numbered in the order of the tree, which is the same whenever the
same source is parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame

#: The body of a statement, or one side of an inline ``if``.
_Body = list[nodes.Node] | nodes.Expr

#: How the operators of comparisons are written.
_OPERATORS = {"eq": "==", "ne": "!=", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<="}
_OPERATORS |= {"in": "in", "notin": "not in"}
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a template.

    Attributes:
        line: where it begins.
        condition: what decides on it, as a template writes it.
        parent: the number of the branch that it stands in, None for none.
        fails: whether it does nothing but call a function that raises an exception.
    """

    line: int
    condition: str
    parent: int | None
    fails: bool = False

    def __str__(self) -> str:
        """Return where it is and what decides on it."""
        return f"line {self.line}, {self.condition}"


class BranchRecorder(CodeGenerator):
    """Compiles templates so that each branch calls ``environment.taken`` with its number.

    Expressions must not be optimized: a side that is computed once is no longer the tree's.
    """

    _numbers: Mapping[int, int] = MappingProxyType({})

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:  # noqa: N802
        """Number the branches first."""
        self._numbers = {id(body): number for number, (body, _) in enumerate(_numbered(node))}
        super().visit_Template(node, frame)

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        """Write a body behind its number."""
        if id(nodes) in self._numbers:
            self.writeline(f"environment.taken({self._numbers[id(nodes)]})")
        super().blockvisit(nodes, frame)

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        """Write a side of an inline ``if`` behind its number, which counts as false."""
        if id(node) not in self._numbers:
            return super().visit(node, *args, **kwargs)
        self.write(f"(environment.taken({self._numbers[id(node)]}) or ")
        super().visit(node, *args, **kwargs)
        return self.write(")")


def find_branches(tree: nodes.Template) -> list[Branch]:
    """Return all branches of a tree, by their numbers."""
    return [branch for _, branch in _numbered(tree)]


def _numbered(tree: nodes.Template) -> list[tuple[_Body, Branch]]:
    found: list[tuple[_Body, Branch]] = []
    _collect(tree, None, found)
    return found


def _collect(node: nodes.Node, parent: int | None, found: list[tuple[_Body, Branch]]) -> None:
    """Add the branches below a node, each before those that it holds."""
    held: set[int] = set()
    for body, condition in _bodies(node):
        inner = body if isinstance(body, list) else [body]
        held |= {id(child) for child in inner}
        line = inner[0].lineno if inner else node.lineno
        number = len(found)
        found.append((body, Branch(line, condition[:_LONGEST], parent, _only_fails(inner))))
        for child in inner:
            _collect(child, number, found)
    for child in node.iter_child_nodes():
        if id(child) not in held:
            _collect(child, parent, found)


def _bodies(node: nodes.Node) -> Iterator[tuple[_Body, str]]:
    match node:
        case nodes.If(test=test, body=body, else_=otherwise):
            yield body, shown(test)
            yield from [(otherwise, f"else of {shown(test)}")] if otherwise else []
        case nodes.For(iter=items, body=body, else_=otherwise):
            yield body, f"each of {shown(items)}"
            yield from [(otherwise, f"none of {shown(items)}")] if otherwise else []
        case nodes.CondExpr(test=test, expr1=first, expr2=second):
            yield first, shown(test)
            yield from [(second, f"else of {shown(test)}")] if second else []
        case nodes.Macro(name=name, body=body):
            yield body, f"macro {name}"


def _only_fails(body: Sequence[nodes.Node]) -> bool:
    """Tell whether all that is done is to raise."""
    match body:
        case [nodes.Output(nodes=[*_, nodes.Call(node=nodes.Name(name="raise_exception"))]), *_]:
            return True
        case [nodes.Output(nodes=parts), *_] if parts:
            return any(map(_raises, parts))
    return False


def _raises(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Call) and shown(node.node) == "raise_exception"


def shown(node: nodes.Node | None) -> str:
    """Return an expression about as a template writes it, filters and arguments left out."""
    match node:
        case nodes.Name(name=name):
            return name
        case nodes.Const(value=value):
            return repr(value)
        case nodes.Getattr(node=inner, attr=name):
            return f"{shown(inner)}.{name}"
        case nodes.Getitem(node=inner, arg=nodes.Const(value=str(name))):
            return f"{shown(inner)}.{name}"
        case nodes.Getitem(node=inner, arg=argument):
            return f"{shown(inner)}[{shown(argument)}]"
        case nodes.Not(node=inner):
            return f"not {shown(inner)}"
        case nodes.And(left=left, right=right):
            return f"{shown(left)} and {shown(right)}"
        case nodes.Or(left=left, right=right):
            return f"({shown(left)} or {shown(right)})"
        case nodes.Compare(expr=left, ops=[nodes.Operand(op=operator, expr=right)]):
            return f"{shown(left)} {_OPERATORS[operator]} {shown(right)}"
        case nodes.Test(node=inner, name=name):
            return f"{shown(inner)} is {name}"
        case nodes.Filter(node=inner, name=name):
            return f"{shown(inner)}|{name}"
        case nodes.Call(node=inner):
            return f"{shown(inner)}()"
        case nodes.List(items=items) | nodes.Tuple(items=items):
            return f"[{', '.join(map(shown, items))}]"
    return "…"
