"""Drops what nothing reaches: functions, classes, methods, constants and imports."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache

from turnspec.codegen.compiler.edits import Edit, Source, blocks_of, source_of, walked, words_of
from turnspec.codegen.compiler.storing import loaded_in, unread_stores


@dataclass(slots=True)
class _Reached:
    """The names and the attributes that what is reached uses."""

    names: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)

    def add(self, other: _Reached) -> None:
        self.names |= other.names
        self.attributes |= other.attributes

    def size(self) -> int:
        return len(self.names) + len(self.attributes)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What a function stores: attributes, and names for itself; and the names that it reads."""

    attributes: Set[str]
    names: Set[str]
    loaded: Set[str]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a source, what binds it, and what it uses; of a class each method is one."""

    names: frozenset[str]  # any of these reaches it; none: it is always reached
    method: str  # so does this attribute
    uses: _Reached


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of a source, taken apart."""

    source: Source
    parts: Sequence[_Part]
    functions: Sequence[tuple[ast.FunctionDef, _Stored]]


@lru_cache(10_000)
def _block(text: str) -> _Block:
    source = source_of(text)
    body = source.tree.body
    functions = [(function, _stored_in(function)) for function in _functions(body)]
    return _Block(source, list(_parts(body)), functions)


@lru_cache(100)
def _uses_of(text: str) -> _Reached:
    return _used(ast.parse(text).body)


def _stored_in(function: ast.FunctionDef) -> _Stored:
    nodes = walked(function)
    stored = [node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)]
    names = {node.id for node in stored if isinstance(node, ast.Name)}
    attributes = {node.attr for node in stored if isinstance(node, ast.Attribute)}
    return _Stored(attributes, names, loaded_in(nodes))


def _used(tops: Iterable[ast.AST]) -> _Reached:
    """Return the names and attributes that nodes read."""
    found = _Reached()
    for top in tops:
        nodes = walked(top)
        inner = _names_of(nodes) if isinstance(top, ast.FunctionDef) else set()
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.names |= {node.id} - inner
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.attributes.add(node.attr)
            elif isinstance(node, ast.Assign) and _are_fields(node):
                found.attributes |= set(ast.literal_eval(node.value))
    return found


