"""Format table -> the markers of calls, and of what stands around them, each with its role."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turnspec.codegen.format import CallsFormat, Format
from turnspec.codegen.markers import (
    Notation,
    Roles,
    first_text,
    leading_text,
    literal_length,
    spaced,
)
from turnspec.codegen.text_rules import code_roles, longest_first, text_roles


def mention_roles(mentions: Sequence[str]) -> Roles:
    """Return markers that open calls, where none follows: once more before themselves, or text."""
    again = [t for t in mentions if not re.match(r"\w.* ", t)]  # prose may say its words twice
    return [("repeated", (t, [f" {t}"])) for t in again] + [("mention", t) for t in mentions]


#: Of an end that no string has by chance.
FEWEST_SIGNS = 3


def call_end_roles(table: Format) -> Roles:
    """Return what ends a call, or the turn."""
    calls = table["calls"]
    ends = (*calls.get("end", ()), *calls.get("section_end", ()), *table["turn_end"])
    return [("end", end) for end in ends if literal_length(end) >= FEWEST_SIGNS]


def call_start_roles(table: Format) -> Roles:
    """Return what begins another call."""
    calls = table["calls"]
    starts = (*calls.get("opening", ()), calls.get("start", ""))
    texts = dict.fromkeys(leading_text(start) for start in starts)
    return [("start", text) for text in texts if len(text) >= FEWEST_SIGNS]


def foreign_roles(table: Format) -> list[tuple[str, Notation]]:
    """Return what begins such a call: what opens the format's own, and then another one."""
    calls, arguments = table["calls"], table["arguments"]
    if not (openings := _openings_of_others(calls)):
        return []
    begun = (' {{ "name"', ' {{ "function"') if calls["form"] == "heads" else (" {{ '",)
    heads = [text for it in begun for text in (it, f" [{it}")]
    heads += [" <{word}=", " <{word}name ="] if arguments["form"] == "json" else []
    is_own = "(" in calls.get("start", "")
    called = [] if is_own or openings[0][0].isalnum() else [" {name} ( )", " {name} ({word}="]
    found = (("foreign", heads), ("foreign_name", called))
    return [(role, (opening, it)) for opening in openings for role, it in found if it]


def _openings_of_others(calls: CallsFormat) -> list[str]:
    """Return behind what a call in another syntax may stand.

    Behind a word, as `to=`, it is code that a text speaks of.
    """
    start = calls.get("start", "")
    tag = re.match("<[^<>{} ]+>", start)
    if openings := [text for text in calls.get("opening", ())[-1:] if len(text) > 2]:
        return [*openings, tag.group()] if tag else openings
    opening = start.partition("{name")[0].strip()
    return [opening] if len(opening) > 2 and not opening[0].isalnum() else []


def head_text_roles(table: Format) -> Roles:
    """Return the markers in texts whose calls have heads."""
    return longest_first(unsorted_roles(table)) + code_roles(table)


def unsorted_roles(table: Format) -> Roles:
    """Return these markers, but for code, in the order in which they stand in the table."""
    calls = table["calls"]
    heads, openings, others = _heads(table), calls.get("opening", ()), foreign_roles(table)
    inner = [notation for _, notation in others if notation[0] not in openings]
    found = list(text_roles(table))
    for at, opening in enumerate(openings):
        following = [*openings[at + 1 :], *(head for _, head in heads), *inner]
        ends = [] if at else calls.get("section_end", ())
        role = "inner_opening" if at else "opening"
        found.append((role, (opening, [spaced(notation) for notation in (*following, *ends)])))
        if not at and not calls.get("only_in_section"):
            found.append(("noisy_opening", (opening + "{noise}", following)))
    if not calls.get("only_in_section"):
        lines = [(role, spaced(head, "\n{line} ")) for role, head in heads]
        found += [*(lines if begin_with_name(table) else heads), *_broken_heads(table)]
    found += others
    found += mention_roles(calls.get("mentions", ()))
    found += [("section_end", notation) for notation in calls.get("section_end", ())]
    found += [("call_end", notation) for notation in calls.get("end", ())]
    return found


def begin_with_name(table: Format) -> bool:
    """Say whether calls begin with their name: where a part begins, or a line."""
    calls = table.get("calls", {})
    return calls.get("start", "").startswith("{name") and not calls.get("only_in_section")


def section_roles(table: Format) -> Roles:
    """Return what may stand in a section, between calls."""
    found = [(role, spaced(head, "{comma}")) for role, head in _heads(table)]
    calls = table["calls"]
    ends = [*calls.get("section_closing", ()), *calls.get("section_end", ())]
    return found + [("section_end", f" {end}") for end in ends]


def _heads(table: Format) -> list[tuple[str, Notation]]:
    """Return the heads of calls."""
    calls = table["calls"]
    heads = [("call", calls["start"])]
    heads += [("other_call", notation) for notation in calls.get("other_starts", ())]
    if table["arguments"]["form"] == "text" and calls["start"].endswith('">'):
        heads.append(("closed_call", calls["start"][:-1] + "/>"))
    heads += [("short_call", notation) for notation in calls.get("short_starts", ())]
    return [(role, _with_follows(table, head)) for role, head in heads]


