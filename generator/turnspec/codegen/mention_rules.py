"""Which markers open calls where none follows, and calls in other syntaxes."""

from __future__ import annotations

import re

from turnspec.codegen.call_marks import own_keys
from turnspec.codegen.markers import Roles
from turnspec.codegen.marks import CallMarks, Marks
from turnspec.codegen.notation import optional

#: What may stand before calls by name, as these may be a list.
_FENCED, _LISTED = " {fenced}", " {?[}"


def mention_roles(marks: Marks) -> Roles:
    """Return markers that open calls, where none follows: once more before themselves, or text."""
    mentions = marks.calls.mentions
    again = [t for t in mentions if not re.match(r"\w.* ", t)]  # prose may say its words twice
    twice = [(text, [f" {t}"]) for t in again for text in _begun(marks, t)]
    return [*(("repeated", it) for it in twice), *(("mention", t) for t in mentions)]


def _begun(marks: Marks, mention: str) -> list[str]:
    """Return what opens calls, also with what a call itself begins with."""
    calls = marks.calls
    whole = "[" if marks.are_objects else " ".join((*calls.opening[:1], calls.start))
    inner = re.match(r"(?:[^{}]|\{\?[^{}]*\})*", whole.removeprefix(mention))
    begun = optional(inner[0].strip()) if inner else ""
    text = re.fullmatch(r"\{\?([^{}]*)\}", begun)
    if text and not mention.startswith(text[1]):  # as that comes once more
        return [f"{mention} {begun}"]
    begun = text[1] if text else begun
    return [mention, *[f"{mention} {begun}"][: len(begun)]]


def other_syntax_roles(marks: Marks) -> list[tuple[str, tuple[str, list[str]]]]:
    """Return what begins a call in another syntax: what opens the format's own, and then that."""
    if not (openings := _openings_of_others(marks.calls)):
        return []
    begun: tuple[str, ...] = (' {{ "name"', " {{ 'name'", ' {{ "function"')
    if marks.are_objects:  # with quotes of Python's, unless the members' names are others
        begun = (" {{ '",) if marks.tools.fields.name[-1:] == ("name",) else ()
    heads = [f" {{fenced}}{it}" for it in begun]
    heads += [" <{word}=", " <{word}name ="] if marks.arguments.form == "json" else []
    is_own = "(" in marks.calls.start
    called = [" {name} ( )", " {name} ({word}=", " {name} ( {{"]
    if "{no " in openings[0]:  # a word behind a fence says what is in it
        begun_calls = (it for it in up_to_arguments(marks) if '"arguments"' in it)
        called += [it.replace("{fence}", "{name}", 1) for it in begun_calls]
    else:
        called += [" {name}\n{fence}\n{{", ' {name} {{ "', " {name} [{any}]\n{{"]
        tags = re.findall(r"\[\w+\]", marks.calls.start.partition("{name}")[2])
        if len(tags) == 1:  # with an id in a tag before it
            called.append(f" {{name}} [{{any}}]{{any}}{tags[0]}")
    called = [] if is_own or openings[0][0].isalnum() else called
    if marks.are_objects and marks.calls.opening[1:]:  # what stands around all calls, with it
        openings.insert(0, " ".join(marks.calls.opening))
    before = _LISTED if marks.are_objects else _FENCED  # objects in a fence are the format's own
    before = "" if "`" in openings[0] else before
    found = (("foreign", "", heads), ("foreign_name", before, called))
    kinds = [(role, fence, behind) for role, fence, behind in found if behind]
    return [(role, (it + fence, behind)) for it in openings for role, fence, behind in kinds]


def opening_of(other: tuple[str, list[str]]) -> str:
    """Return what stands before a call in another syntax."""
    return other[0].removesuffix(_FENCED).removesuffix(_LISTED)


def _openings_of_others(calls: CallMarks) -> list[str]:
    """Return behind what a call in another syntax may stand.

    Behind a word, as `to=`, it is code that a text speaks of.
    """
    tag = re.match("<[^<>{} ]+>", calls.start)
    if openings := [text for text in calls.opening[-1:] if len(text) > 2]:
        return [*openings, tag.group()] if tag else openings
    opening = calls.start.partition("{name")[0].strip()
    return [opening] if len(opening) > 2 and not opening[0].isalnum() else []


def up_to_arguments(marks: Marks) -> list[str]:
    """Return how an object begins in which texts alone stand before a call's arguments."""
    if marks.tools.fields.name_is_key:
        return [' {fence} {?[} {{ "{string}" : {{']
    key = own_keys(marks.tools).get("arguments")
    before, found, _ = "".join(it.text for it in marks.tools.call).partition(f'"{key}"')
    if not found or before.count("{") != 1:
        return []
    members = "".join(f'"{it}" : "{{string}}" , ' for it in re.findall(r'"(\w+)"\s*:', before))
    return [f" {{fence}} {{?[}} {{{{ {members}{found} :"]
