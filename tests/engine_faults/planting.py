"""The faults: methods that do nothing, conditions turned round, roles of markers exchanged."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

from turnspec.codegen.shared import engine_text

#: What isn't reading.
_LEFT_OUT = frozenset({"__getitem__"})


class Kind(Enum):
    """What is done to the engine."""

    CRIPPLED = auto()
    EXCHANGED = auto()
    TURNED = auto()


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong: with which function or condition and, of a function, with which two roles."""

    title: str
    kind: Kind
    at: int
    roles: tuple[int, int] = (0, 0)

    @property
    def tree(self) -> ast.Module:
        """The engine with the fault."""
        tree = ast.parse(engine_text())
        match self.kind:
            case Kind.CRIPPLED:
                _cripple(_functions(tree)[self.at][0])
            case Kind.EXCHANGED:
                found = _roles(_functions(tree)[self.at][0])
                first, second = (found[role] for role in self.roles)
                first.value, second.value = second.value, first.value
            case Kind.TURNED:
                condition, _ = _conditions(tree)[self.at]
                condition.test = ast.UnaryOp(ast.Not(), condition.test)
        return ast.fix_missing_locations(tree)


def faults() -> list[Fault]:
    """Return all faults, in the order of the engine's text."""
    tree = ast.parse(engine_text())
    found: list[Fault] = []
    for at, (node, place) in enumerate(_functions(tree)):
        if node.name in _LEFT_OUT or _is_empty(node):
            continue
        found.append(Fault(f"{place} does nothing", Kind.CRIPPLED, at))
        if node.name.endswith("_roles"):
            found += _exchanged(node, place, at)
    for at, (condition, place) in enumerate(_conditions(tree)):
        title = f"{place}: not ({ast.unparse(condition.test)})"
        found.append(Fault(title, Kind.TURNED, at))
    return found


def _functions(tree: ast.Module) -> list[tuple[ast.FunctionDef, str]]:
    """Return the functions and methods, each with its place; protocols aren't code."""
    found: list[tuple[ast.FunctionDef, str]] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append((node, node.name))
        elif isinstance(node, ast.ClassDef) and not _is_protocol(node):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            found += [(part, f"{node.name}.{part.name}") for part in methods]
    return found


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base) == "Protocol" for base in node.bases)


def _is_empty(node: ast.FunctionDef) -> bool:
    """Tell whether a method has nothing to do as it is: only a docstring, or a refusal."""
    rest = node.body[1:] if ast.get_docstring(node) else node.body
    return not rest or isinstance(rest[0], ast.Raise)


def _cripple(node: ast.FunctionDef) -> None:
    returns: dict[str, bool | str | int] = {"bool": False, "str": "", "int": 0}
    kind = ast.unparse(node.returns) if node.returns else "None"
    node.body = [ast.Return(ast.Constant(returns.get(kind)))]


def _roles(node: ast.FunctionDef) -> list[ast.Constant]:
    """Return the roles that a function gives: the first of each pair, or a key."""
    found: list[ast.Constant] = []
    for part in ast.walk(node):
        firsts: list[ast.expr | None] = []
        if isinstance(part, ast.Tuple):
            firsts = list(part.elts[:1])
        elif isinstance(part, ast.Dict):
            firsts = list(part.keys)
        found += [
            first
            for first in firsts
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value
        ]
    return found


def _exchanged(node: ast.FunctionDef, place: str, at: int) -> list[Fault]:
    """Return the faults of exchanging roles that stand one after the other."""
    names = [str(constant.value) for constant in _roles(node)]
    return [
        Fault(f"{place}: {one} and {other} exchanged", Kind.EXCHANGED, at, (number, number + 1))
        for number, (one, other) in enumerate(pairwise(names))
        if one != other
    ]


def _conditions(tree: ast.Module) -> list[tuple[ast.If, str]]:
    """Return all conditions, each with the function that it is in."""
    return [
        (part, place)
        for node, place in _functions(tree)
        for part in ast.walk(node)
        if isinstance(part, ast.If)
    ]
