"""Types of values, from the JSON Schemas of a tool's arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from turnspec.engine.json_text import load_json, without_halves
from turnspec.engine.python_literal import read_literal
from turnspec.engine.tools import options
from turnspec.engine.turn import WHITE_SPACE

#: What Python's names of types, which some write into schemas, are in JSON Schema.
_PYTHON_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
    "None": "null",
    "NoneType": "null",
}
TYPE_NAMES = {
    str: {"string"},
    int: {"integer", "number"},
    float: {"number"},
    bool: {"boolean"},
    list: {"array"},
    dict: {"object"},
    type(None): {"null"},
}


def json_types(schema: Any, root: Mapping[str, Any]) -> set[str]:
    """Return the types that a schema inside ``root`` allows; none where it doesn't say."""
    allowed: set[str] = set()
    for option in options(schema, root):
        types = option.get("type") or []
        names = map(str, types) if isinstance(types, list) else [str(types)]
        allowed |= {_PYTHON_TYPES.get(name, name) for name in names}
        constants = option.get("enum") or ([option["const"]] if "const" in option else [])
        for value in constants:
            allowed |= TYPE_NAMES.get(type(value), set())
    return allowed


def as_json(text: str, types: set[str], *, python: bool) -> str | None:
    """Return a written value as JSON, or None if it isn't of one of the types.

    ``python`` says whether it may be a literal of Python's where it isn't JSON. No text at all is
    an empty array or object where just that is expected.
    """
    nested = types & {"array", "object"}
    if not text.strip(WHITE_SPACE) and len(nested) == 1 and "string" not in types:
        return "[]" if "array" in types else "{}"
    try:
        value = load_json(text)
    except ValueError:
        if not python:
            return None
        try:
            value = read_literal(text.strip(WHITE_SPACE))
            text = without_halves(json.dumps(value, ensure_ascii=False, allow_nan=False))
        except (ValueError, TypeError, RecursionError):
            return None
        if type(value) in (int, float, str):  # these JSON has as well
            return None
    return text.strip(WHITE_SPACE) if types & TYPE_NAMES.get(type(value), set()) else None
