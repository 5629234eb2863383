"""What the results of a template amount to: the one place that says what "verified" means.

A format is verified when every rung of the ladder passed for the spec as it is. A rung that had
nothing to check isn't passed. A failure may be accepted, with a reason, in templates/index.yaml;
then it is no error, but the format isn't verified all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from turnspec.spec.results import RUNGS, SANITY, RungResult, TemplateResult
from turnspec.spec.visible import shortened, visible

#: The longest text of an example that is shown, in characters.
_LENGTH = 400


class Standing(StrEnum):
    """What is known of a format, from best to worst."""

    VERIFIED = "verified"
    ACCEPTED = "accepted"  # some rung isn't passed, and each such has a reason to be accepted
    FAILED = "failed"
    UNKNOWN = "unknown"  # there is no result for the spec as it is


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A rung that isn't passed; ``accepted`` is why that is accepted, "" if it isn't."""

    rung: str
    result: RungResult
    accepted: str = ""

    def __str__(self) -> str:
        """Return in a few words which rung, how many and why, and whether that is accepted."""
        accepted = f" (accepted: {self.accepted})" if self.accepted else ""
        return f"{rung_title(self.rung)}: {self.result}{accepted}"

    def lines(self) -> Iterator[str]:
        """Return in one line what is amiss and, indented, the shortest example."""
        accepted = f"; accepted: {self.accepted}" if self.accepted else ""
        about = RUNGS.get(self.rung, "")
        yield f"{rung_title(self.rung)} ({about}): {self.result}{accepted}"
        for name, text in self.result.example.items() if self.result.example else ():
            yield f"  {name + ':':8} {shortened(visible(text), _LENGTH)}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known of a format, and every rung that isn't passed; ``told``: a parser's warning."""

    standing: Standing
    shortfalls: tuple[Shortfall, ...] = ()
    told: str = ""

    @property
    def is_verified(self) -> bool:
        """Whether all rungs passed."""
        return self.standing is Standing.VERIFIED

    @property
    def is_red(self) -> bool:
        """Whether a rung isn't passed and nobody accepted that."""
        return self.standing is Standing.FAILED

    @property
    def reason(self) -> str:
        """Why the format isn't verified, in one line; "" if it is."""
        if self.standing is Standing.UNKNOWN:
            return "there is no result for the spec as it is"
        return self.told or ", ".join(map(str, self.shortfalls))

    def __str__(self) -> str:
        return f"not verified: {self.reason}" if self.reason else "verified"


def judge(
    result: TemplateResult | None, digest: str, accepted: Mapping[str, str] | None = None
) -> Judgement:
    """Return what a result says of the spec with the hash ``digest``.

    ``accepted`` has the reasons for failures that are accepted, by rung.
    """
    if result is None or result.spec_hash != digest:
        return Judgement(Standing.UNKNOWN)
    reasons = accepted or {}
    short = tuple(
        Shortfall(rung, found, reasons.get(rung, ""))
        for rung in RUNGS
        if not (found := _found(result, rung)).is_passed
    )
    if not short:
        return Judgement(Standing.VERIFIED)
    all_accepted = all(shortfall.accepted for shortfall in short)
    return Judgement(Standing.ACCEPTED if all_accepted else Standing.FAILED, short)


def unneeded(result: TemplateResult, accepted: Mapping[str, str]) -> Iterator[str]:
    """Return the rungs whose failure is accepted though they passed."""
    yield from (rung for rung in accepted if _found(result, rung).is_passed)


def rung_title(rung: str) -> str:
    """Return how a rung is called in a sentence."""
    return rung if rung == SANITY else f"rung {rung}"


def _found(result: TemplateResult, rung: str) -> RungResult:
    return result.rungs.get(rung) or RungResult(0, 0, note="no result")
