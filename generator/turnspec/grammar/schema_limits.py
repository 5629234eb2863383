"""How big a JSON Schema may be that becomes a grammar; engines have limits of their own.

What is beyond them is refused by name, before anything walks over the schema by calling itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from turnspec.spec.problems import Problem
from turnspec.spec.visible import HALF

#: Lists and objects inside each other, in the schema's text.
DEEPEST = 64
#: Schemas inside each other once references are followed, and references that lead to references.
DEEPEST_REFERENCES = 60
#: Keywords, names and values in all.
MOST_PARTS = 100_000
#: Values of one enumeration, and rules that a schema may ask for.
MOST_VALUES = 10_000
MOST_RULES = 5_000
#: Properties of one object, and first items of one array; engines take hardly more.
MOST_PROPERTIES = 1_000
MOST_FIRST_ITEMS = 20
#: Alternatives in one place, or properties of an object that may be missing: of more a notice says
#: that llguidance may stop, as it looks at 2,000 beginnings at once.
MOST_BESIDE = 400
#: Characters of a pattern, of a reference, and of a property's name.
LONGEST_PATTERN = 1_000
LONGEST_REFERENCE = 1_000
LONGEST_NAME = 200
#: A number's digits: that of the greatest that JSON's readers agree on.
MOST_DIGITS = 309
#: Digits behind the point of a bound; with more it is taken a little narrower.
MOST_PLACES = 20
#: Digits of a bound before those that are zeros; with more it is taken a little narrower. Each is a
#: choice inside the one before, and llguidance takes no more than about 30 inside each other.
MOST_LEADING_DIGITS = 20
#: Brackets inside each other in a pattern.
_DEEPEST_BRACKETS = 20
#: So many problems of one kind are told.
MOST_PROBLEMS = 10
_MOST: dict[str | int, tuple[int, str]] = {
    "enum": (MOST_VALUES, "values"),
    "properties": (MOST_PROPERTIES, "properties"),
    "required": (MOST_PROPERTIES, "names"),
    "prefixItems": (MOST_FIRST_ITEMS, "items"),
}


class TooBigError(ValueError):
    """A grammar for the schema would be beyond a limit; the message says which."""


def oversized(schema: object) -> list[Problem]:
    """Return where a schema is beyond a limit, or has numbers that aren't JSON's."""
    problems: list[Problem] = []
    waiting: list[tuple[object, tuple[str | int, ...]]] = [(schema, ())]
    count = 0
    while waiting and len(problems) < MOST_PROBLEMS:
        value, path = waiting.pop()
        count += 1
        if count > MOST_PARTS:
            return [Problem(f"has more than {MOST_PARTS} parts", path="#")]
        message = _objection(value, path)
        if message is not None:
            problems.append(Problem(message, path=_shown(path)))
            continue
        waiting += ((inner, (*path, key)) for key, inner in _inside(value))
    return problems


def _inside(value: object) -> Iterable[tuple[str | int, object]]:
    if isinstance(value, dict | Mapping):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


def _objection(value: object, path: tuple[str | int, ...]) -> str | None:
    """Return what is wrong with one part by itself; texts, of which there are most, go first."""
    if len(path) > DEEPEST:
        return f"is nested deeper than {DEEPEST}"
    key = path[-1] if path else ""
    if isinstance(value, str):
        return _of_text(value, key)
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _of_number(value)
    if isinstance(value, dict | list | tuple | Mapping):
        most, what = _MOST.get(key, (MOST_PARTS, "parts"))
        if len(value) > most:
            return f"has {len(value)} {what}; {most} at most"
    if isinstance(value, dict | Mapping):
        longest = max((len(str(key)) for key in value), default=0)
        if longest > LONGEST_NAME:
            return f"has a name of {longest} characters; {LONGEST_NAME} at most"
        return _of_text("".join(map(str, value)), "")
    return None


def _of_number(value: float) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is no number of JSON's"
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        return f"a number has more than {MOST_DIGITS} digits"
    return None


def _of_text(text: str, key: str | int) -> str | None:
    if key == "$ref" and len(text) > LONGEST_REFERENCE:
        return f"is a reference of {len(text)} characters; {LONGEST_REFERENCE} at most"
    if not text.isascii() and HALF.search(text):
        return "has half of a character, which can't be written"
    return _of_pattern(text) if key == "pattern" else None


def _of_pattern(pattern: str) -> str | None:
    if len(pattern) > LONGEST_PATTERN:
        return f"is a pattern of {len(pattern)} characters; {LONGEST_PATTERN} at most"
    depth = deepest = 0
    for char in pattern:
        depth += (char == "(") - (char == ")")
        deepest = max(deepest, depth)
    if deepest > _DEEPEST_BRACKETS:
        return f"is a pattern with brackets deeper than {_DEEPEST_BRACKETS}"
    return None


def _shown(path: tuple[Any, ...]) -> str:
    """Return a path that is no page itself."""
    return "/".join(("#", *(str(step)[:60] for step in path[:8])))
