"""Free text that holds no marker, as rules: the automaton of its markers' beginnings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from turnspec.grammar.characters import ANY, Characters
from turnspec.grammar.rule_names import RuleNames, slug
from turnspec.grammar.text import (
    WHITE_SPACE,
    Rule,
    character_class,
    choice,
    group,
    literal,
    sequence,
)
from turnspec.spec.characters import NAME_SIGNS

#: In a marker, at its end: any sign with which a name may begin; and these, as a class has them.
A_NAME = "\ue0f0"
_NAME_RANGES = "a-zA-Z0-9¡-\U0010ffff"
_INNER_SPACE = re.compile(r"(?<=\S)[ \t\n\r]+(?=\S)")
_ENDING = re.compile(r"\W*/")
_LETTER = re.compile("[A-Za-z0-9]")


def shortest_markers(markers: Iterable[str]) -> tuple[str, ...]:
    """Return the markers without empty ones and those that contain another marker.

    A blank in one is any white space, or none.
    """
    given = dict.fromkeys(_INNER_SPACE.sub(" ", marker) for marker in markers if marker)
    spaced = {marker: re.compile(_expression(marker)) for marker in given}
    return tuple(m for m in given if not any(spaced[o].search(m) for o in given if o != m))


def _expression(marker: str) -> str:
    parts = " *".join(map(re.escape, marker.split(" ")))
    return parts.replace(A_NAME, f"[{_NAME_RANGES}{NAME_SIGNS.replace('/', '')}]")


def text_without(
    name: str, markers: Iterable[str], comment: str = "", *, leads: str = "", joined: str = ""
) -> tuple[Rule, ...]:
    """Return rules for free text (empty too) that holds none of ``markers``.

    A blank in a marker is any white space, or none, as it is to a parser.

    The construction is the automaton of Aho and Corasick with its states as rules: ``name-think-3``
    stands where the text so far ends with the first three characters of ``<think>``, and so on, one
    rule for each such beginning. From there the text goes on with the beginning, or starts another
    one, or leaves with some other character. Completing a marker is the one move that no rule has.
    The loop stands in the first rule, not in the states, because engines that keep a row of open
    rules would otherwise hold one for each character.

    Most of a text is a rule of its own, ``name-words``: llguidance takes such a rule for one token
    of its lexer, which spares it a step of its parser for each character, and its limit of steps.
    White space is only taken behind a word, as before one it may belong to something else. Nor may
    the states be tokens, as the lexer would read on into a marker; so the last of them refer back.
    Nor may such a token go on with a byte with which a marker begins, as the lexer never goes back:
    characters beyond ASCII that share it are taken one by one (``name-others``). So is the white
    space in ``leads``, which has to stand before some marker behind the text.

    Leaving with nothing ("") hands over to the loop, which begins again with a first character.
    Where that would forget a longer beginning (in markers whose first character comes back), there
    is no such way out. A text may still end with such a character, the half of a doubled sign; one
    that ends with exactly a longer such beginning is refused without need. None ends with a sign in
    ``joined``, nor with white space behind one: to a parser that belongs to what follows.
    """
    automaton = _Automaton.of(name, markers, leads, joined)
    words = automaton.words_rules()
    return (Rule(name, automaton.loop(), comment), *words, *automaton.states())


@dataclass(frozen=True, slots=True)
class _Automaton:
    name: str
    markers: tuple[str, ...]
    beginnings: Mapping[str, str]  # every proper beginning of a marker, each with its rule's name
    moves: Mapping[str, Mapping[str, str | None]]  # where characters lead from there; else to ""
    leads: str = ""  # white space that no run of words takes
    joined: str = ""  # signs that no text ends with

    @classmethod
    def of(cls, name: str, markers: Iterable[str], leads: str = "", joined: str = "") -> _Automaton:
        kept = shortest_markers(markers)
        beginnings: dict[str, str] = {}
        for marker, word in zip(kept, _words_for(kept), strict=True):
            for length in range(1, len(marker)):
                beginnings.setdefault(marker[:length], f"{name}-{word}-{length}")
        return cls(name, kept, beginnings, _moves(kept, beginnings), leads, joined)

    def first_characters(self) -> list[str]:
        return sorted({marker[0] for marker in self.markers})

    def step(self, beginning: str, char: str) -> str | None:
        """Return the beginning that the text ends with after ``char``; None: a whole marker."""
        return self.moves[beginning].get(char, "")

    def run(self) -> str:
        """Return text without any marker's first character."""
        first = self.first_characters()
        blanks = [char for char in WHITE_SPACE if char not in (*first, *self.leads)]
        words = f"{self.name}-words"
        if self.takes_some_apart():
            words = f"( {words} | {self.name}-others )"
        return sequence(f"{character_class(blanks)}*" if blanks else "", f"{words}?")

    def words_rules(self) -> tuple[Rule, ...]:
        """Return the same from its first character on that isn't white space."""
        # Engines disagree about a dot, so without markers one odd character is left out.
        first = self.first_characters() or ["\0"]
        if not self.takes_some_apart():
            begin = character_class([*first, *WHITE_SPACE], negated=True)
            body = f"{begin} {character_class(first, negated=True)}*"
            return (Rule(f"{self.name}-words", body),)
        ends = [*filter(str.isascii, first), *self.leads]
        alike = (_same_first_byte(char) for char in first if not char.isascii())
        blocks = reduce(Characters.__or__, alike, Characters(()))
        beyond, apart = _as_ranges(blocks), _as_ranges(blocks - Characters.from_text(first))
        begin = character_class([*ends, *WHITE_SPACE], negated=True, ranges=beyond)
        inside = character_class(ends, negated=True, ranges=beyond)
        other = character_class(self.leads, ranges=apart)
        plain, others = f"{self.name}-plain", f"{self.name}-others"
        return (
            Rule(f"{self.name}-words", f"{begin} {plain}? {others}?"),
            Rule(plain, f"{inside} {inside}*"),
            Rule(others, f"{other} {plain}? {others}?"),
        )

    def takes_some_apart(self) -> bool:
        """Say whether runs of words leave characters out that are taken one by one."""
        return bool(self.leads) or not all(map(str.isascii, self.first_characters()))

    def loop(self) -> str:
        starts = [char for char in self.first_characters() if char in self.beginnings]
        again = group((f"{literal(char)} {self.beginnings[char]}" for char in starts), "*")
        unfinished = (self.run_of(char) for char in starts if not self.may_begin_again(char))
        return sequence(self.run(), again, group(filter(None, unfinished)))

    def run_of(self, char: str) -> str:
        """Return the character any number of times, or at most once if a number is a marker.

        Not at all if another marker begins with it: behind the text these would be the first one.
        """
        if char in self.joined:
            return ""
        own = [marker for marker in self.markers if marker[0] == char]
        runs = sum({*marker} - {" "} == {char} for marker in own)
        return "" if 0 < runs < len(own) else literal(char) + ("?" if runs else "*")

    def may_begin_again(self, beginning: str) -> bool:
        """Say whether after ``beginning`` every first character leads where it always leads."""
        if self.is_joined(beginning):
            return False
        starts = self.first_characters()
        return all(self.step(beginning, char) == self.step("", char) for char in starts)

    def is_joined(self, beginning: str) -> bool:
        """Say whether no text ends with a beginning: a sign in `joined`, and white space."""
        return beginning.strip() in [*self.joined]

    def is_left_to_loop(self, beginning: str) -> bool:
        """Say whether first characters behind a beginning are left to the loop alone.

        Two ways to read them would double with each of a row. The last states have both, which
        keeps the rules recursive.
        """
        longer = (other for other in self.moves[beginning].values() if other)
        return self.may_begin_again(beginning) and any(len(o) > len(beginning) for o in longer)

    def states(self) -> list[Rule]:
        named = self.beginnings.items()
        return [Rule(name, choice(self._moves(beginning))) for beginning, name in named]

    def _moves(self, beginning: str) -> Iterator[str]:
        given = "".join(self.markers)
        characters = sorted({*given, *(WHITE_SPACE if " " in given else "")})
        targets = {char: self.step(beginning, char) for char in characters}
        if self.is_joined(beginning):
            targets |= {char: targets.get(char) or beginning for char in WHITE_SPACE}
        if self.may_begin_again(beginning):
            yield '""'
        looped = self.first_characters() if self.is_left_to_loop(beginning) else ()
        for char, target in targets.items():
            if target and char not in looped:
                yield f"{literal(char)} {self.beginnings[target]}"
        inside = {char for char, target in targets.items() if target != ""}
        ranges = _NAME_RANGES if A_NAME in inside else ""
        inside |= {*NAME_SIGNS} - {"/"} if ranges else set()
        others = character_class(inside - {A_NAME}, negated=True, ranges=ranges)
        yield f"{others} {self.run()}"


