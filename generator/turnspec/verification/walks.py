"""Random walks over a grammar: texts that it allows, and which of its rules wrote what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random

from turnspec.verification import gbnf_expressions as gbnf
from turnspec.verification.gbnf_reader import Grammar, cost_of

#: The length from which on a text ends the soonest way that the grammar allows.
LONGEST = 400

ORDINARY_CHARACTERS = "etaoinshrdlucmfwypvbgk    ETAOINS,.0123456789 \n"
# NUL is missing: llama.cpp ends a text there, whatever the grammar says.
ODD_CHARACTERS = (
    "\"'<>{}[]()|\\/=:;&#*_-$%^~`?!\t\r\x01\x1b\x7f\x85\xa0"
    "äßéЖ中文한\u200b\u2028\u2029\ufeff😀👩\U0010ffff"
)
_ODD_SHARE = 0.12
_CURIOUS_SHARE = 0.4
#: How often the usual characters would be tried before any other of a class is taken.
_USUAL_TRIES = 8
#: How often a walk takes what earlier ones took least, where it knows of them.
_FAIR_SHARE = 0.7
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True, slots=True)
class Span:
    """What a rule wrote, or a literal (then ``rule`` is ""), and which span is around it."""

    rule: str
    start: int
    end: int
    around: int  # the number of a span; the outermost has its own


@dataclass(frozen=True, slots=True)
class Walk:
    """A text that a grammar allows, and which of its rules wrote what, in the order of the text."""

    text: str
    spans: tuple[Span, ...]

    def of(self, span: Span) -> str:
        """Return the text of a span."""
        return self.text[span.start : span.end]

    def inside(self, number: int) -> list[int]:
        """Return the numbers of the spans within one, however deep."""
        found = {number}
        for other in range(number + 1, len(self.spans)):
            if self.spans[other].around not in found:
                break
            found.add(other)
        return sorted(found - {number})


def random_walk(
    grammar: Grammar,
    random: Random,
    *,
    entry: str = "root",
    longest: int = LONGEST,
    again: Mapping[str, str] | None = None,
    taken: Taken | None = None,
) -> Walk:
    """Return a random text of the rule ``entry``, and how it came about.

    ``again`` are rules that write the same each time within a span of another rule, as a name that
    is said twice: no grammar can say so. ``taken`` is what earlier walks over the grammar took: it
    makes this one take what they took least, and is added to.
    """
    curious = random.random() < _CURIOUS_SHARE
    return _Walk(grammar, random, longest, curious, again or {}, taken).walk(gbnf.Reference(entry))


#: How often walks took each option of a choice, and each way to go on with a repeat.
Taken = Counter[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Close:
    """A mark behind what a rule writes."""

    number: int


@dataclass(slots=True)
class _Walk:
    """One derivation. What is still to be written waits in a list, so no depth is too deep."""

    grammar: Grammar
    random: Random
    longest: int
    curious: bool  # prefers rules it has not seen yet, which leads far into half-written markers
    again: Mapping[str, str]
    taken: Taken | None
    written: list[str] = field(default_factory=list)
    length: int = 0
    seen: set[str] = field(default_factory=set)
    spans: list[Span] = field(default_factory=list)
    open: list[int] = field(default_factory=list)  # the spans that are not closed yet

    def walk(self, expression: gbnf.Expression) -> Walk:
        waiting: list[gbnf.Expression | _Close] = [expression]
        while waiting:
            match waiting.pop():
                case _Close(number):
                    self.open.pop()
                    begun = self.spans[number]
                    self.spans[number] = Span(begun.rule, begun.start, self.length, begun.around)
                case gbnf.Text(text):
                    self._begin("", self.length + len(text))
                    self._write(text)
                case gbnf.Characters() as characters:
                    self._write(self._character(characters))
                case gbnf.Reference(name):
                    self.seen.add(name)
                    waiting += self._referred(name)
                case gbnf.Sequence(parts):
                    waiting.extend(reversed(parts))
                case gbnf.Choice() as choice:
                    waiting.append(self._option(choice))
                case gbnf.Repeat() as repeat:
                    waiting.extend([repeat.part] * self._count(repeat))
        return Walk("".join(self.written), tuple(self.spans))

    def _begin(self, rule: str, end: int = 0) -> int:
        """Begin a span and return its number."""
        number = len(self.spans)
        around = self.open[-1] if self.open else number
        self.spans.append(Span(rule, self.length, end, around))
        return number

    def _referred(self, name: str) -> list[gbnf.Expression | _Close]:
        """Return what a rule writes: its body or, within a certain span, the same once more."""
        said = self._said(name) if name in self.again else None
        number = self._begin(name)
        self.open.append(number)
        return [_Close(number), self.grammar.rules[name] if said is None else gbnf.Text(said)]

    def _said(self, name: str) -> str | None:
        """Return what a rule wrote before within the span in which it writes the same."""
        scopes = (n for n in reversed(self.open) if self.spans[n].rule == self.again[name])
        scope = next(scopes, None)
        if scope is None:
            return None
        text = "".join(self.written)
        for number, span in enumerate(self.spans[scope + 1 :], start=scope + 1):
            if span.rule == name and number not in self.open:
                return text[span.start : span.end]
        return None

    def _write(self, text: str) -> None:
        self.written.append(text)
        self.length += len(text)

    def _option(self, choice: gbnf.Choice) -> gbnf.Expression:
        options = choice.options
        if self.length >= self.longest:
            return min(options, key=self._cost)
        if self.taken is not None and self.random.random() < _FAIR_SHARE:
            return options[self._least_taken(choice, range(len(options)))]
        if self.curious:
            new = [option for option in options if self._is_new(option)]
            if new:
                return self.random.choice(new)
        return self.random.choice(options)

    def _least_taken(self, expression: gbnf.Expression, ways: Sequence[int]) -> int:
        """Return the way that was taken least here so far, any of those if there are several."""
        assert self.taken is not None
        counts = {way: self.taken[id(expression), way] for way in ways}
        fewest = min(counts.values())
        way = self.random.choice([way for way in ways if counts[way] == fewest])
        self.taken[id(expression), way] += 1
        return way

    def _cost(self, expression: gbnf.Expression) -> int:
        cost = cost_of(expression, self.grammar.costs)
        assert cost is not None, "every rule of a grammar that was read has an end"
        return cost

    def _is_new(self, option: gbnf.Expression) -> bool:
        parts = option.parts if isinstance(option, gbnf.Sequence) else (option,)
        names = (part.name for part in parts if isinstance(part, gbnf.Reference))
        return any(name not in self.seen for name in names)

    def _count(self, repeat: gbnf.Repeat) -> int:
        if self.length >= self.longest:
            return repeat.least
        if repeat.most == 1 and self.taken is not None and self.random.random() < _FAIR_SHARE:
            return self._least_taken(repeat, range(repeat.least, 2))
        if repeat.most is not None and self.random.random() < 0.1:
            return repeat.most
        going_on = 0.85 if _is_text(repeat.part) else 0.5
        count = repeat.least
        while count != repeat.most and self.random.random() < going_on:
            count += 1
        return count

    def _character(self, characters: gbnf.Characters) -> str:
        alphabet = ODD_CHARACTERS if self.random.random() < _ODD_SHARE else ORDINARY_CHARACTERS
        allowed = _allowed_of(alphabet, characters)
        # The fewer of the alphabet a class has, the more often any of its own is taken.
        if self.random.random() < (1 - len(allowed) / len(alphabet)) ** _USUAL_TRIES:
            return self._any_character(characters)
        return self.random.choice(allowed)

    def _any_character(self, characters: gbnf.Characters) -> str:
        ranges = [pair for pair in characters.allowed() if pair[1] > 0]
        low, high = self.random.choice(ranges or [(0, 0)])
        code = self.random.randint(max(low, 1) if high else low, high)
        return chr(low if code in _SURROGATES else code)


@cache
def _allowed_of(alphabet: str, characters: gbnf.Characters) -> str:
    return "".join(char for char in alphabet if char in characters)


def _is_text(expression: gbnf.Expression) -> bool:
    """Say whether this is one of many characters; white space and the like is kept short."""
    if not isinstance(expression, gbnf.Characters):
        return False
    size = sum(high - low for low, high in expression.ranges)
    return expression.negated or len(expression.ranges) < size
