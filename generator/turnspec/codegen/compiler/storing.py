"""Drops what is stored where nobody reads it.

``read`` are the names that a function reads, and the attributes, with a point before them, that
anybody does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from turnspec.codegen.compiler.edits import Edit, Source, bodies, stored_in, walked


def loaded_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that nodes read."""
    names = (node for node in nodes if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Load)}


def unread_stores(
    source: Source, function: ast.FunctionDef, read: Set[str], pure: Set[str]
) -> Iterator[Edit]:
    """Drop what is put where nobody reads it, if nothing else comes of it."""
    holders: list[ast.AST] = [function]
    for node in holders:
        holders += [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
        for body in bodies(node):
            holders += body
            for statement in body:
                yield from _pairs(source, statement, read, pure)
                if _is_unread(statement, read, pure):
                    yield source.dropped(statement, alone=len(body) == 1)
                elif isinstance(statement, ast.Assign):
                    yield from _named(source, statement, read)


def _named(source: Source, node: ast.Assign, read: Set[str]) -> Iterator[Edit]:
    """Leave out the name of what is done for its own sake."""
    match node.targets:
        case [ast.Name(id=name)] if name not in read:
            yield Edit(source.start(node), source.end(node), source.text_of(node.value))


def _pairs(source: Source, node: ast.stmt, read: Set[str], pure: Set[str]) -> Iterator[Edit]:
    """Leave out of `self.a, b = x, y` what nobody reads."""
    pairs = stored_in(node)
    kept = [pair for pair in pairs if not _is_needless(*pair, read, pure)]
    if kept and len(kept) < len(pairs):
        left, right = (", ".join(map(source.text_of, side)) for side in zip(*kept, strict=True))
        yield Edit(source.start(node), source.end(node), f"{left} = {right}")


def _is_unread(node: ast.stmt, read: Set[str], pure: Set[str]) -> bool:
    if isinstance(node, ast.If) and not node.orelse:
        body = (_is_unread(each, read, pure) for each in node.body)
        return is_pure(node.test, pure) and all(body)
    unread = [_is_needless(*pair, read, pure) for pair in stored_in(node)]
    return bool(unread) and all(unread)


def _is_needless(target: ast.expr, value: ast.expr, read: Set[str], pure: Set[str]) -> bool:
    match target:
        case ast.Name(id=name):
            return name not in read and is_pure(value, pure)
        case ast.Attribute(attr=name):
            return f".{name}" not in read and is_pure(value, pure)
    return False


def is_pure(node: ast.expr, pure: Set[str]) -> bool:
    """Tell whether an expression does nothing but give a value."""
    quiet = (
        *(ast.Constant, ast.Name, ast.Attribute, ast.List, ast.Dict, ast.Set, ast.Tuple, ast.Load),
        *(ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.IfExp),
        *(ast.Starred, ast.BinOp, ast.operator, ast.Subscript, ast.Slice, ast.Store),
        *(ast.ListComp, ast.comprehension),
    )
    return all(
        isinstance(inner, quiet)
        or (
            isinstance(inner, ast.Call)
            and ast.unparse(inner.func).rpartition(".")[2]
            in {*pure, "set", "list", "dict", "len", "enumerate", "strip"}
        )
        for inner in walked(node)
    )
