"""The notations of tagged arguments as grammar: each value by its type, text up to a marker.

Raw text has no escapes. A raw constant is anything that doesn't hold what ends it; where a pattern
or a length counts characters, the first character of every end is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from turnspec.codegen.argument_marks import has_python_words
from turnspec.engine.tools import is_mapping, object_in, schema_options
from turnspec.engine.types import as_json
from turnspec.grammar.characters import AddRule, Characters, Strings, key_letters, key_without
from turnspec.grammar.elements import (
    element_ends,
    element_tags,
    inner_text,
    member_key_ends,
    opening_texts,
    space_around,
)
from turnspec.grammar.notations import Notation, escaped_notation, notation_of
from turnspec.grammar.schema_checks import Place, Schema
from turnspec.grammar.schema_texts import array_text
from turnspec.grammar.text import (
    GAP,
    WHITE_SPACE,
    apart,
    bare_goes_on,
    behind_value,
    closing,
    goes_on,
    group,
    lenient,
    literal,
    sequence,
    spelled,
    trimmed,
)
from turnspec.grammar.values import encoding_of, escapes_json, value_rule
from turnspec.spec.calls import Arguments, Elements, Piece, Slot
from turnspec.spec.characters import is_key
from turnspec.spec.encoding import encode_argument, written_key
from turnspec.spec.words import Encoding, JsonType, SlotKind

#: What refers to raw text between an argument's tags.
RAW_TEXT = "raw-value"
#: What refers to the marker behind a value, and the white space behind that.
VALUE_END = "value-end"

#: What a text begins with that may be read as a value of a type; white space around it is left out.
_BEGINNINGS = {
    kind: signs + WHITE_SPACE
    for kind, signs in {
        **{"string": '"', "array": "[(", "object": "{", "null": "nN", "boolean": "tfTF"},
        **{"integer": "-0123456789", "number": "-0123456789"},
    }.items()
}
#: The keywords that say what an array holds, and an object.
_INSIDE = ({"items", "prefixItems"}, {"properties", "additionalProperties"})
_KEY = Slot(SlotKind.KEY)
_VALUE = Slot(SlotKind.VALUE)
_TYPE = Slot(SlotKind.TYPE)


@dataclass(frozen=True, slots=True)
class RawNotation(Notation):
    """A string as it is, up to one of ``ends``; ``arguments`` say how one is guarded."""

    ends: tuple[str, ...] = ()
    arguments: Arguments = field(default_factory=Arguments)

    def constant(self, value: Any) -> str | None:
        """Return one string as it is written; None if it holds what would end it."""
        text = encode_argument(value, self.arguments)
        guard = self.arguments.guard
        guarded = guard is not None and text != value
        if guard.end in value if guard and guarded else any(end in text for end in self.ends):
            return None
        return self.strings.enclosed(spelled(text)) or '""'


@dataclass(frozen=True, slots=True)
class ValueNotation(Notation):
    """A value that is written by its type: ``by_type`` has the ways for each.

    ``anything`` refers to any value. ``spaced``: there is white space around a value, which is free
    unless the value is raw. ``has_lines``: a number with that of a string may be seen as a whole.
    """

    by_type: tuple[tuple[str, tuple[Notation, ...]], ...] = ()
    anything: str = RAW_TEXT
    spaced: bool = False
    has_lines: bool = False
    arguments: Arguments = field(default_factory=Arguments)
    read_as: frozenset[str] = frozenset()

    def reading(self, types: frozenset[str], unlike: frozenset[str]) -> Notation:
        """Return the notation where parsers expect some types, and a string may be one of others.

        A string begins as none of the types ``unlike`` does, of which not every value fits.
        """
        never = Characters.from_text("".join(_BEGINNINGS[kind] for kind in sorted(unlike)))

        def narrowed(way: Notation) -> Notation:
            if isinstance(way, ElementNotation):
                return replace(way, is_filled=True)
            strings = replace(way.strings, never_first=never)
            return replace(way, strings=strings) if isinstance(way, RawNotation) else way

        kinds = ((kind, tuple(map(narrowed, ways))) for kind, ways in self.by_type)
        prefix = " ".join((self.prefix, *sorted(types), "", *sorted(unlike)))
        return replace(self, prefix=prefix, by_type=tuple(kinds), read_as=types)

    def has_doubts(self, schemas: Iterable[Schema], root: Mapping[str, Any]) -> bool:
        """Say whether a parser goes by one of several schemas for what a value holds."""
        ways = (way for _, several in self.by_type for way in several)
        if not any(isinstance(way, ElementNotation) for way in ways):
            return False
        options = [o for s in schemas for o in schema_options(s, root)]
        return any(sum(not words.isdisjoint(option) for option in options) > 1 for words in _INSIDE)

    def is_ambiguous(self, value: Any) -> bool:
        """Say whether a string would be read as a value of another type."""
        if not isinstance(value, str) or not self.read_as:
            return False
        text = encode_argument(value, self.arguments)
        python = has_python_words(self.arguments)
        return text == value and as_json(text, set(self.read_as), python) is not None

    def ways(self, kind: str) -> tuple[Notation, ...]:
        """Return the notations in which a value of a JSON type may stand here."""
        return next((ways for name, ways in self.by_type if name == kind), ())

    def any_value(self) -> str:
        """Return what refers to any value."""
        return self.anything

    def takes_all(self, text: str) -> bool:
        """Say whether that is free text, which takes in how any other value is written.

        Beside it the others would add nothing, and llguidance would take their beginning for them.
        """
        return self.untyped and text == self.anything

    def like_a_string(self, text: str) -> str:
        """Return a value in the white space of a string, if a parser may expect one; else ""."""
        (way, *_) = self.ways("string")
        return way.strings.enclosed(text) if self.has_lines and "string" in self.read_as else ""

    def framed(self, way: Notation, text: str) -> str:
        """Return a value in one of the ways with the white space around it."""
        if not self.spaced or isinstance(way, RawNotation):
            return text
        return sequence(GAP, f"( {text} )" if "|" in text else text, GAP)


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
        return key_without(
            map(self.written, named), add, key_letters(self.key_ends, self.first_ends)
        )


@dataclass(frozen=True, slots=True)
class ElementNotation(MemberNotation):
    """An array or object as an element for each of its values."""

    arguments: Arguments = field(default_factory=Arguments)
    elements: Elements = field(default_factory=lambda: Elements((), ()))
    is_array: bool = False

    def calls_unknown(self, root: Schema, key: str | None, places: list[Place]) -> bool:
        """Say whether a parser tells of a member as one that an object doesn't have."""
        return not places

    def inside(self) -> Notation:
        """Return the notation of what an array or object holds."""
        elements = self.elements
        pieces = elements.element if self.is_array else elements.member
        return _inner_values(self.arguments, elements, pieces)

    def any_of(self, kind: str) -> str:
        """Return what refers to any ``array`` or ``object``; "" if no rule can say what it is."""
        if kind == "array":
            return self.array([], self.inside().any_value(), (0, None))
        members = "element-members" if self.is_filled else "( element-members )?"
        return members if self.any_key() else ""

    def any_key(self) -> str:
        """Return any key; "" where a key is said twice, as no rule finds the same one again."""
        return "" if self.elements.member.count(_KEY) > 1 else "element-name"

    def member(self, key: str, value: str, word: str = "") -> str:
        """Return an object's member of two rules."""
        return element_tags(self.elements.member, key, value)

    def opening(self) -> str:
        """Return what stands before an object's members: white space, as between arguments."""
        return GAP

    def comma(self) -> str:
        """Return what stands between two members, white space at least."""
        return lenient(self.elements.separator) or GAP

    def closing(self) -> str:
        """Return what stands behind an object's members: nothing."""
        return ""

    def array(self, firsts: list[str], item: str | None, bounds: tuple[int, int | None]) -> str:
        """Return an array of the first items and others, so many in all as the bounds say."""
        element = self.elements.element
        tags = [element_tags(element, "", first) for first in firsts]
        other = element_tags(element, "", item) if item else None
        return sequence(GAP, array_text(tags, other, bounds, self.comma()))


