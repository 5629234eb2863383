"""Rules that begin with themselves: engines refuse them, and who reads on never comes to an end."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from turnspec.verification.gbnf_expressions import (
    Choice,
    Expression,
    Reference,
    Repeat,
    Sequence,
    Text,
)


def left_recursive(rules: Mapping[str, Expression]) -> str:
    """Return a rule that can come to itself again before anything is written, "" if none can."""
    empty = _empty_rules(rules)
    begin = {name: _begins_with(body, empty) for name, body in rules.items()}
    # What begins with no such rule, or with which none begins, isn't on a way around.
    around = _turned(_without_ends(_turned(_without_ends(begin))))
    for name in around:
        reached, waiting = set[str](), list(around[name])
        while waiting:
            inner = waiting.pop()
            if inner == name:
                return name
            if inner not in reached:
                reached.add(inner)
                waiting += around[inner]
    return ""


def _without_ends(steps: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the steps from which one can go on for ever."""
    before, left = _turned(steps), {name: len(found) for name, found in steps.items()}
    ends = [name for name, count in left.items() if not count]
    while ends:
        end = ends.pop()
        del left[end]
        for name in before[end]:
            left[name] -= 1
            if not left[name]:
                ends.append(name)
    return {name: {step for step in steps[name] if step in left} for name in left}


def _turned(steps: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the steps in the other direction."""
    turned: dict[str, set[str]] = {name: set() for name in steps}
    for name, found in steps.items():
        for step in found:
            turned[step].add(name)
    return turned


def _empty_rules(rules: Mapping[str, Expression]) -> set[str]:
    """Return the rules that may write nothing."""
    empty: set[str] = set()
    grown = True
    while grown:
        more = {name for name in rules if name not in empty and _may_be_empty(rules[name], empty)}
        empty |= more
        grown = bool(more)
    return empty


def _may_be_empty(expression: Expression, empty: Collection[str]) -> bool:
    match expression:
        case Text(text):
            return not text
        case Reference(name):
            return name in empty
        case Sequence(parts):
            return all(_may_be_empty(part, empty) for part in parts)
        case Choice(options):
            return any(_may_be_empty(option, empty) for option in options)
        case Repeat():
            return expression.least == 0 or _may_be_empty(expression.part, empty)
    return False


def _begins_with(expression: Expression, empty: Collection[str]) -> set[str]:
    """Return the rules with which an expression can begin, before anything is written."""
    match expression:
        case Reference(name):
            return {name}
        case Sequence(parts):
            found: set[str] = set()
            for part in parts:
                found |= _begins_with(part, empty)
                if not _may_be_empty(part, empty):
                    break
            return found
        case Choice(options):
            return {name for option in options for name in _begins_with(option, empty)}
        case Repeat():
            return _begins_with(expression.part, empty)
    return set()
