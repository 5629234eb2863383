"""The characters of strings as grammar: which set of them, and the ways to write them.

JSON can write a character in several ways, which are all read. Of the other notations only the one
is, in which templates write it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from turnspec.grammar.digit_ranges import hexadecimals
from turnspec.grammar.text import GAP, Rule, escaped, group, literal
from turnspec.spec.characters import NEVER_IN_KEYS

#: What any one character of a JSON string refers to, however it is escaped.
CHARACTER = "json-character"
_ESCAPED = "json-escaped"

_USUAL = re.compile(r"[\w .,:;!?=<>(){}\[\]@#$%&*+'`|~^-]*", re.ASCII)  # which JSON never escapes
_LAST = 0x10FFFF
_IN_CLASS = {"[": r"\[", "]": r"\]", "\\": r"\\", "^": r"\x5E"}
_SURROGATES = (0xD800, 0xDFFF)
_SHORT = {
    '"': r"\"",
    "\\": r"\\",
    "/": r"\/",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
}


@dataclass(frozen=True, slots=True)
class Characters:
    """A set of characters as ranges of code points, in order and apart from each other."""

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> Characters:
        """Return the set of all characters in the ranges."""
        merged: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return cls(tuple(merged))

    @classmethod
    def from_text(cls, text: Iterable[str]) -> Characters:
        """Return the set of the characters in ``text``, or of some characters."""
        return cls.of((ord(char), ord(char)) for char in text)

    def __or__(self, other: Characters) -> Characters:
        return Characters.of(self.ranges + other.ranges)

    def __and__(self, other: Characters) -> Characters:
        pairs = ((max(a, c), min(b, d)) for a, b in self.ranges for c, d in other.ranges)
        return Characters.of((low, high) for low, high in pairs if low <= high)

    def __sub__(self, other: Characters) -> Characters:
        return self & other.complement()

    def complement(self) -> Characters:
        """Return all other characters."""
        start, found = 0, []
        for low, high in self.ranges:
            if start < low:
                found.append((start, low - 1))
            start = high + 1
        if start <= _LAST:
            found.append((start, _LAST))
        return Characters(tuple(found))

    def single(self) -> str | None:
        """Return the character if the set has but one."""
        if len(self.ranges) == 1 and self.ranges[0][0] == self.ranges[0][1]:
            return chr(self.ranges[0][0])
        return None


ANY = Characters.of([(0, _SURROGATES[0] - 1), (_SURROGATES[1] + 1, _LAST)])
_NEVER_PLAIN = Characters.of([(0, 0x1F), (ord('"'), ord('"')), (ord("\\"), ord("\\"))])
_BEYOND_ASCII = Characters.of([(0x80, _LAST)]) & ANY
# Nobody escapes the other characters, so they are only read as themselves.
_ESCAPABLE = _NEVER_PLAIN | Characters.from_text("/") | _BEYOND_ASCII


@dataclass(frozen=True, slots=True)
class Strings:
    """How strings are written.

    ``opening`` and ``closing`` surround them, and ``text`` is any string with these, all three as
    grammar. Characters of ``never_plain`` have an escape, their own in ``escapes`` or (``coded``)
    their code, or can't be written at all. None begins with one of ``never_first``.
    """

    opening: str
    closing: str
    text: str
    never_plain: Characters
    escapes: Mapping[str, str] = field(default_factory=dict)
    coded: bool = False
    never_first: Characters = Characters(())

    def any_character(self) -> str:
        """Return one character, whichever, as grammar."""
        return CHARACTER if self.coded else written(ANY, self)

    def first_character(self) -> str:
        """Return any character that a string may begin with, as grammar."""
        first = ANY - self.never_first
        return written(first, self) if self.never_first.ranges else self.any_character()

    def enclosed(self, inside: str) -> str:
        """Return a string of what is inside."""
        return " ".join(part for part in (self.opening, inside, self.closing) if part)

    def unwritable(self) -> Characters:
        """Return the characters that such a string cannot hold."""
        if self.coded:
            return Characters(())
        return self.never_plain - Characters.from_text(self.escapes)


JSON_STRINGS = Strings(
    opening='"\\""',
    closing='"\\""',
    text="json-string",
    never_plain=_NEVER_PLAIN,
    escapes=_SHORT,
    coded=True,
)


@cache
def character_rules() -> tuple[Rule, ...]:
    """Return the rules that spelled characters refer to."""
    codes = group(_codes(_ESCAPABLE)).replace('" "', "")
    short = r'["\\/bfnrt]'
    return (
        Rule(CHARACTER, rf'[^"\\\x00-\x1F] | {_ESCAPED} | "\\u00" [2-7] [0-9A-Fa-f]'),
        Rule(_ESCAPED, rf'"\\" ( {short} | "u" {codes} )'),
    )


def key_character(excluded: Iterable[str]) -> str:
    """Return one character of a key, without some, and no blank.

    The class says what is allowed. One that says what isn't would have llama.cpp refuse the first
    byte of each character that begins as one of those.
    """
    never = Characters.of(NEVER_IN_KEYS) | Characters.from_text([*excluded, " "])
    return f"[{_members(ANY - never)}]"


def written(characters: Characters, strings: Strings = JSON_STRINGS) -> str:
    """Return one character of the set, in each way that it may be written; empty for none."""
    options = _options(characters & ANY) if strings.coded else _plainly(characters & ANY, strings)
    return group(options)


def string(text: str) -> str:
    """Return a JSON string, with its quotes, that says ``text``."""
    if _USUAL.fullmatch(text):
        return literal(f'"{text}"')
    parts: list[str] = []
    plain = '"'
    for char in text:
        if "\x1f" < char < "\x7f" and char not in _SHORT:
            plain += char
            continue
        parts += [literal(plain)] if plain else []
        parts.append(written(Characters.from_text(char)))
        plain = ""
    return " ".join([*parts, literal(plain + '"')])


def constant(value: Any, words: Mapping[str, str]) -> str:
    """Return one JSON value as it may be written, freely spaced; ``words`` stand for constants."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, dict):
        pairs = value.items()
        members = [f'{string(key)} space ":" space {constant(v, words)}' for key, v in pairs]
        return _enclosed("{", members, "}")
    if isinstance(value, list):
        return _enclosed("[", [constant(item, words) for item in value], "]")
    if isinstance(value, float) and value.is_integer():
        # 1.0 and 1 are the same number.
        return group(literal(text) for text in (json.dumps(value), str(int(value))))
    text = json.dumps(value)
    return literal(words.get(text, text))


