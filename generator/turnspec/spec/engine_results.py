"""What grammar engines said of each format's grammars: specs/engines.json, by `make engines`.

A result belongs to one spec, by its hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from turnspec.spec.json_values import read_json
from turnspec.spec.problems import Problem
from turnspec.spec.records import Records


@dataclass(frozen=True, slots=True)
class EngineResult:
    """The figures of one format.

    Of ``strings``, so many were ``agreed`` on by all engines; of the random ``turns`` of grammars
    that are bound to tools and answers, so many were ``valid``: read without a problem, and as the
    schemas want it.
    """

    spec_hash: str
    strings: int
    agreed: int
    turns: int
    valid: int


@dataclass(frozen=True, slots=True)
class _Results:
    formats: Mapping[str, EngineResult]


def read_engines(path: Path) -> Mapping[str, EngineResult] | Problem:
    """Return the results by template name; none when the file isn't there yet."""
    return read_json(path, {}, lambda data: Records().read(_Results, data).formats)
