"""Functions: their parameters, and the kinds of their names."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from turnspec.codegen.printer.blocks import Blocks
from turnspec.codegen.printer.kinds import ANY, BOOL, NUM, STR, Kind, Refused, union
from turnspec.codegen.printer.names import Signature, camel
from turnspec.codegen.printer.scopes import Scope
from turnspec.codegen.printer.statements import stored

_STORING = (ast.Assign, ast.AnnAssign, ast.For, ast.NamedExpr)


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
            note = "" if default and kind in (STR, NUM, BOOL) else self.note(kind)
            found.append(f"{'' if name in used else '_'}{camel(name)}{note}{given}")
        return found

    def function(self, head: str, signature: Signature, body: list[ast.stmt], end: int) -> None:
        """Put a function."""
        self.returns = signature.returns
        if signature.returns.name == "reading":
            self.returns = signature.returns.of[0]
        self.scope = Scope(body, signature.kinds)
        self.declared = self.kinds_in(body, signature)
        self.check(body[0] if body else None, self.declared)
        with self.knowing(self.declared):
            self.put(f"{head} {{")
            self.block(body, "")
            self.depth += 1
            self.put_comments(end + 1)
            self.depth -= 1
            self.put("}")

    def check(self, node: ast.AST | None, names: Iterable[str]) -> None:
        """See that no name is one of the runtime's.

        Raises:
            Refused: one is.
        """
        for name in names:
            if camel(name) in self.reserved:
                raise Refused(node or ast.Pass(), f"name {name}, which the runtime has")

    def kinds_in(self, body: list[ast.stmt], signature: Signature) -> dict[str, Kind]:
        """Return the kinds of a function's names: as annotated, or as all that they are given."""
        nodes = [each for part in body for each in ast.walk(part) if isinstance(each, _STORING)]
        nodes.sort(key=lambda node: (node.lineno, node.col_offset))
        annotated = signature.kinds | {
            each.target.id: self.annotations.kind(each.annotation)
            for each in nodes
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        }
        found = dict(annotated)
        for _ in range(2):  # as a loop may read what it stores behind that
            for node in nodes:
                # What conditions say isn't known yet.
                with self.knowing(found), suppress(Refused):
                    for name, kind in self._stores(node):
                        if name not in annotated:
                            found[name] = union(found[name], kind) if name in found else kind
        return found

    def _stores(self, node: ast.AST) -> Iterator[tuple[str, Kind]]:
        match node:
            case ast.Assign(targets=[target], value=value):
                known = self.kinds.get(target.id, ANY) if isinstance(target, ast.Name) else ANY
                kind = self.value(value, known).kind
            case ast.For(target=target, iter=many):
                kind = self.walked(many).kind.element
            case ast.NamedExpr(target=target, value=value):
                kind = self.value(value).kind
            case _:
                return
        self.bind(target, kind)
        for name in stored(target):
            yield name, self.kinds[name]
