"""What a format offers for a request: behind which prompt, which parts, and from where on."""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.codegen.shapes import looks_like_head
from turnspec.grammar.answers import RESPONSE
from turnspec.grammar.request import GrammarRequest, ToolChoice
from turnspec.grammar.text import GAP, sequence, trimmed
from turnspec.grammar.turn_onward import begins_call, holds_content, opens_reasoning, prompt_extra
from turnspec.grammar.turn_parts import Offer, parts_of
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.prompt_state import begins_content, turn_in
from turnspec.spec.words import Part


def prompt_for(spec: Spec, request: GrammarRequest) -> str:
    """Return the prompt that a grammar stands behind, from the turn's header on."""
    if request.prefill is None:
        return spec.thinking.state(request.thinking).prompt
    return spec.turn.header + turn_in(spec, request.prefill)


def is_lazy(spec: Spec, request: GrammarRequest) -> bool:
    """Say whether the grammar waits for a trigger.

    Not in reasoning that nothing closes, nor behind content that no calls follow, nor in a call.
    """
    may_wait = request.lazy and request.tool_choice == ToolChoice.AUTO
    if not may_wait or request.response_schema is not None or not spec.grammar.triggers:
        return False
    extra = prompt_extra(spec, prompt_for(spec, request))
    if opens_reasoning(spec, extra):
        return trimmed(spec.reasoning.end) != ""
    if holds_content(spec, extra):
        return _calls_follow_content(spec)
    return not begins_call(spec, extra)


def _calls_follow_content(spec: Spec) -> bool:
    order = spec.turn.order
    return Part.CALLS in order[order.index(Part.CONTENT) :]


def offer_for(spec: Spec, request: GrammarRequest) -> Offer:
    """Return what the turn may be; the request has no contradictions."""
    prompt = prompt_for(spec, request)
    extra = prompt_extra(spec, prompt)
    absent = set()
    if not request.calls_allowed:
        absent.add(Part.CALLS)
    is_begun = begins_content(extra, trimmed(spec.content.start), spec.turn.order)
    if request.calls_needed and not (is_begun or holds_content(spec, extra)):
        absent.add(Part.CONTENT)  # what the prompt begins has to be ended
    if not _expects_thinking(spec, request, prompt) and not opens_reasoning(spec, extra):
        absent.add(Part.REASONING)
    parts = tuple(part for part in parts_of(spec) if part not in absent)
    if request.response_schema is None:
        return Offer(spec, parts, (prompt,), needed=Part.CALLS if request.calls_needed else None)
    needed = next(part for part in parts if part is not Part.REASONING)
    return Offer(spec, parts, (prompt,), needed=needed, content=sequence(GAP, RESPONSE, GAP))


def _expects_thinking(spec: Spec, request: GrammarRequest, prompt: str) -> bool:
    """Say whether the model is to think: as the request says, or else as its prompt does."""
    said = {spec.thinking.state(enable).prompt: enable for enable in (False, True, None)}
    enable = said.get(prompt) if request.thinking is None else request.thinking
    return spec.thinking.expects(enable)


def prefill_problems(spec: Spec, request: GrammarRequest) -> Iterator[Problem]:
    """Yield why no grammar can go on where the request's prefill stops."""
    if request.prefill is None:
        return
    extra = prompt_extra(spec, prompt_for(spec, request))
    if opens_reasoning(spec, extra):
        return
    words = filter(looks_like_head, spec.grammar.triggers)
    if not begins_call(spec, extra) and any(word in extra for word in words):
        yield Problem("prefill: it holds a call, and a grammar begins before the first one")
    if not holds_content(spec, extra):
        return
    if request.response_schema is not None:
        yield Problem("prefill: it holds content, and a response schema is for the whole of it")
    if request.calls_needed and not _calls_follow_content(spec):
        yield Problem(f"prefill: it holds content, which no calls follow in {spec.name}")
