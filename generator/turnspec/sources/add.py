"""Bringing a template of one's own into templates/ and its index."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

import yaml

from turnspec.sources.index import (
    INDEX_FILE,
    LOCAL,
    LOCAL_FOLDER,
    Entry,
    parse_index,
)
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.sources.text_files import read_text, sha256_of
from turnspec.spec.atomic import write_atomically
from turnspec.spec.os_reasons import reason
from turnspec.spec.problems import Problem

_ITEM = re.compile(r"^( *)- ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AddResult:
    """What became of a source's templates: new in the index, or there before with equal content."""

    added: list[SourceTemplate]
    unchanged: list[SourceTemplate]
    problems: list[Problem]


def add_source(source: Path, root: Path, name: str | None = None) -> AddResult:
    """Write a source's templates to ``root``/templates and append them to the index there.

    ``source`` and ``name`` are as for `read_templates`. A template whose name is taken by one with
    other content becomes a problem; the source's other templates are added nevertheless.
    """
    templates, problems = read_templates(source, name)
    text, index_problems = read_text(root / INDEX_FILE, INDEX_FILE)
    if not index_problems:
        index, index_problems = parse_index(text)
    if index_problems:
        return AddResult([], [], problems + index_problems)
    listed = {entry.name: entry for entry in index.entries}
    added: list[SourceTemplate] = []
    unchanged: list[SourceTemplate] = []
    for template in templates:
        entry = listed.get(template.name)
        conflict = _conflict(template, entry, root)
        if conflict:
            problems.append(conflict)
        else:
            (unchanged if entry else added).append(template)
    failures = _store(added, text, root)
    return AddResult([] if failures else added, unchanged, problems + failures)


def _conflict(template: SourceTemplate, entry: Entry | None, root: Path) -> Problem | None:
    if entry and entry.sha256 != _checksum(template):
        message = f"{INDEX_FILE}:{entry.line} has another template named {template.name}"
        return Problem(f"{message}; choose another name", template.source)
    target = root / LOCAL_FOLDER / template.file
    if not entry and target.exists() and target.read_bytes() != template.text.encode("utf-8"):
        message = f"{LOCAL_FOLDER}/{template.file} is there already, with other content"
        return Problem(f"{message}; choose another name", template.source)
    return None


def _store(templates: list[SourceTemplate], index_text: str, root: Path) -> list[Problem]:
    """Write the templates, then the index that lists them."""
    if not templates:
        return []
    extended = _extended(index_text, templates)
    index, problems = parse_index(extended)
    listed = {entry.name for entry in index.entries}
    if problems or not listed.issuperset(template.name for template in templates):
        names = ", ".join(template.file for template in templates)
        message = (
            f"cannot add {names} at the end: `templates:` must be the last key, in block style"
        )
        return [Problem(message, INDEX_FILE)]
    try:
        for template in templates:
            write_atomically(root / LOCAL_FOLDER / template.file, template.text)
        write_atomically(root / INDEX_FILE, extended)
    except OSError as error:
        return [Problem(f"cannot be written: {reason(error)}", str(error.filename or INDEX_FILE))]
    return []


def _extended(index_text: str, templates: list[SourceTemplate]) -> str:
    """Return the index with entries at its end. What is there stays, to the character."""
    start = re.sub(r"^templates: *\[\] *\Z", "templates:", index_text.rstrip(), flags=re.MULTILINE)
    items = _ITEM.findall(start)
    margin = items[-1] if items else "  "
    rows = [_row(template) for template in templates]
    block = yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, width=2**20)
    return f"{start}\n{textwrap.indent(block, margin)}"


def _row(template: SourceTemplate) -> dict[str, str]:
    row = {
        "file": template.file,
        "origin": LOCAL,
        "sha256": _checksum(template),
        "bos_token": template.bos_token,
        "eos_token": template.eos_token,
        "source": template.source,
    }
    return {key: value for key, value in row.items() if value is not None}


def _checksum(template: SourceTemplate) -> str:
    return sha256_of(template.text.encode("utf-8"))
