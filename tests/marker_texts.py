"""Markers as a model writes them: each rule of a format's tables, with something in its slots."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from random import Random

from turnspec.codegen.facts import FormatFacts
from turnspec.codegen.rules import Marker, Row

#: What stands in a slot, by its name or the first words of that; "" in any other one.
FILLERS: dict[str, tuple[str, ...]] = {
    " ": ("", "", " ", "\n", "\n\n"),
    "\n": ("", "\n", "\n", "\r\n"),
    "name": ("look", "count", "fetch", "other", "name", "user", "look.look"),
    "name_again": ("look", "count", "user"),
    "key": ("text", "count", "list", "options", "rows", "cell", "pair", "unit", "another"),
    "type": ("string", "integer", "str"),
    "string": ("name", "arguments", "parameters", "id", "type", "function", "look", "x"),
    "id": ("abcdef123", ""),
    "index": ("0", "1", ""),
    "word": ("", " word ", "json"),
    "noise": (" some noise",),
    "comma": ("", ", ", ","),
    "fence": ("", "```json", "```"),
    "brackets": ("}", "]", "}]", "\n```"),
    "line": ("\n",),
    "line of text": ("It is said.\n",),
    "text": ("It is said.",),
    "words": ("", " and more "),
    "tag": ("tag", "item"),
    "tag if any": ("", "<tag>"),
    "any": ("", "look"),
    "is": ("=", "=", " = ", ":", " name=", " "),
    "gap": (" ",),
    "not": ("look&amp;count",),
}
_SLOT = re.compile(r"\{\{|\}\}|\{(?P<optional>\?)?(?P<name>[^{}]+)\}|[ \n]|[^{} \n]+")


class MarkerTexts:
    """All markers of a format, to be written one at a time."""

    def __init__(self, facts: FormatFacts, random: Random) -> None:
        """Take a format's tables."""
        self.tables = {
            name: [marker for row in rows for marker in _markers(row)]
            for name, rows in facts.tables.items()
        }
        self.markers = list(dict.fromkeys(itertools.chain(*self.tables.values())))
        self._ends = facts.turn_ends
        self._random = random

    def any(self) -> str:
        """Return any marker, as it may be written."""
        return self.written(self._random.choice(self.markers))

    def of(self, table: str) -> str:
        """Return any marker of a table; nothing if it has none."""
        markers = self.tables.get(table)
        return self.written(self._random.choice(markers)) if markers else ""

    def of_row(self, row: Row) -> str:
        """Return a rule's marker, with what has to follow it."""
        markers = list(_markers(row))
        return self.written(self._random.choice(markers[1:] or markers))

    def written(self, marker: str) -> str:
        """Return a marker with something in its slots."""
        return "".join(map(self._part, _SLOT.finditer(marker)))

    def _part(self, part: re.Match[str]) -> str:
        text = part.group()
        if part["optional"]:
            return self._random.choice((part["name"], part["name"], ""))
        if text in ("{{", "}}"):
            return text[0]
        if part["name"] is None and text not in FILLERS:
            return text
        words = (part["name"] or text).split(" ")
        if words[0] == "stop":
            return self.written(self._random.choice(self._ends)) if self._ends else ""
        begun = (" ".join(words[:size]) or " " for size in range(len(words), 0, -1))
        return self._random.choice(next((FILLERS[it] for it in begun if it in FILLERS), ("",)))


def _markers(row: Row) -> Iterator[str]:
    yield row.marker
    for marker in row.if_before:
        yield from (f"{row.marker}{text}" for text in _texts(marker))


def _texts(marker: Marker) -> Iterator[str]:
    if isinstance(marker, str):
        yield marker
    else:
        yield from (f"{marker[0]}{text}" for after in marker[1] for text in _texts(after))
