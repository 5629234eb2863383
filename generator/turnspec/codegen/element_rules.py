"""Markers -> what can come next in arrays and objects that are elements: each with its role."""

from __future__ import annotations

from turnspec.codegen.argument_rules import behind_value, rests_of_call, turn_end_roles
from turnspec.codegen.markers import Notation, Roles, leading_text, spaced
from turnspec.codegen.marks import ElementMarks, Marks


def first_element_roles(marks: Marks) -> Roles:
    """Return the opening tags with which a nested value begins."""
    return [(role, spaced(tag)) for role, tag in _openings(marks.elements)]


def element_roles(marks: Marks) -> Roles:
    """Return what may stand between elements, or end one."""
    arguments, lead = marks.arguments, marks.elements.lead
    closings, openings = _closings(marks.elements), _openings(marks.elements)
    found: list[tuple[str, Notation]] = []
    if rests := rests_of_call(marks):
        found += [("rest", (f"{lead} ", rests))] if lead else []
        found.append(("rest", ("", rests)))
    found += turn_end_roles(marks)
    if "{key}" not in arguments.end and arguments.end not in [tag for _, tag in closings]:
        found.append(("outer", (arguments.end, behind_value(marks))))
    if lead is None and any(map(str.isalnum, leading_text(arguments.start))):
        found.append(("next", ("", [arguments.start])))
    return [*found, *closings, *openings]  # tags with a key look like many others


def behind_element_roles(marks: Marks) -> Roles:
    """Return what may stand behind an element's closing tag."""
    arguments, elements = marks.arguments, marks.elements
    tags = [tag for _, tag in (*_openings(elements), *_closings(elements))]
    texts = [leading_text(tag) for tag in (*tags, arguments.start, arguments.end)]
    texts += [*marks.calls.closing[:1], elements.separator]
    return [("end", spaced(text)) for text in dict.fromkeys(texts) if text]


def _openings(elements: ElementMarks) -> list[tuple[str, str]]:
    own = [("element", elements.element_start)] if elements.element_start else []
    return [*own, ("member", elements.member_start)]


def _closings(elements: ElementMarks) -> list[tuple[str, str]]:
    own = [("element_end", elements.element_end)] if elements.element_end else []
    return [("member_end", elements.member_end), *own]
