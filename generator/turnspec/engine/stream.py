"""A stream of text: the reasoning, or the content."""

from __future__ import annotations

import re

from turnspec.engine.results import ContentDelta, ReasoningDelta
from turnspec.engine.turn import WHITE_SPACE, Flow, Turn


class Stream:
    """Reasoning or content, as far as it has come. White space at its ends is no part of it."""

    def __init__(
        self, turn: Turn, pieces: list[str], delta: type[ReasoningDelta | ContentDelta], shown: int
    ) -> None:
        self.begun = False
        self.space: list[str] = []  # counts if more text follows
        self._space_start = 0
        self._turn = turn
        self._pieces = pieces
        self._delta = delta
        self._flow: Flow | None = None
        self._shown = shown  # what stands before this offset is left out

    def write(self, text: str, end: int) -> None:
        """Add text; ``end`` is where it ends in the model's text."""
        start = end - len(text)
        body = text.rstrip(WHITE_SPACE)
        if body:
            self._write_body(body, start)
        if self.begun and len(body) < len(text):
            self._space_start = self._space_start if self.space else start + len(body)
            self.space.append(text[len(body) :])

    def _write_body(self, body: str, start: int) -> None:
        end = start + len(body)
        if self.space:
            body = "".join(self.space) + body
            start = self._space_start
            self.space.clear()
        elif not self.begun:
            body = body.lstrip(WHITE_SPACE)
            start = end - len(body)
            self.begun = True
        if start < self._shown:
            body = body[max(self._shown - end + len(body), 0) :]
            start = self._shown
        if body:
            self._pieces.append(body)
            self._turn.events.append(self._delta(body, start, end))

    def flow(self, stops: re.Pattern[str]) -> Flow | None:
        """Return what more text becomes up to one of some characters, if it has begun."""
        if self.space or not self.begun or self._turn.offset + self._turn.position < self._shown:
            return None
        if self._flow is None or self._flow.stops is not stops:
            self._flow = Flow(stops, WHITE_SPACE, self._pieces, self._delta)
        return self._flow

    def quote(self, marker: str, start: int) -> None:
        """Add a marker as it is, which is shown even where the prompt holds it."""
        shown, self._shown = self._shown, min(self._shown, start)
        self._write_body(marker, start)
        self._shown = shown

    def ends_in(self, characters: str) -> bool:
        """Say whether the last character is one of these."""
        return bool(self._pieces) and not self.space and self._pieces[-1][-1] in characters
