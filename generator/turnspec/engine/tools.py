"""Tools: the schemas of their arguments, and whether they are tools at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_tools(tools: Sequence[Mapping[str, Any]]) -> None:
    """Raise ValueError if these are no tools: it says which of them is none, and why."""
    for _ in functions_of(tools):
        pass


def functions_of(
    tools: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[str, str, Any]]:
    """Yield where each tool's function is, its name, and its parameters.

    A tool is an OpenAI tool definition, or the function in it alone.
    """
    is_list = isinstance(tools, Sequence) and not isinstance(tools, str | bytes)
    if not is_list:
        raise ValueError("tools: not a list")
    for index, tool in enumerate(tools):
        path = f"tools[{index}]"
        function = _as_object(tool, path)
        if "function" in function:
            path += ".function"
            function = _as_object(function["function"], path)
        name = function.get("name")
        if not isinstance(name, str) or not name:
            raise ValueError(f"{path}: no name")
        yield path, name, function.get("parameters")


ALTERNATIVES = ("anyOf", "oneOf", "allOf")
LISTS = (*ALTERNATIVES, "prefixItems", "enum")
READ = {*LISTS, "properties", "items", "additionalProperties", "$ref"}


def parameters_by_name(
    tools: Sequence[Mapping[str, Any]],
) -> dict[str, Mapping[str, Any]]:
    """Return the schemas of the tools' arguments by the tools' names.

    Parameters may be any JSON Schema: one that is true, false or missing says nothing.

    Raises:
        ValueError: they are no tools; it says which of them is none, and why.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for path, name, parameters in functions_of(tools):
        _check_schema(parameters, f"{path}.parameters")
        found[name] = parameters if isinstance(parameters, Mapping) else {}
    return found


def schema_options(schema: Any, root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a schema, what it refers to in `root`, and its alternatives, each once."""
    found: dict[int, Mapping[str, Any]] = {}
    waiting = [schema]
    while waiting:
        option = waiting.pop()
        if not isinstance(option, Mapping) or id(option) in found:
            continue
        found[id(option)] = option
        inner = [other for word in ALTERNATIVES for other in option.get(word) or ()]
        waiting += reversed([*inner, _target(option, root)])
    return list(found.values())


def _target(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """Return what a schema refers to; None if it doesn't, or to nothing that is there."""
    target: Any = root if "$ref" in schema else None
    for step in str(schema.get("$ref")).split("/")[1:]:
        target = target.get(step) if isinstance(target, Mapping) else None
    return target


def _check_schema(root: Any, path: str) -> None:
    """Raise ValueError if a schema isn't one, as far as it is read."""
    seen: set[int] = set()
    waiting = [(path, root)]
    while waiting:
        path, schema = waiting.pop()
        if schema is None or isinstance(schema, bool) or id(schema) in seen:
            continue
        seen.add(id(schema))
        for word in filter(READ.__contains__, _as_object(schema, path)):
            waiting += _schemas_in(schema, word, root, f"{path}.{word}")


def _schemas_in(
    schema: Mapping[str, Any], word: str, root: Mapping[str, Any], path: str
) -> Iterator[tuple[str, Any]]:
    """Yield the schemas in one member of a schema, each with where it is."""
    inner = schema[word]
    if word == "$ref":
        if isinstance(target := _target(schema, root), Mapping):
            yield str(inner), target
    elif word == "properties":
        members = _as_object(inner or {}, path)
        yield from ((f"{path}.{key}", member) for key, member in members.items())
    elif word in LISTS:
        if not isinstance(inner or (), list | tuple):
            raise ValueError(f"{path}: not a list")
        if word != "enum":
            yield from ((f"{path}[{at}]", element) for at, element in enumerate(inner or ()))
    elif not isinstance(inner, list | tuple):  # so older schemas have arrays' elements
        yield path, inner


def _as_object(value: Any, path: str) -> Mapping[str, Any]:
    if isinstance(value, dict | Mapping):  # in this order, as the first is quick
        return value
    raise ValueError(f"{path}: not an object")
