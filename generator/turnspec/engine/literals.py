"""Python's literals, and characters that came in halves, in JSON."""

from __future__ import annotations

import json
import re

from turnspec.engine.json_texts import apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

JSON_WORDS = {"true": True, "false": False, "null": None}
PYTHON_ERRORS = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)


def literal(source: Any) -> Any:
    """Return the value of a literal, or of a syntax node that may be a JSON word."""
    import ast  # takes long, and is seldom needed

    if isinstance(source, ast.Name) and source.id in JSON_WORDS:
        return JSON_WORDS[source.id]
    if isinstance(source, str):
        source = ast.parse(without_warnings(source).lstrip(" \t"), mode="eval")
    for node in ast.walk(source):
        if isinstance(node, ast.Dict):
            keys = apart((ast.literal_eval(key), None) for key in node.keys if key)
            node.keys = [ast.Constant(key) for key in keys]
    return ast.literal_eval(source)


def without_warnings(text: str) -> str:
    """Double each backslash of which Python would warn, but where raw strings may be."""
    if re.search(r"\b[rR][\"']", text):
        return text
    expression = r"\\(?:[\r\n\\'\"abfnrtvxuUN01234567]|(?=[\s\S]))"
    return re.sub(expression, lambda found: found.group().ljust(2, "\\"), text)


def dump_python(value: Any) -> str:
    """Return a Python value as JSON; ValueError or TypeError if JSON has no such."""
    return join_halves(json.dumps(value, ensure_ascii=False, allow_nan=False))


def literal_as_json(text: str) -> str | None:
    """Return a literal that JSON has not, as JSON; None if it is no such."""
    try:
        value = literal(text)
        text = dump_python(value)
    except PYTHON_ERRORS:
        return None
    return None if type(value) in (int, float, str, tuple) else text


def join_halves(text: str) -> str:
    """Join halves of characters (surrogates) in JSON; escape one that is alone."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return joined.encode("utf-8", "backslashreplace").decode("utf-8")
