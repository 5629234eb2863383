"""Rewrites Python's syntax to what both languages have: one thing in a statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

_N = TypeVar("_N", bound=ast.AST)
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


class Simplifier(ast.NodeTransformer):
    """Has tuples assigned one by one, and walruses stand alone."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Leave fields as they are."""
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                self.visit(each)
        return node

    def visit_Assign(self, node: ast.Assign) -> list[ast.Assign]:
        """Assign one by one what can be."""
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                if _are_apart(targets, values):
                    pairs = zip(targets, values, strict=True)
                    return [_at(node, ast.Assign([one], other)) for one, other in pairs]
            case ast.Assign(targets=[_, _, *_] as targets, value=value):
                first = next((each for each in targets if isinstance(each, ast.Name)), None)
                if first:
                    others = [each for each in targets if each is not first]
                    read = ast.Name(first.id, ast.Load())
                    again = (ast.Assign([other], read) for other in others)
                    return [_at(node, each) for each in (ast.Assign([first], value), *again)]
        return [node]

    def visit_Delete(self, node: ast.Delete) -> list[ast.Delete]:
        """Delete one by one."""
        return [_at(node, ast.Delete([target])) for target in node.targets]

    def visit_While(self, node: ast.While) -> ast.While:
        """Ask within a loop what assigns something."""
        self.generic_visit(node)
        if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node.test)):
            test = ast.UnaryOp(ast.Not(), node.test)
            ends = _at(node, ast.If(test, [_at(node, ast.Break())], []))
            node.test = ast.Constant(True)
            node.body[:0] = self.visit_If(ends)
        return node

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        """Assign a walrus before its condition, where that asks it first."""
        self.generic_visit(node)
        first, node.test = _hoisted(node.test)
        return [_at(node, ast.Assign([first.target], first.value)), node] if first else [node]


def _hoisted(test: ast.expr) -> tuple[ast.NamedExpr | None, ast.expr]:
    """Return the walrus that a condition begins with, and the condition that reads its name."""
    found = None
    match test:
        case ast.NamedExpr(target=target):
            return test, _at(test, ast.Name(target.id, ast.Load()))
        case ast.BoolOp():
            found, test.values[0] = _hoisted(test.values[0])
        case ast.UnaryOp():
            found, test.operand = _hoisted(test.operand)
        case ast.Compare():
            found, test.left = _hoisted(test.left)
    return found, test


def _at(place: ast.AST, node: _N) -> _N:
    """Return a new node where another one stands."""
    return ast.fix_missing_locations(ast.copy_location(node, place))


def _are_apart(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    """Tell whether no element of a tuple reads what was assigned before it."""
    names = [ast.unparse(each) for each in targets]
    reads = (
        name == ast.unparse(part)
        for at, name in enumerate(names)
        for other in values[at + 1 :]
        for part in ast.walk(other)
        if isinstance(part, ast.Name | ast.Attribute)
    )
    has_star = any(isinstance(each, ast.Starred) for each in (*targets, *values))
    return not has_star and len(values) == len(names) and not any(reads)


def blocks_of(node: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of statements in one."""
    parts = [node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    blocks = [getattr(part, name, None) for part in parts for name in ("body", "orelse")]
    return [block for block in blocks if isinstance(block, list)]


def own_parts(node: ast.stmt) -> list[ast.AST]:
    """Return what a statement consists of, without its blocks."""
    if not blocks_of(node):
        return [node]
    names = ("target", "iter", "test", "subject")
    guards = [case.guard for case in getattr(node, "cases", ()) if case.guard]
    return [getattr(node, name) for name in names if hasattr(node, name)] + guards


def names_in(node: ast.AST, inner: frozenset[str] = frozenset()) -> Iterator[ast.Name]:
    """Yield the names in a node, but those of comprehensions and lambdas."""
    if isinstance(node, _COMPREHENSIONS):
        targets = (each for part in node.generators for each in ast.walk(part.target))
        inner |= {each.id for each in targets if isinstance(each, ast.Name)}
    if isinstance(node, ast.Lambda):
        inner |= {arg.arg for arg in node.args.args}
    if isinstance(node, ast.Name) and node.id not in inner:
        yield node
    for child in ast.iter_child_nodes(node):
        yield from names_in(child, inner)
