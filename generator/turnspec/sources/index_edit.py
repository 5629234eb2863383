"""Changing templates/index.yaml as text: what a person wrote there stays, to the character."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import yaml

from turnspec.sources.index import INDEX_FILE, Entry, Origin, parse_index
from turnspec.spec.problems import Problem

_ITEM = re.compile(r"^( *)- ", re.MULTILINE)
_KEY = re.compile(r"^ *(?:- )?(\w+):")
_PINNED = (
    *("origin", "repository", "commit", "path"),
    *("sha256", "bos_token", "eos_token", "tokenizer", "source"),
)
_NO_ORIGINS = re.compile(r"^origins: *\[\] *$", re.MULTILINE)
_TEMPLATES = re.compile(r"\n*^templates:", re.MULTILINE)
_EMPTY_LIST = re.compile(r"^templates: *\[\] *\Z", re.MULTILINE)


def with_entries(text: str, rows: Sequence[Mapping[str, object]]) -> str | Problem:
    """Return the index with entries at its end."""
    if not rows:
        return text
    start = _EMPTY_LIST.sub("templates:", text.rstrip())
    items = _ITEM.findall(start)
    block = "".join(map(_item, rows))
    extended = f"{start}\n{textwrap.indent(block, items[-1] if items else '  ')}"
    index, problems = parse_index(extended)
    files = {entry.file for entry in index.entries}
    if problems or not files.issuperset(row["file"] for row in rows):
        names = ", ".join(str(row["file"]) for row in rows)
        return Problem(
            f"cannot add {names} at the end: `templates:` must be the last key, in block style",
            INDEX_FILE,
        )
    return extended


def with_origins(text: str, origins: Sequence[Origin]) -> str | Problem:
    """Return the index with packages behind those that it has."""
    if not origins:
        return text
    rows = [{key: value for key, value in asdict(o).items() if key != "line"} for o in origins]
    block = textwrap.indent("".join(map(_item, rows)), "  ").rstrip()
    text = _NO_ORIGINS.sub("origins:", text)
    changed = _TEMPLATES.sub(lambda found: f"\n{block}{found[0]}", text, count=1)
    if not parse_index(changed)[0].origins.keys() >= {origin.id for origin in origins}:
        names = ", ".join(origin.file for origin in origins)
        return Problem(f"cannot add {names} before `templates:`; do it by hand", INDEX_FILE)
    return changed


def without_entry(text: str, entry: Entry) -> str | Problem:
    """Return the index without one of its entries."""
    before, _, behind = _apart(text, entry)
    rest = before + behind
    if not parse_index(text)[0].entries[1:]:
        rest = re.sub(r"^templates: *$", "templates: []", rest, flags=re.MULTILINE)
    index, problems = parse_index(rest)
    if problems or any(other.file == entry.file for other in index.entries):
        return _by_hand(entry, "take its entry out")
    return rest


def with_pin(text: str, entry: Entry, row: Mapping[str, object]) -> str | Problem:
    """Return the index with other values in one of its entries; keys that ``row`` lacks go."""
    before, lines, behind = _apart(text, entry)
    margin = " " * (lines[0].index("- ") + 2)
    written = {key: f"{margin}{_line(key, value)}" for key, value in row.items()}
    kept: list[str] = []
    for line in lines:
        found = _KEY.match(line)
        key = found.group(1) if found else ""
        if key == "file" or key not in _PINNED:
            kept.append(line)
        elif key in written:
            kept.append(written.pop(key))
    written.pop("file", None)
    changed = "".join([before, *kept, *written.values(), behind])
    index, problems = parse_index(changed)
    if problems or not any(_has(other, row) for other in index.entries):
        return _by_hand(entry, f"set its sha256 to {row['sha256']}")
    return changed


def with_file(text: str, entry: Entry, file: str) -> str | Problem:
    """Return the index with another file name in one of its entries."""
    before, lines, behind = _apart(text, entry)
    key = rf"(\bfile: *)(['\"]?){re.escape(entry.file)}\2(?=[\s,}}])"
    name = _line("file", file).removeprefix("file: ").rstrip("\n")
    block = re.sub(key, lambda found: found[1] + name, "".join(lines), count=1)
    changed = before + block + behind
    index, problems = parse_index(changed)
    if problems or not any(_has(other, {**asdict(entry), "file": file}) for other in index.entries):
        return _by_hand(entry, f"set its file to {file}")
    return changed


def _apart(text: str, entry: Entry) -> tuple[str, list[str], str]:
    """Return the text before an entry, the entry's own lines, and the text behind it."""
    assert entry.line is not None
    lines = text.splitlines(keepends=True)
    start = entry.line - 1
    margin = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines):
        line = lines[end]
        if line.strip() and len(line) - len(line.lstrip()) <= margin:
            break
        end += 1
    return "".join(lines[:start]), lines[start:end], "".join(lines[end:])


def _item(row: Mapping[str, object]) -> str:
    lines = "".join(_line(key, value) for key, value in row.items())
    return f"- {textwrap.indent(lines, '  ').lstrip()}"


def _line(key: str, value: object) -> str:
    """Return a key and its value in a line of their own, whatever it consists of."""
    text = yaml.safe_dump(
        {key: value}, default_flow_style=True, sort_keys=False, allow_unicode=True, width=2**20
    )
    return f"{text.strip()[1:-1]}\n"


def _has(entry: Entry, row: Mapping[str, object]) -> bool:
    return entry.file == row["file"] and entry.sha256 == row["sha256"]


def _by_hand(entry: Entry, what: str) -> Problem:
    message = f"{entry.file}: this form of index can't be edited; {what}"
    return Problem(message, INDEX_FILE, entry.line)
