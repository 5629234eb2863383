"""The words of a GBNF grammar: literals, classes, groups, rules, and text that holds no marker.

Everything stays in the subset that llama.cpp, xgrammar and llguidance read alike. All text from a
template passes through `literal` or `character_class`, so no template can write grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import hexdigits
from unicodedata import ucd_3_2_0

from turnspec.grammar.rule_names import RuleNames, slug
from turnspec.spec.characters import NAME_SIGNS

#: The rules for white space that is free to differ from the template's own: inside encoded values,
#: and around markers. Only the first is bounded. The second calls itself so that llguidance reads
#: it character by character; as one longest run it would take white space away from free text.
SPACE = "space"
GAP = "gap"

#: What those rules stand for; any other white space of a template is a character like the others.
WHITE_SPACE = " \t\n\r"

_LINE_BREAK = re.compile(r"[ \t\r]*\n[ \t\n\r]*")
_INNER_SPACE = re.compile(r"(?<=\S)[ \t\n\r]+(?=\S)")
_REFERENCE = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|([a-z][a-z0-9-]*)')
_REMEMBERED = 256  # markers of formats
_FREE = (SPACE, GAP)
_ENDING = re.compile(r"\W*/")
_LETTER = re.compile("[A-Za-z0-9]")
# How characters are written that have escapes of their own.
_IN_BOTH = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\"}
_IN_LITERAL = {**_IN_BOTH, '"': r"\""}
_IN_CLASS = {**_IN_BOTH, "[": r"\[", "]": r"\]", "^": r"\x5E"}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; ``comment`` stands on a line of its own before it."""

    name: str
    body: str
    comment: str = ""

    def references(self) -> frozenset[str]:
        """Return the names of the rules that the body refers to."""
        return frozenset(name for name in _REFERENCE.findall(self.body) if name)

    def __str__(self) -> str:
        """Return the rule's line, after its comment's line if it has one."""
        comment = f"\n# {self.comment}\n" if self.comment else ""
        return f"{comment}{self.name} ::= {self.body}\n"


def trimmed(text: str) -> str:
    """Return ``text`` without the white space at its ends."""
    return text.strip(WHITE_SPACE)


def literal(text: str) -> str:
    """Return ``text`` as one quoted literal."""
    return f'"{escaped(text)}"'


def spelled(text: str) -> str:
    """Return ``text`` as one literal per character, for a marker where free text could also stand.

    An engine that cuts the text into the longest literals first must not take the beginning of a
    marker for the whole of it; character by character, marker and text stay apart to the end.
    """
    return " ".join(map(literal, text))


def character_class(characters: Iterable[str], *, negated: bool = False, ranges: str = "") -> str:
    """Return a class of single characters, after the already written ``ranges``; the dash last."""
    members = sorted(set(characters), key=lambda char: (char == "-", char))
    before = escaped(ranges, {})
    singles = escaped("".join(members), _IN_CLASS, before)
    return f"[{'^' if negated else ''}{before}{singles}]"


def sequence(*parts: str) -> str:
    """Return the parts one after another, without empty ones and with free white space once."""
    written = ""
    for part in parts:
        if part in ("", '""'):
            continue
        if part.startswith(_FREE) and written.endswith(_FREE):
            first, _, rest = part.partition(" ")
            if first in _FREE and written.rpartition(" ")[2] in _FREE:
                part = rest
        written = f"{written} {part}" if written and part else written or part
    return written.strip(" ") or '""'


def choice(options: Iterable[str]) -> str:
    """Return the options as alternatives, each once."""
    return " | ".join(dict.fromkeys(options))


def group(options: Iterable[str], repeat: str = "") -> str:
    """Return the options in brackets, with ``repeat`` (``?``, ``*``, ``+``) behind; or nothing."""
    written = choice(options)
    if not written or not (repeat or "|" in written):
        return written
    return f"( {written} ){repeat}"


@lru_cache(maxsize=_REMEMBERED)
def lenient(text: str) -> str:
    """Return ``text`` with free white space at its ends and wherever it breaks a line."""
    core = trimmed(text)
    if not core:
        return GAP if text else ""
    stretches = [literal(stretch) for stretch in _LINE_BREAK.split(core)]
    before = GAP if text[0] in WHITE_SPACE else ""
    after = GAP if text[-1] in WHITE_SPACE else ""
    return sequence(before, f" {GAP} ".join(stretches), after)


def apart(text: str) -> str:
    """Return ``text`` behind a word: white space is needed where the word could go on."""
    if not needs_space(text):
        return lenient(text)
    return sequence(literal(text[0]), GAP, lenient(text.lstrip(WHITE_SPACE)))