def _same_first_byte(char: str) -> Characters:
    """Return all characters beyond ASCII whose UTF-8 begins as this one's."""
    more = len(char.encode()) - 1
    low = ord(char) >> 6 * more << 6 * more
    least = (0x80, 0x800, 0x10000)[more - 1]  # shorter forms are no characters
    return Characters.of([(max(low, least), low + (1 << 6 * more) - 1)]) & ANY


def _as_ranges(characters: Characters) -> str:
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in characters.ranges)


def _words_for(markers: Iterable[str]) -> Iterator[str]:
    """Yield a name for each marker: its letters, and that it is an end if a slash says so."""
    names = RuleNames()
    for marker in markers:
        word = slug(marker) if _LETTER.search(marker) else "signs"
        yield names.free(f"{word}-end" if _ENDING.match(marker) else word)


def _moves(
    markers: Sequence[str], beginnings: Iterable[str]
) -> Mapping[str, Mapping[str, str | None]]:
    """Return where each character leads from each beginning; None where it completes a marker.

    Where a beginning doesn't go on, its longest end that begins a marker does: what that leads to
    is taken over, so the work grows with the markers' length alone.
    """
    onward: dict[str, dict[str, str | None]] = {"": {}}
    for marker in markers:
        for length, char in enumerate(marker):
            after = None if length + 1 == len(marker) else marker[: length + 1]
            onward.setdefault(marker[:length], {})[char] = after
            if length > 1 and marker[length - 1] == " ":
                onward[marker[: length - 1]].setdefault(char, after)
    moves: dict[str, dict[str, str | None]] = {"": onward[""]}
    ends = {"": ""}
    for beginning in sorted(beginnings, key=len):
        before = ends[beginning[:-1]]
        ends[beginning] = (moves[before].get(beginning[-1]) or "") if beginning[1:] else ""
        moves[beginning] = {**moves[ends[beginning]], **onward[beginning]}
        if beginning.endswith(" "):
            moves[beginning] |= dict.fromkeys(WHITE_SPACE, beginning)
        elif " " in moves[beginning]:
            moves[beginning] |= dict.fromkeys(WHITE_SPACE, moves[beginning][" "])
    return moves
