"""Python's literals, which some models write where JSON belongs."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from turnspec.engine.json_text import without_halves

_RAW_STRING = re.compile(r"\b[rR][\"']")
_BACKSLASH = re.compile(r"\\([\s\S])")
_ESCAPED = "\r\n\\'\"abfnrtvxuUN01234567"
_JSON_WORDS = {"true": True, "false": False, "null": None}
_ERRORS = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)


def read_literal(text: str) -> Any:
    """Return the value of a literal; ValueError if a text is none."""
    try:
        return ast.literal_eval(_without_warnings(text))
    except _ERRORS:
        raise ValueError("no literal of Python's") from None


def keyword_arguments(text: str) -> str | None:
    """Return Python's keyword arguments, up to the bracket behind them, as JSON; None if not so."""
    try:
        call = ast.parse(f"f({_without_warnings(text.strip())}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None  # more than arguments, or some without a keyword
        if not all(word.arg for word in call.keywords):
            return None
        values = {word.arg: _value(word.value) for word in call.keywords}
        return without_halves(json.dumps(values, ensure_ascii=False, allow_nan=False))
    except _ERRORS:
        return None


def _value(node: ast.expr) -> Any:
    """Return the value of a literal, or of one of JSON's words."""
    if isinstance(node, ast.Name) and node.id in _JSON_WORDS:
        return _JSON_WORDS[node.id]
    return ast.literal_eval(node)


def _without_warnings(text: str) -> str:
    """Return a text in which no backslash is left of which Python would warn: it stands for itself.

    In raw strings all stand for themselves, so that a text with one is left alone.
    """
    if _RAW_STRING.search(text):
        return text
    return _BACKSLASH.sub(lambda at: at.group() if at[1] in _ESCAPED else "\\" + at.group(), text)
