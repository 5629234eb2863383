"""What canitoolcall itself publishes of other engines: a table in its package's description."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: The table's columns that are taken, as they are headed there.
_COLUMNS = ("Engine", "Version", "Fixtures it supports", "Pass", "Soft pass", "Fail")


@dataclass(frozen=True, slots=True)
class Published:
    """An engine's results, as published."""

    engine: str
    version: str
    supported: int
    passed: int
    soft: int
    failed: int


def published(description: str) -> list[Published]:
    """Return the results in the description of the package, none if there is no such table."""
    rows = list(_rows(description))
    for start, heads in enumerate(rows):
        if all(column in heads for column in _COLUMNS):
            places = [heads.index(column) for column in _COLUMNS]
            return list(_engines(rows[start + 2 :], places))
    return []


def snapshot(description: str) -> str:
    """Return the date of the results, "" if the description doesn't tell."""
    found = re.search(r"\b(\d{4}-\d\d-\d\d) snapshot\b", description)
    return found[1] if found else ""


def _rows(description: str) -> Iterator[list[str]]:
    """Yield the cells of each line; a line that belongs to no table has none."""
    for line in description.splitlines():
        is_row = line.startswith("|") and line.endswith("|")
        yield [cell.strip(" `") for cell in line[1:-1].split("|")] if is_row else []


def _engines(rows: list[list[str]], places: list[int]) -> Iterator[Published]:
    for cells in rows:
        if len(cells) <= max(places):
            return
        engine, version, *counts = (cells[place] for place in places)
        if not all(count.isdecimal() for count in counts):
            return
        yield Published(engine, version, *map(int, counts))
