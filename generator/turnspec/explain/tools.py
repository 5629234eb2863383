"""Tool definitions as someone gives them: a list of them, or an object that has one."""

from __future__ import annotations

from typing import Any

from turnspec.spec.json_values import json_in


def read_tools(text: str) -> list[dict[str, Any]] | str:
    """Return the tool definitions in a text, each an object with a name in it; or what is wrong."""
    try:
        tools = json_in(text)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    tools = tools.get("tools") if isinstance(tools, dict) else tools
    if not isinstance(tools, list):
        return "give a JSON list of tool definitions"
    for number, tool in enumerate(tools):
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(name, str) or not name:
            return f"tool {number} has no name"
    return tools
