"""The turn that is being read: its text as it arrives, and the message as far as it is known."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from turnspec.engine.results import Event, Message, Problem, ToolCall

WHITE_SPACE = " \t\n\r"  # all that counts as white space, as in JSON
_SPACE = re.compile(f"[{WHITE_SPACE}]*")
#: Characters that stand for special tokens where markers are looked for that hold such.
PRIVATE_USE = "\ue000-\uf8ff"
_PRIVATE_CHARACTER = re.compile(f"[{PRIVATE_USE}]")
_NO_CHARACTER = "\ufdd0"  # stands there for those that the model wrote itself


def behind_space(text: str, at: int) -> int:
    """Return the place behind white space, of which there may be any amount."""
    space = _SPACE.match(text, at)
    return space.end() if space else at


@dataclass(slots=True)
class Hold:
    """Where reading may have to begin once more: how much had been told, and the text since."""

    offset: int
    events: int
    problems: int
    calls: int
    start: int  # in what the turn still has of the text
    pieces: list[str]  # what it no longer has


@dataclass(slots=True)
class Flow:
    """Text that passes through: nothing begins or ends in it but with one of some characters."""

    stops: re.Pattern[str]  # those characters
    not_last: str  # with these no piece may end, as more has to come before they count
    pieces: list[str]  # of what is read
    event: Callable[[str, int, int], Event]


class Turn:
    """A turn that is being read, shared by the parts of its parser: one of them reads on.

    A reading method takes some of ``text``, from ``position`` on, and returns whether reading can
    go on; it can't where more text has to come first.
    """

    __slots__ = (
        "_marked",
        "arguments",
        "calls",
        "content",
        "events",
        "final",
        "flow",
        "held",
        "offset",
        "position",
        "problems",
        "read",
        "reasoning",
        "text",
        "tokens",
        "told",
    )

    def __init__(self, offset: int) -> None:
        self.text = ""
        self.position = 0  # what stands before it is dealt with
        self.offset = offset  # of the text's first character in what the model writes
        self.final = False  # whether all text has come
        self.read: Callable[[], bool] = bool
        self.held: Hold | None = None
        self.flow: Flow | None = None  # what the next piece may belong to, with nothing before it
        self.told = 0  # up to which offset events tell of the text
        self.content: list[str] = []
        self.reasoning: list[str] = []
        self.calls: list[ToolCall] = []
        self.arguments: list[str] | None = None  # of the last call, while it is read
        self.problems: list[Problem] = []
        self.events: list[Event] = []
        #: The special tokens that came: their offsets, and what stands for them.
        self.tokens: list[tuple[int, str]] = []
        self._marked = (0, "")  # the text with that in it, and the offset at which it begins

    def feed(self, text: str) -> list[Event]:
        """Read on with some more text, and return the events as far as they are settled."""
        if flow := self.flow:
            if text and text[-1] not in flow.not_last and not flow.stops.search(text):
                flow.pieces.append(text)
                start = self.offset
                self.offset = self.told = start + len(text)
                return [flow.event(text, start, self.offset)]
            self.flow = None
        self.text += text
        while self.read():
            pass
        position, events = self.position, self.events
        if self.held:
            self.held.pieces.append(self.text[self.held.start : position])
            self.held.start = 0
            events, self.events = events[: self.held.events], events[self.held.events :]
            self.held.events = 0
        else:
            self.events = []
        self.text = self.text[position:]
        if self.text or self.held:
            self.flow = None
        self.offset += position
        self.position = 0
        return events

    @property
    def message(self) -> Message:
        """The message as far as it is settled."""
        calls, problems = self.calls[:], self.problems[:]
        if self.arguments is not None:
            calls[-1] = replace(calls[-1], arguments="".join(self.arguments))
        if self.held:
            del calls[self.held.calls :], problems[self.held.problems :]
        return Message("".join(self.content), "".join(self.reasoning), calls, problems)

    @property
    def marked(self) -> str:
        """The text, of the same length, with private characters where special tokens came."""
        start, marked = self._marked
        if start != self.offset or len(marked) != len(self.text):
            marked = "".join(self._marked_pieces())
            self._marked = self.offset, marked
        return marked

    def _marked_pieces(self) -> Iterator[str]:
        text, at = _PRIVATE_CHARACTER.sub(_NO_CHARACTER, self.text), 0
        first = max(bisect_right(self.tokens, (self.offset, "")) - 1, 0)
        for offset, token in self.tokens[first:]:
            start, end = offset - self.offset, offset - self.offset + len(token)
            if end > at:  # the text may begin inside of it
                yield text[at : max(start, at)]
                yield token[max(at - start, 0) :]
                at = end
        yield text[at:]

    def holds_token(self, start: int, end: int) -> bool:
        """Say whether a special token came between two places."""
        return bool(self.tokens and _PRIVATE_CHARACTER.search(self.marked, start, end))

    def problem(self, kind: str, message: str) -> None:
        """Tell of a deviation at the position."""
        self.problems.append(Problem(self.offset + self.position, kind, message))

    def tell_tokens(self, end: int) -> None:
        """Tell of special tokens before a position, which turned out to be text."""
        first = bisect_left(self.tokens, (self.offset + self.position, ""))
        for offset, signs in self.tokens[first:]:
            start = offset - self.offset
            if start < end:
                text = self.text[start : start + len(signs)]
                self.problems.append(Problem(offset, "stray_marker", f"{text!r} is text here"))

    def hold(self) -> None:
        """Let nothing be settled from here on: it may turn out to be something else."""
        self.held = Hold(
            offset=self.offset + self.position,
            events=len(self.events),
            problems=len(self.problems),
            calls=len(self.calls),
            start=self.position,
            pieces=[],
        )

    def release(self) -> None:
        """Settle what was held."""
        self.held = None

    def go_back(self) -> int:
        """Return to where the hold began, as if nothing had been read since.

        Returns the position up to which it was.
        """
        assert self.held
        held, self.held = self.held, None
        del self.events[held.events :], self.problems[held.problems :], self.calls[held.calls :]
        before = "".join(held.pieces)
        end = len(before) + self.position
        self.text = before + self.text
        self.offset -= len(before)
        self.position = held.start
        return end
