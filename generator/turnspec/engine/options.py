"""Raise a ValueError for the first option that is none of what it may be, tools apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_options(options: Mapping[str, Any]) -> None:
    """Raise a ValueError for the first option that is none of what it may be, tools apart."""
    words = {
        "enable_thinking": "True, False or None",
        "prefill": "a string or None",
        "reasoning": "'extract' or 'inline'",
        "echo": "True or False",
        "stop": "a string, a list of strings or None",
        "id_prefix": "a string",
        "special_tokens": "a list of strings or None",
    }
    for name, takes in words.items():
        value = texts = options[name]
        many = isinstance(value, Collection) and all(isinstance(x, str) for x in texts)
        kind = "a string" if isinstance(value, str) else "a list" if many else "?"
        if kind not in takes and repr(texts) not in takes:
            raise ValueError(f"{name}: {texts!r:.99} is not {takes}")
