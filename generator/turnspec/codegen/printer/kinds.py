"""What is known of the values of printed Python: their kinds."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


class Refused(Exception):
    """The subset doesn't have this: what prints a node may raise it, and says what, and where."""

    def __init__(self, node: ast.AST, what: str) -> None:
        super().__init__(f"line {getattr(node, 'lineno', '?')}: {what}")


#: What holds elements in order, what has a size, and what is true if it isn't empty.
LISTS = ("list", "array", "tuple")
SIZES = {**dict.fromkeys((*LISTS, "str", "literal"), "length"), "set": "size", "map": "size"}
COLLECTIONS = ("list", "array", "set", "map")
#: Kinds whose truth is the same in both languages.
_PLAIN = (
    *("str", "num", "bool", "null", "literal", "enum", "class", "pattern", "match", "function"),
    *("tuple", "reading"),
)
#: Kinds as TypeScript has them, of what is in them, and by their texts.
_SHOWN = {
    **{"any": "Any", "str": "string", "num": "number", "bool": "boolean"},
    **{"null": "null", "void": "void"},
    **{"pattern": "Pattern", "search": "Pattern", "match": "Match", "object": "Json"},
    **{"tuple": "readonly [{0}]", "set": "Set<{0}>", "iterable": "Iterable<{0}>"},
    **{"map": "{1}Map<{0}>", "class": "{1}", "enum": "{1}", "literal": '"{1}"'},
    "reading": "Generator<undefined, {0}>",
}
#: Classes of the runtime that have another name there.
RENAMED = {"Event": "ParserEvent"}


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

    @property
    def parts(self) -> tuple[Kind, ...]:
        """The alternatives."""
        return self.of if self.name == "union" else (self,)

    @property
    def present(self) -> Kind:
        """What it is where it isn't None."""
        return union(*[part for part in self.parts if part != NULL] or [NULL])

    @property
    def element(self) -> Kind:
        """The kind of what is iterated over."""
        kinds: list[Kind] = []
        for part in self.present.parts:
            if part.name == "tuple":
                kinds += part.of
            elif part.name in (*COLLECTIONS, "iterable"):
                kinds.append(part.of[0])
            else:
                kinds.append(STR if part.name in ("str", "object", "literal") else ANY)
        return union(*kinds)

    @property
    def is_plain(self) -> bool:
        """Whether it is true in JavaScript just where it is in Python."""
        return self.all_in(*_PLAIN)

    def all_in(self, *names: str) -> bool:
        """Tell whether all alternatives have one of some names."""
        return all(part.name in names for part in self.parts)

    def any_in(self, *names: str) -> bool:
        """Tell whether an alternative has one of some names."""
        return any(part.name in names for part in self.parts)

    def part(self, name: str) -> Kind | None:
        """Return the first alternative of a name."""
        return next((part for part in self.parts if part.name == name), None)

    @property
    def shown(self) -> str:
        """The kind as TypeScript has it."""
        inner = [part.shown for part in self.of]
        match self.name:
            case _ if self.alias:
                return self.alias
            case "list" | "array":
                is_long = " " in inner[0].replace("readonly ", "")
                readonly = "readonly " * (self.name == "array")
                return f"{readonly}({inner[0]})[]" if is_long else f"{readonly}{inner[0]}[]"
            case "union":
                return " | ".join(f"({text})" if "=>" in text else text for text in inner)
            case "function":
                given = map("{}: {}".format, "abcdef", inner[:-1])
                return f"({', '.join(given)}) => {inner[-1]}"
            case "reading" if inner == ["null"]:
                inner = ["void"]
        return _SHOWN[self.name].format(", ".join(inner), RENAMED.get(self.text, self.text))


ANY, STR, NUM, BOOL, NULL, VOID = map(Kind, ("any", "str", "num", "bool", "null", "void"))
#: `SEARCH` is the method of an expression, as a value.
PATTERN, MATCH, OBJECT, SEARCH = map(Kind, ("pattern", "match", "object", "search"))


def list_of(kind: Kind) -> Kind:
    """Return the kind of lists of a kind."""
    return Kind("list", (kind,))


def function_of(*kinds: Kind) -> Kind:
    """Return the kind of functions of some kinds, the last of which is the result's."""
    return Kind("function", kinds)


def union(*kinds: Kind) -> Kind:
    """Return the kind of what is of any of some kinds."""
    if len(set(kinds)) == 1:
        return kinds[0]
    found = list(dict.fromkeys(part for kind in kinds for part in kind.parts))
    if ANY in found:
        return ANY
    if STR in found:
        found = [part for part in found if part.name != "literal"]
    # An empty literal is one of what stands beside it.
    for empty in [part for part in found if ANY in part.of and part.name in ("list", "set", "map")]:
        alike = LISTS if empty.name == "list" else (empty.name,)
        if any(part.name in alike for part in found if part != empty):
            found.remove(empty)
    return found[0] if len(found) == 1 else Kind("union", tuple(found))
