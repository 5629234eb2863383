"""The notations of tagged arguments as grammar: each value by its type, text up to a marker.

Raw text has no escapes. A raw constant is anything that doesn't hold what ends it; where a pattern
or a length counts characters, the first character of every end is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from turnspec.engine.tools import is_mapping, object_in, schema_options
from turnspec.grammar.elements import space_around
from turnspec.grammar.notations import MemberNotation, Notation, notation_of
from turnspec.grammar.schema_checks import Place, Schema
from turnspec.grammar.text import (
    GAP,
    WHITE_SPACE,
    apart,
    bare_goes_on,
    behind_value,
    closing,
    goes_on,
    lenient,
    literal,
    sequence,
    spelled,
    trimmed,
)
from turnspec.grammar.value_notations import RAW_TEXT, ValueNotation, raw_notation, value_notation
from turnspec.spec.calls import Arguments, Slot
from turnspec.spec.encoding import written_key
from turnspec.spec.words import Encoding, JsonType, SlotKind

#: What refers to the marker behind a value, and the white space behind that.
VALUE_END = "value-end"

_KEY = Slot(SlotKind.KEY)
_VALUE = Slot(SlotKind.VALUE)
_TYPE = Slot(SlotKind.TYPE)


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
    raw = raw_notation(arguments, (RAW_TEXT,), ends, space)
    values = value_notation(arguments, raw, "value", untyped=not arguments.types)
    values = replace(values, spaced=any(space))
    return ArgumentNotation(
        prefix="argument",
        order=arguments.syntax,
        values=values,
        arguments=arguments,
        ends_spaced=bool(spaced_value_end(arguments)),
        key_ends=key_ends,
    )
