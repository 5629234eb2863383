"""Raise a ValueError for the first option that is none of what it may be, tools apart."""

from __future__ import annotations

import re
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
        it = texts = options[name]
        many = isinstance(it, Collection) and all(isinstance(x, str) for x in texts)
        kind = "a string" if isinstance(it, str) else "a list of strings" * many
        if {kind, repr(texts)}.isdisjoint(re.split(", | or ", takes)):
            raise ValueError(f"{name}: {texts!r:.99} is not {takes}")
