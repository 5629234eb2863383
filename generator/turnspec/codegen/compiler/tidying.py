"""Writes what is left after folding as a person would have written it."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial

from turnspec.codegen.compiler.edits import Edit, Source, bodies, by_blocks, settled, source_of

_LINE_LENGTH = 88

_OPPOSITES: dict[type[ast.cmpop], str] = {
    **{ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"},
    **{ast.Eq: "!=", ast.NotEq: "=="},
}
_EQUAL: dict[type[ast.cmpop], tuple[str, str]] = {ast.In: ("==", "is"), ast.NotIn: ("!=", "is not")}


def tidied(text: str) -> str:
    """Return a source with the same meaning, without what only a machine would write."""
    return by_blocks(text, _tidied)


@lru_cache(10_000)  # blocks: some for each of all formats, which share most of them
def _tidied(text: str) -> str:
    return settled(text, _edits)


def _edits(source: Source) -> Iterator[Edit]:
    for node in source.nodes:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(ops=[op]) as compared):
                if type(op) in _OPPOSITES:
                    sides = map(source.text_of, (compared.left, compared.comparators[0]))
                    yield _edit(source, node, f" {_OPPOSITES[type(op)]} ".join(sides))
            case ast.Compare(ops=[op], comparators=[ast.Tuple(elts=[one])]) if type(op) in _EQUAL:
                yield from _is_the_one(source, node, one)
            case ast.Compare(comparators=[ast.Tuple() as members]):
                yield from _in_one(source, "", members)
            case ast.Tuple(elts=elements) if any(map(_is_nothing, elements)):
                kept = [source.text_of(each) for each in elements if not _is_nothing(each)]
                yield _edit(source, node, f"({', '.join(kept)}{',' * (len(kept) == 1)})")
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Tuple() as rows):
                yield from _in_one(source, name, rows)
            case ast.Starred(value=ast.Tuple(elts=[one])):
                yield _edit(source, node, source.text_of(one))
            case ast.expr():
                yield from _in_brackets(source, node)
        for body in bodies(node):
            yield from _returns(source, body)


def _edit(source: Source, node: ast.expr | ast.stmt, text: str) -> Edit:
    return Edit(source.start(node), source.end(node), text)


def _is_the_one(source: Source, node: ast.Compare, one: ast.expr) -> Iterator[Edit]:
    """Compare with the only element of a tuple; members of enumerations by identity."""
    is_member = isinstance(one, ast.Attribute) and one.attr.isupper()
    if is_member or isinstance(one, ast.Constant):
        by = _EQUAL[type(node.ops[0])][is_member]
        yield _edit(source, node, f"{source.text_of(node.left)} {by} {source.text_of(one)}")


def _is_nothing(node: ast.expr) -> bool:
    """Tell whether an element of a tuple stands for none."""
    return isinstance(node, ast.Starred) and ast.unparse(node.value) == "()"


def _members(node: ast.expr) -> list[ast.expr]:
    """Return what a tuple brings that is put into another one, as rows of a long one are."""
    match node:
        case ast.Starred(value=ast.Tuple(elts=elements)):
            return elements
    return [node]


def _in_one(source: Source, name: str, rows: ast.Tuple) -> Iterator[Edit]:
    """Make one row of all that a tuple has, if that fits a line, or else as few as it takes."""
    members = [member for row in rows.elts for member in _members(row)]
    text = ast.unparse(ast.Tuple(members, ast.Load()))
    if members != rows.elts and len(f"{name} = {text}") <= _LINE_LENGTH:
        yield _edit(source, rows, text)
    elif name and members != rows.elts:
        full = in_full_lines(map(ast.unparse, members))
        if len(full) < sum(bool(_members(row)) for row in rows.elts):
            yield _edit(source, rows, f"({', '.join(full)},)")


def in_full_lines(items: Iterable[str]) -> list[str]:
    """Return rows of a long tuple, each with as many of its elements as a line holds."""
    lines: list[list[str]] = [[]]
    for item in items:
        if lines[-1] and len(f"    *({', '.join([*lines[-1], item])}),") > _LINE_LENGTH:
            lines.append([])
        lines[-1].append(item)
    return [f"*({', '.join(line)})" if line[1:] else line[0] for line in lines]


def _in_brackets(source: Source, node: ast.expr) -> Iterator[Edit]:
    """Take brackets away from a name or an operand, and from what stands in two pairs of them."""
    needs_own = ast.GeneratorExp | ast.NamedExpr | ast.Starred | ast.Yield | ast.YieldFrom
    is_twice = source.stands_between(node, "((", "))") and not isinstance(node, needs_own)
    found = [node] if is_twice or isinstance(node, ast.Name | ast.Attribute | ast.Call) else []
    if isinstance(node, ast.BoolOp):
        compared = [each for each in node.values if isinstance(each, ast.Compare)]
        found += [each for each in compared if "\n" not in source.text_of(each)]
    for each in found:
        if around := source.brackets_around(each):
            yield Edit(around[0], source.start(each), "")
            yield Edit(source.end(each), around[1], "")


def without_other_names(text: str) -> str:
    """Return a source in which what is but another name for a constant has that one's."""
    constant = re.compile(r"^([A-Z_0-9]+) = ([A-Z][A-Z_0-9]*)\n", re.MULTILINE)
    found = dict(constant.findall(text))
    for name, own in found.items():  # in format strings
        text = text.replace(f"{{{name}}}", f"{{{own}}}")
    names = {name: own for name, own in found.items() if f"{{{name}" not in text}
    rest = constant.sub(lambda it: "" if it[1] in names else it[0], text)
    return by_blocks(rest, partial(_renamed, names=names))


def _renamed(block: str, names: Mapping[str, str]) -> str:
    source = source_of(block)
    named = (node for node in source.nodes if isinstance(node, ast.Name) and node.id in names)
    return source.edited(_edit(source, node, names[node.id]) for node in named)


def _returns(source: Source, body: list[ast.stmt]) -> Iterator[Edit]:
    """Return a value at once that is only named to be returned."""
    for node, following in itertools.pairwise(body):
        match node, following:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Return(value=ast.Name(id=returned)):
                if name == returned:
                    yield Edit(source.start(node), source.start(node.value), "return ")
                    yield Edit(*source.lines_of([following]), "")
