"""A template's text within a file: all of it, a value in JSON, or a string constant in Python."""

from __future__ import annotations

import ast
import json
import warnings

from turnspec.sources.index import Entry


class NoTextError(ValueError):
    """A file has no text where one is pinned."""


def text_within(data: bytes, entry: Entry) -> str:
    """Return the text that an entry's ``pointer`` or ``constant`` names, else all of the file.

    Raises NoTextError, and UnicodeError for what isn't UTF-8.
    """
    text = data.decode("utf-8")
    if entry.pointer:
        return _at_pointer(text, entry.pointer)
    if entry.constant:
        return _constant(text, entry.constant)
    return text


def _at_pointer(text: str, pointer: str) -> str:
    """Follow a JSON pointer (RFC 6901) to a string."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoTextError("not JSON that can be read") from error
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            found = found[int(key) if isinstance(found, list) else key]  # type: ignore[index]
        except (LookupError, TypeError, ValueError):
            found = None
    if not isinstance(found, str):
        raise NoTextError(f"has no text at {pointer}")
    return found


def _constant(text: str, name: str) -> str:
    """Return the string that a module gives a name, once and for all. Nothing of it is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stranger's escapes that Python doesn't know
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NoTextError("not Python that can be read") from error
    values = [
        statement.value
        for statement in module.body
        if isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
    ]
    match values:
        case [ast.Constant(value=str(found))]:
            return found
        case []:
            raise NoTextError(f"assigns nothing to {name}")
        case _:
            raise NoTextError(f"assigns to {name} what is not one string")
