"""Says which texts a grammar allows, without any engine.

The grammar's rules become a network of small steps. A place in it is a step and a stack of the
steps to return to; a text is followed along all places at once, and what one character leads to
from a set of places is found once and kept. No depth of a text is too deep, and work grows with
its length.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from turnspec.verification import gbnf_expressions as gbnf
from turnspec.verification.gbnf_reader import Grammar

_END = 0  # the step at which every rule ends
_BOTTOM = 0  # the stack of the entry rule


@dataclass(frozen=True, slots=True)
class _Step:
    """One step: a character to take, a rule to go through, or other steps to go on from."""

    takes: gbnf.Characters | str | None = None
    rule: str = ""
    then: tuple[int, ...] = ()


#: A step, and the stack of the steps to return to, both by number.
_Place = tuple[int, int]


@dataclass(slots=True)
class Recognizer:
    """One grammar from one entry on; it learns as it reads, so one is kept for many texts."""

    grammar: Grammar
    entry: str = "root"
    _steps: list[_Step] = field(default_factory=lambda: [_Step()])
    _rules: dict[str, int] = field(default_factory=dict)
    _stacks: list[_Place] = field(default_factory=lambda: [(_END, _BOTTOM)])
    _stack_numbers: dict[_Place, int] = field(default_factory=dict)
    _sets: list[tuple[frozenset[_Place], bool]] = field(default_factory=list)
    _set_numbers: dict[frozenset[_Place], int] = field(default_factory=dict)
    _moves: dict[tuple[int, str], int] = field(default_factory=dict)

    def accepts(self, text: str) -> bool:
        """Say whether ``text`` as a whole is a sentence of the grammar."""
        taken, whole = self._read(text)
        return whole and taken == len(text)

    def accepted_length(self, text: str) -> int:
        """Return how many characters of ``text`` the grammar lets a model write."""
        return self._read(text)[0]

    def _read(self, text: str) -> tuple[int, bool]:
        current = 0 if self._sets else self._settled([(self._rule(self.entry), _BOTTOM)])
        for number, char in enumerate(text):
            following = self._moves.get((current, char))
            if following is None:
                following = self._moves[current, char] = self._move(current, char)
            if not self._sets[following][0]:
                return number, False
            current = following
        return len(text), self._sets[current][1]

    def _move(self, current: int, char: str) -> int:
        places, _ = self._sets[current]
        following: list[_Place] = []
        for step, stack in places:
            takes = self._steps[step].takes
            if takes is not None and char in takes:  # a text to take is one character long
                following += [(after, stack) for after in self._steps[step].then]
        return self._settled(following)

    def _settled(self, places: Iterable[_Place]) -> int:
        """Return the number of the set of places that take a character next."""
        waiting, seen = list(places), set(places)
        taking: set[_Place] = set()
        may_end = False
        while waiting:
            step, stack = waiting.pop()
            found = self._steps[step]
            reached: list[_Place] = []
            if step == _END:
                may_end |= stack == _BOTTOM
                reached = [self._stacks[stack]] if stack != _BOTTOM else []
            elif found.takes is not None:
                taking.add((step, stack))
            elif found.rule:
                (after,) = found.then
                # What ends its rule by going through another one need not come back.
                inner = stack if after == _END else self._pushed(after, stack)
                reached = [(self._rule(found.rule), inner)]
            else:
                reached = [(after, stack) for after in found.then]
            new = [place for place in reached if place not in seen]
            seen.update(new)
            waiting += new
        # Whether a text may end here tells sets of the same places apart.
        key = frozenset(taking | ({(_END, _BOTTOM)} if may_end else set()))
        if key not in self._set_numbers:
            self._set_numbers[key] = len(self._sets)
            self._sets.append((key, may_end))
        return self._set_numbers[key]

    def _pushed(self, step: int, stack: int) -> int:
        number = self._stack_numbers.get((step, stack))
        if number is None:
            number = self._stack_numbers[step, stack] = len(self._stacks)
            self._stacks.append((step, stack))
        return number

    def _rule(self, name: str) -> int:
        if name not in self._rules:
            self._rules[name] = self._steps_of(self.grammar.rules[name], _END)
        return self._rules[name]

    def _add(self, step: _Step) -> int:
        self._steps.append(step)
        return len(self._steps) - 1

    def _steps_of(self, expression: gbnf.Expression, after: int) -> int:
        """Return the first step of an expression; its last one goes on to ``after``."""
        match expression:
            case gbnf.Text(text):
                for char in reversed(text):
                    after = self._add(_Step(takes=char, then=(after,)))
            case gbnf.Characters():
                after = self._add(_Step(takes=expression, then=(after,)))
            case gbnf.Reference(name):
                after = self._add(_Step(rule=name, then=(after,)))
            case gbnf.Sequence(parts):
                for part in reversed(parts):
                    after = self._steps_of(part, after)
            case gbnf.Choice(options):
                after = self._add(_Step(then=tuple(self._steps_of(o, after) for o in options)))
            case gbnf.Repeat():
                after = self._repeated(expression, after)
        return after

    def _repeated(self, repeat: gbnf.Repeat, after: int) -> int:
        first = after
        if repeat.most is None:
            first = self._add(_Step())
            inside = self._steps_of(repeat.part, first)
            self._steps[first] = _Step(then=(inside, after))
        else:
            for _ in range(repeat.most - repeat.least):
                first = self._add(_Step(then=(self._steps_of(repeat.part, first), after)))
        for _ in range(repeat.least):
            first = self._steps_of(repeat.part, first)
        return first
