"""Leaves out parameters that a function doesn't read, and what its callers give for them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from turnspec.codegen.compiler.edits import Edit, Source, blocks_of, source_of, walked
from turnspec.codegen.compiler.storing import is_pure, loaded_in


@dataclass(frozen=True, slots=True)
class _Block:
    """A block: its functions and its calls by name (a class's is its constructor's), all names."""

    source: Source
    functions: Sequence[tuple[str, ast.FunctionDef]]
    calls: Sequence[tuple[str, ast.Call]]
    called: Counter[str]  # how often
    named: Counter[str]
    unread: Mapping[str, tuple[int, str]]  # of functions that don't read a parameter, the first


def without_unread_parameters(text: str, others: str) -> str:
    """Return a source whose functions take no more than they read.

    A function stays as it is where it is handed on, and where another one has its name. So it does
    where ``others``, which is another part of the module, gives what it doesn't read.
    """
    behind = [_block(block) for block in blocks_of(others)]
    while True:
        blocks = [_block(block) for block in blocks_of(text)]
        unread = _unread_in(blocks, behind)
        if not unread:
            return text
        text = "".join(block.source.edited(_edits(block, unread)) for block in blocks)


def _unread_in(blocks: Sequence[_Block], others: Sequence[_Block]) -> Mapping[str, tuple[int, str]]:
    """Return by name the functions that can do without a parameter, with the first of these."""
    kept = {name for block in others for name, _ in block.functions}
    kept |= {name for block in others for name in block.named - block.called}
    functions = [found for block in blocks for found in block.functions]
    defined = Counter(name for name, _ in functions)
    called, named = Counter[str](), Counter[str]()
    for block in blocks:
        called.update(block.called)
        named.update(block.named)
    unread = {
        name: found
        for block in blocks
        for name, found in block.unread.items()
        if defined[name] == 1 and name not in kept
        if called[name] == named[name] > 0
    }
    made = {name for name, function in functions if function.name == "__init__"}
    needed = {
        name
        for block in blocks
        for name, call in block.calls
        if name in unread
        if _is_open(call) or not all(is_pure(each, made) for each in _given(call, *unread[name]))
    }
    needed |= {
        name
        for block in others
        for name, call in block.calls
        if name in unread and (_is_open(call) or _given(call, *unread[name]))
    }
    return {name: found for name, found in unread.items() if name not in needed}


@lru_cache(10_000)
def _block(text: str) -> _Block:
    source = source_of(text)
    functions: list[tuple[str, ast.FunctionDef]] = []
    for node in source.tree.body:
        for inner in [node, *node.body] if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, ast.FunctionDef) and not inner.decorator_list:
                made = node.name if isinstance(node, ast.ClassDef) else ""
                functions.append((made if inner.name == "__init__" else inner.name, inner))
    nodes = list(_executed(source.tree))
    calls = [(_name(node.func), node) for node in nodes if isinstance(node, ast.Call)]
    called, named = Counter(name for name, _ in calls), Counter(map(_name, nodes))
    unread = {name: found for name, function in functions if (found := _unread(function))}
    return _Block(source, functions, calls, called, named, unread)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes within one, but for types."""
    for field in node._fields:
        value = getattr(node, field, None)
        if field not in ("annotation", "returns", "ctx"):
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, ast.AST):
                    yield inner
                    yield from _executed(inner)


def _name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _unread(function: ast.FunctionDef) -> tuple[int, str] | None:
    """Return the first parameter that a function doesn't read: its place among those, its name."""
    names = [parameter.arg for parameter in function.args.args if parameter.arg != "self"]
    read = loaded_in(walked(function))
    is_open = function.args.kwonlyargs or "locals" in read
    found = (each for each in enumerate(names) if each[1] not in read)
    return None if is_open else next(found, None)


def _given(call: ast.Call, place: int, name: str) -> list[ast.expr]:
    """Return what a call gives for a parameter."""
    by_name = [each.value for each in call.keywords if each.arg == name]
    return [*call.args[place : place + 1], *by_name]


def _is_open(call: ast.Call) -> bool:
    """Tell whether a call has what stands for any parameters."""
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    return starred or any(each.arg is None for each in call.keywords)


def _edits(block: _Block, unread: Mapping[str, tuple[int, str]]) -> Iterator[Edit]:
    source = block.source
    for name, function in block.functions:
        if name in unread:
            taken, defaults = function.args.args, function.args.defaults
            last: list[ast.arg | ast.expr] = [*taken[: len(taken) - len(defaults)], *defaults]
            ranges = [(source.start(a), source.end(b)) for a, b in zip(taken, last, strict=True)]
            yield _without(ranges, [each.arg for each in taken].index(unread[name][1]))
    for name, call in block.calls:
        if name in unread and (dropped := _given(call, *unread[name])):
            given = [*call.args, *(each.value for each in call.keywords)]
            first: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
            ranges = [(source.start(a), source.end(b)) for a, b in zip(first, given, strict=True)]
            yield _without(ranges, given.index(dropped[0]))


def _without(ranges: Sequence[tuple[int, int]], at: int) -> Edit:
    """Return how one of some things in a row, with commas between, is taken out."""
    if at + 1 < len(ranges):
        return Edit(ranges[at][0], ranges[at + 1][0], "")
    return Edit(ranges[at - 1][1] if at else ranges[at][0], ranges[at][1], "")