#: Characters of names that are told apart within each other; some engines nest hardly more groups.
_DEEPEST_NAMES = 20
#: Makes a rule of a text, and returns what refers to it.
AddRule = Callable[[str], str]


def string_without(names: Iterable[str], add: AddRule, strings: Strings = JSON_STRINGS) -> str:
    """Return a string, with its quotes, that is none of ``names``: their prefix tree."""
    return f"{strings.opening} {_other_than(tuple(dict.fromkeys(names)), strings, add, 1)}"


def _other_than(names: tuple[str, ...], strings: Strings, add: AddRule, depth: int) -> str:
    options = [] if "" in names else [strings.closing]
    firsts = dict.fromkeys(name[0] for name in names if name)
    for first in firsts:
        rest = tuple(name[1:] for name in names if name.startswith(first))
        if char := written(Characters.from_text(first), strings):
            options.append(f"{char} {_other_than(rest, strings, add, depth + 1)}")
    others = written(ANY - Characters.from_text(firsts), strings)
    return _within(depth, [*options, f"{others} {strings.any_character()}* {strings.closing}"], add)


def _within(depth: int, options: Iterable[str], add: AddRule) -> str:
    """Return a choice that is so deep inside others: a rule of its own now and then."""
    return group(options) if depth % _DEEPEST_NAMES else add(" | ".join(options))


#: How many characters, each behind a blank or not, end a key: parsers read 256 in all.
LONGEST_KEY_END = 99


@dataclass(frozen=True, slots=True)
class KeyLetters:
    """What keys without quotes are made of: their first character, others, blanks inside."""

    first: Characters
    others: Characters
    spaced: bool = False

    def any_end(self) -> str:
        """Return how a key may go on behind a character that is no blank."""
        letter = f"[{_members(self.others)}]"
        more = f'( " "? {letter} )' if self.spaced else letter
        return f"{more}{{0,{LONGEST_KEY_END}}}"


def key_letters(excluded: str, first_excluded: str) -> KeyLetters:
    """Return the letters of keys in tags, without some, and without more at the beginning."""
    never = Characters.of(NEVER_IN_KEYS) | Characters.from_text(excluded + " ")
    others = ANY - never
    return KeyLetters(others - Characters.from_text(first_excluded), others, " " not in excluded)


