"""A renderer for reinforcement learning with `renderers`: tokens in, tokens out."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from renderers.base import (
    ParsedResponse,
    ParsedToolCall,
    RenderedTokens,
    ToolCallParseStatus,
    extract_message_tool_names,
    reject_assistant_in_extension,
    resolve_thinking_retention,
    should_rerender_for_thinking_retention,
)
from renderers.configs import DefaultRendererConfig
from renderers.default import DefaultRenderer

sys.path.append(str(Path(__file__).parent))  # what belongs to it lies beside it

# Here an export has the facts of its format.
from turnspec.export.plugins.facts import turn_format

NAME = ""
HEADER = ""
STOP: Sequence[str] = ()
TOKENS: Sequence[str] = ()
FINAL: Mapping[str, str] = {}
ORDER: Sequence[str] = ()
REASONING_END = ""
RETENTION = "all"
OBJECT_ARGUMENTS = True

# What follows is the same for every format.

Json = dict[str, Any]
Ids = list[int]

# Words that no template has, which show where a turn's own text ends.
_USER, _NEEDLE, _KEY = "needleqa", "needleqz", "needleqk"
# Whether the parser tells a marker that is a token from the same characters in ordinary ones.
_TAKES_TOKENS = "special_tokens" in inspect.signature(turn_format.Parser).parameters


class Renderer(DefaultRenderer):
    """Renders with the tokenizer's own chat template, and reads and bridges turns by the format.

    What a model wrote is never tokenized again: `parse_response` reads its tokens, and
    `bridge_to_next_turn` puts behind them what the template writes there.
    """

    config_class = DefaultRendererConfig

    def __init__(self, tokenizer: Any, config: Any = None) -> None:
        """Take a tokenizer of Hugging Face's interface, with a chat template."""
        given = config or DefaultRendererConfig()
        # The base can't bridge, so it takes no word on what a bridge may keep.
        super().__init__(tokenizer, DefaultRendererConfig(**(given.model_extra or {})))
        self.config = given
        self.effective_thinking_retention = resolve_thinking_retention(self.config, RETENTION)
        known = {text: self._single(text) for text in dict.fromkeys((*TOKENS, *STOP))}
        self._special = {token: text for text, token in known.items() if token is not None}
        self._stop = [token for text in STOP if (token := known[text]) is not None]

    @property
    def is_prefix_stable(self) -> bool:
        """A template is opaque: nothing is promised of it."""
        return False

    @property
    def supports_tools(self) -> bool:
        """Whether calls are read: always."""
        return True

    def get_stop_token_ids(self) -> Ids:
        """Return the tokens that end a turn: those of the format, and the tokenizer's own."""
        return list(dict.fromkeys([*self._stop, *super().get_stop_token_ids()]))

    def parse_response(
        self, token_ids: Ids, *, tools: list[Any] | None = None, prompt_ids: Ids | None = None
    ) -> ParsedResponse:
        """Read a turn from its tokens; a marker counts only where it came as one."""
        prefill = self._prefill(prompt_ids) if prompt_ids else None
        options: Json = {"special_tokens": [*self._special.values()]} if _TAKES_TOKENS else {}
        parser: Any = turn_format.Parser(
            tools=None if tools is None else [_tool(tool) for tool in tools],
            prefill=prefill,
            **options,
        )
        text = ""
        events: list[Any] = []
        for piece, special in self._pieces(token_ids):
            text += piece
            events += parser.feed(piece, special) if _TAKES_TOKENS else parser.feed(piece)
        events += parser.finish()
        message = parser.message
        spans = _spans(events)
        calls = [
            _parsed_call(call, text[slice(*spans.get(index, (0, 0)))])
            for index, call in enumerate(message.tool_calls)
        ]
        return ParsedResponse(
            content=message.content,
            reasoning_content=message.reasoning_content or None,
            tool_calls=calls,
            reasoning_complete=_is_closed(message, (prefill or "") + text),
        )

    def bridge_to_next_turn(
        self,
        previous_prompt_ids: Ids,
        previous_completion_ids: Ids,
        new_messages: list[Any],
        *,
        tools: list[Any] | None = None,
    ) -> RenderedTokens | None:
        """Put the next turn's prompt behind the tokens so far; None where that can't be proved."""
        if not new_messages or reject_assistant_in_extension(new_messages):
            return None
        if should_rerender_for_thinking_retention(self.effective_thinking_retention, new_messages):
            return None
        parsed = self.parse_response(
            previous_completion_ids, tools=tools, prompt_ids=previous_prompt_ids
        )
        tails = [
            self._tail(parsed, new_messages[:count], tools=tools, prompted=False)
            for count in range(len(new_messages) + 1)
        ]
        whole = self._tail(parsed, new_messages, tools=tools, prompted=True)
        if whole is None:
            return None
        own, text = whole
        ids = self._ids(text)
        written = _overlap(previous_completion_ids, ids)
        if not written and self._is_stopped(previous_completion_ids, own):
            return None  # it ended as a turn does that something else follows
        before = [*previous_prompt_ids, *previous_completion_ids]
        *starts, end = (_common(self._ids(tail[1]), ids) if tail else 0 for tail in tails)
        indices = [sum(start <= at for start in starts) - 1 for at in range(len(ids))]
        shown = [index if at < (end or len(ids)) else -1 for at, index in enumerate(indices)]
        return RenderedTokens(
            token_ids=[*before, *ids[written:]],
            message_indices=[-1] * len(before) + shown[written:],
            message_roles=[message.get("role") or "" for message in new_messages],
            message_tool_names=extract_message_tool_names(new_messages),
        )

    def _tail(
        self, parsed: ParsedResponse, messages: Sequence[Any], *, tools: Any, prompted: bool
    ) -> tuple[str, str] | None:
        """Return what ends an answer like this one, and what the messages that follow it become."""
        answer, last = _answer_like(parsed)
        asked = {"role": "user", "content": _USER}
        alone = self._text([asked, answer], tools=tools, prompted=False)
        followed = self._text([asked, answer, *messages], tools=tools, prompted=prompted)
        if alone is None or followed is None:
            return None
        own = _before_end(alone.rpartition(_NEEDLE)[2], FINAL.get(last, ""))
        _, found, tail = followed.rpartition(f"{_NEEDLE}{own}")
        return (own, tail) if found else None

    def _is_stopped(self, written: Sequence[int], own: str) -> bool:
        """Tell whether a stop token ends what was written that isn't part of an answer itself."""
        if not written or written[-1] not in self.get_stop_token_ids():
            return False
        mark = self._special.get(written[-1])
        return mark is None or not own.endswith(mark)

    def _text(self, messages: Sequence[Any], *, tools: Any, prompted: bool) -> str | None:
        """Return a rendering as text; None where the template refuses the messages."""
        options = {**(self.config.model_extra or {}), "add_generation_prompt": prompted}
        if tools is not None:
            options["tools"] = tools
        try:
            text = self._tokenizer.apply_chat_template(list(messages), tokenize=False, **options)
        except Exception:  # a template raises whatever it likes
            return None
        return text if isinstance(text, str) else None

    def _ids(self, text: str) -> Ids:
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def _single(self, text: str) -> int | None:
        """Return the token that is this very text, if there is one."""
        token = self._tokenizer.convert_tokens_to_ids(text)
        unknown = token is None or token == self._tokenizer.unk_token_id
        return None if unknown else int(token)

    def _pieces(self, token_ids: Sequence[int]) -> Iterator[tuple[str, bool]]:
        """Yield the text of ordinary tokens together, and of each special one by itself."""
        ordinary: Ids = []
        for token in token_ids:
            if token not in self._special:
                ordinary.append(token)
                continue
            if ordinary:
                yield self._decoded(ordinary), False
                ordinary = []
            yield self._special[token], True
        if ordinary:
            yield self._decoded(ordinary), False

    def _decoded(self, token_ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(token_ids), skip_special_tokens=False))

    def _prefill(self, prompt_ids: Sequence[int]) -> str | None:
        """Return the part of the turn that the prompt holds already, from its header on."""
        text = "".join(piece for piece, _ in self._pieces(prompt_ids))
        at = text.rfind(HEADER) if HEADER else -1
        return text[at:] if at >= 0 else None


