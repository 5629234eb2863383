"""Format table -> the facts that the engine of `turnspec.reading` is compiled with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from turnspec.engine.format import CompiledFormat, Format, texts_in
from turnspec.engine.markers import Roles
from turnspec.engine.text_markers import lead_roles, opening_roles, text_roles

STOP = "{stop}"
_SLOTS = {
    " ": "[ \t\n\r]{0,99}",
    "\n": r"(?:\r?\n|\r\Z)?",
    "{word}": "([ \t\n\r]{0,99}[A-Za-z0-9_-]{0,40}[ \t\n\r]{0,99})",
}
#: Roles of the tables, in which the engine names them otherwise.
_ROLES = {"repeated": "turn_start", "opening": "broken_off"}


@dataclass(frozen=True, slots=True)
class Row:
    """A rule: what a marker does, the marker, and what has to follow it."""

    role: str
    marker: str
    if_before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FormatFacts:
    """What a module is compiled with: constants, texts and slots by name, and tables of rules."""

    format: Mapping[str, str]
    texts: tuple[str, ...]
    turn_ends: tuple[str, ...]
    slots: Mapping[str, str]
    words: tuple[str, ...]
    tables: Mapping[str, tuple[Row, ...]]
    values: Mapping[str, object]


def is_compiled(table: Format) -> bool:
    """Tell whether the engine of `turnspec.reading` reads a format: by now, one without calls."""
    notations = [text for text in texts_in(_marks(table)) if re.search(r"\{(?!\{|word\})", text)]
    return "calls" not in table and not notations


def _marks(table: Format) -> object:
    return [value for key, value in table.items() if key not in _FORMAT]


_FORMAT = ("name", "header", "prompt", "prompt_with_thinking", "prompt_without_thinking")


def facts_of(table: Format) -> FormatFacts:
    """Return the facts of a format."""
    tables = {
        "IN_TEXT": _rows(text_roles({**table, "turn_end": [STOP]})),
        "BEFORE_CONTENT": _rows(lead_roles(table)),
        "LEFT_OUT_IF_LAST": _rows(opening_roles(table)),
        "AFTER_TURN": (Row("turn_end", f" {STOP}"),),
    }
    markers = [row.marker for rows in tables.values() for row in rows]
    written = "".join((*markers, *table["turn_end"]))
    return FormatFacts(
        format={key: str(table[key]) for key in _FORMAT if key in table},  # type: ignore[literal-required]
        texts=tuple(dict.fromkeys(texts_in(_marks({**table, "order": []})))),
        turn_ends=tuple(table["turn_end"]),
        slots={slot: found for slot, found in _SLOTS.items() if slot in written},
        words=tuple(sorted(CompiledFormat(table).words)),
        tables=tables,
        values=_values(table),
    )


def _rows(roles: Roles) -> tuple[Row, ...]:
    rows = []
    for role, notation in roles:
        text, follows = notation if isinstance(notation, tuple) else (notation, ())
        rows.append(Row(_ROLES.get(role, role), text, tuple(map(str, follows))))
    return tuple(rows)


def _values(table: Format) -> dict[str, object]:
    """Return the constants: see `turnspec.reading.facts`."""
    marks = table.get("reasoning", {})
    ends = marks.get("end", ())
    content_ends = table.get("content", {}).get("end", ())
    may_stay_open = marks.get("may_stay_open", False)
    return {
        "HAS_REASONING": "reasoning" in table,
        "REASONING_HAS_START": bool(marks.get("start")),
        "REASONING_HAS_END": bool(ends),
        "REASONING_END": ends[0] if ends else "",
        "STARTS_IN_REASONING": marks.get("starts_open", False),
        "REASONING_MAY_STAY_OPEN": may_stay_open,
        "REASONING_MAY_END_TURN": marks.get("may_end_turn", False),
        "REASONING_ENDS_WITH_TURN": may_stay_open or not ends,
        "REASONING_END_ENDS_TURN": any(end in table["turn_end"] for end in ends),
        "REASONING_END_ENDS_CONTENT": any(end in content_ends for end in ends),
        "REASONING_IS_FIRST": table["order"][0] == "reasoning",
    }


def roles_in(facts: FormatFacts) -> set[str]:
    """Return the roles that any rule has."""
    return {row.role.upper() for rows in facts.tables.values() for row in rows}
