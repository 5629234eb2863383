"""How the files of a place are written again: what they say of it in their first lines."""

from __future__ import annotations

from dataclasses import dataclass

#: The command that writes specs and generated files again, where an index names no other.
REGENERATE = "turnspec regen"


@dataclass(frozen=True, slots=True)
class Recipe:
    """The command that writes files again, and where a spec's schema is.

    ``schema`` is a path from the folder of the specs; "" where there is none to refer to.
    """

    command: str = REGENERATE
    schema: str = ""


#: Of a place that says nothing of it.
USUAL = Recipe()
