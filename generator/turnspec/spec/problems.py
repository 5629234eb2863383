"""A problem with a file the user can mend: where it is and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. ``line`` counts from 1; ``path`` is the place inside a YAML or JSON document."""

    message: str
    file: str = ""
    line: int | None = None
    path: str = ""

    def __str__(self) -> str:
        """Return ``file:line: path: message``, leaving out what is absent."""
        place = self.file
        if place and self.line is not None:
            place = f"{place}:{self.line}"
        return ": ".join(part for part in (place, self.path, self.message) if part)
