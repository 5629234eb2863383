"""Format table -> the markers of the turn, of reasoning and of content, each with its role."""

from __future__ import annotations

from turnspec.codegen.format import Format
from turnspec.codegen.markers import (
    Notation,
    Roles,
    literal_length,
)


def text_roles(table: Format) -> Roles:
    """Return the markers of reasoning, content and the turn, with their roles."""
    reasoning, content = table.get("reasoning", {}), table.get("content", {})
    found = {
        "content_start": content.get("start", ()),
        "reasoning_start": reasoning.get("start", ()),
        "between": table.get("between", ()),
        "reasoning_end": reasoning.get("end", ()),
        "turn_end": table["turn_end"],
        "content_end": content.get("end", ()),
        "turn_start": table.get("turn_start", ()),
    }
    known = {notation for notations in found.values() for notation in notations}
    found["special_token"] = [token for token in table.get("unwritten", ()) if token not in known]
    return [(role, notation) for role, notations in found.items() for notation in notations]


def code_roles(table: Format) -> list[tuple[str, Notation]]:
    """Return what announces code; it comes last, as a marker may go on where it is a beginning."""
    return [("code", table["code"]["start"])] if "code" in table else []


def longest_first(markers: Roles) -> list[tuple[str, Notation]]:
    """Return markers in an order in which none stands before one that it is the beginning of."""
    return sorted(markers, key=lambda marker: -literal_length(marker[1]))


def lead_roles(table: Format) -> Roles:
    """Return the words that may stand before all content."""
    return [("lead", lead) for lead in table.get("content", {}).get("lead", ())]


def header_roles(table: Format) -> Roles:
    """Return the headers of messages for the user, if messages say who they are for."""
    content = table.get("content", {})
    starts = content.get("start", ()) if content.get("addressed") else ()
    return [("content_start", start) for start in starts]


def behind_call_roles(table: Format) -> Roles:
    """Return what may stand behind a call: a marker, or brackets that no part has before one."""
    calls = table.get("calls")
    if calls is None:
        return []
    ends = (*calls.get("end", ()), *calls.get("section_end", ()), *table["turn_end"])
    behind = [f" {end}" for end in ends if literal_length(end) > 1]
    stray = ("stray", ("{brackets}", [*behind, "{end of text}"]))
    return [*(("marker", end) for end in behind), stray]
