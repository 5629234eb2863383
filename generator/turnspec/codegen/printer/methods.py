"""Calls of methods: those of Python's values, and of the module's classes."""

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
    STR,
    Kind,
    Refused,
    element_of,
    list_of,
    parts_of,
    union,
    without_null,
)
from turnspec.codegen.printer.layout import (
    brackets,
)
from turnspec.codegen.printer.names import (
    TIGHT,
    UNARY,
    Signature,
    Value,
    camel,
)
from turnspec.codegen.printer.walking import Walking

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


class Methods(Walking):
    """Prints calls of methods."""

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
        texts = self._method_arguments(node, kind, name)
        if kind == PATTERN and name == "search":
            return _searched(text, texts)
        if kind.name == "str" and name == "replace" and len(texts) == 3:
            form, texts = "{0}.replace({1})", texts[:2]
        inside = brackets("", texts, "")
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
            return _searched(member, [self.text(arg) for arg in node.args])
        if isinstance(first, Kind):
            return self._of_value(Value(member, without_null(first)), node)
        return Value(self._given(member, node, first), first.returns)

    def _of_mapping(self, node: ast.Call, value: Value, name: str) -> Value:
        kind, text = without_null(value.kind), value.within(TIGHT)
        is_map = kind.name == "map"
        given = [
            self.value(arg, kind.of[1] if is_map and at else ANY)
            for at, arg in enumerate(node.args)
        ]
        texts = [each.text for each in given]
        if name in ("items", "keys", "values"):
            return self.walked(node)
        if name == "get" and not is_map:
            return Value(self.runtime("memberOf", value.text, *texts))
        if name == "get":
            other = given[1] if len(given) > 1 else Value("null", NULL)
            return Value(
                f"{text}.get({texts[0]}) ?? {other.within(TIGHT)}", union(kind.of[1], other.kind), 1
            )
        if is_map and name == "pop" and len(given) == 2:
            return Value(
                self.runtime("taken", value.text, *texts), union(kind.of[1], given[1].kind)
            )
        if is_map and name == "setdefault":
            return Value(self.runtime("kept", value.text, *texts), kind.of[1])
        if is_map and name == "clear":
            return Value(f"{text}.clear()", NULL)
        raise Refused(node, f"method {name} of {kind.name}")

    def _key(self, node: ast.Call, kind: Kind) -> str:
        (word,) = node.keywords
        return self.text(word.value, Kind("function", (element_of(kind), ANY)))


def _searched(pattern: str, given: list[str]) -> Value:
    """Return a search; whether it finds something has a method of its own."""
    text = brackets(f"{pattern}.search(", given, ")")
    asked = f"{pattern}.isIn({given[0]})" if len(given) == 1 else ""
    return Value(text, union(MATCH, NULL), asked=asked)
