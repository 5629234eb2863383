"""A format's structural tag in xgrammar's registry, and the servers that take it from there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from xgrammar import StructuralTag, register_model_structural_tag

from turnspec.export.serving import bound_structural_tag

# Here an export has the facts of its format.
NAME = ""
PROMPTS: Sequence[tuple[str, bool | None]] = ()

# What follows is the same for every format.

SPEC = Path(__file__).with_name(f"{NAME}.yaml")
TEMPLATE = Path(__file__).with_name("response_template.json")
#: For how long a request's grammar may be bound, in a process of its own.
BINDING_SECONDS = 10.0


@register_model_structural_tag(NAME)  # type: ignore[untyped-decorator]
def structural_tag(
    tools: Sequence[Any] | None = None,
    builtin_tools: Sequence[Any] | None = None,
    tool_choice: str = "auto",
    reasoning: str = "enabled",
    *,
    parallel_tool_calls: bool = True,
    **_: Any,
) -> StructuralTag:
    """Return the tag for a request, as xgrammar asks for it.

    With reasoning "enabled" it holds behind the prompt that has the model think, with "auto" behind
    the template's own; with "disabled" it has none, and holds behind reasoning.
    """
    if builtin_tools:
        raise ValueError("a format's own turns have no built-in tools")
    choice = "required" if tool_choice == "forced" else tool_choice
    thinking = True if reasoning == "enabled" else None
    return tag_for(tools, choice, parallel_tool_calls, thinking, behind=reasoning == "disabled")


def tag_for(
    tools: Sequence[Any] | None,
    choice: Any,
    parallel: bool,
    thinking: bool | None = None,
    *,
    behind: bool = False,
) -> StructuralTag:
    """Return the tag for a server's request."""
    tag = bound_structural_tag(
        SPEC,
        tools=[tool.model_dump(exclude_none=True) for tool in tools or ()],
        tool_choice=choice if isinstance(choice, str) else choice.model_dump(),
        parallel=parallel,
        thinking=thinking,
        seconds=BINDING_SECONDS,
        pair=True,
        behind_reasoning=behind,
    )
    return StructuralTag.model_validate(tag)


def _register_with_vllm() -> None:
    """Give vLLM its own parser of templates by the format's name; the tag holds what that can't."""
    from vllm.exceptions import VLLMValidationError
    from vllm.parser.response_template import (
        ResponseTemplateParser,
        ResponseTemplateReasoningParser,
        ResponseTemplateToolParser,
    )
    from vllm.reasoning import ReasoningParserManager
    from vllm.sampling_params import StructuredOutputsParams
    from vllm.tool_parsers import ToolParserManager

    class PairParser(ResponseTemplateParser):
        def _constrain_request(self, request: Any) -> Any:
            try:
                return super()._constrain_request(request)
            except VLLMValidationError:  # strict tools, a call that has to be, or one alone
                said = (on for prompt, on in PROMPTS if self._prefix.endswith(prompt))
                choice, parallel = request.tool_choice or "auto", request.parallel_tool_calls
                tag = tag_for(request.tools, choice, parallel is not False, next(said, None))
            written = json.dumps(tag.model_dump())
            request.structured_outputs = StructuredOutputsParams(structural_tag=written)
            request.response_format = None
            request._grammar_from_parser = True  # it has the reasoning: it holds from the beginning
            return request

    class PairReasoningParser(ResponseTemplateReasoningParser):
        @classmethod
        def unified_parser_cls(cls) -> type[Any]:
            return PairParser

    class PairToolParser(ResponseTemplateToolParser):
        @classmethod
        def unified_parser_cls(cls) -> type[Any]:
            return PairParser

    ReasoningParserManager.register_module(NAME, module=PairReasoningParser)
    ToolParserManager.register_module(NAME, module=PairToolParser)


def register() -> None:
    """Give SGLang its own detector of templates by the format's name, with the tag."""
    from sglang.srt.function_call.function_call_parser import FunctionCallParser
    from sglang.srt.parser.response_template import ResponseTemplateToolDetector

    class PairDetector(ResponseTemplateToolDetector):
        response_template = json.loads(TEMPLATE.read_text("utf-8"))

        def supports_structural_tag(self) -> bool:
            return True

        def get_structural_tag(
            self,
            tools: Sequence[Any] | None = None,
            tool_choice: Any = "auto",
            thinking_mode: bool = False,
            parallel_tool_calls: bool = True,
            message_start: bool = False,
        ) -> Any:
            # SGLang holds a grammar behind reasoning, if a turn doesn't begin with the answer.
            return tag_for(tools, tool_choice, parallel_tool_calls, behind=not message_start)

        def validate_structure_constraint_request(
            self, tool_choice: Any, parallel: bool, strict: bool, *, tools: Any, **_: Any
        ) -> Any:
            free = tool_choice == "auto" and parallel and not strict
            return None if free else tag_for(tools, tool_choice, parallel, behind=True)

    FunctionCallParser.ToolCallParserEnum[NAME] = PairDetector


if find_spec("vllm"):
    _register_with_vllm()