def _answer_like(parsed: ParsedResponse) -> tuple[Json, str]:
    """Return a message with the parts of an answer and a needle in the last, and what that is."""
    calls = [call.name for call in parsed.tool_calls if call.name]
    present = {"content": bool(parsed.content), "calls": bool(calls)}
    # An answer that says nothing ends as one with content does.
    last = next((part for part in reversed(ORDER) if present.get(part)), "content")
    answer: Json = {"role": "assistant", "content": parsed.content or ""}
    if last == "content":
        answer["content"] = f"{parsed.content}{_NEEDLE}"
    arguments: Any = {_KEY: _NEEDLE}
    if not OBJECT_ARGUMENTS:
        arguments = json.dumps(arguments)
    if calls:
        answer["tool_calls"] = [
            {
                "id": parsed.tool_calls[number].id or f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for number, name in enumerate(calls)
        ]
    return answer, last


def _tool(tool: Any) -> Any:
    inside = isinstance(tool, Mapping) and "function" in tool
    return tool if inside else {"type": "function", "function": tool}


def _spans(events: Sequence[Any]) -> dict[int, tuple[int, int]]:
    """Return from where to where the text of each call stands."""
    spans: dict[int, tuple[int, int]] = {}
    for event in events:
        if event.type in ("tool_call_start", "tool_call_delta", "tool_call_end"):
            start, _ = spans.get(event.index, (max(event.start, 0), 0))
            spans[event.index] = (start, event.end)
    return spans


def _parsed_call(call: Any, raw: str) -> ParsedToolCall:
    try:
        arguments: Any = json.loads(call.arguments)
    except ValueError:
        arguments, status = call.arguments, ToolCallParseStatus.INVALID_JSON
    else:
        whole = ToolCallParseStatus.OK, ToolCallParseStatus.UNCLOSED_BLOCK
        status = whole[not call.complete]
    return ParsedToolCall(
        raw=raw, name=call.name, arguments=arguments, status=status, id=call.id or None
    )


def _is_closed(message: Any, text: str) -> bool | None:
    """Tell whether reasoning is closed at the end of a turn; None where no mark says so."""
    if not message.reasoning_content:
        return True
    end = REASONING_END.strip()
    return end in text if end else None


def _before_end(text: str, final: str) -> str:
    """Return what stands behind an answer's text whatever follows: not its end, nor what is there.

    Some templates write a token behind the last message, or the next prompt unasked.
    """
    return text.removesuffix(final) if text.endswith(final) else text.partition(final)[0]


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many tokens are the same from the beginning on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _overlap(written: Sequence[int], following: Sequence[int]) -> int:
    """Return how many of the following tokens the written ones end with already."""
    longest = min(len(written), len(following))
    ends = (n for n in range(longest, 0, -1) if [*written[-n:]] == [*following[:n]])
    return next(ends, 0)
