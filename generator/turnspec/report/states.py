"""The states of a format's parser and what leads from one to another, by its tables of rules.

A state is a table of what can come next, or a value that says itself where it ends. Which role of
a rule leads where is listed here; a test holds that against what parsers do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from turnspec.codegen.facts import FormatFacts, Row, facts_of
from turnspec.codegen.format import Format
from turnspec.engine.markers import NOTATION

#: The states that formats can have: the table, or the form of calls and arguments, and what it is.
_STATES = {
    "in text": ("IN_TEXT", "Reasoning and content, up to a marker."),
    "between calls": ("BETWEEN_CALLS", "Where a call can begin, or what holds all of them ends."),
    "in object": ("IN_OBJECT", "The members of a call's object, in any order."),
    "member value": ("objects", "A member's value; arguments are passed on as they come."),
    "json arguments": ("json", "A call's arguments: one value, which is passed on as it comes."),
    "after arguments": ("AFTER_ARGUMENTS", "What stands after the arguments."),
    "in arguments": ("IN_ARGUMENTS", "Where an argument can begin, or all of them end."),
    "argument value": ("values", "An argument's value, which says itself where it ends."),
    "after bare text": (
        "AFTER_BARE_TEXT",
        "Text without quotes, or none, up to the next one.",
    ),
    "first element": ("FIRST_ELEMENT", "A value's beginning, which may be that of an element."),
    "in elements": ("IN_ELEMENTS", "Elements within elements, and their text."),
    "end of guard": ("END_OF_GUARD", "What may surround a value, which is a string then."),
    "in value": ("IN_VALUE", "A value, up to what closes it."),
    "in guarded value": ("IN_GUARDED_VALUE", "A value that is surrounded, up to what closes it."),
    "at call end": ("AT_CALL_END", "A call, or arguments, in another syntax, up to the end."),
    "at code start": ("AT_CODE_START", "The beginning of code, or what may stand in its place."),
    "at code end": ("AT_CODE_END", "Code, up to the turn's end."),
    "after turn": ("AFTER_TURN", "What follows the turn's end: it once more, or no content."),
}
#: What leads from one to another: roles, or that no rule fits; nothing if something else decides.
#: Of targets that are named together the first that a format has.
_LEADS = (
    ("in text", "after turn", "turn_end"),
    ("in text", "between calls", "opening object"),
    ("in text", "in arguments|json arguments", _HEADS := "call other_call short_call"),
    ("in text", "at call end", "foreign foreign_name"),
    ("in text", "at code start|at code end", "code"),
    ("between calls", "in object", "object"),
    ("between calls", "in arguments|json arguments", _HEADS),
    ("between calls", "in text", "section_end otherwise"),
    ("in object", "member value", "member"),
    ("in object", "between calls", "end otherwise"),
    ("in object", "in text", "end otherwise"),
    ("in object", "in object", "wrapper end"),
    ("member value", "in object", ""),
    ("member value", "between calls", ""),
    ("member value", "in text", ""),
    ("json arguments", "after arguments", ""),
    ("json arguments", _AFTER_CALL := "between calls|in text", ""),
    ("json arguments", "at call end", ""),
    ("after arguments", _AFTER_CALL, "end otherwise"),
    ("in arguments", "first element|end of guard|in value|argument value", "argument quoted"),
    ("in arguments", _AFTER_CALL, "done broken"),
    ("in arguments", "after bare text", "otherwise"),
    ("argument value", "in arguments", ""),
    ("argument value", "after bare text", ""),
    ("after bare text", "in arguments", "next close end"),
    ("first element", "end of guard|in value", "otherwise"),
    ("first element", "in elements", "otherwise"),
    ("in elements", "in elements", "member_end element_end"),
    ("in elements", "first element", "member element"),
    ("in elements", "in value", "outer"),
    ("in elements", "in arguments", "rest next"),
    ("end of guard", "in guarded value", "guard"),
    ("end of guard", "in value", "otherwise"),
    ("in value", "in arguments", "close rest next"),
    ("in guarded value", "in arguments", "close rest next"),
    ("at call end", _AFTER_CALL, "end"),
    ("at call end", "in text", "end"),
    ("at code start", "at code end", "method otherwise"),
    ("at code start", "json arguments", "object"),
    ("at code end", _AFTER_CALL, "end"),
)
#: Roles of markers that are only text where they stand.
_TEXT_ROLES = frozenset({"mention", "inner", "ending"})


@dataclass(frozen=True, slots=True)
class State:
    """A state, and what is read in it."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class Transition:
    """What leads from a state to another: markers, none where something else decides.

    ``otherwise`` is that anything does that is none of the state's markers. A transition to the
    same state stands for the markers that don't leave it.
    """

    source: str
    target: str
    markers: tuple[str, ...]
    otherwise: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """A parser's states, the first of them first, and its transitions."""

    states: tuple[State, ...]
    transitions: tuple[Transition, ...]


