"""What is wrong with a JSON Schema, or beyond a grammar, before any rule is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from turnspec.grammar.schema_form import is_plainly_well_formed
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
_BEYOND = frozenset(_UNSUPPORTED)
_INEXPRESSIBLE = "cannot be expressed in a grammar"
_NAMED = ("properties", "patternProperties")
_ONE = ("items", "additionalProperties")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
# What takes no schema: most schemas are those of plain values.
_PLAIN = frozenset(
    (
        *("type", "description", "title", "enum", "const", "default", "examples", "format"),
        *("minLength", "maxLength", "pattern", "minItems", "maxItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    )
)
# What is said of a keyword that is left out, where it isn't just not enforced.
_LEFT_OUT = {"patternProperties": "is read as values of other names, whatever these are"}


@dataclass(frozen=True, slots=True)
class Place:
    """A schema within the whole document, and the path that leads to it."""

    schema: Schema
    path: str

    def at(self, *steps: str | int) -> str:
        """Return the path of something inside."""
        path = self.path
        for step in steps:
            text = str(step)
            if "~" in text or "/" in text:
                text = text.replace("~", "~0").replace("/", "~1")
            path = f"{path}/{text}"
        return path


@dataclass(frozen=True, slots=True)
class Findings:
    """What keeps a schema from becoming a grammar, and what that leaves out.

    ``usable`` is whether more can be said by writing the rules: no part of the schema is malformed.
    """

    problems: tuple[Problem, ...] = ()
    notices: tuple[Problem, ...] = ()
    usable: bool = True


def checked(root: Schema, *, loosen: bool = False) -> Findings:
    """Return every reason why the schema cannot become a grammar, as far as it shows at once.

    Args:
        root: the schema.
        loosen: whether a keyword that no grammar can express is a notice and not a reason.
    """
    too_big = oversized(root)
    if too_big:
        return Findings(tuple(too_big), usable=False)
    malformed = [] if is_plainly_well_formed(root) else _malformed(root)
    if malformed:
        return Findings(tuple(malformed), usable=False)
    places = list(_places(root))
    referring = [place for place in places if "$ref" in _keywords(place)]
    rings = _in_rings(root, places) if referring else set()
    endless = [problem for place in referring for problem in _endless(root, place, rings)]
    beyond = [place for place in places if not _PLAIN.issuperset(_keywords(place))]
    left_out = tuple(problem for place in beyond for problem in _beyond(root, place, loosen))
    if loosen:
        return Findings(tuple(endless), left_out, usable=not endless)
    return Findings((*left_out, *endless), usable=not endless)


def _malformed(root: Schema) -> list[Problem]:
    """Return where a schema isn't one."""
    from jsonschema import Draft202012Validator  # only here: importing it takes a while

    meta = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    return [
        Problem(error.message, path="/".join(("#", *map(str, error.absolute_path))))
        for error in sorted(meta.iter_errors(root), key=str)
    ]


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
    if _PLAIN.issuperset(schema):
        return
    for keyword in _ONE:
        if keyword in schema:
            yield Place(schema[keyword], place.at(keyword))
    for keyword in _NAMED:
        for key, inner in schema.get(keyword, {}).items():
            yield Place(inner, place.at(keyword, key))
    for keyword in _LISTS:
        for number, inner in enumerate(schema.get(keyword, ())):
            yield Place(inner, place.at(keyword, number))
    target = resolved(root, schema["$ref"]) if "$ref" in schema else None
    if target:
        yield target


def _beyond(root: Schema, place: Place, loosen: bool) -> Iterator[Problem]:
    """Yield what a grammar can't say of a schema, or, to ``loosen`` it, what it then leaves out."""
    schema = _keywords(place)
    for keyword in () if _BEYOND.isdisjoint(schema) else _UNSUPPORTED:
        value = schema.get(keyword, _ABSENT)
        if value in (_ABSENT, _SAYING_NOTHING.get(keyword, _ABSENT)):
            continue
        reason = _LEFT_OUT.get(keyword, "is not enforced") if loosen else _INEXPRESSIBLE
        yield Problem(f"{keyword} {reason}", path=place.at(keyword))
    if "$ref" in schema and resolved(root, schema["$ref"]) is None:
        more = ": any value fits" if loosen else ""
        yield Problem(f"{schema['$ref']} is nowhere in this schema{more}", path=place.at("$ref"))


def _endless(root: Schema, place: Place, rings: set[int]) -> Iterator[Problem]:
    """Yield a reference that leads back to itself."""
    reference = _keywords(place)["$ref"]
    target = resolved(root, reference)
    if target and id(place.schema) in rings and _comes_back(root, target, place.schema):
        yield Problem(f"{reference} leads back here without an end", path=place.at("$ref"))


def _keywords(place: Place) -> Mapping[str, Any]:
    assert isinstance(place.schema, dict)  # a walk over places leaves out True and False
    return place.schema


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
