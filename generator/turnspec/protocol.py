"""What all generated parsers have in common, as types: for code that takes any of them.

A generated module is a `Format`; its classes are the protocols below, whose members can only be
read. So a table of formats passes a type checker::

    formats: dict[str, Format] = {"qwen": qwen3_coder, "oss": openai_gpt_oss_120b}

This file imports the standard library alone and can be copied like a parser
(``turnspec vendor --protocol``). docs/api.md is written from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias

__all__ = [
    "PROBLEM_KINDS",
    "ContentDelta",
    "Event",
    "Format",
    "Message",
    "Problem",
    "ReasoningDelta",
    "StreamingParser",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
]

#: The kinds of problems, each with what the model did.
PROBLEM_KINDS: Final[Mapping[str, str]] = {
    "array": "put calls into an array where the format has none, or left out the one it has",
    "cut_off": "stopped in the middle of a call or of a marker",
    "draft": "wrote a call in its reasoning, and went on with that",
    "extra_field": "gave a call's object a member that the format doesn't have",
    "inner_marker": "wrote a marker inside a value",
    "malformed": "began a call that doesn't go on as one",
    "misplaced": "wrote content or reasoning after calls, or where the format has none",
    "missing_marker": "left out a marker",
    "no_arguments": "wrote null, or nothing, for a call's arguments",
    "no_name": "wrote what looks like a call, and has no name, or is content",
    "not_an_object": "wrote a number, an array or the like for a call's arguments",
    "not_json": "wrote arguments that aren't JSON",
    "order": "wrote a call's arguments before its name",
    "other_syntax": "wrote a call, or its arguments, as other formats do",
    "repeated": "opened what was open already, or named a tool twice, or with more around its name",
    "repeated_argument": "gave an argument twice; the later value wins",
    "stray_marker": "closed what wasn't open, or a special token that is text here",
    "string_arguments": "wrote a call's arguments in a JSON string, or not, unlike its format",
    "text_after_end": "went on after the end of its turn",
    "unclosed": "didn't close its reasoning",
    "unexpected_text": "wrote text between arguments or elements",
    "unknown_argument": "gave an argument that the tool doesn't have",
    "unknown_tool": "called a tool that isn't there",
    "wrapper": "put a call's object into another object",
    "wrong_type": "gave a value that isn't of its type; it is kept as a string",
}


class Problem(Protocol):
    """Something in what the model wrote that deviates from the format."""

    @property
    def offset(self) -> int:
        """Where it is, in characters of the text; negative in the prefill."""

    @property
    def kind(self) -> str:
        """Its kind, a key of `PROBLEM_KINDS`."""

    @property
    def message(self) -> str:
        """A sentence, or the text that would be lost otherwise."""


class ToolCall(Protocol):
    """A tool call."""

    @property
    def id(self) -> str:
        """The id that the model wrote, or else the option ``id_prefix`` with a number."""

    @property
    def name(self) -> str:
        """The tool's name."""

    @property
    def arguments(self) -> str:
        """JSON text, of an object where the model kept to its format."""

    @property
    def complete(self) -> bool:
        """Whether the call was written to its end, and its arguments are an object."""


class Message(Protocol):
    """The assistant's message, as far as it is known."""

    @property
    def content(self) -> str:
        """What the model says to the user."""

    @property
    def reasoning_content(self) -> str:
        """What it thought before; "" if it didn't, or with ``reasoning="inline"``."""

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        """The calls, in their order."""

    @property
    def problems(self) -> Sequence[Problem]:
        """What deviates from the format."""

    @property
    def finish_reason(self) -> Literal["length", "stop", "tool_calls"]:
        """Why the turn is over, in the words of chat-completions APIs.

        "length" where a call isn't complete. A text without its turn's end is no sign of that, as
        servers strip it. After `finish`, this belongs into a stream's last chunk.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return the message as chat-completions APIs have it.

        ``content`` is None where there are only calls; ``reasoning_content`` and ``tool_calls``
        are there only if they aren't empty. A template may want arguments as an object
        (``json.loads``), or content that isn't None, before it goes into the next prompt;
        ``turnspec.chat`` sees to that.
        """


class _Event(Protocol):
    @property
    def start(self) -> int:
        """Where its text begins, in characters of all that was fed; negative in the prefill."""

    @property
    def end(self) -> int:
        """Where that ends."""


class _CallEvent(_Event, Protocol):
    @property
    def index(self) -> int:
        """The call's place in ``message.tool_calls``."""


class ReasoningDelta(_Event, Protocol):
    """A piece of the reasoning."""

    @property
    def type(self) -> Literal["reasoning"]:
        """What the event is."""

    @property
    def text(self) -> str:
        """The piece."""

    def to_delta(self) -> dict[str, Any] | None:
        """Return the delta of a chat-completions stream: ``{"reasoning_content": text}``."""


class ContentDelta(_Event, Protocol):
    """A piece of the content."""

    @property
    def type(self) -> Literal["content"]:
        """What the event is."""

    @property
    def text(self) -> str:
        """The piece."""

    def to_delta(self) -> dict[str, Any] | None:
        """Return the delta of a chat-completions stream: ``{"content": text}``."""


