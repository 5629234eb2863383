"""What is wrong with a JSON Schema, or beyond a grammar, before any rule is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator

from turnspec.grammar.schema_limits import oversized
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
    too_big = oversized(root)
    if too_big:
        return too_big
    malformed = sorted(
        Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(root), key=str
    )
    if malformed:
        return [
            Problem(error.message, path="/".join(("#", *map(str, error.absolute_path))))
            for error in malformed
        ]
    places = list(_places(root))
    rings = _in_rings(root, places)
    return [problem for place in places for problem in _problems(root, place, rings)]


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


def _problems(root: Schema, place: Place, rings: set[int]) -> Iterator[Problem]:
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
    elif id(place.schema) in rings and _comes_back(root, target, place.schema):
        message = f"{place.schema['$ref']} leads back here without an end"
        yield Problem(message, path=place.at("$ref"))


def _comes_back(root: Schema, start: Place, goal: Schema) -> bool:
    """Say whether a value that meets ``start`` must meet ``goal`` too, without going into it."""
    waiting, seen = [start.schema], set()
    while waiting:
        schema = waiting.pop()
        if schema is goal:
            return True
        if id(schema) not in seen:
            seen.add(id(schema))
            waiting += _met_with(root, schema)
    return False


def _met_with(root: Schema, schema: Schema) -> list[Schema]:
    """Return what a value that meets a schema may have to meet, too, without going into it."""
    if isinstance(schema, bool):
        return []
    found = [inner for keyword in ("allOf", "anyOf", "oneOf") for inner in schema.get(keyword, ())]
    target = resolved(root, schema["$ref"]) if "$ref" in schema else None
    return [*found, *([target.schema] if target else [])]


def _in_rings(root: Schema, places: list[Place]) -> set[int]:
    """Return the schemas, by identity, that may lead back to themselves: all but the open ends.

    Those that lead nowhere are taken off until none is left, in time that grows with the schema.
    """
    onward = {id(place.schema): _met_with(root, place.schema) for place in places}
    leads = {start: {id(schema) for schema in met} & onward.keys() for start, met in onward.items()}
    back: dict[int, list[int]] = {}
    for start, goals in leads.items():
        for goal in goals:
            back.setdefault(goal, []).append(start)
    ends = [start for start, goals in leads.items() if not goals]
    while ends:
        end = ends.pop()
        del leads[end]
        for start in back.get(end, ()):
            leads[start].discard(end)
            ends += [] if leads[start] else [start]
    return set(leads)
