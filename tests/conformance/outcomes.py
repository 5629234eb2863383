"""What canitoolcall's checks said of each case, as `replay.py` prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """What a case came to, in canitoolcall's words."""

    PASS = "pass"
    SOFT_PASS = "soft_pass"
    FAIL = "fail"
    ERROR = "error"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case.

    ``checks`` names the checks that decided; ``details`` is what they tell, and ``shown`` what a
    person needs to see. ``with_incomplete_calls`` is what it would come to if calls counted that
    aren't complete.
    """

    id: str
    family: str
    model: str
    format: str
    source: str
    status: Status
    checks: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    shown: tuple[tuple[str, str], ...] = ()
    with_incomplete_calls: Status | None = None

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Outcome:
        """Return an outcome from the line of `replay.py` that tells of it."""
        incomplete = found.get("with_incomplete_calls")
        return cls(
            **{name: found[name] for name in ("id", "family", "model", "format", "source")},
            status=Status(found["status"]),
            checks=tuple(found["checks"]),
            details=tuple(found["details"]),
            shown=tuple((title, text) for title, text in found.get("shown", ())),
            with_incomplete_calls=Status(incomplete) if incomplete else None,
        )

    @property
    def is_read(self) -> bool:
        """Whether there is a format by which the case can be read."""
        return self.status is not Status.UNSUPPORTED

    @property
    def deviates(self) -> bool:
        """Whether it is read otherwise than canitoolcall expects."""
        return self.status in (Status.SOFT_PASS, Status.FAIL, Status.ERROR)

    @property
    def hangs_on_completeness(self) -> bool:
        """Whether it is passed only because calls that aren't complete don't count as returned."""
        return not self.fails and self.with_incomplete_calls is Status.FAIL

    @property
    def fails(self) -> bool:
        """Whether it isn't passed."""
        return self.status in (Status.FAIL, Status.ERROR)

    def report(self) -> str:
        """Return all that is known of it, in lines."""
        lines = [f"{self.id}: {self.status.replace('_', ' ')}, read as {self.format or 'nothing'}"]
        lines += [f"    {detail}" for detail in self.details]
        lines += [f"    {title:8}{text}" for title, text in self.shown]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many cases came to what."""

    read: int
    passed: int
    soft: int
    failed: int
    unread: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Counts:
        """Count outcomes; an error of the run is a failure."""
        statuses = [outcome.status for outcome in outcomes]
        failed = sum(outcome.fails for outcome in outcomes)
        unread = statuses.count(Status.UNSUPPORTED)
        soft = statuses.count(Status.SOFT_PASS)
        return cls(len(statuses) - unread, statuses.count(Status.PASS), soft, failed, unread)
