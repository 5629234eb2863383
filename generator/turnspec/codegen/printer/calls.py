"""Calls: of functions, of methods that Python's values have, and of what goes through values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    MATCH,
    NULL,
    NUM,
    OBJECT,
    PATTERN,
    SEARCH,
    STR,
    Kind,
    Refused,
    class_of,
    element_of,
    list_of,
    parts_of,
    shown,
    union,
    without_null,
)
from turnspec.codegen.printer.layout import braces, brackets
from turnspec.codegen.printer.values import (
    LOW,
    TIGHT,
    UNARY,
    Class,
    Expressions,
    Signature,
    Value,
    camel,
)

_ELEMENT = Kind("element")  # that of what has the method
#: What methods are printed as: {0} is what has the method, {1} what it is given; and what it gives.
_OF_STR = {
    **{"startswith": ("{0}.startsWith({1})", BOOL), "endswith": ("{0}.endsWith({1})", BOOL)},
    **{"replace": ("{0}.replaceAll({1})", STR), "count": ("countOf({0}, {1})", NUM)},
    **{"index": ("{0}.indexOf({1})", NUM), "find": ("{0}.indexOf({1})", NUM)},
    **{"strip": ("strip({0}, {1})", STR), "lstrip": ("stripStart({0}, {1})", STR)},
    **{"rstrip": ("stripEnd({0}, {1})", STR), "isdecimal": ("isDecimal({0})", BOOL)},
    **{"split": ("{0}.split({1})", list_of(STR)), "lower": ("{0}.toLowerCase()", STR)},
}
_OF_LIST = {
    **{"append": ("{0}.push({1})", NULL), "clear": ("{0}.length = 0", NULL)},
    **{"pop": ("{0}.pop()", _ELEMENT), "insert": ("{0}.splice({1})", NULL)},
    **{"index": ("{0}.indexOf({1})", NUM)},
}
_OF_SET = {"add": ("{0}.add({1})", NULL), "clear": ("{0}.clear()", NULL)}
_OF_MATCH = {
    **{"start": ("{0}.start({1})", NUM), "end": ("{0}.end({1})", NUM)},
    **{"group": ("{0}.get({1})", STR)},
}
_OF_PATTERN = {
    **{name: (f"{{0}}.{name}({{1}})", union(MATCH, NULL)) for name in ("match", "search")},
    **{"fullmatch": ("{0}.fullmatch({1})", union(MATCH, NULL))},
    **{"finditer": ("{0}.finditer({1})", Kind("iterable", (MATCH,)))},
    **{"findall": ("{0}.findall({1})", list_of(STR)), "sub": ("{0}.sub({1})", STR)},
}
_METHODS = {
    **{"str": _OF_STR, "literal": _OF_STR, "list": _OF_LIST, "set": _OF_SET},
    **{"match": _OF_MATCH, "pattern": _OF_PATTERN},
}
_TYPES = {"str": "string", "bool": "boolean", "int": "number"}


class Calls(Expressions):
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

    def _of_value(self, function: Value, node: ast.Call) -> Value:
        if node.keywords or function.kind.name != "function":
            raise Refused(node, f"call of {function.kind.name}")
        given = [self.text(arg) for arg in node.args]
        return Value(brackets(f"{function.within(TIGHT)}(", given, ")"), function.kind.of[-1])

    def _given(self, function: str, node: ast.Call, signature: Signature) -> str:
        return brackets(f"{function}(", self._arguments(node, signature), ")")

    def _arguments(self, node: ast.Call, signature: Signature) -> list[str]:
        """Return what a call is given, in the order of the parameters."""
        names = list(signature.kinds)
        texts: list[str] = []
        for at, arg in enumerate(node.args):
            if isinstance(arg, ast.Starred):
                texts.append(f"...{self.value(arg.value).within(UNARY)}")
                continue
            kind = signature.kinds[names[at]] if at < len(names) else ANY
            texts.append(self._passed(arg, kind))
        words = {word.arg or "**": word.value for word in node.keywords}
        if unknown := set(words) - set(names):
            raise Refused(node, f"keyword {min(unknown)}")
        for name in names[len(texts) :]:
            if name in words:
                texts.append(self._passed(words.pop(name), signature.kinds[name]))
            elif words:
                texts.append("undefined")
        return texts

    def _passed(self, node: ast.expr, kind: Kind) -> str:
        value = self.value(node, kind)
        if kind == OBJECT and value.kind.name == "map":
            raise Refused(node, "a dict, which is a Map, for a Mapping of anything")
        return value.text

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
        kinds = {"sub": [ANY, Kind("function", (MATCH, STR)), ANY]}.get(name, [ANY] * len(node.args))
        given = [self.text(arg, kind) for arg, kind in zip(node.args, kinds, strict=True)]
        if name == "compile" and len(given) == 1:
            return Value(brackets("new Pattern(", given, ")"), PATTERN)
        if name == "escape":
            return Value(self.runtime("escapedForPattern", *given), STR)
        if name not in ("match", "fullmatch", "sub", "search"):
            raise Refused(node, f"re.{name}")
        made = self.runtime("pattern", given[0])
        returns = STR if name == "sub" else union(MATCH, NULL)
        return Value(brackets(f"{made}.{name}(", given[1:], ")"), returns)

    # Methods.

    def _method(self, node: ast.Call, owner: ast.expr, name: str) -> Value:
        if name == "join":
            given = self.walked(node.args[0], as_array=True)
            return Value(f"{given.within(TIGHT)}.join({self.text(owner)})", STR)
        value = self.value(owner)
        kind, text = without_null(value.kind), value.within(TIGHT)
        if any(part.name == "class" for part in parts_of(kind)):
            return self._own_method(node, value, name)
        if kind.name == "map" or kind in (OBJECT, ANY):
            return self._of_mapping(node, value, name)
        if kind.name == "list" and name == "sort":
            return Value(self.runtime("sortBy", text, self._key(node, kind)), NULL)
        table = _METHODS.get(kind.name, {})
        if name not in table or node.keywords:
            raise Refused(node, f"method {name} of {kind.name}")
        if kind == STR and name == "split" and not node.args:
            return Value(self.runtime("wordsIn", text), list_of(STR))
        form, returns = table[name]
        given = self._method_arguments(node, kind, name)
        if kind == PATTERN and name == "search":
            return _searched(text, given)
        if kind.name == "str" and name == "replace" and len(given) == 3:
            form, given = "{0}.replace({1})", given[:2]
        inside = brackets("", given, "")
        found = form.replace("{1}", "\0").replace("{0}", text).replace("\0", inside)
        if returns == _ELEMENT:
            return Value(self.sure(found), element_of(kind))
        return Value(found.replace(", )", ")"), returns)

    def _method_arguments(self, node: ast.Call, kind: Kind, name: str) -> list[str]:
        if name == "pop" and node.args:
            raise Refused(node, "pop with a position")
        expected = kind.of[0] if kind.name in ("list", "set") and name in ("append", "add") else ANY
        if kind == PATTERN and name == "sub":
            return [
                self.text(node.args[0], Kind("function", (MATCH, STR))),
                self.text(node.args[1]),
            ]
        texts = [self.text(arg, expected) for arg in node.args]
        if name == "insert":
            texts.insert(1, "0")
        return texts

    def _own_method(self, node: ast.Call, value: Value, name: str) -> Value:
        found = {self.member_of(part, name) is None for part in parts_of(without_null(value.kind))}
        first = self.member_of(parts_of(without_null(value.kind))[0], name)
        if True in found or first is None:
            raise Refused(node, f"method {name} of {value.kind.text or value.kind.name}")
        member = f"{value.within(TIGHT)}.{camel(name, is_member=True)}"
        if first == SEARCH:
            given = [self.text(arg) for arg in node.args]
            return _searched(member, given)
        if isinstance(first, Kind):
            return self._of_value(Value(member, without_null(first)), node)
        return Value(self._given(member, node, first), first.returns)

    def _of_mapping(self, node: ast.Call, value: Value, name: str) -> Value:
        kind, text = without_null(value.kind), value.within(TIGHT)
        is_map = kind.name == "map"
        given = [self.value(arg, kind.of[1] if is_map and at else ANY) for at, arg in enumerate(node.args)]
        texts = [each.text for each in given]
        if name in ("items", "keys", "values"):
            return self.walked(node)
        if name == "get" and not is_map:
            return Value(self.runtime("memberOf", value.text, *texts))
        if name == "get":
            other = given[1] if len(given) > 1 else Value("null", NULL)
            return Value(f"{text}.get({texts[0]}) ?? {other.within(TIGHT)}", union(kind.of[1], other.kind), 1)
        if is_map and name == "pop" and len(given) == 2:
            return Value(self.runtime("taken", value.text, *texts), union(kind.of[1], given[1].kind))
        if is_map and name == "setdefault":
            return Value(self.runtime("kept", value.text, *texts), kind.of[1])
        if is_map and name == "clear":
            return Value(f"{text}.clear()", NULL)
        raise Refused(node, f"method {name} of {kind.name}")

    def _key(self, node: ast.Call, kind: Kind) -> str:
        (word,) = node.keywords
        return self.text(word.value, Kind("function", (element_of(kind), ANY)))

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
            return Value(f"Number.parseInt({self.text(node.args[0])}, {self.text(node.args[1])})", NUM)
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
                asked = self._applied(function, element_of(given.kind))
                return Value(f"{given.within(TIGHT)}.{method}({asked.text})", BOOL)
            case other:
                given = self.walked(other, as_array=True)
                outer, self.kinds = self.kinds, {**self.kinds, "it": element_of(given.kind)}
                asked = self.as_bool(ast.copy_location(ast.Name("it", ast.Load()), node))
                self.kinds = outer
                return Value(f"{given.within(TIGHT)}.{method}((it) => {asked.text})", BOOL)

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
            return Value(f'typeof {text} === "{_TYPES[kinds]}"', BOOL, 4, f'typeof {text} !== "{_TYPES[kinds]}"')
        if kinds in ("list", "tuple"):
            return Value(f"Array.isArray({text})", BOOL)
        if kinds == "re.Pattern" or kinds in self.names.classes:
            return Value(f"{text} instanceof {kinds.removeprefix('re.')}", BOOL, 5)
        raise Refused(node, f"isinstance of {kinds}")

    def _call_set(self, node: ast.Call, expected: Kind) -> Value:
        if not node.args:
            kind = next((part for part in parts_of(expected) if part.name == "set"), Kind("set", (ANY,)))
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

    def _call_ValueError(self, node: ast.Call, _: Kind) -> Value:  # noqa: N802 - Python's name
        return Value(self.runtime("new ValueError", *map(self.text, node.args)), class_of("ValueError"))

    # Going through values.

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
                    return Value(f"[...{inner.within(UNARY)}].reverse()", list_of(element_of(inner.kind)))
                case ast.Name(id="zip"), [one, other]:
                    both = [self.walked(each, as_array=True) for each in (one, other)]
                    pair = Kind("tuple", tuple(element_of(each.kind) for each in both))
                    return Value(self.runtime("zip", *(each.text for each in both)), list_of(pair))
                case ast.Attribute(value=value, attr="items" | "keys" | "values" as name), []:
                    return self._walked_mapping(value, name)
                case ast.Name(id="enumerate" | "map" | "reversed" | "zip" | "filter" as name), _:
                    raise Refused(node, f"{name} of this")
        value = self.value(node)
        kind = without_null(value.kind)
        if kind.name == "map":
            return Value(f"{value.within(TIGHT)}.keys()", Kind("iterable", (kind.of[0],)))
        if kind == OBJECT:
            return Value(self.runtime("keysOf", value.text), list_of(STR))
        if kind.name in ("set", "iterable"):
            return Value(value.text, Kind("iterable", kind.of), value.rank)
        if kind.name in ("list", "array", "tuple"):
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
            return Value(text if name == "items" else f"{text}.{name}()", Kind("iterable", (kinds[name],)))
        if kind not in (OBJECT, ANY) or name == "values":
            raise Refused(node, f"{name} of {kind.name}")
        element = Kind("tuple", (STR, ANY)) if name == "items" else STR
        return Value(self.runtime("membersOf" if name == "items" else "keysOf", value.text), list_of(element))

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
        asks = method in ("some", "every", "find")
        values = [self.truth(each) if asks else self.value(each, expected) for each in results]
        result = values[0].text if len(values) == 1 else brackets("[", [v.text for v in values], "]")
        kind = values[0].kind if len(values) == 1 else Kind("tuple", tuple(v.kind for v in values))
        if method != "map" or result != name:
            annotation = self.note(kind) if kind.name == "tuple" else ""
            body = f"({result})" if result.startswith("{") else result
            text += f".{method}(({name}){annotation} => {body})"
        self.kinds = outer
        found = element_of(many.kind) if method == "find" else kind
        return Value(text + ")" * (len(node.generators) - 1), found if method == "find" else list_of(found))

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


def _searched(pattern: str, given: list[str]) -> Value:
    """Return a search; whether it finds something has a method of its own."""
    text = brackets(f"{pattern}.search(", given, ")")
    asked = f"{pattern}.isIn({given[0]})" if len(given) == 1 else ""
    return Value(text, union(MATCH, NULL), asked=asked)


def _used(target: ast.expr, nodes: list[ast.expr]) -> ast.expr:
    """Return a target in which what nothing uses has no name."""
    if not isinstance(target, ast.Tuple):
        return target
    used = {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}
    names = [each if ast.unparse(each) in used else ast.Name("_", ast.Store()) for each in target.elts]
    return ast.Tuple(names, ast.Store())


def _member(name: str) -> str:
    return camel(name, is_member=True)


__all__ = ["Calls", "shown"]