@dataclass(frozen=True, slots=True)
class ArgumentNotation(MemberNotation):
    """The arguments of a call, each in tags."""

    arguments: Arguments = field(default_factory=Arguments)
    ends_spaced: bool = False  # as `spaced_value_end` says

    def of(self, root: Schema) -> Notation:
        """Return the notation of a schema's values: in text, parsers look at all alternatives."""
        schema = root if is_mapping(root) else {}
        is_text = self.arguments.values.get(JsonType.STRING) is Encoding.RAW
        options = schema_options(schema, schema) if is_text else [schema]
        values = self.values
        if isinstance(values, ValueNotation):  # beside other alternatives' free text there are none
            values = replace(values, has_lines=values.spaced and len(options) == 1)
        names = (object_in(option, "properties") for option in options)
        return replace(self, named=tuple(names), values=values)

    def seen(self, root: Schema, key: str | None, schemas: list[Schema]) -> list[Schema]:
        """Return the schema by which a parser reads a member: the first that names it."""
        for names in self.named:
            if key is not None and key in names:
                return [names[key]]
        return [root.get("additionalProperties", True) if is_mapping(root) else root]

    def calls_unknown(self, root: Schema, key: str | None, places: list[Place]) -> bool:
        """Say whether a parser tells of a member as one that the tool doesn't have."""
        others = is_mapping(root) and root.get("additionalProperties")
        return any(self.named) and not others and not any(key in names for names in self.named)

    def types(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the words beside arguments that say a value's type, each with its JSON types."""
        if _TYPE not in self.arguments.item:
            return ()
        words: dict[str, tuple[str, ...]] = {}
        for json_type, word in self.arguments.types.items():
            words[word] = (*words.get(word, ()), json_type.value)
        return tuple(words.items())

    def any_of(self, kind: str) -> str:
        """Return what refers to any arguments; "" if no rule can say what they are."""
        return "arguments" if self.any_key() else ""

    def written(self, name: str) -> str:
        """Return a name as it stands in its tag."""
        return written_key(name, self.arguments)

    def any_key(self) -> str:
        """Return any name; "" where a name is said twice, as no rule finds the same one again."""
        return "" if self.arguments.item.count(_KEY) > 1 else "argument-name"

    def member(self, key: str, value: str, word: str = "") -> str:
        """Return one argument; raw text takes the white space around it, so there is no more."""
        fills = {SlotKind.KEY: key, SlotKind.TYPE: literal(word), SlotKind.VALUE: value}
        item = self.arguments.item
        at = item.index(_VALUE)
        exact = self._may_be_raw(word)
        if word and not exact:
            # So llguidance doesn't take it all for one run, which hides the same with other words.
            fills[SlotKind.VALUE] = sequence(GAP, value, GAP)
        parts = []
        for number, piece in enumerate(item):
            if piece.kind:
                parts.append(fills[piece.kind])
            elif exact and number == at - 1:
                text = piece.text.rstrip(WHITE_SPACE)
                parts.append(lenient(text) if text else spelled(piece.text))
            elif exact and number == at + 1:
                parts.append(VALUE_END if self.ends_spaced else closing(piece.text))
            else:
                written = {item.index(_TYPE) + 1: apart} if _TYPE in item else {}
                write = {**written, at - 1: apart, at + 1: behind_value}.get(number, lenient)
                parts.append(write(piece.text))
        return sequence(*parts, GAP if self.ends_spaced and not exact else "")

    def opening(self) -> str:
        """Return what stands before all arguments."""
        return before_argument(self.arguments.start, self.arguments)

    def comma(self) -> str:
        """Return what stands between two arguments, white space at least unless values end so.

        White space is read character by character. Without it llguidance would read several
        optional arguments as one longest run, and not see the end that begins like another one.
        """
        separator = self.arguments.separator
        if self.ends_spaced:
            return ""
        if self._ends_raw():
            return spelled(separator)
        written = before_argument(separator, self.arguments)
        return written if GAP in written.split() else sequence(written, GAP)

    def closing(self) -> str:
        """Return what stands behind all arguments."""
        end = "" if self.ends_spaced else self.arguments.end
        return closing(end) if self._ends_raw() else before_argument(end, self.arguments)

    def has_gaps(self, written: str) -> bool:
        """Say whether white space of any length may stand among the arguments."""
        return GAP in written.split() or VALUE_END in written.split()

    def empty(self) -> str | None:
        """Return what stands for no arguments if not just the ends; None: these."""
        if self.arguments.empty == self.arguments.start + self.arguments.end:
            return None
        return literal(self.arguments.empty)

    def _ends_raw(self) -> bool:
        return self.arguments.item[-1] == _VALUE and self._may_be_raw("")

    def _may_be_raw(self, word: str) -> bool:
        if word and word != self.arguments.types.get(JsonType.STRING):
            return False
        return self.arguments.values.get(JsonType.STRING) is Encoding.RAW


def before_argument(text: str, arguments: Arguments) -> str:
    """Return what stands beside arguments: white space at least, where a word could go on."""
    first = arguments.item[0]
    is_bare = arguments.item[-1] == _VALUE and bare_goes_on(first.text)
    is_word = bool(first.kind) or goes_on(first.text) or is_bare
    return apart(text) if is_word and not trimmed(text) else lenient(text)


def spaced_value_end(arguments: Arguments) -> str:
    """Return the marker behind a raw value and white space; "" where that needn't follow it.

    Both are one rule, `VALUE_END`: of the marker alone llguidance would make a token.
    """
    *_, last = arguments.item
    is_raw = arguments.values.get(JsonType.STRING) is Encoding.RAW
    if not is_raw or arguments.item[-2:-1] != (_VALUE,) or last.kind:
        return ""
    around = (before_argument(arguments.separator, arguments), lenient(arguments.end))
    may_lack = arguments.empty == arguments.start + arguments.end or around != (GAP, GAP)
    return "" if may_lack else sequence(spelled(trimmed(last.text)), GAP)


def argument_notation(arguments: Arguments, ends: Sequence[str], key_ends: str) -> Notation:
    """Return how a call's arguments are written.

    ``ends`` are the texts that end a raw value, ``key_ends`` the characters that end a name.
    """
    if not arguments.item:
        return notation_of(arguments.syntax.encoding, arguments.syntax)
    space = space_around(arguments.item)
    raw = _raw(arguments, (RAW_TEXT,), ends, space)
    values = _values(arguments, raw, "value", untyped=not arguments.types)
    values = replace(values, spaced=any(space))
    return ArgumentNotation(
        prefix="argument",
        order=arguments.syntax,
        values=values,
        arguments=arguments,
        ends_spaced=bool(spaced_value_end(arguments)),
        key_ends=key_ends,
    )


def _inner_values(arguments: Arguments, elements: Elements, pieces: Sequence[Piece]) -> Notation:
    """Return how values are written in members, or elements, of these pieces."""
    more = [] if opening_texts(elements) else [elements.member[0], elements.element[0]]
    begins = [trimmed(piece.text) for piece in more if not piece.kind]
    _, behind = space = space_around(pieces)  # what stands before is the tag's
    ends = [*element_ends(elements), *begins]
    raw = _raw(arguments, [inner_text(elements)], ends, ("", behind))
    values = _values(arguments, raw, "element-value", untyped=True)
    return replace(values, spaced=any(space))


def _raw(
    arguments: Arguments,
    options: Sequence[str],
    ends: Iterable[str],
    space: tuple[str, str] = ("", ""),
) -> RawNotation:
    known = tuple(dict.fromkeys(filter(None, ends)))
    guard = arguments.guard.start if arguments.guard else ""
    # A line's end would pass for the white space beside the value.
    first = "".join((*(text[:1] for text in (*known, guard)), "\r\n" if any(space) else ""))
    before, behind = (spelled(text) for text in space)
    strings = Strings(before, behind, group(options), Characters.from_text(first))
    return RawNotation(prefix="raw", strings=strings, ends=known, arguments=arguments)


def _values(arguments: Arguments, raw: RawNotation, name: str, *, untyped: bool) -> ValueNotation:
    by_type = tuple((kind.value, tuple(_ways(arguments, kind, raw))) for kind in JsonType)
    is_raw = arguments.values.get(JsonType.STRING) is Encoding.RAW
    anything = raw.strings.text
    if not is_raw:
        encodings = [encoding_of(kind, arguments) for kind in JsonType]
        whole = len(set(encodings)) == 1
        anything = group(
            value_rule(encoding, kind, arguments, whole=whole)
            for kind, encoding in zip(JsonType, encodings, strict=True)
            if kind is not JsonType.INTEGER  # it is a number, too
        )
    return ValueNotation(
        prefix=name,
        by_type=by_type,
        anything=anything,
        untyped=untyped and is_raw,
        arguments=arguments,
    )


def _ways(arguments: Arguments, kind: JsonType, raw: RawNotation) -> Iterable[Notation]:
    """Yield how a value of a type is written: as the template does, and as JSON if that reads."""
    encoding = encoding_of(kind, arguments)
    if encoding is Encoding.RAW:
        yield raw
        return
    if encoding is Encoding.ELEMENTS and arguments.elements:
        key, first = member_key_ends(arguments.elements.member)
        yield ElementNotation(
            prefix="elements",
            key_ends=key,
            first_ends=first,
            arguments=arguments,
            elements=arguments.elements,
            is_array=kind is JsonType.ARRAY,
        )
        return
    if encoding is Encoding.JSON and escapes_json(arguments):
        yield escaped_notation(arguments)
    else:
        yield notation_of(encoding, arguments.syntax)
    raw_strings = arguments.values.get(JsonType.STRING) is Encoding.RAW
    if raw_strings and encoding is Encoding.PYTHON:
        yield notation_of(Encoding.JSON, arguments.syntax)
