"""What markers do, and when they count."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Role(Enum):
    """What a marker does."""

    TURN_START = "turn_start"
    TURN_END = "turn_end"
    REASONING_START = "reasoning_start"
    REASONING_END = "reasoning_end"
    BETWEEN = "between"  # leads from one part to the next
    CONTENT_START = "content_start"
    CONTENT_END = "content_end"
    LEAD = "lead"
    BROKEN_OFF = "broken_off"  # the beginning of a marker with which the text ends


class Rule:
    """A marker counts as `role` if one of `if_before`, which stays unread, is next."""

    __slots__ = ("if_before", "marker", "role")

    def __init__(self, role: Role, marker: str, if_before: Iterable[str] = ()) -> None:
        self.role, self.marker, self.if_before = role, marker, tuple(if_before)
