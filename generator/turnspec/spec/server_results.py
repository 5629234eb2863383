"""How servers' own parsers read formats: specs/servers.json, by `make integrations`.

Every parser that a server brings along was tried on each format's turns, as a whole and in pieces.
What is recorded belongs to what the format is, by its fingerprint, whatever template it is of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from turnspec.spec.json_values import read_json
from turnspec.spec.problems import Problem
from turnspec.spec.records import Records


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


def read_servers(path: Path) -> Servers | Problem:
    """Return the records by server; none when the file isn't there yet."""
    return read_json(path, {}, partial(Records().each, ServerRecord))
