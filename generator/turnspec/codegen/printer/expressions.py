"""Expressions: names, literals, operators and parts of values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import EllipsisType

from turnspec.codegen.printer import names
from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    LISTS,
    MATCH,
    NULL,
    NUM,
    OBJECT,
    SEARCH,
    STR,
    Kind,
    Refused,
    function_of,
    list_of,
    union,
)
from turnspec.codegen.printer.layout import called
from turnspec.codegen.printer.names import LOW, Annotations, Class, Signature, Value, camel
from turnspec.codegen.printer.scopes import Scope

_OF_MODULES = {"sys.maxsize": "Number.MAX_SAFE_INTEGER", "sys.maxunicode": "0x10ffff"}
_ATTRIBUTES = {
    ("pattern", "groupindex"): ("{0}.groupindex", Kind("array", (STR,))),
    ("pattern", "search"): ("{0}", SEARCH),
    ("match", "lastgroup"): ("{0}.lastgroup", union(STR, NULL)),
}


class Expressions:
    """Prints expressions. Names are those of a module, and of a function in it."""

    def __init__(self, *, is_typed: bool) -> None:
        """Begin outside of all functions, with a module that defines nothing."""
        self.is_typed = is_typed
        self.classes: dict[str, Class] = {}
        self.annotations = Annotations(self.classes)
        self.functions: dict[str, Signature] = {}
        self.globals: dict[str, Kind] = {}
        self.kinds: dict[str, Kind] = {}  # of local names
        self.owner: Class | None = None  # the class whose method is printed
        self.scope = Scope([], ())  # of the function that is printed
        self.depth = 0  # of blocks, of which functions are the first

    def value(self, node: ast.expr, expected: Kind = ANY) -> Value:
        """Return an expression; `expected` is the kind of what it is given to."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise Refused(node, type(node).__name__)
        found: Value = method(node, expected)
        return found

    def text(self, node: ast.expr, expected: Kind = ANY) -> str:
        """Return an expression as text."""
        return self.value(node, expected).text

    @contextmanager
    def knowing(self, kinds: Mapping[str, Kind]) -> Iterator[None]:
        """Know some names for a while; what is noted of names in it is forgotten then."""
        outer, self.kinds = self.kinds, {**self.kinds, **kinds}
        try:
            yield
        finally:
            self.kinds = outer

    def sure(self, text: str) -> str:
        """Return an expression that is never undefined, which a compiler can't know."""
        return f"{text}!" if self.is_typed else text

    def note(self, kind: Kind) -> str:
        """Return an annotation."""
        return f": {kind.shown}" if self.is_typed else ""

    def arrow(self, kinds: Mapping[str, Kind], body: Value, expected: Kind) -> Value:
        """Return a function of some names, whose kinds are told where none is expected."""
        is_known = expected.part("function") is not None
        notes = ("" if is_known else self.note(kind) for kind in kinds.values())
        text = f"({body.text})" if body.text.startswith("{") else body.text
        given = ", ".join(map("{}{}".format, map(camel, kinds), notes))
        return Value(f"({given}) => {text}", function_of(*kinds.values(), body.kind), LOW)

    # Names and literals.

    def _constant(self, node: ast.Constant, _: Kind) -> Value:
        match node.value:
            case None:
                return Value("null", NULL)
            case EllipsisType():
                return Value("undefined")
            case bool():
                return Value(str(node.value).lower(), BOOL)
            case str():
                return Value(names.literal(node.value), STR)
            case int() | float():
                return Value(str(node.value), NUM)
        raise Refused(node, "literal")

    def _name(self, node: ast.Name, expected: Kind) -> Value:
        name = node.id
        if name == "self" and self.owner:
            return Value("this", Kind("class", text=self.owner.name))
        kind = self.kinds.get(name) or self.globals.get(name)
        if kind is None and (function := self.functions.get(name)):
            kind = function_of(*function.kinds.values(), function.returns)
        if kind:
            return Value(camel(name), kind)
        if name not in self.classes:
            raise Refused(node, f"name {name}")
        init = self.classes[name].init
        given: list[ast.expr] = [ast.Name(parameter, ast.Load()) for parameter in init.kinds]
        with self.knowing(init.kinds):
            made = self.value(ast.copy_location(ast.Call(node, given, []), node))
        return self.arrow(init.kinds, made, expected)

    def _joinedstr(self, node: ast.JoinedStr, _: Kind) -> Value:
        text = ""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                text += f"${{{self._formatted(part)}}}"
            else:
                assert isinstance(part, ast.Constant)
                inner = names.quoted(str(part.value))[1:-1].replace('\\"', '"')
                text += inner.replace("`", "\\`").replace("${", "\\${")
        return Value(f"`{text}`", STR)

    def _formatted(self, part: ast.FormattedValue) -> str:
        value = self.value(part.value)
        if part.conversion == ord("r"):
            return called("repr", [value.text])
        if part.format_spec and ast.unparse(part.format_spec) == "f'04x'":
            return f'{value.tight}.toString(16).padStart(4, "0")'
        if part.format_spec:
            raise Refused(part, "format specification")
        if not value.kind.all_in("str", "num", "literal"):
            raise Refused(part, f"{value.kind.name} in a text")
        return value.text

    def items(self, nodes: list[ast.expr], expected: Kind = ANY) -> list[Value]:
        """Return the elements of a list."""
        found: list[Value] = []
        for node in nodes:
            match node:
                case ast.Starred(value=ast.Tuple(elts=more) | ast.List(elts=more)):
                    found += self.items(more, expected)
                case ast.Starred(value=many):
                    value = self.walked(many)
                    found.append(Value(value.spread, value.kind.element))
                case _:
                    found.append(self.value(node, expected.element))
        return found

    def _namedexpr(self, node: ast.NamedExpr, _: Kind) -> Value:
        value = self.value(node.value)
        return Value(f"({camel(node.target.id)} = {value.text})", value.kind)

    def _yieldfrom(self, node: ast.YieldFrom, _: Kind) -> Value:
        value = self.value(node.value)
        if value.kind.name == "reading":
            return Value(f"yield* {value.text}", value.kind.of[0], LOW)
        return Value(f"yield* {self.walked(node.value).text}", NULL, LOW)

    def _yield(self, node: ast.Yield, _: Kind) -> Value:
        if node.value is None or ast.unparse(node.value) in ("None", "MORE_TEXT"):
            return Value("yield", NULL, LOW)
        return Value(f"yield {self.text(node.value)}", NULL, LOW)

    def _lambda(self, node: ast.Lambda, expected: Kind) -> Value:
        given = node.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
            raise Refused(node, "lambda with more than names")
        known = expected.of if expected.name == "function" else (ANY,) * len(given.args)
        kinds = {arg.arg: kind for arg, kind in zip(given.args, known)}  # noqa: B905
        with self.knowing(kinds):
            return self.arrow(kinds, self.value(node.body), Kind("function"))

    # Parts of values.

    def _subscript(self, node: ast.Subscript, _: Kind) -> Value:
        value = self.value(node.value)
        kind, text = value.kind.present, value.tight
        if isinstance(node.slice, ast.Slice):
            return self._slice(node, value, node.slice)
        index = self.value(node.slice)
        match node.slice:
            case _ if index.kind == BOOL:
                raise Refused(node, "a truth as an index")
            case _ if kind == MATCH:
                return Value(f"{text}.get({index.text})", STR)
            case _ if kind.name == "map":
                return Value(self.sure(f"{text}.get({index.text})"), kind.of[1])
            case _ if kind in (OBJECT, ANY):
                return Value(called("memberOf", [value.text, index.text]))
            case ast.UnaryOp() if kind == STR and names.SIMPLE.fullmatch(text):
                place = index.text.replace("-", "- ")
                return Value(f"{text}.charAt({text}.length {place})", STR)
            case ast.UnaryOp():
                return Value(self.sure(f"{text}.at({index.text})"), kind.element)
            case ast.Constant(value=int(at)) if kind == STR:  # a character may be two units
                return Value(called("characters", [text, str(at), str(at + 1)]), STR)
            case ast.Constant(value=int(at)) if kind.name == "tuple":
                return Value(f"{text}[{at}]", kind.of[at])
        if kind.name not in ("list", "array", "union"):
            raise Refused(node, f"element of {kind.name}")
        kinds = [part.of[0] if part.name != "tuple" else ANY for part in kind.parts if part.of]
        return Value(self.sure(f"{text}[{index.text}]"), union(*kinds) if kinds else ANY)

    def _slice(self, node: ast.Subscript, value: Value, index: ast.Slice) -> Value:
        kind = value.kind.present
        if index.step is not None or kind.name not in ("str", "list", "array"):
            raise Refused(node, f"slice of {kind.name}")
        start, end = (self.text(each) if each else "" for each in (index.lower, index.upper))
        is_short = isinstance(index.upper, ast.Constant) and (not start or start.isdigit())
        if kind == STR and is_short:  # by characters, of which some are two units
            return Value(called("characters", [value.text, start or "0", end]), STR)
        match index.upper:
            case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=int(count))) if (
                kind == STR and index.lower and ast.unparse(left) == ast.unparse(index.lower)
            ):
                return Value(called("characters", [value.text, "0", str(count), start]), STR)
        inside = ", ".join(filter(None, [start or "0" * bool(end), end]))
        kind = list_of(kind.of[0]) if kind.name == "array" else kind
        return Value(f"{value.tight}.slice({inside})", kind)

    def _attribute(self, node: ast.Attribute, expected: Kind) -> Value:
        name, owner = node.attr, node.value.id if isinstance(node.value, ast.Name) else ""
        class_ = self.classes.get(owner)
        if class_ and name in class_.members:
            return Value(names.quoted(class_.members[name]), Kind("enum", text=owner))
        if constant := _OF_MODULES.get(f"{owner}.{name}"):
            return Value(constant, NUM)
        value = self.value(node.value)
        text, kind = value.tight, value.kind.present
        if (kind.name, name) in _ATTRIBUTES:
            form, of = _ATTRIBUTES[kind.name, name]
            return Value(form.format(text), of)
        kinds, made = [], ""
        for part in kind.parts:
            found = self.member_of(part, name)
            if found is None:
                raise Refused(node, f"attribute {name} of {part.text or part.name}")
            if isinstance(found, Signature) and not found.is_property:
                return self._bound(node, f"{text}.{names.member(name)}", found, expected)
            if isinstance(found, Signature):
                made, found = "()" * found.is_kept, found.returns
            kinds.append(found)
        return Value(f"{text}.{names.member(name)}{made}", union(*kinds))

    def _bound(self, node: ast.Attribute, method: str, found: Signature, expected: Kind) -> Value:
        """Return a method of what has a name as a function, which is quicker than a bound one."""
        if not isinstance(node.value, ast.Name) or self.scope.stores[node.value.id] > 1:
            raise Refused(node, f"method {node.attr} of what may be another one later")
        call = Value(f"{method}({', '.join(map(camel, found.kinds))})", found.returns)
        return self.arrow(found.kinds, call, expected)

    def member_of(self, kind: Kind, name: str) -> Kind | Signature | None:
        """Return what a class, or one that it is made of, has by a name."""
        class_ = self.classes.get(kind.text) if kind.name == "class" else None
        while class_:
            if name in class_.fields or name in class_.methods:
                return class_.fields.get(name) or class_.methods[name]
            class_ = self.classes.get(class_.base)
        return None

    def walked(self, node: ast.expr) -> Value:
        """Return what is gone through."""
        value = self.value(node)
        kind = value.kind.present
        if kind.name == "map":
            return Value(f"{value.tight}.keys()", Kind("iterable", (kind.of[0],)))
        if kind == OBJECT:
            return Value(called("keysOf", [value.text]), list_of(STR))
        if kind == ANY:
            return Value(called("walked", [value.text]), Kind("iterable", (ANY,)))
        if kind == STR or kind.name in ("set", "iterable"):
            return Value(value.text, Kind("iterable", kind.of or (kind,)), value.rank)
        if not kind.all_in(*LISTS):
            raise Refused(node, f"going through {kind.name}")
        return value

    def array(self, node: ast.expr) -> Value:
        """Return what is gone through, as an array."""
        found = self.walked(node)
        if found.kind.name != "iterable":
            return found
        return Value(f"[{found.spread}]", list_of(found.kind.of[0]))
