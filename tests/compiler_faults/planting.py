"""The faults: facts folded wrongly, rows lost or exchanged, parts of a parser's text dropped.

What is dropped of the text was needed: it runs when the format's texts are read.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import islice, pairwise
from random import Random

from benchmarks.statements import Traced

from tests.generated_formats import committed_format, committed_spec
from tests.marker_texts import MarkerTexts
from tests.reading_samples import Amount, samples
from turnspec.codegen.compiled import BEGINS_COMMON, compiled_source
from turnspec.codegen.facts import FormatFacts, facts_of
from turnspec.codegen.rules import Row

#: What is read to see what of a parser is needed.
_AMOUNT = Amount(odd=300, cuts=4)
#: How often a row is written to see whether another one fits there.
_WRITTEN = 60


class Kind(StrEnum):
    """What goes wrong."""

    FACT = "fact"
    ROW_LOST = "row lost"
    ROWS = "rows exchanged"
    ROLES = "roles exchanged"
    EMPTIED = "does nothing"
    BRANCH = "branch dropped"
    MARKER = "marker"


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, in which format, and the text of the parser that comes of it."""

    form: str
    kind: Kind
    what: str
    facts: FormatFacts | None = None  # that the format's own part is compiled with
    at: int = 0  # which node of the text is changed

    @property
    def title(self) -> str:
        """All of it, in a line."""
        return f"{self.form}: {self.kind}: {self.what}"

    @property
    def source(self) -> str:
        """The text of the faulty parser."""
        right = right_source(self.form)
        if self.facts is not None:
            own = compiled_source(self.facts).partition(BEGINS_COMMON)[0]
            return f"{own}{BEGINS_COMMON}{right.partition(BEGINS_COMMON)[2]}"
        tree = ast.parse(right)
        _CHANGES[self.kind](tree, self.at)
        return ast.unparse(ast.fix_missing_locations(tree))


@cache
def facts(form: str) -> FormatFacts:
    """Return the facts of a format."""
    return facts_of(committed_spec(form))


@cache
def right_source(form: str) -> str:
    """Return the text of a format's parser as it should be."""
    return compiled_source(facts(form))


def faults(form: str) -> list[Fault]:
    """Return all faults of a format's parser."""
    return [*_fact_faults(form), *_row_faults(form), *_text_faults(form)]


def sample(found: Sequence[Fault], count: int, seed: str = "") -> list[Fault]:
    """Return so many faults, of each kind as many: with a seed always the same, if they are there.

    A fact that isn't looked at where it is wrong changes not even the text, and is left out.
    """
    chosen: list[Fault] = []
    for kind in Kind:
        of_kind = (each for each in found if each.kind is kind)
        ordered = sorted(of_kind, key=lambda each: _place(each, seed))
        changing = (each for each in ordered if each.source != right_source(each.form))
        chosen += islice(changing, count // len(Kind))
    return chosen


def _place(fault: Fault, seed: str) -> str:
    return hashlib.sha256(f"{seed}{fault.title}".encode()).hexdigest()


# Faults of facts.


def _fact_faults(form: str) -> Iterator[Fault]:
    known = facts(form)
    for name, value in known.values.items():
        if isinstance(value, bool):
            values = {**known.values, name: not value}
            yield Fault(form, Kind.FACT, f"{name} is {not value}", replace(known, values=values))


def _row_faults(form: str) -> Iterator[Fault]:
    known, source = facts(form), right_source(form)
    # What names there are may change with a table that a parser has not.
    tables = {name: rows for name, rows in known.tables.items() if f"\n{name} = " in source}
    for table, rows in tables.items():
        for at, row in enumerate(rows):
            what = f"{table}[{at}] {_shown(row)}"
            changed = _with_rows(known, table, [*rows[:at], *rows[at + 1 :]])
            yield Fault(form, Kind.ROW_LOST, what, changed)
        for at, (one, other) in enumerate(pairwise(rows)):
            what = f"{table}[{at}] {_shown(one)} and {_shown(other)}"
            rest = rows[:at], rows[at + 2 :]
            if _may_meet(known, table, one, other):
                swapped = _with_rows(known, table, [*rest[0], other, one, *rest[1]])
                yield Fault(form, Kind.ROWS, what, swapped)
            if one.role != other.role:
                pair = replace(one, role=other.role), replace(other, role=one.role)
                roles = _with_rows(known, table, [*rest[0], *pair, *rest[1]])
                yield Fault(form, Kind.ROLES, what, roles)


def _may_meet(known: FormatFacts, table: str, one: Row, other: Row) -> bool:
    """Tell whether both rules may fit at the same place, as far as texts written from them tell."""
    texts = MarkerTexts(known, Random(table))
    written = [{texts.of_row(row) for _ in range(_WRITTEN)} for row in (one, other)]
    return any(
        first.startswith(second) or second.startswith(first)
        for first in written[0]
        for second in written[1]
    )


def _with_rows(known: FormatFacts, table: str, rows: Sequence[Row]) -> FormatFacts:
    return replace(known, tables={**known.tables, table: tuple(rows)})


def _shown(row: Row) -> str:
    return f"{row.role} {row.marker!r}"


# Faults of the text.


def _text_faults(form: str) -> Iterator[Fault]:
    tree = ast.parse(right_source(form))
    needed = _needed(form)
    for kind, nodes in _nodes(tree).items():
        for at, (what, first) in enumerate(nodes):
            if first is None or needed.get(first):
                yield Fault(form, kind, what, at=at)


def _needed(form: str) -> Mapping[int, bool]:
    """Return whether what begins in a line runs, as statements have a line of their own."""
    traced = Traced(right_source(form))
    for each in samples(committed_format(form), _AMOUNT):
        parser = traced.module.Parser(**each.options)
        for piece in each.pieces:
            parser.feed(*piece)
        parser.finish()
    return {each.line: ran for each, ran in zip(traced.statements, traced.ran, strict=True)}


def _nodes(tree: ast.Module) -> dict[Kind, list[tuple[str, int | None]]]:
    """Return what can be changed: what it is, and the line that runs if it is needed."""
    return {
        Kind.EMPTIED: [(place, _first(node.body)) for node, place in _functions(tree)],
        Kind.BRANCH: [(what, _first(body)) for _, what, body in _branches(tree)],
        Kind.MARKER: [(repr(node.value), None) for node in _markers(tree)],
    }


def _functions(tree: ast.Module) -> list[tuple[ast.FunctionDef, str]]:
    found: list[tuple[ast.FunctionDef, str]] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append((node, node.name))
        elif isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            found += [(part, f"{node.name}.{part.name}") for part in methods]
    return found


def _first(body: Sequence[ast.stmt]) -> int:
    """Return the line of the first statement that runs."""
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1 if is_docstring and len(body) > 1 else 0].lineno


