"""Tools: whether they are tools at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_tools(tools: Sequence[Mapping[str, Any]]) -> None:
    """Raise ValueError if these are no tools: it says which of them is none, and why."""
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


def _as_object(value: Any, path: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise ValueError(f"{path}: not an object")