def read_machine(table: Format) -> Machine:
    """Return the states that can be reached in a format, the first one first."""
    facts = facts_of(table)
    rows = dict(_rows(facts))
    steps = dict.fromkeys(step for name in rows for step in _transitions(name, rows))
    is_bare = facts.values["IS_BARE"] and not facts.values["STARTS_IN_REASONING"]
    reached = ["between calls" if is_bare else "in text"]
    for name in reached:
        targets = dict.fromkeys(step.target for step in steps if step.source == name)
        reached += (target for target in targets if target not in reached)
    names = [reached[0], *(name for name in rows if name in reached[1:])]
    states = (State(name, _STATES[name][1]) for name in names)
    return Machine(tuple(states), tuple(step for step in steps if step.source in names))


def _rows(facts: FormatFacts) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield the states that a format has, each with the rules of its table."""
    values = facts.values
    form = "objects" if values["CALLS_ARE_OBJECTS"] else values.get("ARGUMENTS")
    has_section = form == "objects" or values.get("ONLY_IN_SECTION")
    for name, (table, _) in _STATES.items():
        rows = [shown for row in facts.tables.get(table, ()) for shown in _shown(row, facts)]
        if table == form or (rows and (name != "between calls" or has_section)):
            yield name, rows


def _shown(row: Row, facts: FormatFacts) -> Iterator[Row]:
    """Yield a rule as it is shown: for each end of a turn, with the roles that it has here."""
    roles = [row.role]
    if row.role == "reasoning_end" and facts.values["REASONING_END_ENDS_TURN"]:
        roles = ["turn_end"]
    if row.role == "member_end" and facts.values["ELEMENTS_ARE_CLOSED_BY_KEY"]:
        roles.append("outer")
    for end in facts.turn_ends if "{stop" in row.marker else ("",):
        marker = written(end.join(re.split(r"\{stop[^}]*\}", row.marker)))
        yield from (Row(role, marker, row.if_before) for role in roles)


def _transitions(name: str, states: Mapping[str, Sequence[Row]]) -> Iterator[Transition]:
    """Yield a state's transitions: to others, and to itself."""
    rows = states[name]
    always = {row.role for row in rows if not row.marker and not row.if_before}
    leaving = set(_TEXT_ROLES)
    for source, targets, roles in _LEADS:
        target = next((other for other in targets.split("|") if other in states), "")
        found = [row for row in rows if row.role in roles.split()]
        otherwise = not always if "otherwise" in roles else not always.isdisjoint(roles.split())
        if source == name and target and (found or otherwise or not roles):
            leaving.update(roles.split())
            yield Transition(name, target, _markers(found), otherwise)
    if staying := [row for row in rows if row.role not in leaving]:
        yield Transition(name, name, _markers(staying))


def _markers(rows: Iterable[Row]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.marker for row in rows if row.marker))


def written(marker: str) -> str:
    """Return a marker as it is read, with its slots as words: ``<function= NAME >``."""
    return " ".join("".join(map(_written, NOTATION.findall(marker))).split())


def _written(part: str) -> str:
    if part in ("{{", "}}"):
        return part[0]
    return _WORDS.get(part[1:-1].split()[0], "") if part[0] == "{" else part


#: The slots that are named; others are only white space, separators and such.
_WORDS = {word: word.upper() for word in ("name", "key", "id", "index", "type", "word")}
