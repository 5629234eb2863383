"""Types of values, from the JSON Schemas of a tool's arguments."""

from __future__ import annotations

import re

from turnspec.engine.json_texts import load_json, with_escapes
from turnspec.engine.literals import literal_as_json
from turnspec.engine.markers import WHITE_SPACE
from turnspec.engine.tools import is_mapping, list_in, schema_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Python's names of types, which some write into schemas, and what tells of a type left out.
types_in_python = {"str": "string", "int": "integer", "float": "number"}
types_in_python |= {"bool": "boolean", "list": "array", "tuple": "array"}
types_in_python |= {"dict": "object", "none": "null", "nonetype": "null"}
types_in_python |= {"properties": "object", "items": "array", "double": "number"}


def json_types(schema: Any, root: Mapping[str, Any]) -> set[str]:
    """Return the types that a schema inside `root` allows; none if it does not say."""
    allowed: set[str] = set()
    for option in schema_options(schema, root):
        names = [option.get("type"), *list_in(option, "type")]
        told = [re.sub(r"[\d[].*", "", x.lower()) for x in names if isinstance(x, str)]
        told = told or [x for x in ("properties", "items") if is_mapping(option.get(x))]
        allowed |= {types_in_python.get(word, word) for word in told}
        if told and option.get("nullable") is True:
            allowed.add("null")
        const = [option["const"]] if "const" in option else []
        for value in (*list_in(option, "enum"), *const):
            allowed |= types_of(value)
    return allowed & set(types_in_python.values())  # any other word says nothing


def types_of(value: object) -> set[str]:
    """Return the types that a value is of."""
    name = types_in_python.get(type(value).__name__.lower(), "")
    is_whole = isinstance(value, float) and value.is_integer()  # as JSON Schema has it
    return {"integer", "number"} if is_whole or name == "integer" else {name} - {""}


def as_json(text: str, types: set[str], python: bool) -> str | None:
    """Return a value of one of the types as JSON; `python` says if text may be a literal."""
    nested = types & {"array", "object"}
    text = with_escapes(text.strip(WHITE_SPACE), python)
    if not text and len(nested) == 1 and "string" not in types:
        return "[]" if "array" in types else "{}"
    try:
        value = load_json(text)
    except ValueError:
        json = literal_as_json(text) if python or "string" not in types else None
        types = types - {"integer", "number"} if "string" in types else types
        return as_json(json, types, False) if json else None
    if isinstance(value, str) and "string" not in types:
        return as_json(value, types, python)  # which is in quotes for no reason
    return text if types & types_of(value) else None
