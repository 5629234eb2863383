"""What is known of the values of printed Python: their kinds."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace


class Refused(Exception):
    """The subset doesn't have this; it says what, and where."""

    def __init__(self, node: ast.AST, what: str) -> None:
        """Take a node and what it is."""
        super().__init__(f"line {getattr(node, 'lineno', '?')}: {what}")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of values.

    `of` are the kinds in it: of elements, keys and values, alternatives, or of what is given and
    then of the result. `text` names a class, or is a literal's; `alias` is how it is written.
    """

    name: str
    of: tuple[Kind, ...] = ()
    text: str = ""
    alias: str = field(default="", compare=False)


ANY, STR, NUM, BOOL, NULL = map(Kind, ("any", "str", "num", "bool", "null"))
PATTERN, MATCH, OBJECT, VOID = map(Kind, ("pattern", "match", "object", "void"))
#: The method `search` of an expression, as a value.
SEARCH = Kind("search")
#: Kinds whose truth is the same in both languages.
_PLAIN = (
    *("str", "num", "bool", "null", "literal", "enum"),
    *("class", "pattern", "match", "function"),
)
_PLAIN_ALWAYS_TRUE = ("tuple", "reading")
_NAMES = {
    **{"str": STR, "int": NUM, "float": NUM, "bool": BOOL, "None": NULL},
    **{"Any": ANY, "object": ANY},
}
_CONTAINERS = {
    **{"list": "list", "Sequence": "array", "set": "set", "dict": "map", "Mapping": "map"},
    **{"Iterable": "iterable", "Iterator": "iterable"},
}
_SHOWN = {
    **{"any": "Any", "str": "string", "num": "number", "bool": "boolean", "null": "null"},
    **{
        "void": "void",
        "pattern": "Pattern",
        "search": "Pattern",
        "match": "Match",
        "object": "Json",
    },
}
#: Classes of the runtime that have another name there.
RENAMED = {"Event": "ParserEvent"}


def list_of(kind: Kind) -> Kind:
    """Return the kind of lists of a kind."""
    return Kind("list", (kind,))


def class_of(name: str) -> Kind:
    """Return the kind of a class's instances."""
    return Kind("class", text=name)


def parts_of(kind: Kind) -> tuple[Kind, ...]:
    """Return the alternatives of a kind."""
    return kind.of if kind.name == "union" else (kind,)


def union(*kinds: Kind) -> Kind:
    """Return the kind of what is of any of some kinds."""
    if len(set(kinds)) == 1:
        return kinds[0]
    found = list(dict.fromkeys(part for kind in kinds for part in parts_of(kind)))
    if ANY in found:
        return ANY
    if STR in found:
        found = [part for part in found if part.name != "literal"]
    # An empty literal is one of what stands beside it.
    for empty in [part for part in found if ANY in part.of and part.name in ("list", "set", "map")]:
        alike = (empty.name, *(("array", "tuple") if empty.name == "list" else ()))
        if any(part.name in alike for part in found if part != empty):
            found.remove(empty)
    return found[0] if len(found) == 1 else Kind("union", tuple(found))


def without_null(kind: Kind) -> Kind:
    """Return what a kind is where it isn't None."""
    parts = [part for part in parts_of(kind) if part != NULL]
    return union(*parts) if parts else NULL


def may_be_null(kind: Kind) -> bool:
    """Tell whether None is of a kind."""
    return NULL in parts_of(kind)


def is_plain(kind: Kind) -> bool:
    """Tell whether what is of a kind is true in JavaScript just where it is in Python."""
    return all(part.name in (*_PLAIN, *_PLAIN_ALWAYS_TRUE) for part in parts_of(kind))


def element_of(kind: Kind) -> Kind:
    """Return the kind of what is iterated over."""
    kinds = []
    for part in parts_of(without_null(kind)):
        if part.name in ("list", "array", "set", "iterable", "map"):
            kinds.append(part.of[0])
        elif part.name == "tuple":
            kinds += part.of
        else:
            kinds.append(STR if part.name in ("str", "object", "literal") else ANY)
    return union(*kinds)


