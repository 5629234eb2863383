"""What the template index must look like, as JSON Schema, and what violates it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jsonschema import Draft202012Validator, ValidationError

from turnspec.sources.index import SDIST, WHEEL
from turnspec.spec.problems import Problem
from turnspec.spec.results import RUNGS
from turnspec.spec.schema import load_schema
from turnspec.spec.yaml_document import Document, YamlPath, path_text


def _object(required: list[str], **properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


_TEXT = {"type": "string", "minLength": 1}
_CHECKSUM = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
#: What the names of an origin's files end in, by its kind.
_ENDINGS = {SDIST: r"\.tar\.gz", WHEEL: r"\.whl"}


def _file_of(kind: str) -> dict[str, object]:
    file = {"pattern": rf"^[^/\\]+{_ENDINGS[kind]}$"}
    return {
        "if": {"required": ["kind"], "properties": {"kind": {"const": kind}}},
        "then": {"properties": {"file": file}},
    }


_ORIGIN = _object(
    ["id", "kind", "project", "version", "file", "sha256", "size"],
    id={"type": "string", "pattern": r"^(?!(?:local|hub)$)[\w.+-]+$"},
    kind={"enum": list(_ENDINGS)},
    project=_TEXT,
    version=_TEXT,
    file={"type": "string", "pattern": r"^[^/\\]+$"},
    sha256=_CHECKSUM,
    size={"type": "integer", "minimum": 1},
) | {"allOf": [_file_of(kind) for kind in _ENDINGS]}
_ACCEPTED = _object(["rung", "reason"], rung={"enum": list(RUNGS)}, reason=_TEXT)
_TEMPLATE = _object(
    ["file", "origin", "sha256"],
    file={"type": "string", "pattern": r"^[^/\\]+\.jinja$"},
    origin=_TEXT,
    path=_TEXT,
    repository={"type": "string", "pattern": r"^[\w.-]+/[\w.-]+$"},
    commit={"type": "string", "pattern": "^[0-9a-f]{40}$"},
    pointer={"type": "string", "pattern": "^/"},
    constant={"type": "string", "pattern": r"^[A-Za-z_]\w*$"},
    sha256=_CHECKSUM,
    aliases={"type": "array", "items": _TEXT},
    bos_token={"type": "string"},
    eos_token={"type": "string"},
    source=_TEXT,
    family=_TEXT,
    packager={"type": "string", "pattern": "^[a-z]+$"},
    accepted={"type": "array", "items": _ACCEPTED},
    tokenizer=load_schema()["properties"]["tokenizer"],
)
_INDEX = _object(
    ["origins", "templates"],
    origins={"type": "array", "items": _ORIGIN},
    templates={"type": "array", "items": _TEMPLATE},
    regenerate=_TEXT,
)


def schema_violations(document: Document, file: str) -> Iterator[tuple[YamlPath, Problem]]:
    """Yield every violation with its place. ``file`` is what the problems call the index."""
    for error in Draft202012Validator(_INDEX).iter_errors(document.data):
        for place, message in _messages(error):
            yield place, Problem(message, file, document.line(place), path_text(place))


def _messages(error: ValidationError) -> Iterator[tuple[YamlPath, str]]:
    place: YamlPath = tuple(error.absolute_path)
    schema, found = error.schema, error.instance
    is_unknown_key = error.validator == "additionalProperties"
    if not (is_unknown_key and isinstance(schema, Mapping) and isinstance(found, Mapping)):
        yield place, error.message
        return
    allowed = schema["properties"]
    for key in found:
        if key not in allowed:
            yield (*place, key), f"unknown key; allowed: {', '.join(allowed)}"
