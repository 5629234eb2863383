"""Finding markers in a text that is still growing."""

from __future__ import annotations

import re
import sys
from functools import cached_property

from turnspec.engine.facts import (
    HAS_FOLLOWERS,
    HAS_OPTIONAL_TEXTS,
    HAS_SPECIAL_TOKENS,
    IS_TRACED,
    OBSERVER,
)
from turnspec.engine.roles import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from turnspec.engine.input import Input
    from turnspec.engine.roles import Parts, Role
    from turnspec.engine.special import SpecialTokens

    #: A part of a marker: a text, an expression, or one that may be missing, and how it is told.
    Step: TypeAlias = "str | re.Pattern[str] | list[str]"
    Rows: TypeAlias = "list[tuple[Role, Parts]]"  # what markers do, and the markers
    Slots: TypeAlias = "dict[str, list[str]]"  # what stands in slots, as expressions

END = sys.maxsize  # of any text
WHITE_SPACE = " \t\n\r"  # all that counts as white space, as in JSON
#: What a blank and a line break stand for. Bounded, as a part of a marker is held back.
BLANKS: Slots = {" ": ["[ \t\n\r]{0,99}"], "\n": [r"(?:\r?\n|\r\Z)?"]}
CUT_OFF: list[int] = []  # the places of a marker that the text ends in
NOTATION = re.compile(r"(?:\{\{|\}\}|\{[ \n]\}|[^{} \n])+|\{\??[^{}]+\}|[ \n]")


def after_space(text: str, at: int) -> int:
    """Return the position after white space."""
    space = re.compile("[ \t\n\r]*").match(text, at)
    return space.end() if space else at


class Found:
    """A marker in the text. A partial one has no role: the text ends within it."""

    def __init__(self, input: Input, role: Role | None, marker: Marker, at: list[int]) -> None:
        self.role = role
        self.start, self.end = at[0], at[-1]
        self.offset = input.offset + self.start
        self.is_partial = role is None
        self.text = input.text[self.start : self.end]
        steps = marker.steps if role else []
        self.parts = [(it, input.text[at[n] : at[n + 1]]) for n, it in enumerate(steps)]

    def slot(self, name: str) -> str:
        """Return what stands in a slot; nothing if the marker has no such slot."""
        for step, text in self.parts:
            if isinstance(step, re.Pattern) and name in step.groupindex:
                return text
        return ""


class Marker:
    """A marker in steps."""

    def __init__(self, pair: Parts, slots: Slots, tokens: SpecialTokens | None) -> None:
        self.steps: list[Step] = []
        self.firsts: list[str] = []  # what it can begin with, if only a line break
        is_open = True  # whether no text came before
        text = tokens.put_into(pair[0]) if HAS_SPECIAL_TOKENS and tokens else pair[0]
        for part in NOTATION.findall(text):
            first = "\n" if part == "\n" else ""
            if slot := slots.get(part):
                if HAS_SPECIAL_TOKENS and tokens:  # none holds a special token
                    slot = [step.replace("[^", "[^\ue000-\uf8ff") for step in slot]
                self.steps += (re.compile(step) for step in slot)
            elif HAS_OPTIONAL_TEXTS and part.startswith("{?"):
                first = part[2:-1]
                self.steps.append(
                    [first, tokens.plain(first) if HAS_SPECIAL_TOKENS and tokens else first]
                )
            else:
                first = part.replace("{ }", " ").replace("{\n}", "\n")
                first = first.replace("{{", "{").replace("}}", "}")
                self.steps.append(first)
            if is_open and first:
                self.firsts += [first, first.lstrip("\r\n") or first]
            is_open = is_open and not isinstance(self.steps[-1], str)
        if short := re.match(" ?([^{} \n])[ \n]([^{} \n])", text):
            self.firsts = [short[1] + second for second in WHITE_SPACE + short[2]]
        if HAS_FOLLOWERS:
            self.if_before = [Marker(other, slots, tokens) for other in pair[1]]
            for other in self.if_before if is_open else ():
                self.firsts += other.firsts