def key_without(names: Iterable[str], add: AddRule, letters: KeyLetters) -> str:
    """Return a key without quotes that is none of ``names``: their prefix tree."""
    return _other_key(tuple(dict.fromkeys(names)), letters, "", add, 1)


def _other_key(
    names: tuple[str, ...], letters: KeyLetters, before: str, add: AddRule, depth: int
) -> str:
    """Return what may follow ``before``, the last character so far."""
    is_inside = before not in ("", " ")
    options = ['""'] if is_inside and "" not in names else []
    allowed = letters.others if before else letters.first
    blank = Characters.from_text(" " if is_inside and letters.spaced else "")
    firsts = dict.fromkeys(name[0] for name in names if name)
    for first in firsts:
        if (Characters.from_text(first) & (allowed | blank)).ranges:
            rest = tuple(name[1:] for name in names if name.startswith(first))
            more = _other_key(rest, letters, first, add, depth + 1)
            options.append(f"{literal(first)} {more}")
    used = Characters.from_text(firsts)
    if (others := allowed - used).ranges:
        options.append(f"[{_members(others)}] {letters.any_end()}")
    if (blank - used).ranges:
        options.append(f'" " [{_members(letters.others)}] {letters.any_end()}')
    return _within(depth, options, add)


def _enclosed(opening: str, parts: list[str], closing: str) -> str:
    if not parts:
        return f"{literal(opening)} {GAP} {literal(closing)}"
    inside = ' space "," space '.join(parts)
    return f"{literal(opening)} {GAP} {inside} space {literal(closing)}"


def _plain(characters: Characters, strings: Strings) -> Iterator[str]:
    plain = characters - strings.never_plain
    if char := plain.single():
        yield _class(plain) if char.splitlines() != [char] else literal(char)
    elif plain.ranges:
        yield _class(plain)


def _plainly(characters: Characters, strings: Strings) -> Iterator[str]:
    yield from _plain(characters, strings)
    for char, escape in strings.escapes.items():
        if (Characters.from_text(char) & characters).ranges:
            yield literal(escape)


def _options(characters: Characters) -> Iterator[str]:
    escapable = characters & _ESCAPABLE
    if escapable == _ESCAPABLE:
        yield from _plain(characters, JSON_STRINGS)
        yield _ESCAPED
        return
    yield from _plainly(characters, JSON_STRINGS)
    for code in _codes(escapable - Characters.from_text('"\\/')):
        yield f'"\\\\u" {code}'.replace('" "', "")


def _codes(characters: Characters) -> Iterator[str]:
    """Yield what follows a backslash and a ``u``; two halves for the later planes."""
    for low, high in characters.ranges:
        if low <= 0xFFFF:
            yield from hexadecimals(low, min(high, 0xFFFF))
        if high > 0xFFFF:
            yield from _pairs(max(low, 0x10000) - 0x10000, high - 0x10000)


def _pairs(low: int, high: int) -> Iterator[str]:
    (first, start), (last, end) = divmod(low, 0x400), divmod(high, 0x400)
    if first == last:
        yield _pair(first, first, start, end)
        return
    if start:
        yield _pair(first, first, start, 0x3FF)
        first += 1
    whole = end == 0x3FF
    if first <= last - (not whole):
        yield _pair(first, last - (not whole), 0, 0x3FF)
    if not whole:
        yield _pair(last, last, 0, end)


def _pair(first: int, last: int, start: int, end: int) -> str:
    before = group(hexadecimals(0xD800 + first, 0xD800 + last))
    after = group(hexadecimals(0xDC00 + start, 0xDC00 + end))
    return f'{before} "\\\\u" {after}'


def _class(plain: Characters) -> str:
    """Return a class of characters; from the other side if it goes to the end of Unicode."""
    if plain.ranges[-1][1] < _LAST:
        return f"[{_members(plain)}]"
    # No text holds half a character, so the class need not name the halves.
    excluded = plain.complement() - Characters.of([_SURROGATES])
    return f"[^{_members(excluded)}]"


def _members(characters: Characters) -> str:
    dash = Characters.from_text("-")
    last = "-" if (characters & dash).ranges else ""
    ranges = (characters - dash).ranges
    written = ""
    for low, high in ranges:
        written += escaped(chr(low), _IN_CLASS, written)
        if high > low:
            written += "-" if high > low + 1 else ""
            written += escaped(chr(high), _IN_CLASS, written)
    return written + last
