"""Tools: the schemas of their arguments. What is no schema says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard


def parameters_by_name(tools: Any) -> dict[str, Mapping[str, Any]]:
    """Return the schemas of tools' arguments by their names; ValueError tells what is no tool."""
    if not is_list(tools):
        raise ValueError("tools: not a list")
    found: dict[str, Mapping[str, Any]] = {}
    for index, tool in enumerate(tools):
        path, function = f"tools[{index}]", tool
        if is_mapping(tool) and "function" in tool:
            path, function = f"{path}.function", tool["function"]
        if not is_mapping(function):
            raise ValueError(f"{path}: not an object")
        name = function.get("name")
        if not isinstance(name, str) or not name:
            raise ValueError(f"{path}: no name")
        found[name] = object_in(function, "parameters")
    return found


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Say whether a value is an array of JSON, or something like it."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Say whether a value is an object of JSON."""
    return isinstance(value, Mapping)


def object_in(schema: Any, word: str) -> Mapping[str, Any]:
    """Return an object in a schema; an empty one if there is none."""
    found = schema.get(word) if is_mapping(schema) else None
    return found if is_mapping(found) else {}


def list_in(schema: Mapping[str, Any], word: str) -> Sequence[Any]:
    """Return a list in a schema, of 9,999 at most; an empty one if there is none."""
    found = schema.get(word)
    return list(found)[:9999] if is_list(found) else ()


def schema_options(schema: Any, root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a schema, all it refers to in `root`, and alternatives: 2,999 at most."""
    found: dict[object, Mapping[str, Any]] = {}
    waiting: list[Any] = [schema]
    words = ("anyOf", "oneOf", "allOf")
    while waiting and len(found) < 2999:
        option = waiting.pop()
        if is_mapping(option) and id(option) not in found:
            found[id(option)] = option
            inner = [other for word in words for other in list_in(option, word)]
            target: Any = root if "$ref" in option else None
            for step in str(option.get("$ref"))[:9999].split("/")[1:]:
                target = target.get(step) if is_mapping(target) else None
            waiting += reversed([*inner, target])
    return list(found.values())
