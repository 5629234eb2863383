"""Where a string ends that is never closed: at the end of its call, if no string goes on there.

A string may well quote the format; then what it quotes has the string's own escapes.
"""

from __future__ import annotations

import re

from turnspec.engine.markers import WHITE_SPACE, after_space

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.input import Input
    from turnspec.engine.markers import Found

#: A call goes on with an object, whose first quote a string would have escaped.
OBJECT_BEGINS = re.compile(r'[^"\\]{0,256}')


class UnclosedString:
    """Finds out where a string ends that is not closed."""

    def __init__(self, input: Input) -> None:
        self._input = input
        self._ends = input.rules.at_call_end
        self._decided = input.here  # the offset before which all ends are the string's
        self._first = -1  # the offset of the first of the ends that follow each other,
        self._last = -1  # and the one after those that were looked at

    def find(self, end: int) -> tuple[int, bool]:
        """Return up to where the text before `end` is a string's, and if it breaks off there.

        It is certain no further if more text has to tell.
        """
        at = max(self._input.position, self._decided - self._input.offset)
        while found := self._ends.search(self._input, True, at, end):
            at = self._after_ends(found)
            is_over = self._is_over(found, at)
            if is_over is None:
                return found.start, False
            if is_over:
                return found.start, True
            at = max(at, found.start + 1)
            self._decided = self._input.offset + at
        return end, False

    def _after_ends(self, found: Found) -> int:
        """Return the position after all ends that follow each other."""
        input = self._input
        at = found.start
        if self._first == found.offset:
            at = after_space(input.text, self._last - input.offset)
        while marker := self._ends.match(input, not input.final, at):
            if marker.is_partial:
                break
            at = after_space(input.text, marker.end)
        self._first, self._last = found.offset, input.offset + at
        return at

    def _is_over(self, found: Found, at: int) -> bool | None:
        """Say whether no string goes on after the ends up to a position; None if it may."""
        input = self._input
        marker = self._ends.match(input, not input.final, at)
        if marker and marker.is_partial:
            return None
        if at == found.start:
            return False
        if at == len(input.text):
            return True if input.final else None
        call = input.rules.at_call_start.match(input, not input.final, at)
        if call is None or call.is_partial:
            return None if call else False
        before = OBJECT_BEGINS.match(input.text, at)
        assert before  # if only an empty text
        sign = input.text[before.end() : before.end() + 1]
        if not sign and not input.final:
            return None
        return sign == '"' and before.group().rstrip(WHITE_SPACE).endswith("{")