def behind_value(text: str) -> str:
    """Return ``text`` behind a value: white space is needed where a bare one could go on."""
    core = trimmed(text)
    if not core or text[0] not in WHITE_SPACE or not bare_goes_on(core):
        return lenient(text)
    return sequence(literal(text[0]), GAP, lenient(text.lstrip(WHITE_SPACE)))


def bare_goes_on(text: str) -> bool:
    """Tell whether a value without quotes could go on with the beginning of ``text``."""
    return text[:1] not in tuple("{}[](),:;\"'`<>|")


def needs_space(text: str) -> bool:
    """Tell whether a word would go on in ``text`` without the white space before that."""
    core = trimmed(text)
    return text[:1] in tuple(WHITE_SPACE) and (goes_on(core) or not core)


def goes_on(text: str) -> bool:
    """Tell whether a name could go on with the beginning of ``text``."""
    return text[:1].isalnum() or text[:1] in tuple(NAME_SIGNS)


@lru_cache(maxsize=_REMEMBERED)
def closing(text: str) -> str:
    """Return what ends free text: spelled out, and without the white space the text takes."""
    core = trimmed(text)
    if not core:
        return spelled(text)
    return sequence(spelled(core), GAP if text[-1] in WHITE_SPACE else "")


def space_rules() -> tuple[Rule, ...]:
    """Return the rules that `SPACE` and `GAP` refer to."""
    comment = "white space that may differ from the template's"
    return (Rule(GAP, r'"" | [ \t\n\r] gap', comment), Rule(SPACE, r"[ \t\n\r]{0,64}"))


def reachable(rules: Iterable[Rule], entries: Iterable[str]) -> tuple[Rule, ...]:
    """Return the rules that the entry rules lead to, in their order.

    Names for which no rule is given are passed over.
    """
    by_name = {rule.name: rule for rule in rules}
    found: set[str] = set()
    waiting = list(entries)
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in found:
            found.add(name)
            waiting.extend(by_name[name].references())
    return tuple(rule for rule in by_name.values() if rule.name in found)


def shortest_markers(markers: Iterable[str]) -> tuple[str, ...]:
    """Return the markers without empty ones and those that contain another marker.

    A blank in one is any white space, or none.
    """
    given = dict.fromkeys(_INNER_SPACE.sub(" ", marker) for marker in markers if marker)
    spaced = {marker: re.compile(" *".join(map(re.escape, marker.split(" ")))) for marker in given}
    return tuple(m for m in given if not any(spaced[o].search(m) for o in given if o != m))


