"""Where a function's names are declared: in the innermost block that holds all that uses them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from turnspec.codegen.printer.syntax import blocks_of, names_in, own_parts

#: A statement by the blocks around it: each with the place in it.
_Path = tuple[tuple[int, int], ...]
_LOOP = -1  # a place for what a loop itself declares


@dataclass(slots=True)
class Scope:
    """The names of a function."""

    #: Before a statement, and by it; of a loop, by the loop.
    before: dict[int, list[str]] = field(default_factory=dict)
    by: dict[int, set[str]] = field(default_factory=dict)
    stores: Counter[str] = field(default_factory=Counter)

    def is_constant(self, name: str) -> bool:
        """Tell whether a name is given a value once."""
        return self.stores[name] == 1


def scope_of(body: list[ast.stmt], parameters: set[str]) -> Scope:
    """Return where the names of a function are declared."""
    scope = Scope()
    places: dict[str, list[_Path]] = {}
    for path, statement, name in _uses(body, ()):
        places.setdefault(name.id, []).append(path)
        if isinstance(name.ctx, ast.Store):
            scope.stores[name.id] += 2 if isinstance(statement, ast.AugAssign) else 1
    tops = {(id(block), at): each for block, at, each in _all(body)}
    for own, paths in places.items():
        if scope.stores[own] and own not in parameters and own != "_":
            _declare(scope, own, paths, tops)
    return scope


def _all(body: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int, ast.stmt]]:
    for at, each in enumerate(body):
        yield body, at, each
        for block in blocks_of(each):
            yield from _all(block)


def _uses(body: list[ast.stmt], path: _Path) -> Iterator[tuple[_Path, ast.stmt, ast.Name]]:
    """Yield all names that statements use, what is read before what is stored."""
    for at, each in enumerate(body):
        here = (*path, (id(body), at))
        found = [name for part in own_parts(each) for name in names_in(part)]
        for name in sorted(found, key=lambda name: isinstance(name.ctx, ast.Store)):
            path_of = here
            if isinstance(each, ast.For) and isinstance(name.ctx, ast.Store):
                path_of = (*here, (id(each.body), _LOOP))
            yield path_of, each, name
        for block in blocks_of(each):
            yield from _uses(block, here)


def _declare(
    scope: Scope, name: str, paths: list[_Path], tops: dict[tuple[int, int], ast.stmt]
) -> None:
    first, common = paths[0], len(paths[0])
    for path in paths:
        same = 0
        while same < min(common, len(path)) and path[same][0] == first[same][0]:
            same += 1
            if path[same - 1] != first[same - 1]:
                break
        common = min(common, same)
    block, at = first[common - 1]
    if at == _LOOP:
        loop = tops[first[common - 2]]
        scope.by.setdefault(id(loop), set()).add(name)
        return
    statement = tops[block, at]
    if len(first) == common and name in _targets(statement):
        scope.by.setdefault(id(statement), set()).add(name)
    else:
        scope.before.setdefault(id(statement), []).append(name)


def _targets(node: ast.stmt) -> set[str]:
    """Return the names that a statement is there to declare."""
    match node:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            found = (each for each in ast.walk(target) if isinstance(each, ast.Name))
            return {each.id for each in found if isinstance(each.ctx, ast.Store)}
    return set()
