"""Format table -> the markers of a call's arguments, each with its role."""

from __future__ import annotations

import re

from turnspec.codegen.call_rules import FEWEST_SIGNS, call_end_roles
from turnspec.codegen.format import ArgumentsFormat, Format
from turnspec.codegen.markers import (
    Notation,
    Roles,
    first_text,
    leading_text,
    literal_length,
    spaced,
)


def tail_roles(table: Format) -> Roles:
    """Return what stands behind a call's arguments, if it has slots or is no marker in text."""
    calls = table["calls"]
    return [("tail", spaced(calls["tail"]))] if "tail" in calls else []


def argument_value_roles(table: Format) -> Roles:
    """Return what may stand before a value, and behind the last one.

    What ends the arguments may look like another one's beginning, so it comes first; where nothing
    ends them, they end at whatever else comes, as another call, which may look like one, too.
    """
    arguments, closing = table["arguments"], table["calls"].get("closing", ())
    argument = [("quoted", spaced(start, "{comma}")) for start in _quoted(arguments)]
    argument.append(("argument", spaced(arguments["start"], "{comma}")))
    empty = arguments.get("empty", "")
    ends = [f"{empty} {closing[0]}"] if empty and closing else [empty] if empty else []
    done: list[tuple[str, Notation]] = [
        ("done", "{comma}" + end) for end in (*ends, *(closing[:1] or [""]))
    ]
    broken = [("broken", spaced(end)) for _, end in call_end_roles(table)]
    done += [("next_call", head) for head in _next_heads(table)]
    head = table["calls"]["start"]
    other_call = [("done", ("{comma}", [head]))] if is_keyed(arguments) and first_text(head) else []
    found = [*done, *broken, *argument] if closing else [*other_call, *argument, *done]
    return [*found, ("end", spaced(arguments["end"]))] if arguments.get("end") else found


def _next_heads(table: Format) -> list[str]:
    """Return a call's last bracket with the head of another call, which lacks its tag."""
    calls = table["calls"]
    found = re.fullmatch(r"<[^<>{} ]+> \{\?([^{}]+)\}(\{name.*)", calls.get("start", ""))
    ends_in_bracket = calls.get("closing", [""])[0].startswith("}}")
    return [f"{{comma}}}}}}{{comma}}{found[1]}{found[2]}"] if found and ends_in_bracket else []


def _quoted(arguments: ArgumentsFormat) -> list[str]:
    """Return how an argument begins whose key stands in quotes, the format's own among them."""
    start, own = arguments["start"], arguments.get("values", {}).get("raw_quote", "")
    quotes = dict.fromkeys(filter(None, ('"', "'", own)))
    return [start.replace("{key", f"{it}{{key").replace("}", f"}}{it}", 1) for it in quotes]


def text_end_roles(table: Format) -> Roles:
    """Return what ends a text without quotes: another argument, or the end of them all."""
    arguments = table["arguments"]
    separator = arguments.get("separator", "").strip()
    starts = (*_quoted(arguments), arguments["start"])
    following = [("next", f" {separator} {start}") for start in starts if separator]
    return [*following, *call_closing_roles(table)]


def call_closing_roles(table: Format) -> Roles:
    """Return what ends the arguments, if no text goes on behind it."""
    arguments, calls = table["arguments"], table["calls"]
    closings = calls.get("closing", ())
    sections = (*calls.get("section_closing", ()), *calls.get("section_end", ()))
    ends = (*closings[1:], *sections, *table["turn_end"])
    follows = [*map(spaced, ends), f" , {calls['start']}", "{end of text}"]
    found: list[tuple[str, Notation]] = []
    for closing in closings[:1]:
        is_distinct = literal_length(closing) >= FEWEST_SIGNS
        found.append(("close", f" {closing}" if is_distinct else (f" {closing}", follows)))
    found += [("close", spaced(end)) for _, end in call_end_roles(table)]
    return [*found, ("end", spaced(arguments["end"]))] if arguments.get("end") else found


def signs_behind_string(table: Format) -> str:
    """Return the signs with which goes on what stands behind a string."""
    arguments, calls = table["arguments"], table["calls"]
    texts = (
        *(arguments.get("separator", ""), arguments.get("end", "")),
        *(*calls.get("closing", ()), *calls.get("end", ()), *table["turn_end"]),
    )
    return ",)]}:<" + "".join(text.strip()[:1] for text in texts)


def raw_start_roles(table: Format) -> Roles:
    """Return what begins a string without escapes: its quote."""
    quote = table["arguments"].get("values", {}).get("raw_quote", "")
    return [("start", quote)] if quote else []


def string_stop_roles(table: Format) -> Roles:
    """Return what may end a string, closed or not."""
    return [*raw_end_roles(table), *call_end_roles(table)]


