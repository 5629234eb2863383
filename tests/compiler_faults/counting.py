"""What comes of faults that are planted."""

from __future__ import annotations

from dataclasses import dataclass

from tests.compiler_faults.explained import pattern_of
from tests.compiler_faults.noticing import noticed_by
from tests.compiler_faults.planting import Fault, Kind, faults, sample


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a fault."""

    kind: Kind
    title: str
    noticed: str

    @property
    def pattern(self) -> str | None:
        """What explains that nothing was noticed."""
        return None if self.noticed else pattern_of(self.title)

    @property
    def is_survivor(self) -> bool:
        """Whether nothing was noticed, and nothing explains it."""
        return not self.noticed and self.pattern is None


def plant(fault: Fault) -> Outcome:
    """Plant a fault."""
    return Outcome(fault.kind, fault.title, noticed_by(fault.source, fault.form))


def plant_some(form: str, count: int, seed: str) -> tuple[list[Outcome], set[str | None]]:
    """Plant faults in a format, of each kind as many; return what explains any that it has, too."""
    found = faults(form)
    outcomes = [plant(fault) for fault in sample(found, count, seed)]
    return outcomes, {pattern_of(fault.title) for fault in found}
