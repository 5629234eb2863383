"""What is known while something is printed: printed values, and what a module defines."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from turnspec.codegen.printer.kinds import (
    ANY,
    BOOL,
    MATCH,
    NULL,
    NUM,
    OBJECT,
    PATTERN,
    RENAMED,
    STR,
    Kind,
    Refused,
    function_of,
    union,
)
from turnspec.spec.visible import visible_json

#: How tightly operators bind: what is weaker than its place stands in brackets.
LOW, CONDITION, OR, AND, EQUAL, LESS, PLUS, TIMES, UNARY, TIGHT = range(10)
_RESERVED = re.compile(
    "arguments|await|case|catch|const|debugger|default|delete|do|enum|eval|export|extends|false"
    "|finally|function|implements|instanceof|interface|let|new|null|package|private|protected"
    "|public|static|super|switch|this|throw|true|typeof|var|void"
)
_NAMES = {
    **{"str": STR, "int": NUM, "float": NUM, "bool": BOOL, "None": NULL},
    **{"Any": ANY, "object": ANY},
}
_CONTAINERS = {
    **{"list": "list", "Sequence": "array", "set": "set", "dict": "map", "Mapping": "map"},
    **{"Iterable": "iterable", "Iterator": "iterable"},
}
SIMPLE = re.compile(r"[\w.]+")


@dataclass(frozen=True, slots=True)
class Value:
    """A printed expression.

    `negated` is the opposite of what is asked, and `asked` what says whether it is true, if these
    have forms of their own.
    """

    text: str
    kind: Kind = ANY
    rank: int = TIGHT
    negated: str = ""
    asked: str = ""

    def within(self, rank: int) -> str:
        """Return the text, in brackets if it binds less than the place asks."""
        return self.text if self.rank >= rank else f"({self.text})"

    @property
    def tight(self) -> str:
        """The text as it stands before what is asked of it."""
        return self.within(TIGHT)

    @property
    def spread(self) -> str:
        """The text where its elements are listed."""
        return f"...{self.within(UNARY)}"

    def is_made(self, kind: Kind) -> bool:
        """Tell whether this, which is of a kind, is made by an expression that names its types."""
        return kind.name in ("set", "map") and self.text.startswith(("new Set<", "new Map<"))

    def is_of(self, kind: Kind) -> bool:
        """Tell whether a compiler sees that this is of a kind."""
        if self.is_made(kind):
            return True
        is_narrow = self.text.startswith("{") or self.kind.name in ("enum", "literal", "null")
        return kind == self.kind and ANY not in kind.of and self.text != "[]" and not is_narrow

    @property
    def copied(self) -> str:
        """A new list of the elements."""
        return self.text if self.text.startswith("[") and self.rank == TIGHT else f"[{self.spread}]"


@dataclass(slots=True)
class Signature:
    """What a function or a method takes and returns."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    defaults: dict[str, ast.expr] = field(default_factory=dict)
    returns: Kind = ANY
    is_property: bool = False
    is_kept: bool = False  # a property that is made once, a function that remembers


@dataclass(slots=True)
class Class:
    """A class of the module."""

    name: str
    node: ast.ClassDef
    base: str = ""
    fields: dict[str, Kind] = field(default_factory=dict)
    methods: dict[str, Signature] = field(default_factory=dict)
    #: Of an enumeration, by member; of what is a plain object, the names of what it has.
    members: dict[str, str] = field(default_factory=dict)
    record: tuple[str, ...] = ()

    @property
    def is_enum(self) -> bool:
        """Whether it is an enumeration."""
        return self.base == "Enum"

    @property
    def init(self) -> Signature:
        """What makes one."""
        return self.methods.get("__init__", Signature())


class Annotations:
    """Reads annotations."""

    def __init__(self, classes: Mapping[str, Class]) -> None:
        self.classes = classes
        self.aliases: dict[str, Kind] = {}
        self.written: dict[str, ast.expr] = {}  # aliases that were not read yet

    def kind(self, node: ast.expr | None) -> Kind:
        """Return the kind that an annotation names."""
        match node:
            case ast.Constant(value=None):
                return NULL
            case ast.Constant(value=str(text)):
                return self.kind(ast.parse(text, mode="eval").body)
            case ast.Name(id=name) if name in _NAMES:
                return _NAMES[name]
            case ast.Name(id=name) if name in self.classes:
                return Kind("enum" if self.classes[name].is_enum else "class", text=name)
            case ast.Name(id=name) if name in self.written:
                return self._alias(name)
            case ast.Attribute(attr="Pattern" | "Match" as name):
                return PATTERN if name == "Pattern" else MATCH
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return union(self.kind(left), self.kind(right))
            case ast.Subscript(value=ast.Attribute(attr="Pattern" | "Match")):
                return self.kind(node.value)
            case ast.Subscript(value=ast.Name(id=name), slice=inner):
                items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return self._generic(node, name, items)
        raise Refused(node or ast.Pass(), f"type {ast.unparse(node) if node else 'of nothing'}")

    def _alias(self, name: str) -> Kind:
        if name not in self.aliases:
            self.aliases[name] = Kind("class", text=name)  # for what refers to itself
            found = self.kind(self.written[name])
            self.aliases[name] = replace(found, alias=RENAMED.get(name, name))
        return self.aliases[name]

    def _generic(self, node: ast.expr, name: str, items: list[ast.expr]) -> Kind:
        match name, items:
            case "Literal", _:
                return union(*(Kind("literal", text=ast.literal_eval(item)) for item in items))
            case "Callable", [ast.List(elts=given), result]:
                return function_of(*map(self.kind, given), self.kind(result))
            case "tuple", [item, ast.Constant(value=value)] if value is ...:
                return Kind("array", (self.kind(item),))
            case "type", [item]:
                made = self.kind(item)
                init = self.classes[made.parts[0].text].init
                return function_of(*init.kinds.values(), made)
        kinds = tuple(map(self.kind, items))
        match name:
            case "TypeGuard":
                return BOOL
            case "Reading" | "Generator":
                return Kind("reading", kinds[-1:])
            case "Mapping" if kinds[-1] == ANY:
                return OBJECT
            case "tuple":
                return Kind("tuple", kinds)
        if name not in _CONTAINERS:
            raise Refused(node, f"type {ast.unparse(node)}")
        return Kind(_CONTAINERS[name], kinds, "Readonly" * (name == "Mapping"))


def reached(names: Iterable[str], uses: Callable[[str], Iterable[str]]) -> set[str]:
    """Return some names, and all that these use."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += uses(name)
    return found


def member(name: str) -> str:
    """Return a member's name as TypeScript has it."""
    if name.isupper():
        return name
    start = name[: len(name) - len(name.lstrip("_"))]
    first, *others = name.strip("_").split("_")
    return start + first + "".join(part[:1].upper() + part[1:] for part in others)


def camel(name: str) -> str:
    """Return a name as TypeScript has it."""
    found = member(name)
    return f"{found}_" if _RESERVED.fullmatch(found) else found


def quoted(text: str) -> str:
    """Return a text as a literal of JavaScript."""
    return visible_json(json.dumps(text, ensure_ascii=False))


def literal(text: str) -> str:
    """Return a text as a literal; with many backslashes, as it is."""
    is_raw = text.count("\\") > 1 and not re.search(r"[`\x00-\x1f]|\$\{|\\$", text)
    if is_raw and text.isprintable():
        return f"String.raw`{text}`"
    return quoted(text)
