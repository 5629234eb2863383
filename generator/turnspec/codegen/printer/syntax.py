"""Rewrites Python's syntax to what both languages have: one thing in a statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

_N = TypeVar("_N", bound=ast.AST)
#: What has a scope of its own.
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


def simplified(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements in which tuples are assigned one by one, and walruses stand alone."""
    return [new for old in body for new in _simplified(old)]


def _simplified(node: ast.stmt) -> Iterator[ast.stmt]:
    for name in ("body", "orelse"):
        if isinstance(inner := getattr(node, name, None), list):
            setattr(node, name, simplified(inner))
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        part.body = simplified(part.body)
    match node:
        case ast.Assign(targets=[ast.Tuple() as target], value=ast.Tuple() as value):
            yield from _one_by_one(node, target, value)
        case ast.Assign(targets=[_, _, *_]):
            yield from _chained(node)
        case ast.Delete(targets=targets):
            yield from (_at(node, ast.Delete([target])) for target in targets)
        case ast.While(test=test) if _walruses(test):
            ends = _at(node, ast.If(ast.UnaryOp(ast.Not(), test), [_at(node, ast.Break())], []))
            node.test = ast.Constant(True)
            node.body[:0] = _simplified(ends)
            yield node
        case ast.If(test=test):
            yield from _hoisted(node, test)
        case _:
            yield node


def _at(place: ast.AST, node: _N) -> _N:
    """Return a new node where another one stands."""
    return ast.fix_missing_locations(ast.copy_location(node, place))


def _one_by_one(node: ast.Assign, target: ast.Tuple, value: ast.Tuple) -> Iterator[ast.stmt]:
    """Assign the elements of a tuple, if none reads what was assigned before it."""
    names = [ast.unparse(each) for each in target.elts]
    reads = (
        name == ast.unparse(part)
        for at, name in enumerate(names)
        for other in value.elts[at + 1 :]
        for part in ast.walk(other)
        if isinstance(part, ast.Name | ast.Attribute)
    )
    has_star = any(isinstance(each, ast.Starred) for each in (*target.elts, *value.elts))
    if has_star or len(value.elts) != len(names) or any(reads):
        yield node
        return
    for one, other in zip(target.elts, value.elts, strict=True):
        yield _at(node, ast.Assign([one], other))


def _chained(node: ast.Assign) -> Iterator[ast.stmt]:
    """Assign to the first name, and then that to all else."""
    first = next((target for target in node.targets if isinstance(target, ast.Name)), None)
    if first is None:
        yield node
        return
    yield _at(node, ast.Assign([first], node.value))
    for other in node.targets:
        if other is not first:
            yield _at(node, ast.Assign([other], ast.Name(first.id, ast.Load())))


def _walruses(node: ast.expr) -> bool:
    return any(isinstance(each, ast.NamedExpr) for each in ast.walk(node))


def _hoisted(node: ast.If, test: ast.expr) -> Iterator[ast.stmt]:
    """Assign a walrus before its condition, where that asks it first."""
    holder: ast.AST = node
    inner: ast.expr = test
    while True:
        if isinstance(inner, ast.BoolOp):
            holder, inner = inner, inner.values[0]
        elif isinstance(inner, ast.UnaryOp):
            holder, inner = inner, inner.operand
        elif isinstance(inner, ast.Compare):
            holder, inner = inner, inner.left
        else:
            break
    if isinstance(inner, ast.NamedExpr):
        read = _at(inner, ast.Name(inner.target.id, ast.Load()))
        for name, value in ast.iter_fields(holder):
            if value is inner:
                setattr(holder, name, read)
            elif isinstance(value, list) and inner in value:
                value[value.index(inner)] = read
        yield _at(node, ast.Assign([inner.target], inner.value))
    yield node


def blocks_of(node: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of statements in one."""
    blocks = [getattr(node, name, None) for name in ("body", "orelse")]
    parts = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    return [block for block in (*blocks, *(part.body for part in parts)) if isinstance(block, list)]


def own_parts(node: ast.stmt) -> list[ast.AST]:
    """Return what a statement consists of, without its blocks."""
    if not blocks_of(node):
        return [node]
    names = ("target", "iter", "test", "subject")
    guards = [case.guard for case in getattr(node, "cases", ()) if case.guard]
    return [getattr(node, name) for name in names if hasattr(node, name)] + guards


def names_in(node: ast.AST, inner: frozenset[str] = frozenset()) -> Iterator[ast.Name]:
    """Yield the names in a node, but those of comprehensions and lambdas."""
    if isinstance(node, COMPREHENSIONS):
        targets = (each for part in node.generators for each in ast.walk(part.target))
        inner |= {each.id for each in targets if isinstance(each, ast.Name)}
    if isinstance(node, ast.Lambda):
        inner |= {arg.arg for arg in node.args.args}
    if isinstance(node, ast.Name) and node.id not in inner:
        yield node
    for child in ast.iter_child_nodes(node):
        yield from names_in(child, inner)
