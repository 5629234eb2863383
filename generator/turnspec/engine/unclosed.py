"""Where a string ends that is never closed: at the end of its call, if no string goes on there.

A string may well quote the format; then what it quotes has the string's own escapes.
"""

from __future__ import annotations

import re

from turnspec.engine.format import CompiledFormat, Format
from turnspec.engine.markers import Found, Roles, leading_text, literal_length
from turnspec.engine.turn import WHITE_SPACE, Turn, behind_space

# A call goes on with an object, whose first quote a string would have escaped.
_OBJECT_BEGINS = re.compile(r'[^"\\]{0,256}')
#: Of an end that no string has by chance.
FEWEST_SIGNS = 3


class UnclosedString:
    """Finds out where a string ends that isn't closed."""

    def __init__(self, turn: Turn, compiled: CompiledFormat) -> None:
        self._turn = turn
        self.ends = compiled.markers(call_end_roles)
        self._calls = compiled.markers(call_start_roles)

    def find(self, end: int) -> tuple[int, bool]:
        """Return up to where the text before ``end`` is a string's, and if that breaks off there.

        It is settled no further where more text has to tell.
        """
        at = self._turn.position
        while found := self.ends.search(self._turn, final=False, start=at, end=end):
            is_over = self._is_over(found)
            if is_over is None:
                return found.start, False
            if is_over:
                return found.start, True
            at = found.start + 1
        return end, False

    def _is_over(self, found: Found) -> bool | None:
        """Say whether no string goes on behind an end; None where more text has to tell."""
        turn, at = self._turn, found.start
        while marker := self.ends.match(turn, at):
            if not marker.role:
                return None
            at = behind_space(turn.text, marker.end)
        if at == found.start:
            return False
        if at == len(turn.text):
            return True if turn.final else None
        call = self._calls.match(turn, at)
        if call is None or not call.role:
            return None if call else False
        before = _OBJECT_BEGINS.match(turn.text, at)
        assert before  # if only an empty text
        sign = turn.text[before.end() :][:1]
        if not sign and not turn.final:
            return None
        return sign == '"' and before.group().rstrip(WHITE_SPACE).endswith("{")


def call_end_roles(table: Format) -> Roles:
    """Return what ends a call, or the turn."""
    calls = table["calls"]
    ends = (*calls.get("end", ()), *calls.get("section_end", ()), *table["turn_end"])
    return [("end", end) for end in ends if literal_length(end) >= FEWEST_SIGNS]


def call_start_roles(table: Format) -> Roles:
    """Return what begins another call."""
    calls = table["calls"]
    starts = (*calls.get("opening", ()), calls.get("start", ""))
    texts = dict.fromkeys(leading_text(start) for start in starts)
    return [("start", text) for text in texts if len(text) >= FEWEST_SIGNS]
