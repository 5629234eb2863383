"""Calls of functions and methods: the module's, and Python's own."""

from __future__ import annotations

import ast

from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    MATCH,
    NULL,
    NUM,
    OBJECT,
    PATTERN,
    SEARCH,
    SIZES,
    STR,
    Kind,
    Refused,
    function_of,
    list_of,
    union,
)
from turnspec.codegen.printer.layout import braces, called
from turnspec.codegen.printer.names import CONDITION, TIGHT, Class, Signature, Value, camel, member
from turnspec.codegen.printer.walking import Walking

_ELEMENT, _MEMBER, _MEMBER_OR_OTHER = map(Kind, ("element", "member", "member or other"))
_FOUND, _REPLACING = union(MATCH, NULL), function_of(MATCH, STR)
#: Functions of Python's with one of JavaScript's, by the number of what they are given, or for all.
_FUNCTIONS = {
    **{"chr": ("String.fromCodePoint", STR), "ValueError": ("new ValueError", ANY)},
    **{"int/1": ("Number", NUM), "int/2": ("Number.parseInt", NUM)},
    "str": ("String", STR),
    **{"min": ("Math.min", NUM), "max": ("Math.max", NUM)},
}
#: What methods are printed as, and what they give: a function's name, or a method's; or a form, in
#: which {0} is what has the method, {1} and {2} what it is given.
_OF_STR = {
    **{"startswith": (".startsWith", BOOL), "index": (".indexOf", NUM)},
    **{"replace/2": (".replaceAll", STR), "replace/3": ("{0}.replace({1}, {2})", STR)},
    **{"split/0": ("wordsIn", list_of(STR)), "split/1": (".split", list_of(STR))},
    **{"strip": ("strip", STR), "lstrip": ("stripStart", STR), "rstrip": ("stripEnd", STR)},
    "lower": (".toLowerCase", STR),
}
_OF_OBJECT = {"get": ("memberOf", ANY), "items": ("membersOf", list_of(Kind("tuple", (STR, ANY))))}
_METHODS = {
    **{"str": _OF_STR, "literal": _OF_STR, "object": _OF_OBJECT, "any": _OF_OBJECT},
    "list": {
        **{"append": (".push", NULL), "pop/0": (".pop", _ELEMENT), "index": (".indexOf", NUM)},
        **{"clear": ("{0}.length = 0", NULL), "insert": ("{0}.splice({1}, 0, {2})", NULL)},
    },
    "set": {"add": (".add", NULL), "clear": (".clear", NULL)},
    "map": {
        **{"values": (".values", Kind("iterable", (_MEMBER,))), "clear": (".clear", NULL)},
        **{"items": ("{0}", Kind("iterable", (Kind("tuple", (_ELEMENT, _MEMBER)),)))},
        "setdefault": ("keptIn", _MEMBER),
        **{"get/1": ("{0}.get({1}) ?? null", _MEMBER_OR_OTHER)},
        **{"get/2": ("{0}.get({1}) ?? {2}", _MEMBER_OR_OTHER)},
    },
    "match": {"start": (".start", NUM), "end": (".end", NUM), "group": (".get", STR)},
    "pattern": {
        **{"match": (".match", _FOUND), "fullmatch": (".fullmatch", _FOUND)},
        **{"search": (".search", _FOUND), "finditer": (".finditer", list_of(MATCH))},
        **{"findall": (".findall", list_of(STR)), "sub": (".sub", STR)},
    },
}


