"""The faults: functions that do nothing, conditions turned round, roles of rules exchanged."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise

from turnspec.codegen import compiled
from turnspec.codegen.facts import FormatFacts
from turnspec.codegen.rules import Row

#: The engine's files, as they stand one after the other in a module.
FILES = (*compiled.OWN, *compiled.COMMON)
#: What functions of a kind return that do nothing; None, where none of these begins its name.
_NOTHING = {"bool": "False", "str": "''", "int": "0", "list": "[]", "set": "set()", "dict": "{}"}


class Kind(Enum):
    """What is done to the engine, or to a format's rules."""

    NOTHING = auto()
    CRIPPLED = auto()
    EXCHANGED = auto()
    TURNED = auto()


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong: with a function or condition of a file, or with two roles in a table."""

    title: str
    kind: Kind
    file: int = 0
    at: int = 0
    table: str = ""
    roles: tuple[str, str] = ("", "")

    def bodies(self, given: Sequence[str]) -> list[str]:
        """Return what the engine's files hold, with the fault."""
        bodies = list(given)
        if self.kind in (Kind.CRIPPLED, Kind.TURNED):
            bodies[self.file] = ast.unparse(self._tree(bodies[self.file]))
        return bodies

    def _tree(self, body: str) -> ast.Module:
        tree = ast.parse(body)
        if self.kind is Kind.CRIPPLED:
            _cripple(_functions(tree)[self.at][0])
        else:
            condition, _ = _conditions(tree)[self.at]
            condition.test = ast.UnaryOp(ast.Not(), condition.test)
        return ast.fix_missing_locations(tree)

    def facts(self, facts: FormatFacts) -> FormatFacts:
        """Return a format's facts, with the fault."""
        if self.kind is not Kind.EXCHANGED:
            return facts
        one, other = self.roles
        exchange = {one: other, other: one}
        rows = [
            replace(row, role=exchange.get(row.role, row.role)) for row in facts.tables[self.table]
        ]
        return replace(facts, tables={**facts.tables, self.table: tuple(rows)})


def faults_of_engine() -> list[Fault]:
    """Return the faults in the engine's own files, in their order."""
    _, bodies = compiled._engine()
    trees = list(enumerate(map(ast.parse, bodies)))
    crippled = [
        Fault(f"{FILES[file]}: {place} does nothing", Kind.CRIPPLED, file, at)
        for file, tree in trees
        for at, (node, place) in enumerate(_functions(tree))
        if not _is_empty(node)
    ]
    turned = [
        Fault(f"{FILES[file]}: {place}: not ({ast.unparse(node.test)})", Kind.TURNED, file, at)
        for file, tree in trees
        for at, (node, place) in enumerate(_conditions(tree))
    ]
    return crippled + turned


def faults_of_tables(known: Sequence[FormatFacts]) -> list[Fault]:
    """Return the faults of exchanging two roles that stand next to each other in some table."""
    pairs = {
        (table, *sorted((one.role, other.role)))
        for facts in known
        for table, rows in facts.tables.items()
        for one, other in pairwise(rows)
        if one.role != other.role
    }
    return [
        Fault(
            f"{table}: {one} and {other} exchanged", Kind.EXCHANGED, table=table, roles=(one, other)
        )
        for table, one, other in sorted(pairs)
    ]


def _functions(tree: ast.Module) -> list[tuple[ast.FunctionDef, str]]:
    """Return the functions and methods, each with its place."""
    found: list[tuple[ast.FunctionDef, str]] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append((node, node.name))
        elif isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            found += [(part, f"{node.name}.{part.name}") for part in methods]
    return found


def _is_empty(node: ast.FunctionDef) -> bool:
    """Tell whether a function has nothing to do as it is: only a docstring, or a refusal."""
    rest = node.body[1:] if ast.get_docstring(node) else node.body
    return not rest or isinstance(rest[0], ast.Raise)


def _cripple(node: ast.FunctionDef) -> None:
    """Leave a function nothing to do; one that is a generator stays one."""
    is_generator = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))
    kind = ast.unparse(node.returns).removeprefix("Reading[") if node.returns else ""
    value = next((text for name, text in _NOTHING.items() if kind.startswith(name)), "None")
    if "| None" in kind:
        value = "None"
    node.body = ast.parse(f"return {value}\nyield" if is_generator else f"return {value}").body


def _conditions(tree: ast.Module) -> list[tuple[ast.If, str]]:
    """Return all conditions, each with the function that it is in; no module has observers."""
    return [
        (part, place)
        for node, place in _functions(tree)
        for part in ast.walk(node)
        if isinstance(part, ast.If) and ast.unparse(part.test) != "IS_TRACED"
    ]


def changed_rows(fault: Fault, facts: FormatFacts) -> Iterator[Row]:
    """Yield the rules of a format that a fault changes."""
    for table, rows in fault.facts(facts).tables.items():
        yield from (new for new, old in zip(rows, facts.tables[table], strict=True) if new != old)
