"""Operators and conditions: what is true in Python, and what is the same."""

from __future__ import annotations

import ast
from collections.abc import Callable

from turnspec.codegen.printer.expressions import Expressions
from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    COLLECTIONS,
    LISTS,
    NULL,
    NUM,
    OBJECT,
    SIZES,
    STR,
    Kind,
    Refused,
    union,
)
from turnspec.codegen.printer.layout import called, chain, enclosed
from turnspec.codegen.printer.names import (
    AND,
    CONDITION,
    EQUAL,
    LESS,
    OR,
    PLUS,
    SIMPLE,
    TIMES,
    UNARY,
    Value,
)

_INFIX = {ast.Add: ("+", PLUS), ast.Sub: ("-", PLUS), ast.Mult: ("*", TIMES)}
_OF_SETS = {ast.BitAnd: "intersection", ast.Sub: "difference"}
_COMPARED = {
    **{ast.Lt: ("<", LESS), ast.LtE: ("<=", LESS), ast.Gt: (">", LESS), ast.GtE: (">=", LESS)},
    **{ast.Eq: ("===", EQUAL), ast.Is: ("===", EQUAL)},
    **{ast.NotEq: ("!==", EQUAL), ast.IsNot: ("!==", EQUAL)},
}
_OPPOSITES = {"===": "!==", "!==": "==="}
_COMPARABLE = ("str", "num", "bool", "null", "literal", "enum", "any")
_EMPTY = {"set": "new Set()", "map": "new Map()", "object": "{}"}
_BARE = ("list", "tuple")


