"""Going through values: loops, comprehensions, and functions of many values."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from turnspec.codegen.printer.conditions import Conditions
from turnspec.codegen.printer.kinds import (
    ANY,
    NUM,
    OBJECT,
    STR,
    Kind,
    Refused,
    element_of,
    list_of,
    parts_of,
    shown,
    union,
    without_null,
)
from turnspec.codegen.printer.layout import (
    brackets,
)
from turnspec.codegen.printer.names import (
    LOW,
    TIGHT,
    UNARY,
    Value,
    camel,
)


class Walking(Conditions):
    """Prints what goes through values."""

    def walked(self, node: ast.expr, *, as_array: bool = False) -> Value:
        """Return what is gone through; as an array if that is asked."""
        found = self._walked(node)
        if as_array and found.kind.name == "iterable":
            return Value(f"[...{found.within(UNARY)}]", list_of(found.kind.of[0]))
        return found

    def _walked(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Call):
            match node.func, node.args:
                case ast.Name(id="enumerate"), [many]:
                    inner = self.walked(many, as_array=True)
                    pair = Kind("tuple", (NUM, element_of(inner.kind)))
                    return Value(f"{inner.within(TIGHT)}.entries()", Kind("iterable", (pair,)))
                case ast.Name(id="map"), [function, many]:
                    inner = self.walked(many, as_array=True)
                    by = self._applied(function, element_of(inner.kind))
                    return Value(f"{inner.within(TIGHT)}.map({by.text})", list_of(by.kind.of[-1]))
                case ast.Name(id="reversed"), [many]:
                    inner = self.walked(many)
                    return Value(
                        f"[...{inner.within(UNARY)}].reverse()", list_of(element_of(inner.kind))
                    )
                case ast.Name(id="zip"), [one, other]:
                    both = [self.walked(each, as_array=True) for each in (one, other)]
                    pair = Kind("tuple", tuple(element_of(each.kind) for each in both))
                    return Value(self.runtime("zip", *(each.text for each in both)), list_of(pair))
                case ast.Attribute(value=value, attr="items" | "keys" | "values" as name), []:
                    return self._walked_mapping(value, name)
                case ast.Name(id="enumerate" | "map" | "reversed" | "zip" | "filter" as name), _:
                    raise Refused(node, f"{name} of this")
        return self._walked_value(node)

    def _walked_value(self, node: ast.expr) -> Value:
        value = self.value(node)
        kind = without_null(value.kind)
        if kind.name == "map":
            return Value(f"{value.within(TIGHT)}.keys()", Kind("iterable", (kind.of[0],)))
        if kind == OBJECT:
            return Value(self.runtime("keysOf", value.text), list_of(STR))
        if kind.name in ("set", "iterable"):
            return Value(value.text, Kind("iterable", kind.of), value.rank)
        if all(part.name in ("list", "array", "tuple") for part in parts_of(kind)):
            return value
        if kind == ANY:
            return Value(self.runtime("walked", value.text), Kind("iterable", (ANY,)))
        if kind == STR:
            return Value(value.text, Kind("iterable", (kind,)), value.rank)
        raise Refused(node, f"going through {kind.name}")

    def _walked_mapping(self, node: ast.expr, name: str) -> Value:
        value = self.value(node)
        kind, text = without_null(value.kind), value.within(TIGHT)
        if kind.name == "map":
            kinds = {"keys": kind.of[0], "values": kind.of[1], "items": Kind("tuple", kind.of)}
            return Value(
                text if name == "items" else f"{text}.{name}()", Kind("iterable", (kinds[name],))
            )
        if kind not in (OBJECT, ANY) or name == "values":
            raise Refused(node, f"{name} of {kind.name}")
        element = Kind("tuple", (STR, ANY)) if name == "items" else STR
        return Value(
            self.runtime("membersOf" if name == "items" else "keysOf", value.text), list_of(element)
        )

    def _applied(self, function: ast.expr, kind: Kind) -> Value:
        """Return a function of one value, as an arrow."""
        if isinstance(function, ast.Lambda):
            return self.value(function, Kind("function", (kind, ANY)))
        argument = ast.Name("it", ast.Load())
        if ast.unparse(function).startswith("str."):
            assert isinstance(function, ast.Attribute)
            call = ast.Call(ast.Attribute(argument, function.attr, ast.Load()), [], [])
        else:
            call = ast.Call(function, [argument], [])
        outer, self.kinds = self.kinds, {**self.kinds, "it": kind}
        result = self.value(ast.fix_missing_locations(ast.copy_location(call, function)))
        self.kinds = outer
        return Value(f"(it) => {result.text}", Kind("function", (kind, result.kind)), LOW)

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, expected: Kind) -> Value:
        return self._comprehended(node, [node.elt], expected=element_of(expected))

    _generatorexp = _listcomp

    def _setcomp(self, node: ast.SetComp, _: Kind) -> Value:
        many = self._comprehended(node, [node.elt])
        return Value(f"new Set({many.text})", Kind("set", many.kind.of))

    def _dictcomp(self, node: ast.DictComp, _: Kind) -> Value:
        many = self._comprehended(node, [node.key, node.value])
        kind = Kind("map", many.kind.of[0].of)
        return Value(f"new Map{self._generics(kind)}({many.text})", kind)

    def _comprehended(
        self,
        node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp,
        results: Sequence[ast.expr],
        method: str = "map",
        *,
        with_conditions: bool = True,
        expected: Kind = ANY,
    ) -> Value:
        """Return a comprehension as calls of an array's methods."""
        outer, text = self.kinds, ""
        self.kinds = dict(outer)
        for number, part in enumerate(node.generators):
            many = self.walked(part.iter, as_array=True)
            text += many.within(TIGHT)
            self.bind(part.target, element_of(many.kind))
            for condition in part.ifs if with_conditions else ():
                asked, guard, before = self.truth(condition).text, "", dict(self.kinds)
                name = self.target(_used(part.target, [condition]))
                self.narrow(condition, True)
                kind = self.kinds.get(ast.unparse(part.target), ANY)
                if self.names.is_typed and kind != before.get(ast.unparse(part.target), ANY):
                    guard, asked = f": {name} is {shown(kind)}", f"Boolean({asked})"
                text += f".filter(({name}){guard} => {asked})"
            later = node.generators[number + 1 :]
            nodes = [each for more in later for each in (more.iter, *more.ifs)]
            name = self.target(_used(part.target, [*results, *nodes]))
            if later:
                text += f".flatMap(({name}) => "
        made, found = self._made(results, method, name, expected)
        self.kinds = outer
        kind = element_of(many.kind) if method == "find" else list_of(found)
        return Value(text + made + ")" * (len(node.generators) - 1), kind)

    def _made(
        self, results: Sequence[ast.expr], method: str, name: str, expected: Kind
    ) -> tuple[str, Kind]:
        """Return the last call of a comprehension, and what it gives of an element."""
        asks = method in ("some", "every", "find")
        values = [self.truth(each) if asks else self.value(each, expected) for each in results]
        result, kind = values[0].text, values[0].kind
        if len(values) > 1:
            result = brackets("[", [value.text for value in values], "]")
            kind = Kind("tuple", tuple(value.kind for value in values))
        if method == "map" and result == name:
            return "", kind
        annotation = self.note(kind) if kind.name == "tuple" else ""
        body = f"({result})" if result.startswith("{") else result
        return f".{method}(({name}){annotation} => {body})", kind

    def bind(self, target: ast.expr, kind: Kind) -> None:
        """Note the kinds of the names in a target."""
        match target:
            case ast.Name(id=name):
                self.kinds[name] = kind
            case ast.Tuple(elts=elements):
                kinds = [part for part in parts_of(without_null(kind)) if part.name == "tuple"]
                for at, each in enumerate(elements):
                    inner = [part.of[at] for part in kinds] or [element_of(kind)]
                    self.bind(each, union(*inner))

    def target(self, node: ast.expr) -> str:
        """Return what something is assigned to."""
        match node:
            case ast.Name(id=name):
                return camel(name)
            case ast.Tuple(elts=elements):
                parts = ["" if ast.unparse(each) == "_" else self.target(each) for each in elements]
                while parts and not parts[-1]:
                    parts.pop()
                return f"[{', '.join(parts)}]"
            case ast.Attribute():
                return self.text(node)
        raise Refused(node, f"assignment to {ast.unparse(node)}")


def _used(target: ast.expr, nodes: list[ast.expr]) -> ast.expr:
    """Return a target in which what nothing uses has no name."""
    if not isinstance(target, ast.Tuple):
        return target
    used = {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}
    names = [
        each if ast.unparse(each) in used else ast.Name("_", ast.Store()) for each in target.elts
    ]
    return ast.Tuple(names, ast.Store())
