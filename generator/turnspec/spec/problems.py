"""A problem with a file the user can mend: where it is and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from turnspec.spec.visible import visible


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. ``line`` counts from 1; ``path`` is the place inside a YAML or JSON document."""

    message: str
    file: str = ""
    line: int | None = None
    path: str = ""

    def __str__(self) -> str:
        """Return ``file:line: path: message`` in one line, leaving out what is absent.

        Names that a stranger chose stand in it, so what doesn't print is shown as escapes.
        """
        place = self.file
        if place and self.line is not None:
            place = f"{place}:{self.line}"
        return visible(": ".join(part for part in (place, self.path, self.message) if part))
