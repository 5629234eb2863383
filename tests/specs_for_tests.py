"""Complete, invented specs, one per class of format. No real template is behind any of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from turnspec.spec.atomic import write_atomically
from turnspec.spec.calls import Arguments, Fields, Literal, Slot, Tools, ValueSyntax
from turnspec.spec.files import dump_spec
from turnspec.spec.model import (
    Capabilities,
    Content,
    End,
    Grammar,
    Join,
    Limit,
    Reasoning,
    Spec,
    TemplateIdentity,
    Thinking,
    ThinkingState,
    Token,
    Turn,
)
from turnspec.spec.results import TemplateResult, dump_results
from turnspec.spec.words import (
    CallIdPosition,
    Condition,
    ContentMode,
    Encoding,
    JsonType,
    Part,
    ReasoningMode,
    ReasoningScope,
    SlotKind,
    Subject,
    TokenSource,
    ToolMode,
    Verdict,
)

NAME = Slot(SlotKind.NAME)
ID = Slot(SlotKind.ID)
ARGUMENTS = Slot(SlotKind.ARGUMENTS)
KEY = Slot(SlotKind.KEY)
VALUE = Slot(SlotKind.VALUE)


Variables = Mapping[str, object]
_NO_VARIABLES: Variables = {}


def one_prompt(prompt: str) -> Thinking:
    """Return thinking that nothing switches: the same prompt in every state."""
    return two_prompts(prompt, prompt)


def two_prompts(
    on: str, off: str, enabled: Variables = _NO_VARIABLES, disabled: Variables = _NO_VARIABLES
) -> Thinking:
    """Return thinking of two prompts, with variables; the one that needs none is the default."""
    states = ThinkingState(on, enabled), ThinkingState(off, disabled)
    default = states[1] if enabled and not disabled else states[0]
    return Thinking(ThinkingState(default.prompt), *states)


NO_THINKING = one_prompt("")


def _capabilities(**changes: bool) -> Capabilities:
    values: dict[str, Any] = {
        "system_role": True,
        "tools": True,
        "tool_calls": True,
        "parallel_calls": True,
        "tool_results": True,
        "object_arguments": True,
        "string_arguments": False,
        "null_content": True,
        "content_beside_calls": True,
        "call_id_required": False,
        "roles_alternate": False,
    }
    return Capabilities(**{**values, **changes})


def _ends(text: str, *last: Part) -> tuple[End, ...]:
    return tuple(End(part, text, text) for part in last)


def _identity(name: str, digit: str) -> TemplateIdentity:
    return TemplateIdentity(file=f"{name}.jinja", sha256=digit * 64, origin="local")


def json_native_spec() -> Spec:
    """Return a format with tagged reasoning and each call as one JSON object between tags."""
    header = "<|turn|>assistant\n"
    return Spec(
        name="json-native",
        template=_identity("json-native", "1"),
        tokens={
            "bos_token": Token("<|begin|>", TokenSource.GIVEN),
            "eos_token": Token("<|stop|>", TokenSource.ASSUMED),
        },
        capabilities=_capabilities(),
        thinking=two_prompts(
            header,
            header + "<think>\n\n</think>\n\n",
            enabled={"enable_thinking": True},
            disabled={"enable_thinking": False},
        ),
        turn=Turn(
            header=header,
            order=(Part.REASONING, Part.CONTENT, Part.CALLS),
            joins=(Join(Part.CONTENT, Part.CALLS, "\n"),),
            ends=_ends("<|stop|>\n", Part.START, Part.REASONING, Part.CONTENT, Part.CALLS),
            stop=("<|stop|>",),
        ),
        reasoning=Reasoning(
            mode=ReasoningMode.TAG_BASED,
            start="<think>\n",
            end="\n</think>\n\n",
            field="reasoning_content",
            scope=ReasoningScope.SINCE_LAST_USER,
        ),
        content=Content(ContentMode.PLAIN, "", ""),
        tools=Tools(
            mode=ToolMode.JSON_NATIVE,
            section_start="",
            call=(
                Literal('<tool_call>\n{"name": "'),
                NAME,
                Literal('", "arguments": '),
                ARGUMENTS,
                Literal("}\n</tool_call>"),
            ),
            separator="\n",
            section_end="",
            arguments=Arguments(),
            fields=Fields(name=("name",), arguments=("arguments",)),
        ),
        limits=(
            Limit(Subject.CONTENT, Verdict.TRIMS, Condition.WITH_REASONING, "leading newlines"),
        ),
        grammar=Grammar(
            triggers=("<tool_call>",),
            preserved_tokens=("<think>", "</think>", "<tool_call>", "</tool_call>", "<|stop|>"),
        ),
    )


def tag_with_json_spec() -> Spec:
    """Return a format without reasoning: bracket tags for name, id and JSON arguments."""
    return Spec(
        name="tag-with-json",
        template=_identity("tag-with-json", "2"),
        tokens={"eos_token": Token("</s>", TokenSource.GIVEN)},
        capabilities=_capabilities(
            content_beside_calls=False, call_id_required=True, roles_alternate=True
        ),
        thinking=NO_THINKING,
        turn=Turn(
            header="[/TURN]",
            order=(Part.CONTENT, Part.CALLS),
            joins=(),
            ends=_ends("</s>", Part.CONTENT, Part.CALLS),
            stop=("</s>",),
        ),
        reasoning=Reasoning(ReasoningMode.NONE, "", "", None, ReasoningScope.NONE),
        content=Content(ContentMode.PLAIN, "", ""),
        tools=Tools(
            mode=ToolMode.TAG_WITH_JSON,
            section_start="",
            call=(
                Literal("[CALL]"),
                NAME,
                Literal("[ID]"),
                ID,
                Literal("[ARGS]"),
                ARGUMENTS,
            ),
            separator="",
            section_end="",
            arguments=Arguments(),
            call_id=CallIdPosition.BETWEEN_FUNC_AND_ARGS,
        ),
        limits=(
            Limit(Subject.CONTENT, Verdict.DROPS, Condition.WITH_CALLS, "not rendered"),
            Limit(Subject.REASONING, Verdict.DROPS, Condition.ALWAYS, "no field shows it"),
        ),
        grammar=Grammar(triggers=("[CALL]",), preserved_tokens=("[CALL]", "[ID]", "[ARGS]")),
    )


def tagged_spec() -> Spec:
    """Return a format whose prompt opens reasoning and whose arguments stand in tags, raw."""
    header = "<|turn|>assistant\n"
    encodings = dict.fromkeys(JsonType, Encoding.JSON)
    return Spec(
        name="tagged",
        template=_identity("tagged", "3"),
        tokens={},
        capabilities=_capabilities(),
        thinking=two_prompts(
            header + "<think>\n",
            header + "<think>\n\n</think>\n\n",
            disabled={"enable_thinking": False},
        ),
        turn=Turn(
            header=header,
            order=(Part.REASONING, Part.CONTENT, Part.CALLS),
            joins=(
                Join(Part.START, Part.CONTENT, "<think>\n\n</think>\n\n"),
                Join(Part.START, Part.CALLS, "<think>\n\n</think>\n\n"),
                Join(Part.CONTENT, Part.CALLS, "\n\n"),
            ),
            ends=_ends("<|stop|>\n", Part.START, Part.REASONING, Part.CONTENT, Part.CALLS),
            stop=("<|stop|>",),
        ),
        reasoning=Reasoning(
            mode=ReasoningMode.FORCED_OPEN,
            start="<think>\n",
            end="\n</think>\n\n",
            field="reasoning_content",
            scope=ReasoningScope.ALL,
        ),
        content=Content(ContentMode.PLAIN, "", ""),
        tools=Tools(
            mode=ToolMode.TAG_WITH_TAGGED,
            section_start="",
            call=(
                Literal("<tool_call>\n<function="),
                NAME,
                Literal(">\n"),
                ARGUMENTS,
                Literal("</function>\n</tool_call>"),
            ),
            separator="\n",
            section_end="",
            arguments=Arguments(
                item=(
                    Literal("<parameter="),
                    KEY,
                    Literal(">\n"),
                    VALUE,
                    Literal("\n</parameter>\n"),
                ),
                empty="",
                values={**encodings, JsonType.STRING: Encoding.RAW},
            ),
        ),
        limits=(),
        grammar=Grammar(
            triggers=("<tool_call>",),
            preserved_tokens=("<think>", "</think>", "<tool_call>", "</tool_call>"),
        ),
    )


def plain_spec() -> Spec:
    """Return a format that has content and nothing else."""
    return Spec(
        name="plain",
        template=_identity("plain", "4"),
        tokens={},
        capabilities=_capabilities(
            tools=False,
            tool_calls=False,
            parallel_calls=False,
            tool_results=False,
            object_arguments=False,
            content_beside_calls=False,
        ),
        thinking=NO_THINKING,
        turn=Turn(
            header="### Answer:\n",
            order=(Part.CONTENT,),
            joins=(),
            ends=(End(Part.START, "", "\n"), End(Part.CONTENT, "<|stop|>", "<|stop|>\n")),
            stop=("<|stop|>",),
        ),
        reasoning=Reasoning(ReasoningMode.NONE, "", "", None, ReasoningScope.NONE),
        content=Content(ContentMode.PLAIN, "", ""),
        tools=None,
        limits=(
            Limit(Subject.REASONING, Verdict.DROPS, Condition.ALWAYS, "no field shows it"),
            Limit(Subject.CALLS, Verdict.DROPS, Condition.ALWAYS, "not rendered"),
        ),
        grammar=Grammar(triggers=(), preserved_tokens=()),
    )


def channels_spec() -> Spec:
    """Return a format whose parts are messages of their own, each with a channel header."""
    header = "<|start|>assistant"
    return Spec(
        name="channels",
        template=_identity("channels", "5"),
        tokens={},
        capabilities=_capabilities(parallel_calls=False),
        thinking=two_prompts(header, header, {"effort": "high"}, {"effort": "low"}),
        turn=Turn(
            header=header,
            order=(Part.REASONING, Part.CONTENT, Part.CALLS),
            joins=(
                Join(Part.REASONING, Part.CONTENT, header),
                Join(Part.REASONING, Part.CALLS, header),
                Join(Part.CONTENT, Part.CALLS, "<|end|>" + header),
            ),
            ends=(
                End(Part.START, "", ""),
                End(Part.REASONING, "", ""),
                End(Part.CONTENT, "<|return|>", "<|end|>"),
                End(Part.CALLS, "<|call|>", "<|call|>"),
            ),
            stop=("<|return|>", "<|call|>"),
        ),
        reasoning=Reasoning(
            mode=ReasoningMode.TAG_BASED,
            start="<|channel|>analysis<|message|>",
            end="<|end|>",
            field="thinking",
            scope=ReasoningScope.LAST,
        ),
        content=Content(ContentMode.ALWAYS_WRAPPED, "<|channel|>final<|message|>", ""),
        tools=Tools(
            mode=ToolMode.TAG_WITH_JSON,
            section_start="",
            call=(
                Literal(" to=functions."),
                NAME,
                Literal("<|channel|>commentary json<|message|>"),
                ARGUMENTS,
            ),
            separator="",
            section_end="",
            arguments=Arguments(syntax=ValueSyntax(item_separator=",", key_separator=":")),
        ),
        limits=(
            Limit(Subject.FURTHER_CALLS, Verdict.DROPS, Condition.ALWAYS, "renders the first call"),
        ),
        grammar=Grammar(
            triggers=(" to=functions.",),
            preserved_tokens=("<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|call|>"),
        ),
    )


ALL_SPECS = (json_native_spec, tag_with_json_spec, tagged_spec, plain_spec, channels_spec)


def write_spec(folder: Path, spec: Spec) -> bool:
    """Write a spec to ``NAME.yaml`` in ``folder`` and return whether the file changed."""
    return write_atomically(folder / f"{spec.name}.yaml", dump_spec(spec))


def write_results(path: Path, results: Mapping[str, TemplateResult]) -> bool:
    """Write verification.json and return whether it changed."""
    return write_atomically(path, dump_results(results))
