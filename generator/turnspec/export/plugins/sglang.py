"""Detectors for SGLang: one for reasoning, and one for the tool calls behind it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from sglang.srt.parser.reasoning_parser import BaseReasoningFormatDetector
from sglang.srt.parser.reasoning_parser import StreamingParseResult as ReasoningResult
from sglang.srt.runtime_context import get_serving
from xgrammar import StructuralTag

# Here an export has the facts of its format.
from turnspec.export.plugins.facts import StreamingParser, turn_format

NAME = ""
REASONING = ("", "")
REASONING_DEFAULT = ""

# What follows is the same for every format.

try:
    from turnspec.export.serving import bound_structural_tag
except ImportError:
    bound_structural_tag = None  # type: ignore[assignment]

SPEC = Path(__file__).with_name(f"{NAME}.yaml")
HEADER = turn_format.FORMAT["header"]
PROMPT = turn_format.FORMAT["prompt"]
PROMPT_WITH_THINKING = turn_format.FORMAT.get("prompt_with_thinking", PROMPT)
PROMPT_WITHOUT_THINKING = turn_format.FORMAT.get("prompt_without_thinking", PROMPT)
#: For how long a request's grammar may be bound, in a process of its own.
BINDING_SECONDS = 10.0
#: Begins what the reasoning detector has read already. No model can know it.
READ = f"\x1e{secrets.token_hex(8)}"


class TurnReasoningDetector(BaseReasoningFormatDetector):
    """Reads one turn, gives the reasoning and hands on the rest.

    SGLang hands text on, to a tool detector. The one here gets what was read, as lines of JSON, so
    that no text is read twice, and differently. Any other gets what the model wrote.
    """

    def __init__(
        self,
        stream_reasoning: bool = True,
        force_reasoning: bool = True,
        continue_final_message: bool = False,
        previous_content: str = "",
        force_nonempty_content: bool = False,
        tool_call_parser_active: bool = False,
    ) -> None:
        """Take what SGLang tells a detector; `take_request` says more."""
        super().__init__(
            *REASONING,
            stream_reasoning=stream_reasoning,
            force_reasoning=force_reasoning,
            reasoning_default=REASONING_DEFAULT or None,
            force_nonempty_content=force_nonempty_content,
        )
        prompt = PROMPT_WITH_THINKING if force_reasoning else PROMPT_WITHOUT_THINKING
        self._prefill = prompt + (previous_content if continue_final_message else "")
        self._tools: list[Mapping[str, Any]] | None = None
        self._as_lines = tool_call_parser_active and _tool_parser_of_server() == NAME
        self._parser: StreamingParser | None = None
        self._text = ""  # what was fed
        self._told: int | None = None  # up to where, from the first call on
        self._held = ""  # reasoning that is to be told in one piece
        self._has_rest = False

    def take_request(self, request: Any) -> None:
        """Take a request's tools, and what its prompt holds of the turn."""
        prompt = getattr(request, "_response_parser_prefix", "")
        self._prefill = prefill_of(prompt) or self._prefill
        self._tools = _tools(request)

    def get_think_end_token_ids(self, tokenizer: Any) -> list[int]:
        """Return the tokens behind which SGLang may hold an answer to a schema."""
        end = self.think_end_token
        return [*tokenizer.encode(end, add_special_tokens=False)] if end else []

    def detect_and_parse(self, text: str) -> ReasoningResult:
        """Return the reasoning of a whole turn, and the rest."""
        parts = (self.parse_streaming_increment(text), self._finished())
        rest = "".join(part.normal_text for part in parts)
        message = self._open_parser().message
        behind = _behind_reasoning(self._prefill)
        if self._as_lines and not message.tool_calls and _is_content(message.content, behind):
            rest = message.content  # the server logs a warning where lines hold no call
        return self._maybe_apply_force_nonempty_content(
            ReasoningResult(rest, message.reasoning_content)
        )

    def parse_streaming_increment(self, new_text: str) -> ReasoningResult:
        """Return what new text adds."""
        self._text += new_text
        return self._result(self._open_parser().feed(new_text))

    def finish(self) -> ReasoningResult:
        """Return what was held back, and reasoning as content if that is not to be empty."""
        result, reasoning = self._finished(), self._open_parser().message.reasoning_content
        if self._force_nonempty_content and not self._has_rest:
            result.normal_text = _line({"content": reasoning}) if self._as_lines else reasoning
        return result

    def _finished(self) -> ReasoningResult:
        parser = self._open_parser()
        result = self._result(parser.finish(), last=True)
        broken = [n for n, call in enumerate(parser.message.tool_calls) if not call.complete]
        if broken and self._as_lines:
            result.normal_text += _line({"incomplete": broken})
        return result

    def _open_parser(self) -> StreamingParser:
        if self._parser is None:
            self._parser = turn_format.Parser(tools=self._tools, prefill=self._prefill)
        return self._parser

    def _result(self, events: Sequence[Any], *, last: bool = False) -> ReasoningResult:
        reasoning = self._held + "".join(e.text for e in events if e.type == "reasoning")
        rest = _lines(events) if self._as_lines else self._as_written(events)
        self._has_rest = self._has_rest or bool(rest)
        waits = not (self.stream_reasoning or rest or last)
        self._held = reasoning if waits else ""
        return ReasoningResult(rest, "" if waits else reasoning)

    def _as_written(self, events: Iterable[Any]) -> str:
        """Return content, and all from the first call on as the model wrote it."""
        content = ""
        for event in events:
            if event.type == "tool_call_start" and self._told is None:
                self._told = event.start
            elif event.type == "content" and self._told is None:
                content += event.text
        if self._told is None:
            return content
        start, self._told = self._told, len(self._text)
        return content + self._text[start:]


