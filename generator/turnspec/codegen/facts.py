"""Format table -> the facts that the engine of `turnspec.engine` is compiled with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from turnspec.codegen.argument_rules import (
    argument_roles,
    argument_value_roles,
    call_closing_roles,
    guard_roles,
    guarded_value_roles,
    keyed_roles,
    raw_end_roles,
    raw_start_roles,
    signs_behind_string,
    string_stop_roles,
    tail_roles,
    text_end_roles,
    value_roles,
)
from turnspec.codegen.call_rules import (
    between_roles,
    call_end_roles,
    call_start_roles,
    code_end_roles,
    code_start_roles,
    member_roles,
    section_roles,
    unsorted_object_roles,
    unsorted_roles,
)
from turnspec.codegen.element_rules import (
    behind_element_roles,
    element_roles,
    first_element_roles,
)
from turnspec.codegen.format import Format, texts_in, words_in
from turnspec.codegen.markers import TOKEN, Notation, Roles, leading_text, parted, steps
from turnspec.codegen.notation import plain
from turnspec.codegen.text_rules import (
    behind_call_roles,
    code_roles,
    header_roles,
    lead_roles,
    text_roles,
)
from turnspec.spec.characters import NOT_IN_NAMES

#: What ends a turn, in tables that `stop` adds to; `{stop 3}` has at least three characters.
STOP = "{stop}"
_LONGEST_STOP = 3
#: Roles of what begins a call in another syntax.
OTHER_SYNTAX = ("foreign", "foreign_name")
#: Roles of the tables, in which the engine names them otherwise.
_ROLES = {"brackets": "stray", "tail": "end", "start": "opening", "behind": "end"}
_FORMAT = ("name", "header", "prompt", "prompt_with_thinking", "prompt_without_thinking")

#: A marker, and what has to follow it, as `turnspec.engine.roles` has them.
Marker = str | tuple[str, tuple["Marker", ...]]


@dataclass(frozen=True, slots=True)
class Row:
    """A rule: what a marker does, the marker, what has to follow it, and when it counts."""

    role: str
    marker: str
    if_before: tuple[Marker, ...] = ()
    when: str = ""


@dataclass(frozen=True, slots=True)
class FormatFacts:
    """What a module is compiled with: constants, texts and slots by name, and tables of rules."""

    format: Mapping[str, str]
    turn_ends: tuple[str, ...]
    slots: Mapping[str, list[str]]
    data: Mapping[str, object]
    markers: Mapping[str, str | tuple[str, ...]]  # those that the engine asks for by themselves
    tables: Mapping[str, tuple[Row, ...]]
    unused: frozenset[str]  # tables that no format of this kind has
    style: Mapping[str, object]  # of values in a relative of JSON
    values: Mapping[str, object]

    def text(self, name: str) -> str:
        """Return a marker that the engine asks for by itself; nothing if there is none."""
        return str(self.markers.get(name, ""))


def facts_of(table: Format) -> FormatFacts:
    """Return the facts of a format."""
    slots = _Slots()
    tables = {name: slots.rows(rows) for name, rows in _tables(table).items()}
    markers = _markers(table, slots)
    return FormatFacts(
        format={key: cast(str, value) for key, value in table.items() if key in _FORMAT},
        turn_ends=tuple(map(slots.text, table["turn_end"])),
        slots=slots.found,
        data=_data(table),
        markers={name: text for name, text in markers.items() if text},
        tables=tables,
        unused=frozenset({*_IN_ORDER} - _OF_TEXT - {*_readers(table)}),
        style=_value_style(table),
        values={
            **{name: text for name, text in markers.items() if not text},
            **_text_values(table),
            **_call_values(table),
            **_marker_values(tables),
            **_role_values(table, tables),
            "NAMES_ARE_REPEATED": "<name_again>" in repr(slots.found),
        },
    )


# Tables of rules.


def _tables(table: Format) -> dict[str, tuple[Row, ...]]:
    found = {
        "IN_TEXT": _rows(table, _text_rows),
        "BEFORE_CONTENT": _rows(table, lead_roles),
        "LEFT_OUT_IF_LAST": tuple(Row("broken_off", text) for text in table.get("openings", ())),
        "AFTER_TURN": (Row("turn_end", f" {STOP}"),),
        "CONTENT_HEADERS": _rows(table, header_roles),
    }
    found |= {name: _rows(table, roles) for name, roles in _readers(table).items()}
    return {name: found.get(name, ()) for name in _IN_ORDER}


def _readers(table: Format) -> dict[str, Callable[[Format], Roles]]:
    """Return what gives the tables of calls, by their names."""
    if "calls" not in table:
        return {}
    is_objects = table["calls"]["form"] == "objects"
    readers = _CALL_TABLES | _TABLES["objects" if is_objects else table["arguments"]["form"]]
    if "elements" in table["arguments"]:
        readers = readers | _ELEMENT_TABLES
    if "values" in table["arguments"]:
        readers = readers | _OTHER_VALUE_TABLES
    return readers | (_CODE_TABLES if "code" in table else {})


def _text_rows(table: Format) -> Roles:
    if "calls" not in table:
        return text_roles(table)
    is_objects = table["calls"]["form"] == "objects"
    found = unsorted_object_roles(table) if is_objects else unsorted_roles(table)
    return [*found, *code_roles(table)]


_CALL_TABLES: dict[str, Callable[[Format], Roles]] = {
    "AFTER_CALL": behind_call_roles,
    "AT_CALL_END": call_end_roles,
    "AT_CALL_START": call_start_roles,
}
_TABLES: dict[str, dict[str, Callable[[Format], Roles]]] = {
    "objects": {"BETWEEN_CALLS": between_roles, "IN_OBJECT": member_roles},
    "json": {"BETWEEN_CALLS": section_roles, "AFTER_ARGUMENTS": tail_roles},
    "values": {
        "BETWEEN_CALLS": section_roles,
        "IN_ARGUMENTS": argument_value_roles,
        "AFTER_BARE_TEXT": text_end_roles,
        "AT_CLOSING": call_closing_roles,
    },
    "text": {
        "BETWEEN_CALLS": section_roles,
        "IN_ARGUMENTS": argument_roles,
        "FIRST_ARGUMENT": keyed_roles,
        "IN_VALUE": value_roles,
        "END_OF_GUARD": guard_roles,
        "IN_GUARDED_VALUE": guarded_value_roles,
    },
}
_ELEMENT_TABLES = {
    "FIRST_ELEMENT": first_element_roles,
    "IN_ELEMENTS": element_roles,
    "AFTER_ELEMENT": behind_element_roles,
}
_OTHER_VALUE_TABLES = {
    "AT_RAW_START": raw_start_roles,
    "AT_RAW_END": raw_end_roles,
    "AT_STRING_END": string_stop_roles,
}
_CODE_TABLES = {"AT_CODE_START": code_start_roles, "AT_CODE_END": code_end_roles}
#: All tables as a reader wants them: from the turn down to a value, and what comes after each.
_IN_ORDER = (
    *("IN_TEXT", "BEFORE_CONTENT", "CONTENT_HEADERS", "BETWEEN_CALLS", "IN_OBJECT"),
    *("FIRST_ARGUMENT", "IN_ARGUMENTS", "END_OF_GUARD", "IN_VALUE", "IN_GUARDED_VALUE"),
    *("FIRST_ELEMENT", "IN_ELEMENTS", "AFTER_ELEMENT", "AT_RAW_START", "AT_RAW_END"),
    *("AT_STRING_END", "AFTER_BARE_TEXT", "AT_CLOSING", "AFTER_ARGUMENTS", "AT_CODE_START"),
    *("AT_CODE_END", "AT_CALL_END", "AT_CALL_START", "AFTER_CALL", "AFTER_TURN"),
    "LEFT_OUT_IF_LAST",
)
_OF_TEXT = {"IN_TEXT", "BEFORE_CONTENT", "CONTENT_HEADERS", "AFTER_TURN", "LEFT_OUT_IF_LAST"}


def _rows(table: Format, roles: Callable[[Format], Roles]) -> tuple[Row, ...]:
    """Return rules, with those that count in one case alone in places of their own.

    Where a call's first end is no special token, and a later one is, no call ends by the first.
    """
    plain = list(_with_stops(table, roles))
    closing = table["calls"].get("closing", ()) if "calls" in table else ()
    if len(closing) < 2:
        return tuple(plain)
    late = list(_with_stops(_ending_late(table), roles))
    if late == plain:
        return tuple(plain)
    return tuple(_merged(plain, late))


def _ending_late(table: Format) -> Format:
    """Return a table whose calls end by all their closing markers together."""
    calls = table["calls"]
    closing = calls["closing"]
    ends = [end for end in calls.get("end", ()) if end == closing[1]]
    return {**table, "calls": {**calls, "closing": [" ".join(closing)], "end": ends}}


def _merged(plain: Sequence[Row], late: Sequence[Row]) -> Iterator[Row]:
    """Yield the rules of both cases, in an order that is that of each."""
    rest = list(late)
    for row in plain:
        if row in rest:
            at = rest.index(row)
            yield from (_when(other, "LATER_END") for other in rest[:at])
            del rest[: at + 1]
            yield row
        else:
            yield _when(row, "FIRST_END")
    yield from (_when(row, "LATER_END") for row in rest)


def _when(row: Row, when: str) -> Row:
    return Row(row.role, row.marker, row.if_before, when)


def _with_stops(table: Format, roles: Callable[[Format], Roles]) -> Iterator[Row]:
    """Yield rules in which one row stands for all ends of a turn, with the fewest characters."""
    tables = [roles({**table, "turn_end": ["\ue0f0" * size]}) for size in (1, 2, 3)]
    for role, notation in tables[-1]:
        text, after = _marker(notation, tables)
        yield Row(_ROLES.get(role, role), text, after)


def _marker(notation: Notation, tables: Sequence[Roles]) -> tuple[str, tuple[Marker, ...]]:
    made = _named(notation, tables)
    return (made, ()) if isinstance(made, str) else made


def _named(notation: Notation, tables: Sequence[Roles]) -> Marker:
    text, after = parted(notation)
    written = _text(text, tables)
    return (written, tuple(_named(other, tables) for other in after)) if after else written


def _text(text: str, tables: Sequence[Roles]) -> str:
    """Return a marker with the name of a turn's end, if it holds one."""
    end = "\ue0f0" * _LONGEST_STOP
    if end not in text:
        return text
    shown = [set(texts_in(list(map(list, roles)))) for roles in tables]
    sizes = (size for size in (1, 2) if text.replace(end, end[:size]) in shown[size - 1])
    shortest = next(sizes, _LONGEST_STOP)
    return text.replace(end, STOP if shortest == 1 else f"{{stop {shortest}}}")


