"""Blocks: conditions, loops, what is tried; and functions, with the kinds of their names."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from turnspec.codegen.printer.kinds import ANY, BOOL, NUM, STR, Kind, Refused, union
from turnspec.codegen.printer.layout import enclosed
from turnspec.codegen.printer.names import Signature, camel
from turnspec.codegen.printer.scopes import Scope
from turnspec.codegen.printer.statements import Statements, stored
from turnspec.codegen.printer.syntax import LEAVING, Annotated

_STORING = (ast.Assign, ast.For, ast.NamedExpr)


class Functions(Statements):
    """Prints statements that have blocks, and functions."""

    reserved: Collection[str] = ()  # names that something else has

    def _put_if(self, node: ast.If, before: str = "") -> None:
        test = self.truth(node.test).text
        self.put(enclosed(f"{before}if (", test, ") {"), node, node.test)
        with self.knowing({}):
            self.narrow(node.test, True)
            self.block(node.body, "")
        outer = self.kinds
        self.narrow(node.test, False)
        self._put_else(node)
        if not isinstance(node.body[-1], LEAVING):
            self.kinds = outer

    def put_statement(self, node: ast.stmt) -> None:
        """Put a statement, which may have blocks."""
        match node:
            case ast.If():
                self._put_if(node)
            case ast.While(orelse=[]):
                self._put_while(node)
            case ast.For(orelse=[]):
                self._put_for(node)
            case _:
                super().put_statement(node)

    def _put_else(self, node: ast.If) -> None:
        match node.orelse:
            case []:
                self.put("}")
            case [ast.If() as other] if id(other) not in self.scope.before:
                self.put_comments(other.lineno)
                self._put_if(other, "} else ")
            case others:
                self.put("} else {")
                self.block(others)

    def _put_while(self, node: ast.While) -> None:
        self.put(enclosed("while (", self.truth(node.test).text, ") {"), node, node.test)
        with self.knowing({}):
            self.narrow(node.test, True)
            self.block(node.body)

    def _put_for(self, node: ast.For) -> None:
        many = self.walked(node.iter)
        self.bind(node.target, many.kind.element)
        names = stored(node.target)
        keyword = "const " if all(map(self.scope.is_constant, names)) else "let "
        own = self.scope.by.get(id(node), set())
        for name in sorted(own if not own >= names else ()):  # others are declared before
            self.put_let(name)
        head = f"for ({keyword * (own >= names)}{self.target(node.target)} of {many.text}) {{"
        self.put(head, node, node.iter)
        self.block(node.body)

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
            name: self.annotations.kind(each.annotation)
            for each in nodes
            if isinstance(each, Annotated)
            for name in stored(each.targets[0])
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
