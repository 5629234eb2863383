"""Statements without others in them."""

from __future__ import annotations

import ast

from turnspec.codegen.printer.calls import Calls
from turnspec.codegen.printer.comments import Comments
from turnspec.codegen.printer.kinds import ANY, BOOL, Kind, Refused
from turnspec.codegen.printer.layout import END, LINE, WHOLE, WIDTH, called, enclosed, laid_out
from turnspec.codegen.printer.names import camel
from turnspec.codegen.printer.syntax import Annotated

INDENT = 2


class Statements(Calls):
    """Prints statements as lines."""

    def __init__(self, comments: Comments, *, is_typed: bool) -> None:
        super().__init__(is_typed=is_typed)
        self.comments = comments
        self.lines: list[str] = []
        self.declared: dict[str, Kind] = {}  # the kinds of a function's own names
        self.returns: Kind = ANY

    def put(self, text: str, node: ast.AST | None = None, last: ast.AST | None = None) -> None:
        """Put a statement, with the comment at its end."""
        lines = laid_out(text, self.depth * INDENT)
        note = self.comments.beside(node, last) if node is not None else ""
        if note and (len(lines) > 1 or len(lines[0]) + len(note) + 4 > WIDTH):
            self.put(f"// {note}")
        elif note:
            lines[0] += f" // {note}"
        self.lines += lines

    def put_comments(self, line: int) -> None:
        """Put the comments that stand on lines of their own, up to a line."""
        for text in self.comments.above(line):
            self.lines.append(f"{' ' * self.depth * INDENT}{text}".rstrip())

    def block(self, body: list[ast.stmt], end: str = "}") -> None:
        """Put the statements of a block, and what ends it."""
        self.depth += 1
        for node in body:
            self.statement(node)
        self.depth -= 1
        if end:
            self.put(end)

    def statement(self, node: ast.stmt) -> None:
        """Put a statement."""
        self.put_comments(node.lineno)
        for name in self.scope.before.get(id(node), ()):
            if name not in self.declared:
                raise Refused(node, f"{name}, of which nothing is known before it is used")
            self.put_let(name)
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return
            case ast.Expr(value=value):
                self.put(f"{self.text(value)};", node)
            case ast.Break() | ast.Continue():
                self.put(f"{type(node).__name__.lower()};", node)
            case ast.Return(value=value):
                given = f" {self.text(value, self.returns)}" if value else ""
                self.put(f"return{given};", node)
            case ast.Raise(exc=ast.expr() as error):
                self.put(f"throw {self.text(error)};", node)
            case ast.Assert(test=test):
                told = ast.unparse(test).replace('"', "'")
                self.put(f'if ({self.negated(test).text}) throw new Error("{told}");', node)
            case ast.Delete(
                targets=[ast.Subscript(owner, ast.Slice(ast.expr() as at, None, None))]
            ):
                self.put(f"{self.text(owner)}.splice({self.text(at)});", node)
            case ast.While(orelse=[_, *_]) | ast.For(orelse=[_, *_]):
                raise Refused(node, f"{type(node).__name__} with else")
            case ast.Assign():
                self._put_assign(node)
            case _:
                put = getattr(self, f"_put_{type(node).__name__.lower()}", None)
                if put is None:
                    raise Refused(node, type(node).__name__)
                put(node)

    def keyword(self, node: ast.stmt, target: ast.expr) -> str:
        """Return what declares the names of a target, if no others are declared before it."""
        names, own = stored(target), self.scope.by.get(id(node), set())
        if own >= names:
            kinds = {name: self.declared.get(name, ANY).name for name in names}
            return "const " if all(map(self.scope.is_constant, kinds, kinds.values())) else "let "
        for name in sorted(own):
            self.put_let(name)
        return ""

    def put_let(self, name: str) -> None:
        """Declare a name before what gives it a value."""
        self.put(f"let {camel(name)}{self.note(self.declared[name])};")

    def _put_assign(self, node: ast.Assign) -> None:
        match node.targets:
            case [ast.Subscript(value=owner, slice=key)]:
                kind = self.value(owner).kind.present
                if kind.name != "map":
                    raise Refused(node, f"assignment to an element of {kind.name}")
                texts = [self.text(key), self.text(node.value, kind.of[1])]
                self.put(f"{called(f'{self.text(owner)}.set', texts)};", node)
            case [target]:
                self._put_value(node, target)
            case targets:
                names = " = ".join(map(self.target, targets))
                self.put(f"{names} = {self.text(node.value)};", node)

    def _put_value(self, node: ast.Assign, target: ast.expr) -> None:
        value = self.value(node.value, self._expected(node, target))
        keyword = self.keyword(node, target) if stored(target) else ""
        text = self.target(target)
        if keyword and isinstance(target, ast.Name):
            whole = self.declared.setdefault(target.id, value.kind)
            self.kinds.setdefault(target.id, value.kind)
            is_told = isinstance(node, Annotated)
            if not (value.is_made(whole) if is_told else value.is_of(whole)):
                text += self.note(whole)
        self.put(joined(f"{keyword}{text} =", value.text), node)

    def _expected(self, node: ast.Assign, target: ast.expr) -> Kind:
        if isinstance(node, Annotated):
            return self.annotations.kind(node.annotation)
        if isinstance(target, ast.Name):  # of which a function tells its own kinds
            found = self.declared.get(target.id, ANY)
            return ANY if found.name == "function" else found
        return self.value(target).kind if isinstance(target, ast.Attribute) else ANY

    def _put_augassign(self, node: ast.AugAssign) -> None:
        target = self.value(node.target)
        match target.kind.present.name, node.op:
            case "list", ast.Add():
                self.put(f"{target.text}.push({self.walked(node.value).spread});", node)
            case "set" | "map" as name, ast.BitOr():
                many = self.walked(node.value)
                if name == "map" and many.kind.element.name != "tuple":
                    raise Refused(node, "|= with a mapping")
                given, add = ("added", "add(added)")
                if name == "map":
                    given, add = ("[at, added]", "set(at, added)")
                self.put(enclosed(f"for (const {given} of ", many.text, ") {"), node)
                self.lines += [*laid_out(f"{target.tight}.{add};", (self.depth + 1) * INDENT)]
                self.put("}")
            case "str" | "num", ast.Add() | ast.Sub() if not isinstance(node.target, ast.Subscript):
                value = self.value(node.value)
                text = f"Number({value.text})" if value.kind == BOOL else value.text
                sign = "+=" if isinstance(node.op, ast.Add) else "-="
                self.put(joined(f"{target.text} {sign}", text), node)
            case name, _:
                raise Refused(node, f"{type(node.op).__name__} and = of {name}")


def stored(target: ast.expr) -> set[str]:
    """Return the names that a target gives values to."""
    found = (each for each in ast.walk(target) if isinstance(each, ast.Name))
    return {each.id for each in found if isinstance(each.ctx, ast.Store) and each.id != "_"}


def joined(before: str, text: str) -> str:
    """Return a statement, which may break before its value."""
    return f"{WHOLE}{before}{LINE}{text};{END}"