def text_without(
    name: str, markers: Iterable[str], comment: str = "", *, leads: str = ""
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
    that ends with exactly a longer such beginning is refused without need.
    """
    automaton = _Automaton.of(name, markers, leads)
    words = automaton.words_rules()
    return (Rule(name, automaton.loop(), comment), *words, *automaton.states())


@dataclass(frozen=True, slots=True)
class _Automaton:
    name: str
    markers: tuple[str, ...]
    beginnings: Mapping[str, str]  # every proper beginning of a marker, each with its rule's name
    moves: Mapping[str, Mapping[str, str | None]]  # where characters lead from there; else to ""
    leads: str = ""  # white space that no run of words takes

    @classmethod
    def of(cls, name: str, markers: Iterable[str], leads: str = "") -> _Automaton:
        kept = shortest_markers(markers)
        beginnings: dict[str, str] = {}
        for marker, word in zip(kept, _words_for(kept), strict=True):
            for length in range(1, len(marker)):
                beginnings.setdefault(marker[:length], f"{name}-{word}-{length}")
        return cls(name, kept, beginnings, _moves(kept, beginnings), leads)

    def first_characters(self) -> list[str]:
        return sorted({marker[0] for marker in self.markers})

    def step(self, beginning: str, char: str) -> str | None:
        """Return the beginning that the text ends with after ``char``; None: a whole marker."""
        return self.moves[beginning].get(char, "")

    def run(self) -> str:
        """Return text without any marker's first character."""
        first = self.first_characters()
        blanks = [char for char in WHITE_SPACE if char not in (*first, *self.leads)]
        words = self.words_name
        if self.takes_some_apart():
            words = f"( {words} | {self.others_name} )"
        return sequence(f"{character_class(blanks)}*" if blanks else "", f"{words}?")

    def words_rules(self) -> tuple[Rule, ...]:
        """Return the same from its first character on that isn't white space."""
        # Engines disagree about a dot, so without markers one odd character is left out.
        first = self.first_characters() or ["\0"]
        blocks = sorted({_same_first_byte(char) for char in first if not char.isascii()})
        if not self.takes_some_apart():
            begin = character_class([*first, *WHITE_SPACE], negated=True)
            body = f"{begin} {character_class(first, negated=True)}*"
            return (Rule(self.words_name, body),)
        ends = [*filter(str.isascii, first), *self.leads]
        beyond, apart = _as_ranges(blocks), _as_ranges(_without(blocks, first))
        begin = character_class([*ends, *WHITE_SPACE], negated=True, ranges=beyond)
        inside = character_class(ends, negated=True, ranges=beyond)
        other = character_class(self.leads, ranges=apart)
        plain, more = f"{self.name}-plain", f"{self.others_name}?"
        return (
            Rule(self.words_name, f"{begin} {plain}? {more}"),
            Rule(plain, f"{inside} {inside}*"),
            Rule(self.others_name, f"{other} {plain}? {more}"),
        )

    def takes_some_apart(self) -> bool:
        """Say whether runs of words leave characters out that are taken one by one."""
        return bool(self.leads) or not all(map(str.isascii, self.first_characters()))

    @property
    def others_name(self) -> str:
        return f"{self.name}-others"

    @property
    def words_name(self) -> str:
        return f"{self.name}-words"

    def loop(self) -> str:
        starts = [char for char in self.first_characters() if char in self.beginnings]
        again = group((f"{literal(char)} {self.beginnings[char]}" for char in starts), "*")
        unfinished = (self.run_of(char) for char in starts if not self.may_begin_again(char))
        return sequence(self.run(), again, group(filter(None, unfinished)))

    def run_of(self, char: str) -> str:
        """Return the character any number of times, or at most once if a number is a marker.

        Not at all if another marker begins with it: behind the text these would be the first one.
        """
        own = [marker for marker in self.markers if marker[0] == char]
        runs = sum({*marker} - {" "} == {char} for marker in own)
        return "" if 0 < runs < len(own) else literal(char) + ("?" if runs else "*")

    def may_begin_again(self, beginning: str) -> bool:
        """Say whether after ``beginning`` every first character leads where it always leads."""
        starts = self.first_characters()
        return all(self.step(beginning, char) == self.step("", char) for char in starts)

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
        if self.may_begin_again(beginning):
            yield '""'
        looped = self.first_characters() if self.is_left_to_loop(beginning) else ()
        for char, target in targets.items():
            if target and char not in looped:
                yield f"{literal(char)} {self.beginnings[target]}"
        inside = (char for char, target in targets.items() if target != "")
        yield f"{character_class(inside, negated=True)} {self.run()}"


def _same_first_byte(char: str) -> tuple[int, int]:
    """Return the code points of all characters beyond ASCII whose UTF-8 begins as this one's."""
    more = len(char.encode()) - 1
    low = ord(char) >> 6 * more << 6 * more
    high = low + (1 << 6 * more) - 1
    # Shorter forms and halves of pairs are no characters.
    return max(low, (0x80, 0x800, 0x10000)[more - 1]), 0xD7FF if low == 0xD000 else high


def _without(ranges: Iterable[tuple[int, int]], chars: Iterable[str]) -> list[tuple[int, int]]:
    """Return ranges of code points without some characters."""
    found: list[tuple[int, int]] = []
    codes = sorted(map(ord, chars))
    for low, high in ranges:
        for code in (code for code in codes if low <= code <= high):
            found.append((low, code - 1))
            low = code + 1
        found.append((low, high))
    return [(low, high) for low, high in found if low <= high]


def _as_ranges(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)


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


def _prints(char: str) -> bool:
    """Say whether a character prints, by a table that no version of Python changes."""
    old = char == " " or ucd_3_2_0.category(char)[0] not in "CZ"
    return old and char.isprintable()


def escaped(text: str, own: Mapping[str, str] = _IN_LITERAL, before: str = "") -> str:
    r"""Return a text as a literal or a class has it, ``own`` being what these escape themselves.

    What doesn't print is an escape, as far as engines have one in common: llguidance takes zeros
    off an escape of more than two digits. A hexadecimal digit behind ``\x1B`` is one itself, as
    xgrammar takes as many as there are.
    """
    written: list[str] = []
    is_open = before[-4:-2] == r"\x"
    for char in text:
        hidden, code = not _prints(char), ord(char)
        if char in own:
            written.append(own[char])
        elif (hidden and code < 0x100) or (is_open and char in hexdigits):
            written.append(f"\\x{code:02X}")
        else:
            written.append(f"\\u{code:04X}" if hidden and 0x1000 <= code < 0x10000 else char)
        is_open = written[-1].startswith(r"\x")
    return "".join(written)
