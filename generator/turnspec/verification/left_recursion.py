"""Rules that begin with themselves: engines refuse them, and who reads on never comes to an end."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter

from turnspec.verification import gbnf_expressions as gbnf


def left_recursive(rules: Mapping[str, gbnf.Expression]) -> str:
    """Return a rule that can come to itself again before anything is written, "" if none can."""
    empty = _empty_rules(rules)
    begin = {name: sorted(_begins_with(body, empty)) for name, body in rules.items()}
    try:
        TopologicalSorter(begin).prepare()  # it finds a ring in time that grows with the grammar
    except CycleError as error:
        ring: list[str] = error.args[1]
        return min(ring, key=list(rules).index)
    return ""


def _empty_rules(rules: Mapping[str, gbnf.Expression]) -> set[str]:
    """Return the rules that may write nothing."""
    empty: set[str] = set()
    while more := {name for name in rules.keys() - empty if _may_be_empty(rules[name], empty)}:
        empty |= more
    return empty


def _may_be_empty(expression: gbnf.Expression, empty: Collection[str]) -> bool:
    match expression:
        case gbnf.Text(text):
            return not text
        case gbnf.Reference(name):
            return name in empty
        case gbnf.Sequence(parts):
            return all(_may_be_empty(part, empty) for part in parts)
        case gbnf.Choice(options):
            return any(_may_be_empty(option, empty) for option in options)
        case gbnf.Repeat():
            return expression.least == 0 or _may_be_empty(expression.part, empty)
    return False


def _begins_with(expression: gbnf.Expression, empty: Collection[str]) -> set[str]:
    """Return the rules with which an expression can begin, before anything is written."""
    match expression:
        case gbnf.Reference(name):
            return {name}
        case gbnf.Sequence(parts):
            found: set[str] = set()
            for part in parts:
                found |= _begins_with(part, empty)
                if not _may_be_empty(part, empty):
                    break
            return found
        case gbnf.Choice(options):
            return {name for option in options for name in _begins_with(option, empty)}
        case gbnf.Repeat():
            return _begins_with(expression.part, empty)
    return set()
