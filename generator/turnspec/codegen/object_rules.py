"""Which markers can stand around and in calls that are objects, and code."""

from __future__ import annotations

import re

from turnspec.codegen.call_marks import call_separators, envelope, has_commas, other_keys, own_keys
from turnspec.codegen.markers import Notation, Roles, spaced
from turnspec.codegen.marks import Marks
from turnspec.codegen.mention_rules import mention_roles, other_syntax_roles
from turnspec.codegen.notation import notation
from turnspec.codegen.shapes import looks_like_marker

_WRAPPER = "function"  # the member in which chat-completions APIs have name and arguments


def object_roles(marks: Marks) -> Roles:
    """Return the markers in texts whose calls are objects."""
    calls = marks.calls
    heads = object_heads(marks) if marks.are_bare else []
    begun = " {fence} {?[} {{"
    follows = [*map(spaced, heads)] or [begun, *(f" {it}{begun}" for it in calls.opening[1:])]
    found: list[tuple[str, Notation]] = [*other_syntax_roles(marks)]
    found += [("opening", (it, follows)) for it in (*calls.opening[:1], *calls.other_openings)]
    # What opens each call tells it also where the tag around all calls is missing.
    inner = filter(looks_like_marker, calls.opening[1:])
    found += [("untagged_call", (it, [" {fence} {{"])) for it in inner]
    if marks.tools.section_start.rstrip().endswith("["):  # an array may be empty
        ends = [*map(spaced, marks.text.turn_end), "{end of text}"] * (not calls.closing)
        behind = re.match(r"[\s\]}]*", marks.tools.section_end)
        brackets = map(notation, "".join(behind[0].split()) if behind else "]")
        empty = " ".join((*calls.opening[:1], "[", *brackets, *calls.closing[:1]))
        found += [("marker", (empty, ends) if ends else empty)] * bool(calls.opening)
    elif marks.tools.section_start.strip() and calls.closing:
        found.append(("marker", f"{calls.opening[0]} {calls.closing[-1]}"))
    found += mention_roles(marks)
    if own_keys(marks.tools) and heads:
        found.append(("object", ("", heads)))
        if not marks.spec.capabilities.content_beside_calls:  # but a tag that others write there
            found += [("noisy_opening", (it, heads)) for it in ("<{no /}{tag}>", "[{tag name}]")]
    own = list(own_keys(marks.tools).values())
    if own and marks.tools.section_start.strip() and not marks.are_bare:
        keys = dict.fromkeys([*own, *other_keys(marks.tools)[1:]])
        found.append(("listed", ("", [f'{{{{ "{key}"' for key in keys])))
    return found + [("call_end", end) for end in calls.end]


def object_heads(marks: Marks) -> list[str]:
    """Return how a call begins that nothing announces: with one of the keys that it can have."""
    own = own_keys(marks.tools)
    keys = dict.fromkeys([*own.values(), *other_keys(marks.tools), _WRAPPER])
    heads = [f'{{{{ "{key}"' for key in keys]
    heads += [f"{{{{ '{own['name']}'"] if own else []  # as Python writes it
    return heads + [f"[ {head}" for head in heads]


def between_objects(marks: Marks) -> Roles:
    """Return what may stand between calls that are objects, and behind the last."""
    calls, stops = marks.calls, first_signs(marks)
    closing = [f" {closing}" for closing in calls.closing]
    # What ends a turn may begin as an object does, or as an array ends.
    begun = "{comma}{fence} {?[} {{" + "{a member}" * ("{" in stops)
    found: list[tuple[str, Notation]] = [("object", begun)]
    found += [] if "]" in stops else [("array_end", " ] }}" if envelope(marks.tools) else " ]")]
    inner = [*calls.opening[1:], *map(notation, call_separators(marks.tools))]
    # What closes a call may be how the next one's opening begins.
    inner += [it for it in calls.opening[:1] if it.startswith((*calls.closing,))]
    before = "{comma}" if has_commas(marks.tools) else " "
    found += [("inner_opening", spaced(it, before)) for it in inner]
    if "{no " not in "".join(closing):  # a fence would be one of them
        found.append(("stray", ("{brackets}", [*closing, ' {{ "'])))
    return found + [("closing", it) for it in closing]


def first_signs(marks: Marks) -> set[str]:
    """Return what the texts that end a turn begin with."""
    return {stop[:1] for stop in marks.spec.turn.stop}


def member_roles(marks: Marks) -> Roles:
    """Return what a call's object consists of."""
    own = (*marks.tools.fields.name[:-1], *other_keys(marks.tools))
    wrappers = dict.fromkeys((*marks.tools.fields.name[:-1], _WRAPPER))
    return [
        *((["wrapper", "own_wrapper"][it in own], f'{{comma}}"{it}" : {{{{') for it in wrappers),
        ("wrapper", " {{"),  # the bracket stands twice
        ("member", '{comma}"{string}" :'),
        ("member", "{comma}'{key}' :"),
        ("end", "{comma}}}"),
    ]


def code_start_roles(marks: Marks) -> Roles:
    """Return what may stand in the place of code."""
    found: list[tuple[str, Notation]] = []
    if marks.code and marks.code.method:
        found.append(("method", f" {{name}}.{marks.code.method} ("))
    if not marks.are_objects and marks.arguments.form == "json":
        found.append(("object", (" ", ["{{"])))
    return found