class Conditions(Expressions):
    """Prints operators, conditions, and what is chosen by them."""

    def truth(self, node: ast.expr) -> Value:
        """Return an expression that is as true as Python's."""
        if isinstance(node, ast.BoolOp):
            values = self._operands(node, self.truth)
            return _combined(node, values, union(*(value.kind for value in values)))
        value = self.value(node)
        kind = value.kind.present
        if kind.name in COLLECTIONS:
            if isinstance(node, ast.NamedExpr):
                raise Refused(node, "walrus of a collection in a condition")
            text, size = value.tight, SIZES[kind.name]
            if NULL in value.kind.parts:
                return Value(f"{text}?.{size}", union(NUM, NULL))
            return Value(f"{text}.{size} > 0", BOOL, LESS, f"{text}.{size} === 0")
        if value.asked:
            return Value(value.asked, BOOL)
        return value if value.kind.is_plain else Value(called("truthy", [value.text]), BOOL)

    def negated(self, node: ast.expr) -> Value:
        """Return an expression that is true where one is not."""
        return _opposite(self.truth(node), EQUAL)

    def as_bool(self, node: ast.expr) -> Value:
        """Return whether an expression is true."""
        value = self.truth(node)
        return value if value.kind == BOOL else Value(enclosed("Boolean(", value.text, ")"), BOOL)

    def _operands(self, node: ast.BoolOp, read: Callable[[ast.expr], Value]) -> list[Value]:
        values = []
        with self.knowing({}):
            for each in node.values:
                values.append(read(each))
                self.narrow(each, isinstance(node.op, ast.And))
        return values

    def _boolop(self, node: ast.BoolOp, expected: Kind) -> Value:
        values = self._operands(node, lambda each: self.value(each, expected))
        kinds = [value.kind for value in values]
        is_or = isinstance(node.op, ast.Or)
        first, kind = values[0], kinds[0].present
        if all(kind.is_plain for kind in kinds[:-1]):
            before = [kind.present if is_or else _when_false(kind) for kind in kinds[:-1]]
            return _combined(node, values, union(*filter(None, before), kinds[-1]))
        if not is_or or len(values) > 2:
            raise Refused(node, "value of and, or of collections")
        if kind != ANY and ast.unparse(node.values[1]) in ("{}", "[]", "()"):
            empty = _EMPTY.get(kind.name, "[]")
            return Value(f"{first.within(AND)} ?? {empty}", kind, CONDITION)
        return Value(called("either", [value.text for value in values]), union(kind, kinds[1]))

    def _binop(self, node: ast.BinOp, _: Kind) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        kind, op = left.kind.present, type(node.op)
        if kind.name == "set" and op in _OF_SETS:
            return Value(called(_OF_SETS[op], [left.text, right.text]), left.kind)
        if kind == STR and op is ast.Mult:
            return Value(f"{left.tight}.repeat({right.text})", STR)
        if op not in _INFIX or not {kind, right.kind} <= {STR, NUM, BOOL}:
            raise Refused(node, f"operator {op.__name__} of {kind.name} and {right.kind.name}")
        sign, rank = _INFIX[op]
        texts = [
            f"Number({value.text})" if value.kind == BOOL else value.within(rank + at)
            for at, value in enumerate((left, right))
        ]
        return Value(f" {sign} ".join(texts), STR if kind == STR else NUM, rank)

    def _unaryop(self, node: ast.UnaryOp, _: Kind) -> Value:
        if isinstance(node.op, ast.Not):
            return self.negated(node.operand)
        if isinstance(node.op, ast.USub):
            return Value(f"-{self.value(node.operand).within(UNARY)}", NUM, UNARY)
        raise Refused(node, f"operator {type(node.op).__name__}")

    def _ifexp(self, node: ast.IfExp, expected: Kind) -> Value:
        test, found = self.truth(node.test).within(OR), []
        for is_true, each in ((True, node.body), (False, node.orelse)):
            with self.knowing({}):
                self.narrow(node.test, is_true)
                found.append(self.value(each, expected))
        one, other = found
        text = f"{test} ? {one.within(CONDITION + 1)} : {other.within(CONDITION)}"
        return Value(text, union(one.kind, other.kind), CONDITION)

    def _compare(self, node: ast.Compare, _: Kind) -> Value:
        sides = [node.left, *node.comparators]
        found = list(map(self._compared, sides, node.ops, sides[1:]))
        if len(found) == 1:
            return found[0]
        return Value(chain([value.within(AND) for value in found], "&&"), BOOL, AND)

    def _compared(self, one: ast.expr, op: ast.cmpop, other: ast.expr) -> Value:
        left, right = self.value(one), self.value(other)
        if isinstance(op, ast.In | ast.NotIn):
            found = self._membership(one, other, left, right)
            return found if isinstance(op, ast.In) else _opposite(found, AND)
        kind = left.kind.present
        if not isinstance(op, ast.Is | ast.IsNot) and not left.kind.all_in(*_COMPARABLE):
            raise Refused(one, f"comparison of {kind.name}")
        sign, rank = _COMPARED[type(op)]
        sides, opposite = (left.within(rank + 1), right.within(rank + 1)), _OPPOSITES.get(sign)
        negated = f" {opposite} ".join(sides) if opposite else ""
        return Value(f" {sign} ".join(sides), BOOL, rank, negated)

    def _membership(self, one: ast.expr, other: ast.expr, sought: Value, within: Value) -> Value:
        kind, text = within.kind.present, within.tight
        if sought.kind.any_in(*LISTS, "map", "object", "class", "set"):
            raise Refused(one, "membership of what is compared by its parts")
        if kind.name in ("set", "map"):
            return Value(f"{text}.has({sought.text})", BOOL)
        if kind.all_in("str", "literal"):
            return Value(f"{text}.includes({sought.text})", BOOL)
        if kind in (OBJECT, ANY):
            return Value(called("hasMember", [within.text, sought.text]), BOOL)
        if kind.name not in LISTS:
            raise Refused(other, f"membership in {kind.name}")
        if isinstance(other, ast.Call) and ast.unparse(other.func) == "reversed":
            listed = self.value(other.args[0]).tight
            return Value(f"{listed}.lastIndexOf({sought.text}) >= 0", BOOL, LESS)
        texts = [it.text for it in self.items(other.elts)] if isinstance(other, ast.Tuple) else []
        if 0 < len(texts) < 4 and SIMPLE.fullmatch(sought.text) and "..." not in "".join(texts):
            same, others = ([f"{sought.text} {sign} {it}" for it in texts] for sign in _OPPOSITES)
            if len(texts) == 1:
                return Value(same[0], BOOL, EQUAL, others[0])
            return Value(chain(same, "||"), BOOL, OR, f"({chain(others, '&&')})")
        return Value(called("among", [sought.text, within.text]), BOOL)

    def _call_isinstance(self, node: ast.Call, _: Kind) -> Value:
        text, kinds = self.value(node.args[0]).tight, ast.unparse(node.args[1])
        if kinds == "str":
            asked = f"typeof {text}"
            return Value(f'{asked} === "string"', BOOL, EQUAL, f'{asked} !== "string"')
        if kinds in _BARE:
            return Value(f"Array.isArray({text})", BOOL)
        if kinds != "re.Pattern" and kinds not in self.classes:
            raise Refused(node, f"isinstance of {kinds}")
        return Value(f"{text} instanceof {kinds.removeprefix('re.')}", BOOL, LESS)

    def narrow(self, test: ast.expr, is_true: bool) -> None:
        """Note what a condition says of the kinds of names, where it is true or false."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                self.narrow(inner, not is_true)
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == is_true:
                for each in values:
                    self.narrow(each, is_true)
            case ast.Name(id=name) if is_true and name in self.kinds:
                self.kinds = {**self.kinds, name: self.kinds[name].present}
            case ast.Call(ast.Name("isinstance"), [ast.Name(name) as asked, kind]) if (
                ast.unparse(kind) not in _BARE
            ):
                found = self.annotations.kind(kind)
                parts = [it for it in self.value(asked).kind.parts if (it == found) == is_true]
                self.kinds = {**self.kinds, name: union(*(parts or [found]))}


def _opposite(value: Value, rank: int) -> Value:
    if value.negated:
        return Value(value.negated, BOOL, rank)
    return Value(f"!{value.within(UNARY)}", BOOL, UNARY)


def _combined(node: ast.BoolOp, values: list[Value], kind: Kind) -> Value:
    rank, sign = (AND, "&&") if isinstance(node.op, ast.And) else (OR, "||")
    # TypeScript asks for brackets around && in ||.
    texts = [value.within(EQUAL if value.rank <= AND else rank) for value in values]
    return Value(chain(texts, sign), kind, rank)


def _when_false(kind: Kind) -> Kind | None:
    """Return the kind of what is false of a kind; None if nothing is."""
    parts = [part for part in kind.parts if part.name in ("str", "num", "bool", "null")]
    return union(*parts) if parts else None
