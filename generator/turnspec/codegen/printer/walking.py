"""Many values: lists, sets and tables, comprehensions, and functions of many values."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from turnspec.codegen.printer.conditions import Conditions
from turnspec.codegen.printer.kinds import ANY, BOOL, NUM, OBJECT, Kind, Refused, list_of, union
from turnspec.codegen.printer.layout import called, listed
from turnspec.codegen.printer.names import Value, camel

#: Lists for which the runtime has classes of its own.
_GROWING = ("GrowingText",)
_Comprehension = ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp


class Walking(Conditions):
    """Prints what holds many values, and what goes through them."""

    def _list(self, node: ast.List | ast.Tuple, expected: Kind) -> Value:
        if expected.alias in _GROWING and not node.elts:
            return Value(f"new {expected.alias}()", expected)
        found = self.items(node.elts, expected)
        kind = union(*(each.kind for each in found)) if found else ANY
        return Value(listed([each.text for each in found]), list_of(kind))

    def _tuple(self, node: ast.Tuple, expected: Kind) -> Value:
        is_open = any(isinstance(each, ast.Starred) for each in node.elts) or not node.elts
        if is_open or expected.part("array"):
            return self._list(node, expected)
        part, size = expected.part("tuple"), len(node.elts)
        wanted = part.of if part and len(part.of) == size else [ANY] * size
        values = list(map(self.value, node.elts, wanted))
        kind = Kind("tuple", tuple(value.kind for value in values))
        return Value(listed([value.text for value in values]), kind)

    def _set(self, node: ast.Set, _: Kind) -> Value:
        many = self._list(ast.List(node.elts), ANY)
        return Value(f"new Set({many.text})", Kind("set", many.kind.of))

    def _dict(self, node: ast.Dict, expected: Kind) -> Value:
        if expected.part("object") and not node.keys:
            return Value("{}", OBJECT)
        wanted = expected.part("map")
        texts: list[str] = []
        kinds: list[tuple[Kind, ...]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            other = self.value(value, wanted.of[1] if wanted and key else ANY)
            if key is None:
                texts.append(other.spread)
                kinds.append(other.kind.of)
            else:
                one = self.value(key)
                texts.append(listed([one.text, other.text]))
                kinds.append((one.kind, other.kind))
        kind = wanted or Kind("map", tuple(map(union, *kinds)) if kinds else (ANY, ANY))
        return Value(f"new Map{self.generics(kind)}({listed(texts) if texts else ''})", kind)

    def generics(self, kind: Kind) -> str:
        """Return what something is made of, as arguments of a type."""
        is_told = self.is_typed and ANY not in kind.of
        return f"<{', '.join(part.shown for part in kind.of)}>" if is_told else ""

    def _call_enumerate(self, node: ast.Call, _: Kind) -> Value:
        many = self.array(node.args[0])
        pair = Kind("tuple", (NUM, many.kind.element))
        return Value(f"{many.tight}.entries()", Kind("iterable", (pair,)))

    def _call_reversed(self, node: ast.Call, _: Kind) -> Value:
        many = self.walked(node.args[0])
        return Value(f"{many.copied}.reverse()", list_of(many.kind.element))

    def _call_set(self, node: ast.Call, expected: Kind) -> Value:
        if node.args:
            many = self.walked(node.args[0])
            return Value(f"new Set({many.text})", Kind("set", (many.kind.element,)))
        kind = expected.part("set") or Kind("set", (ANY,))
        return Value(f"new Set{self.generics(kind)}()", kind)

    def _call_sorted(self, node: ast.Call, _: Kind) -> Value:
        given = [ast.unparse(each) for each in node.keywords]
        if given != ["key=len", "reverse=True"]:
            raise Refused(node, "sorted of this")
        many = self.walked(node.args[0])
        by_length = "sort((one, other) => other.length - one.length)"
        return Value(f"{many.copied}.{by_length}", list_of(many.kind.element))

    def _call_any(self, node: ast.Call, _: Kind, method: str = "some") -> Value:
        match node.args:
            case [ast.GeneratorExp(elt=asked) as one]:
                return Value(self._comprehended(one, [asked], method).text, BOOL)
        raise Refused(node, "any or all of this")

    def _call_all(self, node: ast.Call, _: Kind) -> Value:
        return self._call_any(node, _, "every")

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, expected: Kind) -> Value:
        return self._comprehended(node, [node.elt], expected=expected.element)

    _generatorexp = _listcomp

    def _setcomp(self, node: ast.SetComp, _: Kind) -> Value:
        many = self._comprehended(node, [node.elt])
        return Value(f"new Set({many.text})", Kind("set", many.kind.of))

    def _dictcomp(self, node: ast.DictComp, _: Kind) -> Value:
        many = self._comprehended(node, [node.key, node.value])
        kind = Kind("map", many.kind.of[0].of)
        return Value(f"new Map{self.generics(kind)}({many.text})", kind)

    def _comprehended(
        self,
        node: _Comprehension,
        results: Sequence[ast.expr],
        method: str = "map",
        expected: Kind = ANY,
    ) -> Value:
        """Return a comprehension as calls of an array's methods."""
        text = ""
        with self.knowing({}):
            for number, part in enumerate(node.generators):
                many = self.array(part.iter)
                text += many.tight
                self.bind(part.target, many.kind.element)
                text += "".join(self._filtered(part.target, each) for each in part.ifs)
                later = node.generators[number + 1 :]
                nodes = [each for more in later for each in (more.iter, *more.ifs)]
                name = self.target(_used(part.target, [*results, *nodes]))
                if later:
                    text += f".flatMap(({name}) => "
            made, found = self._made(results, method, name, expected)
        return Value(text + made + ")" * (len(node.generators) - 1), list_of(found))

    def _filtered(self, target: ast.expr, condition: ast.expr) -> str:
        """Return the call that leaves out what doesn't fulfil a condition."""
        before, own = self.kinds, ast.unparse(target)
        asked, sure, guard = self.truth(condition), self.as_bool(condition), ""
        name = self.target(_used(target, [condition]))
        self.narrow(condition, True)
        kind = self.kinds.get(own, ANY)
        if self.is_typed and kind != before.get(own, ANY):
            guard, asked = f": {name} is {kind.shown}", sure
        return called(".filter", [f"({name}){guard} => {asked.text}"])

    def _made(
        self, results: Sequence[ast.expr], method: str, name: str, expected: Kind
    ) -> tuple[str, Kind]:
        """Return the last call of a comprehension, and what it gives of an element."""
        is_made = method == "map"
        values = [self.value(each, expected) if is_made else self.truth(each) for each in results]
        result, kind = values[0].text, values[0].kind
        if len(values) > 1:
            result = listed([value.text for value in values])
            kind = Kind("tuple", tuple(value.kind for value in values))
        if is_made and result == name:
            return "", kind
        body = f"({result})" if result.startswith("{") else result
        body += " as const" * (self.is_typed and kind.name == "tuple")
        return called(f".{method}", [f"({name}) => {body}"]), kind

    def bind(self, target: ast.expr, kind: Kind) -> None:
        """Note the kinds of the names in a target."""
        match target:
            case ast.Name(id=name):
                self.kinds[name] = kind
            case ast.Tuple(elts=elements):
                tuples = [part for part in kind.present.parts if part.name == "tuple"]
                for at, each in enumerate(elements):
                    self.bind(each, union(*([part.of[at] for part in tuples] or [kind.element])))

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
    unused = ast.Name("_", ast.Store())
    return ast.Tuple([each if ast.unparse(each) in used else unused for each in target.elts])
