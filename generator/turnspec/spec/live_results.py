"""What live runs on the tiny model found, per template: specs/live.json, written by `make live`.

A result belongs to one spec, by its hash. What was cut off by a limit is neither passed nor failed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from turnspec.spec.json_values import read_json
from turnspec.spec.problems import Problem
from turnspec.spec.records import Records
from turnspec.spec.results import Counterexample, RungResult

#: The name of this rung of the verification ladder.
LIVE_RUNG = "4"


@dataclass(frozen=True, slots=True)
class LiveResult:
    """The figures of one format: its turns and the calls in them, those cut off and those failed.

    ``prompt`` says what the prompt was from; ``example`` is the first failure, in one line.
    """

    spec_hash: str
    prompt: str
    turns: int
    calls: int
    cut: int
    failed: int
    example: str = ""

    @property
    def rung(self) -> RungResult:
        """The figures as those of a rung."""
        example = Counterexample(self.example) if self.example else None
        return RungResult(self.turns - self.cut - self.failed, self.failed, example)


@dataclass(frozen=True, slots=True)
class LiveRecord:
    """Results by template name, from how many seeds, and by which version of llama-cpp-python."""

    engine: str = ""
    seeds: int = 0
    formats: Mapping[str, LiveResult] = field(default_factory=dict)


_RECORDS = Records(
    keys={(LiveRecord, "engine"): "llama-cpp-python"}, required=frozenset({(LiveRecord, "formats")})
)


def dump_live(record: LiveRecord) -> str:
    """Return the text of live.json, templates in the order of their names."""
    rows = sorted(asdict(record)["formats"].items())
    formats = {name: {k: v for k, v in row.items() if v or k != "example"} for name, row in rows}
    data = {"llama-cpp-python": record.engine, "seeds": record.seeds, "formats": formats}
    return json.dumps(data, indent=2) + "\n"


def read_live(path: Path) -> LiveRecord | Problem:
    """Return the record; an empty one when the file isn't there yet."""
    return read_json(path, LiveRecord(), partial(_RECORDS.read, LiveRecord))
