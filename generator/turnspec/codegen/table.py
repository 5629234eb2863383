"""Spec -> format table: all that the engine has to know of a format."""

from __future__ import annotations

import re
from typing import Any, cast

from turnspec.codegen.argument_table import arguments_table
from turnspec.codegen.call_rules import head_text_roles, object_text_roles
from turnspec.codegen.call_table import calls_table, code_table
from turnspec.codegen.format import Format
from turnspec.codegen.headers import add_loose_headers, with_headers
from turnspec.codegen.markers import Notation, Roles, leading_text
from turnspec.codegen.notation import notation
from turnspec.codegen.shapes import looks_like_marker
from turnspec.codegen.text_rules import text_roles
from turnspec.codegen.text_table import text_table
from turnspec.spec.model import Spec

#: Roles of markers behind which a call has to go on.
_OPENING_ROLES = ("opening", "inner_opening", "call", "other_call")
#: Entries that are there even if they are empty.
_ALWAYS = ("header", "prompt", "turn_end", "lead")


def format_table(spec: Spec) -> Format:
    """Return the format table of a spec."""
    headed = with_headers(spec)
    table = text_table(spec, headed)
    if headed.tools:
        table["calls"] = calls_table(headed, headed.tools)
        table["arguments"] = arguments_table(headed.tools)
        if headed.alternatives.code:
            table["code"] = code_table(headed.alternatives.code)
    header = notation(spec.turn.header)
    if header_end := _header_end(table, header):
        table["content"]["addressed"] = True
    add_loose_headers(table, spec, header_end)
    # A message that breaks off behind its header has no content yet.
    headers = [header] if headed is not spec else []
    table["openings"] = [*_openings(markers_in_text(table)), *headers]
    return cast(Format, _without_empty(cast(dict[str, Any], table)))


def _header_end(table: Format, header: str) -> str:
    """Return what ends a message's header, if that names a tool or, as that of content, a user.

    Then there is a header before each message, and headers end in the same marker.
    """
    _, _, behind_name = table.get("calls", {}).get("start", "").partition("{name}")
    if not header or not any(header in text for text in table.get("between", ())):
        return ""
    starts = table["content"].get("start", ())
    ends = (start[at:] for start in starts for at in range(len(start)))
    found = (end for end in ends if looks_like_marker(end) and end in behind_name)
    return next(found, "").strip()


def unmarked_reasoning(spec: Spec) -> str:
    """Return why no parser can tell where reasoning begins or ends; "" if one can.

    What opens it may be so little, as one sign is, that any text could hold it; or what closes it.
    """
    start = spec.reasoning.start
    if start.strip() and start.strip() == spec.reasoning.end.strip():
        return f"{start!r} opens reasoning and closes it; parsers can't tell by it which it does"
    if not start.strip() or format_table(spec).get("reasoning", {}).get("start"):
        return ""
    return f"{start!r} could stand in any text; parsers can't tell by it where reasoning begins"


def _without_empty(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table without entries that say nothing."""
    found = {
        key: _without_empty(value) if isinstance(value, dict) else value
        for key, value in table.items()
    }
    return {key: value for key, value in found.items() if value or key in _ALWAYS}


def markers_in_text(table: Format) -> Roles:
    """Return all markers that end text."""
    if "calls" not in table:
        return text_roles(table)
    is_objects = table["calls"]["form"] == "objects"
    return object_text_roles(table) if is_objects else head_text_roles(table)


def _openings(markers: Roles) -> list[str]:
    """Return the tags and texts with which markers begin that go on behind them.

    A text that ends with one of these breaks off; one that ends in less may just end so.
    """
    found: dict[str, None] = {}
    whole = {marker for role, marker in markers if role != "mention" and _is_text(marker)}
    for role, marker in markers:
        head = leading_text(marker)
        ends = [tag.end() for tag in re.finditer(r"[>\]]", head)]
        starts = [head[:at] for at in ends if at < len(head) and looks_like_marker(head[:at])]
        if role in _OPENING_ROLES and not _is_text(marker):
            starts.append(head)
        found |= dict.fromkeys([start for start in starts if start and start not in whole][:1])
    return list(found)


def _is_text(marker: Notation) -> bool:
    """Tell whether a marker is nothing but text."""
    return isinstance(marker, str) and leading_text(marker) == marker.strip()
