"""Schemas that all hold for one value: flattened to a list, and what the list says together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import combinations
from typing import Any

from turnspec.grammar.digit_ranges import Bounds, is_long
from turnspec.grammar.schema_checks import Place, Schema, resolved
from turnspec.grammar.schema_limits import (
    DEEPEST_REFERENCES,
    MOST_LEADING_DIGITS,
    MOST_PLACES,
    TooBigError,
)
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


def without(part: Place, keyword: str) -> Place:
    """Return the schema without one of its keywords."""
    return Place({k: v for k, v in part.keywords.items() if k != keyword}, part.path)


def flattened(
    root: Schema, places: Iterable[Place], depth: int = 0, seen: set[int] | None = None
) -> list[Place] | None:
    """Return the schemas without references and ``allOf``, each once; None if nothing fits.

    ``seen`` are those that were met on the way here: what leads to one twice asks no more.

    Raises:
        TooBigError: references lead to too many others.
    """
    seen = set() if seen is None else seen
    if depth > DEEPEST_REFERENCES:
        raise TooBigError(f"a reference leads to more than {DEEPEST_REFERENCES} others")
    found: list[Place] = []
    for place in places:
        schema = place.schema
        if schema is False:
            return None
        if schema is True or id(schema) in seen:
            continue
        seen.add(id(schema))
        own = {key: value for key, value in schema.items() if key in _CONSTRAINTS}
        if schema.get("patternProperties"):
            own["additionalProperties"] = _whatever_the_name(schema)
        found += [Place(own, place.path)] if own else []
        if "allOf" not in schema and "$ref" not in schema:
            continue
        parts = enumerate(schema.get("allOf", ()))
        inner = [Place(part, place.at("allOf", number)) for number, part in parts]
        target = resolved(root, schema["$ref"]) if "$ref" in schema else None
        more = flattened(root, [*inner, *([target] if target else [])], depth + 1, seen)
        if more is None:
            return None
        found += more
    return _each_once(found) if len(found) > 1 else found


def _each_once(parts: list[Place]) -> list[Place]:
    unique: dict[str, Place] = {}
    for part in parts:
        unique.setdefault(repr(part.schema), part)
    return list(unique.values())


def _whatever_the_name(schema: Mapping[str, Any]) -> Schema:
    """Return what one of the patterns of names allows, for a loosened grammar tells none apart."""
    other = schema.get("additionalProperties", False)
    others = [] if other is False else [other]
    return {"anyOf": [*schema["patternProperties"].values(), *others]}


def given(parts: Iterable[Place], keyword: str) -> list[Any]:
    """Return the keyword's value in each schema that has it."""
    return [part.keywords[keyword] for part in parts if keyword in part.keywords]


def kinds(parts: Iterable[Place]) -> set[str]:
    """Return the types that all the schemas allow; a number may be an integer."""
    found = set(TYPES)
    for types in given(parts, "type"):
        allowed = {types} if isinstance(types, str) else set(types)
        found &= allowed | ({"integer"} if "number" in allowed else set())
    return found


def allowed_values(root: Schema, parts: list[Place]) -> list[Any] | None:
    """Return the constants that all the schemas allow; None if they do not list any."""
    lists = [*given(parts, "enum"), *([value] for value in given(parts, "const"))]
    if not lists:
        return None
    kept = [{_canonical(value) for value in values} for values in lists[1:]]
    rest = [without(without(part, "enum"), "const") for part in parts]
    rest = [part for part in rest if part.schema]
    return [
        value
        for value in lists[0]
        if all(_canonical(value) in values for values in kept)
        and all(is_valid(root, part, value) for part in rest)
    ]


