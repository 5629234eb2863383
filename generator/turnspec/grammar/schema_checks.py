"""What is wrong with a JSON Schema, or beyond a grammar, before any rule is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator

from turnspec.spec.problems import Problem

#: A schema as Python data: a mapping, or True (anything) or False (nothing).
Schema = Mapping[str, Any] | bool

_UNSUPPORTED = (
    "not",
    "if",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "uniqueItems",
    "contains",
    "multipleOf",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
)
# With these values the keywords say nothing.
_SAYING_NOTHING = {
    "patternProperties": {},
    "dependentRequired": {},
    "dependentSchemas": {},
    "minProperties": 0,
    "uniqueItems": False,
    "propertyNames": True,
    "unevaluatedItems": True,
    "unevaluatedProperties": True,
}
_ABSENT = object()
_ONE = ("items", "additionalProperties")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")


@dataclass(frozen=True, slots=True)
class Place:
    """A schema within the whole document, and the path that leads to it."""

    schema: Schema
    path: str

    def at(self, *steps: str | int) -> str:
        """Return the path of something inside."""
        escaped = (str(step).replace("~", "~0").replace("/", "~1") for step in steps)
        return "/".join((self.path, *escaped))


def schema_problems(root: Schema) -> list[Problem]:
    """Return every reason why the schema cannot become a grammar, as far as it shows at once."""
    malformed = sorted(
        Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(root), key=str
    )
    if malformed:
        return [
            Problem(error.message, path="/".join(("#", *map(str, error.absolute_path))))
            for error in malformed
        ]
    return [problem for place in _places(root) for problem in _problems(root, place)]


def resolved(root: Schema, reference: str) -> Place | None:
    """Return what a reference within the document points to."""
    if not reference.startswith("#"):
        return None
    found: Any = root
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    whole = reference == "#" or reference.startswith("#/")
    return Place(found, reference) if whole and isinstance(found, dict | bool) else None


def _places(root: Schema) -> Iterator[Place]:
    """Yield every schema that a value may meet, each once."""
    waiting, seen = [Place(root, "#")], set()
    while waiting:
        place = waiting.pop()
        if id(place.schema) in seen or isinstance(place.schema, bool):
            continue
        seen.add(id(place.schema))
        yield place
        waiting.extend(_inside(root, place, place.schema))


def _inside(root: Schema, place: Place, schema: Mapping[str, Any]) -> Iterator[Place]:
    for keyword in _ONE:
        if keyword in schema:
            yield Place(schema[keyword], place.at(keyword))
    for key, inner in schema.get("properties", {}).items():
        yield Place(inner, place.at("properties", key))
    for keyword in _LISTS:
        for number, inner in enumerate(schema.get(keyword, ())):
            yield Place(inner, place.at(keyword, number))
    target = resolved(root, schema["$ref"]) if "$ref" in schema else None
    if target:
        yield target


def _problems(root: Schema, place: Place) -> Iterator[Problem]:
    assert isinstance(place.schema, Mapping)
    for keyword in _UNSUPPORTED:
        value = place.schema.get(keyword, _ABSENT)
        if value in (_ABSENT, _SAYING_NOTHING.get(keyword, _ABSENT)):
            continue
        yield Problem(f"{keyword} cannot be expressed in a grammar", path=place.at(keyword))
    if "$ref" not in place.schema:
        return
    target = resolved(root, place.schema["$ref"])
    if target is None:
        message = f"{place.schema['$ref']} is nowhere in this schema"
        yield Problem(message, path=place.at("$ref"))
    elif _comes_back(root, target, place.schema):
        message = f"{place.schema['$ref']} leads back here without an end"
        yield Problem(message, path=place.at("$ref"))


def _comes_back(root: Schema, start: Place, goal: Schema) -> bool:
    """Say whether a value that meets ``start`` must meet ``goal`` too, without going into it."""
    waiting, seen = [start], set()
    while waiting:
        place = waiting.pop()
        if place.schema is goal:
            return True
        if isinstance(place.schema, bool) or id(place.schema) in seen:
            continue
        seen.add(id(place.schema))
        schema = place.schema
        for keyword in ("allOf", "anyOf", "oneOf"):
            waiting.extend(Place(inner, "") for inner in schema.get(keyword, ()))
        target = resolved(root, schema["$ref"]) if "$ref" in schema else None
        waiting.extend([target] if target else [])
    return False
