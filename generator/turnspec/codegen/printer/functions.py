"""Blocks: conditions, loops, what is tried; and functions, with the kinds of their names."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from turnspec.codegen.printer.comments import block, in_script
from turnspec.codegen.printer.kinds import ANY, BOOL, NULL, NUM, STR, VOID, Kind, Refused, union
from turnspec.codegen.printer.layout import called, enclosed
from turnspec.codegen.printer.names import Signature, camel
from turnspec.codegen.printer.scopes import Scope
from turnspec.codegen.printer.statements import INDENT, Statements, stored
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
        begin, end = (");", "") if isinstance(node.body[0], ast.Pass) else (") {", "}")
        self.put(enclosed("while (", self.truth(node.test).text, begin), node, node.test)
        with self.knowing({}):
            self.narrow(node.test, True)
            self.block(node.body, end)

    def _put_for(self, node: ast.For) -> None:
        many = self.walked(node.iter)
        self.bind(node.target, many.kind.element)
        keyword = self.keyword(node, node.target)
        self.put(f"for ({keyword}{self.target(node.target)} of {many.text}) {{", node, node.iter)
        self.block(node.body)

    def function(self, node: ast.FunctionDef, head: str, signature: Signature) -> None:
        """Put a function; one whose results are kept is given to a function that does that."""
        body, kind = self.put_doc(node), signature.returns
        self.returns = kind.of[0] if kind.name == "reading" else kind
        self.scope = Scope(body, signature.kinds)
        self.declared = self.kinds_in(body, signature)
        self.check(node, self.declared)
        note = "" if node.name == "__init__" else self.note(VOID if kind == NULL else kind)
        given = list(self._parameters(signature, body))
        with self.knowing(self.declared):
            self.put(f"{called(head, given)}{note}{' =>' * signature.is_kept} {{")
            self.block(body, "")
            self.depth += 1
            self.put_comments((node.end_lineno or 0) + 1)
            self.depth -= 1
            self.put("}" + ");" * signature.is_kept)

    def put_doc(self, node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
        """Put a docstring; return the body without it."""
        text = ast.get_docstring(node)
        if not text:
            return node.body
        self.lines += block(in_script(text).split("\n"), " " * self.depth * INDENT)
        return node.body[1:]

    def _parameters(self, signature: Signature, body: list[ast.stmt]) -> Iterator[str]:
        """Yield the parameters of a function; what it doesn't use has a mark."""
        used = {each.id for part in body for each in ast.walk(part) if isinstance(each, ast.Name)}
        for name, kind in signature.kinds.items():
            default = signature.defaults.get(name)
            given = f" = {self.text(default, kind)}" if default else ""
            note = "" if default and kind in (STR, NUM, BOOL) else self.note(kind)
            yield f"{'' if name in used else '_'}{camel(name)}{note}{given}"

    def check(self, node: ast.AST, names: Iterable[str]) -> None:
        """See that no name is one of the runtime's."""
        for name in names:
            if camel(name) in self.reserved:
                raise Refused(node, f"name {name}, which the runtime has")

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
        """Yield the names that something is stored in, with its kind; note attributes of `self`."""
        match node:
            case ast.Assign([ast.Attribute(ast.Name("self"), name)], value) if self.owner:
                owner = Kind("class", text=self.owner.name)
                if isinstance(node, Annotated):
                    self.owner.fields[name] = self.annotations.kind(node.annotation)
                elif self.member_of(owner, name) in (None, ANY):
                    self.owner.fields[name] = ANY
                    self.owner.fields[name] = self.value(value).kind
                return
            case ast.Assign(targets=[_, _, *_] as targets, value=value):
                for each in targets:
                    yield from self._stores(ast.copy_location(ast.Assign([each], value), node))
                return
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
