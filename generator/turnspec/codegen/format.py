"""The format table: all that is particular to one format, as plain data.

Facts are derived from it; nothing else of a parser is made from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypedDict


class ReasoningFormat(TypedDict, total=False):
    """How reasoning is marked."""

    start: Sequence[str]
    end: Sequence[str]
    starts_open: bool  # a turn begins in reasoning, without a marker
    may_stay_open: bool  # only content is preceded by what closes it
    may_end_turn: bool  # nothing has to close it where the turn ends


class ContentFormat(TypedDict, total=False):
    """How content is marked, if it is."""

    lead: Sequence[str]  # words that stand before all content, and are text anywhere else
    addressed: bool  # a message's header says who it is for: one for the user calls nothing
    start: Sequence[str]
    end: Sequence[str]


class CallsFormat(TypedDict, total=False):
    """What stands around calls, and how a call is told from text."""

    form: Literal["objects", "heads"]  # a JSON object; or a head, with arguments behind it
    opening: Sequence[str]  # what opens calls, one inside of the other
    start: str  # a call's head
    other_starts: Sequence[str]  # heads of other ways to write a call
    short_starts: Sequence[str]  # heads that lack markers, where what follows leaves no doubt
    other_openings: Sequence[str]
    closing: Sequence[str]  # what closes one call, in its order
    end: Sequence[str]  # closes a call wherever it stands
    section_end: Sequence[str]  # closes what was opened around calls, wherever it stands
    section_closing: Sequence[str]  # closes it where it is expected
    mentions: Sequence[str]  # an opening marker that, where no call follows, is text
    needs_opening: bool  # without it a call lacks a marker
    named_by_id: bool  # an id stands in the name's place, and a tool's name in that
    only_in_section: bool  # a head is none outside
    tail: str  # what stands behind a call's arguments, with slots
    # Of objects:
    bare: bool  # nothing but the object itself marks a call
    in_array: bool  # the objects stand in an array
    braced_end: bool  # what ends a turn begins as an object does
    bracketed_end: bool  # it begins as an array ends
    separators: Sequence[str]  # what stands between two, where it is more than a comma
    members: Mapping[str, str]  # the keys of name, arguments and id; none: the one key is the name
    other_members: Sequence[str]  # keys that mean nothing here
    other_values: Sequence[str]  # what these hold, as JSON, digits aside; "function" does anyway


class ElementsFormat(TypedDict, total=False):
    """How arrays and objects are written as elements."""

    member_start: str
    member_end: str
    element_start: str  # of an array; none: it looks like a member
    element_end: str
    element_key: str  # then, with this key
    separator: str
    lead: str  # an argument begins as a member does, but for this before it
    distinct: bool  # an opening tag can't be text, whatever type a value has


class ValuesFormat(TypedDict, total=False):
    """How structured values differ from JSON."""

    escapes: Literal["json", "python"]
    raw_quote: str  # around strings without escapes
    raw_inside: bool  # such strings also stand inside of arrays and objects


class ArgumentsFormat(TypedDict, total=False):
    """How arguments are written."""

    form: Literal["json", "values", "text"]  # one JSON object; values that end by themselves; text
    start: str  # before an argument's value
    end: str  # behind it
    separator: str
    empty: str  # stands where there are none
    types: Mapping[str, Sequence[str]]  # JSON types by the words for them
    literals: Literal["json", "python"]  # how text gives other values than strings
    guard: Sequence[str]  # what may surround a string
    key_escapes: Mapping[str, str]  # characters by what stands for them in a key
    value_escapes: Mapping[str, str]  # the same in a value
    values: ValuesFormat
    elements: ElementsFormat


class CodeFormat(TypedDict, total=False):
    """A call that is code, up to the turn's end."""

    start: str
    tool: str
    argument: str
    method: str  # NAME.method(…) is a call of NAME


class Format(TypedDict, total=False):
    """A format. Its markers are written in the notation that `Markers` reads."""

    name: str
    header: str  # an assistant's turn begins with it
    prompt: str  # what the prompt holds of the turn
    prompt_with_thinking: str
    prompt_without_thinking: str
    order: Sequence[str]  # of reasoning, content and calls
    turn_start: Sequence[str]
    turn_end: Sequence[str]
    between: Sequence[str]  # stands between parts
    unwritten: Sequence[str]  # markers that the template never writes: text within other text
    openings: Sequence[str]  # beginnings of markers that are no content at the text's end
    reasoning: ReasoningFormat
    content: ContentFormat
    calls: CallsFormat
    arguments: ArgumentsFormat
    code: CodeFormat


def words_in(table: Format) -> frozenset[str]:
    """Return the words in a table's markers, if it has such that may hold any word."""
    own = (table.get("reasoning"), table.get("content"), table.get("calls"))
    texts = "\n".join(texts_in(own))
    outside_slots = re.sub(r"\{(?!\?)[^{}]*\}", " ", texts)
    return frozenset(re.findall(r"[\w-]+", outside_slots)) if "{word" in texts else frozenset()


def texts_in(value: object) -> Iterator[str]:
    """Yield all texts in a table, or in a part of one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from texts_in(item)
