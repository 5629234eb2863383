"""Statements, and the functions and methods that they are in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress

from turnspec.codegen.printer.calls import Calls
from turnspec.codegen.printer.comments import Comments
from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    NULL,
    NUM,
    STR,
    Kind,
    Refused,
    element_of,
    list_of,
    merged,
    shown,
    union,
    without_null,
)
from turnspec.codegen.printer.layout import (
    CHAIN,
    END,
    LINE,
    WIDTH,
    enclosed,
    flat,
    is_breakable,
    laid_out,
)
from turnspec.codegen.printer.scopes import Scope, scope_of
from turnspec.codegen.printer.syntax import simplified
from turnspec.codegen.printer.values import OR, UNARY, Names, Signature, camel

_INDENT = 2
#: Statements that stand behind their condition, without braces.
_SHORT = (ast.Return, ast.Continue, ast.Break, ast.Raise, ast.Expr)


class Statements(Calls):
    """Prints statements as lines."""

    def __init__(self, names: Names, comments: Comments) -> None:
        """Begin with no line."""
        super().__init__(names)
        self.comments = comments
        self.lines: list[str] = []
        self.depth = 0
        self.scope = Scope()
        self.declared: dict[str, Kind] = {}  # the kinds of a function's own names
        self.returns: Kind = ANY

    def put(self, text: str, node: ast.AST | None = None, last: ast.AST | None = None) -> None:
        """Put a statement, with the comment at its end."""
        lines = laid_out(text, self.depth * _INDENT)
        note = self.comments.beside(node, last) if node is not None else ""
        if note and (len(lines) > 1 or len(lines[0]) + len(note) + 4 > 100):
            self.put(f"// {note}")
        elif note:
            lines[0] += f" // {note}"
        self.lines += lines

    def put_comments(self, line: int) -> None:
        """Put the comments that stand on lines of their own, up to a line."""
        for text in self.comments.above(line):
            self.lines.append(f"{' ' * self.depth * _INDENT}{text}".rstrip())

    def block(self, body: list[ast.stmt]) -> None:
        """Put the statements of a block."""
        self.depth += 1
        for node in body:
            self.statement(node)
        self.depth -= 1

    def statement(self, node: ast.stmt) -> None:
        """Put a statement.

        Raises:
            Refused: the subset doesn't have it.
        """
        self.put_comments(node.lineno)
        for name in self.scope.before.get(id(node), ()):
            if name not in self.declared:
                raise Refused(node, f"{name}, of which nothing is known before it is used")
            self.put(f"let {camel(name)}{self.note(self.declared[name])};")
        method = getattr(self, f"_put_{type(node).__name__.lower()}", None)
        if method is None:
            raise Refused(node, type(node).__name__)
        method(node)

    def _put_pass(self, node: ast.Pass) -> None:
        pass

    def _put_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.put(f"{self.text(node.value)};", node)

    def _put_return(self, node: ast.Return) -> None:
        match node.value:
            case None:
                self.put("return;", node)
            case ast.Call() as call if self.returns == NULL:  # `return f()` of what returns nothing
                self.put(f"{self.text(call)};", node)
                self.put("return;")
            case value:
                self.put(_joined("return", self.text(value, self.returns)), node)

    def _put_break(self, node: ast.Break) -> None:
        self.put("break;", node)

    def _put_continue(self, node: ast.Continue) -> None:
        self.put("continue;", node)

    def _put_raise(self, node: ast.Raise) -> None:
        if node.exc is None:
            raise Refused(node, "raise of nothing")
        self.put(f"throw {self.text(node.exc)};", node)

    def _put_assert(self, node: ast.Assert) -> None:
        told = ast.unparse(node.test).replace('"', "'")
        self.put(f'if ({self.negated(node.test).text}) throw new Error("{told}");', node)

    def _put_delete(self, node: ast.Delete) -> None:
        match node.targets[0]:
            case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=None, step=None)) if lower:
                self.put(f"{self.text(value)}.splice({self.text(lower)});", node)
            case target:
                raise Refused(node, f"del {ast.unparse(target)}")

    def _put_assign(self, node: ast.Assign) -> None:
        target, *others = node.targets
        if others:
            targets = " = ".join(map(self.target, node.targets))
            self.put(f"{targets} = {self.text(node.value)};", node)
            return
        match target:
            case ast.Subscript(value=owner, slice=ast.Slice(lower=None, upper=ast.Constant(value=0))):
                self.put(f"{self.text(owner)}.unshift(...{self.text(node.value)});", node)
            case ast.Subscript(value=owner, slice=key):
                kind = without_null(self.value(owner).kind)
                if kind.name != "map":
                    raise Refused(node, f"assignment to an element of {kind.name}")
                self.put(f"{self.text(owner)}.set({self.text(key)}, {self.text(node.value, kind.of[1])});", node)
            case _:
                self._put_value(node, target)

    def _put_value(self, node: ast.Assign, target: ast.expr) -> None:
        names = self._stored(target)
        expected = self._expected(target)
        value = self.value(node.value, expected)
        text = self.target(target)
        keyword = ""
        own = self.scope.by.get(id(node), set())
        if own and not own >= names:  # others are declared before
            for name in sorted(own):
                self.put(f"let {camel(name)}{self.note(self.declared[name])};")
        elif own:
            is_constant = all(map(self.scope.is_constant, names))
            keyword = "const " if is_constant else "let "
            if isinstance(target, ast.Name):
                self.declared.setdefault(target.id, value.kind)
                self.kinds.setdefault(target.id, value.kind)
                whole = self.declared[target.id]
                is_narrow = value.text.startswith("{") or value.kind.name in ("enum", "literal")
                if whole != value.kind or ANY in value.kind.of or value.text == "[]" or is_narrow:
                    text += self.note(whole)
        self.put(_joined(f"{keyword}{text} =", value.text), node)

    def _expected(self, target: ast.expr) -> Kind:
        if isinstance(target, ast.Name):
            return self.declared.get(target.id, ANY)
        return self.value(target).kind if isinstance(target, ast.Attribute) else ANY

    @staticmethod
    def _stored(target: ast.expr) -> set[str]:
        found = (each for each in ast.walk(target) if isinstance(each, ast.Name))
        return {each.id for each in found if isinstance(each.ctx, ast.Store) and each.id != "_"}

    def _put_annassign(self, node: ast.AnnAssign) -> None:
        kind = self.names.annotations.kind(node.annotation)
        if node.value is None:
            raise Refused(node, "annotation without a value")
        value = self.text(node.value, kind)
        if isinstance(node.target, ast.Name):
            name = node.target.id
            keyword = "const" if self.scope.is_constant(name) else "let"
            head = f"{keyword} {camel(name)}{self.note(kind)} ="
        else:
            head = f"{self.text(node.target)} ="
        self.put(_joined(head, value), node)

    def _put_augassign(self, node: ast.AugAssign) -> None:
        target = self.value(node.target)
        kind = without_null(target.kind)
        match kind.name, node.op:
            case "list", ast.Add():
                many = self.walked(node.value)
                self.put(f"{target.text}.push(...{many.within(UNARY)});", node)
            case "set" | "map", ast.BitOr():
                many = self.walked(node.value)
                if kind.name == "map" and element_of(many.kind).name != "tuple":
                    raise Refused(node, "|= with a mapping")
                self.put(f"{self.runtime('addAll', target.text, many.text)};", node)
            case "bool", ast.BitOr():
                self.put(f"{target.text} = {self.as_bool(node.value).within(OR + 1)} || {target.text};", node)
            case "str" | "num", ast.Add() | ast.Sub():
                value = self.value(node.value)
                text = f"Number({value.text})" if value.kind == BOOL else value.text
                sign = "+=" if isinstance(node.op, ast.Add) else "-="
                if isinstance(node.target, ast.Subscript):
                    raise Refused(node, f"{sign} of an element")
                self.put(_joined(f"{target.text} {sign}", text), node)
            case _:
                raise Refused(node, f"{type(node.op).__name__} and = of {kind.name}")

    # Conditions and loops.

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
        (first, *others), column = node.body, self.depth * _INDENT
        if others or node.orelse or not isinstance(first, _SHORT) or self.comments.are_in(node):
            return False
        outer, lines, self.lines = self.kinds, self.lines, []
        test = flat(self.truth(node.test).text)
        self.narrow(node.test, True)
        self.statement(first)
        made, self.lines = self.lines, lines
        self.kinds = outer
        self.narrow(node.test, False)
        text = f"if ({test}) {made[0].strip()}" if len(made) == 1 else ""
        if text and column + len(text) <= WIDTH:
            self.put(text)
            if isinstance(first, ast.Expr):
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
        head = f"for ({keyword if own >= names else ''}{self.target(node.target)} of"
        self.put(f"{head} {many.text}) {{", node, node.iter)
        self.block(node.body)
        self.put("}")

    def _put_try(self, node: ast.Try) -> None:
        match node:
            case ast.Try(handlers=[ast.ExceptHandler(name=None, body=body)], orelse=[], finalbody=[]):
                pass
            case _:
                raise Refused(node, "try with more than one except")
        if ast.unparse(node.handlers[0].type or node) not in ("ValueError", "PYTHON_ERRORS"):
            raise Refused(node, "except of another error")
        self.put("try {")
        self.block(node.body)
        self.put("} catch (error) {")
        self.depth += 1
        self.put("if (!(error instanceof ValueError)) throw error;", node.handlers[0], node.handlers[0].type)
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
            declares = any(id(each) in self.scope.by or id(each) in self.scope.before for each in case.body)
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

    # Functions.

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
        self.kinds = {**outer, **self.declared}
        self.put(f"{head} {{")
        self.block(body)
        self.depth += 1
        self.put_comments(end + 1)
        self.depth -= 1
        self.put("}")
        self.kinds = outer

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


def _joined(before: str, text: str) -> str:
    """Return a statement, which may break before a value that can't break."""
    if is_breakable(text):
        return f"{before} {text};"
    return f"{CHAIN}{before}{LINE}{text};{END}"


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt | ast.NamedExpr]:
    for each in ast.walk(ast.Module(body, [])):
        if isinstance(each, ast.Assign | ast.AnnAssign | ast.For | ast.NamedExpr):
            yield each


def _outside_loops(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, ast.For | ast.While):
        for child in ast.iter_child_nodes(node):
            yield from _outside_loops(child)


__all__ = ["Statements", "flat", "list_of", "re", "shown", "union", "NUM", "STR"]
