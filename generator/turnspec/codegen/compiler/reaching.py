"""Drops what nothing reaches: functions, classes, methods, slots, constants and imports."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field

from turnspec.codegen.compiler.edits import Edit, Source

_Definition = ast.FunctionDef | ast.ClassDef


@dataclass(slots=True)
class _Reached:
    """The names and the attributes that what is reached uses."""

    names: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)

    def add(self, nodes: Iterable[ast.AST]) -> None:
        for top in nodes:
            for node in ast.walk(top):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    self.names.add(node.id)
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    self.attributes.add(node.attr)
                elif isinstance(node, ast.Assign) and _are_fields(node):
                    self.attributes |= set(ast.literal_eval(node.value))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    self.names |= _names_in(node.value)

    def size(self) -> int:
        return len(self.names) + len(self.attributes)


def _are_fields(node: ast.Assign) -> bool:
    """Tell whether a statement names the fields of a class, which anybody may read."""
    return any(ast.unparse(target) == "__match_args__" for target in node.targets)


def _names_in(text: str) -> set[str]:
    """Return the names in a type that is written as a text."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def reached(text: str, public: Set[str], attributes: Set[str]) -> str:
    """Return a source without what neither ``public`` names nor public ``attributes`` need."""
    while True:
        source = Source(text)
        found = _what_is_reached(source.tree, public, attributes)
        edits = list(_edits(source, found, public))
        if not edits:
            return text
        text = source.edited(edits)


def _what_is_reached(tree: ast.Module, public: Set[str], attributes: Set[str]) -> _Reached:
    found = _Reached(set(public), set(attributes))
    size = -1
    while size != found.size():
        size = found.size()
        for node in tree.body:
            if isinstance(node, ast.If):  # what only a type checker imports
                found.add(
                    inner
                    for inner in node.body
                    if not isinstance(inner, ast.Import | ast.ImportFrom)
                    and found.names & _bound(inner)
                )
                found.names.add("TYPE_CHECKING")
            elif not isinstance(node, ast.Import | ast.ImportFrom) and (
                found.names & _bound(node) or not _bound(node)
            ):
                found.add(_parts(node, found))
    return found


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            stored = (inner for target in targets for inner in ast.walk(target))
            return {inner.id for inner in stored if isinstance(inner, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            return {name}
    return set()


def _parts(node: ast.stmt, found: _Reached) -> Iterator[ast.AST]:
    """Yield what of a statement is needed: of a class the methods that somebody calls."""
    if not isinstance(node, ast.ClassDef):
        yield node
        return
    yield from (*node.bases, *node.decorator_list)
    for inner in node.body:
        name = inner.name if isinstance(inner, ast.FunctionDef) else ""
        if not name or _is_special(name) or name in found.attributes:
            yield inner


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _edits(source: Source, found: _Reached, public: Set[str]) -> Iterator[Edit]:
    for node in source.tree.body:
        names = _bound(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imports(source, node, found)
        elif isinstance(node, ast.If):
            yield from _typing(source, node, found)
        elif names and not names & (found.names | public):
            yield Edit(*source.lines_of([node]), "")
        elif isinstance(node, ast.ClassDef):
            yield from _members(source, node, found)
    for inner in ast.walk(source.tree):
        if isinstance(inner, ast.FunctionDef):
            yield from _stores(source, inner, found, _loaded(inner))


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
        elif not _bound(inner) & found.names:
            yield Edit(*source.lines_of([inner]), "")


def _members(source: Source, node: ast.ClassDef, found: _Reached) -> Iterator[Edit]:
    """Drop methods that nobody calls, members that nobody reads, and slots of such."""
    for inner in node.body:
        name = inner.name if isinstance(inner, ast.FunctionDef) else ""
        if name and not _is_special(name) and name not in found.attributes:
            yield Edit(*source.lines_of([inner]), "")
        if not isinstance(inner, ast.Assign) or len(inner.targets) > 1:
            continue
        name = ast.unparse(inner.targets[0])
        if name == "__slots__":
            yield from _slots(source, inner.value, found)
        elif not _is_special(name) and name not in found.attributes and len(node.body) > 1:
            yield Edit(*source.lines_of([inner]), "")


def _slots(source: Source, value: ast.expr, found: _Reached) -> Iterator[Edit]:
    if not isinstance(value, ast.Tuple):
        return
    names = [ast.literal_eval(name) for name in value.elts]
    kept = [name for name in names if name in found.attributes]
    if len(kept) < len(names):
        text = ", ".join(f'"{name}"' for name in kept)
        yield Edit(source.start(value), source.end(value), f"({text},)" if kept else "()")


def _loaded(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function reads."""
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Load)}


def _stores(
    source: Source, function: ast.FunctionDef, found: _Reached, loaded: set[str]
) -> Iterator[Edit]:
    """Drop what is put where nobody reads it, if nothing else comes of it."""
    for node in ast.walk(function):
        for name in ("body", "orelse"):
            for statement in _statements(node, name):
                yield from _pairs(source, statement, found)
                if _is_unread(statement, found, loaded):
                    siblings = _statements(node, name)
                    start, end = source.lines_of([statement])
                    filler = " " * statement.col_offset + "pass\n"
                    yield Edit(start, end, filler if len(siblings) == 1 else "")


def _pairs(source: Source, node: ast.stmt, found: _Reached) -> Iterator[Edit]:
    """Leave out of `self.a, self.b = x, y` what nobody reads."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pairs = list(zip(targets, values, strict=True))
        case _:
            return
    kept = [
        (target, value)
        for target, value in pairs
        if not isinstance(target, ast.Attribute)
        or target.attr in found.attributes
        or not _is_pure(value)
    ]
    if kept and len(kept) < len(pairs):
        left, right = (", ".join(map(source.text_of, side)) for side in zip(*kept, strict=True))
        yield Edit(source.start(node), source.end(node), f"{left} = {right}")


def _statements(node: ast.AST, name: str) -> list[ast.stmt]:
    found = getattr(node, name, None)
    return found if isinstance(found, list) else []


def _is_unread(node: ast.stmt, found: _Reached, loaded: set[str]) -> bool:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple() as value):
            names = [target.attr for target in targets if isinstance(target, ast.Attribute)]
            unread = len(names) == len(targets) and not found.attributes & set(names)
            return unread and _is_pure(value)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name not in loaded and _is_pure(value)
        case ast.Assign(targets=[ast.Attribute(attr=name)], value=value):
            return name not in found.attributes and _is_pure(value)
        case ast.AnnAssign(target=ast.Attribute(attr=name), value=ast.expr() as value):
            return name not in found.attributes and _is_pure(value)
    return False


def _is_pure(node: ast.expr) -> bool:
    """Tell whether an expression does nothing but give a value."""
    quiet = ast.Constant | ast.Name | ast.Attribute | ast.List | ast.Dict | ast.Tuple | ast.Load
    compared = ast.Compare | ast.cmpop | ast.BoolOp | ast.boolop
    return all(isinstance(inner, quiet | compared) for inner in ast.walk(node))
