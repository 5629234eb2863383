"""Conditions: what is true in Python, and what is the same."""

from __future__ import annotations

import ast

from turnspec.codegen.printer.expressions import Expressions
from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    NULL,
    NUM,
    OBJECT,
    Kind,
    Refused,
    is_plain,
    may_be_null,
    parts_of,
    union,
    without_null,
)
from turnspec.codegen.printer.layout import (
    chain,
)
from turnspec.codegen.printer.names import (
    AND,
    CONDITION,
    EQUAL,
    LESS,
    OR,
    SIMPLE,
    TIGHT,
    UNARY,
    Value,
)

_COMPARED = {
    **{ast.Lt: ("<", LESS), ast.LtE: ("<=", LESS), ast.Gt: (">", LESS), ast.GtE: (">=", LESS)},
    **{ast.Eq: ("===", EQUAL), ast.Is: ("===", EQUAL)},
    **{ast.NotEq: ("!==", EQUAL), ast.IsNot: ("!==", EQUAL)},
}
_EMPTY = {"set": "new Set()", "map": "new Map()", "object": "{}"}
_BARE = ("list", "tuple")


class Conditions(Expressions):
    """Prints conditions, and what is chosen by them."""

    def truth(self, node: ast.expr) -> Value:
        """Return an expression that is as true as Python's."""
        if isinstance(node, ast.BoolOp):
            return self._all_true(node)
        value = self.value(node)
        kind = without_null(value.kind)
        if kind.name in ("list", "array", "set", "map") and isinstance(node, ast.NamedExpr):
            raise Refused(node, "walrus of a collection in a condition")
        if kind.name in ("list", "array", "set", "map"):
            member = "size" if kind.name in ("set", "map") else "length"
            text = value.within(TIGHT)
            if may_be_null(value.kind):
                return Value(f"{text}?.{member}", union(NUM, NULL))
            return Value(f"{text}.{member} > 0", BOOL, LESS, f"{text}.{member} === 0")
        if value.asked:
            return Value(value.asked, BOOL)
        if is_plain(value.kind):
            return value
        return Value(self.runtime("truthy", value.text), BOOL)

    def _all_true(self, node: ast.BoolOp) -> Value:
        rank = AND if isinstance(node.op, ast.And) else OR
        outer, values = self.kinds, []
        for each in node.values:
            values.append(self.truth(each))
            self.narrow(each, isinstance(node.op, ast.And))
        self.kinds = outer
        # TypeScript asks for brackets around && in ||.
        texts = [value.within(LESS - 1 if value.rank <= AND else rank) for value in values]
        return Value(
            chain(texts, "&&" if rank == AND else "||"), union(*(v.kind for v in values)), rank
        )

    def negated(self, node: ast.expr) -> Value:
        """Return an expression that is true where one is not."""
        value = self.truth(node)
        if value.negated:
            return Value(value.negated, BOOL, EQUAL)
        return Value(f"!{value.within(UNARY)}", BOOL, UNARY)

    def as_bool(self, node: ast.expr) -> Value:
        """Return whether an expression is true."""
        value = self.truth(node)
        if value.kind == BOOL:
            return value
        return Value(f"Boolean({value.text})", BOOL)

    def _boolop(self, node: ast.BoolOp, expected: Kind) -> Value:
        outer, values = self.kinds, []
        for each in node.values:
            values.append(self.value(each, expected))
            self.narrow(each, isinstance(node.op, ast.And))
        self.kinds = outer
        kinds = [value.kind for value in values]
        if all(kind == BOOL for kind in kinds):
            return self._all_true(node)
        *firsts, last = values
        is_or = isinstance(node.op, ast.Or)
        if all(is_plain(value.kind) for value in firsts):
            rank, sign = (OR, "||") if is_or else (AND, "&&")
            parts = [v.within(LESS - 1 if v.rank <= AND else rank) for v in values]
            before = [without_null(kind) if is_or else _when_false(kind) for kind in kinds[:-1]]
            kind = union(*[kind for kind in before if kind], kinds[-1])
            return Value(chain(parts, sign), kind, rank)
        if not is_or or len(firsts) > 1:
            raise Refused(node, "value of and, or of collections")
        other = node.values[1]
        kind = without_null(kinds[0])
        if isinstance(other, ast.Dict | ast.List | ast.Tuple) and not _size(other) and kind != ANY:
            empty = _EMPTY.get(kind.name, "[]")
            return Value(f"{firsts[0].within(AND)} ?? {empty}", kind, CONDITION)
        text = self.runtime("either", firsts[0].text, last.text)
        return Value(text, union(kind, last.kind))

    def _unaryop(self, node: ast.UnaryOp, _: Kind) -> Value:
        if isinstance(node.op, ast.Not):
            return self.negated(node.operand)
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return Value(f"-{value.within(UNARY)}", NUM, UNARY)
        raise Refused(node, f"operator {type(node.op).__name__}")

    def _ifexp(self, node: ast.IfExp, expected: Kind) -> Value:
        test, outer = self.truth(node.test).within(OR), self.kinds
        self.narrow(node.test, True)
        one, self.kinds = self.value(node.body, expected), outer
        self.narrow(node.test, False)
        other, self.kinds = self.value(node.orelse, expected), outer
        text = f"{test} ? {one.within(CONDITION + 1)} : {other.within(CONDITION)}"
        return Value(text, union(one.kind, other.kind), CONDITION)

    def _compare(self, node: ast.Compare, _: Kind) -> Value:
        sides = [node.left, *node.comparators]
        found = [
            self._compared(one, op, other)
            for one, op, other in zip(sides, node.ops, sides[1:], strict=False)
        ]
        if len(found) == 1:
            return found[0]
        return Value(chain([value.within(AND) for value in found], "&&"), BOOL, AND)

    def _compared(self, one: ast.expr, op: ast.cmpop, other: ast.expr) -> Value:
        if isinstance(op, ast.In | ast.NotIn):
            found = self._membership(one, other)
            if isinstance(op, ast.In):
                return found
            return Value(
                found.negated or f"!{found.within(UNARY)}", BOOL, AND if found.negated else UNARY
            )
        left, right = self.value(one), self.value(other)
        kind, is_same = without_null(left.kind), isinstance(op, ast.Is | ast.IsNot)
        if kind.name == "set" and isinstance(op, ast.LtE):
            return Value(self.runtime("isSubset", left.text, right.text), BOOL)
        if kind.name in ("list", "array") and isinstance(op, ast.Eq):
            return Value(self.runtime("equal", left.text, right.text), BOOL)
        comparable = ("str", "num", "bool", "null", "literal", "enum", "any")
        if not is_same and any(part.name not in comparable for part in parts_of(left.kind)):
            raise Refused(one, f"comparison of {kind.name}")
        sign, rank = _COMPARED[type(op)]
        text = f"{left.within(rank + 1)} {sign} {right.within(rank + 1)}"
        opposite = {"===": "!==", "!==": "==="}.get(sign)
        negated = f"{left.within(rank + 1)} {opposite} {right.within(rank + 1)}" if opposite else ""
        return Value(text, BOOL, rank, negated)

    def _membership(self, one: ast.expr, other: ast.expr) -> Value:
        sought, within = self.value(one), self.value(other)
        kind, text = without_null(within.kind), within.within(TIGHT)
        if any(
            part.name in ("list", "array", "tuple", "map", "object", "class", "set")
            for part in parts_of(sought.kind)
        ):
            raise Refused(one, "membership of what is compared by its parts")
        if kind.name in ("set", "map"):
            return Value(f"{text}.has({sought.text})", BOOL)
        if all(part.name in ("str", "literal") for part in parts_of(kind)):
            return Value(f"{text}.includes({sought.text})", BOOL)
        if kind in (OBJECT, ANY):
            return Value(self.runtime("hasMember", within.text, sought.text), BOOL)
        if kind.name not in ("list", "array", "tuple"):
            raise Refused(other, f"membership in {kind.name}")
        texts = self.items(other.elts)[0] if isinstance(other, ast.Tuple) else []
        if 0 < len(texts) < 4 and SIMPLE.fullmatch(sought.text) and "..." not in "".join(texts):
            parts = [[f"{sought.text} {sign} {text}" for text in texts] for sign in ("===", "!==")]
            rank = OR if len(texts) > 1 else EQUAL
            negated = f"({chain(parts[1], '&&')})" if len(texts) > 1 else parts[1][0]
            return Value(chain(parts[0], "||"), BOOL, rank, negated)
        return Value(self.runtime("among", sought.text, within.text), BOOL)

    def narrow(self, test: ast.expr, is_true: bool) -> None:
        """Note what a condition says of the kinds of names, where it is true or false."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                self.narrow(inner, not is_true)
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == is_true:
                for each in values:
                    self.narrow(each, is_true)
            case ast.Name(id=name) if is_true and name in self.kinds:
                self.kinds = {**self.kinds, name: without_null(self.kinds[name])}
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kind]):
                found = (
                    self.names.annotations.kind(kind) if ast.unparse(kind) not in _BARE else None
                )
                parts = [
                    part
                    for part in parts_of(self.value(test.args[0]).kind)
                    if (part == found or part.name == ast.unparse(kind)) == is_true
                ]
                if parts or found:
                    self.kinds = {**self.kinds, name: union(*parts) if parts else found or ANY}


def _when_false(kind: Kind) -> Kind | None:
    """Return the kind of what is false of a kind; None if nothing is."""
    parts = [part for part in parts_of(kind) if part.name in ("str", "num", "bool", "null")]
    return union(*parts) if parts else None


def _size(node: ast.Dict | ast.List | ast.Tuple) -> int:
    return len(node.keys if isinstance(node, ast.Dict) else node.elts)
