"""What a parser gives: the message, and the events that tell of it as it grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(slots=True)
class Problem:
    """Something that deviates from the format; ``offset`` is negative in the prefill."""

    offset: int
    kind: str
    message: str


@dataclass(slots=True)
class ToolCall:
    """A tool call. ``arguments`` is JSON text; ``complete`` is false if the call was cut off."""

    id: str
    name: str
    arguments: str
    complete: bool


@dataclass(slots=True)
class Message:
    """The assistant's message, as far as it is known."""

    content: str
    reasoning_content: str
    tool_calls: list[ToolCall]
    problems: list[Problem]

    @property
    def finish_reason(self) -> Literal["tool_calls", "stop"]:
        """Why the turn is over, in the words of chat-completions APIs."""
        return "tool_calls" if self.tool_calls else "stop"

    def to_dict(self) -> dict[str, Any]:
        """Return the message as chat-completions APIs have it."""
        content = None if self.tool_calls and not self.content else self.content
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if self.reasoning_content:
            message["reasoning_content"] = self.reasoning_content
        if self.tool_calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.tool_calls
            ]
        return message


# Every event says where it comes from: from ``start`` up to ``end`` in the model's text.


@dataclass(slots=True)
class ReasoningDelta:
    """A piece of the reasoning."""

    text: str
    start: int
    end: int
    type: Literal["reasoning"] = "reasoning"

    def to_delta(self) -> dict[str, Any]:
        """Return the delta of a chat-completions API."""
        return {"reasoning_content": self.text}


@dataclass(slots=True)
class ContentDelta:
    """A piece of the content."""

    text: str
    start: int
    end: int
    type: Literal["content"] = "content"

    def to_delta(self) -> dict[str, Any]:
        """Return the delta of a chat-completions API."""
        return {"content": self.text}


@dataclass(slots=True)
class ToolCallStart:
    """The name of a tool call is complete. An id that may yet come is empty here."""

    index: int
    id: str
    name: str
    start: int
    end: int
    type: Literal["tool_call_start"] = "tool_call_start"

    def to_delta(self) -> dict[str, Any]:
        """Return the delta of a chat-completions API."""
        function = {"name": self.name, "arguments": ""}
        call = {"index": self.index, "id": self.id, "type": "function", "function": function}
        return {"tool_calls": [call]}


@dataclass(slots=True)
class ToolCallDelta:
    """A piece of a tool call's arguments: JSON text."""

    index: int
    arguments: str
    start: int
    end: int
    type: Literal["tool_call_delta"] = "tool_call_delta"

    def to_delta(self) -> dict[str, Any]:
        """Return the delta of a chat-completions API."""
        return {"tool_calls": [{"index": self.index, "function": {"arguments": self.arguments}}]}


@dataclass(slots=True)
class ToolCallEnd:
    """A tool call is over. Its id, if the start had none."""

    index: int
    id: str
    start: int
    end: int
    type: Literal["tool_call_end"] = "tool_call_end"

    def to_delta(self) -> dict[str, Any] | None:
        """Return the delta of a chat-completions API; None where there is nothing to send."""
        return {"tool_calls": [{"index": self.index, "id": self.id}]} if self.id else None


Event = ReasoningDelta | ContentDelta | ToolCallStart | ToolCallDelta | ToolCallEnd