def _branches(
    tree: ast.Module,
) -> list[tuple[ast.If | tuple[ast.Match, ast.match_case], str, list[ast.stmt]]]:
    found: list[tuple[ast.If | tuple[ast.Match, ast.match_case], str, list[ast.stmt]]] = []
    for function, place in _functions(tree):
        for node in ast.walk(function):
            if isinstance(node, ast.If):
                found.append((node, f"{place}: if {ast.unparse(node.test)}", node.body))
            elif isinstance(node, ast.Match):
                for case in node.cases:
                    what = f"{place}: case {ast.unparse(case.pattern)}"
                    found.append(((node, case), what, case.body))
    return found


def _markers(tree: ast.Module) -> list[ast.Constant]:
    """Return the texts of markers: constants of their own, and in rules."""
    found: list[ast.Constant] = []
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str()) as text):
                found += [text] if name.isupper() else []
            case ast.AnnAssign(value=ast.Tuple(elts=elements)):
                for element in elements:
                    if isinstance(element, ast.Call):
                        found += _texts(element)
            case ast.ClassDef(name="Parser"):
                return [text for text in found if _changed(text.value) != text.value]
    return found


def _texts(rule: ast.Call) -> list[ast.Constant]:
    inner = (part for argument in rule.args for part in ast.walk(argument))
    return [
        part for part in inner if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


def _changed(text: object) -> str:
    """Return a text in which the last character outside of slots is another one."""
    assert isinstance(text, str)
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {"}": 1, "{": -1}.get(text[at], 0)
        if depth == 0 and text[at] not in "{} \n":
            return f"{text[:at]}{'~' if text[at] != '~' else '#'}{text[at + 1 :]}"
    return text


def _empty(tree: ast.Module, at: int) -> None:
    node = _functions(tree)[at][0]
    returns: dict[str, ast.expr] = {
        **{"bool": ast.Constant(False), "str": ast.Constant(""), "int": ast.Constant(0)},
        **{"list": ast.List([], ast.Load()), "dict": ast.Dict([], [])},
    }
    kind = ast.unparse(node.returns).split("[")[0] if node.returns else "None"
    is_generator = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))
    body: list[ast.stmt] = [ast.Return(returns.get(kind, ast.Constant(None)))]
    node.body = [*body, ast.Expr(ast.Yield())] if is_generator else body


def _drop(tree: ast.Module, at: int) -> None:
    """Drop a branch: what comes in its place is what follows it."""
    node = _branches(tree)[at][0]
    if isinstance(node, ast.If):
        node.test, node.body = ast.Constant(False), [ast.Pass()]
    else:
        match, case = node
        match.cases.remove(case)
        match.cases = match.cases or [ast.match_case(ast.MatchAs(), None, [ast.Pass()])]


def _change(tree: ast.Module, at: int) -> None:
    node = _markers(tree)[at]
    node.value = _changed(node.value)


_CHANGES = {Kind.EMPTIED: _empty, Kind.BRANCH: _drop, Kind.MARKER: _change}
