"""Tools: the schemas of their arguments. What is no schema says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALTERNATIVES = ("anyOf", "oneOf", "allOf")


def parameters_by_name(tools: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the schemas of the tools' arguments by the tools' names.

    A tool is an OpenAI tool definition, or the function in it alone.

    Raises:
        ValueError: they are no tools; it says which of them is none, and why.
    """
    is_list = isinstance(tools, Sequence) and not isinstance(tools, str | bytes)
    if not is_list:
        raise ValueError("tools: not a list")
    found: dict[str, Mapping[str, Any]] = {}
    for index, tool in enumerate(tools):
        path, function = f"tools[{index}]", tool
        if isinstance(tool, Mapping) and "function" in tool:
            path, function = f"{path}.function", tool["function"]
        match function:
            case {"name": str(name)} if name:
                found[name] = object_in(function, "parameters")
            case Mapping():
                raise ValueError(f"{path}: no name")
            case _:
                raise ValueError(f"{path}: not an object")
    return found


def object_in(schema: Any, word: str) -> Mapping[str, Any]:
    """Return an object in a schema; an empty one if there is none."""
    found = schema.get(word) if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def list_in(schema: Mapping[str, Any], word: str) -> Sequence[Any]:
    """Return a list in a schema; an empty one if there is none."""
    found = schema.get(word)
    return found if isinstance(found, list | tuple) else ()


def schema_options(schema: Any, root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a schema, what it refers to in `root`, and its alternatives, each once."""
    found: dict[int, Mapping[str, Any]] = {}
    waiting = [schema]
    while waiting:
        option = waiting.pop()
        if not isinstance(option, Mapping) or id(option) in found:
            continue
        found[id(option)] = option
        inner = [other for word in ALTERNATIVES for other in list_in(option, word)]
        target: Any = root if "$ref" in option else None
        for step in str(option.get("$ref")).split("/")[1:]:
            target = target.get(step) if isinstance(target, Mapping) else None
        waiting += reversed([*inner, target])
    return list(found.values())
