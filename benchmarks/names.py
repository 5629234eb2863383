"""Which names of a source nothing uses: found by what its public names reach."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

#: What users call and read of a parser's objects, and what a shared engine takes of a parser.
PUBLIC_ATTRIBUTES = {
    *("feed", "finish", "message", "finish_reason", "to_dict", "to_delta", "type", "value"),
    "has_python_escapes",
}


@dataclass(slots=True)
class Uses:
    """The names and the attributes that code reads."""

    names: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, nodes: Iterable[ast.AST]) -> Uses:
        """Return what nodes read; types may be written as texts."""
        found = cls()
        for node in (inner for top in nodes for inner in ast.walk(top)):
            match node:
                case ast.Name(id=name, ctx=ast.Load()):
                    found.names.add(name)
                case ast.Attribute(attr=name, ctx=ast.Load()):
                    found.attributes.add(name)
                case ast.Constant(value=str() as text):
                    found.names |= _names_in(text)
        return found


def _names_in(text: str) -> set[str]:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@dataclass(frozen=True, slots=True)
class Definition:
    """What a source defines, and what that uses; of a class each member is one as well."""

    kind: str  # "" is what always runs
    name: str
    owner: str  # the class of a member
    line: int
    uses: Uses

    def is_reached(self, names: set[str], attributes: set[str]) -> bool:
        """Tell whether what is used so far uses this."""
        if self.owner:
            is_special = self.name.startswith("__") and self.name.endswith("__")
            return self.owner in names and (is_special or self.name in attributes)
        return not self.name or self.name in names


def unused_names(source: str) -> list[Definition]:
    """Return what a source defines and nothing uses that its public names reach."""
    tree = ast.parse(source)
    left = list(_definitions(tree.body))
    names, attributes = {"__all__", *_public(tree)}, set(PUBLIC_ATTRIBUTES)
    while True:
        reached = [each for each in left if each.is_reached(names, attributes)]
        if not reached:
            return [*(each for each in left if each.kind), *_unread_parameters(tree)]
        left = [each for each in left if each not in reached]
        for each in reached:
            names |= each.uses.names
            attributes |= each.uses.attributes


def _unread_parameters(tree: ast.Module) -> Iterator[Definition]:
    """Yield the parameters that functions don't read, but for those that others have as well."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    times = Counter(function.name for function in functions)
    for function in functions:
        read = {"self", "cls", *Uses.of(function.body).names}
        for each in function.args.args:
            if each.arg not in read and (times[function.name] == 1 or function.name == "__init__"):
                yield Definition("parameter", each.arg, "", each.lineno, Uses())


def _public(tree: ast.Module) -> set[str]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return set(ast.literal_eval(value))
    return set()


def _definitions(body: Iterable[ast.stmt]) -> Iterator[Definition]:
    for node in body:
        match node:
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias in aliases:
                    name = alias.asname or alias.name
                    kind = "" if name == "annotations" else "import"
                    yield Definition(kind, name, "", node.lineno, Uses())
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=inner):
                yield Definition("", "", "", node.lineno, Uses({"TYPE_CHECKING"}))
                yield from _definitions(inner)
            case ast.FunctionDef(name=name):
                yield Definition("function", name, "", node.lineno, Uses.of([node]))
            case ast.ClassDef():
                yield from _members(node)
            case ast.Assign() | ast.AnnAssign():
                for name in _bound(node):
                    yield Definition("constant", name, "", node.lineno, Uses.of([node]))
            case _:
                yield Definition("", "", "", node.lineno, Uses.of([node]))


def _members(node: ast.ClassDef) -> Iterator[Definition]:
    heads = [*node.bases, *node.decorator_list]
    yield Definition("class", node.name, "", node.lineno, Uses.of(heads))
    for inner in node.body:
        uses = Uses.of([inner])
        match inner:
            case ast.FunctionDef(name=name):
                yield Definition("method", name, node.name, inner.lineno, uses)
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                for name in _bound(inner):
                    if name == "__match_args__":  # so these are fields that anybody may read
                        uses.attributes |= set(ast.literal_eval(value))
                    yield Definition("member", name, node.name, inner.lineno, uses)
    for name, line in _fields(node).items():
        yield Definition("attribute", name, node.name, line, Uses())


def _bound(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    inner = (part for target in targets for part in ast.walk(target))
    return [part.id for part in inner if isinstance(part, ast.Name)]


def _fields(node: ast.ClassDef) -> dict[str, int]:
    """Return the attributes that a class's methods set of themselves, each with its line."""
    found: dict[str, int] = {}
    for inner in ast.walk(node):
        match inner:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                found.setdefault(name, inner.lineno)
    return found
