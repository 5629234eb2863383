"""Rows of transcripts: one is decoded, its text parsed, and what came of it put beside it.

Nothing is lost: a row that can't be decoded, or holds no text, is kept with the reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from turnspec.codegen.format_module import FormatModule

#: A row as it was read: a line's bytes, or what a file of columns holds.
Row = bytes | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to do with rows: parse the text under one key, with options, and put what was read."""

    column: str  # the key of the text that a model wrote
    result: str  # the key under which what was read is put
    options: Mapping[str, Any]  # what the parser takes beside the text
    with_row: bool = True  # whether a row's own values stand beside what was read


@dataclass(slots=True)
class Counts:
    """How many rows there were, how many couldn't be read, and the problems told, by kind."""

    rows: int = 0
    failed: int = 0
    problems: Counter[str] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        """Add what was counted elsewhere."""
        self.rows += other.rows
        self.failed += other.failed
        self.problems += other.problems

    def count(self, found: Mapping[str, Any]) -> None:
        """Count what came of one row."""
        self.rows += 1
        self.failed += "error" in found
        self.problems.update(problem["kind"] for problem in found.get("problems", ()))


def parse_rows(
    rows: Iterable[Row], module: FormatModule, wanted: Wanted
) -> tuple[list[str], Counts]:
    """Return a line of JSON for each row, and what there was to count."""
    lines: list[str] = []
    counts = Counts()
    for row in rows:
        decoded = _decoded(row, wanted)
        found = {"error": decoded} if isinstance(decoded, str) else _read(decoded, module, wanted)
        if isinstance(decoded, str) and isinstance(row, bytes):
            found["line"] = row.decode("utf-8", "backslashreplace").rstrip("\r\n")
        beside = decoded if wanted.with_row and not isinstance(decoded, str) else {}
        lines.append(json_line({**beside, wanted.result: found}))
        counts.count(found)
    return lines, counts


def json_line(value: Mapping[str, Any]) -> str:
    """Return one line of JSON; half a surrogate pair is escaped, what JSON lacks is its text."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _decoded(row: Row, wanted: Wanted) -> Mapping[str, Any] | str:
    """Return a row's values, or why they can't be had."""
    if not isinstance(row, bytes):
        return row
    try:
        values = json.loads(row)
    except UnicodeDecodeError as error:
        return f"not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}"
    except json.JSONDecodeError as error:
        return f"not JSON: {error.msg} at offset {error.pos}"
    except (ValueError, RecursionError):  # a number with too many digits; nested too deep
        return "not JSON that can be read"
    if not isinstance(values, dict):
        return "is JSON, but not an object"
    if wanted.result in values:
        return f"has a column {wanted.result!r} already"
    return values


def _read(row: Mapping[str, Any], module: FormatModule, wanted: Wanted) -> dict[str, Any]:
    text = row.get(wanted.column)
    if not isinstance(text, str):
        what = f"{type(text).__name__} instead" if wanted.column in row else "no such column"
        return {"error": f"has no text in {wanted.column!r}: {what}"}
    message = module.parse(text, **wanted.options)
    problems = [
        {"offset": problem.offset, "kind": problem.kind, "message": problem.message}
        for problem in message.problems
    ]
    return {"message": message.to_dict(), "problems": problems}
