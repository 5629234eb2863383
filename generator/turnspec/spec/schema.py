"""Validation of a file's data against its JSON Schema, in sentences a person can act on."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

from turnspec.spec.encoding import json_type
from turnspec.spec.problems import Problem
from turnspec.spec.visible import shortened
from turnspec.spec.yaml_document import Document, Finding

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
#: What is said of a value by the keyword that it violates.
_MESSAGES = {
    "pattern": "{found} doesn't match {wanted}",
    "minimum": "must be at least {wanted}, not {found}",
    "minLength": "{found} is too short: {wanted} at least",
    "maxLength": "{found} is too long: {wanted} at most",
    "minItems": "{found} is too short: {wanted} at least",
    "maxItems": "{found} is too long: {wanted} at most",
    "minProperties": "must have exactly one of: {allowed}",
    "maxProperties": "must have exactly one of: {allowed}",
}
_LONGEST_SHOWN = 60


#: The schemas beside this file: of a spec, of an overlay, and of an index of templates.
SPEC_SCHEMA = "schema.json"
OVERLAY_SCHEMA = "overlay.json"
INDEX_SCHEMA = "index.json"


def schema_problems(document: Document, file: str, schema: str = SPEC_SCHEMA) -> list[Problem]:
    """Return everything about a document that a schema forbids, each with line and path."""
    found = (document.problem(*each, file) for each in violations(document, schema))
    return list(dict.fromkeys(found))


def violations(document: Document, schema: str) -> Iterator[Finding]:
    """Yield each place of a document to which a schema objects, and why."""
    for error in _validator(schema).iter_errors(document.data):
        yield from _messages(error)


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


def _messages(error: ValidationError) -> Iterator[Finding]:
    place, schema = tuple(error.absolute_path), cast("Any", error.schema)
    found, wanted = cast("Any", error.instance), cast("Any", error.validator_value)
    properties = schema.get("properties", ())
    allowed = ", ".join(properties)
    match error.validator:
        case "additionalProperties":
            for key in found:
                if key not in properties:
                    yield (*place, key), f"unknown key {_shown(key)}; allowed: {allowed}"
        case "required":
            yield from ((place, f"missing key {key!r}") for key in wanted if key not in found)
        case "type":
            names = [wanted] if isinstance(wanted, str) else wanted
            must = " or ".join(_TYPE_NAMES[name] for name in names)
            yield place, f"must be {must}, not {_TYPE_NAMES[json_type(found)]}"
        case "enum":
            words = ", ".join("null" if word is None else word for word in wanted)
            yield place, f"{_shown(found)} is not one of: {words}"
        case keyword:
            message = _MESSAGES[str(keyword)]
            shown = found if keyword == "minimum" else _shown(found)
            yield place, message.format(found=shown, wanted=wanted, allowed=allowed)


def _shown(value: object) -> str:
    return shortened(repr(value), _LONGEST_SHOWN)
