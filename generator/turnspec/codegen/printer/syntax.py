"""Rewrites Python's syntax to what both languages have: one thing in a statement."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from typing import TypeVar

_N = TypeVar("_N", bound=ast.AST)
LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
#: Each of many values.
_IT = ast.Name("it", ast.Load())


class Annotated(ast.Assign):
    """An assignment that says what its value is of."""

    annotation: ast.expr
    _fields = ("targets", "value", "annotation")


class Simplifier(ast.NodeTransformer):
    """Has tuples assigned one by one, and walruses stand alone."""

    def __init__(self, comments: Container[int]) -> None:
        """Take the lines that hold comments alone."""
        self._comments = comments

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Have plain values of fields stand in the class."""
        for method in [each for each in node.body if isinstance(each, ast.FunctionDef)]:
            self.visit(method)
            if method.name == "__init__":
                plain = list(self._plain_fields(method.body))
                method.body = [each for each in method.body if each not in plain]
                node.body[1:1] = plain
        return node

    def _plain_fields(self, body: list[ast.stmt]) -> Iterator[ast.Assign]:
        """Yield what sets fields to plain values first, before something else sees the object."""
        seen: set[str] = set()
        for each in body:
            match each:
                case ast.Assign([ast.Attribute(ast.Name("self"), name) as target], value):
                    is_told = each.lineno - 1 in self._comments
                    if _is_plain(value) and not is_told and name not in seen:
                        each.targets = [_at(target, ast.Name(name, ast.Store()))]
                        yield each
            parts = list(ast.walk(each))
            attributes = [part for part in parts if isinstance(part, ast.Attribute)]
            seen |= {part.attr for part in attributes}
            methods = [part.func for part in parts if isinstance(part, ast.Call)]
            owners = [part.value for part in attributes if part not in methods]
            rest = [part for part in parts if part not in owners]
            if any(isinstance(part, ast.Name) and part.id == "self" for part in rest):
                return

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Have what assigns something, and is annotated, be an assignment."""
        self.generic_visit(node)
        if not node.value:
            return node
        found = Annotated([node.target], node.value)
        found.annotation = node.annotation
        return _at(node, found)

    def visit_Assign(self, node: ast.Assign) -> Sequence[ast.stmt]:
        """Assign one by one what can be; an enumeration is a class."""
        self.generic_visit(node)
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("Enum") as base, [_, words])):
                members: list[ast.stmt] = [
                    ast.Assign([ast.Name(word, ast.Store())], ast.Constant(word.lower()))
                    for word in ast.literal_eval(words).split()
                ]
                return [_at(node, ast.ClassDef(name, [base], [], members, []))]
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                if _are_apart(targets, values):
                    pairs = zip(targets, values, strict=True)
                    return [_at(node, ast.Assign([one], other)) for one, other in pairs]
            case ast.Assign(targets=[_, _, *_] as targets, value=value):
                first = next((each for each in targets if isinstance(each, ast.Name)), None)
                if first:
                    others = [each for each in targets if each is not first]
                    read = ast.Name(first.id, ast.Load())
                    again = (ast.Assign([other], read) for other in others)
                    return [_at(node, each) for each in (ast.Assign([first], value), *again)]
        return [node]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Go through many values as comprehensions do, or a list of them."""
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name("map"), args=[function, many]):
                return _at(node, _through(many, ast.Call(function, [_IT], [])))
            case ast.Call(func=ast.Name("list" | "tuple"), args=[many]):
                return _at(node, ast.List([ast.Starred(many, ast.Load())], ast.Load()))
            case ast.Call(func=ast.Name("any" | "all"), args=[many]):
                if not isinstance(many, ast.GeneratorExp):
                    node.args = [_at(many, _through(many, _IT))]
        return node

    def visit_Delete(self, node: ast.Delete) -> list[ast.Delete]:
        """Delete one by one."""
        return [_at(node, ast.Delete([target])) for target in node.targets]

    def visit_While(self, node: ast.While) -> ast.While:
        """Ask within a loop what assigns something."""
        self.generic_visit(node)
        if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node.test)):
            test = ast.UnaryOp(ast.Not(), node.test)
            ends = _at(node.test, ast.If(test, [_at(node.test, ast.Break())], []))
            node.test = ast.Constant(True)
            node.body[:0] = self.visit_If(ends)
        return node

    def visit_Try(self, node: ast.Try) -> list[ast.stmt] | ast.Try:
        """Ask whether a call gave a value, where it is all that is tried."""
        self.generic_visit(node)
        match node.body, node.handlers, node.orelse + node.finalbody:
            case [ast.Assign([ast.Name(name)], call) as tried], [handler], []:
                error = handler.type or node
                is_known = ast.unparse(error) in ("ValueError", "PYTHON_ERRORS")
                if not is_known or handler.name or not isinstance(handler.body[-1], LEAVING):
                    return node
                tried.value = _at(call, ast.Call(ast.Name("attempted", ast.Load()), [call], []))
                test = ast.Compare(ast.Name(name, ast.Load()), [ast.Is()], [ast.Constant(...)])
                return [tried, _at(handler, ast.If(_at(error, test), handler.body, []))]
        return node

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        """Assign a walrus before its condition, where that asks it first."""
        self.generic_visit(node)
        first, node.test = _hoisted(node.test)
        return [_at(first, ast.Assign([first.target], first.value)), node] if first else [node]

    def visit_Match(self, node: ast.Match) -> list[ast.stmt] | ast.Match:
        """Ask of a name which of some values it is."""
        self.generic_visit(node)
        rest: list[ast.stmt] = []
        for case in reversed(node.cases):
            test = _test(node.subject, case)
            if test is None:
                return node
            if isinstance(test, ast.Constant):
                rest = [each for each in case.body if not isinstance(each, ast.Pass)]
            else:
                rest = self.visit_If(_at(case.pattern, ast.If(test, case.body, rest)))
        return rest