def _broken_heads(table: Format) -> Roles:
    """Return heads that have no name where it belongs, or nothing else behind it."""
    before, name, behind = table["calls"].get("start", "").partition("{name}")
    if not name or len(leading_text(before)) < FEWEST_SIGNS:
        return []
    found = [("unnamed", _with_follows(table, f"{before}{{not a name}}{behind}"))]
    if not table["calls"].get("opening"):
        found.append(("name_alone", (before + name, [spaced(end) for end in table["turn_end"]])))
    return found


def _with_follows(table: Format, head: str) -> Notation:
    """Return a head; one that ends in a slot, or is told by its name, with what may follow."""
    by_name = begin_with_name(table)
    if head.rstrip()[-1:] != "}" and not by_name:
        return head
    before = "{comma}" if by_name else " "  # a key is as it is between arguments
    return (head, [spaced(notation, before) for notation in _behind_name(table) if notation])


def _behind_name(table: Format) -> Sequence[Notation]:
    """Return what may stand behind a name that no text closes."""
    arguments, calls = table["arguments"], table["calls"]
    if arguments["form"] == "json":
        objects = ('{{ "', "{{ '", "{{ }}") if begin_with_name(table) else ("{{", '"{{')
        return (*objects, *calls.get("closing", ())[:1])
    ends = calls.get("closing") or (*calls.get("section_end", ())[:1], first_text(calls["start"]))
    argument = start if (start := arguments["start"]).startswith("{key") else first_text(start)
    return (argument, "{{", arguments.get("empty", ""), *ends)


_WRAPPER = "function"  # the member in which chat-completions APIs have name and arguments


def object_text_roles(table: Format) -> Roles:
    """Return the markers in texts whose calls are objects."""
    return longest_first(unsorted_object_roles(table)) + code_roles(table)


def unsorted_object_roles(table: Format) -> Roles:
    """Return these markers, but for code, in the order in which they stand in the table."""
    calls = table["calls"]
    openings = calls.get("opening", ())
    heads = _object_heads(calls) if calls.get("bare") else []
    follows = [spaced(head) for head in heads] or [" {fence} {?[} {{", *map(spaced, openings[1:])]
    found = [*text_roles(table), *foreign_roles(table)]
    for opening in (*openings[:1], *calls.get("other_openings", ())):
        found.append(("opening", (opening, follows)))
    found += mention_roles(calls.get("mentions", ()))
    if heads and "members" in calls:
        found.append(("object", ("", heads)))
    return found + [("call_end", end) for end in calls.get("end", ())]


def _object_heads(calls: CallsFormat) -> list[str]:
    """Return how a call begins that nothing announces: with one of the keys that it can have."""
    keys = [*calls.get("members", {}).values(), *calls.get("other_members", ()), _WRAPPER]
    heads = [f'{{{{ "{key}"' for key in dict.fromkeys(keys)]
    if "name" in calls.get("members", {}):  # as Python writes it
        heads.append(f"{{{{ '{calls['members']['name']}'")
    return heads + [f"[ {head}" for head in heads]


def between_roles(table: Format) -> Roles:
    """Return what may stand between calls."""
    calls = table["calls"]
    closing = [f" {closing}" for closing in calls.get("closing", ())]
    begun = "{comma}{fence} {?[} {{" + "{a member}" * calls.get("braced_end", False)
    found: list[tuple[str, Notation]] = [("object", begun)]
    found += [] if calls.get("bracketed_end") else [("array_end", " ]")]
    inner = (*calls.get("opening", ())[1:], *calls.get("separators", ()))
    found += [("inner_opening", spaced(text)) for text in inner]
    if closing and "{no " not in closing[0]:  # a fence would be one of them
        found.append(("brackets", ("{brackets}", closing)))
    return found + [("closing", notation) for notation in closing]


def member_roles(table: Format) -> Roles:
    """Return what a call's object consists of."""
    return [
        ("wrapper", f'{{comma}}"{_WRAPPER}" : {{{{'),
        ("member", '{comma}"{string}" :'),
        ("member", "{comma}'{key}' :"),
        ("end", "{comma}}}"),
    ]


def code_start_roles(table: Format) -> Roles:
    """Return what may stand in the place of code."""
    found: list[tuple[str, Notation]] = []
    if method := table["code"].get("method"):
        found.append(("method", f" {{name}}.{method} ("))
    if table["calls"]["form"] == "heads" and table["arguments"]["form"] == "json":
        found.append(("object", (" ", ["{{"])))
    return found


def code_end_roles(table: Format) -> Roles:
    """Return what ends code."""
    return [("end", "\n" + end) for end in table["turn_end"] if literal_length(end)]