def walk(steps: list[Step], text: str, at: int, partial: bool) -> list[int] | None:
    """Return where a marker begins, and its steps end; None if it isn't there. More may come."""
    places, size, step = [at], len(text), None
    for step in steps:
        if partial and at == size:
            return CUT_OFF
        if isinstance(step, str):
            if not text.startswith(step, at):
                begun = text[at : at + len(step)]
                return CUT_OFF if partial and step.startswith(begun) else None
            at += len(step)
        elif isinstance(step, re.Pattern):
            if not (found := step.match(text, at)):
                return None
            at = found.end()
        elif HAS_OPTIONAL_TEXTS:
            if text.startswith(step[0], at):
                rest = walk(steps[len(places) :], text, at + len(step[0]), partial)
                if rest is not None:
                    return [*places, *rest] if rest else CUT_OFF
            elif partial and step[0].startswith(text[at : at + len(step[0])]):
                return CUT_OFF
        places.append(at)
    may_go_on = partial and at == size and isinstance(step, re.Pattern)
    return CUT_OFF if may_go_on else places


def fit(marker: Marker, text: str, at: int, partial: bool) -> list[int] | None:
    """Return the places of a marker, if what has to follow it does."""
    places = walk(marker.steps, text, at, partial)
    if not HAS_FOLLOWERS or not places or not marker.if_before:
        return places
    follows = fit_any(marker.if_before, text, places[-1], partial)
    slot = marker.steps[-1] if marker.steps else ""
    start, end = places[-2:][0], places[-1]
    while follows is None and isinstance(slot, re.Pattern) and end > start:
        end -= 1  # as a slot may hold what has to follow it
        if slot.fullmatch(text, start, end):
            follows = fit_any(marker.if_before, text, end, partial)
    return [*places[:-1], end] if follows else follows


def fit_any(given: list[Marker], text: str, at: int, partial: bool) -> list[int] | None:
    """Return the places of the first of some markers that fits; CUT_OFF if one may."""
    found = [fit(marker, text, at, partial) for marker in given]
    fitting = [places for places in found if places]
    first = fitting[0] if fitting else None
    return CUT_OFF if any(places is CUT_OFF for places in found) else first


class Markers:
    """Markers that can come next; the first that fits counts."""

    def __init__(self, rows: Rows, slots: Slots, special: SpecialTokens | None) -> None:
        self._rows, self._slots, self._special = rows, slots, special

    @cached_property
    def _rules(self) -> list[tuple[Role, Marker]]:
        return [(role, Marker(x, self._slots, self._special)) for role, x in self._rows]

    @cached_property
    def _firsts(self) -> dict[str, str]:
        """The characters that can begin a marker, each with those that can come second."""
        found: dict[str, str] = {}
        for _, marker in self._rules:
            for it in marker.firsts:
                found[it[0]] = found.get(it[0], "") + (re.escape(it[1:2]) or r"\s\S")
        return found

    @cached_property
    def may_begin(self) -> re.Pattern[str]:
        """An expression for where a marker may begin."""
        firsts = self._firsts.items()
        heads = [rf"{re.escape(it)}(?=[{two}]|\Z)" for it, two in firsts if it != "\n"]
        expression = "|".join(heads) or "(?!)"
        if "\n" in self._firsts:
            more = rf"(?=[\r\n]{{0,9}}(?:{expression}|\Z))"
            enough = any(re.match(r"\n *\{\w|(\{\n\})+\Z", x[0]) for _, x in self._rows)
            expression = rf"[\r\n]{'' if enough else more}|{expression}"
        return re.compile(expression)

    @cached_property
    def first_or_escaped(self) -> re.Pattern[str]:
        """An expression for a marker's first character, or one that JSON escapes."""
        return re.compile(rf'["\\\x00-\x1f{re.escape("".join(self._firsts))}]')

    def search(
        self, input: Input, partial: bool, start: int | None = None, end: int = END
    ) -> Found | None:
        """Return the first marker, before `end`; `partial` says whether the text may go on."""
        start = input.position if start is None else start
        while place := self.may_begin.search(input.marked, start, end):
            if found := self.match(input, partial, place.start()):
                return found
            start = place.end()
        return None

    def match(self, input: Input, partial: bool, at: int | None = None) -> Found | None:
        """Return the marker at a place, by default at the position."""
        start = input.position if at is None else at
        for role, marker in self._rules:
            places = fit(marker, input.marked, start, partial)
            if places:
                if IS_TRACED:
                    table = next(name for name, it in vars(input.rules).items() if it is self)
                    found = self._rows[[made for _, made in self._rules].index(marker)]
                    rule = Rule(found[0], *found[1])
                    begun, end = input.offset + places[0], input.offset + places[-1]
                    OBSERVER(table, rule, begun, end, input.here)
                return Found(input, role, marker, places)
            if places is CUT_OFF:
                return Found(input, None, marker, [start, len(input.text)])
        return None


def escaped(text: str) -> str:
    """Return a text in the notation of markers."""
    return text.replace("{", "{{").replace("}", "}}")
