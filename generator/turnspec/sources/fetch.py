"""Making every template of the index available: from the disk, else fetched from its origin."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from turnspec.sources.hub_place import HUB
from turnspec.sources.index import INDEX_FILE, LOCAL, LOCAL_FOLDER, Entry, Index, read_index
from turnspec.sources.text_files import found_sha256
from turnspec.spec.naming import TEMPLATE_SUFFIX
from turnspec.spec.problems import Problem

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The entries whose templates are there, with their checksums, and what is wrong with others.

    ``notices`` tell of fetched templates that had another text than the pinned one, and were
    replaced.
    """

    templates: list[Entry]
    problems: list[Problem]
    notices: list[Problem] = field(default_factory=list)


def fetch_templates(
    root: Path, *, offline: bool = False, console: Console | None = None
) -> FetchResult:
    """Return all templates of ``root``/templates/index.yaml, fetching those that aren't there.

    ``offline`` forbids downloading. A download shows its progress on ``console`` (default: stderr)
    if that is a terminal. When everything is there, nothing but the templates is read.
    """
    index, problems = read_index(root)
    unlisted = [] if problems else _unlisted(root, index)  # a row that can't be read lists nothing
    before = _checksums(root, index)
    lacking = [entry for entry in index.entries if before[entry.location] != entry.sha256]
    problems += _fetch_missing(lacking, root, index, offline, console)
    templates: list[Entry] = []
    notices: list[Problem] = []
    after = _checksums(root, index)
    for entry in index.entries:
        old, new = before[entry.location], after[entry.location]
        if new == entry.sha256:
            templates.append(entry)
            notices += [_replaced(entry)] if old not in (None, new) else []
        elif entry.origin == LOCAL:
            problems.append(_local_problem(entry, new))
    return FetchResult(templates, problems + unlisted, notices)


def _fetch_missing(
    lacking: list[Entry], root: Path, index: Index, offline: bool, console: Console | None
) -> list[Problem]:
    problems: list[Problem] = []
    if pinned := [entry for entry in lacking if entry.origin == HUB]:
        from turnspec.sources.hub import fetch_pinned

        problems += fetch_pinned(pinned, root, offline=offline)
    for origin in index.origins.values():
        if not (missing := [entry for entry in lacking if entry.origin == origin.id]):
            continue
        # Loading the network's libraries takes longer than reading all templates.
        from turnspec.sources.download import obtain
        from turnspec.sources.package_files import extract

        found = obtain(origin, offline=offline, console=console)
        if isinstance(found, Problem):
            problems.append(replace(found, file=INDEX_FILE, line=origin.line))
        else:
            problems += extract(found, origin, missing, root)
    return problems


def _replaced(entry: Entry) -> Problem:
    pinned = f"{INDEX_FILE}:{entry.line}"
    return Problem(f"wasn't the text that {pinned} pins, and was fetched again", entry.location)


def _checksums(root: Path, index: Index) -> dict[str, str | None]:
    return {entry.location: found_sha256(root / entry.location) for entry in index.entries}


def _local_problem(entry: Entry, found: str | None) -> Problem:
    listed = f"{INDEX_FILE}:{entry.line}"
    if found is None:
        return Problem(f"is missing, but {listed} lists it", entry.location)
    return Problem(
        f"its text isn't the one that {listed} pins; "
        f"if the change is wanted, run: turnspec add --update {shlex.quote(entry.location)}",
        entry.location,
    )


def _unlisted(root: Path, index: Index) -> list[Problem]:
    """Return a problem for each template that lies in templates/ without being in the index."""
    listed = {entry.file for entry in index.entries if entry.origin == LOCAL}
    files = sorted(path.name for path in (root / LOCAL_FOLDER).glob(f"*{TEMPLATE_SUFFIX}"))
    return [
        Problem(f"is not in the index; add it: turnspec add {shlex.quote(place)}", place)
        for place in (f"{LOCAL_FOLDER}/{name}" for name in files if name not in listed)
    ]
