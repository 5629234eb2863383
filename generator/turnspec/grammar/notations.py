"""The notations of values as grammar: JSON, Python literals, JSON with another string quote.

A notation says how a value of a schema is written; which values a schema allows is the matter of
`turnspec.grammar.schema`. This module holds the notations in which a value stands by itself, those
of tagged arguments are in `turnspec.grammar.tagged`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from turnspec.grammar.characters import (
    JSON_STRINGS,
    AddRule,
    Characters,
    KeyLetters,
    Strings,
    constant,
    key_letters,
    key_without,
    string_without,
)
from turnspec.grammar.digit_ranges import repeat
from turnspec.grammar.schema_checks import Place, Schema
from turnspec.grammar.text import GAP, group, literal, sequence, spelled
from turnspec.spec.calls import Arguments, ValueSyntax
from turnspec.spec.characters import is_key
from turnspec.spec.encoding import encode_value
from turnspec.spec.words import Encoding

_USUAL_ORDER = ValueSyntax()
_BARE_KEY = re.compile(r"[\w.$/-]+")
_BARE = Characters.of([(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)]) | Characters.from_text("_.$/-")
_BARE_LETTERS = KeyLetters(_BARE, _BARE)

#: Of Python's two quotes the one that its ``repr`` prefers.
PYTHON_STRINGS = Strings(
    opening='"\'"',
    closing='"\'"',
    text="python-string",
    never_plain=Characters.of([(0, 0x1F), (0x27, 0x27), (0x5C, 0x5C)]),
    escapes={"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"},
)


@dataclass(frozen=True, slots=True)
class Notation:
    """A way to write values; this one is JSON, freely spaced.

    ``prefix`` begins the names of the rules for any value (``json-value``), ``words`` are those
    for booleans and null, ``order`` says in which order an object's members stand, and all else of
    how the format writes values. ``untyped``: a value is a string where the schema doesn't state
    another type. ``is_filled``: an array or object that holds nothing isn't known for one.
    ``named`` are the properties by which a parser reads members, wherever the schema has them.
    """

    prefix: str = "json"
    strings: Strings = JSON_STRINGS
    true: tuple[str, ...] = ("true",)
    false: tuple[str, ...] = ("false",)
    null: tuple[str, ...] = ("null",)
    order: ValueSyntax = _USUAL_ORDER
    untyped: bool = False
    is_filled: bool = False
    named: tuple[Mapping[str, Schema], ...] = ()

    def ways(self, kind: str) -> tuple[Notation, ...]:
        """Return the notations in which a value of a JSON type may stand here."""
        return (self,)

    def inside(self) -> Notation:
        """Return the notation of what an array or object holds."""
        return self

    def takes_all(self, text: str) -> bool:
        """Say whether that is free text, which takes in how any other value is written."""
        return False

    def like_a_string(self, text: str) -> str:
        """Return a value in what is around a string that may stand in its place; "" if nothing."""
        return ""

    def framed(self, way: Notation, text: str) -> str:
        """Return a value in one of the ways with what stands around it."""
        return text

    def any_value(self) -> str:
        """Return what refers to any value."""
        return f"{self.prefix}-value"

    def any_of(self, kind: str) -> str:
        """Return what refers to any ``array`` or ``object``."""
        return f"{self.prefix}-{kind}"

    def word(self, kind: str) -> str:
        """Return a ``boolean``, or ``null``."""
        texts = self.null if kind == "null" else (*self.true, *self.false)
        return " | ".join(map(literal, texts))

    def constant(self, value: Any) -> str | None:
        """Return one value as it may be written; None if it can't be."""
        return constant(value, {"true": self.true[0], "false": self.false[0], "null": self.null[0]})

    def key(self, name: str) -> str | None:
        """Return an object's key, written as a string is; None if it can't be."""
        return self.constant(name)

    def other_key(self, named: Iterable[str], add: AddRule) -> str:
        """Return any key but those; ``add`` makes a rule of a text."""
        return string_without(named, add, self.strings)

    def any_key(self) -> str:
        """Return any key."""
        return self.strings.text

    def types(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the words beside members that say a value's type, each with its JSON types."""
        return ()

    def seen(self, root: Schema, key: str | None, schemas: list[Schema]) -> list[Schema]:
        """Return the schemas by which a parser reads a member, of those that hold for it."""
        return schemas

    def of(self, root: Schema) -> Notation:
        """Return the notation of a whole schema's values, which may depend on all of it."""
        return self

    def calls_unknown(self, root: Schema, key: str | None, places: list[Place]) -> bool:
        """Say whether a parser tells of a member, for which the places hold, as unknown."""
        return False

    def is_ambiguous(self, value: Any) -> bool:
        """Say whether a value would be read as one of another type."""
        return False

    def member(self, key: str, value: str, word: str = "") -> str:
        """Return an object's member of two rules, and the word for the value's type."""
        return f'{key} space ":" space {value} space'

    def opening(self) -> str:
        """Return what stands before an object's members."""
        return f'"{{" {GAP}'

    def comma(self) -> str:
        """Return what stands between two members.

        White space without a bound keeps llguidance from taking the comma, and all members behind
        it, for one token, where others may follow.
        """
        return f'"," {GAP}'

    def closing(self) -> str:
        """Return what stands behind an object's members."""
        return '"}"'

    def empty(self) -> str | None:
        """Return what stands for an object without members if not just its ends; None: these."""
        return None

    def array(self, firsts: list[str], item: str | None, bounds: tuple[int, int | None]) -> str:
        """Return an array of the first items and others, so many in all as the bounds say."""
        firsts = [f"{first} space" for first in firsts]
        items = array_text(firsts, f"{item} space" if item else None, bounds, '"," space')
        return sequence(f'"[" {GAP}', items, '"]"')


#: JSON, freely spaced, in the order that a schema has.
JSON_NOTATION = Notation()


@dataclass(frozen=True, slots=True)
class LiteralNotation(Notation):
    """A notation whose constants are written in one way: as templates write them."""

    encoding: Encoding = Encoding.PYTHON

    def constant(self, value: Any) -> str | None:
        """Return one value as templates write it; None if it can't be written."""
        if isinstance(value, bool) or value is None:
            words = self.null if value is None else self.true if value else self.false
            return group(map(literal, words))
        if not all(map(self._is_writable, strings_in(value))):
            return None
        if self._has_bare_keys() and not all(map(_BARE_KEY.fullmatch, keys_in(value))):
            return None
        is_quoted = self.encoding is not Encoding.PYTHON and not self.order.one_quote
        if isinstance(value, str) and is_quoted:
            return self.strings.enclosed(spelled(value))
        text = encode_value(value, self.encoding, self.order)
        return literal(text) if self.encoding is Encoding.PYTHON else spelled(text)

    def _is_writable(self, text: str) -> bool:
        if self.encoding is Encoding.QUOTED:
            return self.order.one_quote or self.order.quote not in text
        return not (Characters.from_text(text) & self.strings.unwritable()).ranges

    def key(self, name: str) -> str | None:
        """Return an object's key; None if it can't be written."""
        if not self._has_bare_keys():
            return self.constant(name)
        return literal(name) if _BARE_KEY.fullmatch(name) else None

    def other_key(self, named: Iterable[str], add: AddRule) -> str:
        """Return any key but those; ``add`` makes a rule of a text."""
        if self._has_bare_keys():
            return key_without(named, add, _BARE_LETTERS)
        return string_without(named, add, self.strings)

    def any_key(self) -> str:
        """Return any key."""
        return f"{self.prefix}-key" if self._has_bare_keys() else self.strings.text

    def _has_bare_keys(self) -> bool:
        return self.encoding is Encoding.QUOTED and self.order.bare_keys


@dataclass(frozen=True, slots=True)
class EscapedNotation(Notation):
    """JSON in which signs stand as ``escapes`` say, its own quote among them."""

    escapes: Mapping[str, str] = field(default_factory=dict)

    def constant(self, value: Any) -> str | None:
        """Return one value as templates write it."""
        if not isinstance(value, str | list | dict):
            return Notation.constant(self, value)
        text = encode_value(value, Encoding.JSON, self.order)
        return literal("".join(self.escapes.get(sign, sign) for sign in text))


def escaped_notation(arguments: Arguments) -> Notation:
    """Return the notation of JSON whose own quote is escaped."""
    escapes = dict(arguments.value_escapes)
    quote = literal(escapes['"'])
    coded = {sign: f"\\{escapes.get(sign, sign)}" for sign in '"\\'}
    coded |= {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
    never = Characters.of([(0, 0x1F)]) | Characters.from_text({**escapes, **coded})
    strings = Strings(quote, quote, "escaped-string", never, {**escapes, **coded})
    return EscapedNotation("escaped", strings, order=arguments.syntax, escapes=escapes)


def notation_of(encoding: Encoding, syntax: ValueSyntax) -> Notation:
    """Return the notation of an encoding that is neither raw text nor elements."""
    words = ("True",), ("False",), ("None",)
    if encoding is Encoding.PYTHON:
        return LiteralNotation("python", PYTHON_STRINGS, *words, syntax, encoding=encoding)
    if encoding is Encoding.QUOTED:
        quote, null = spelled(syntax.quote), tuple(dict.fromkeys((syntax.null, "null")))
        # Without escapes a string can't hold its quote; leaving out where that begins is enough.
        own = Strings(quote, quote, "quoted-string", Characters.from_text(syntax.quote[:1]))
        strings = JSON_STRINGS if syntax.one_quote else own
        return LiteralNotation("quoted", strings, null=null, order=syntax, encoding=encoding)
    if syntax.python_words:
        return Notation("words", JSON_STRINGS, *words, syntax)
    return Notation(order=syntax)


def strings_in(value: Any) -> Iterator[str]:
    """Yield all strings that a value holds, keys among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from strings_in(item)


def keys_in(value: Any) -> Iterator[str]:
    """Yield all keys that a value holds."""
    inside = value if isinstance(value, list) else []
    if isinstance(value, dict):
        yield from value
        inside = list(value.values())
    for item in inside:
        yield from keys_in(item)


@dataclass(frozen=True, slots=True)
class MemberNotation(Notation):
    """An object whose members stand in tags of their own; ``values`` is how their values do.

    A key can't hold any of ``key_ends``, nor begin with one of ``first_ends``.
    """

    values: Notation = field(default_factory=Notation)
    key_ends: str = ""
    first_ends: str = ""

    def inside(self) -> Notation:
        """Return the notation of what an array or object holds."""
        return self.values

    def constant(self, value: Any) -> str | None:
        """Return nothing: an array or object as one of several constants isn't written so."""
        return None

    def key(self, name: str) -> str | None:
        """Return an object's key; None if it can't be written."""
        written = self.written(name)
        is_one = is_key(written, self.key_ends) and written[0] not in self.first_ends
        return literal(written) if is_one else None

    def written(self, name: str) -> str:
        """Return a key as it stands in its tag."""
        return name

    def other_key(self, named: Iterable[str], add: AddRule) -> str:
        """Return any key but those; ``add`` makes a rule of a text."""
        letters = key_letters(self.key_ends, self.first_ends)
        return key_without(map(self.written, named), add, letters)


def array_text(
    firsts: list[str], item: str | None, bounds: tuple[int, int | None], comma: str
) -> str:
    """Return an array's items: ``firsts``, then ``item`` for all others.

    There may be an end, once there are as many items as the lower bound says, behind any of them.
    """
    least, most = bounds
    tail, count = "", len(firsts)
    after = (max(least - count, 0), None if most is None else most - count)
    if item and after[1] != 0:
        tail = _more_items(item, *after, comma if firsts else "", comma)
    for position in range(count - 1, -1, -1):
        text = sequence(comma if position else "", firsts[position], tail)
        tail = text if position < least else f"( {text} )?"
    return tail


def _more_items(item: str, least: int, most: int | None, before: str, comma: str) -> str:
    if before:
        return f"( {before} {item} ){repeat(least, most)}"
    if not comma:
        return f"( {item} ){repeat(least, most)}"
    rest = repeat(max(least - 1, 0), None if most is None else most - 1)
    text = item if most == 1 else f"{item} ( {comma} {item} ){rest}"
    return text if least else f"( {text} )?"
