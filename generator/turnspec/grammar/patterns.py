r"""Regular expressions of a JSON Schema as grammar rules for strings.

Read as ECMA-262 has them with Unicode: ``\d`` and ``\w`` are ASCII. What no regular grammar has
(back references, looking around) is refused, and so are anchors elsewhere than at the ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from string import hexdigits

from turnspec.grammar.characters import ANY, AddRule, Characters, Strings, written
from turnspec.grammar.digit_ranges import repeat
from turnspec.grammar.text import group

#: More repeats than this, and a group around them, are more than some engines take.
MOST_REPEATS = 1900
#: So often anything may be repeated, whatever is in it.
_FEW_REPEATS = 50

_NOTHING = Characters(())
_DIGIT = Characters.of([(0x30, 0x39)])
_WORD = _DIGIT | Characters.of([(0x41, 0x5A), (0x61, 0x7A), (0x5F, 0x5F)])
_SPACE = Characters.from_text(
    "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
) | Characters.of([(0x2000, 0x200A)])
_DOT = ANY - Characters.from_text("\n\r\u2028\u2029")
_SETS = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_SETS |= {sign.upper(): ANY - found for sign, found in _SETS.items()}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_ONE_REPEAT = re.compile(
    r'("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-z-]+|\( .* \))[*+?{][0-9,]*}?'
)
_HEX_LENGTH = {"x": 2, "u": 4}
_BOUNDS = re.compile("[0-9]+(?:,[0-9]*)?")
_HEX_DIGITS = frozenset(hexdigits)


class _Unsupported(ValueError):
    """What the pattern has that the grammar cannot say; it never leaves this module."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A part of a pattern as grammar; ``least`` and ``most`` are its length (None: no end).

    ``narrowed``: some characters that the pattern allows cannot be written in such a string.
    ``first`` are those that it may begin with.
    """

    text: str
    least: int
    most: int | None
    repeats: int = 1
    loosened: bool = False
    unit: bool = False  # a repeat may stand behind it without brackets
    narrowed: bool = False
    first: Characters = _NOTHING


def pattern_expression(pattern: str, strings: Strings, add: AddRule) -> Expression | str:
    """Return the inside of a string that the pattern finds a match in, or what is wrong.

    ``add`` makes a rule of a text.
    """
    try:
        reader = _Reader(pattern, strings, add)
        return replace(reader.whole(), narrowed=reader.narrowed)
    except _Unsupported as problem:
        return str(problem)


class _Reader:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str, strings: Strings, add: AddRule) -> None:
        self._pattern = pattern
        self._strings = strings
        self._add = add
        self._at = 0
        self.narrowed = False

    def whole(self) -> Expression:
        whole = self._alternatives(self._anchored)
        if self._at < len(self._pattern):
            raise _Unsupported("a bracket is closed that none opened")
        if (whole.first & self._strings.never_first).ranges:
            raise _Unsupported("it lets through what is read as a value of another type")
        return whole

    def _anchored(self) -> Expression:
        before = [] if self._take("^") else [self._anything(at_start=True)]
        inside = self._sequence()
        after = [] if self._take("$") else [self._anything()]
        if self._peek() not in ("", "|", ")"):
            raise _Unsupported("an anchor stands inside the pattern")
        return _joined([*before, inside, *after])

    def _anything(self, *, at_start: bool = False) -> Expression:
        never = self._strings.unwritable() | self._strings.never_first
        self.narrowed |= bool(never.ranges)
        text, first = f"{self._strings.any_character()}*", ANY - never
        if at_start and self._strings.never_first.ranges:
            text = f"( {self._strings.first_character()} {text} )?"
        return Expression(text, 0, None, first=first)

    def _alternatives(self, read: Callable[[], Expression]) -> Expression:
        branches = [read()]
        while self._take("|"):
            branches.append(read())
        return _either(branches)

    def _sequence(self) -> Expression:
        parts = []
        while self._peek() not in ("", "|", ")", "$"):
            parts.append(self._quantified(self._atom()))
        return _joined(parts)

    def _atom(self) -> Expression:
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return self._one_of(self._class())
        if char == ".":
            return self._one_of(_DOT)
        if char == "\\":
            return self._one_of(self._escape(in_class=False))
        if char == "^":
            raise _Unsupported("an anchor stands inside the pattern")
        if char in "*+?":
            raise _Unsupported(f"nothing stands before {char}")
        return self._one_of(Characters.from_text(char))

    def _group(self) -> Expression:
        if self._take("?") and not self._take(":"):
            named = self._take("<") and self._peek() not in ("=", "!", "")
            if not named:
                raise _Unsupported("it looks ahead or behind, or sets a flag")
            while self._next() != ">":
                pass
        inside = self._alternatives(self._sequence)
        if self._peek() == "$":
            raise _Unsupported("an anchor stands inside the pattern")
        if not self._take(")"):
            raise _Unsupported("a bracket is not closed")
        return inside

    def _quantified(self, atom: Expression) -> Expression:
        bounds = self._quantifier()
        if bounds is None:
            return atom
        self._take("?")  # A lazy repeat finds the same texts.
        if self._peek() and self._peek() in "*+?":
            raise _Unsupported("a repeat is repeated")
        often = max(bounds[0], bounds[1] or 0) * atom.repeats > _FEW_REPEATS
        if often and (not atom.unit or "( " in atom.text):
            # Engines count each group inside, as often as it is repeated, but not those of a rule.
            atom = replace(atom, text=self._add(atom.text), unit=True)
        return _repeated(atom, *bounds)

    def _quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in {"*": (0, None), "+": (1, None), "?": (0, 1)}.items():
            if self._take(sign):
                return bounds
        inside, closed, _ = self._pattern[self._at + 1 :].partition("}")
        if self._peek() != "{" or not closed or not _BOUNDS.fullmatch(inside):
            return None
        least, comma, most = inside.partition(",")
        self._at += len(inside) + 2
        last = (int(most) if most else None) if comma else int(least)
        if last is not None and last < int(least):
            raise _Unsupported("a repeat has its bounds the wrong way round")
        return int(least), last

    def _class(self) -> Characters:
        negated = self._take("^")
        found = Characters(())
        while not self._take("]"):
            first = self._class_member()
            low = first.single()
            if self._peek() != "-" or self._pattern[self._at + 1 : self._at + 2] in ("]", ""):
                found |= first
                continue
            self._next()
            high = self._class_member().single()
            if low is None or high is None or high < low:
                raise _Unsupported("a range of characters has no order")
            found |= Characters.of([(ord(low), ord(high))])
        return ANY - found if negated else found

    def _class_member(self) -> Characters:
        char = self._next()
        return self._escape(in_class=True) if char == "\\" else Characters.from_text(char)

    def _escape(self, *, in_class: bool) -> Characters:
        char = self._next()
        if char in _SETS:
            return _SETS[char]
        if char == "b" and in_class:
            return Characters.from_text("\b")
        if char in _CONTROLS:
            return Characters.from_text(_CONTROLS[char])
        if char in _HEX_LENGTH:
            return Characters.from_text(self._hexadecimal(_HEX_LENGTH[char]))
        if char.isalnum():
            raise _Unsupported(f"\\{char} has no counterpart in a grammar")
        return Characters.from_text(char)

    def _hexadecimal(self, length: int) -> str:
        digits = self._pattern[self._at : self._at + length]
        if len(digits) < length or not _HEX_DIGITS.issuperset(digits):
            raise _Unsupported("an escape lacks its digits")
        self._at += length
        return chr(int(digits, 16))

    def _one_of(self, characters: Characters) -> Expression:
        text = written(characters, self._strings)
        if not (characters & ANY).ranges:
            raise _Unsupported("a class has no characters")
        if not text:
            raise _Unsupported("it wants a character that ends such a value in this format")
        self.narrowed |= bool((characters & self._strings.unwritable()).ranges)
        unit = " " not in text or text.startswith("( ")
        return Expression(text, 1, 1, unit=unit, first=characters)

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self, char: str) -> bool:
        found = self._peek() == char
        self._at += found
        return found

    def _next(self) -> str:
        char = self._peek()
        if not char:
            raise _Unsupported("it ends in the middle")
        self._at += 1
        return char


def _joined(parts: Iterable[Expression]) -> Expression:
    kept = [part for part in parts if part.text != '""']
    least = sum(part.least for part in kept)
    lengths = [part.most for part in kept]
    most = None if None in lengths else sum(filter(None, lengths))
    texts: list[str] = []
    for part in kept:
        if texts and _LITERAL.fullmatch(texts[-1]) and _LITERAL.fullmatch(part.text):
            texts[-1] = texts[-1][:-1] + part.text[1:]
        else:
            texts.append(part.text)
    unit = len(texts) == 1 and (bool(_LITERAL.fullmatch(texts[0])) or kept[0].unit)
    count = next((number for number, part in enumerate(kept, 1) if part.least), len(kept))
    first = _united(kept[:count])
    return Expression(" ".join(texts) or '""', least, most, *_limits(kept), unit, first=first)


def _either(branches: list[Expression]) -> Expression:
    if len(branches) == 1:
        return branches[0]
    text = group(branch.text for branch in branches)
    least = min(branch.least for branch in branches)
    lengths = [branch.most for branch in branches]
    most = None if None in lengths else max(filter(None, lengths), default=0)
    first = _united(branches)
    return Expression(text, least, most, *_limits(branches), " | " in text, first=first)


def _united(parts: Iterable[Expression]) -> Characters:
    return Characters.of(pair for part in parts for pair in part.first.ranges)


def _repeated(atom: Expression, least: int, most: int | None) -> Expression:
    if most == 0:
        return Expression('""', 0, 0)
    if most is None and not atom.least:
        raise _Unsupported("what may be empty is repeated without an end")
    limit = MOST_REPEATS // atom.repeats
    loosened = max(least, most or 0) > limit
    if loosened:
        least, most = min(least, limit), most if most is not None and most <= limit else None
    sign = repeat(least, most)
    if not sign:
        return atom
    # Some engines take the brackets off again if one repeat is all that is in them.
    inside = f'"" {atom.text}' if _ONE_REPEAT.fullmatch(atom.text) else atom.text
    text = f"{atom.text}{sign}" if atom.unit else f"( {inside} ){sign}"
    length = None if most is None or atom.most is None else atom.most * most
    repeats = atom.repeats * max(least, most or 0, 1)
    loosened = loosened or atom.loosened
    return Expression(text, atom.least * least, length, repeats, loosened, first=atom.first)


def _limits(parts: Iterable[Expression]) -> tuple[int, bool]:
    given = list(parts)
    repeats = max((part.repeats for part in given), default=1)
    return repeats, any(part.loosened for part in given)