# Slots.


class _Slots:
    """The slots in markers, each with the expressions for what stands in it."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}

    def rows(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        return tuple(
            Row(row.role, self.text(row.marker), tuple(map(self.marker, row.if_before)), row.when)
            for row in rows
        )

    def marker(self, marker: Marker) -> Marker:
        if isinstance(marker, str):
            return self.text(marker)
        text, after = marker
        return self.text(text), tuple(map(self.marker, after))

    def text(self, text: str) -> str:
        """Return a marker whose slots say by their names what stands in them."""
        stops = re.split(r"(\{stop(?: \d)?\})", text)
        if len(stops) > 1:
            return "".join(
                part if part.startswith("{stop") else self.text(part) if part else ""
                for part in stops
            )
        tokens = list(TOKEN.finditer(text))
        return "".join(self._token(tokens, at) for at in range(len(tokens)))

    def _token(self, tokens: Sequence[re.Match[str]], at: int) -> str:
        token = tokens[at]
        text = token.group()
        if token["optional"] or token["slot"] is None:
            return text
        expressions = steps(tokens, at)
        name, number = text, 2
        while self.found.setdefault(name, expressions) != expressions:
            name, number = f"{text[:-1]} {number}}}", number + 1
        return name


# Constants.


def _text_values(table: Format) -> dict[str, object]:
    """Return the constants of reasoning and content: see `turnspec.engine.facts`."""
    marks = table.get("reasoning", {})
    ends = marks.get("end", ())
    content_ends = table.get("content", {}).get("end", ())
    may_stay_open = marks.get("may_stay_open", False)
    return {
        "IS_TRACED": False,
        "HAS_SPECIAL_TOKENS": True,
        "HAS_REASONING": "reasoning" in table,
        "REASONING_HAS_START": bool(marks.get("start")),
        "REASONING_HAS_END": bool(ends),
        "STARTS_IN_REASONING": marks.get("starts_open", False),
        "REASONING_MAY_STAY_OPEN": may_stay_open,
        "REASONING_MAY_END_TURN": marks.get("may_end_turn", False),
        "REASONING_ENDS_WITH_TURN": may_stay_open or not ends,
        "REASONING_END_ENDS_TURN": any(end in table["turn_end"] for end in ends),
        "REASONING_END_ENDS_CONTENT": any(end in content_ends for end in ends),
        "REASONING_IS_FIRST": table["order"][0] == "reasoning",
        "HAS_CALLS": "calls" in table,
        "HAS_DRAFTS": _has_drafts(table),
        "HAS_MENTIONS": bool(table.get("calls", {}).get("mentions")),
        "ARE_CALLS_ADDRESSED": table.get("content", {}).get("addressed", False),
    }


def _marker_values(tables: Mapping[str, tuple[Row, ...]]) -> dict[str, object]:
    """Return what markers have, of all that they can."""
    rows = [row for table in tables.values() for row in table]
    return {
        "HAS_OPTIONAL_TEXTS": "{?" in repr(rows),
        "HAS_FOLLOWERS": any(row.if_before for row in rows),
        "HAS_LATE_ENDS": any(row.when for row in rows),
    }


def _role_values(table: Format, tables: Mapping[str, tuple[Row, ...]]) -> dict[str, object]:
    """Return what the roles of markers say."""
    roles = {row.role for rows in tables.values() for row in rows}
    has_other_syntax = not roles.isdisjoint(OTHER_SYNTAX)
    is_json = table.get("arguments", {}).get("form") == "json"
    is_objects = table.get("calls", {}).get("form") == "objects"
    return {
        "READS_TAGS": has_other_syntax and is_json,
        "MAY_READ_AGAIN": has_other_syntax or is_objects or _has_drafts(table),
        "CODE_MAY_BE_OBJECT": any(row.role == "object" for row in tables["AT_CODE_START"]),
    }


def _data(table: Format) -> dict[str, object]:
    """Return the constants that are an expression, sets of words, or words by others."""
    arguments = table.get("arguments", {})
    return {
        "NAME": f"[^{NOT_IN_NAMES}]{{1,256}}" if "calls" in table else "",
        "WORDS": tuple(sorted(words_in(table))),
        "UNWRITTEN": tuple(map(plain, table.get("unwritten", ()))),
        "TYPE_WORDS": dict(arguments.get("types", {})),
        "ENTITIES": {**arguments.get("key_escapes", {}), **arguments.get("value_escapes", {})},
    }


def _markers(table: Format, slots: _Slots) -> dict[str, str | tuple[str, ...]]:
    """Return the markers that the engine asks for by themselves."""
    reasoning, calls = table.get("reasoning", {}), table.get("calls", {})
    end = next(iter(reasoning.get("end", ())), "")
    closing, opening = calls.get("closing", ()), calls.get("opening", ())
    others = (*calls.get("other_starts", ()), *calls.get("short_starts", ()))
    return {
        "REASONING_END": end,
        "REASONING_END_SIGNS": "".join(end.split()),
        "CALL_HEAD": slots.text(calls.get("start", "")),
        "OTHER_HEADS": tuple(map(slots.text, others)),
        "OPENING": next(iter(opening), ""),
        "OPENINGS": tuple(map(slots.text, opening)) if "start" in calls else (),
        "FIRST_CALL_END": next(iter(closing), ""),
        "LATER_CALL_END": " ".join(closing[1:]),
    }


def _has_drafts(table: Format) -> bool:
    """Tell whether calls in open reasoning may be drafts."""
    marks = table.get("reasoning", {})
    return "calls" in table and bool(marks.get("end")) and not marks.get("may_stay_open", False)


def _call_values(table: Format) -> dict[str, object]:
    """Return the constants of calls: see `turnspec.engine.facts`."""
    found: dict[str, object] = {
        "CALLS_ARE_OBJECTS": table.get("calls", {}).get("form") == "objects",
        "IS_BARE": table.get("calls", {}).get("bare", False),
        "HAS_CODE": "code" in table,
        "HAS_ELEMENTS": "elements" in table.get("arguments", {}),
        "HAS_OTHER_VALUES": "values" in table.get("arguments", {}),
        "HAS_RAW_STRINGS": bool(table.get("arguments", {}).get("values", {}).get("raw_quote")),
    }
    if "calls" not in table:
        return found
    calls, arguments, order = table["calls"], table["arguments"], list(table["order"])
    late = (calls.get("tail", ""), *calls.get("closing", ())[:1])
    return {
        **found,
        "CONTENT_IS_LAST": "content" in order[order.index("calls") :],
        "REASONING_CAN_END": bool(table.get("reasoning", {}).get("end") or table.get("between")),
        "HAS_LATE_IDS": any("{id}" in text for text in late) or "id" in calls.get("members", {}),
        "HAS_PYTHON_LITERALS": arguments.get("literals", "python") == "python",
        **_head_values(table),
        **_object_values(table),
        **_element_values(table),
        "CODE_TOOL": table.get("code", {}).get("tool", ""),
        "CODE_ARGUMENT": table.get("code", {}).get("argument", ""),
    }


def _head_values(table: Format) -> dict[str, object]:
    calls, arguments = table["calls"], table["arguments"]
    start = arguments.get("start", "")
    keyed = start.startswith("{key")
    has_end = bool(arguments.get("end"))
    return {
        "ARGUMENTS": arguments["form"],
        "NEEDS_OPENING": calls.get("needs_opening", False),
        "NAME_STANDS_IN_ID": calls.get("named_by_id", False),
        "ONLY_IN_SECTION": calls.get("only_in_section", False),
        "HAS_SECTIONS": bool(calls.get("only_in_section") or calls.get("opening")),
        "ARGUMENT_HAS_END": has_end,
        "HAS_KNOWN_ENDS": has_end and not keyed,
        "ARGUMENTS_ARE_KEYED": keyed,
        "ARGUMENT_SHOWS_ITSELF": keyed or any(map(str.isalnum, leading_text(start))),
        "HAS_TAIL": "tail" in calls,
        "NAME_IS_LAST": "start" in calls and "{name" not in calls["start"],
        "CALL_HAS_END": bool(calls.get("closing")),
    }


def _object_values(table: Format) -> dict[str, object]:
    calls = table["calls"]
    keys = calls.get("members", {})
    return {
        "IS_IN_ARRAY": calls.get("in_array", False),
        "NAME_IS_KEY": calls["form"] == "objects" and not keys,
        "NAME_KEY": keys.get("name", "name"),
        "ARGUMENTS_KEY": keys.get("arguments", "arguments"),
        "ID_KEY": keys.get("id", ""),
        "HAS_MEMBER_IDS": "id" in keys,
        "ARGUMENTS_COME_FIRST": next(iter(keys), "") == "arguments",
        "OTHER_MEMBERS": tuple(calls.get("other_members", ())),
        "OTHER_MEMBER_VALUES": tuple(calls.get("other_values", ())),
    }


def _element_values(table: Format) -> dict[str, object]:
    elements = table["arguments"].get("elements", {})
    is_keyed = "{key}" in elements.get("member_end", "")
    return {
        "ELEMENT_KEY": elements.get("element_key", ""),
        "ELEMENT_SEPARATOR": elements.get("separator", ""),
        "ELEMENTS_ARE_KEYED": is_keyed,
        "ELEMENTS_ARE_CLOSED_BY_KEY": is_keyed and "{key}" in table["arguments"].get("end", ""),
        "ELEMENTS_ARE_DISTINCT": bool(elements.get("distinct")),
        "HAS_ELEMENT_LEAD": "lead" in elements,
    }


def _value_style(table: Format) -> Mapping[str, object]:
    """Return how values are written in a relative of JSON."""
    if "values" not in table.get("arguments", {}):
        return {}
    style = table["arguments"]["values"]
    return {
        "raw_quote": style.get("raw_quote", ""),
        "is_raw_inside": style.get("raw_inside", False),
        "has_python_escapes": style.get("escapes") == "python",
        "after_string": signs_behind_string(table),
    }


def roles_in(facts: FormatFacts) -> set[str]:
    """Return the roles that any rule has."""
    return {row.role for rows in facts.tables.values() for row in rows}
