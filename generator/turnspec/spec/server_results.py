"""How servers' own parsers read formats: specs/servers.json, by `make integrations`.

Every parser that a server brings along was tried on each format's turns, as a whole and in pieces.
What is recorded belongs to what the format is, by its fingerprint, whatever template it is of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from turnspec.spec.atomic import write_atomically
from turnspec.spec.json_values import MisfitError, count, load_json, mapping, read_json, text, texts
from turnspec.spec.problems import Problem


@dataclass(frozen=True, slots=True)
class ServerResult:
    """What the best of a server's parsers made of a format's turns.

    Of so many ``turns`` so many came back ``whole``, and so many in ``pieces``, too. ``parsers``
    are the names for tool calls and for reasoning, "" where none is needed; first the best pair,
    then others that read as much; none if nothing was read. ``example`` is the shortest turn that
    failed, and what became of it.
    """

    fingerprint: str
    turns: int
    whole: int
    pieces: int
    parsers: tuple[tuple[str, ...], ...] = ()
    example: tuple[str, ...] = ()

    @property
    def reads_all(self) -> bool:
        """Whether every turn came back, whichever way it came."""
        return self.pieces == self.turns


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """A server's results by format, its package, and how many parsers it has."""

    package: str
    version: str
    parsers: int
    formats: Mapping[str, ServerResult]

    def of(self, name: str, fingerprint: str) -> ServerResult | None:
        """Return the result of a format, or of another one that is the same.

        Without any it is what was recorded by the name, of what the format was then.
        """
        known = self.formats.get(name)
        if known is not None and known.fingerprint == fingerprint:
            return known
        alike = (found for found in self.formats.values() if found.fingerprint == fingerprint)
        return next(alike, known)


#: Records by the names of their servers.
Servers = Mapping[str, ServerRecord]


def write_servers(path: Path, records: Servers) -> bool:
    """Write servers.json, a line for each format, and return whether it changed."""
    parts = []
    for server, record in sorted(records.items()):
        head = {"package": record.package, "version": record.version, "parsers": record.parsers}
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
        formats = ",\n".join(
            f"   {json.dumps(name)}: {json.dumps(asdict(found), ensure_ascii=False)}"
            for name, found in sorted(record.formats.items())
        )
        lines.append(f'  "formats": {{\n{formats}\n  }}')
        parts.append(f" {json.dumps(server)}: {{\n" + ",\n".join(lines) + "\n }")
    return write_atomically(path, "{\n" + ",\n".join(parts) + "\n}\n")


def read_servers(path: Path) -> Servers | Problem:
    """Return the records by server; none when the file isn't there yet."""
    absent: Servers = {}
    return read_json(path, absent, load_servers)


def load_servers(text_: str, file: str) -> Servers | Problem:
    """Return the records that a text holds, or the first thing in it that can't be understood."""
    return load_json(
        text_, file, lambda data: {s: _record(r, s) for s, r in mapping(data, "").items()}
    )


def _record(data: object, place: str) -> ServerRecord:
    entry = mapping(data, place)
    formats = mapping(entry.get("formats"), f"{place}.formats")
    return ServerRecord(
        text(entry.get("package"), f"{place}.package"),
        text(entry.get("version"), f"{place}.version"),
        count(entry.get("parsers"), f"{place}.parsers"),
        {name: _result(found, f"{place}.formats.{name}") for name, found in formats.items()},
    )


def _result(data: object, place: str) -> ServerResult:
    entry = mapping(data, place)
    pairs = entry.get("parsers", [])
    if not isinstance(pairs, list):
        raise MisfitError(f"{place}.parsers", "a list")
    return ServerResult(
        text(entry.get("fingerprint"), f"{place}.fingerprint"),
        **{
            word: count(entry.get(word), f"{place}.{word}") for word in ("turns", "whole", "pieces")
        },
        parsers=tuple(texts(pair, f"{place}.parsers") for pair in pairs),
        example=texts(entry.get("example", []), f"{place}.example"),
    )
