"""JSON texts: what they hold, and what is wrong with them."""

from __future__ import annotations

import json
import re
from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from turnspec.engine.results import ProblemKind

#: How deeply arrays and objects may be nested.
DEEPEST = 500
STRINGS_AND_BRACKETS = r'(?s)"[^"\\]*(?:\\.[^"\\]*)*"|[][{}]'
#: Returns a value as JSON that holds all characters as they are.
dump_json = json.JSONEncoder(ensure_ascii=False).encode
quote = json.encoder.encode_basestring


def load_json(text: str, hook: Any = None) -> Any:
    """Return the value of JSON text; ValueError if it is none, as NaN is."""
    if text.count("[") + text.count("{") > DEEPEST and is_too_deep(text):
        raise ValueError("nested too deeply")
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=hook)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def is_too_deep(text: str) -> bool:
    """Say whether arrays and objects are nested more deeply than DEEPEST."""
    depth = 0
    for found in re.finditer(STRINGS_AND_BRACKETS, text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found.group(), 0)
        if depth > DEEPEST:
            return True
    return False


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def is_object(text: str) -> bool:
    """Say whether a text is a JSON object."""
    try:
        return isinstance(load_json(text), dict)
    except ValueError:
        return False


def find_flaw(text: str) -> tuple[ProblemKind, str] | None:
    """Return what is wrong with arguments: the kind of problem, and a sentence."""
    try:
        members = load_json(text, hook=list)
    except ValueError:
        return "not_json", "the arguments are not JSON"
    keys = [key for key, _ in members] if text.startswith("{") else []
    if len(set(keys)) == len(keys):
        return None
    counts = Counter(keys)
    again = next(key for key in keys if counts[key] > 1)
    return "repeated_argument", f"another value for {again!r}"
