"""Puts facts in the place of their names, and drops what they decide against."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from turnspec.codegen.compiler.edits import (
    Edit,
    Source,
    bodies,
    by_blocks,
    dedented,
    settled,
    stored_in,
    walked,
)
from turnspec.codegen.compiler.values import UNKNOWN, Facts


def folded(text: str, facts: Facts) -> str:
    """Return a source in which facts have taken the place of conditions on them.

    One pass folds what isn't inside of something else that is folded; passes follow until
    nothing is left to fold.
    """
    return by_blocks(text, lambda block: _fold(block, facts.of(block)))


@lru_cache(10_000)
def _fold(text: str, facts: Facts) -> str:
    return settled(text, lambda source: _edits(source, facts))


def _edits(source: Source, facts: Facts) -> Iterator[Edit]:
    for node in source.nodes:
        for statements in bodies(node):
            yield from _unreached(source, statements)
            for statement in statements:
                yield from _statement(source, facts, statement, statements, node)
        match node:
            case ast.Match():
                yield from _cases(source, facts, node)
            case ast.IfExp(test=test, body=body, orelse=other):
                truth = facts.truth(test)
                if truth is not None:
                    yield _replaced(source, node, body if truth else other)
            case ast.FunctionDef():
                yield from _constant_locals(source, node)
            case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.BoolOp() if (
                facts.value(node) is not UNKNOWN
            ):
                yield Edit(source.start(node), source.end(node), repr(facts.value(node)))
            case ast.BoolOp():
                yield from _operands(source, facts, node)
            case ast.Tuple():
                yield from _members(source, facts, node)
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                if facts.is_never(left) or facts.is_never(right):
                    yield _replaced(source, node, left if facts.is_never(right) else right)
            case ast.Name(id=name, ctx=ast.Load()) if name in facts.values:
                yield Edit(source.start(node), source.end(node), repr(facts.values[name]))
            case ast.Name(id=name, ctx=ast.Load()) if facts.tables.get(name) is False:
                yield Edit(source.start(node), source.end(node), "()")


def _constant_locals(source: Source, function: ast.FunctionDef) -> Iterator[Edit]:
    """Put a local's value in its place where it has but one, which facts have decided."""
    nodes = walked(function)
    names = [node for node in nodes if isinstance(node, ast.Name)]
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        for target, value in stored_in(node):
            match value:
                case ast.Constant(value=bool() | "") | ast.Tuple(elts=[]):
                    uses = [use for use in names if use.id == ast.unparse(target)]
                    loaded = [use for use in uses if isinstance(use.ctx, ast.Load)]
                    if len(uses) - len(loaded) == 1 and uses[0].id not in parameters:
                        text = ast.unparse(value)
                        yield from (Edit(source.start(u), source.end(u), text) for u in loaded)


def _unreached(source: Source, statements: list[ast.stmt]) -> Iterator[Edit]:
    """Drop what follows a statement that leaves its body."""
    for at, statement in enumerate(statements[:-1]):
        if isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
            start, _ = source.lines_of([statements[at + 1]])
            yield Edit(start, source.lines_of(statements[at + 1 :])[1], "")
            return


def _statement(
    source: Source, facts: Facts, node: ast.stmt, siblings: list[ast.stmt], parent: ast.AST
) -> Iterator[Edit]:
    if _vanishes(facts, node) and not isinstance(node, ast.If):
        yield _dropped(source, facts, node, siblings)
    if not isinstance(node, ast.If):
        return
    is_elif = isinstance(parent, ast.If) and parent.orelse == [node] and _is_elif(source, node)
    truth = facts.truth(node.test)
    if truth is None:
        return
    kept = node.body if truth else node.orelse
    start = source.line_start(node.lineno)
    _, end = source.lines_of([node])
    if not kept:
        yield Edit(start, end, "") if is_elif else _dropped(source, facts, node, siblings)
    elif is_elif and truth:
        head = " " * node.col_offset + "else:\n"
        yield Edit(start, end, head + source.slice(*source.lines_of(kept)))
    elif is_elif or (len(kept) == 1 and _is_elif(source, kept[0])):
        yield Edit(start, end, _other_branch(source, node, kept, is_elif=is_elif))
    else:
        body = source.slice(*source.lines_of(kept))
        yield Edit(start, end, dedented(body, kept[0].col_offset - node.col_offset))


