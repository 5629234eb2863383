"""Functions: their parameters, and the kinds of their names."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from turnspec.codegen.printer.blocks import Blocks
from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    NUM,
    STR,
    Kind,
    Refused,
    element_of,
    merged,
)
from turnspec.codegen.printer.names import (
    Signature,
    camel,
)
from turnspec.codegen.printer.scopes import scope_of
from turnspec.codegen.printer.syntax import simplified


class Functions(Blocks):
    """Prints functions."""

    reserved: Collection[str] = ()  # names that something else has

    def parameters(self, signature: Signature, body: list[ast.stmt]) -> list[str]:
        """Return the parameters of a function; what it doesn't use has a mark."""
        found = []
        used = {each.id for part in body for each in ast.walk(part) if isinstance(each, ast.Name)}
        for name, kind in signature.kinds.items():
            default = signature.defaults.get(name)
            given = f" = {self.text(default, kind)}" if default else ""
            is_shown = default is not None and kind in (STR, NUM, BOOL)
            note = "" if is_shown else self.note(kind)
            found.append(f"{'' if name in used else '_'}{camel(name)}{note}{given}")
        return found

    def function(self, head: str, signature: Signature, body: list[ast.stmt], end: int) -> None:
        """Put a function."""
        outer = self.kinds
        self.kinds = {**outer, **signature.kinds}
        body = simplified(body)
        self.returns = signature.returns
        if signature.returns.name == "reading":
            self.returns = signature.returns.of[0]
        self.scope = scope_of(body, set(signature.kinds))
        self.declared = self._declared(body, signature)
        self.check(body[0] if body else None, self.declared)
        self.kinds = {**outer, **self.declared}
        self.put(f"{head} {{")
        self.block(body)
        self.depth += 1
        self.put_comments(end + 1)
        self.depth -= 1
        self.put("}")
        self.kinds = outer

    def check(self, node: ast.AST | None, names: Iterable[str]) -> None:
        """See that no name is one of the runtime's.

        Raises:
            Refused: one is.
        """
        for name in names:
            if camel(name) in self.reserved:
                raise Refused(node or ast.Pass(), f"name {name}, which the runtime has")

    def _declared(self, body: list[ast.stmt], signature: Signature) -> dict[str, Kind]:
        """Return the kinds of a function's names: as annotated, or as all that they are given."""
        found = dict(signature.kinds)
        annotated = set(signature.kinds)
        nodes = sorted(_statements(body), key=lambda node: (node.lineno, node.col_offset))
        for node in nodes:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = self.names.annotations.kind(node.annotation)
                annotated.add(node.target.id)
        outer = self.kinds
        for _ in range(2):  # as a loop may read what it stores behind that
            for node in nodes:
                self.kinds = {**outer, **found}
                with suppress(Refused):  # as what conditions say isn't known yet
                    for name, kind in self._stores(node):
                        if name not in annotated:
                            found[name] = merged(found, name, kind)
        self.kinds = outer
        return found

    def _stores(self, node: ast.stmt | ast.NamedExpr) -> Iterator[tuple[str, Kind]]:
        before = dict(self.kinds)
        match node:
            case ast.Assign(targets=[target], value=value):
                self.bind(target, self.value(value, self._kind_of(target)).kind)
            case ast.For(target=target, iter=many):
                self.bind(target, element_of(self.walked(many).kind))
            case ast.NamedExpr(target=target, value=value):
                self.bind(target, self.value(value).kind)
            case _:
                return
        for name in self._stored(target):
            yield name, self.kinds[name]
        self.kinds = before

    def _kind_of(self, target: ast.expr) -> Kind:
        return self.kinds.get(target.id, ANY) if isinstance(target, ast.Name) else ANY


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt | ast.NamedExpr]:
    for each in ast.walk(ast.Module(body, [])):
        if isinstance(each, ast.Assign | ast.AnnAssign | ast.For | ast.NamedExpr):
            yield each
