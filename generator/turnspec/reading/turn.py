"""What is known of a turn that is being read."""

from __future__ import annotations

from turnspec.reading.facts import HAS_REASONING, STARTS_IN_REASONING
from turnspec.reading.results import ContentDelta, Message, Problem, ReasoningDelta
from turnspec.reading.streams import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from turnspec.reading.input import Input
    from turnspec.reading.results import Event


class Turn:
    """A turn that is being read: what is known of it, and what reading changes.

    It knows nothing of the generator that reads it, so that no reference cycle is left.
    """

    def __init__(self, input: Input, inline: bool, shown: int) -> None:
        self.input = input
        self.events: list[Event] = []
        self.problems: list[Problem] = []
        self.flow: Callable[[str], list[Event] | None] | None = None
        self.content = Stream(input, ContentDelta, shown)
        self.after_marker = True  # with nothing but white space since
        if HAS_REASONING:
            self.inline = inline  # whether reasoning stays in the content
            thoughts = Stream(input, ReasoningDelta, shown)
            self.reasoning = self.content if inline else thoughts
            self.thinking = STARTS_IN_REASONING
            self.quotes_reasoning = False  # whether content holds what begins it

    @property
    def message(self) -> Message:
        """The message as far as it is known."""
        content, reasoning = "".join(self.content.pieces), ""
        if HAS_REASONING and not self.inline:
            reasoning = "".join(self.reasoning.pieces)
        return Message(content, reasoning, [], self.problems[:])

    def end_prefill(self, echo: bool) -> None:
        """Leave out what the prompt holds."""
        self.flow = None
        if not echo:
            self.problems.clear()

    def problem(self, kind: str, message: str, offset: int | None = None) -> None:
        """Tell of a deviation at an offset, by default at the position."""
        at = self.input.here if offset is None else offset
        self.problems.append(Problem(at, kind, message))
