"""Format table -> the markers of arrays and objects that are elements, each with its role."""

from __future__ import annotations

from turnspec.codegen.argument_rules import behind_value, rests_of_call, turn_end_roles
from turnspec.codegen.format import Format
from turnspec.codegen.markers import (
    Notation,
    Roles,
    leading_text,
    spaced,
)


def first_element_roles(table: Format) -> Roles:
    """Return the opening tags with which a nested value begins."""
    return [(role, spaced(notation)) for role, notation in _openings(table)]


def element_roles(table: Format) -> Roles:
    """Return what may stand between elements, or end one."""
    arguments, elements = table["arguments"], table["arguments"]["elements"]
    closings, openings = _closings(table), _openings(table)
    lead = elements.get("lead")
    found: list[tuple[str, Notation]] = []
    if rests := rests_of_call(table):
        found += [("rest", (f"{lead} ", rests))] if lead else []
        found.append(("rest", ("", rests)))
    found += turn_end_roles(table)
    end = arguments.get("end", "")
    if "{key}" not in end and end not in [notation for _, notation in closings]:
        found.append(("outer", (end, behind_value(table))))
    if lead is None and any(map(str.isalnum, leading_text(arguments["start"]))):
        found.append(("next", ("", [arguments["start"]])))
    return [*found, *closings, *openings]  # tags with a key look like many others


def behind_element_roles(table: Format) -> Roles:
    """Return what may stand behind an element's closing tag."""
    arguments = table["arguments"]
    tags = [notation for _, notation in (*_openings(table), *_closings(table))]
    texts = [leading_text(tag) for tag in (*tags, arguments["start"], arguments.get("end", ""))]
    texts += [*table["calls"].get("closing", ())[:1], arguments["elements"].get("separator", "")]
    return [("behind", spaced(text)) for text in dict.fromkeys(texts) if text]


def _openings(table: Format) -> list[tuple[str, str]]:
    elements = table["arguments"]["elements"]
    found = [("element", elements["element_start"])] if "element_start" in elements else []
    return [*found, ("member", elements["member_start"])]


def _closings(table: Format) -> list[tuple[str, str]]:
    elements = table["arguments"]["elements"]
    found = [("element_end", elements["element_end"])] if "element_end" in elements else []
    return [("member_end", elements["member_end"]), *found]
