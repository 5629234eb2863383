"""What is written so far. White space at its ends is no part of it."""

from __future__ import annotations

from turnspec.engine.input import Input
from turnspec.engine.markers import WHITE_SPACE
from turnspec.engine.results import ContentDelta, ReasoningDelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from turnspec.engine.results import Event

    #: A text that grows: its pieces, so that each takes no longer than the one before.
    GrowingText: TypeAlias = list[str]


class Stream:
    """What is written so far. White space at its ends is no part of it."""

    def __init__(self, input: Input, kind: type[ContentDelta | ReasoningDelta]) -> None:
        self._input = input
        self._delta = kind
        self._stops = input.rules.in_text.may_begin.search
        self.space: list[str] = []  # counts if more of the text follows
        self._space_start = 0
        self.begun = False
        self.pieces: GrowingText = []
        self.seams: list[tuple[int, int]] = []  # of markers: in the pieces, and offsets

    def flow(self, text: str) -> list[Event] | None:
        """Take a piece in which no marker can begin; return None for any other one."""
        if self._stops(text):
            return None
        start = self._input.offset
        self._input.offset = end = start + len(text)
        if text[-1] in WHITE_SPACE:
            return self.write(text, start)
        return self.write_body(text, start, end)

    def write(self, text: str, start: int) -> list[Event]:
        """Add a text that begins at the offset `start`."""
        body = text.rstrip(WHITE_SPACE)
        end = start + len(body)
        events = self.write_body(body, start, end) if body else []
        if len(body) < len(text) and self.begun:
            if not self.space:
                self._space_start = end
            self.space.append(text[len(body) :])
        return events

    def write_body(self, body: str, start: int, end: int) -> list[Event]:
        """Add a text without white space at its ends, or a marker as it is."""
        if self.space:
            body = "".join(self.space) + body
            start = self._space_start
            self.space = []
        elif not self.begun:
            body = body.lstrip(WHITE_SPACE)
            start = end - len(body)
            self.begun = True
        self.pieces.append(body)
        return [self._delta(body, start, end)]

    def joined(self) -> Iterator[tuple[int, str]]:
        """Yield where the text around a marker that was taken out looks like one, and that text."""
        rules, seams, self.seams = self._input.rules, self.seams, []
        for place, offset in seams:
            before = "".join(self.pieces[max(0, place - 99) : place])[-99:]
            after = "".join(self.pieces[place : place + 99])[:99]
            window = Input(offset, rules, before + after, before + after)
            begin, end = 0, len(before)
            while found := rules.in_text.search(window, False, begin, end):
                if found.end > end:
                    yield offset, found.text
                    break
                begin = max(found.end, found.start + 1)
