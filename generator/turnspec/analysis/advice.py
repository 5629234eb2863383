"""What a person should know beside the spec: what wasn't found, and what the prompt says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from turnspec.analysis.overlaid import CALLS_NEVER_RENDERED
from turnspec.analysis.overlay_draft import OverlayDraft, draft_overlay, draft_problems
from turnspec.analysis.source import TemplateSource
from turnspec.analysis.told_limits import NEVER_RENDERED
from turnspec.rendering.conversation import Chat
from turnspec.spec.model import Spec
from turnspec.spec.words import ReasoningMode


@dataclass(frozen=True, slots=True)
class Advice:
    """What wasn't found, in words; a draft of an overlay, and why it can't be applied as it is."""

    missing: tuple[str, ...]
    draft: OverlayDraft | None = None
    draft_problems: tuple[str, ...] = ()


def advise(spec: Spec, source: TemplateSource, chat: Chat) -> Advice:
    """Return what isn't in a spec, and how an overlay could say it; ``chat`` has no settings."""
    draft = draft_overlay(spec, source, chat)
    problems = draft_problems(draft, spec, source) if draft else []
    return Advice(tuple(_missing(spec)), draft, tuple(problems))


def _missing(spec: Spec) -> Iterator[str]:
    if spec.reasoning.mode is ReasoningMode.NONE:
        yield "reasoning markers"
    elif NEVER_RENDERED in spec.limits:
        yield "reasoning in a rendered message"
    if spec.tools is None:
        yield "calls"
    elif CALLS_NEVER_RENDERED in spec.limits:
        yield "calls in a rendered message"
    elif not spec.capabilities.parallel_calls:
        yield "more than one call in a turn"
    if spec.tools is not None and not spec.grammar.triggers:
        yield "a text that starts a call for certain"
    if not spec.turn.stop:
        yield "a text that ends the turn"
