"""Validation of a file's data against its JSON Schema, in sentences a person can act on."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from turnspec.spec.problems import Problem
from turnspec.spec.visible import shortened
from turnspec.spec.yaml_document import Document, YamlPath, path_text

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_TYPE_NAMES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_PYTHON_TYPES: tuple[tuple[type, str], ...] = (
    (dict, "a mapping"),
    (list, "a list"),
    (str, "a string"),
    (bool, "true or false"),  # before int, which it is too
    (int, "a whole number"),
    (float, "a number"),
    (type(None), "null"),
)
_LONGEST_SHOWN = 60


#: The schemas beside this file: of a spec, and of an overlay.
SPEC_SCHEMA = "schema.json"
OVERLAY_SCHEMA = "overlay.json"


def schema_problems(document: Document, file: str, schema: str = SPEC_SCHEMA) -> list[Problem]:
    """Return everything about a document that a schema forbids, each with line and path."""
    problems: dict[Problem, None] = {}  # a set that keeps its order
    for error in _validator(schema).iter_errors(document.data):
        for path, message in _MESSAGES[str(error.validator)](_violation(error)):
            problems[Problem(message, file, document.line(path), path_text(path))] = None
    return list(problems)


@dataclass(frozen=True, slots=True)
class _Violation:
    """A violation without the library's types: where, what is there, what the schema wants."""

    place: YamlPath
    found: Any
    wanted: Any
    properties: tuple[str, ...]


def _violation(error: ValidationError) -> _Violation:
    schema: Any = error.schema
    properties = tuple(schema.get("properties", ()))
    return _Violation(tuple(error.absolute_path), error.instance, error.validator_value, properties)


def load_schema(name: str = SPEC_SCHEMA) -> dict[str, Any]:
    """Return one of the schemas."""
    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def schema_text(name: str = SPEC_SCHEMA) -> str:
    """Return the text of one of the schemas."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")


@functools.cache
def _validator(schema: str) -> Any:
    import jsonschema  # only here: importing it takes a while

    base = jsonschema.Draft202012Validator
    extend: Any = jsonschema.validators.extend  # which has no types
    # In YAML 2.0 isn't an integer, whatever JSON Schema says.
    checker = base.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    return extend(base, type_checker=checker)(load_schema(schema))


_Findings = Iterator[tuple[YamlPath, str]]


def _unknown_keys(error: _Violation) -> _Findings:
    for key in error.found:
        if key not in error.properties:
            allowed = ", ".join(error.properties)
            yield (*error.place, key), f"unknown key {_shown(key)}; allowed: {allowed}"


def _missing_keys(error: _Violation) -> _Findings:
    for key in error.wanted:
        if key not in error.found:
            yield error.place, f"missing key {key!r}"


def _wrong_type(error: _Violation) -> _Findings:
    names = [error.wanted] if isinstance(error.wanted, str) else error.wanted
    must = " or ".join(_TYPE_NAMES[name] for name in names)
    found = next(name for kind, name in _PYTHON_TYPES if isinstance(error.found, kind))
    yield error.place, f"must be {must}, not {found}"


def _wrong_word(error: _Violation) -> _Findings:
    allowed = ", ".join("null" if word is None else word for word in error.wanted)
    yield error.place, f"{_shown(error.found)} is not one of: {allowed}"


def _wrong_form(error: _Violation) -> _Findings:
    yield error.place, f"{_shown(error.found)} doesn't match {error.wanted}"


def _too_small(error: _Violation) -> _Findings:
    yield error.place, f"must be at least {error.wanted}, not {error.found}"


def _too_short(error: _Violation) -> _Findings:
    yield error.place, f"{_shown(error.found)} is too short: {error.wanted} at least"


def _too_long(error: _Violation) -> _Findings:
    yield error.place, f"{_shown(error.found)} is too long: {error.wanted} at most"


def _not_one_key(error: _Violation) -> _Findings:
    yield error.place, f"must have exactly one of: {', '.join(error.properties)}"


_MESSAGES: dict[str, Callable[[_Violation], _Findings]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_keys,
    "type": _wrong_type,
    "enum": _wrong_word,
    "pattern": _wrong_form,
    "minimum": _too_small,
    "minLength": _too_short,
    "maxLength": _too_long,
    "minItems": _too_short,
    "maxItems": _too_long,
    "minProperties": _not_one_key,
    "maxProperties": _not_one_key,
}


def _shown(value: object) -> str:
    return shortened(repr(value), _LONGEST_SHOWN)
