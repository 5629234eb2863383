"""The states of a format's parser and what leads from one to another, by its format table.

A state is a reading method of the engine. Which follows which is listed here for each part of the
engine (a test holds it against what parsers do); what a step waits for are the table's markers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from turnspec.codegen.table import markers_in_text
from turnspec.engine.code import Code, code_end_roles, code_start_roles
from turnspec.engine.elements import Elements, element_roles, first_element_roles
from turnspec.engine.foreign import ForeignCall
from turnspec.engine.format import Format
from turnspec.engine.heads import HeadCalls, section_roles
from turnspec.engine.json_arguments import JsonArguments, tail_roles
from turnspec.engine.markers import Notation, Roles
from turnspec.engine.objects import ObjectCalls, between_roles, member_roles
from turnspec.engine.text import Text
from turnspec.engine.text_arguments import TextArguments, argument_roles, guard_roles, value_roles
from turnspec.engine.unclosed import call_end_roles
from turnspec.engine.value_arguments import ValueArguments, argument_value_roles, text_end_roles

_PREFIX = "read_"
_HEADS = ("call", "other_call", "short_call")
#: Roles of markers that are only text where they stand.
_TEXT_ROLES = frozenset({"mention", "inner", "ending"})


@dataclass(frozen=True, slots=True)
class State:
    """A state, and what its method says of itself."""

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


@dataclass(frozen=True, slots=True)
class _Leap:
    """A state that may follow, and the roles of the markers that lead there.

    Without roles it is something else that leads there. The role "" is that there is no marker.
    """

    target: str
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reader:
    """A state: its method, the markers that it looks for, and the states that may follow."""

    method: Callable[..., bool]
    markers: Roles
    leaps: tuple[_Leap, ...] = ()

    @property
    def name(self) -> str:
        """The state's name."""
        return self.method.__name__.removeprefix(_PREFIX)


def read_machine(table: Format) -> Machine:
    """Return the states that can be reached in a format, the first one first."""
    readers = list(_readers(table))
    states = (State(reader.name, _about(reader.method)) for reader in readers)
    transitions = (step for reader in readers for step in _transitions(reader))
    return Machine(tuple(states), tuple(transitions))


def _readers(table: Format) -> Iterator[_Reader]:
    """Yield a format's states; that which a parser never leaves comes last."""
    leaps = [_Leap("rest", ("turn_end",))]
    ends = table.get("reasoning", {}).get("end", ())
    if any(end in table["turn_end"] for end in ends):
        leaps = [_Leap("rest", ("turn_end", "reasoning_end"))]
    readers: list[_Reader] = []
    if "calls" in table:
        is_objects = table["calls"]["form"] == "objects"
        readers = list(_object_readers(table) if is_objects else _head_readers(table))
        leaps += _leaps_to_calls(table)
    text = _Reader(Text.read_text, markers_in_text(table), tuple(leaps))
    if "calls" in table and table["calls"].get("bare") and not _starts_open(table):
        yield readers.pop(0)  # which is where a turn begins
    yield from (text, *readers, _Reader(Text.read_rest, ()))


def _starts_open(table: Format) -> bool:
    return table.get("reasoning", {}).get("starts_open", False)


def _leaps_to_calls(table: Format) -> Iterator[_Leap]:
    calls = table["calls"]
    if calls["form"] == "objects":
        yield _Leap("between", ("opening", "object"))
    else:
        if calls.get("only_in_section"):
            yield _Leap("section", ("opening",))
        yield _Leap(_first_of_arguments(table), _HEADS)
    if _reads_other_syntax(table):
        yield _Leap("call", ("foreign",))
    if "code" in table:
        yield _Leap("code_start", ("code",))


def _first_of_arguments(table: Format) -> str:
    """Return the state behind a head: JSON is told from other text, if the head has the name."""
    is_json = table["arguments"]["form"] == "json" and "{name" in table["calls"]["start"]
    return "start" if is_json else "arguments"


def _object_readers(table: Format) -> Iterator[_Reader]:
    member = (_Leap("value", ("member",)), _Leap("between", ("end",)), _Leap("text", ("",)))
    value = (_Leap("member"), _Leap("text"), _Leap("between"))
    between = (_Leap("member", ("object",)), _Leap("text", ("",)))
    yield _Reader(ObjectCalls.read_between, between_roles(table), between)
    yield _Reader(ObjectCalls.read_member, member_roles(table), member)
    yield _Reader(ObjectCalls.read_value, (), value)
    yield from _foreign_readers(table, "between")
    yield from _code_readers(table, "between")


def _head_readers(table: Format) -> Iterator[_Reader]:
    after = "section" if table["calls"].get("only_in_section") else "text"
    if after == "section":
        first = _first_of_arguments(table)
        leaps = (_Leap(first, _HEADS), _Leap("text", ("section_end", "")))
        yield _Reader(HeadCalls.read_section, section_roles(table), leaps)
    readers = {"json": _json_readers, "values": _value_readers, "text": _text_readers}
    yield from readers[table["arguments"]["form"]](table, after)
    yield from _foreign_readers(table, after)
    yield from _code_readers(table, after)


def _reads_other_syntax(table: Format) -> bool:
    return any(role == "foreign" for role, _ in markers_in_text(table))


