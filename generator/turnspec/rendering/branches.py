"""The branches of a template's syntax tree, and a compiler by which renderings tell what they take.

A branch is what a condition decides on: the bodies of ``if``, ``for`` and macros, and the two sides
of an inline ``if``. Branches are numbered in the order of the tree, which is the same whenever the
same source is parsed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, operators

#: The body of a statement, or one side of an inline ``if``.
_Body = list[nodes.Node] | nodes.Expr

_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a template.

    Attributes:
        line: where its condition stands, or the beginning of what an ``else`` holds.
        condition: what decides on it, as a template writes it.
        path: the numbers of the branches that it stands in, and its own.
        unreachable: why no message gets there, "" where nothing says so.
    """

    line: int
    condition: str
    path: tuple[int, ...]
    unreachable: str = ""

    def __str__(self) -> str:
        cut = len(self.condition) > _LONGEST
        return f"line {self.line}, {self.condition[:_LONGEST]}{'…' if cut else ''}"


class BranchRecorder(CodeGenerator):
    """Compiles templates so that each branch adds its number to ``environment.taken``.

    Expressions must not be optimized: a side that is computed once is no longer the tree's.
    """

    _numbers: Mapping[int, int] = MappingProxyType({})

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        """Number the branches first."""
        self._numbers = {id(body): number for number, (body, _) in enumerate(_numbered(node))}
        super().visit_Template(node, frame)

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        """Write a body behind its number."""
        if id(nodes) in self._numbers:
            self.writeline(f"environment.taken.add({self._numbers[id(nodes)]})")
        super().blockvisit(nodes, frame)

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        """Write a side of an inline ``if`` behind its number, which counts as false."""
        if id(node) not in self._numbers:
            return super().visit(node, *args, **kwargs)
        self.write(f"(environment.taken.add({self._numbers[id(node)]}) or ")
        super().visit(node, *args, **kwargs)
        return self.write(")")


def find_branches(tree: nodes.Template) -> list[Branch]:
    """Return all branches of a tree, by their numbers."""
    return [branch for _, branch in _numbered(tree)]


def _numbered(tree: nodes.Template) -> list[tuple[_Body, Branch]]:
    found: list[tuple[_Body, Branch]] = []
    _collect(tree, (), _constant_names(tree), found)
    return found


def _collect(
    node: nodes.Node,
    path: tuple[int, ...],
    constants: Collection[str],
    found: list[tuple[_Body, Branch]],
) -> None:
    """Add the branches below a node, each before those that it holds."""
    held: set[int] = set()
    for body, test, words in _bodies(node):
        inner = body if isinstance(body, list) else [body]
        held |= {id(child) for child in inner}
        is_otherwise = words.startswith(("else", "none"))
        line = inner[0].lineno if is_otherwise and inner else node.lineno
        reason = "it only raises an exception" if _raises(inner) else ""
        if test is not None and _is_constant(test, constants):
            reason = "constants decide"
        inside = (*path, len(found))
        found.append((body, Branch(line, words + shown(test), inside, reason)))
        for child in inner:
            _collect(child, inside, constants, found)
    for child in node.iter_child_nodes():
        if id(child) not in held:
            _collect(child, path, constants, found)


def _bodies(node: nodes.Node) -> Iterator[tuple[_Body, nodes.Node | None, str]]:
    """Yield each body of a node, with what decides on it and the words before that."""
    match node:
        case nodes.If(test=test, body=body, else_=otherwise):
            yield body, test, ""
            yield from [(otherwise, test, "else of ")] if otherwise else []
        case nodes.For(iter=items, body=body, else_=otherwise):
            yield body, items, "each of "
            yield from [(otherwise, items, "none of ")] if otherwise else []
        case nodes.CondExpr(test=test, expr1=first, expr2=second):
            yield first, test, ""
            yield from [(second, test, "else of ")] if second else []
        case nodes.Macro(name=name, body=body):
            yield body, None, f"macro {name}"


def _constant_names(tree: nodes.Template) -> set[str]:
    """Return the variables that are set once, to a constant, and that whatever else holds."""
    names = [name.name for name in tree.find_all(nodes.Name) if name.ctx != "load"]
    once = {name for name in names if names.count(name) == 1}
    sets = (node for node in tree.body if isinstance(node, nodes.Assign))
    constant = [assign.target for assign in sets if isinstance(assign.node, nodes.Const)]
    return once & {target.name for target in constant if isinstance(target, nodes.Name)}


def _is_constant(test: nodes.Node, constants: Collection[str]) -> bool:
    """Tell whether a condition is the same in every rendering."""
    names = [test] if isinstance(test, nodes.Name) else list(test.find_all(nodes.Name))
    return all(name.name in constants for name in names)


def _raises(body: Sequence[nodes.Node]) -> bool:
    """Tell whether the first thing that a body does is to raise an exception."""
    outputs = [part for node in body if isinstance(node, nodes.Output) for part in node.nodes]
    calls = [part for part in outputs if isinstance(part, nodes.Call)]
    return any(shown(call.node) == "raise_exception" for call in calls)


def shown(node: nodes.Node | None) -> str:
    """Return an expression about as a template writes it; "…" for what is seldom in conditions."""
    match node:
        case None:
            return ""
        case nodes.Name(name=name):
            return name
        case nodes.Const(value=value):
            return repr(value)
        case nodes.Getattr(node=inner, attr=name):
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
            return f"{shown(left)} {operators[operator]} {shown(right)}"
        case nodes.Test(node=inner, name=name):
            return f"{shown(inner)} is {name}"
        case nodes.Call(node=inner, args=arguments):
            return f"{shown(inner)}({', '.join(map(shown, arguments))})"
        case nodes.Filter(node=inner, name=name, args=arguments):
            return f"{shown(inner)}|{name}" + (f"({shown(arguments[0])})" if arguments else "")
        case nodes.List(items=items) | nodes.Tuple(items=items):
            return f"[{', '.join(map(shown, items))}]"
    return "…"
