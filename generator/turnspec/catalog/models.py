"""Which format the template of a model wrote, by the model's id, for where none can be asked for.

The table is of public templates at a date (`make models`); what a template is now, its model says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from turnspec.catalog.names import ModelName
from turnspec.spec.input_files import file_text

MODELS_FILE = "templates/models.json"


@dataclass(frozen=True, slots=True)
class ModelTable:
    """The formats of models by their ids, "" where none is known, of templates at a date."""

    source: str
    date: str
    formats: Mapping[str, str]

    @classmethod
    def read(cls, root: Path) -> ModelTable:
        """Return the table of turnspec's own formats; one without models where there is none."""
        path = root / MODELS_FILE
        if not path.is_file():
            return cls("", "", {})
        told = json.loads(file_text(path))
        formats = dict.fromkeys(told["others"], "")
        for name, of in told["formats"].items():
            formats |= dict.fromkeys(of["models"], name)
        return cls(told["source"], told["date"], formats)

    def format_of(self, model: str) -> str | None:
        """Return the format of a model, "" if it isn't known; None if the model isn't."""
        own = (name for it, name in self.formats.items() if it.lower() == model.lower())
        return next(own, None)

    def format_like(self, model: str) -> str | None:
        """Return the format that all models have that are named so, if it is one.

        Owners, sizes and how weights are stored don't count.
        """
        words = _words(model)
        found = {name for other, name in self.formats.items() if _words(other) == words}
        return (found.pop() or None) if len(found) == 1 else None


def _words(model: str) -> tuple[str, ...]:
    return ModelName.read(model.rpartition("/")[2]).words
