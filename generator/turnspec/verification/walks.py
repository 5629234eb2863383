"""Random walks over a grammar: texts that it allows, and the same texts with a fault in them."""

from __future__ import annotations

from collections.abc import Sequence as Several
from dataclasses import dataclass, field
from random import Random

from turnspec.verification.gbnf_reader import (
    Characters,
    Choice,
    Expression,
    Grammar,
    Reference,
    Repeat,
    Sequence,
    Text,
    cost_of,
)

#: The length from which on a text ends the soonest way that the grammar allows.
LONGEST = 400

_ORDINARY = "etaoinshrdlucmfwypvbgk    ETAOINS,.0123456789 \n"
# NUL is missing: llama.cpp ends a text there, whatever the grammar says.
_ODD = (
    "\"'<>{}[]()|\\/=:;&#*_-$%^~`?!\t\r\x01\x1b\x7f\x85\xa0"
    "äßéЖ中文한\u200b\u2028\u2029\ufeff😀👩\U0010ffff"
)
_ODD_SHARE = 0.12
_CURIOUS_SHARE = 0.4
_MOST_TRIES = 8
_SURROGATES = range(0xD800, 0xE000)


def random_turn(
    grammar: Grammar, random: Random, *, entry: str = "root", longest: int = LONGEST
) -> str:
    """Return a text that the rule ``entry`` allows; past ``longest`` characters it ends soon."""
    walk = _Walk(grammar, random, longest, curious=random.random() < _CURIOUS_SHARE)
    return walk.text_of(Reference(entry))


def mutated(text: str, random: Random, fragments: Several[str] = ()) -> str:
    """Return the text with one small fault; ``fragments`` are markers to cut pieces from.

    The fault may leave a text that the grammar allows: which one it is, the engines have to say.
    """
    place = random.randrange(len(text) + 1)
    before, char, after = text[:place], text[place : place + 1], text[place + 1 :]
    follower = after[:1]
    faults = (
        before + after,
        before + char + char + after,
        before + follower + char + after[1:],
        before + random.choice(_ORDINARY + _ODD) + after,
        before,
        before + _fragment(fragments or [text], random) + char + after,
    )
    return random.choice(faults)


def _fragment(markers: Several[str], random: Random) -> str:
    """Return a marker or its beginning, its end or a piece of it."""
    marker = random.choice(markers)
    if not marker or random.random() < 0.3:
        return marker
    ends = sorted((random.randrange(len(marker) + 1), random.randrange(len(marker) + 1)))
    return marker[ends[0] : ends[1]] or marker[0]


@dataclass(slots=True)
class _Walk:
    """One derivation. What is still to be written waits in a list, so no depth is too deep."""

    grammar: Grammar
    random: Random
    longest: int
    curious: bool  # prefers rules it has not seen yet, which leads far into half-written markers
    written: list[str] = field(default_factory=list)
    length: int = 0
    seen: set[str] = field(default_factory=set)

    def text_of(self, expression: Expression) -> str:
        waiting = [expression]
        while waiting:
            match waiting.pop():
                case Text(text):
                    self._write(text)
                case Characters() as characters:
                    self._write(self._character(characters))
                case Reference(name):
                    self.seen.add(name)
                    waiting.append(self.grammar.rules[name])
                case Sequence(parts):
                    waiting.extend(reversed(parts))
                case Choice(options):
                    waiting.append(self._option(options))
                case Repeat() as repeat:
                    waiting.extend([repeat.part] * self._count(repeat))
        return "".join(self.written)

    def _write(self, text: str) -> None:
        self.written.append(text)
        self.length += len(text)

    def _is_long(self) -> bool:
        return self.length >= self.longest

    def _option(self, options: tuple[Expression, ...]) -> Expression:
        if self._is_long():
            return min(options, key=self._cost)
        if self.curious:
            new = [option for option in options if self._is_new(option)]
            if new:
                return self.random.choice(new)
        return self.random.choice(options)

    def _cost(self, expression: Expression) -> int:
        cost = cost_of(expression, self.grammar.costs)
        assert cost is not None, "every rule of a grammar that was read has an end"
        return cost

    def _is_new(self, option: Expression) -> bool:
        parts = option.parts if isinstance(option, Sequence) else (option,)
        names = (part.name for part in parts if isinstance(part, Reference))
        return any(name not in self.seen for name in names)

    def _count(self, repeat: Repeat) -> int:
        if self._is_long():
            return repeat.least
        if repeat.most is not None and self.random.random() < 0.1:
            return repeat.most
        going_on = 0.85 if _is_text(repeat.part) else 0.5
        count = repeat.least
        while count != repeat.most and self.random.random() < going_on:
            count += 1
        return count

    def _character(self, characters: Characters) -> str:
        alphabet = _ODD if self.random.random() < _ODD_SHARE else _ORDINARY
        for _ in range(_MOST_TRIES):
            char = self.random.choice(alphabet)
            if char in characters:
                return char
        return self._any_character(characters)

    def _any_character(self, characters: Characters) -> str:
        ranges = [pair for pair in characters.allowed() if pair[1] > 0]
        low, high = self.random.choice(ranges or [(0, 0)])
        code = self.random.randint(max(low, 1) if high else low, high)
        return chr(low if code in _SURROGATES else code)


def _is_text(expression: Expression) -> bool:
    """Say whether this is one of many characters; white space and the like is kept short."""
    if not isinstance(expression, Characters):
        return False
    return expression.negated or len(expression.ranges) < sum(
        high - low for low, high in expression.ranges
    )
