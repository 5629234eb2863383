"""Markers -> tables of rules: what can come next in each place of a turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from turnspec.codegen import argument_rules, call_rules, element_rules, object_rules
from turnspec.codegen.markers import (
    STOP,
    TOKEN,
    Notation,
    Roles,
    leading_text,
    literal_length,
    parted,
    roles_of,
    spaced_attribute,
    steps,
)
from turnspec.codegen.marks import Marks
from turnspec.codegen.notation import as_filled
from turnspec.codegen.shapes import looks_like_marker
from turnspec.spec.characters import WIDE_CLOSING, is_lone_sign

#: A marker, and what has to follow it, as `turnspec.engine.roles` has them.
Marker = str | tuple[str, tuple["Marker", ...]]


@dataclass(frozen=True, slots=True)
class Row:
    """A rule: what a marker does, the marker, and what has to follow it."""

    role: str
    marker: str
    if_before: tuple[Marker, ...] = ()


#: All tables as a reader wants them, from the turn down to a value, and what comes after each: the
#: kind of formats that have it, and what gives its rules.
TABLES: dict[str, tuple[str, Callable[[Marks], Roles]]] = {
    "IN_TEXT": ("", call_rules.in_text_roles),
    "BEFORE_CONTENT": (
        "",
        lambda marks: [
            *roles_of("reasoning_start", marks.text.reasoning_leads),
            *roles_of("lead", marks.text.leads),
        ],
    ),
    "CONTENT_HEADERS": (
        "",
        lambda marks: [
            *roles_of("reasoning_start", marks.text.reasoning_start * bool(marks.text.headers)),
            *roles_of("content_start", marks.text.headers),
        ],
    ),
    "FIRST_CALL": ("calls", call_rules.first_call_roles),
    "BETWEEN_CALLS": ("calls", call_rules.between_roles),
    "IN_OBJECT": ("objects", object_rules.member_roles),
    "FIRST_ARGUMENT": ("text", argument_rules.first_argument_roles),
    "IN_ARGUMENTS": ("items", argument_rules.argument_roles),
    "END_OF_GUARD": ("text", argument_rules.guard_roles),
    "IN_VALUE": ("text", argument_rules.value_roles),
    "IN_GUARDED_VALUE": ("text", argument_rules.guarded_value_roles),
    "FIRST_ELEMENT": ("elements", lambda marks: element_rules.opening_roles(marks.elements, " ")),
    "IN_ELEMENTS": ("elements", element_rules.element_roles),
    "AFTER_ELEMENT": ("elements", element_rules.behind_element_roles),
    "AT_RAW_START": ("style", lambda marks: roles_of("marker", [marks.arguments.quote])),
    "AT_RAW_END": ("style", argument_rules.raw_end_roles),
    "AFTER_BARE_TEXT": ("values", argument_rules.text_end_roles),
    "AFTER_ARGUMENTS": ("json", lambda marks: roles_of("end", [marks.calls.tail], " ")),
    "AT_CODE_START": ("code", object_rules.code_start_roles),
    "AT_CODE_END": ("code", lambda marks: roles_of("end", marks.text.turn_end, "\n")),
    "AT_CALL_END": ("calls", call_rules.value_end_roles),
    "AT_CALL_START": ("calls", call_rules.behind_value_roles),
    "AFTER_CALL": ("calls", call_rules.behind_call_roles),
    "AFTER_TURN": ("", lambda marks: roles_of("turn_end", marks.text.turn_end, " ")),
    "LEFT_OUT_IF_LAST": ("", lambda marks: _left_out_if_last(marks)),
}


def _kinds(marks: Marks) -> set[str]:
    """Return of which kinds of formats one is."""
    form = marks.arguments.form
    kinds = {"", "objects" if marks.are_objects else form, *(["calls"] if form else [])}
    kinds |= {"items"} if form in ("text", "values") else set()
    found = {"elements": marks.has_elements, "style": marks.arguments.style, "code": marks.code}
    return kinds | {kind for kind, it in found.items() if it}


def tables_of(marks: Marks, slots: Slots) -> dict[str, tuple[Row, ...]]:
    """Return the tables that formats of a kind have; one rule stands for all ends of a turn."""
    unwritten = tuple(it for it in marks.text.unwritten if it not in marks.text.turn_end)
    plain = replace(marks, text=replace(marks.text, turn_end=(STOP,), unwritten=unwritten))
    kinds = _kinds(marks)
    tables = {name: roles for name, (kind, roles) in TABLES.items() if kind in kinds}
    found = {name: slots.rows(roles(plain)) for name, roles in tables.items()}
    found["LEFT_OUT_IF_LAST"] = slots.rows(_left_out_if_last(marks))
    ends = [slots.text(end) for end in marks.text.turn_end]
    in_text = _in_text(found["IN_TEXT"], ends)
    # A table is left out if it is empty, and the engine has to know this one from others.
    found["IN_TEXT"] = tuple(in_text) or (Row("turn_end", STOP),)
    return found


def _in_text(rows: Sequence[Row], ends: Sequence[str]) -> list[Row]:
    """Return rules with each end of a turn; what begins with another one is first, code last.

    Where calls begin with what ends a thought, it is that only if no call goes on behind it.
    """
    found: list[Row] = []
    for row in rows:
        if row.role == "name_alone" and not ends:
            continue  # where the text breaks off, a name may do so as well
        found += [replace(row, marker=end) for end in ends] if row.marker == STOP else [row]
    shared = _shared_header(found)
    # What begins as a call does comes behind that: content first, then another message.
    later = {row: 1 + (row.role != "content_start") for row in found if row.marker == shared}
    openings = {row.marker for row in found if row.role in _OPENING_ROLES and row.if_before}
    thought_ends = (row for row in found if row.role == "reasoning_end")
    later |= {row: 1 for row in thought_ends if leading_text(row.marker) in openings}
    return sorted(
        found,
        key=lambda row: (row.role == "code", -literal_length(row.marker), later.get(row, 0)),
    )


def _shared_header(rows: Sequence[Row]) -> str | None:
    """Return the header with which content begins, if calls begin with it and their name, too."""
    header = next((row.marker for row in rows if row.role == "content_start"), "")
    begun = re.compile(rf"{re.escape(header)}(?:\{{no \n\}}| )*\{{name")
    return header if any(begun.match(row.marker) for row in rows) else None


#: Roles of markers behind which a call has to go on.
_OPENING_ROLES = ("opening", "inner_opening", "call", "other_call")


def markers_in_text(marks: Marks) -> Roles:
    """Return all markers that end text: beside calls the longest first, and code last."""
    found = call_rules.in_text_roles(marks)
    if marks.spec.tools is None:
        return found
    return sorted(found, key=lambda row: (row[0] == "code", -literal_length(row[1])))


def _left_out_if_last(marks: Marks) -> Roles:
    """Return what is no content if the text ends in it.

    Behind what opens a call whose first key may lack its tag, any words may be that key: only a
    name and a tag make a call of it, or what begins as the call's end does. Not so behind an id.
    """
    head = marks.calls.start
    is_named = call_rules.first_keys(marks) and "{id" not in head.partition("{name")[0]
    opening = leading_text(head) if is_named else None
    is_attribute = re.search(r"= \{name", head)
    quote = "'" if marks.spec.tools and "'{name}" in as_filled(marks.spec.tools.call) else '"'
    quoted = [text.replace('"', quote) for text in ('"', '"{name}', '"{name}"')]
    names = ["{name}", *quoted * bool(is_attribute)]
    behind = dict.fromkeys(["{end of text}", "<", *(it[0] for it in marks.calls.closing[:1])])
    follows = [" {end of text}", *(f" {name} {it}" for name in names for it in behind)]
    # What begins with a header alone is content, if it is no call: one that a text ends in, too.
    alone = marks.header if marks.header in marks.text.content_start else None
    found = {opening: follows, alone: [" {end of text}"]}
    return [("broken_off", (it, found[it]) if it in found else it) for it in beginnings(marks)]


def beginnings(marks: Marks) -> list[str]:
    """Return the tags and texts with which markers begin that go on behind them.

    A text that ends with one of these breaks off; one that ends in less may just end so.
    """
    found: dict[str, None] = {}
    rows = markers_in_text(marks)
    whole = {marker for role, marker in rows if role != "mention" and _is_text(marker)}
    for role, marker in rows:
        head = leading_text(marker)
        ends = [tag.end() for tag in re.finditer(rf"[>\]{WIDE_CLOSING}]", head)]
        starts = [head[:at] for at in ends if at < len(head) and looks_like_marker(head[:at])]
        is_short = marks.calls.is_doubtful and bool(marks.calls.start)
        is_run = len({*head}) == 1 and is_lone_sign(head[0])  # as a fence is
        is_text = _is_text(marker) or is_run or is_short
        if role in _OPENING_ROLES and not is_text:
            starts.append(head)
        found |= dict.fromkeys([start for start in starts if start and start not in whole][:1])
    # A message that breaks off behind its header has no content yet.
    return [*found, *filter(None, [marks.header])]


def _is_text(marker: Notation) -> bool:
    """Tell whether a marker is nothing but text."""
    return isinstance(marker, str) and leading_text(marker) == marker.strip()


#: What begins a tag in which a name or a key follows: `=`, or what a model may write for it.
_TAG = r"(<[\w:]+)"


class Slots:
    """The slots in markers, each with the expressions for what stands in it."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}

    def rows(self, roles: Roles) -> tuple[Row, ...]:
        """Return markers with their roles as rules, each once."""
        found = ((role, self._marker(notation)) for role, notation in roles)
        rows = (Row(role, it) if isinstance(it, str) else Row(role, *it) for role, it in found)
        return tuple(dict.fromkeys(rows))

    def _marker(self, notation: Notation) -> Marker:
        text, after = parted(notation)
        return (self.text(text), tuple(map(self._follower, after))) if after else self.text(text)

    def _follower(self, notation: Notation) -> Marker:
        if isinstance(notation, str):  # a name or a key may follow it
            notation = re.sub(rf"{_TAG}=\Z", r"\1{is}", notation)
        return self._marker(notation)

    def text(self, text: str) -> str:
        """Return a marker whose slots say by their names what stands in them."""
        text = re.sub(rf"{_TAG}=(?= \{{(?:name|key)\}} >)", r"\1{is}", text)
        text = spaced_attribute(text, r"(?= \{(?:name|key)\} (?:>|\{no))")
        return "".join(map(self._part, re.split(r"(\{stop(?: \d)?\})", text)))

    def _part(self, text: str) -> str:
        if "{" not in text or text.startswith("{stop"):
            return text
        tokens = list(TOKEN.finditer(text))
        return "".join(self._token(tokens, at) for at in range(len(tokens)))

    def _token(self, tokens: Sequence[re.Match[str]], at: int) -> str:
        token = tokens[at]
        text = token.group()
        if token["optional"] or not (token["slot"] or "").strip():
            return text
        expressions = steps(tokens, at)
        name, number = text, 2
        while self.found.setdefault(name, expressions) != expressions:
            name, number = f"{text[:-1]} {number}}}", number + 1
        return name
