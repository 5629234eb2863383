"""Why some faults change nothing: equivalent.yaml."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import yaml

FILE = Path(__file__).with_name("equivalent.yaml")


@cache
def reasons(path: Path = FILE) -> dict[str, str]:
    """Return the reasons by the pattern of the faults that each explains."""
    groups = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {pattern: group["reason"] for group in groups for pattern in group["faults"]}


def pattern_of(title: str) -> str | None:
    """Return the pattern that explains a fault; None if none does."""
    return next((pattern for pattern in reasons() if re.search(pattern, title)), None)
