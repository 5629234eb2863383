"""Where a function's names are declared: in the innermost block that holds all that uses them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator

from turnspec.codegen.compiler.edits import bodies

_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


class Scope:
    """The names of a function, by what declares them."""

    def __init__(self, body: list[ast.stmt], parameters: Collection[str]) -> None:
        #: Before a statement, and by it; of a loop, by the loop.
        self.before: dict[int, list[str]] = {}
        self.by: dict[int, set[str]] = {}
        self.stores: Counter[str] = Counter()
        self.added: Counter[str] = Counter()
        #: The names that a statement uses itself, and with its blocks; in order.
        self._own: dict[int, list[ast.Name]] = {}
        self._all: dict[int, dict[str, None]] = {}
        for name in self._uses(body):
            if self.stores[name] and name not in parameters and name != "_":
                self._declare(name, body)

    def is_constant(self, name: str, kind: str) -> bool:
        """Tell whether a name is given a value once, which may be one that changes."""
        added = 0 if kind in ("list", "set", "map") else self.added[name]
        return self.stores[name] + added == 1

    def _uses(self, body: list[ast.stmt]) -> dict[str, None]:
        """Note all names that statements use, what is read before what is stored."""
        used: dict[str, None] = {}
        for each in body:
            names = [name for part in own_parts(each) for name in names_in(part)]
            names.sort(key=lambda name: isinstance(name.ctx, ast.Store))
            stores = self.added if isinstance(each, ast.AugAssign) else self.stores
            stores.update(name.id for name in names if isinstance(name.ctx, ast.Store))
            found = dict.fromkeys(name.id for name in names)
            for block in bodies(each):
                found |= self._uses(block)
            self._own[id(each)], self._all[id(each)] = names, found
            used |= found
        return used

    def _declare(self, name: str, body: list[ast.stmt]) -> None:
        first, *others = [each for each in body if name in self._all[id(each)]]
        own = [type(each.ctx) for each in self._own[id(first)] if each.id == name]
        blocks = [it for it in bodies(first) if any(name in self._all[id(each)] for each in it)]
        if not others and not own and len(blocks) == 1:
            self._declare(name, blocks[0])
            return
        is_loop = isinstance(first, ast.For) and not others and own == [ast.Store]
        if is_loop or (isinstance(first, ast.Assign) and ast.Store in own):
            self.by.setdefault(id(first), set()).add(name)
        else:
            self.before.setdefault(id(first), []).append(name)


def own_parts(node: ast.stmt) -> list[ast.AST]:
    """Return what a statement consists of, without its blocks."""
    if not any(True for _ in bodies(node)):
        return [node]
    return [getattr(node, name) for name in ("target", "iter", "test") if hasattr(node, name)]


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
