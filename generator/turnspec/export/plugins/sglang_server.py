"""What the detectors for SGLang need of its server: the request, its prompt, and its grammar."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.plugins.hook_registry import HookRegistry, HookType
from sglang.srt.sampling.sampling_params import set_request_reasoning_in_grammar

from turnspec.export.plugins.sglang import (
    NAME,
    TurnReasoningDetector,
    TurnToolDetector,
    grammar_for,
    prefill_of,
)


def _give_request(
    result: None,
    parser: Any,
    model_type: str | None = None,
    stream_reasoning: bool = True,
    force_reasoning: bool | None = None,
    request: Any = None,
    *others: Any,
    **more: Any,
) -> None:
    """Show the request to the detector, when SGLang has made a reasoning parser for it."""
    if request is not None and isinstance(parser.detector, TurnReasoningDetector):
        parser.detector.take_request(request)


def _give_prompt(result: None, parser: Any, *others: Any, prefix: str = "", **more: Any) -> None:
    """Show the prompt to the tool detector, when SGLang has made a tool parser."""
    if isinstance(parser.detector, TurnToolDetector):
        parser.detector.take_prompt(prefix)


def _wants_prompt(result: bool, server: Any, request: Any) -> bool:
    """Have the server keep special tokens, and put the prompt into the request."""
    return result or NAME in (server.reasoning_parser, server.tool_call_parser)


def _bind_to_prompt(
    result: None,
    server: Any,
    request: Any,
    adapted_request: Any,
    *,
    tool_call_constraint: tuple[str, Any] | None = None,
    tools: Sequence[Any] = (),
    **others: Any,
) -> None:
    """Bind the grammar to the prompt: it holds from the first token on, reasoning included.

    Where SGLang has no grammar of ours, it wants calls in another form: then there is none.
    """
    if tool_call_constraint is None or server.tool_call_parser != NAME:
        return
    kind, tag = tool_call_constraint
    params = adapted_request.sampling_params
    held = json.loads(params.get("structural_tag") or "null")
    if kind == "structural_tag" and held != tag.model_dump(by_alias=True):
        return  # the client's own takes its place
    choice = getattr(request, "effective_tool_choice", lambda: request.tool_choice)()
    prefill = prefill_of(request._response_parser_prefix)
    given = [tool.model_dump() for tool in tools]
    bound = grammar_for(given, choice, request.parallel_tool_calls is not False, prefill)
    params["structural_tag"] = json.dumps(bound)
    set_request_reasoning_in_grammar(params, adapted_request.require_reasoning)


def register() -> None:
    """Give SGLang the detectors by the format's name, and what they need of its server."""
    FunctionCallParser.ToolCallParserEnum[NAME] = TurnToolDetector
    ReasoningParser.DetectorMap[NAME] = TurnReasoningDetector
    server = "sglang.srt.entrypoints.openai.serving_chat.OpenAIServingChat"
    parsers = (
        "sglang.srt.parser.reasoning_parser.ReasoningParser",
        "sglang.srt.function_call.function_call_parser.FunctionCallParser",
    )
    for target, hook in (
        (f"{parsers[0]}.__init__", _give_request),
        (f"{parsers[1]}.__init__", _give_prompt),
        (f"{server}._requires_response_template_detokenization", _wants_prompt),
        (f"{server}._set_response_parser_context", _bind_to_prompt),
    ):
        HookRegistry.register(target, hook, HookType.AFTER)
