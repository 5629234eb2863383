"""Markers, looked for in a text that is still growing.

In a marker a blank is any white space or none, a line break is one or none, `{x}` is a
slot, and `{?x}` a text that may be missing. `{{` and `}}` are braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from turnspec.reading.facts import HAS_FOLLOWERS, HAS_OPTIONAL_TEXTS, SLOTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.reading.input import Input
    from turnspec.reading.roles import Notation, Role, Rule
    from turnspec.reading.special import SpecialTokens

WHITE_SPACE = " \t\n\r"  # all that counts as white space, as in JSON
NOTATION = re.compile(r"\{\{|\}\}|\{[^{}]+\}|[^{}]")
NO_TOKEN = "[^\ue000-\uf8ff"  # as slots hold no special token


def after_space(text: str, at: int) -> int:
    """Return the position after white space."""
    while at < len(text) and text[at] in WHITE_SPACE:
        at += 1
    return at


class Found:
    """A marker in the text. A partial one has no role: the text ends within it."""

    __slots__ = ("_match", "_rule", "end", "is_partial", "offset", "role", "start", "text")

    def __init__(
        self, input: Input, role: Role | None, match: re.Match[str], rule: CompiledRule
    ) -> None:
        self.role = role
        self.start, self.end = match.span()
        self.offset = input.offset + self.start
        self.is_partial = role is None
        self.text = input.text[self.start : self.end]
        self._match, self._rule = match, rule

    def slot(self, slot: str) -> str:
        """Return what stands in a slot; nothing if the marker has no such slot."""
        if slot not in self._match.re.groupindex:
            return ""
        start, end = self._match.span(slot)
        return self.text[start - self.start : end - self.start] if start >= 0 else ""

    @property
    def words(self) -> list[str]:
        """What stands in slots for any word."""
        slots = (slot for slot in self._match.re.groupindex if slot.startswith("word"))
        return [word for slot in slots if (word := self.slot(slot).strip(WHITE_SPACE))]

    @property
    def missing(self) -> list[str]:
        """The texts that the marker may have, and hasn't."""
        texts = self._rule.optional.items()
        return [text for slot, text in texts if self._match[slot] is None]


class CompiledRule:
    """A rule with the expressions for its marker, and for any beginning of it."""

    def __init__(self, rule: Rule, special: SpecialTokens | None) -> None:
        self.role = rule.role
        marker: Notation = (rule.marker, rule.if_before) if rule.if_before else rule.marker
        self._marker = special.put_into(marker) if special else marker
        self._special = special is not None
        text = self._marker if isinstance(self._marker, str) else self._marker[0]
        parts = NOTATION.findall(text.lstrip(WHITE_SPACE))
        #: The text that begins it, white space aside.
        self.first = "".join(part[0] for part in _leading(parts))
        if HAS_OPTIONAL_TEXTS:
            self.optional = {f"o{at}": text[2:-1] for at, text in _optional(rule.marker)}

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """An expression for the marker."""
        return self._compiled(expressions(self._marker, named=True)[0])

    @cached_property
    def growing(self) -> re.Pattern[str]:
        """An expression for what may become the marker."""
        return self._compiled(rf"{expressions(self._marker, named=False)[1]}\Z")

    def _compiled(self, expression: str) -> re.Pattern[str]:
        return re.compile(expression.replace("[^", NO_TOKEN) if self._special else expression)

    def firsts(self) -> Iterator[tuple[str, str]]:
        """Yield the characters that can begin the marker, each with the second, if it is sure."""
        return _firsts(self._marker)