def _through(many: ast.expr, element: ast.expr) -> ast.GeneratorExp:
    """Return what is made of each of many values."""
    part = ast.comprehension(ast.Name("it", ast.Store()), many, [], 0)
    return ast.GeneratorExp(element, [part])


def _is_plain(value: ast.expr) -> bool:
    """Tell whether a value depends on nothing."""
    parts = [each for each in ast.walk(value) if isinstance(each, ast.Name | ast.Call)]
    return all(isinstance(each, ast.Name) and each.id.isupper() for each in parts)


def _hoisted(test: ast.expr) -> tuple[ast.NamedExpr | None, ast.expr]:
    """Return the walrus that a condition begins with, and the condition that reads its name."""
    found = None
    match test:
        case ast.NamedExpr(target=target):
            return test, _at(test, ast.Name(target.id, ast.Load()))
        case ast.BoolOp():
            found, test.values[0] = _hoisted(test.values[0])
        case ast.UnaryOp():
            found, test.operand = _hoisted(test.operand)
        case ast.Compare():
            found, test.left = _hoisted(test.left)
    return found, test


def _test(subject: ast.expr, case: ast.match_case) -> ast.expr | None:
    """Return what a case asks; None if it isn't which value something is."""
    patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
    values = [each.value for each in patterns if isinstance(each, ast.MatchValue)]
    match case.pattern, values:
        case ast.MatchAs(pattern=None, name=None), _:
            return case.guard or ast.Constant(True)
        case _, [value]:
            test = ast.Compare(subject, [ast.Eq()], [value])
        case _, [_, *_] if len(values) == len(patterns):
            test = ast.Compare(subject, [ast.In()], [ast.Tuple(values, ast.Load())])
        case _:
            return None
    is_known = isinstance(subject, ast.Name | ast.Attribute)
    found = ast.BoolOp(ast.And(), [test, case.guard]) if case.guard else test
    return _at(case.pattern, found) if is_known else None


def _at(place: ast.AST, node: _N) -> _N:
    """Return a new node where another one stands."""
    return ast.fix_missing_locations(ast.copy_location(node, place))


def _are_apart(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    """Tell whether no element of a tuple reads what was assigned before it."""
    names = [ast.unparse(each) for each in targets]
    reads = (
        name == ast.unparse(part)
        for at, name in enumerate(names)
        for other in values[at + 1 :]
        for part in ast.walk(other)
        if isinstance(part, ast.Name | ast.Attribute)
    )
    has_star = any(isinstance(each, ast.Starred) for each in (*targets, *values))
    return not has_star and len(values) == len(names) and not any(reads)
