"""What the tiny model is asked, and the tools that it is offered.

Everything in the tools' schemas is bounded, as random weights wouldn't stop by themselves.
"""

from __future__ import annotations

from typing import Any

USER_MESSAGE = "What is the weather like, and what did I note about it?"

_WEATHER = {
    "name": "get_weather",
    "description": "Tells the weather of a place.",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where.", "maxLength": 16},
            "unit": {"type": "string", "description": "Of the result.", "enum": ["C", "F"]},
            "days": {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 14},
            "hourly": {"type": "boolean", "description": "Whether for each hour."},
        },
        "required": ["city", "days"],
    },
}
_NOTES = {
    "name": "find_notes",
    "description": "Finds notes.",
    "parameters": {
        "type": "object",
        "properties": {
            "words": {"type": "string", "description": "What for.", "maxLength": 24},
            "kinds": {
                "type": "array",
                "description": "Of which kinds.",
                "items": {"type": "string", "enum": ["letter", "list", "draft"]},
                "maxItems": 3,
            },
            "within": {
                "type": "object",
                "description": "Where to look.",
                "properties": {
                    "folder": {"type": "string", "maxLength": 8},
                    "depth": {"type": "integer", "minimum": -1, "maximum": 250},
                },
                "required": ["folder"],
            },
        },
        "required": ["words"],
    },
}
_NOW = {
    "name": "now",
    "description": "Tells the time.",
    "parameters": {"type": "object", "properties": {}},
}

#: The tools, as chat-completions APIs take them.
TOOLS: tuple[dict[str, Any], ...] = tuple(
    {"type": "function", "function": function} for function in (_WEATHER, _NOTES, _NOW)
)