def _leading(parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        if part in SLOTS or (HAS_OPTIONAL_TEXTS and part.startswith("{?")):
            return
        yield part


def _optional(text: str) -> Iterator[tuple[int, str]]:
    parts = enumerate(NOTATION.findall(text))
    return ((at, part) for at, part in parts if part.startswith("{?"))


def _firsts(marker: Notation) -> Iterator[tuple[str, str]]:
    text = marker if isinstance(marker, str) else marker[0]
    parts = NOTATION.findall(text)
    for at, part in enumerate(parts):
        if part == "\n":
            yield from (("\r", ""), ("\n", ""))
        elif HAS_OPTIONAL_TEXTS and part.startswith("{?"):
            yield part[2], part[3:4]
        elif part not in SLOTS:
            second = parts[at + 1] if at + 1 < len(parts) else "{"
            yield part[0], "" if second[0] == "{" or second in SLOTS else second
            return
    if HAS_FOLLOWERS:
        for other in () if isinstance(marker, str) else marker[1]:
            yield from _firsts(other)


def expressions(marker: Notation, *, named: bool) -> tuple[str, str]:
    """Return the expressions for a marker, and for any beginning of it that may go on."""
    text = marker if isinstance(marker, str) else marker[0]
    steps: list[tuple[str, str]] = []  # each with what may stand for its beginning
    last = ""
    for at, last in enumerate(NOTATION.findall(text)):
        if last in SLOTS:
            steps += ((_named(step, at, named), "") for step in SLOTS[last])
        elif HAS_OPTIONAL_TEXTS and last.startswith("{?"):
            name = f"?P<o{at}>" if named else "?:"
            steps.append((f"({name}{re.escape(last[2:-1])})?", f"|{_beginning(last[2:-1])}"))
        else:
            steps.append((re.escape(last[0]), ""))
    whole, beginning = "".join(step for step, _ in steps), ""
    if HAS_FOLLOWERS and not isinstance(marker, str):
        pairs = [expressions(other, named=False) for other in marker[1]]
        whole += f"(?={'|'.join(other for other, _ in pairs)})"
        steps.append(("|".join(begun for _, begun in pairs), ""))
    elif HAS_OPTIONAL_TEXTS and last.startswith(
        "{?"
    ):  # with its last character the marker is whole
        steps.pop()
        beginning = _beginning(last[2:-2])
    elif last not in SLOTS:
        steps.pop()
    for step, begun in reversed(steps):
        beginning = f"(?:(?:{step}){beginning}{begun})?"
    return whole, beginning


def _named(step: str, at: int, named: bool) -> str:
    """Return a slot's expression with a name of its own, or without one."""
    if not named:
        return re.sub(r"\?P<\w+>", "?:", step)
    return step.replace("?P<word>", f"?P<word{at}>")


def _beginning(text: str) -> str:
    """Return the expression for any beginning of a text."""
    beginning = ""
    for character in reversed(text):
        beginning = f"(?:{re.escape(character)}{beginning})?"
    return beginning


class Markers:
    """Markers that can come next; the first that fits counts."""

    def __init__(self, rules: Sequence[Rule], special: SpecialTokens | None) -> None:
        self._written = rules
        self._special = special

    @cached_property
    def _rules(self) -> list[CompiledRule]:
        return [CompiledRule(rule, self._special) for rule in self._written]

    @cached_property
    def _firsts(self) -> dict[str, set[str]]:
        """The characters that can begin a marker, each with those that can come second."""
        found: dict[str, set[str]] = {}
        for rule in self._rules:
            for first, second in rule.firsts():
                found.setdefault(first, set()).add(second)
        return found

    @cached_property
    def may_begin(self) -> re.Pattern[str]:
        """An expression for where a marker may begin."""
        heads = [_head(*pair) for pair in self._firsts.items() if pair[0] not in "\r\n"]
        expression = "|".join(heads) or "(?!)"
        if "\n" in self._firsts:
            breaks = max(map(_line_breaks, self._written))
            more = rf"[\r\n]{{0,{2 * breaks - 1}}}"
            expression = rf"[\r\n](?={more}(?:{expression}|\Z))|{expression}"
        return re.compile(expression)

    @cached_property
    def first_or_escaped(self) -> re.Pattern[str]:
        """An expression for a marker's first character, or one that JSON escapes."""
        return re.compile(rf'["\\\x00-\x1f{re.escape("".join(self._firsts))}]')

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
        for rule in self._rules:
            first = rule.first
            if not first.startswith(text[begin : begin + len(first)]):
                continue  # as most rules do not fit, and expressions take longer
            if partial and (match := rule.growing.match(text, start)):
                return Found(input, None, match, rule)
            if match := rule.whole.match(text, start):
                return Found(input, rule.role, match, rule)
        return None


def _head(first: str, seconds: set[str]) -> str:
    if "" in seconds:
        return re.escape(first)
    return rf"{re.escape(first)}(?=[{re.escape(''.join(sorted(seconds)))}]|\Z)"


def _line_breaks(rule: Rule) -> int:
    """Return with how many line breaks a marker begins."""
    return len(rule.marker) - len(rule.marker.lstrip("\n"))


def escaped(text: str) -> str:
    """Return a text in the notation of markers."""
    return text.replace("{", "{{").replace("}", "}}")


def literal_length(marker: str) -> int:
    """Return how many characters of a marker are always the same."""
    parts = NOTATION.findall(marker)
    return sum(part not in SLOTS and not part.startswith("{?") for part in parts)
