"""The JSON Schema of values, as a tool's definition would have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turnspec.spec.encoding import json_type


def schema_of(values: Sequence[object]) -> dict[str, object]:
    """Return a schema that allows these values, down to what is inside of arrays and objects."""
    by_type: dict[str, list[object]] = {}
    for value in values:
        by_type.setdefault(json_type(value).value, []).append(value)
    schemas = [_typed(name, found) for name, found in by_type.items()]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _typed(name: str, values: Sequence[object]) -> dict[str, object]:
    """Return the schema of values that are all of one type."""
    schema: dict[str, object] = {"type": name}
    items = [item for value in values if isinstance(value, list | tuple) for item in value]
    if items:
        schema["items"] = schema_of(items)
    members: dict[str, list[object]] = {}
    for value in values:
        for key, member in value.items() if isinstance(value, Mapping) else ():
            members.setdefault(str(key), []).append(member)
    if members:
        schema["properties"] = {key: schema_of(found) for key, found in members.items()}
    return schema
