"""A call that is being read: the JSON of its arguments so far."""

from __future__ import annotations

import re

from turnspec.engine.facts import HAS_OTHER_VALUES, HAS_RAW_STRINGS
from turnspec.engine.input import Input
from turnspec.engine.json_texts import quote
from turnspec.engine.json_values import IN_STRING, STRING
from turnspec.engine.results import ToolCallDelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.results import Event
    from turnspec.engine.streams import GrowingText


class OpenCall:
    """A call that is being read: the JSON of its arguments so far."""

    def __init__(self, input: Input, index: int, name: str, told: int) -> None:
        self._input = input
        self.index, self.name = index, name
        self.pieces: GrowingText = []
        self.told = told  # up to which offset the events tell of the text
        self.given: set[str] = set()  # the keys of its arguments
        self.complete = True
        self.quote = '"'  # around the string that is being read, its first sign

    def add(self, text: str) -> list[Event]:
        """Add JSON text that comes from what was read last."""
        if not text:
            return []
        self.pieces.append(text)
        start, self.told = self.told, self._input.here
        return [ToolCallDelta(self.index, text, start, self.told)]

    def flow_in_string(self, piece: str) -> list[Event] | None:
        """Take a piece of a string in JSON that nothing can end; return None for any other one."""
        input, half = self._input, ""
        text = input.text + piece  # half of an escape may wait
        if self.quote in "'`" and self.quote in text:
            return None
        start, end = input.offset, input.offset + len(text)
        border = input.rules.at_border
        if border.first_or_escaped.search(text):
            if border.may_begin.search(text):
                return None
            if text[-1] == "\\" != text[-2:-1]:
                half, text, end = "\\", text[:-1], end - 1
            is_raw = HAS_OTHER_VALUES and HAS_RAW_STRINGS  # so that no escape is one
            if is_raw or not re.fullmatch(
                IN_STRING if HAS_OTHER_VALUES else STRING.replace("Q", '"'), text
            ):
                if "\\" in text or (self.quote == '"' and '"' in text):
                    return None
                text = quote(text)[1:-1]  # controls
        input.text = input.marked = half
        input.offset = self.told = end
        self.pieces.append(text)
        return [ToolCallDelta(self.index, text, start, end)] if text else []
