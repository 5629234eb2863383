"""The prompt of a live run: what the template renders, or the spec's own generation prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from turnspec.analysis.analyze import ASSUMED_TOKENS
from turnspec.analysis.source import TemplateSource
from turnspec.rendering.conversation import Chat, user_message
from turnspec.rendering.worker import RenderWorker
from turnspec.sources.text_files import sha256_of
from turnspec.spec.model import Spec
from turnspec.spec.words import Switch


class PromptSource(StrEnum):
    """What a prompt comes from."""

    TEMPLATE = "template"
    SPEC = "spec"  # the end of the prompt alone, where the template isn't there


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, and the part of the assistant's turn that is at its end."""

    text: str
    prefill: str
    source: PromptSource


def live_prompt(
    spec: Spec,
    template: TemplateSource | None,
    worker: RenderWorker,
    question: str,
    tools: Sequence[Mapping[str, Any]],
    thinking: bool | None,
) -> Prompt:
    """Render a question, with tools if the template takes any.

    The rendering counts only if it ends as the spec says that a prompt ends.
    """
    state = spec.thinking.state(thinking)
    wanted = state.prompt
    if template is not None and sha256_of(template.text.encode()) == spec.template.sha256:
        tokens = {**ASSUMED_TOKENS, **template.tokens}
        chat = Chat(worker, template.text, tokens, variables=state.variables)
        for text in _renderings(chat, _questions(spec, question, thinking=thinking), tools):
            if text.endswith(wanted):
                return Prompt(text, wanted, PromptSource.TEMPLATE)
    return Prompt(wanted, wanted, PromptSource.SPEC)


def _questions(spec: Spec, question: str, *, thinking: bool | None) -> Iterator[str]:
    """Yield the question, and with each of the words that switch thinking in a message."""
    yield question
    if thinking is None:
        return
    switches = Switch.ENABLED if thinking else Switch.DISABLED
    yield from (f"{question} {w.word}" for w in spec.thinking.words if w.switches is switches)


def _renderings(
    chat: Chat, questions: Iterator[str], tools: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    offered = [dict(tool) for tool in tools]
    for question in questions:
        for given in (offered, []) if offered else ([],):
            messages = [user_message(question)]
            rendering = chat.render(messages, tools=given, add_generation_prompt=True)
            if rendering.text is not None:
                yield rendering.text