def shown(kind: Kind) -> str:
    """Return a kind as TypeScript has it."""
    inner = [shown(part) for part in kind.of]
    match kind.name:
        case _ if kind.alias:
            return kind.alias
        case "list" | "array":
            bracketed = (
                f"({inner[0]})[]" if " " in inner[0].replace("readonly ", "") else f"{inner[0]}[]"
            )
            return bracketed if kind.name == "list" else f"readonly {bracketed}"
        case "tuple":
            return f"readonly [{', '.join(inner)}]"
        case "set" | "iterable" | "map":
            name = {"set": "Set", "iterable": "Iterable", "map": "Map"}[kind.name]
            return f"{kind.text}{name}<{', '.join(inner)}>"
        case "reading":
            return f"Generator<undefined, {'void' if inner == ['null'] else inner[0]}>"
        case "union":
            return " | ".join(f"({text})" if "=>" in text else text for text in inner)
        case "function":
            given = ", ".join(
                f"{name}: {text}" for name, text in zip("abcdef", inner[:-1], strict=False)
            )
            return f"({given}) => {inner[-1]}"
        case "class" | "enum":
            return RENAMED.get(kind.text, kind.text)
        case "literal":
            return f'"{kind.text}"'
    return _SHOWN[kind.name]


class Annotations:
    """Reads annotations: `classes` are those of the module, with what makes them."""

    def __init__(self) -> None:
        """Begin with no names of the module's own."""
        self.aliases: dict[str, Kind] = {}
        self.classes: dict[str, tuple[Kind, ...]] = {}
        self.enums: set[str] = set()
        self.written: dict[str, ast.expr] = {}  # aliases that were not read yet

    def kind(self, node: ast.expr | None) -> Kind:
        """Return the kind that an annotation names.

        Raises:
            Refused: it is none of the subset.
        """
        match node:
            case None:
                return ANY
            case ast.Constant(value=None):
                return NULL
            case ast.Constant(value=str(text)):
                return self.kind(ast.parse(text, mode="eval").body)
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.Attribute(attr="Pattern" | "Match" as name):
                return PATTERN if name == "Pattern" else MATCH
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return union(self.kind(left), self.kind(right))
            case ast.Subscript(value=ast.Attribute(attr="Pattern" | "Match")):
                return self.kind(node.value)
            case ast.Subscript(value=ast.Name(id=name), slice=inner):
                return self._generic(node, name, inner)
        raise Refused(node, f"type {ast.unparse(node)}")

    def _named(self, node: ast.expr, name: str) -> Kind:
        if name in _NAMES:
            return _NAMES[name]
        if name in self.enums:
            return Kind("enum", text=name)
        if name in self.classes:
            return class_of(name)
        if name in self.written and name not in self.aliases:
            self.aliases[name] = Kind("class", text=name)  # for what refers to itself
            self.aliases[name] = replace(
                self.kind(self.written[name]), alias=RENAMED.get(name, name)
            )
        if name in self.aliases:
            return self.aliases[name]
        raise Refused(node, f"type {name}")

    def _generic(self, node: ast.expr, name: str, inner: ast.expr) -> Kind:
        items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name == "Literal":
            return union(*(Kind("literal", text=ast.literal_eval(item)) for item in items))
        if name == "Callable" and isinstance(items[0], ast.List):
            return Kind("function", (*map(self.kind, items[0].elts), self.kind(items[1])))
        if name == "tuple" and isinstance(items[-1], ast.Constant) and items[-1].value is ...:
            return Kind("array", (self.kind(items[0]),))
        if name == "type":
            made = self.kind(inner)
            return Kind("function", (*self.classes[parts_of(made)[0].text], made))
        kinds = tuple(map(self.kind, items))
        if name in ("Reading", "Generator", "TypeGuard"):
            return BOOL if name == "TypeGuard" else Kind("reading", kinds[-1:])
        if name == "Mapping" and kinds[-1] == ANY:
            return OBJECT
        if name == "tuple":
            return Kind("tuple", kinds)
        if name in _CONTAINERS:
            return Kind(_CONTAINERS[name], kinds, "Readonly" * (name == "Mapping"))
        raise Refused(node, f"type {ast.unparse(node)}")


def merged(scope: Mapping[str, Kind], name: str, kind: Kind) -> Kind:
    """Return the kind of a name that is also given a value of another kind."""
    return union(scope[name], kind) if name in scope else kind
