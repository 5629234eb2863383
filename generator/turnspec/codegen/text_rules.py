"""Markers -> what can come next in text and behind calls: each with its role."""

from __future__ import annotations

from turnspec.codegen.markers import Roles, at_least
from turnspec.codegen.marks import Marks


def text_roles(marks: Marks) -> Roles:
    """Return the markers of reasoning, content and the turn."""
    text = marks.text
    pairs = {
        "content_start": text.content_start,
        "reasoning_start": text.reasoning_start,
        "between": text.between,
        "reasoning_end": text.reasoning_end,
        "turn_end": text.turn_end,
        "content_end": text.content_end,
        "turn_start": text.turn_start,
    }
    found = [(role, marker) for role, markers in pairs.items() for marker in markers]
    known = {marker for _, marker in found}
    return [*found, *(("special_token", it) for it in text.unwritten if it not in known)]


def behind_call_roles(marks: Marks) -> Roles:
    """Return what may stand behind a call: a marker, or brackets that no part has before one."""
    ends = (*marks.calls.end, *marks.calls.section_end, *marks.text.turn_end)
    behind = [f" {end}" for end in at_least(2, ends)]
    stray = ("stray", ("{brackets}", [*behind, "{end of text}"]))
    return [*(("marker", end) for end in behind), stray]