class ToolCallStart(_CallEvent, Protocol):
    """A call's name is complete: from here on it is a call, whatever follows."""

    @property
    def type(self) -> Literal["tool_call_start"]:
        """What the event is."""

    @property
    def id(self) -> str:
        """The call's id; "" where the format has it at the end, and the call's end tells it."""

    @property
    def name(self) -> str:
        """The tool's name."""

    def to_delta(self) -> dict[str, Any] | None:
        """Return the delta of a chat-completions stream: index, id, type and name."""


class ToolCallDelta(_CallEvent, Protocol):
    """A piece of a call's arguments."""

    @property
    def type(self) -> Literal["tool_call_delta"]:
        """What the event is."""

    @property
    def arguments(self) -> str:
        """The piece; all of them together are JSON text."""

    def to_delta(self) -> dict[str, Any] | None:
        """Return the delta of a chat-completions stream: index and arguments."""


class ToolCallEnd(_CallEvent, Protocol):
    """A call is over: whole, or cut off."""

    @property
    def type(self) -> Literal["tool_call_end"]:
        """What the event is."""

    @property
    def id(self) -> str:
        """The call's id, where the format has it at the end; else "", as the start told it."""

    @property
    def complete(self) -> bool:
        """Whether the call was written to its end, and its arguments are an object."""

    def to_delta(self) -> dict[str, Any] | None:
        """Return None, or the id where the format has it at the end of a call."""


#: What a parser tells as text comes in; ``event.type`` says which one it is.
Event: TypeAlias = ReasoningDelta | ContentDelta | ToolCallStart | ToolCallDelta | ToolCallEnd


class StreamingParser(Protocol):
    """Reads what the model writes after the prompt, in pieces of any size."""

    def feed(self, text: str, special: bool = False) -> Sequence[Event]:
        """Take the next piece of the text and return what it tells.

        ``special`` says that the piece is one of the tokenizer's special tokens, whole; it counts
        where the parser was given ``special_tokens``.
        """

    def finish(self) -> Sequence[Event]:
        """Return what was held back; the model has written all."""

    @property
    def message(self) -> Message:
        """The message as far as it is known, at any time."""


class Format(Protocol):
    """A generated module."""

    @property
    def FORMAT(self) -> Mapping[str, Any]:
        """The format's name, header and prompts.

        ``FORMAT["header"]`` is what an assistant's turn begins with, ``FORMAT["prompt"]`` what the
        prompt holds of the turn already where nothing is said of thinking. Where it is another
        one when that is enabled or disabled, there are ``FORMAT["prompt_with_thinking"]`` and
        ``FORMAT["prompt_without_thinking"]``.
        """

    def parse(
        self,
        text: str | Iterable[str | tuple[str, bool]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        enable_thinking: bool | None = None,
        prefill: str | None = None,
        reasoning: Literal["extract", "inline"] = "extract",
        echo: bool = False,
        stop: Sequence[str] | None = None,
        id_prefix: str = "call_",
        special_tokens: Sequence[str] | None = None,
    ) -> Message:
        """Return the message in ``text``, what the model wrote; options as for `Parser`.

        The text may also be pieces, each with a flag or not: whether it is a special token.
        """

    def Parser(
        self,
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        enable_thinking: bool | None = None,
        prefill: str | None = None,
        reasoning: Literal["extract", "inline"] = "extract",
        echo: bool = False,
        stop: Sequence[str] | None = None,
        id_prefix: str = "call_",
        special_tokens: Sequence[str] | None = None,
    ) -> StreamingParser:
        """Return a parser for one turn; it never raises on what a model writes.

        Raises:
            ValueError: an option is not what it may be; it says which, and what it takes.

        Args:
            tools: OpenAI tool definitions, or the functions in them alone. They give tagged values
                their types, and tell calls from text where the format has bare JSON or calls that
                begin with their name (these no parser reads without tools). Else None:
                any name may be called; []: none is expected.
            enable_thinking: what the prompt said of thinking: that it is enabled, that it is
                disabled, or nothing (None), so that the template's own default holds.
            prefill: the part of the turn that the prompt holds already, from the assistant's
                header on (default: the template's own generation prompt). Of one that begins
                earlier, with the conversation, what stands before the last header is left out,
                as is a turn that is over behind that.
            reasoning: "inline" leaves the reasoning in the content, with its markers.
            echo: put the prefill's text into the result.
            stop: further texts that end the turn, such as an end token that the template lacks, or
                one such text; in what the prompt holds they end nothing.
            id_prefix: what the ids of calls begin with that the model gives none, so that they can
                differ between turns.
            special_tokens: the tokenizer's special tokens, as texts, for who tells `feed` which
                pieces are such. A marker that holds one of them then counts only where that came
                as a special piece; written in ordinary pieces it is text, so that a text that
                quotes the format calls no tool. The prefill counts as special. None: text decides.
        """
