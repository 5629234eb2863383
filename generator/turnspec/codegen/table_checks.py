"""What is wrong with a format table: fields, their types, and the notation of its markers.

A vendored module doesn't check its table, which turnspec has written; whoever writes one by hand,
or has another program write it, learns here what it should be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import GenericAlias
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from turnspec.codegen.format import Format
from turnspec.codegen.markers import SLOTS

_NEEDED = ("name", "header", "prompt", "order", "turn_end")
#: Fields whose texts aren't markers: they stand as they are, or are names.
_PLAIN = frozenset(
    {
        *(
            "name",
            "header",
            "prompt",
            "prompt_with_thinking",
            "prompt_without_thinking",
            "order",
            "members",
        ),
        *("other_members", "other_values", "types", "tool", "argument", "method", "separator"),
        *("raw_quote", "form", "escapes", "literals", "element_key", "empty", "guard"),
    }
)


def table_problems(table: object) -> list[str]:
    """Return all that is wrong with a table, each with the path of its field; none: it is one."""
    if not isinstance(table, Mapping):
        return ["not a format table: it has no fields"]
    found = [f"{name}: is missing" for name in _NEEDED if name not in table]
    found += _wrong_fields(table, Format, "")
    if "calls" in table and "arguments" not in table:
        found.append("arguments: is missing, as there are calls")
    try:
        json.dumps(table)
    except (TypeError, ValueError) as error:
        found.append(f"not data that JSON can hold: {error}")
    return found


def _wrong_fields(table: Mapping[Any, Any], kind: Any, path: str) -> Iterator[str]:
    hints = get_type_hints(kind)
    for key, value in table.items():
        at = f"{path}{key}"
        if key not in hints:
            yield f"{at}: there is no such field; there are {', '.join(hints)}"
            continue
        yield from _wrong_value(value, hints[key], at, is_marker=key not in _PLAIN)


def _wrong_value(value: object, hint: Any, at: str, *, is_marker: bool) -> Iterator[str]:
    origin, arguments = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        if isinstance(value, Mapping):
            yield from _wrong_fields(value, hint, f"{at}.")
        else:
            yield f"{at}: should have fields"
    elif origin is Literal:
        if value not in arguments:
            yield f"{at}: should be one of {', '.join(arguments)}"
    elif origin is not None:
        yield from _wrong_items(value, hint, at, is_marker=is_marker)
    elif not isinstance(value, hint):
        yield f"{at}: should be {'text' if hint is str else 'true or false'}"
    elif is_marker and isinstance(value, str):
        yield from _wrong_notation(value, at)


def _wrong_items(value: object, hint: GenericAlias, at: str, *, is_marker: bool) -> Iterator[str]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Sequence:
        if isinstance(value, str) or not isinstance(value, Sequence):
            yield f"{at}: should be an array"
            return
        items: list[tuple[object, object]] = list(enumerate(value))
    elif isinstance(value, Mapping):
        items = list(value.items())
    else:
        yield f"{at}: should have fields"
        return
    for key, item in items:
        yield from _wrong_value(item, arguments[-1], f"{at}.{key}", is_marker=is_marker)


def _wrong_notation(marker: str, at: str) -> Iterator[str]:
    """Yield what is wrong with a marker: its braces, or the words in them."""
    rest = re.sub(r"\{\{|\}\}", "", marker)
    for word in re.findall(r"\{([^{}]*)\}", rest):
        if word.startswith(("?", "no ", "before ")) or word.partition(" but ")[0] in SLOTS:
            continue
        yield f"{at}: there is no slot {{{word}}}; a brace itself is written twice"
    if re.search(r"[{}]", re.sub(r"\{[^{}]*\}", "", rest)):
        yield f"{at}: a brace by itself; it is written twice"
