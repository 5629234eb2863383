"""Values: text that is a string, JSON, or a Python literal, by its type in the schema."""

from __future__ import annotations

import re

from turnspec.engine.json_texts import dump_json, load_json, quote
from turnspec.engine.markers import WHITE_SPACE
from turnspec.engine.results import ToolCallDelta
from turnspec.engine.types import as_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.input import Input
    from turnspec.engine.markers import Markers
    from turnspec.engine.open_call import OpenCall
    from turnspec.engine.results import Event
    from turnspec.engine.streams import GrowingText
    from turnspec.engine.turn import Turn

QUOTED = r""""[^"\\]*(?:\\[\s\S][^"\\]*)*"?|'[^'\\]*(?:\\[\s\S][^'\\]*)*'?"""
CONTROL = r"[\x00-\x1f]"  # characters that JSON has not in quotes


class Value:
    """A value: a string is passed on as it comes, any other value as a whole."""

    def __init__(
        self, input: Input, call: OpenCall, types: set[str], before: str, python: bool
    ) -> None:
        self._input, self._call = input, call
        self.types = types  # of which it may be; none says that it is a string
        self.is_string = not types - {"string"}
        self._python = python  # whether it may be a literal of Python
        self.before = before  # what stands before it in the arguments
        self.is_told = False  # whether a word says of what type it is
        self.lacks_mark = False  # whether one around it is missing
        self.is_wrong = False  # whether it is not of its type
        self.start = 0  # of its own pieces
        self.may_be_all = False  # whether an object has all arguments of the call
        self.pieces: GrowingText = []
        self.opened = 0  # how many arguments seem to begin in it, and not to end
        self.in_call = False  # whether a call seems to begin in it, and not to end
        self._asked = 0  # how often it was asked whether it is whole
        self.ends: Markers = input.rules.in_value
        #: The keys that the tool has, and the call has not, if that is known.
        self.other_keys: set[str] | None = None

    def take(self, text: str) -> str:
        """Take a piece of the text, and return the JSON that is certain by now."""
        if not self.is_string and text:
            self.pieces.append(text)
        return quote(text)[1:-1] if self.is_string else ""

    def flow(self, text: str) -> list[Event] | None:
        """Take a piece in which no marker can begin; return None for any other one."""
        is_plain = not self.ends.first_or_escaped.search(text)
        if not is_plain and self.ends.may_begin.search(text):
            return None
        call, start = self._call, self._input.offset
        self._input.offset = end = start + len(text)
        if not self.is_string:
            self.pieces.append(text)
            return []
        call.told = end
        text = text if is_plain else quote(text)[1:-1]
        call.pieces.append(text)
        return [ToolCallDelta(call.index, text, start, end)]

    @property
    def text(self) -> str:
        """The text so far, of what is no string, with escapes for control characters in quotes."""
        text = "".join(self.pieces)
        return re.sub(QUOTED, lambda it: re.sub(CONTROL, lambda c: quote(c[0])[1:-1], it[0]), text)

    @property
    def edges(self) -> str:
        """The first characters so far, and the last ones."""
        pieces = self._call.pieces[self.start :] if self.is_string else self.pieces
        return "".join(pieces[:40])[:40] + "".join(pieces[-40:])[-40:]

    @property
    def may_end(self) -> bool:
        """Whether the value may be whole: not while brackets or quotes are open."""
        if self._asked > 32:  # as each time all of it is read
            return False
        opened = self.text.lstrip(WHITE_SPACE)[:1]
        if self.is_string or opened not in ("[", "{", '"', "'"):
            return True
        self._asked += 1
        return as_json(self.text, self.types - {"string"}, self._python) is not None

    def end(self, turn: Turn) -> str:
        """Return the JSON that is left; tell of a value that is not of its type."""
        if self.is_string:
            return '"'
        text = "".join(self.pieces)
        value = as_json(self.text, self.types, self._python)
        if self.may_be_all and value and value[1:-1].strip():
            return value[:-1]  # as others may follow
        if not self.is_told and value and value[:1] == '"':
            # Quotes tell a string from another type; around any other text they are its own.
            others = self.types - {"string"}
            value = value if as_json(load_json(value), others, self._python) else None
        if not (value or "string" in self.types or self.may_be_all):
            turn.problem("wrong_type", f"{text!r} is kept as a string")
            # A word says that it is JSON, as this may be, if of another type.
            value = as_json(self.text, {"string"}, False) if self.is_told else None
            self.is_wrong = value is None
        return self.before + (value or dump_json(text))
