"""Schemas that all hold for one value: flattened to a list, and what the list says together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from jsonschema import Draft202012Validator

from turnspec.grammar.digit_ranges import Bounds
from turnspec.grammar.schema_checks import Place, Schema, resolved
from turnspec.spec.encoding import json_type

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

#: The keywords that narrow a value; all others are annotations.
_CONSTRAINTS = frozenset(
    (
        *("type", "enum", "const", "anyOf", "oneOf"),
        *("properties", "required", "additionalProperties"),
        *("items", "prefixItems", "minItems", "maxItems"),
        *("minLength", "maxLength", "pattern", "format"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    )
)
_DEEPEST = 4


def keywords(part: Place) -> Mapping[str, Any]:
    """Return the keywords of a flattened schema."""
    return part.schema if isinstance(part.schema, Mapping) else {}


def without(part: Place, keyword: str) -> Place:
    """Return the schema without one of its keywords."""
    return Place({k: v for k, v in keywords(part).items() if k != keyword}, part.path)


def flattened(root: Schema, places: Iterable[Place]) -> list[Place] | None:
    """Return the schemas without references and ``allOf``, each once; None if nothing fits."""
    found: list[Place] = []
    for place in places:
        schema = place.schema
        if schema is False:
            return None
        if schema is True:
            continue
        own = {key: value for key, value in schema.items() if key in _CONSTRAINTS}
        inner = [
            Place(part, place.at("allOf", n)) for n, part in enumerate(schema.get("allOf", ()))
        ]
        target = resolved(root, schema["$ref"]) if "$ref" in schema else None
        more = flattened(root, [*inner, *([target] if target else [])])
        if more is None:
            return None
        found += [Place(own, place.path), *more] if own else more
    unique: list[Place] = []
    for part in found:
        if not any(repr(part.schema) == repr(other.schema) for other in unique):
            unique.append(part)
    return unique


def given(parts: Iterable[Place], keyword: str) -> list[Any]:
    """Return the keyword's value in each schema that has it."""
    return [keywords(part)[keyword] for part in parts if keyword in keywords(part)]


def kinds(parts: Iterable[Place]) -> set[str]:
    """Return the types that all the schemas allow; a number may be an integer."""
    found = set(TYPES)
    for types in given(parts, "type"):
        allowed = {types} if isinstance(types, str) else set(types)
        found &= allowed | ({"integer"} if "number" in allowed else set())
    return found


def stated_types(root: Schema, place: Place) -> set[str]:
    """Return the types that a schema says or that its constants have; none if it leaves it open.

    This is what the generated parsers go by where only the schema tells a string from others.
    """
    found: set[str] = set()
    waiting, seen = [place.schema], set()
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, bool) or id(schema) in seen:
            continue
        seen.add(id(schema))
        types = schema.get("type", [])
        found |= {types} if isinstance(types, str) else set(types)
        constants = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
        found |= {json_type(value).value for value in constants}
        waiting += [inner for word in ("anyOf", "oneOf", "allOf") for inner in schema.get(word, ())]
        target = resolved(root, schema["$ref"]) if "$ref" in schema else None
        waiting += [target.schema] if target else []
    return found


def allowed_values(root: Schema, parts: list[Place]) -> list[Any] | None:
    """Return the constants that all the schemas allow; None if they do not list any."""
    lists = [*given(parts, "enum"), *([value] for value in given(parts, "const"))]
    if not lists:
        return None
    return [value for value in lists[0] if all(is_valid(root, part, value) for part in parts)]


def is_valid(root: Schema, place: Place, value: Any) -> bool:
    """Say whether the value fits the schema."""
    return Draft202012Validator(root).evolve(schema=place.schema).is_valid(value)


def bounds_of(parts: Iterable[Place]) -> Bounds:
    """Return the bounds that hold for a number."""
    bounds = Bounds()
    listed = list(parts)
    for keyword in ("minimum", "exclusiveMinimum"):
        for low in given(listed, keyword):
            bounds = bounds.not_below(Decimal(str(low)), strict=keyword != "minimum")
    for keyword in ("maximum", "exclusiveMaximum"):
        for high in given(listed, keyword):
            bounds = bounds.not_above(Decimal(str(high)), strict=keyword != "maximum")
    return bounds


def items_after(parts: Iterable[Place]) -> list[Place]:
    """Return what holds for an item after all the first ones that have schemas of their own."""
    return [Place(keywords(p)["items"], p.at("items")) for p in parts if "items" in keywords(p)]


def item_at(parts: Iterable[Place], position: int) -> list[Place]:
    """Return what holds for the item at a position."""
    found: list[Place] = []
    for part in parts:
        firsts = keywords(part).get("prefixItems", [])
        if position < len(firsts):
            found.append(Place(firsts[position], part.at("prefixItems", position)))
        else:
            found += items_after([part])
    return found


def property_schemas(parts: Iterable[Place], key: str) -> list[Place]:
    """Return what holds for the value of a property."""
    found: list[Place] = []
    for part in parts:
        named = keywords(part).get("properties", {})
        if key in named:
            found.append(Place(named[key], part.at("properties", key)))
        else:
            found += other_properties([part])
    return found


def other_properties(parts: Iterable[Place]) -> list[Place]:
    """Return what holds for the value of a property that no schema names."""
    keyword = "additionalProperties"
    return [Place(keywords(p)[keyword], p.at(keyword)) for p in parts if keyword in keywords(p)]


def are_apart(root: Schema, first: Place, second: Place, depth: int = 0) -> bool:
    """Say whether it is plain that no value fits both: by types, constants or a property's."""
    one, other = flattened(root, [first]), flattened(root, [second])
    if one is None or other is None or not kinds(one) & kinds(other):
        return True
    for values, parts in ((allowed_values(root, one), other), (allowed_values(root, other), one)):
        if values is not None:
            return not any(all(is_valid(root, p, value) for p in parts) for value in values)
    if kinds(one) != {"object"} or kinds(other) != {"object"} or depth == _DEEPEST:
        return False
    needed = [{key for keys in given(parts, "required") for key in keys} for parts in (one, other)]
    return any(
        are_apart(root, _all(one, key), _all(other, key), depth + 1)
        for key in sorted(needed[0] & needed[1])
    )


def _all(parts: list[Place], key: str) -> Place:
    return Place({"allOf": [place.schema for place in property_schemas(parts, key)]}, "")
