"""Calls of functions: the module's, and Python's own."""

from __future__ import annotations

import ast
from collections.abc import Callable

from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    MATCH,
    NULL,
    NUM,
    PATTERN,
    STR,
    Kind,
    Refused,
    class_of,
    element_of,
    list_of,
    parts_of,
    union,
    without_null,
)
from turnspec.codegen.printer.layout import (
    braces,
    brackets,
)
from turnspec.codegen.printer.methods import Methods
from turnspec.codegen.printer.names import (
    TIGHT,
    UNARY,
    Class,
    Signature,
    Value,
    camel,
)

_TYPES = {"str": "string", "bool": "boolean", "int": "number"}


class Calls(Methods):
    """Prints calls, and what goes through values."""

    def _call(self, node: ast.Call, expected: Kind) -> Value:
        match node.func:
            case ast.Name(id=name):
                return self._named_call(node, name, expected)
            case ast.Attribute(value=ast.Name(id="re"), attr=name):
                return self._expression(node, name)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                return self._super(node, name)
            case ast.Attribute(value=value, attr=name):
                return self._method(node, value, name)
        raise Refused(node, "call of an expression")

    def _named_call(self, node: ast.Call, name: str, expected: Kind) -> Value:
        names = self.names
        if name in self.kinds and self.kinds[name].name == "function":
            return self._of_value(Value(camel(name), self.kinds[name]), node)
        if name in names.functions:
            signature = names.functions[name]
            return Value(self._given(camel(name), node, signature), signature.returns)
        if name in names.kinds and names.kinds[name].name == "function":
            return self._of_value(Value(camel(name), names.kinds[name]), node)
        if name in names.classes:
            return self._new(node, names.classes[name])
        builtin: Callable[[ast.Call, Kind], Value] | None = getattr(self, f"_call_{name}", None)
        if builtin is None:
            raise Refused(node, f"call of {name}")
        return builtin(node, expected)

    def _new(self, node: ast.Call, class_: Class) -> Value:
        init = class_.methods.get("__init__", Signature())
        kind = class_of(class_.name)
        if not class_.record:
            return Value(self._given(f"new {class_.name}", node, init), kind)
        texts = self._arguments(node, init)
        if class_.members:
            texts.insert(0, f'"{class_.members["type"]}"')
        members = [
            text if text == name else f"{name}: {text}"
            for name, text in zip(map(_member, class_.record), texts, strict=True)
        ]
        return Value(braces(members), kind)

    def _super(self, node: ast.Call, name: str) -> Value:
        assert self.owner
        base = self.names.classes[self.owner.base]
        signature = base.methods[name]
        function = "super" if name == "__init__" else f"super.{camel(name, is_member=True)}"
        return Value(self._given(function, node, signature), signature.returns)

    def _expression(self, node: ast.Call, name: str) -> Value:
        """Return a call of the module re."""
        kinds = {"sub": [ANY, Kind("function", (MATCH, STR)), ANY]}.get(
            name, [ANY] * len(node.args)
        )
        given = [self.text(arg, kind) for arg, kind in zip(node.args, kinds, strict=True)]
        if name == "compile" and len(given) == 1:
            # In functions it is asked for often, and Python keeps it as well.
            made = "pattern(" if self.depth else "new Pattern("
            return Value(brackets(made, given, ")"), PATTERN)
        if name == "escape":
            return Value(self.runtime("escapedForPattern", *given), STR)
        if name not in ("match", "fullmatch", "sub", "search"):
            raise Refused(node, f"re.{name}")
        made = self.runtime("pattern", given[0])
        returns = STR if name == "sub" else union(MATCH, NULL)
        return Value(brackets(f"{made}.{name}(", given[1:], ")"), returns)

    # Functions of Python's.

    def _call_len(self, node: ast.Call, _: Kind) -> Value:
        value = self.value(node.args[0])
        kind = without_null(value.kind).name
        if kind not in ("str", "literal", "list", "array", "tuple", "set", "map"):
            raise Refused(node, f"len of {kind}")
        member = "size" if kind in ("set", "map") else "length"
        return Value(f"{value.within(TIGHT)}.{member}", NUM)

    def _call_bool(self, node: ast.Call, _: Kind) -> Value:
        return self.as_bool(node.args[0])

    def _call_int(self, node: ast.Call, _: Kind) -> Value:
        if len(node.args) == 2:
            return Value(
                f"Number.parseInt({self.text(node.args[0])}, {self.text(node.args[1])})", NUM
            )
        return Value(f"Number({self.text(node.args[0])})", NUM)

    def _call_chr(self, node: ast.Call, _: Kind) -> Value:
        return Value(f"String.fromCodePoint({self.text(node.args[0])})", STR)

    def _minmax(self, node: ast.Call, name: str) -> Value:
        if len(node.args) == 1 and not node.keywords:
            many = self.walked(node.args[0], as_array=True)
            return Value(f"Math.{name}(...{many.text})", NUM)
        if node.keywords:
            raise Refused(node, f"{name} with keywords")
        return Value(brackets(f"Math.{name}(", [self.text(arg) for arg in node.args], ")"), NUM)

    def _call_min(self, node: ast.Call, _: Kind) -> Value:
        return self._minmax(node, "min")

    def _call_max(self, node: ast.Call, _: Kind) -> Value:
        return self._minmax(node, "max")

    def _call_any(self, node: ast.Call, _: Kind) -> Value:
        return self._each(node, "some")

    def _call_all(self, node: ast.Call, _: Kind) -> Value:
        return self._each(node, "every")

    def _each(self, node: ast.Call, method: str) -> Value:
        match node.args[0]:
            case ast.GeneratorExp(elt=asked) as one:
                return Value(self._comprehended(one, [asked], method).text, BOOL)
            case ast.Call(func=ast.Name(id="map"), args=[function, many]):
                given = self.walked(many, as_array=True)
                applied = self._applied(function, element_of(given.kind))
                return Value(f"{given.within(TIGHT)}.{method}({applied.text})", BOOL)
            case other:
                given = self.walked(other, as_array=True)
                outer, self.kinds = self.kinds, {**self.kinds, "it": element_of(given.kind)}
                truth = self.as_bool(ast.copy_location(ast.Name("it", ast.Load()), node))
                self.kinds = outer
                return Value(f"{given.within(TIGHT)}.{method}((it) => {truth.text})", BOOL)

    def _call_next(self, node: ast.Call, _: Kind) -> Value:
        match node.args:
            case [ast.GeneratorExp(elt=ast.Name(id=found), generators=[part]) as one, other] if (
                isinstance(part.target, ast.Name) and part.target.id == found and len(part.ifs) == 1
            ):
                value = self._comprehended(one, [part.ifs[0]], "find", with_conditions=False)
            case [ast.GeneratorExp() as one, other]:
                many = self.walked(one, as_array=True)
                value = Value(f"{many.within(TIGHT)}[0]", element_of(many.kind))
            case [ast.Call(func=ast.Name(id="iter"), args=[inner]), other]:
                many = self.walked(inner)
                value = Value(f"[...{many.text}][0]", element_of(many.kind))
            case _:
                raise Refused(node, "next of this")
        default = self.value(other)
        return Value(f"{value.text} ?? {default.within(TIGHT)}", union(value.kind, default.kind), 1)

    def _call_isinstance(self, node: ast.Call, _: Kind) -> Value:
        value, kinds = self.value(node.args[0]), ast.unparse(node.args[1])
        text = value.within(TIGHT)
        if kinds in _TYPES:
            return Value(
                f'typeof {text} === "{_TYPES[kinds]}"',
                BOOL,
                4,
                f'typeof {text} !== "{_TYPES[kinds]}"',
            )
        if kinds in ("list", "tuple"):
            return Value(f"Array.isArray({text})", BOOL)
        if kinds == "re.Pattern" or kinds in self.names.classes:
            return Value(f"{text} instanceof {kinds.removeprefix('re.')}", BOOL, 5)
        raise Refused(node, f"isinstance of {kinds}")

    def _call_set(self, node: ast.Call, expected: Kind) -> Value:
        if not node.args:
            kind = next(
                (part for part in parts_of(expected) if part.name == "set"), Kind("set", (ANY,))
            )
            return Value(f"new Set{self._generics(kind)}()", kind)
        many = self.walked(node.args[0])
        return Value(f"new Set({many.text})", Kind("set", (element_of(many.kind),)))

    def _call_list(self, node: ast.Call, _: Kind) -> Value:
        many = self.walked(node.args[0])
        return Value(f"[...{many.within(UNARY)}]", list_of(element_of(many.kind)))

    _call_tuple = _call_list

    def _call_sorted(self, node: ast.Call, _: Kind) -> Value:
        many = self.walked(node.args[0])
        if not node.keywords:
            return Value(f"[...{many.within(UNARY)}].sort()", list_of(element_of(many.kind)))
        text = self.runtime("sortBy", f"[...{many.within(UNARY)}]", self._key(node, many.kind))
        return Value(text, list_of(element_of(many.kind)))

    def _walked_call(self, node: ast.Call, _: Kind) -> Value:
        return self.walked(node)

    _call_map = _call_filter = _call_enumerate = _call_reversed = _call_zip = _walked_call

    def _call_ValueError(self, node: ast.Call, _: Kind) -> Value:
        return Value(
            self.runtime("new ValueError", *map(self.text, node.args)), class_of("ValueError")
        )


def _member(name: str) -> str:
    return camel(name, is_member=True)
