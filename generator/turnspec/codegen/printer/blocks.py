"""Statements with blocks: conditions, loops, what is tried and what is chosen."""

from __future__ import annotations

import ast

from turnspec.codegen.printer.kinds import Refused
from turnspec.codegen.printer.layout import WIDTH, enclosed, flat
from turnspec.codegen.printer.statements import INDENT, Statements, stored

_LEAVING = (ast.Return, ast.Raise, ast.Continue)
#: Statements that stand behind their condition, without braces.
_SHORT = (*_LEAVING, ast.Break, ast.Expr, ast.Assign, ast.AugAssign)


class Blocks(Statements):
    """Prints statements that have blocks."""

    def _short(self, head: str, body: list[ast.stmt], kinds: tuple[type, ...] = _SHORT) -> str:
        """Return a block of one short statement behind its head; nothing if it isn't such."""
        if body[1:] or not isinstance(body[0], kinds):
            return ""
        lines, self.lines = self.lines, []
        self.statement(body[0])
        made, self.lines = "\n".join(self.lines).strip(), lines
        text = f"{head} {made}"
        is_one = "\n" not in made and not made.startswith(("const ", "let ", "//"))
        return text if is_one and self.depth * INDENT + len(text) <= WIDTH else ""

    def _short_if(self, node: ast.If, before: str = "") -> list[str]:
        """Return a condition of which all blocks are short statements; else nothing."""
        head = f"{before}if ({flat(self.truth(node.test).text)})"
        with self.knowing({}):
            self.narrow(node.test, True)
            found = [self._short(head, node.body)]
        with self.knowing({}):
            self.narrow(node.test, False)
            match node.orelse:
                case [ast.If() as other] if id(other) not in self.scope.before:
                    found += self._short_if(other, "else ") or [""]
                case [_, *_] as others:
                    found.append(self._short("else", others))
        return found if all(found) else []

    def _put_if(self, node: ast.If, before: str = "") -> None:
        is_long = bool(before) or self.comments.are_in(node)
        short = [] if is_long else self._short_if(node)
        for text in short:
            self.put(text)
        if not short:
            test = self.truth(node.test).text
            self.put(enclosed(f"{before}if (", test, ") {"), node, node.test)
            with self.knowing({}):
                self.narrow(node.test, True)
                self.block(node.body, "")
        outer = self.kinds
        self.narrow(node.test, False)
        if not short:
            self._put_else(node)
        if not isinstance(node.body[-1], (*_LEAVING, ast.Break)):
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
        if node.orelse:
            raise Refused(node, "else of a loop")
        self.put(enclosed("while (", self.truth(node.test).text, ") {"), node, node.test)
        with self.knowing({}):
            self.narrow(node.test, True)
            self.block(node.body)

    def _put_for(self, node: ast.For) -> None:
        if node.orelse:
            raise Refused(node, "else of a loop")
        many = self.walked(node.iter)
        self.bind(node.target, many.kind.element)
        names = stored(node.target)
        keyword = "const " if all(map(self.scope.is_constant, names)) else "let "
        own = keyword if self.scope.by.get(id(node), set()) >= names else ""
        head = f"for ({own}{self.target(node.target)} of {many.text})"
        is_long = self.comments.are_in(node)
        short = "" if is_long else self._short(head, node.body, (ast.Expr, ast.AugAssign))
        self.put(short or f"{head} {{", node, node.iter)
        if not short:
            self.block(node.body)

    def _put_try(self, node: ast.Try) -> None:
        match node:
            case ast.Try(
                handlers=[ast.ExceptHandler(type=ast.Name(id=name) as error, name=None, body=body)],
                orelse=[],
                finalbody=[],
            ) if name in ("ValueError", "PYTHON_ERRORS"):
                self.put("try {")
                self.block(node.body, "} catch (error) {")
                refused = "if (!(error instanceof ValueError)) throw error;"
                self.depth += 1
                self.put(refused, node.handlers[0], error)
                self.depth -= 1
                self.block(body)
            case _:
                raise Refused(node, "try with more than one except, or of another error")
