"""Markers -> what can come next in arrays and objects that are elements: each with its role."""

from __future__ import annotations

import re

from turnspec.codegen.argument_marks import Pieces, around_value
from turnspec.codegen.argument_rules import behind_value, ending_roles, escape_roles, rest_of_call
from turnspec.codegen.markers import Notation, Roles, leading_text, spaced
from turnspec.codegen.marks import Marks
from turnspec.codegen.notation import before_value, notation
from turnspec.codegen.notation import behind_value as after_value
from turnspec.spec.calls import Elements, Literal, Slot
from turnspec.spec.words import SlotKind


def element_roles(marks: Marks) -> Roles:
    """Return what may stand between elements, or end one."""
    arguments, lead = marks.arguments, element_lead(marks)
    closings, openings = _closings(marks.elements), opening_roles(marks.elements)
    found: list[tuple[str, Notation]] = []
    if rests := rest_of_call(marks):
        found += [("rest", (f"{lead} ", rests))] if lead else []
        found.append(("rest", ("", rests)))
    found += ending_roles(marks)
    if "{key}" not in arguments.end and arguments.end not in [tag for _, tag in closings]:
        found.append(("outer", (arguments.end, behind_value(marks))))
    if lead is None and any(map(str.isalnum, leading_text(arguments.start))):
        found.append(("next", ("", [arguments.start])))
    # Tags with a key look like many others.
    return [*found, *escape_roles(marks), *closings, *openings]


def behind_element_roles(marks: Marks) -> Roles:
    """Return what may stand behind an element's closing tag."""
    arguments, elements = marks.arguments, marks.elements
    tags = [tag for _, tag in (*opening_roles(elements), *_closings(elements))]
    texts = [leading_text(tag) for tag in (*tags, arguments.start, arguments.end)]
    texts += [*marks.calls.closing[:1], elements.separator.strip()]
    return [("end", spaced(text)) for text in dict.fromkeys(texts) if text]


def opening_roles(elements: Elements, before: str = "") -> list[tuple[str, str]]:
    """Return what opens an array's element, if that doesn't look like a member, and a member."""
    opening, closing = around_value(elements.member)
    member, sign = before_value(opening), _closing_sign(opening, closing)
    member = member.replace("{key}", f"{{no {sign}}}{{key}}") if sign else member
    element = before_value(around_value(elements.element)[0])
    own = [] if element_key(elements) else [("element", before + element)]
    return [*own, ("member", before + member)]


def _closings(elements: Elements) -> list[tuple[str, str]]:
    member, element = (around_value(it)[1] for it in (elements.member, elements.element))
    own = [] if element_key(elements) else [("element_end", after_value(element))]
    return [*own, ("member_end", after_value(member))]  # which may hold any word


def element_lead(marks: Marks) -> str | None:
    """Return what stands before an argument's beginning in a member's; None if they differ."""
    both = (marks.tools.arguments.item, marks.elements.member)
    item, member = (around_value(pieces)[0] for pieces in both)
    first, text = item[0].text, member[0].text
    if item[1:] != member[1:] or not text.endswith(first):
        return None
    return notation(text.removesuffix(first))


def element_key(elements: Elements) -> str:
    """Return the key with which a member looks like an array's element, or "" if none does.

    Line breaks are no difference, as they may be missing.
    """
    expression = ""
    for piece in elements.member:
        if isinstance(piece, Literal):
            expression += re.escape(piece.text.replace("\n", ""))
        elif piece == Slot(SlotKind.VALUE):
            expression += "\0"
        else:
            expression += "(?P=key)" if "(?P<key>" in expression else "(?P<key>[^<>\"']+)"
    written = "".join(piece.text or "\0" for piece in elements.element)
    match = re.fullmatch(expression, written.replace("\n", ""))
    return match["key"] if match else ""


def _closing_sign(opening: Pieces, closing: Pieces) -> str:
    """Return what tells a closing tag from an opening one, where it goes on as that begins."""
    before, behind = opening[0].text.lstrip(), closing[0].text.lstrip()
    sign = behind.removeprefix(before)
    return sign if sign != behind else ""