def raw_end_roles(table: Format) -> Roles:
    """Return what ends a string without escapes: its quote, if the call can go on behind it."""
    arguments = table["arguments"]
    quote = arguments.get("values", {}).get("raw_quote", "")
    if not quote:
        return []
    if arguments["values"].get("raw_inside"):
        return [("end", quote)]
    closing = table["calls"].get("closing", ())[:1]
    end = arguments.get("end")
    ends = [end] if end else [arguments.get("separator", ""), *closing]
    return [("end", (quote, [spaced(end) for end in ends if end]))]


def is_keyed(arguments: ArgumentsFormat) -> bool:
    """Say whether an argument begins with its key, which no search would find."""
    return arguments["start"].startswith("{key")


def keyed_roles(table: Format) -> Roles:
    """Return the beginning of an argument that begins with its key, where one is due."""
    arguments = table["arguments"]
    return [("argument", spaced(arguments["start"], "{comma}"))] if is_keyed(arguments) else []


def next_argument(arguments: ArgumentsFormat) -> str:
    """Return the beginning of an argument behind another one."""
    if not is_keyed(arguments):
        return "\n" + arguments["start"]
    return (arguments.get("separator") or "\n") + " " + arguments["start"]


def argument_roles(table: Format) -> Roles:
    """Return what may stand between arguments."""
    arguments = table["arguments"]
    done, empty = table["calls"].get("closing", ())[:1], arguments.get("empty", "")
    found = [("done", end) for end in (*(f"{empty} {it}" for it in done if empty), *done)]
    start = next_argument(arguments) if is_keyed(arguments) else arguments["start"]
    return [*found, ("argument", start), *(("broken", other) for other in behind_call(table))]


def value_roles(table: Format, guard_end: str = "") -> Roles:
    """Return what may end a value: its mark if the format can go on behind it, or the rest of it.

    Without its mark a value ends where only the rest of the call follows, or another argument.
    """
    arguments, closing = table["arguments"], table["calls"].get("closing", ())
    mark = arguments.get("end", "").removeprefix("\n")
    before = guard_end + ("\n" if mark != arguments.get("end", "") else "")
    found: list[tuple[str, Notation]] = []
    if before + mark:
        found.append(("close", (before + mark, behind_value(table))))
    # A single sign is text wherever the format doesn't go on behind it.
    if guard_end + mark and "{key}" not in mark and literal_length(guard_end + mark) > 1:
        found.append(("inner", guard_end + mark))
    if closing:
        found.append(("rest", (before, rests_of_call(table))))
        if not guard_end:
            found.append(("next", next_argument(arguments)))
    escapes = () if guard_end else arguments.get("value_escapes", ())
    return [*found, *(("escape", text) for text in escapes), *turn_end_roles(table)]


def guard_roles(table: Format) -> Roles:
    """Return what may surround a value, at its beginning."""
    return [("guard", spaced(guard)) for guard in table["arguments"].get("guard", ())[:1]]


def guarded_value_roles(table: Format) -> Roles:
    """Return what may end a value that is surrounded."""
    guard = table["arguments"].get("guard")
    return value_roles(table, guard[1]) if guard else []


def behind_value(table: Format) -> list[Notation]:
    """Return what may stand behind the mark that closes a value."""
    arguments = table["arguments"]
    following = (
        next_argument(arguments) if is_keyed(arguments) else first_text(arguments["start"]),
        *table["calls"].get("closing", ())[:1],
        *behind_call(table),
    )
    return [spaced(notation) for notation in following if notation]


def rests_of_call(table: Format) -> list[str]:
    """Return what may stand behind a value without a mark: the rest of the call, and more."""
    closing = table["calls"].get("closing", ())
    rests = [" ".join(closing[at:]) for at in range(len(closing))]
    return [f"{rest} {more}" for rest in rests for more in (*behind_call(table), "{end of text}")]


def behind_call(table: Format) -> list[str]:
    """Return what may stand behind the first of a call's closing tags."""
    calls = table["calls"]
    section = calls.get("section_closing", ())
    found = [
        *calls.get("closing", ())[1:],
        *calls.get("section_end", ()),
        *(f"{end} {behind}" for end in section for behind in (*table["turn_end"], "{end of text}")),
        *(calls.get("opening") or [leading_text(calls["start"])]),
        *table["turn_end"],
        *(table.get("content", {}).get("start", ()) if table["order"][-1] == "content" else ()),
    ]
    if calls.get("only_in_section") and calls["start"].startswith("{name"):
        found.append("{comma}" + calls["start"])
    opening = first_text(table["arguments"]["start"])
    return [text for text in dict.fromkeys(found) if text != opening and literal_length(text)]


def turn_end_roles(table: Format) -> list[tuple[str, Notation]]:
    """Return markers that end a value nowhere but at the end of the text."""
    return [("ending", f"{end} {{never}}") for end in table["turn_end"] if literal_length(end)]