def _is_elif(source: Source, node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and source.text_of(node).startswith("elif")


def _other_branch(source: Source, node: ast.If, kept: list[ast.stmt], *, is_elif: bool) -> str:
    """Return what is left of a condition that doesn't hold: its other branches."""
    first, last = source.lines_of(kept)
    if _is_elif(source, kept[0]):
        text = source.slice(source.line_start(kept[0].lineno), last)
        return text if is_elif else text.replace("elif", "if", 1)
    return " " * node.col_offset + "else:\n" + source.slice(first, last)


def _vanishes(facts: Facts, node: ast.stmt) -> bool:
    """Tell whether facts leave nothing of a statement."""
    if not isinstance(node, ast.If | ast.While) or node.orelse:
        return False
    return facts.truth(node.test) is False


def _dropped(source: Source, facts: Facts, node: ast.stmt, siblings: list[ast.stmt]) -> Edit:
    is_last = node is siblings[-1] and all(_vanishes(facts, other) for other in siblings)
    return source.dropped(node, alone=is_last)


def _replaced(source: Source, node: ast.expr, by: ast.expr) -> Edit:
    is_enclosed = source.stands_between(node, "(", ")")
    text = source.text_of(by) if is_enclosed else _grouped(source, by)
    return Edit(source.start(node), source.end(node), text)


def _operands(source: Source, facts: Facts, node: ast.BoolOp) -> Iterator[Edit]:
    """Leave out operands that decide nothing; what is decided is folded where it is tested."""
    kept = [operand for operand in node.values if facts.truth(operand) is None]
    if len(kept) == 1:
        yield _replaced(source, node, kept[0])
    elif len(kept) < len(node.values):
        word = " or " if isinstance(node.op, ast.Or) else " and "
        text = word.join(_grouped(source, operand) for operand in kept)
        yield Edit(source.start(node), source.end(node), text)


def _grouped(source: Source, node: ast.expr) -> str:
    """Return the text of an operand, in brackets if it would fall apart without them."""
    text = source.text_of(node)
    loose = ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr | ast.Yield | ast.YieldFrom
    return f"({text})" if isinstance(node, loose) else text


def _members(source: Source, facts: Facts, members: ast.Tuple) -> Iterator[Edit]:
    """Leave members out of a tuple that nothing ever is."""
    kept = [member for member in members.elts if not facts.is_never(member)]
    if len(kept) < len(members.elts):
        comma = "," if len(kept) == 1 else ""
        text = f"({', '.join(map(source.text_of, kept))}{comma})"
        yield Edit(source.start(members), source.end(members), text)


def _cases(source: Source, facts: Facts, node: ast.Match) -> Iterator[Edit]:
    """Leave out cases that never come, their alternatives, and guards that hold."""
    for case in node.cases:
        pattern, guard = case.pattern, facts.truth(case.guard) if case.guard else True
        patterns = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
        kept = [it for it in patterns if not facts.is_never(it)]
        if not kept or guard is False:
            # With the comments above it.
            start = source.start_with_comments(pattern.lineno, case.body[0].col_offset - 4)
            yield Edit(start, source.lines_of(case.body)[1], "")
            continue
        if len(kept) < len(patterns):
            text = " | ".join(map(ast.unparse, kept))
            yield Edit(source.start(pattern), source.end(pattern), text)
        if case.guard and guard:
            yield Edit(source.end(pattern), source.end(case.guard), "")
