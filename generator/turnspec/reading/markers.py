"""Markers, looked for in a text that is still growing.

In a marker a blank is any white space or none, a line break is one or none, `{x}` is a slot.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from turnspec.reading.facts import SLOTS, WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.reading.input import Input
    from turnspec.reading.roles import Role, Rule
    from turnspec.reading.special import SpecialTokens

WHITE_SPACE = " \t\n\r"  # all that counts as white space, as in JSON
NOTATION = re.compile(r"\{\{|\}\}|\{\w+\}|[ \n]|[^{} \n]+")
#: The steps of a marker: a text as it is, or an expression.
Steps = list["str | re.Pattern[str]"]


def after_space(text: str, at: int) -> int:
    """Return the position after white space."""
    while at < len(text) and text[at] in WHITE_SPACE:
        at += 1
    return at


class Found:
    """A marker in the text. A partial one has no role: the text ends within it."""

    __slots__ = ("end", "is_partial", "offset", "role", "start", "text", "words")

    def __init__(
        self, input: Input, role: Role | None, start: int, end: int, words: list[slice]
    ) -> None:
        self.role, self.start, self.end = role, start, end
        self.offset = input.offset + start
        self.is_partial = role is None
        self.text = input.text[start:end]
        if WORDS:
            self.words = [input.text[word].strip(WHITE_SPACE) for word in words]


class Markers:
    """Markers that can come next; the first that fits counts."""

    def __init__(self, rules: Sequence[Rule], special: SpecialTokens | None) -> None:
        self._written = rules
        self._special = special

    @cached_property
    def _rules(self) -> list[tuple[Role, str, Steps]]:
        """Each rule's role, the text that begins it, white space aside, and its steps."""
        return [(rule.role, *self._made(rule.marker)) for rule in self._written]

    def _made(self, marker: str) -> tuple[str, Steps]:
        if self._special:
            marker = self._special.put_into(marker)
        steps: Steps = []
        for part in NOTATION.findall(marker):
            if part in SLOTS:
                steps.append(compiled(SLOTS[part]))
            else:
                text = part[0] if part in ("{{", "}}") else part
                last = steps.pop() if steps and isinstance(steps[-1], str) else ""
                steps.append(f"{last}{text}")
        stripped = marker.lstrip(WHITE_SPACE)
        texts = [step for step in steps if isinstance(step, str)]
        return texts[0] if texts and stripped[:1] == texts[0][0] else "", steps

    @cached_property
    def _firsts(self) -> dict[str, set[str]]:
        """The first characters of markers, each with those that can come second."""
        found: dict[str, set[str]] = {}
        for _, _, steps in self._rules:
            text = next(step for step in steps if isinstance(step, str))
            found.setdefault(text[0], set()).add(text[1:2])
        return found

    @cached_property
    def may_begin(self) -> re.Pattern[str]:
        """An expression for where a marker may begin."""
        heads = "|".join(map(_head, self._firsts, self._firsts.values())) or "(?!)"
        breaks = max(map(_line_breaks, self._written), default=0)
        if breaks:
            more = rf"[\r\n]{{0,{2 * breaks - 1}}}"
            heads = rf"[\r\n](?={more}(?:{heads}|\Z))|{heads}"
        return re.compile(heads)

    def search(self, input: Input, partial: bool) -> Found | None:
        """Return the first marker; `partial` says whether the text may go on."""
        for place in self.may_begin.finditer(input.marked, input.position):
            if found := self.match(input, partial, place.start()):
                return found
        return None

    def match(self, input: Input, partial: bool, at: int | None = None) -> Found | None:
        """Return the marker at a place, by default at the position."""
        start = input.position if at is None else at
        text = input.marked
        begin = after_space(text, start)
        for role, first, steps in self._rules:
            if not first.startswith(text[begin : begin + len(first)]):
                continue  # as most rules do not fit, and `walk` takes longer
            end, words = walk(steps, text, start, partial)
            if end >= 0:
                return Found(input, role, start, end, words)
            if end == CUT_OFF:
                return Found(input, None, start, len(text), words)
        return None


#: What `walk` returns in place of an end: there is none, or the text ends before it.
NONE, CUT_OFF = -1, -2


def walk(steps: Steps, text: str, at: int, partial: bool) -> tuple[int, list[slice]]:
    """Return where a marker ends that begins at a place, and the words in its slots."""
    words: list[slice] = []
    is_slot, size = False, len(text)
    for step in steps:
        if partial and at == size:
            return CUT_OFF, words
        if isinstance(step, str):
            is_slot = False
            if not text.startswith(step, at):
                is_cut = partial and step.startswith(text[at : at + len(step)])
                return CUT_OFF if is_cut else NONE, words
            at += len(step)
        elif found := step.match(text, at):
            is_slot, at = True, found.end()
            if step.groups:
                words.append(slice(*found.span(1)))
        else:
            return NONE, words
    return CUT_OFF if partial and is_slot and at == size else at, words


def _head(first: str, seconds: set[str]) -> str:
    if "" in seconds:
        return re.escape(first)
    return rf"{re.escape(first)}(?=[{re.escape(''.join(sorted(seconds)))}]|\Z)"


def _line_breaks(rule: Rule) -> int:
    """Return with how many line breaks a marker begins."""
    return len(rule.marker) - len(rule.marker.lstrip("\n"))


@lru_cache(99)
def compiled(expression: str) -> re.Pattern[str]:
    """Return a slot's expression."""
    return re.compile(expression)


def escaped(text: str) -> str:
    """Return a text in the notation of markers."""
    return text.replace("{", "{{").replace("}", "}}")