class TurnToolDetector(BaseFormatDetector):
    """Tool calls: as the reasoning detector has read them, or else in what the model wrote."""

    def __init__(self) -> None:
        """Begin with nothing read. The server looks at these attributes when a turn is over."""
        super().__init__()
        self.incomplete_tool_call_indices: set[int] = set()
        self._parser: StreamingParser | None = None
        self._prefill = HEADER

    def take_prompt(self, prompt: str) -> None:
        """Take what the prompt holds of the turn."""
        self._prefill = _behind_reasoning(prefill_of(prompt) or HEADER)

    def has_tool_call(self, text: str) -> bool:
        """Tell whether a whole text is to be parsed."""
        return text.startswith(READ) or not _is_content(text, self._prefill)

    @classmethod
    def parses_without_tools(cls) -> bool:
        """Have turns read in the same way whether or not a request has tools."""
        return True

    def detect_and_parse(self, text: str, tools: list[Any]) -> StreamingParseResult:
        """Return the calls in a whole text, and the content beside them."""
        parts = (self.parse_streaming_increment(text, tools), self.finish(tools))
        calls = [
            ToolCallItem(tool_index=number, name=call["name"], parameters=call["arguments"])
            for number, call in enumerate(self.prev_tool_call_arr)
        ]
        content = "".join(part.normal_text for part in parts)
        return StreamingParseResult(normal_text=content, calls=calls)

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> StreamingParseResult:
        """Return what new text adds."""
        if self._parser is None and new_text.startswith(READ):
            return self._result(json.loads(line) for line in new_text.split(READ)[1:])
        if self._parser is None and new_text:
            given = [tool.model_dump() for tool in tools]
            self._parser = turn_format.Parser(
                tools=given, prefill=self._prefill, reasoning="inline"
            )
        events = self._parser.feed(new_text) if self._parser else ()
        return self._result(event.to_delta() or {} for event in events)

    def finish(self, tools: list[Any]) -> StreamingParseResult:
        """Return what was held back."""
        if self._parser is None:
            return StreamingParseResult()
        events = self._parser.finish()
        calls = self._parser.message.tool_calls
        self.incomplete_tool_call_indices |= {n for n, c in enumerate(calls) if not c.complete}
        return self._result(event.to_delta() or {} for event in events)

    def structure_info(self) -> Any:
        """Refuse: the grammar is bound to tools, not put together from their beginnings."""
        raise NotImplementedError("calls are held to a grammar, which get_structural_tag returns")

    def get_structural_tag(
        self,
        tools: list[Any] | None = None,
        tool_choice: Any = "auto",
        thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> StructuralTag:
        """Return the grammar for tools, for the prompt with thinking."""
        given = [tool.model_dump() for tool in tools or ()]
        tag = grammar_for(
            given, tool_choice, parallel_tool_calls is not False, PROMPT_WITH_THINKING
        )
        return StructuralTag.model_validate(tag)

    def _result(self, deltas: Iterable[Mapping[str, Any]]) -> StreamingParseResult:
        content, calls = "", []
        for delta in deltas:
            content += delta.get("content", "") + delta.get("reasoning_content", "")
            calls += [self._item(c) for c in delta.get("tool_calls", ()) if "function" in c]
            self.incomplete_tool_call_indices |= {*delta.get("incomplete", ())}
        return StreamingParseResult(normal_text=content, calls=calls)

    def _item(self, call: Mapping[str, Any]) -> ToolCallItem:
        """Return a delta of a call, and keep what the server asks for at the end."""
        index, function = call["index"], call["function"]
        if index == len(self.prev_tool_call_arr):
            self.prev_tool_call_arr.append({"name": function["name"], "arguments": ""})
            self.streamed_args_for_tool.append("")
        self.current_tool_id, self.current_tool_name_sent = index, True
        arguments = function.get("arguments", "")
        self.streamed_args_for_tool[index] += arguments
        self.prev_tool_call_arr[index]["arguments"] += arguments
        return ToolCallItem(tool_index=index, name=function.get("name"), parameters=arguments)


def _lines(events: Iterable[Any]) -> str:
    """Return what some events tell but reasoning, as lines for the tool detector."""
    return "".join(_line(e.to_delta()) for e in events if e.type != "reasoning" and e.to_delta())


def _line(delta: Mapping[str, Any]) -> str:
    return f"{READ}{json.dumps(delta)}\n"


def _behind_reasoning(prefill: str) -> str:
    """Return what a text stands behind that reasoning may have been taken from."""
    return HEADER if any(REASONING) else prefill


def _is_content(text: str, prefill: str) -> bool:
    """Tell whether a text, taken by itself, is content and nothing else."""
    message = turn_format.parse(text, prefill=prefill, reasoning="inline")
    return message.content == text and not message.tool_calls


def prefill_of(prompt: str) -> str:
    """Return what a prompt holds of the turn; "" where nobody can tell."""
    return HEADER + prompt.rpartition(HEADER)[2] if HEADER and HEADER in prompt else ""


def _tools(request: Any) -> list[Mapping[str, Any]]:
    """Return the tools of a request and of its messages; none where none may be called."""
    if getattr(request, "tool_choice", None) == "none":
        return []
    sources = (request, *getattr(request, "messages", ()))
    return [
        tool.model_dump() for source in sources for tool in getattr(source, "tools", None) or ()
    ]


def _tool_parser_of_server() -> str | None:
    try:
        name: str | None = get_serving().tool_call_parser
    except ValueError:  # no server runs: the classes are used by themselves
        return NAME
    return name


def grammar_for(
    tools: Sequence[Mapping[str, Any]], choice: Any, parallel: bool, prefill: str
) -> dict[str, Any]:
    """Return the grammar for tools behind a prompt. Raises ValueError, which says why."""
    if bound_structural_tag is None:
        raise ValueError("tools that are held to a grammar need turnspec beside SGLang")
    return bound_structural_tag(
        SPEC,
        tools=tools,
        tool_choice=choice.model_dump() if hasattr(choice, "model_dump") else choice,
        parallel=parallel,
        prefill=prefill or None,  # "" is a prompt that nobody can tell
        seconds=BINDING_SECONDS,
    )
