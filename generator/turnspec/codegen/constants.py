"""The constants of a generated module: prompts, keys, types, and compiled expressions."""

from __future__ import annotations

import re

from turnspec.codegen.marker_plan import Marker
from turnspec.codegen.plan import ModulePlan
from turnspec.codegen.source import long_string, marker_set, raw, shown, used_constants
from turnspec.codegen.value_expressions import value_expressions
from turnspec.spec.model import Switch

_EXPRESSIONS = {
    "_KEY_TEXT": r'(?P<key>(?:[^"\\]|\\.|\\\Z){0,256})',
}
#: Marker sets that are looked for, not only expected.
SEARCHED = (
    *("_TEXT", "_VALUE", "_GUARDED_VALUE", "_QUOTED_END", "_PARAMETERS"),
    *("_ELEMENTS", "_CODE_END"),
)
_COMMENTS = {
    "_NEWLINE": "one is not part of the value",
    "_NEVER": "such a marker ends a value only at the end of the text",
}


def prompt_constants(plan: ModulePlan) -> tuple[str, ...]:
    """Return the lines with the header, the prompts, and a call's keys and types."""

    def note(switch: Switch) -> list[str]:
        word = plan.prompt_word
        if word is None or word.switches is not switch:
            return []
        roles = " or ".join(word.roles)
        return [f"# If the text of a {roles} message ends with {shown(word.word)!r}:"]

    def prompt(text: str) -> str:
        rest = text.removeprefix(plan.header)
        if rest == text:
            return long_string(text)
        return f"HEADER + {long_string(rest)}" if rest else "HEADER"

    lines = [f"HEADER = {long_string(plan.header)}  # of an assistant's turn"]
    lines += note(Switch.ON)
    lines.append(f"PROMPT = {prompt(plan.prompt_on)}  # what the prompt holds of the turn")
    if plan.prompt_on != plan.prompt_off:
        lines += note(Switch.OFF)
        lines.append(f"PROMPT_WITHOUT_THINKING = {prompt(plan.prompt_off)}")
    calls = plan.calls
    if calls and calls.kind == "native" and not calls.name_is_key:
        for constant, keys in calls.keys.items():
            if keys or constant != "_ID_KEYS":
                lines.append(f"{constant} = {_set(keys)}")
    if calls and calls.type_words:
        words = ", ".join(f"{word!r}: {_set(types)}" for word, types in calls.type_words.items())
        lines.append(f"_TYPES = {{{words}}}")
    if calls and calls.kind == "tagged" and not calls.structured:
        lines.append(_TYPE_NAMES)
    if calls and calls.elements:
        lines.append('_NESTED = {"array", "object"}')
        if calls.elements.name:
            lines.append(f"_ELEMENT = {calls.elements.name!r}  # of an array")
    return tuple(lines)


_TYPE_NAMES = """_TYPE_NAMES = {
    str: {"string"}, int: {"integer", "number"}, float: {"number"}, bool: {"boolean"},
    list: {"array"}, dict: {"object"}, type(None): {"null"},
}"""


def _set(values: tuple[str, ...]) -> str:
    return "{" + ", ".join(map(repr, values)) + "}" if values else "frozenset[str]()"


def marker_constants(plan: ModulePlan, sets: dict[str, tuple[Marker, ...]]) -> tuple[str, ...]:
    """Return the lines with the marker sets, by constant, and the expressions they refer to."""
    calls = plan.calls
    used = {constant for markers in sets.values() for constant in used_constants(markers)}
    known = {**_EXPRESSIONS, **plan.expressions, **(calls.expressions if calls else {})}
    lines = []
    for constant, expression in known.items():
        json_key = calls and calls.structured and calls.dialect == "json"
        if constant in used or (json_key and constant == "_KEY_TEXT"):
            comment = f"  # {_COMMENTS[constant]}" if constant in _COMMENTS else ""
            lines.append(f"{constant} = re.compile({raw(expression)}){comment}")
    for constant, markers in sets.items():
        searched = constant in SEARCHED and not (
            constant == "_PARAMETERS" and calls and calls.structured
        )
        lines.append(marker_set(constant, markers, searched=searched))
    if plan.openings:
        opening = "|".join(r"\s*".join(map(re.escape, text.split())) for text in plan.openings)
        lines.append(f"_OPENING = re.compile({raw(opening)})  # one without the rest is no content")
    if ends := end_expression(plan):
        lines.append(f"_ENDS = re.compile({raw(ends)})  # more ends behind the first")
    if calls and calls.structured:
        lines += value_expressions(calls)
    return tuple(lines)


def end_expression(plan: ModulePlan) -> str:
    """Return an expression for any number of ends of the turn, from the text's beginning."""
    found = [
        r"\s*".join(re.escape(piece) for piece in pieces if isinstance(piece, str))
        for marker in plan.text
        if marker.role == "end"
        for pieces in marker.alternatives
    ]
    return rf"\A(?:\s|{'|'.join(found)})+" if found else ""
