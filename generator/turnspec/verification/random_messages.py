"""Random messages that a template should render and its parser give back: always the same ones.

They follow from the spec, their number and a seed alone. A testing library's own generator would
draw from the constants of the code around it, so that every change of the tool, and even where it
is installed, would bring other messages and with them other results.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from turnspec.rendering.conversation import NEXT_USER_TEXT, RESULT_TEXT, USER_TEXT
from turnspec.spec.characters import call_ends, member_ends, name_signs, not_in_keys
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import may_repeat_calls
from turnspec.spec.words import JsonType, ReasoningMode, SlotKind, Subject, Verdict
from turnspec.verification import messages
from turnspec.verification.comparing import trims_strings

SEED = 2026

_WORDS = ("So", "it is", "7", "true", "null", "Déjà vu!", "x = y", "the end.")
_LETTERS = string.ascii_letters + string.digits
#: What texts are made of beside letters, each drawn as often as the others.
_ALPHABETS = (
    _LETTERS + " " * 8,
    "\"'<>{}[]()|\\/=:;,.&#*_-$%^~`?!@+",
    " \t\n\r\x0b\x0c\x1c\x1d\x1e\x85\xa0\u2028\u2029\u3000\u200b\ufeff",
    "äßéЖщαω中文字한글かなקחعرहि👩\u200d🚀😀\U0010ffff\u0301",
    "".join(map(chr, range(1, 0x20))) + "\x00\x7f",
)
#: The type of an argument: a word, or of elements what they hold, an array's in a tuple of one.
Shape = JsonType | tuple["Shape", ...] | dict[str, "Shape"]

#: What keys hold beside letters, digits and underscores, where the format lets them.
_KEY_SIGNS = "-.$/@#:+*?!&%;éЖ中"

_CONTAINERS = (JsonType.ARRAY, JsonType.OBJECT)
_TRIES = 20


def random_messages(spec: Spec, count: int, seed: int = SEED) -> Iterator[Message]:
    """Yield messages that hold nothing of which the spec says that it doesn't come back."""
    source = _Source(spec, Random(seed), frozenset(messages.format_markers(spec)))
    made = 0
    while made < count:
        message = source.message()
        if _is_usable(message):
            made += 1
            yield message


def _is_usable(message: Message) -> bool:
    """Tell whether a message says anything, and nothing by which the messages around are found."""
    around = (USER_TEXT, NEXT_USER_TEXT, RESULT_TEXT)
    says = message.content or message.reasoning or message.calls
    return bool(says) and not any(text in repr(message) for text in around)


