"""Docstrings of a generated module's states: the part of the spec that each of them reads."""

from __future__ import annotations

import textwrap

from turnspec.codegen.call_plan import CallPlan
from turnspec.codegen.marker_plan import Marker
from turnspec.codegen.plan import ModulePlan
from turnspec.codegen.source import shown


def alternatives(markers: tuple[Marker, ...], *roles: str) -> str:
    """Return the first few ways to write markers of these roles, as code in prose."""
    found = [
        f"``{shown(' '.join(piece for piece in pieces if isinstance(piece, str)))}``"
        for marker in markers
        if marker.role in roles
        for pieces in marker.alternatives
    ]
    return " or ".join(list(dict.fromkeys(found))[:3])


#: The width of docstrings, and the first lines of those that need more than one.
_DOC_WIDTH = 76
_SUMMARIES = {
    "arguments_doc": "Read the arguments.",
    "value_doc": "Read a value.",
    "guard_doc": "Read what is before a value.",
    "opening_doc": "Read what a value begins with.",
    "element_doc": "Read the text of an element.",
    "objects_doc": "Read calls.",
    "member_doc": "Read a member of a call.",
    "section_doc": "Read the calls of a section.",
    "tail_doc": "Read what closes a call.",
    "code_doc": "Read code.",
}


def text_docstring(plan: ModulePlan) -> str:
    """Return what the state that reads reasoning and content says of them."""
    ends = alternatives(plan.text, "end")
    parts = []
    if plan.reasoning:
        start = alternatives(plan.text, "think") or "the turn's beginning"
        parts.append(f"Reasoning: from {start} to {alternatives(plan.text, 'unthink')}.")
    wrapped = alternatives(plan.text, "opening")
    content = f"Content: {'after ' + wrapped if wrapped else 'all other text'}"
    parts.append(f"{content}{', to ' + ends if ends else ''}.")
    return docstring("Read reasoning and content.", *parts)


def docstring(summary: str, *paragraphs: str) -> str:
    """Return the inside of a method's docstring: the paragraph alone if it fits in its line.

    Lines are narrower than they may be, as some characters are wide.
    """
    if len(paragraphs) == 1 and len(paragraphs[0]) <= _DOC_WIDTH:
        return paragraphs[0]
    indent = " " * 8
    wrapped = [
        textwrap.fill(text, _DOC_WIDTH, subsequent_indent=indent, break_on_hyphens=False)
        for text in (summary, *paragraphs)
    ]
    return f"\n\n{indent}".join(wrapped) + f"\n{indent}"


def state_docstrings(calls: CallPlan | None) -> dict[str, str]:
    """Return what the states that read calls say, by their field of the context."""
    sets = calls.sets if calls else {}

    def quoted(constant: str, *roles: str) -> str:
        return alternatives(sets.get(constant, ()), *roles)

    parameter = quoted("_PARAMETERS", "parameter")
    docs = {
        "arguments_doc": (
            f"Arguments: {parameter} for each." if parameter else "Arguments: a JSON object."
        ),
        "value_doc": f"A value: raw text up to {quoted('_VALUE', 'close')}.",
        "guard_doc": f"A value that begins with {quoted('_GUARD', 'guard')} is a string.",
        "opening_doc": (
            f"A value that begins with {quoted('_FIRST_ELEMENT', 'member', 'element')} is nested."
        ),
        "element_doc": (
            f"An element's text, up to {quoted('_ELEMENTS', 'close', 'close_element')}."
        ),
        "objects_doc": "Calls: JSON objects, alone or in an array.",
        "member_doc": "A call object's members, in any order; others are left out.",
        "section_doc": "Calls in a row.",
        "code_doc": f"Code, up to {quoted('_CODE_END', 'end')}.",
        "tail_doc": f"After the arguments: {quoted('_TAIL', 'tail')}.",
    }
    found = {name: docstring(_SUMMARIES[name], text) for name, text in docs.items()}
    return found | {"tail_missing": repr(f"no {quoted('_TAIL', 'tail')} after the arguments")}
