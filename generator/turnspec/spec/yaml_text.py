"""Plain data as YAML text, laid out for reading in a diff.

A library's emitter would fold, indent and escape in its own way; a spec wants each marker on one
line, in double quotes, with every character that can't be seen or told apart escaped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from turnspec.spec.visible import escape
from turnspec.spec.yaml_document import is_word

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./@+-]*")
_QUOTED = {'"': '\\"', "\\": "\\\\"}
# Letters and symbols by their category that nevertheless show nothing.
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")


class Text(str):
    """A string that always stands in double quotes."""

    __slots__ = ()


class Line(dict[str, object]):
    """A mapping that stands in one line: ``{left: content, right: calls}``."""

    __slots__ = ()


def yaml_text(data: Mapping[str, object]) -> str:
    """Return the YAML of nested mappings and of lists of values that fit in a line each.

    Mappings are written as blocks, except empty ones and ``Line``; lists as one line per item when
    they are tuples and in one line when they are lists.
    """
    return "".join(f"{line}\n" for line in _block(data, ""))


def quoted(text: str) -> str:
    """Return ``text`` in YAML's double quotes, with all that doesn't show escaped."""
    return '"' + "".join(_character(character) for character in text) + '"'


def _block(data: Mapping[str, object], margin: str) -> Iterator[str]:
    for key, value in data.items():
        head = f"{margin}{_inline(key)}:"
        if isinstance(value, Mapping) and value and not isinstance(value, Line):
            yield head
            yield from _block(value, margin + "  ")
        elif isinstance(value, tuple) and value:
            yield head
            yield from (f"{margin}  - {_item(item)}" for item in value)
        else:
            yield f"{head} {_inline(value)}"


def _item(value: object) -> str:
    if isinstance(value, Mapping) and len(value) == 1:
        return _inline(value)[1:-1]
    return _inline(value)


def _inline(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_inline(k)}: {_inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, Text):
        return quoted(value)
    if isinstance(value, str):
        return str(value) if _PLAIN.fullmatch(value) and not is_word(value) else quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else repr(value)


def _character(character: str) -> str:
    if character in _QUOTED:
        return _QUOTED[character]
    if "\x20" <= character <= "\x7e":
        return character
    # Marks (M…) change how their neighbour looks, or nothing that shows.
    marks = unicodedata.category(character).startswith("M")
    if character.isprintable() and not marks and character not in _BLANKS:
        return character
    return escape(character)