@dataclass(frozen=True, slots=True)
class _Source:
    """Draws messages, and what is in them."""

    spec: Spec
    random: Random
    markers: frozenset[str]

    def message(self) -> Message:
        """Return a message with any of the parts that the format has."""
        reasons = self.spec.reasoning.mode is not ReasoningMode.NONE
        return Message(
            content=self.text(Subject.CONTENT) if self._by(0.6) else "",
            reasoning=self.text(Subject.REASONING) if reasons and self._by(0.6) else "",
            calls=self._calls() if self.spec.tools else (),
        )

    def text(self, subject: Subject) -> str:
        """Return a text, not empty, that holds no marker and has no white space at its ends."""
        for _ in range(_TRIES):
            pieces = (self._piece() for _ in range(self.random.randint(1, 3)))
            text = messages.allowed_text(self.spec, subject, " ".join(pieces)).strip()
            if text and not any(marker in text for marker in self._held_nowhere(subject)):
                return text
        return "x"

    def _held_nowhere(self, subject: Subject) -> Iterator[str]:
        """Yield the markers, with the text's own end, be it a fence that others begin with."""
        yield from self.markers
        spec = self.spec
        ends = {Subject.REASONING: spec.reasoning.end, Subject.CONTENT: spec.content.end}
        if own := ends.get(subject, "").strip():
            yield own

    def _piece(self) -> str:
        kind = self.random.random()
        if kind < 0.35:
            return self.random.choice(messages.TRICKY_TEXTS)
        if kind < 0.5:
            return self.random.choice(_WORDS)
        if kind < 0.55:
            return chr(self.random.choice((0x100, 0x3000, 0xE000, 0x1F300)) + self._below(200))
        alphabets = [self.random.choice(_ALPHABETS) for _ in range(self.random.randint(1, 2))]
        length = self.random.randint(0, 20)
        return "".join(self.random.choice(self.random.choice(alphabets)) for _ in range(length))

    def _calls(self) -> tuple[Call, ...]:
        """Return up to three calls of one or two tools, whose arguments have fixed types."""
        names = (self._word(self.random.randint(2, 12), SlotKind.NAME) for _ in range(2))
        tools = {name: self._signature() for name in names}
        calls = []
        for _ in range(self.random.randint(0, 3 if may_repeat_calls(self.spec) else 1)):
            name = self.random.choice(sorted(tools))
            arguments = {key: self._value(shape) for key, shape in tools[name].items()}
            identifier = self._word(9, SlotKind.ID)
            calls.append(messages.allowed_call(self.spec, Call(name, arguments, identifier)))
        return tuple(calls)

    def _word(self, length: int, kind: SlotKind) -> str:
        """Return a name, an id or a key: a plain one, or with all that such a one may hold."""
        more = "" if self.random.random() < 0.7 else self._more(kind)
        return "t" + "".join(self.random.choices(_LETTERS + "_" + more, k=length - 1))

    def _more(self, kind: SlotKind) -> str:
        """Return characters that a name, an id or a key may hold beside letters and digits."""
        tools = self.spec.tools
        if tools is None:
            return ""
        if kind is SlotKind.KEY:
            elements = tools.arguments.elements
            ends = not_in_keys(tools) + (member_ends(elements.member) if elements else "")
            return "".join(sign for sign in _KEY_SIGNS if sign not in ends)
        # Where values are all ASCII, a name may be as well: by escapes that a parser undoes.
        beyond = "" if tools.arguments.syntax.ascii_only else "éЖ中"
        return name_signs(call_ends(tools, kind)) + beyond

    def _key(self) -> str:
        return self._word(self.random.randint(2, 12), SlotKind.KEY)

    def _signature(self) -> dict[str, Shape]:
        return {self._key(): self._shape() for _ in range(self.random.randint(0, 4))}

    def _shape(self) -> Shape:
        kinds = [kind for kind in JsonType if kind not in messages.ambiguous_types(self.spec)]
        if not messages.has_elements(self.spec):
            return self.random.choice(kinds)
        scalars = [kind for kind in kinds if kind not in _CONTAINERS]
        return self._nested(scalars, 2) if self._by(0.5) else self.random.choice(scalars)

    def _nested(self, scalars: Sequence[JsonType], depth: int) -> Shape:
        """Return a type down to the innermost values: in elements, a schema alone tells them."""
        null = (Subject.ARGUMENT_INNER_NULL, Verdict.AMBIGUOUS)
        no_null = any((limit.subject, limit.verdict) == null for limit in self.spec.limits)
        kinds = [kind for kind in scalars if kind is not JsonType.NULL or not no_null]
        if not depth or self._by(0.3):
            return self.random.choice(kinds)
        if self._by(0.5):
            return (self._nested(kinds, depth - 1),)
        members = range(self.random.randint(1, 3))
        return {self._key(): self._nested(kinds, depth - 1) for _ in members}

    def _value(self, shape: Shape) -> object:
        if isinstance(shape, tuple):
            return [self._value(shape[0]) for _ in range(self._below(4))]
        if isinstance(shape, Mapping):
            return {key: self._value(inner) for key, inner in shape.items() if self._by(0.7)}
        match shape:
            case JsonType.ARRAY:
                return [self._any() for _ in range(self._below(4))]
            case JsonType.OBJECT:
                return {self._key(): self._any() for _ in range(self._below(4))}
        return self._scalar(shape)

    def _any(self) -> object:
        if self._by(0.3):
            return self._value(self.random.choice(_CONTAINERS))
        return self._scalar(self.random.choice([k for k in JsonType if k not in _CONTAINERS]))

    def _scalar(self, kind: JsonType) -> object:
        match kind:
            case JsonType.STRING:
                others = ("", "7", "true", "null")
                return self.random.choice(others) if self._by(0.3) else self._argument_text()
            case JsonType.INTEGER:
                return self.random.randint(-(10 ** self._below(13)), 10 ** self._below(13))
            case JsonType.NUMBER:
                return round(self.random.uniform(-1, 1) * 10 ** self._below(7), 4) + 0.0
            case JsonType.BOOLEAN:
                return self._by(0.5)
        return None

    def _argument_text(self) -> str:
        """Return a string; white space around it counts, unless the format trims it."""
        text = self.text(Subject.ARGUMENT_STRING)
        if trims_strings(self.spec) or self.random.random() < 0.85:
            return text
        around = ("", " ", "  ", "\n", "\t", "\n\n", " \n")
        return self.random.choice(around) + text + self.random.choice(around)

    def _by(self, chance: float) -> bool:
        return self.random.random() < chance

    def _below(self, limit: int) -> int:
        return self.random.randrange(limit)
