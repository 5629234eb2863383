"""Statements without others in them."""

from __future__ import annotations

import ast

from turnspec.codegen.printer.calls import Calls
from turnspec.codegen.printer.comments import Comments
from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    NULL,
    Kind,
    Refused,
    element_of,
    without_null,
)
from turnspec.codegen.printer.layout import (
    CHAIN,
    END,
    LINE,
    brackets,
    is_breakable,
    laid_out,
)
from turnspec.codegen.printer.names import (
    OR,
    UNARY,
    Names,
    camel,
)
from turnspec.codegen.printer.scopes import Scope

INDENT = 2


class Statements(Calls):
    """Prints statements as lines."""

    def __init__(self, names: Names, comments: Comments) -> None:
        """Begin with no line."""
        super().__init__(names)
        self.comments = comments
        self.lines: list[str] = []
        self.scope = Scope()
        self.declared: dict[str, Kind] = {}  # the kinds of a function's own names
        self.returns: Kind = ANY

    def put(self, text: str, node: ast.AST | None = None, last: ast.AST | None = None) -> None:
        """Put a statement, with the comment at its end."""
        lines = laid_out(text, self.depth * INDENT)
        note = self.comments.beside(node, last) if node is not None else ""
        if note and (len(lines) > 1 or len(lines[0]) + len(note) + 4 > 100):
            self.put(f"// {note}")
        elif note:
            lines[0] += f" // {note}"
        self.lines += lines

    def put_comments(self, line: int) -> None:
        """Put the comments that stand on lines of their own, up to a line."""
        for text in self.comments.above(line):
            self.lines.append(f"{' ' * self.depth * INDENT}{text}".rstrip())

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

    def is_lasting(self, name: str) -> bool:
        """Tell whether a name has one value for as long as it is known."""
        return self.scope.stores[name] < 2

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
                self.put(joined("return", self.text(value, self.returns)), node)

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
            case ast.Subscript(
                value=value, slice=ast.Slice(lower=lower, upper=None, step=None)
            ) if lower:
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
            case ast.Subscript(
                value=owner, slice=ast.Slice(lower=None, upper=ast.Constant(value=0))
            ):
                self.put(f"{self.text(owner)}.unshift(...{self.text(node.value)});", node)
            case ast.Subscript(value=owner, slice=key):
                kind = without_null(self.value(owner).kind)
                if kind.name != "map":
                    raise Refused(node, f"assignment to an element of {kind.name}")
                texts = [self.text(key), self.text(node.value, kind.of[1])]
                self.put(brackets(f"{self.text(owner)}.set(", texts, ");"), node)
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
        self.put(joined(f"{keyword}{text} =", value.text), node)

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
        self.put(joined(head, value), node)

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
                self.put(
                    f"{target.text} = {self.as_bool(node.value).within(OR + 1)} || {target.text};",
                    node,
                )
            case "str" | "num", ast.Add() | ast.Sub():
                value = self.value(node.value)
                text = f"Number({value.text})" if value.kind == BOOL else value.text
                sign = "+=" if isinstance(node.op, ast.Add) else "-="
                if isinstance(node.target, ast.Subscript):
                    raise Refused(node, f"{sign} of an element")
                self.put(joined(f"{target.text} {sign}", text), node)
            case _:
                raise Refused(node, f"{type(node.op).__name__} and = of {kind.name}")


def joined(before: str, text: str) -> str:
    """Return a statement, which may break before a value that can't break."""
    if is_breakable(text):
        return f"{before} {text};"
    return f"{CHAIN}{before}{LINE}{text};{END}"
