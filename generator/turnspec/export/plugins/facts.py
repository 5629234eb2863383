"""What stands for a format's parser in the plugins' sources, for type checkers alone."""

from __future__ import annotations

from typing import cast

from turnspec.protocol import Format, StreamingParser

__all__ = ["StreamingParser", "turn_format"]

turn_format = cast(Format, None)
