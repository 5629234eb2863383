"""What other programs made of exports: specs/integrations.json, by `make integrations`.

A result belongs to one spec, by its hash. Each target has the versions of the packages that it was
run with, and for each format what became of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

from turnspec.spec.json_values import read_json
from turnspec.spec.problems import Problem
from turnspec.spec.records import Records


class ExportState(StrEnum):
    """What became of an export."""

    EXPORTED = "exported"
    LOOSENED = "loosened"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class IntegrationResult:
    """What the program of a target did with one format's turns.

    Of ``checks``, so many ``passed``, ``loosely`` those of them in which something came back as the
    losses say; ``losses`` are what is loosened, or the one refusal, each in a line; ``example`` is
    the shortest failure, in one line. Of ``cuts``, turns that break off, the program ``raised`` at
    so many; of so many turns the next one's prompt was ``bridged``; so many turns ``withheld`` are
    such that a grammar doesn't let them through, and needn't.
    """

    spec_hash: str
    state: ExportState
    checks: int = 0
    passed: int = 0
    loosely: int = 0
    cuts: int = 0
    raised: int = 0
    bridged: int = 0
    withheld: int = 0
    losses: tuple[str, ...] = ()
    example: str = ""


@dataclass(frozen=True, slots=True)
class TargetRecord:
    """The results of a target by format, and the versions of the packages by name."""

    packages: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, IntegrationResult] = field(default_factory=dict)


#: Records by the names of their targets.
Integrations = Mapping[str, TargetRecord]


def read_integrations(path: Path) -> Integrations | Problem:
    """Return the records by target; none when the file isn't there yet."""
    return read_json(path, {}, partial(Records().each, TargetRecord))
