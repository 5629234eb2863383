"""Statements with blocks: conditions, loops, what is tried and what is chosen."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from turnspec.codegen.printer.kinds import (
    Refused,
    element_of,
)
from turnspec.codegen.printer.layout import (
    WIDTH,
    enclosed,
    flat,
)
from turnspec.codegen.printer.names import (
    OR,
)
from turnspec.codegen.printer.statements import INDENT, Statements

#: Statements that stand behind their condition, without braces.
_SHORT = (
    *(ast.Return, ast.Continue, ast.Break, ast.Raise, ast.Expr),
    *(ast.Assign, ast.AugAssign),
)


class Blocks(Statements):
    """Prints statements that have blocks."""

    def _put_if(self, node: ast.If, before: str = "") -> None:
        if not before and self._put_short(node):
            return
        self.put(enclosed(f"{before}if (", self.truth(node.test).text, ") {"), node, node.test)
        outer = self.kinds
        self.narrow(node.test, True)
        self.block(node.body)
        self.kinds = outer
        self.narrow(node.test, False)
        self._put_else(node)
        if not isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break):
            self.kinds = outer

    def _put_short(self, node: ast.If) -> bool:
        """Put a condition of one short statement on one line; return whether it is such."""
        (first, *others), column = node.body, self.depth * INDENT
        if others or node.orelse or not isinstance(first, _SHORT) or self.comments.are_in(node):
            return False
        outer, lines, self.lines = self.kinds, self.lines, []
        test = flat(self.truth(node.test).text)
        self.narrow(node.test, True)
        self.statement(first)
        made, self.lines = self.lines, lines
        self.kinds = outer
        self.narrow(node.test, False)
        is_one = len(made) == 1 and not made[0].strip().startswith(("const ", "let ", "//"))
        text = f"if ({test}) {made[0].strip()}" if is_one else ""
        if text and column + len(text) <= WIDTH:
            self.put(text)
            if isinstance(first, ast.Expr | ast.Assign | ast.AugAssign):
                self.kinds = outer
            return True
        self.kinds = outer
        return False

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
                self.put("}")

    def _put_while(self, node: ast.While) -> None:
        if node.orelse:
            raise Refused(node, "else of a loop")
        self.put(enclosed("while (", self.truth(node.test).text, ") {"), node, node.test)
        outer = self.kinds
        self.narrow(node.test, True)
        self.block(node.body)
        self.kinds = outer
        self.put("}")

    def _put_for(self, node: ast.For) -> None:
        if node.orelse:
            raise Refused(node, "else of a loop")
        many = self.walked(node.iter)
        self.bind(node.target, element_of(many.kind))
        names = self._stored(node.target)
        own = self.scope.by.get(id(node), set())
        keyword = "const " if all(map(self.scope.is_constant, names)) else "let "
        head = f"for ({keyword if own >= names else ''}{self.target(node.target)} of {many.text})"
        is_short = len(node.body) == 1 and isinstance(node.body[0], ast.Expr | ast.AugAssign)
        if is_short and not self.comments.are_in(node):
            lines, self.lines = self.lines, []
            self.statement(node.body[0])
            made, self.lines = self.lines, lines
            text = f"{head} {made[0].strip()}"
            if len(made) == 1 and self.depth * INDENT + len(text) <= WIDTH:
                self.put(text)
                return
        self.put(f"{head} {{", node, node.iter)
        self.block(node.body)
        self.put("}")

    def _put_try(self, node: ast.Try) -> None:
        match node:
            case ast.Try(
                handlers=[ast.ExceptHandler(name=None, body=body)], orelse=[], finalbody=[]
            ):
                pass
            case _:
                raise Refused(node, "try with more than one except")
        if ast.unparse(node.handlers[0].type or node) not in ("ValueError", "PYTHON_ERRORS"):
            raise Refused(node, "except of another error")
        self.put("try {")
        self.block(node.body)
        self.put("} catch (error) {")
        self.depth += 1
        self.put(
            "if (!(error instanceof ValueError)) throw error;",
            node.handlers[0],
            node.handlers[0].type,
        )
        self.depth -= 1
        self.block(body)
        self.put("}")

    def _put_match(self, node: ast.Match) -> None:
        """Put a match as a switch; with guards as a chain of conditions."""
        subject = self.text(node.subject)
        if any(case.guard for case in node.cases):
            self._put_conditions(node, subject)
            return
        self.put(f"switch ({subject}) {{")
        self.depth += 1
        for case in node.cases:
            self.put_comments(case.pattern.lineno)
            values = list(self._values(case.pattern))
            if not values and all(isinstance(each, ast.Pass) for each in case.body):
                continue
            for value in values[:-1]:
                self.put(f"case {value}:")
            declares = any(
                id(each) in self.scope.by or id(each) in self.scope.before for each in case.body
            )
            opening = " {" if declares else ""
            self.put(f"case {values[-1]}:{opening}" if values else f"default:{opening}")
            self._put_case(case.body)
            if declares:
                self.put("}")
        self.depth -= 1
        self.put("}")

    def _put_case(self, body: list[ast.stmt]) -> None:
        if any(isinstance(each, ast.Break) for part in body for each in _outside_loops(part)):
            raise Refused(body[0], "break in a case, which would end the switch")
        self.block(body)
        if not isinstance(body[-1], ast.Return | ast.Raise | ast.Continue):
            self.depth += 1
            self.put("break;")
            self.depth -= 1

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
            self.block(case.body)
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
