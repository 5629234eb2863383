"""JSON texts: what they hold, and what is wrong with them."""

from __future__ import annotations

import json
import re
from itertools import accumulate

from turnspec.engine.tools import is_mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from turnspec.engine.results import ProblemKind

#: Returns a value as JSON that holds all characters as they are.
dump_json = json.JSONEncoder(ensure_ascii=False).encode
quote = json.encoder.encode_basestring


class Again(str):
    """A key that stands in an object once more, and so is no other key's equal."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def load_json(text: str, hook: Any = None) -> Any:
    """Return the value of JSON text; ValueError if it is none, as NaN is."""
    deepest = 500  # arrays and objects within each other
    if text.count("[") + text.count("{") > deepest:
        signs = re.sub(r'(?s)"[^"\\]*(?:\\.[^"\\]*)*"|[^\[\]{}"]+', "", text)
        depths = accumulate((sign in "[{") - (sign in "]}") for sign in signs)
        if max(depths, default=0) > deepest:
            raise ValueError("nested too deeply")
    try:
        return json.loads(text, parse_constant=int, object_pairs_hook=hook)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def apart(members: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """Return an object that keeps all its members where a key is repeated."""
    found: dict[Any, Any] = {}
    for key, value in members:
        text = key if isinstance(key, str) else dump_json(key)
        found[Again(text) if key in found else key] = value
    return found


def find_flaw(text: str) -> tuple[ProblemKind, str] | None:
    """Return what is wrong with arguments: the kind of problem, and a sentence."""
    try:
        value = load_json(text, hook=apart)
    except ValueError:
        return "not_json", "the arguments are not JSON"
    if not is_mapping(value):
        return "not_an_object", f"the arguments are {text}"
    again = [key for key in value if isinstance(key, Again)]
    return ("repeated_argument", f"another value for {again[0]!r}") if again else None


def with_escapes(text: str, python: bool) -> str:
    """Return a text as JSON, if it only lacks backslashes before those that escape nothing."""
    own = r"""\\["'\\/abfnrtuvxU]""" if python else r'\\["\\/bfnrtu]'
    escaped = re.sub(rf"({own})|\\", lambda it: it[1] or r"\\", text)
    return text if escaped == text or find_flaw('{"":' + escaped + "}") else escaped