def _names_of(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that a function with these nodes has for itself."""
    stored = (inner for inner in nodes if isinstance(inner, ast.Name | ast.arg))
    return {
        inner.arg if isinstance(inner, ast.arg) else inner.id
        for inner in stored
        if isinstance(inner, ast.arg) or isinstance(inner.ctx, ast.Store)
    }


def _are_fields(node: ast.Assign) -> bool:
    """Tell whether a statement names the fields of a class, which anybody may read."""
    return any(ast.unparse(target) == "__match_args__" for target in node.targets)


def reached(
    text: str,
    public: Set[str],
    attributes: Set[str],
    pure: Set[str] = frozenset(),
    kept_from: str = "",
) -> str:
    """Return a source without what neither ``public`` names nor public ``attributes`` need.

    ``pure`` are methods that do nothing but give a value. What comes after the line ``kept_from``
    stays as it is.
    """
    own, line, kept = text.partition(kept_from) if kept_from else (text, "", "")
    while True:
        blocks = [_block(block) for block in blocks_of(own)]
        found = _what_is_reached(blocks, _uses_of(kept), public, attributes)
        texts = [_without(block.source.text, found, public, pure) for block in blocks]
        if texts == [block.source.text for block in blocks]:
            return own + line + kept
        own = "".join(texts)


def _without(text: str, found: _Reached, public: Set[str], pure: Set[str]) -> str:
    """Return a block without what isn't reached; it looks for no names but its own."""
    words = words_of(text)
    named = frozenset(words & found.names), frozenset(words & found.attributes)
    return _edited(text, *named, frozenset(words & public), frozenset(pure))


@lru_cache(10_000)
def _edited(
    text: str,
    names: frozenset[str],
    attributes: frozenset[str],
    public: frozenset[str],
    pure: frozenset[str],
) -> str:
    block = _block(text)
    found = _Reached(set(names), set(attributes))
    return block.source.edited(_edits(block, found, public, pure))


def _what_is_reached(
    blocks: Iterable[_Block], kept: _Reached, public: Set[str], attributes: Set[str]
) -> _Reached:
    found = _Reached(set(public), set(attributes))
    found.add(kept)
    waiting = [part for block in blocks for part in block.parts]
    size = -1
    while size != found.size():
        size = found.size()
        left = []
        for part in waiting:
            if (not part.names or part.names & found.names) and (
                not part.method or part.method in found.attributes
            ):
                found.add(part.uses)
            else:
                left.append(part)
        waiting = left
    return found


def _parts(body: Iterable[ast.stmt]) -> Iterator[_Part]:
    """Yield the parts of a source, but for imports."""
    for node in body:
        names = frozenset(bound_names(node))
        if isinstance(node, ast.If):  # what only a type checker reads
            yield _Part(frozenset(), "", _Reached({"TYPE_CHECKING"}))
            for inner in node.body:
                if not isinstance(inner, ast.Import | ast.ImportFrom):
                    yield _Part(frozenset(bound_names(inner)), "", _used([inner]))
        elif isinstance(node, ast.ClassDef):
            yield _Part(names, "", _used([*node.bases, *node.decorator_list]))
            for inner in node.body:
                name = inner.name if isinstance(inner, ast.FunctionDef) else ""
                yield _Part(names, "" if _is_special(name) else name, _used([inner]))
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            yield _Part(names, "", _used([node]))


def without_unused_imports(text: str) -> str:
    """Return a module that imports nothing but what its statements use."""
    source, found = Source(text), _Reached(used_names(text))
    nodes = (x for x in walked(source.tree) if isinstance(x, ast.Import | ast.ImportFrom))
    return source.edited(edit for node in nodes for edit in _imports(source, node, found))


def used_names(text: str) -> set[str]:
    """Return the names of a module that the statements in it use."""
    return {name for part in _parts(ast.parse(text).body) for name in part.uses.names}


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


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _edits(block: _Block, found: _Reached, public: Set[str], pure: Set[str]) -> Iterator[Edit]:
    source = block.source
    for node in source.tree.body:
        names = bound_names(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imports(source, node, found)
        elif isinstance(node, ast.If):
            yield from _typing(source, node, found)
        elif names and not names & (found.names | public):
            yield Edit(*source.lines_of([node]), "")
        elif isinstance(node, ast.ClassDef):
            yield from _members(source, node, found)
    for function, stored in block.functions:
        if not stored.names <= stored.loaded or not stored.attributes <= found.attributes:
            yield from unread_stores(source, function, found.attributes, stored.loaded, pure)


def _functions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body)
        elif isinstance(node, ast.FunctionDef):
            yield node


def _imports(source: Source, node: ast.Import | ast.ImportFrom, found: _Reached) -> Iterator[Edit]:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return
    kept = [alias for alias in node.names if (alias.asname or alias.name) in found.names]
    if len(kept) == len(node.names):
        return
    start, end = source.lines_of([node])
    names = ", ".join(alias.name for alias in kept)
    module = node.module if isinstance(node, ast.ImportFrom) else ""
    head = " " * node.col_offset + (f"from {module} import " if module else "import ")
    yield Edit(start, end, f"{head}{names}\n" if kept else "")


def _typing(source: Source, node: ast.If, found: _Reached) -> Iterator[Edit]:
    for inner in node.body:
        if isinstance(inner, ast.Import | ast.ImportFrom):
            yield from _imports(source, inner, found)
        elif not bound_names(inner) & found.names:
            yield Edit(*source.lines_of([inner]), "")


def _members(source: Source, node: ast.ClassDef, found: _Reached) -> Iterator[Edit]:
    """Drop methods that nobody calls, and members that nobody reads."""
    for inner in node.body:
        name = inner.name if isinstance(inner, ast.FunctionDef) else ""
        if name and not _is_special(name) and name not in found.attributes:
            yield Edit(*source.lines_of([inner]), "")
        if not isinstance(inner, ast.Assign) or len(inner.targets) > 1:
            continue
        name = ast.unparse(inner.targets[0])
        if not _is_special(name) and name not in found.attributes and len(node.body) > 1:
            yield Edit(*source.lines_of([inner]), "")
