"""What can be used to read a format: a generated module, or a format in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol


class FormatModule(Protocol):
    """What can be used to read a format: a generated module, or a format in memory."""

    @property
    def FORMAT(self) -> Mapping[str, Any]:
        """Its name, the header that a turn begins with, and the prompts."""

    @property
    def Parser(self) -> Callable[..., Any]:
        """The streaming parser."""

    @property
    def parse(self) -> Callable[..., Any]:
        """What reads a whole text."""
