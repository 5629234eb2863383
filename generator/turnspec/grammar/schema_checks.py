"""What is wrong with a JSON Schema, or beyond a grammar, before any rule is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

from turnspec.grammar.schema_form import WITHOUT_SCHEMAS, is_plainly_well_formed, schemas_within
from turnspec.grammar.schema_limits import MOST_PROBLEMS, oversized
from turnspec.spec.problems import Problem
from turnspec.spec.visible import cut

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
_INDEX = re.compile("0|[1-9][0-9]{0,6}")
_BEYOND = frozenset(_UNSUPPORTED)
_INEXPRESSIBLE = "cannot be expressed in a grammar"
_NAMED = ("properties", "patternProperties")
_ONE = ("items", "additionalProperties")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
# What says nothing of other schemas: most schemas are those of plain values.
_PLAIN = WITHOUT_SCHEMAS - {*_UNSUPPORTED, "$ref"}
# What is said of a keyword that is left out, where it isn't just not enforced.
_LEFT_OUT = {"patternProperties": "is read as values of other names, whatever these are"}


@dataclass(frozen=True, slots=True)
class Place:
    """A schema within the whole document, and the path that leads to it."""

    schema: Schema
    path: str

    @property
    def keywords(self) -> Mapping[str, Any]:
        """The schema's keywords; none where it is True or False."""
        return self.schema if isinstance(self.schema, dict) else {}

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
    malformed: list[Problem] = []
    places = list(_places(root, malformed))
    if malformed:
        return Findings(tuple(malformed), usable=False)
    is_referring = any("$ref" in place.keywords for place in places)
    endless = _endless(root, places) if is_referring else []
    beyond = [place for place in places if not _PLAIN.issuperset(place.keywords)]
    left_out = tuple(problem for place in beyond for problem in _beyond(root, place, loosen))
    if loosen:
        return Findings(tuple(endless), left_out, usable=not endless)
    return Findings((*left_out, *endless), usable=not endless)


def _malformed(place: Place) -> list[Problem]:
    """Return where what should be a schema isn't one."""
    if is_plainly_well_formed(place.schema):
        return []
    from jsonschema import Draft202012Validator  # only here: importing it takes a while

    meta = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    errors = sorted(meta.iter_errors(place.schema), key=str)
    paths = ("/".join((place.path, *map(str, error.absolute_path))) for error in errors)
    return [Problem(cut(e.message, 500), path=path) for e, path in zip(errors, paths, strict=True)]


def resolved(root: Schema, reference: str) -> Place | None:
    """Return what a reference within the document points to."""
    if not reference.startswith("#"):
        return None
    found: Any = root
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and _INDEX.fullmatch(key) and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    whole = reference == "#" or reference.startswith("#/")
    return Place(found, reference) if whole and isinstance(found, dict | bool) else None


def _places(root: Schema, malformed: list[Problem]) -> Iterator[Place]:
    """Yield all schemas that a part of a value may meet, each once, and add what isn't one.

    A reference may lead to where no meta-schema looks, so that is looked at by itself.
    """
    start, looked_at = Place(root, "#"), set[int]()
    malformed += _malformed(start)
    waiting, seen = [] if malformed else [start], set()
    while waiting:
        place = waiting.pop()
        if id(place.schema) in seen or isinstance(place.schema, bool):
            continue
        seen.add(id(place.schema))
        yield place
        waiting.extend(_inside(place, place.schema))
        target = resolved(root, place.schema["$ref"]) if "$ref" in place.schema else None
        if target and id(target.schema) not in seen:
            schemas_within(root, looked_at)
            amiss = [] if id(target.schema) in looked_at else _malformed(target)
            malformed += amiss
            if amiss:
                seen.add(id(target.schema))
                continue
            schemas_within(target.schema, looked_at)
            waiting.append(target)


def _inside(place: Place, schema: Mapping[str, Any]) -> Iterator[Place]:
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


def _beyond(root: Schema, place: Place, loosen: bool) -> Iterator[Problem]:
    """Yield what a grammar can't say of a schema, or, to ``loosen`` it, what it then leaves out."""
    schema = place.keywords
    for keyword in () if _BEYOND.isdisjoint(schema) else _UNSUPPORTED:
        value = schema.get(keyword, _ABSENT)
        if value in (_ABSENT, _SAYING_NOTHING.get(keyword, _ABSENT)):
            continue
        reason = _LEFT_OUT.get(keyword, "is not enforced") if loosen else _INEXPRESSIBLE
        yield Problem(f"{keyword} {reason}", path=place.at(keyword))
    if "$ref" in schema and resolved(root, schema["$ref"]) is None:
        more = ": any value fits" if loosen else ""
        yield Problem(f"{schema['$ref']} is nowhere in this schema{more}", path=place.at("$ref"))


def _endless(root: Schema, places: list[Place]) -> list[Problem]:
    """Return the references of a ring that leads back to itself without going into a value."""
    met = {id(place.schema): _met_with(root, place.keywords) for place in places}
    onward = {start: [id(schema) for schema in schemas] for start, schemas in met.items()}
    try:
        TopologicalSorter(onward).prepare()  # it finds a ring in time that grows with the schema
    except CycleError as error:
        ring = set(pairwise(error.args[1]))
    else:
        return []
    found = []
    for place in places:
        reference = place.keywords.get("$ref")
        target = resolved(root, reference) if reference else None
        if target and (id(target.schema), id(place.schema)) in ring:
            message = f"{reference} leads back here without an end"
            found.append(Problem(message, path=place.at("$ref")))
    return found[:MOST_PROBLEMS]


def _met_with(root: Schema, schema: Mapping[str, Any]) -> list[Schema]:
    """Return what a value that meets a schema may have to meet, too, without going into it."""
    found = [inner for keyword in ("allOf", "anyOf", "oneOf") for inner in schema.get(keyword, ())]
    target = resolved(root, schema["$ref"]) if "$ref" in schema else None
    return [*found, *([target.schema] if target else [])]
