"""JSON-like objects in prose: their values may be placeholders, as in ``{"call": <its name>}``.

An object is a brace before a quoted key and a colon; a value runs to the comma before the next key
or to the closing brace. Doubled braces, which a formatter left over, are read as single ones, and
single quotes, as Python shows them, as double ones.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

#: Stands for an object in a text in which all of them are replaced.
OBJECT = "\ue000"

_KEY = re.compile(r"\s*([\"'])(?P<key>(?:(?!\1)[^\n])+)\1(?P<colon>\s*:\s*)")
_NEXT = re.compile(r"\s*,\s*(?=[\"'])")
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class ExampleObject:
    """An object in a text: its own text, its keys with the texts of their values, and its style."""

    text: str
    members: tuple[tuple[str, str], ...]
    item_separator: str
    key_separator: str

    @property
    def is_json(self) -> bool:
        """Whether it could be real JSON, with no placeholder in it."""
        in_double_quotes = self.text.replace("'", '"')
        try:
            json.loads(in_double_quotes if '"' not in self.text else self.text)
        except ValueError:
            return False
        return True


def replace_objects(text: str) -> tuple[str, list[ExampleObject]]:
    """Return the text with `OBJECT` in the place of each outermost object, and the objects."""
    found: list[ExampleObject] = []
    result, position = "", 0
    for match in re.finditer(r"\{", text):
        if match.start() < position:
            continue
        example = _read_object(text, match.start())
        if example is not None:
            result += text[position : match.start()] + OBJECT
            position = match.start() + len(example.text)
            found.append(example)
    return result + text[position:], found


def _read_object(text: str, start: int) -> ExampleObject | None:
    doubled = text.startswith("{{", start)
    position = start + (2 if doubled else 1)
    members: list[tuple[str, str]] = []
    colons, commas = [], []
    while key := _KEY.match(text, position):
        end = _value_end(text, key.end(), key[1])
        if end is None:
            return None
        members.append((key["key"], text[key.end() : end].strip()))
        colons.append(key["colon"])
        following = _NEXT.match(text, end)
        position = following.end() if following else end
        if following is None:
            break
        commas.append(following.group())
    closing = "}}" if doubled else "}"
    if not members or not text.startswith(closing, position):
        return None
    whole = text[start : position + len(closing)]
    return ExampleObject(whole, tuple(members), _in_one_line(commas, ", "), _in_one_line(colons))


def _value_end(text: str, start: int, quote: str) -> int | None:
    """Return where a value ends: at the comma before the next key, or at the closing brace."""
    depth, in_string = 0, False
    for position in range(start, min(len(text), start + _LONGEST)):
        character = text[position]
        if in_string:
            in_string = character not in (quote, "\n")
        elif character == quote:
            in_string = True
        elif character in "{[":
            depth += 1
        elif character in "}]" and depth:
            depth -= 1
        elif character == "}" or (character == "," and not depth and _NEXT.match(text, position)):
            return position
        elif text.startswith("\n\n", position):
            return None
    return None


def _in_one_line(separators: list[str], usual: str = ": ") -> str:
    return separators[0] if separators and "\n" not in separators[0] else usual
