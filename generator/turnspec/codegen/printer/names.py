"""What is known while something is printed: printed values, and what a module defines."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field

from turnspec.codegen.printer.kinds import (
    ANY,
    Annotations,
    Kind,
)

#: How tightly operators bind: what is weaker than its place stands in brackets.
LOW, CONDITION, OR, AND, EQUAL, LESS, PLUS, TIMES, UNARY, TIGHT = range(10)
_RESERVED = frozenset(
    (
        *("arguments", "await", "case", "catch", "const", "debugger", "default", "delete", "do"),
        *("enum", "eval", "export", "extends", "false", "finally", "function", "implements"),
        *("instanceof", "interface", "let", "new", "null", "package", "private", "protected"),
        *("public", "static", "super", "switch", "this", "throw", "true", "typeof", "var", "void"),
    )
)
SIMPLE = re.compile(r"[\w.]+")
_NOT_SHOWN = re.compile("[\x7f-\xa0\u1680\u2000-\u206f\u3000\ud800-\uf8ff\ufdd0-\uffff]")


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


@dataclass(slots=True)
class Signature:
    """What a function or a method takes and returns."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    defaults: dict[str, ast.expr] = field(default_factory=dict)
    returns: Kind = ANY
    is_property: bool = False

    @property
    def as_kind(self) -> Kind:
        """The kind of the function as a value."""
        return Kind("function", (*self.kinds.values(), self.returns))


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


@dataclass(slots=True)
class Names:
    """What a module defines, and what of the runtime it uses."""

    annotations: Annotations = field(default_factory=Annotations)
    classes: dict[str, Class] = field(default_factory=dict)
    functions: dict[str, Signature] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    runtime: frozenset[str] = frozenset()
    is_typed: bool = True


def camel(name: str, *, is_member: bool = False) -> str:
    """Return a name as TypeScript has it."""
    if name.isupper():
        return name
    start = name[: len(name) - len(name.lstrip("_"))]
    first, *others = name.strip("_").split("_")
    name = start + first + "".join(part[:1].upper() + part[1:] for part in others)
    return name if is_member or name not in _RESERVED else f"{name}_"


def quoted(text: str) -> str:
    """Return a text as a literal of JavaScript."""
    found = json.dumps(text, ensure_ascii=False)
    return _NOT_SHOWN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", found)


def literal(text: str) -> str:
    """Return a text as a literal; with many backslashes, as it is."""
    is_raw = text.count("\\") > 1 and not re.search(r"[`\x00-\x1f]|\$\{|\\$", text)
    if is_raw and not _NOT_SHOWN.search(text):
        return f"String.raw`{text}`"
    return quoted(text)