class Calls(Walking):
    """Prints calls."""

    def _call(self, node: ast.Call, expected: Kind) -> Value:
        match node.func:
            case ast.Name(id=name):
                return self._named_call(node, name, expected)
            case ast.Attribute(value=ast.Name(id="re"), attr=name):
                return self._expression(node, name)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name) if self.owner:
                signature = self.classes[self.owner.base].methods[name]
                function = "super" if name == "__init__" else f"super.{member(name)}"
                return self._given(function, node, signature)
            case ast.Attribute(value=value, attr=name):
                return self._method(node, self.value(value), name)
        raise Refused(node, "call of an expression")

    def _named_call(self, node: ast.Call, name: str, expected: Kind) -> Value:
        known = self.kinds.get(name) or self.globals.get(name, ANY)
        if known.name == "function":
            return self._of_value(Value(camel(name), known), node)
        if name in self.functions:
            return self._given(camel(name), node, self.functions[name])
        if name in self.classes:
            return self._new(node, self.classes[name])
        taken = len(node.args)
        function, kind = _FUNCTIONS.get(f"{name}/{taken}") or _FUNCTIONS.get(name) or ("", ANY)
        if function and not node.keywords:
            return Value(called(function, list(map(self.text, node.args))), kind)
        builtin = getattr(self, f"_call_{name}", None)
        if builtin is None:
            raise Refused(node, f"call of {name}")
        if taken > 1 + (name == "isinstance") or (node.keywords and name != "sorted"):
            raise Refused(node, f"{name} of this")
        found: Value = builtin(node, expected)
        return found

    def _call_len(self, node: ast.Call, _: Kind) -> Value:
        value = self.value(node.args[0])
        kind = value.kind.present.name
        if kind not in SIZES:
            raise Refused(node, f"len of {kind}")
        return Value(f"{value.tight}.{SIZES[kind]}", NUM)

    def _call_id(self, node: ast.Call, _: Kind) -> Value:
        """An object itself is what JavaScript compares it by."""
        return self.value(node.args[0])

    def _call_attempted(self, node: ast.Call, _: Kind) -> Value:
        """A call that `Simplifier` asks for: it may throw a ValueError."""
        value = self.value(node.args[0])
        return Value(called("attempted", [f"() => {value.text}"]), value.kind)

    def _call_bool(self, node: ast.Call, _: Kind) -> Value:
        return self.as_bool(node.args[0])

    def _new(self, node: ast.Call, class_: Class) -> Value:
        kind = Kind("class", text=class_.name)
        if not class_.record:
            return Value(self._given(f"new {class_.name}", node, class_.init).text, kind)
        texts = self._arguments(node, class_.init)
        if class_.members:
            texts.insert(0, f'"{class_.members["type"]}"')
        pairs = zip(map(member, class_.record), texts, strict=True)
        members = [text if text == name else f"{name}: {text}" for name, text in pairs]
        return Value(braces(members), kind)

    def _expression(self, node: ast.Call, name: str) -> Value:
        """Return a call of the module re."""
        first, *others = node.args
        if name == "escape":
            return Value(called("escapedForPattern", [self.text(first)]), STR)
        # In functions an expression is asked for often, and Python keeps it as well.
        function = "pattern" if self.depth else "new Pattern"
        pattern = Value(called(function, [self.text(first)]), PATTERN)
        if name == "compile" and not (others or node.keywords):
            return pattern
        if name not in ("match", "fullmatch", "sub", "search", "findall"):
            raise Refused(node, f"re.{name}")
        call = ast.Call(node.func, others, node.keywords)
        return self._method(ast.copy_location(call, node), pattern, name)

    def _of_value(self, function: Value, node: ast.Call) -> Value:
        if node.keywords or function.kind.name != "function":
            raise Refused(node, f"call of {function.kind.name}")
        given = list(map(self.text, node.args))
        return Value(called(function.tight, given), function.kind.of[-1])

    def _given(self, function: str, node: ast.Call, signature: Signature) -> Value:
        return Value(called(function, self._arguments(node, signature)), signature.returns)

    def _arguments(self, node: ast.Call, signature: Signature) -> list[str]:
        """Return what a call is given, in the order of the parameters."""
        names = list(signature.kinds)
        texts: list[str] = []
        for at, arg in enumerate(node.args):
            if isinstance(arg, ast.Starred):
                texts.append(self.value(arg.value).spread)
            else:
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

    # Methods.

    def _method(self, node: ast.Call, value: Value, name: str) -> Value:
        if name == "join":
            return Value(f"{self.array(node.args[0]).tight}.join({value.text})", STR)
        kind = value.kind.present
        if kind.any_in("class"):
            return self._own_method(node, value, name)
        table = _METHODS.get(kind.name, {})
        form, returns = table.get(f"{name}/{len(node.args)}") or table.get(name) or ("", ANY)
        if not form or node.keywords:
            raise Refused(node, f"method {name} of {kind.name}")
        given = [self.value(arg, _given_to(kind, name, at)) for at, arg in enumerate(node.args)]
        texts = [each.text for each in given]
        if kind == PATTERN and name == "search":
            return _searched(value.tight, texts)
        if "{" in form:
            single = [each.tight if "??" in form else each.text for each in given]
            found = form.format(value.tight, *single)
        elif form.startswith("."):
            found = called(f"{value.tight}{form}", texts)
        else:
            found = called(form, [value.text, *texts])
        if returns == _ELEMENT:
            found = self.sure(found)
        returns = _filled(returns, kind, given[-1].kind if given[1:] else NULL)
        return Value(found, returns, CONDITION if "??" in form else TIGHT)

    def _own_method(self, node: ast.Call, value: Value, name: str) -> Value:
        found = [self.member_of(part, name) for part in value.kind.present.parts]
        first, method = found[0], f"{value.tight}.{member(name)}"
        if first is None or None in found:
            raise Refused(node, f"method {name} of {value.kind.text or value.kind.name}")
        if first == SEARCH:
            return _searched(method, list(map(self.text, node.args)))
        if isinstance(first, Kind):
            return self._of_value(Value(method, first.present), node)
        return self._given(method, node, first)


def _given_to(kind: Kind, name: str, at: int) -> Kind:
    """Return the kind of what a method is given, as far as that matters."""
    if kind == PATTERN and name == "sub" and at == 0:
        return _REPLACING
    if kind.name == "map" and at:
        return kind.of[1]
    return kind.of[0] if name in ("append", "add") else ANY


def _filled(returns: Kind, kind: Kind, other: Kind) -> Kind:
    """Return the kind of what a method gives, by the kinds of its owner and of another value."""
    match returns.name:
        case "element":
            return kind.element
        case "member":
            return kind.of[1]
        case "member or other":
            return union(kind.of[1], other)
    return Kind(
        returns.name, tuple(_filled(part, kind, other) for part in returns.of), returns.text
    )


def _searched(pattern: str, given: list[str]) -> Value:
    """Return a search; whether it finds something has a method of its own."""
    asked = f"{pattern}.isIn({given[0]})" if len(given) == 1 else ""
    return Value(called(f"{pattern}.search", given), _FOUND, asked=asked)