def _foreign_readers(table: Format, after: str) -> Iterator[_Reader]:
    if _reads_other_syntax(table):
        leaps = tuple(map(_Leap, dict.fromkeys((after, "text"))))
        yield _Reader(ForeignCall.read_call, call_end_roles(table), leaps)


def _json_readers(table: Format, after: str) -> Iterator[_Reader]:
    tail = tail_roles(table)
    leaps = (*((_Leap("tail"),) if tail else ()), _Leap(after))
    if _first_of_arguments(table) == "start":
        starts = (_Leap("arguments"), _Leap("body"))
        yield _Reader(JsonArguments.read_start, (), starts)
        yield _Reader(JsonArguments.read_body, call_end_roles(table), (_Leap(after, ("end",)),))
    yield _Reader(JsonArguments.read_arguments, (), leaps)
    if tail:
        yield _Reader(JsonArguments.read_tail, tail, (_Leap(after, ("tail", "")),))


def _value_readers(table: Format, after: str) -> Iterator[_Reader]:
    over = ("done", "broken") if table["calls"].get("closing") else ("done", "")
    leaps = [_Leap("start", ("argument", "quoted")), _Leap(after, over)]
    leaps += [_Leap("unexpected", ("",))] if "" not in over else []
    ends = (_Leap("arguments", ("next", "close", "end")),)
    yield _Reader(ValueArguments.read_arguments, argument_value_roles(table), tuple(leaps))
    yield _Reader(ValueArguments.read_start, (), (_Leap("value"), _Leap("bare_text")))
    yield _Reader(ValueArguments.read_bare_text, text_end_roles(table), ends)
    if "" not in over:
        yield _Reader(ValueArguments.read_unexpected, text_end_roles(table), ends)
    yield _Reader(ValueArguments.read_value, (), (_Leap("arguments"),))


def _text_readers(table: Format, after: str) -> Iterator[_Reader]:
    nested = "elements" in table["arguments"]
    first = "opening" if nested else "guard"
    leaps = (_Leap(first, ("argument",)), _Leap(after, ("done", "broken")))
    yield _Reader(TextArguments.read_arguments, argument_roles(table), leaps)
    if nested:
        yield from _element_readers(table)
    else:
        yield _Reader(TextArguments.read_guard, guard_roles(table), (_Leap("value"),))
    ends = _Leap("arguments", ("close", "rest", "next"))
    yield _Reader(TextArguments.read_value, value_roles(table), (ends,))


def _element_readers(table: Format) -> Iterator[_Reader]:
    begins = _Leap("opening", ("member", "element"))
    ends = (_Leap("closing", ("outer", "member_end")), _Leap("arguments", ("rest", "next")))
    text = (begins, _Leap("elements", ("member_end", "element_end")), *ends)
    opening = (_Leap("value"), _Leap("element"))
    yield _Reader(Elements.read_opening, first_element_roles(table), opening)
    yield _Reader(Elements.read_element, element_roles(table), text)
    yield _Reader(Elements.read_elements, element_roles(table), (begins, *ends))
    yield _Reader(Elements.read_closing, (), (_Leap("arguments"),))


def _code_readers(table: Format, after: str) -> Iterator[_Reader]:
    if "code" not in table:
        return
    starts = code_start_roles(table)
    roles = {role for role, _ in starts}
    leaps = [_Leap("keywords", ("method",))] if "method" in roles else []
    leaps += [_Leap(_first_of_arguments(table), ("object",))] if "object" in roles else []
    yield _Reader(Code.read_code_start, starts, (*leaps, _Leap("code", ("",))))
    over = (_Leap(after, ("end",)),)
    yield _Reader(Code.read_code, code_end_roles(table), over)
    if "method" in roles:
        yield _Reader(Code.read_keywords, code_end_roles(table), over)


def _about(method: Callable[..., bool]) -> str:
    return " ".join((method.__doc__ or "").split()).replace("``", "")


def _transitions(reader: _Reader) -> Iterator[Transition]:
    """Yield a state's transitions, one for each next state."""
    leaving = {role for leap in reader.leaps for role in leap.roles}
    for leap in reader.leaps:
        yield Transition(reader.name, leap.target, _shown(reader, leap.roles), "" in leap.roles)
    staying = {role for role, _ in reader.markers} - leaving - _TEXT_ROLES
    if staying:
        yield Transition(reader.name, reader.name, _shown(reader, staying))


def _shown(reader: _Reader, roles: Iterable[str]) -> tuple[str, ...]:
    """Return the markers of some roles as they are written."""
    wanted = set(roles)
    found = dict.fromkeys(_written(marker) for role, marker in reader.markers if role in wanted)
    return tuple(filter(None, found))


def _written(marker: Notation) -> str:
    """Return a marker with its slots as words: ``<function= NAME >``."""
    text = marker if isinstance(marker, str) else marker[0]
    words = re.sub(r"\{(\w+)\}", lambda slot: _WORDS.get(slot[1], ""), text.split("{before ")[0])
    words = re.sub(r"\{[^{}]*\}", "", words.replace("{{", "\0").replace("}}", "\1"))
    return " ".join(words.replace("\0", "{").replace("\1", "}").split())


#: The slots that are named; others are only white space, separators and such.
_WORDS = {word: word.upper() for word in ("name", "key", "id", "index", "type", "word")}