def _canonical(value: Any) -> str:
    """Return a text that two values share if JSON Schema has them for equal: 1 and 1.0, say."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return f"[{','.join(map(_canonical, value))}]"
    if isinstance(value, dict):
        members = (f"{json.dumps(key)}:{_canonical(value[key])}" for key in sorted(value))
        return f"{{{','.join(members)}}}"
    return json.dumps(value)


def is_valid(root: Schema, place: Place, value: Any) -> bool:
    """Say whether the value fits the schema."""
    if place.keywords.keys() == {"type"}:  # as most enumerations have it
        return _has_type(value, place.keywords["type"])
    from jsonschema import Draft202012Validator  # only here: importing it takes a while

    try:
        return Draft202012Validator(root).evolve(schema=place.schema).is_valid(value)
    except re.error as error:
        raise TooBigError(f"has a pattern that values can't be tried on: {error}") from error


def _has_type(value: Any, types: str | list[str]) -> bool:
    kind = json_type(value).value
    allowed = {types} if isinstance(types, str) else set(types)
    if kind == "number" and float(value).is_integer():
        kind = "integer"
    return kind in allowed or (kind == "integer" and "number" in allowed)


_BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")


def bounds_of(parts: Iterable[Place]) -> Bounds:
    """Return the bounds that hold for a number.

    Raises:
        TooBigError: they differ only in digits that no grammar has room for.
    """
    bounds = Bounds()
    listed = list(parts)
    for keyword in _BOUNDS:
        narrowed = Bounds.not_below if keyword.lower().endswith("minimum") else Bounds.not_above
        for bound in given(listed, keyword):
            bounds = narrowed(bounds, Decimal(str(bound)), strict=keyword.startswith("exclusive"))
    short = bounds.shortened(MOST_PLACES, MOST_LEADING_DIGITS)
    if short.is_empty() and not bounds.is_empty():
        raise TooBigError(
            f"has bounds that differ only behind {MOST_LEADING_DIGITS} digits or places"
        )
    return short


def narrowed_bounds(parts: Iterable[Place], kind: str) -> Iterator[tuple[str, str]]:
    """Yield the keywords whose bounds have more digits than are written, and the last written."""
    listed = list(parts)
    for keyword in _BOUNDS:
        strict = keyword.startswith("exclusive")
        bounds = [Decimal(str(number)) for number in given(listed, keyword)]
        if any(is_long(bound, MOST_LEADING_DIGITS, strict=strict) for bound in bounds):
            yield keyword, f"digit {MOST_LEADING_DIGITS}"
        elif kind == "number" and any(-int(it.as_tuple().exponent) > MOST_PLACES for it in bounds):
            yield keyword, f"place {MOST_PLACES} behind the point"


def takes_every(
    root: Schema, places: Iterable[Place], kind: str, known: dict[int, bool] | None = None
) -> bool:
    """Say whether it is plain that every value of a type fits all the schemas.

    For a string it is whether every text does that is in quotes within one that fits. ``known`` is
    what was found out about schemas on the way, by identity.
    """
    known = {} if known is None else known
    parts = flattened(root, places)
    if parts is None or kind not in kinds(parts):
        return False
    for values in [*given(parts, "enum"), *([value] for value in given(parts, "const"))]:
        if not _ALL_OF.get(kind, {""}) <= {json.dumps(value) for value in values}:
            return False
    for branches in [*given(parts, "anyOf"), *given(parts, "oneOf")]:
        for branch in branches:
            if id(branch) not in known:
                known[id(branch)] = False
                known[id(branch)] = takes_every(root, [Place(branch, "")], kind, known)
        if not any(known[id(branch)] for branch in branches):
            return False
    narrowing = [keyword for keyword in _NARROWING.get(kind, ()) if given(parts, keyword)]
    return not narrowing


#: All values of a type that has but few.
_ALL_OF = {"null": {"null"}, "boolean": {"true", "false"}}
#: What narrows the values of a type. A text in quotes is no longer than with them.
_NARROWING = {
    "string": ("minLength", "pattern", "format"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "object": ("properties", "required", "additionalProperties"),
    **dict.fromkeys(("number", "integer"), _BOUNDS),
}


def schemas_under(parts: Iterable[Place], keyword: str) -> list[Place]:
    """Return the schemas that stand under a keyword: those of other items, say, or properties."""
    return [Place(p.keywords[keyword], p.at(keyword)) for p in parts if keyword in p.keywords]


def item_at(parts: Iterable[Place], position: int) -> list[Place]:
    """Return what holds for the item at a position."""
    found: list[Place] = []
    for part in parts:
        firsts = part.keywords.get("prefixItems", [])
        if position < len(firsts):
            found.append(Place(firsts[position], part.at("prefixItems", position)))
        else:
            found += schemas_under([part], "items")
    return found


def property_schemas(parts: Iterable[Place], key: str) -> list[Place]:
    """Return what holds for the value of a property."""
    found: list[Place] = []
    for part in parts:
        named = part.keywords.get("properties", {})
        if key in named:
            found.append(Place(named[key], part.at("properties", key)))
        else:
            found += schemas_under([part], "additionalProperties")
    return found


#: Up to so many branches are compared one by one, by so many pairs of schemas in all.
_MOST_PAIRED = 40
_MOST_PAIRS = 10_000
#: Up to so many constants are tried on another schema.
_MOST_TRIED = 100


def all_apart(root: Schema, branches: list[Place]) -> bool:
    """Say whether it is plain that no value fits two of the branches."""
    if _told_apart_by_constants(root, branches):
        return True
    if len(branches) > _MOST_PAIRED:
        return False
    pairs = iter(range(_MOST_PAIRS))
    return all(are_apart(root, one, other, pairs) for one, other in combinations(branches, 2))


def _told_apart_by_constants(root: Schema, branches: list[Place]) -> bool:
    """Say whether values, or a property of objects, are other constants in each of the branches."""
    parts = [flattened(root, [branch]) for branch in branches]
    if _have_other_constants(root, parts):
        return True
    objects = [found for found in parts if found is not None and kinds(found) == {"object"}]
    if len(objects) < len(branches) or not objects:
        return False
    needed = [{key for keys in given(found, "required") for key in keys} for found in objects]
    return any(
        _have_other_constants(root, [flattened(root, property_schemas(o, key)) for o in objects])
        for key in sorted(set.intersection(*needed))
    )


def _have_other_constants(root: Schema, several: list[list[Place] | None]) -> bool:
    """Say whether flattened schemas all list constants, none of which another one has."""
    listed: list[str] = []
    for parts in several:
        values = allowed_values(root, parts or [])
        if values is None:
            return False
        listed += set(map(_canonical, values))
    return len(set(listed)) == len(listed)


def are_apart(
    root: Schema, first: Place, second: Place, pairs: Iterator[int], depth: int = 0
) -> bool:
    """Say whether it is plain that no value fits both: by types, constants or a property's.

    ``pairs`` are how many may be looked at still: what takes more isn't plain.
    """
    if next(pairs, None) is None:
        return False
    one, other = flattened(root, [first]), flattened(root, [second])
    if one is None or other is None or not kinds(one) & kinds(other):
        return True
    for values, parts in ((allowed_values(root, one), other), (allowed_values(root, other), one)):
        if values is not None:
            tried = values[:_MOST_TRIED]
            fits = any(all(is_valid(root, p, value) for p in parts) for value in tried)
            return len(tried) == len(values) and not fits
    if kinds(one) != {"object"} or kinds(other) != {"object"} or depth == _DEEPEST:
        return False
    needed = [{key for keys in given(parts, "required") for key in keys} for parts in (one, other)]
    return any(
        are_apart(root, _all(one, key), _all(other, key), pairs, depth + 1)
        for key in sorted(needed[0] & needed[1])
    )


def _all(parts: list[Place], key: str) -> Place:
    return Place({"allOf": [place.schema for place in property_schemas(parts, key)]}, "")
