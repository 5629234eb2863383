"""What the wheel holds of `generated/`: grammars as they are, parsers as texts.

A parser in a wheel is a text to be copied. With the suffix of Python's files pip would compile
each, and what is installed would take twice the room. `turnspec.catalog.known` reads them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedTexts(BuildHookInterface[BuilderConfig]):
    """Adds the files, each under the name that it has in an installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say where each file goes; an editable installation has those of its checkout."""
        if version == "editable":
            return
        for path in sorted((Path(self.root) / "generated").glob("*.*")):
            name = f"{path.name}.txt" if path.suffix == ".py" else path.name
            build_data["force_include"][str(path)] = f"turnspec/formats/generated/{name}"
