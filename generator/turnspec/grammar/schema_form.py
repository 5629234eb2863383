"""Whether a JSON Schema is plainly well-formed, told in one walk over it.

A schema goes through here with every request, and the meta-schema's own validator takes
milliseconds for it. So this takes what is well-formed beyond doubt, and says no to all else: what
is doubtful goes on to that validator, which knows for sure, and finds the words. Source: the
meta-schema of JSON Schema, draft 2020-12, https://json-schema.org/draft/2020-12/schema
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))

# What a keyword's value has to be, where that holds no schema.
_Check = Callable[[Any], bool]


def is_plainly_well_formed(root: object) -> bool:
    """Say whether a schema is well-formed; False may also mean that it takes a closer look."""
    waiting = [root]
    while waiting:
        schema = waiting.pop()
        if schema is True or schema is False:
            continue
        if type(schema) is not dict:
            return False
        for keyword, value in schema.items():
            check = _CHECKS.get(keyword)
            if check is not None:
                if not check(value):
                    return False
            elif keyword in _SCHEMAS:
                found = _SCHEMAS[keyword](value)
                if found is None:
                    return False
                waiting += found
            elif type(keyword) is not str:
                return False
    return True


def schemas_within(root: object, found: set[int]) -> None:
    """Add to those found a schema, and all inside that a meta-schema looks at, by identity."""
    waiting = [root]
    while waiting:
        schema = waiting.pop()
        if type(schema) is dict and id(schema) not in found:
            found.add(id(schema))
            for keyword in _SCHEMAS.keys() & schema:
                waiting += _SCHEMAS[keyword](schema[keyword]) or ()


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_type(value: Any) -> bool:
    if type(value) is str:
        return value in _TYPES
    return type(value) is list and bool(value) and _are_distinct(value) and _TYPES.issuperset(value)


def _are_distinct(value: Any) -> bool:
    """Say whether a value is a list of texts, none of which comes twice."""
    if type(value) is not list:
        return False
    return all(type(text) is str for text in value) and len(set(value)) == len(value)


def _one(value: Any) -> list[Any]:
    return [value]


def _several(value: Any) -> list[Any] | None:
    return value if type(value) is list and value else None


def _named(value: Any) -> list[Any] | None:
    if type(value) is not dict or not all(type(name) is str for name in value):
        return None
    return list(value.values())


def _never(_: Any) -> None:
    """Leave a keyword that hardly any schema has to the validator."""


_CHECKS: Mapping[Any, _Check] = {
    **dict.fromkeys(("title", "description", "$comment", "pattern", "format", "$ref"), _is_text),
    **dict.fromkeys(("$schema", "contentEncoding", "contentMediaType"), _is_text),
    **dict.fromkeys(
        ("deprecated", "readOnly", "writeOnly", "uniqueItems"), lambda value: type(value) is bool
    ),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minContains", "maxContains", "minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("enum", "examples"), lambda value: type(value) is list),
    **dict.fromkeys(("const", "default"), lambda value: True),
    "$id": lambda value: type(value) is str and "#" not in value[:-1],
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "required": _are_distinct,
    "type": _is_type,
}
#: The keywords whose values hold no schema.
WITHOUT_SCHEMAS = frozenset(_CHECKS)
# The schemas inside a keyword's value; None if it isn't what it should be.
_SCHEMAS: Mapping[Any, Callable[[Any], list[Any] | None]] = {
    **dict.fromkeys(("items", "additionalProperties", "contains", "propertyNames", "not"), _one),
    **dict.fromkeys(("if", "then", "else", "contentSchema"), _one),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), _one),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _several),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), _named),
    **dict.fromkeys(("$defs", "definitions"), _named),
    **dict.fromkeys(("$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary"), _never),
    **dict.fromkeys(("$recursiveAnchor", "$recursiveRef"), _never),
    **dict.fromkeys(("dependentRequired", "dependencies"), _never),
}
