"""What grammar engines said of each format's grammars: specs/engines.json, by `make engines`.

A result belongs to one spec, by its hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from turnspec.spec.json_values import count, load_json, mapping, read_json, text
from turnspec.spec.problems import Problem


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


def read_engines(path: Path) -> Mapping[str, EngineResult] | Problem:
    """Return the results by template name; none when the file isn't there yet."""
    return read_json(path, {}, load_engines)


def load_engines(text: str, file: str) -> Mapping[str, EngineResult] | Problem:
    """Return the results that a text holds, or the first thing in it that can't be understood."""
    return load_json(text, file, _results)


def _results(data: object) -> dict[str, EngineResult]:
    formats = mapping(mapping(data, "").get("formats"), "formats")
    return {name: _result(entry, f"formats.{name}") for name, entry in formats.items()}


def _result(data: object, place: str) -> EngineResult:
    entry = mapping(data, place)
    words = ("strings", "agreed", "turns", "valid")
    figures = {word: count(entry.get(word), f"{place}.{word}") for word in words}
    return EngineResult(text(entry.get("spec_hash"), f"{place}.spec_hash"), **figures)
