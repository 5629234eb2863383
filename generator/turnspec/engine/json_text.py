"""JSON texts: what they hold, and what is wrong with them."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from typing import Any

#: The characters that don't stand in a JSON string as they are, for a class of an expression.
ESCAPED = r'"\\\x00-\x1f'
#: How deeply arrays and objects may be nested, wherever a parser runs.
_DEEPEST = 500
#: Returns a value as JSON that holds all characters as they are.
dump_json = json.JSONEncoder(ensure_ascii=False).encode
_STRINGS_AND_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{}]', re.DOTALL)


def load_json(text: str, object_pairs_hook: Any = None) -> Any:
    """Return the value of JSON text; ValueError if it is none, as NaN and Infinity aren't."""
    if text.count("[") + text.count("{") > _DEEPEST and _is_too_deep(text):
        raise ValueError("nested too deeply")
    try:
        return _decoder(object_pairs_hook).decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _is_too_deep(text: str) -> bool:
    depth = 0
    for found in _STRINGS_AND_BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found.group(), 0)
        if depth > _DEEPEST:
            return True
    return False


@cache
def _decoder(object_pairs_hook: Any) -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=object_pairs_hook)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def json_escaped(text: str) -> str:
    """Return a text as it stands in a string of JSON."""
    return dump_json(text)[1:-1]


def without_halves(text: str) -> str:
    """Return JSON text whose halves of characters (surrogates) are joined, or escapes again."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return joined.encode("utf-8", "backslashreplace").decode("utf-8")


def find_flaw(text: str) -> tuple[str, str] | None:
    """Return what is wrong with arguments: the kind of problem, and a sentence."""
    try:
        members = load_json(text, object_pairs_hook=list)
    except ValueError:
        return "not_json", "the arguments are not JSON"
    keys = [key for key, _ in members] if text.startswith("{") else []
    if len(set(keys)) == len(keys):
        return None
    counts = Counter(keys)
    return "repeated_argument", f"another value for {next(k for k in counts if counts[k] > 1)!r}"


def as_string(text: str) -> str:
    """Return the string that JSON text stands for; the text itself if that is another value."""
    try:
        value = load_json(text)
    except ValueError:
        return ""
    return value if isinstance(value, str) else text
