"""The notations of values that stand as texts: raw, each as its type is written, elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from turnspec.codegen.argument_marks import has_python_words
from turnspec.engine.tools import schema_options
from turnspec.engine.types import as_json
from turnspec.grammar.characters import Characters, Strings
from turnspec.grammar.elements import (
    ELEMENT_STRING,
    ELEMENT_TEXT,
    element_ends,
    element_tags,
    member_key_ends,
    opening_texts,
    space_around,
)
from turnspec.grammar.notations import (
    MemberNotation,
    Notation,
    array_text,
    escaped_notation,
    notation_of,
)
from turnspec.grammar.schema_checks import Place, Schema
from turnspec.grammar.text import GAP, WHITE_SPACE, group, lenient, sequence, spelled, trimmed
from turnspec.grammar.values import encoding_of, escapes_json, value_rule
from turnspec.spec.calls import Arguments, Elements, Slot
from turnspec.spec.encoding import encode_argument
from turnspec.spec.words import Encoding, JsonType, SlotKind

#: What refers to raw text between an argument's tags.
RAW_TEXT = "raw-value"
#: What a text begins with that may be read as a value of a type, beside white space around it.
_BEGINNINGS = {
    **{"string": '"', "array": "[(", "object": "{", "null": "nN", "boolean": "tfTF"},
    **dict.fromkeys(("integer", "number"), "-0123456789"),
}
#: The keywords that say what an array holds, and an object.
_INSIDE = ({"items", "prefixItems"}, {"properties", "additionalProperties"})
_KEY = Slot(SlotKind.KEY)


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

    def reading(self, types: frozenset[str], unlike: frozenset[str]) -> ValueNotation:
        """Return the notation where parsers expect some types, and a string may be one of others.

        A string begins as none of the types ``unlike`` does, of which not every value fits.
        """
        never = Characters.from_text("".join(_BEGINNINGS[kind] + WHITE_SPACE for kind in unlike))

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
        elements, arguments = self.elements, self.arguments
        pieces = elements.element if self.is_array else elements.member
        is_told = bool(opening_texts(elements))
        text = ELEMENT_TEXT if is_told else ELEMENT_STRING
        more = [] if is_told else [elements.member[0], elements.element[0]]
        begins = [trimmed(piece.text) for piece in more if not piece.kind]
        _, behind = space = space_around(pieces)  # what stands before is the tag's
        raw = raw_notation(arguments, [text], [*element_ends(elements), *begins], ("", behind))
        values = value_notation(arguments, raw, "element-value", untyped=True)
        return replace(values, spaced=any(space))

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


def raw_notation(
    arguments: Arguments, options: Sequence[str], ends: Iterable[str], space: tuple[str, str]
) -> RawNotation:
    """Return the notation of a string as it is.

    ``options`` are rules for its text, ``ends`` what ends it, ``space`` rules for what is around.
    """
    known = tuple(dict.fromkeys(filter(None, ends)))
    guard = arguments.guard.start if arguments.guard else ""
    # A line's end would pass for the white space beside the value.
    first = "".join((*(text[:1] for text in (*known, guard)), "\r\n" if any(space) else ""))
    before, behind = (spelled(text) for text in space)
    strings = Strings(before, behind, group(options), Characters.from_text(first))
    return RawNotation(prefix="raw", strings=strings, ends=known, arguments=arguments)


def value_notation(
    arguments: Arguments, raw: RawNotation, name: str, *, untyped: bool
) -> ValueNotation:
    """Return the notation of a value by its type; ``name`` tells its rules from those of others."""
    by_type = tuple((kind.value, tuple(_ways(arguments, kind, raw))) for kind in JsonType)
    is_raw = arguments.values.get(JsonType.STRING) is Encoding.RAW
    anything = raw.strings.text
    if not is_raw:
        encodings = {kind: encoding_of(kind, arguments) for kind in JsonType}
        whole = len({*encodings.values()}) == 1
        del encodings[JsonType.INTEGER]  # it is a number, too
        anything = group(
            value_rule(encoding, kind, arguments, whole=whole)
            for kind, encoding in encodings.items()
        )
    untyped = untyped and is_raw
    return ValueNotation(
        name, by_type=by_type, anything=anything, untyped=untyped, arguments=arguments
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
