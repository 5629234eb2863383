"""Statements with blocks: conditions, loops, what is tried and what is chosen."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from turnspec.codegen.printer.kinds import Refused
from turnspec.codegen.printer.layout import WIDTH, enclosed, flat
from turnspec.codegen.printer.names import OR
from turnspec.codegen.printer.statements import INDENT, Statements, stored

_LEAVING = (ast.Return, ast.Raise, ast.Continue)
#: Statements that stand behind their condition, without braces.
_SHORT = (*_LEAVING, ast.Break, ast.Expr, ast.Assign, ast.AugAssign)


class Blocks(Statements):
    """Prints statements that have blocks."""

    def _put_short(self, node: ast.If | ast.For, head: str) -> bool:
        """Put a block of one short statement behind its head; return whether it is such."""
        column = self.depth * INDENT
        lines, self.lines = self.lines, []
        self.statement(node.body[0])
        made, self.lines = self.lines, lines
        text = f"{head} {''.join(made).strip()}"
        is_one = len(made) == 1 and not made[0].strip().startswith(("const ", "let ", "//"))
        if is_one and column + len(text) <= WIDTH:
            self.put(text)
            return True
        return False

    def _is_short(self, node: ast.If | ast.For, kinds: tuple[type, ...]) -> bool:
        is_one = len(node.body) == 1 and not node.orelse and isinstance(node.body[0], kinds)
        return is_one and not self.comments.are_in(node)

    def _put_if(self, node: ast.If, before: str = "") -> None:
        test, is_put = self.truth(node.test).text, False
        with self.knowing({}):
            self.narrow(node.test, True)
            if not before and self._is_short(node, _SHORT):
                is_put = self._put_short(node, f"if ({flat(test)})")
            if not is_put:
                self.put(enclosed(f"{before}if (", test, ") {"), node, node.test)
                self.block(node.body, "")
        outer = self.kinds
        self.narrow(node.test, False)
        if not is_put:
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
        if self._is_short(node, (ast.Expr, ast.AugAssign)) and self._put_short(node, head):
            return
        self.put(f"{head} {{", node, node.iter)
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

    def _put_match(self, node: ast.Match) -> None:
        """Put a match as a switch; with guards as a chain of conditions."""
        subject = self.text(node.subject)
        if any(case.guard for case in node.cases):
            self._put_conditions(node, subject)
            return
        self.put(f"switch ({subject}) {{")
        self.depth += 1
        places = {*self.scope.by, *self.scope.before}
        for case in node.cases:
            self.put_comments(case.pattern.lineno)
            values = list(self._values(case.pattern))
            if not values and all(isinstance(each, ast.Pass) for each in case.body):
                continue
            for value in values[:-1]:
                self.put(f"case {value}:")
            opening = " {" if any(id(each) in places for each in case.body) else ""
            self.put(f"case {values[-1]}:{opening}" if values else f"default:{opening}")
            self._put_case(case.body, "}" if opening else "")
        self.depth -= 1
        self.put("}")

    def _put_case(self, body: list[ast.stmt], end: str) -> None:
        if any(isinstance(each, ast.Break) for part in body for each in _outside_loops(part)):
            raise Refused(body[0], "break in a case, which would end the switch")
        self.block(body, "")
        if not isinstance(body[-1], _LEAVING):
            self.put("  break;")
        if end:
            self.put(end)

    def _put_conditions(self, node: ast.Match, subject: str) -> None:
        before = ""
        for case in node.cases:
            values = [f"{subject} === {value}" for value in self._values(case.pattern)]
            if all(isinstance(each, ast.Pass) for each in case.body):
                continue
            test = " || ".join(values)
            if case.guard:
                test = f"({test})" if len(values) > 1 else test
                test += f" && {self.truth(case.guard).within(OR + 1)}"
            self.put(f"{before}if ({test}) {{" if values else f"{before.rstrip()} {{")
            self.block(case.body, "")
            before = "} else "
        self.put("}")

    def _values(self, pattern: ast.pattern) -> Iterator[str]:
        """Yield the values of a pattern; none for one that fits all."""
        match pattern:
            case ast.MatchOr(patterns=patterns):
                for each in patterns:
                    yield from self._values(each)
            case ast.MatchValue(value=value):
                yield self.text(value)
            case ast.MatchAs(pattern=None, name=None):
                return
            case _:
                raise Refused(pattern, "pattern that is no literal")


def _outside_loops(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, ast.For | ast.While):
        for child in ast.iter_child_nodes(node):
            yield from _outside_loops(child)
