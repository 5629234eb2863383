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


def literal_as_json(text: str) -> str | None:
    """Return a literal that JSON has not, or what a function `_` is given by names, as JSON."""
    import ast  # takes long, and is seldom needed

    try:
        match ast.parse(without_warnings(text).lstrip(" \t"), mode="eval").body:
            case ast.Call(ast.Name("_"), [], words) if all(word.arg for word in words):
                value: Any = apart((word.arg, literal(word.value)) for word in words)
            case node:
                value = literal(node)
        text = join_halves(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except PYTHON_ERRORS:
        return None
    return None if type(value) in (str, tuple) else text


def literal(node: Any) -> Any:
    """Return the value of a syntax node that is a literal, or a word of JSON."""
    import ast

    if isinstance(node, ast.Name) and node.id in JSON_WORDS:
        return JSON_WORDS[node.id]
    for inner in ast.walk(node):
        if isinstance(inner, ast.Dict):
            keys = apart((ast.literal_eval(key), None) for key in inner.keys if key)
            inner.keys = [ast.Constant(key) for key in keys]
    return ast.literal_eval(node)


def without_warnings(text: str) -> str:
    """Double each backslash of which Python would warn, but where raw strings may be."""
    if re.search(r"\b[rR][\"']", text):
        return text
    expression = r"\\(?:[\r\n\\'\"abfnrtvxuUN01234567]|(?=[\s\S]))"
    return re.sub(expression, lambda found: found.group().ljust(2, "\\"), text)


def join_halves(text: str) -> str:
    """Join halves of characters (surrogates) in JSON; escape one that is alone."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return joined.encode("utf-8", "backslashreplace").decode("utf-8")
