"""The turns that pages show of a format: an answer, and calls of tools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from turnspec.explain.annotate import Segment, annotated_turn
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import ReasoningMode
from turnspec.verification.messages import allowed_call
from turnspec.verification.turns import written_input

_CALLS = (
    Call("get_weather", {"city": "Paris", "days": 3}, "abcdef123"),
    Call("get_time", {"zone": "CET"}, "ghijkl456"),
)

#: What the sample turns call, as they would be offered to a model.
SAMPLE_TOOLS = tool_definitions(_CALLS)


@dataclass(frozen=True, slots=True)
class Sample:
    """A turn in its parts, and what it shows."""

    title: str
    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The turn as a model writes it, its header before it."""
        return "".join(segment.text for segment in self.segments)


def sample_turns(spec: Spec) -> tuple[Sample, ...]:
    """Return the sample turns of a format, each from its header on."""
    return tuple(Sample(title, annotated_turn(spec, message)) for title, message in _messages(spec))


def sample_outputs(spec: Spec) -> Iterator[tuple[str, str]]:
    """Yield what a model writes of the samples behind its template's own prompt, with titles."""
    for title, message in _messages(spec):
        if written := written_input(spec, message, thinking=True):
            yield title, written.text


def _messages(spec: Spec) -> Iterator[tuple[str, Message]]:
    thought = spec.reasoning.mode is not ReasoningMode.NONE
    yield "An answer", Message("It rains in Paris.", "They ask for the weather." if thought else "")
    if spec.tools is None:
        return
    calls = [allowed_call(spec, call) for call in _CALLS]
    several = spec.capabilities.parallel_calls
    title = "Two calls" if several else "A call"
    reasoning = "I need the weather." if thought else ""
    yield title, Message("", reasoning, tuple(calls if several else calls[:1]))
