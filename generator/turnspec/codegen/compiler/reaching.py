"""Drops what nothing reaches: functions, classes, methods, constants and imports.

What is used is told in one set: names as they are, attributes with a point before them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from turnspec.codegen.compiler.edits import Edit, Source, blocks_of, source_of, walked, words_of
from turnspec.codegen.compiler.storing import loaded_in, unread_stores


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a source, what binds it, and what it uses; of a class each method is one."""

    names: Set[str]  # any of these reaches it; none: it is always reached
    method: str  # so has this attribute to be, if there is one
    uses: Set[str]


def reached(
    text: str, public: Set[str], pure: frozenset[str] = frozenset(), beside: str = ""
) -> str:
    """Return a source without what neither ``public`` names and attributes need nor what is beside.

    ``pure`` are methods that do nothing but give a value, and ``beside`` is another source.
    """
    used = public | _uses_of(beside)
    while True:
        blocks = blocks_of(text)
        found = _what_is_reached([part for block in blocks for part in _parts(block)], used)
        # A block looks for no names but its own.
        texts = [_without_unreached(it, frozenset(found & _in(it)), pure) for it in blocks]
        if texts == blocks:
            return text
        text = "".join(texts)


def _what_is_reached(waiting: Sequence[_Part], used: Set[str]) -> Set[str]:
    found, before = set(used), -1
    while before != len(found):
        before, left = len(found), []
        for part in waiting:
            is_named = not part.names or not found.isdisjoint(part.names)
            if is_named and (not part.method or part.method in found):
                found |= part.uses
            else:
                left.append(part)
        waiting = left
    return found


@lru_cache(10_000)
def _in(text: str) -> Set[str]:
    """Return the names and attributes that a text could have."""
    return words_of(text) | {f".{word}" for word in words_of(text)}


@lru_cache(100)
def _uses_of(text: str) -> Set[str]:
    return _used(ast.parse(text).body)


def _used(tops: Iterable[ast.AST]) -> Set[str]:
    """Return the names and attributes that nodes read."""
    found: set[str] = set()
    for top in tops:
        nodes = walked(top)
        own = _names_of(nodes) if isinstance(top, ast.FunctionDef) else set()
        for node in nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Load()) if name not in own:
                    found.add(name)
                case ast.Attribute(attr=name, ctx=ast.Load()):
                    found.add(f".{name}")
                case ast.Assign(targets=[*_, ast.Name("__match_args__")], value=fields):
                    # The fields of a class, which anybody may read.
                    found |= {f".{name}" for name in ast.literal_eval(fields)}
    return found


def _names_of(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names that a function with these nodes has for itself."""
    names = [node for node in nodes if isinstance(node, ast.Name)]
    stored = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return stored | {node.arg for node in nodes if isinstance(node, ast.arg)}


@lru_cache(10_000)
def _parts(text: str) -> Sequence[_Part]:
    """Return the parts of a source, but for imports."""
    return [part for node in source_of(text).tree.body for part in _parts_of(node)]


def _parts_of(node: ast.stmt) -> Iterator[_Part]:
    names = bound_names(node)
    if isinstance(node, ast.If):  # what only a type checker reads
        yield _Part(set(), "", {"TYPE_CHECKING"})
        for inner in node.body:
            yield from _parts_of(inner)
    elif isinstance(node, ast.ClassDef):
        yield _Part(names, "", _used([*node.bases, *node.decorator_list]))
        for inner in node.body:
            yield _Part(names, _method(inner), _used([inner]))
    elif not isinstance(node, ast.Import | ast.ImportFrom):
        yield _Part(names, "", _used([node]))


def _method(node: ast.stmt) -> str:
    """Return the attribute that reaches a member of a class; "" if the class alone does."""
    if isinstance(node, ast.FunctionDef) and not _is_special(node.name):
        return f".{node.name}"
    return ""


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def without_unused_imports(text: str) -> str:
    """Return a module that imports nothing but what its statements use."""
    source, found = Source(text), used_names(text)
    nodes = (x for x in walked(source.tree) if isinstance(x, ast.Import | ast.ImportFrom))
    return source.edited(edit for node in nodes for edit in _imports(source, node, found))


def used_names(text: str) -> set[str]:
    """Return the names of a module that the statements in it use."""
    return {name for part in _parts(text) for name in part.uses if name[0] != "."}


def bound_names(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module binds."""
    match node:
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {alias.asname or alias.name for alias in aliases}
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            stored = (inner for target in targets for inner in walked(target))
            return {inner.id for inner in stored if isinstance(inner, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            return {name}
    return set()


@lru_cache(10_000)
def _without_unreached(text: str, found: frozenset[str], pure: frozenset[str]) -> str:
    source = source_of(text)
    return source.edited(_edits(source, source.tree.body, found, pure))


def _edits(source: Source, body: list[ast.stmt], found: Set[str], pure: Set[str]) -> Iterator[Edit]:
    for node in body:
        names = bound_names(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imports(source, node, found)
        elif isinstance(node, ast.If):
            yield from _edits(source, node.body, found, pure)
        elif names and not names & found:
            yield Edit(*source.lines_of([node]), "")
        elif isinstance(node, ast.ClassDef):
            yield from _members(source, node, found)
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, ast.FunctionDef):
                read = loaded_in(walked(inner)) | {name for name in found if name[0] == "."}
                yield from unread_stores(source, inner, read, pure)


def _imports(source: Source, node: ast.Import | ast.ImportFrom, found: Set[str]) -> Iterator[Edit]:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return
    kept = [alias for alias in node.names if (alias.asname or alias.name) in found]
    if len(kept) == len(node.names):
        return
    start, end = source.lines_of([node])
    names = ", ".join(alias.name for alias in kept)
    module = node.module if isinstance(node, ast.ImportFrom) else ""
    head = " " * node.col_offset + (f"from {module} import " if module else "import ")
    yield Edit(start, end, f"{head}{names}\n" if kept else "")


def _members(source: Source, node: ast.ClassDef, found: Set[str]) -> Iterator[Edit]:
    """Drop methods that nobody calls, and members that nobody reads."""
    for inner in node.body:
        match inner:
            case ast.FunctionDef() if (method := _method(inner)) and method not in found:
                yield Edit(*source.lines_of([inner]), "")
            case ast.Assign(targets=[ast.Name(id=name)]) if len(node.body) > 1:
                if not _is_special(name) and f".{name}" not in found:
                    yield Edit(*source.lines_of([inner]), "")
