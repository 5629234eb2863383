"""What a parser gives: the message, and the events that tell of it as it grows."""

from __future__ import annotations

from turnspec.engine.facts import HAS_CALLS, HAS_REASONING

TYPE_CHECKING = False  # so that `typing` need not be imported
if TYPE_CHECKING:
    from typing import Any, Literal

    #: What a problem can be: `turnspec.protocol.PROBLEM_KINDS` says what each means.
    OfText = Literal["draft", "misplaced", "repeated", "text_after_end", "unclosed"]
    OfMarkers = Literal["cut_off", "inner_marker", "missing_marker", "stray_marker"]
    OfCalls = Literal["array", "malformed", "no_name", "other_syntax", "unknown_tool"]
    OfObjects = Literal["extra_field", "order", "string_arguments", "wrapper"]
    OfWhole = Literal["no_arguments", "not_an_object", "not_json", "unexpected_text"]
    OfValues = Literal["repeated_argument", "unknown_argument", "wrong_type"]
    ProblemKind = OfText | OfMarkers | OfCalls | OfObjects | OfWhole | OfValues


class Record:
    """Fields that can be compared and shown."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def _values(self) -> list[object]:
        return [getattr(self, name) for name in self.__match_args__]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._values() == other._values()

    def __repr__(self) -> str:
        fields = map("{}={!r}".format, self.__match_args__, self._values())
        return f"{type(self).__name__}({', '.join(fields)})"


class Problem(Record):
    """Something that deviates from the format; `offset` is negative in the prefill."""

    __slots__ = __match_args__ = ("offset", "kind", "message")

    def __init__(self, offset: int, kind: ProblemKind, message: str) -> None:
        self.offset, self.kind, self.message = offset, kind, message


class ToolCall(Record):
    """A tool call. `arguments` is JSON if it is `complete`; if not, do not run it."""

    __slots__ = __match_args__ = ("id", "name", "arguments", "complete")

    def __init__(self, id: str, name: str, arguments: str, complete: bool) -> None:
        self.id, self.name = id, name
        self.arguments, self.complete = arguments, complete


class Message(Record):
    """The assistant's message, as far as it is known."""

    __match_args__ = ("content", "reasoning_content", "tool_calls", "problems")

    def __init__(
        self,
        content: str,
        reasoning_content: str,
        tool_calls: list[ToolCall],
        problems: list[Problem],
    ) -> None:
        self.content, self.reasoning_content = content, reasoning_content
        self.tool_calls, self.problems = tool_calls, problems

    @property
    def finish_reason(self) -> Literal["length", "stop", "tool_calls"]:
        """Why the turn is over, for chat-completions APIs: "length" if a call isn't complete."""
        if HAS_CALLS and not all(call.complete for call in self.tool_calls):
            return "length"
        return "tool_calls" if HAS_CALLS and self.tool_calls else "stop"

    def to_dict(self) -> dict[str, Any]:
        """Return the message as chat-completions APIs have it."""
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if HAS_REASONING and self.reasoning_content:
            message["reasoning_content"] = self.reasoning_content
        if HAS_CALLS and self.tool_calls:
            message["content"] = self.content or None
            calls: list[dict[str, Any]] = []
            for call in self.tool_calls:
                function = {"name": call.name, "arguments": call.arguments}
                calls.append({"id": call.id, "type": "function", "function": function})
            message["tool_calls"] = calls
        return message


# Each event comes from the model's text between the offsets `start` and `end`, and
# `to_delta` returns it as the delta of a chat-completions API.


class ContentDelta(Record):
    """A piece of the content."""

    __slots__ = __match_args__ = ("text", "start", "end")
    type: Literal["content"] = "content"

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end

    def to_delta(self) -> dict[str, Any]:
        return {"content": self.text}


class ReasoningDelta(Record):
    """A piece of the reasoning."""

    __slots__ = __match_args__ = ("text", "start", "end")
    type: Literal["reasoning"] = "reasoning"

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end

    def to_delta(self) -> dict[str, Any]:
        return {"reasoning_content": self.text}


class ToolCallStart(Record):
    """The name of a tool call is complete."""

    __slots__ = __match_args__ = ("index", "id", "name", "start", "end")
    type: Literal["tool_call_start"] = "tool_call_start"

    def __init__(self, index: int, id: str, name: str, start: int, end: int) -> None:
        self.index, self.id, self.name = index, id, name
        self.start, self.end = start, end

    def to_delta(self) -> dict[str, Any]:
        call = {"index": self.index, "id": self.id, "type": "function"}
        function = {"name": self.name, "arguments": ""}
        return {"tool_calls": [{**call, "function": function}]}


class ToolCallDelta(Record):
    """A piece of a tool call's arguments: JSON text."""

    __slots__ = __match_args__ = ("index", "arguments", "start", "end")
    type: Literal["tool_call_delta"] = "tool_call_delta"

    def __init__(self, index: int, arguments: str, start: int, end: int) -> None:
        self.index, self.arguments = index, arguments
        self.start, self.end = start, end

    def to_delta(self) -> dict[str, Any]:
        function = {"arguments": self.arguments}
        return {"tool_calls": [{"index": self.index, "function": function}]}


class ToolCallEnd(Record):
    """A tool call is over. `id` is its id, if the start had none: else there is no delta."""

    __slots__ = __match_args__ = ("index", "id", "complete", "start", "end")
    type: Literal["tool_call_end"] = "tool_call_end"

    def __init__(self, index: int, id: str, complete: bool, start: int, end: int) -> None:
        self.index, self.id, self.complete = index, id, complete
        self.start, self.end = start, end

    def to_delta(self) -> dict[str, Any] | None:
        call = {"index": self.index, "id": self.id}
        return {"tool_calls": [call]} if self.id else None


Event = ContentDelta | ReasoningDelta | ToolCallStart | ToolCallDelta | ToolCallEnd
