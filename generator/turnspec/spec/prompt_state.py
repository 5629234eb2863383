"""Where a generation prompt leaves reasoning, for the analysis, grammars and the ladder alike."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.spec.words import Part


class PromptState(IntEnum):
    """Where a generation prompt leaves reasoning."""

    CLOSED = 0
    NEUTRAL = 1
    OPEN = 2


def prompt_state(prompt: str, start: str, end: str, absent: str = "") -> PromptState:
    """Tell whether a generation prompt leaves reasoning open, closed, or neither.

    ``prompt`` is what it adds after the assistant's header, ``absent`` what a turn without
    reasoning has in its place. Reasoning that has only a closing marker is open in any prompt that
    adds something and doesn't close it; without markers nothing can be open.
    """
    opening, closing = start.strip(), end.strip()
    if not prompt.strip() or not (opening or closing):
        return PromptState.NEUTRAL
    if prompt.strip() == absent.strip():
        return PromptState.CLOSED
    opened = prompt.rfind(opening) if opening else 0
    # The closing marker may be how the opening one begins.
    inside = opened + len(opening) if opening and opened >= 0 else 0
    closed = prompt.rfind(closing, inside) if closing else -1
    if closed >= 0 and closed >= opened:
        return PromptState.CLOSED
    return PromptState.OPEN if opened >= 0 else PromptState.NEUTRAL


def begins_content(prompt: str, start: str, order: Sequence[Part]) -> bool:
    """Tell whether a prompt adds just what content begins with, so that reasoning is over.

    Words do that only where calls may follow content: else they would leave no place for calls.
    """
    before = order[: order.index(Part.CONTENT)] if Part.CONTENT in order else ()
    is_first = Part.CALLS not in before
    return prompt != "" and prompt == start and (prompt.isspace() or is_first)


def turn_in(spec: Spec, prefill: str) -> str:
    """Return what a prefill holds of the turn behind its header, as parsers see it.

    ``prefill`` may begin with the header, or with the conversation before it. A turn in it that is
    over, as before a tool's results, is none of this one's: then only what prompts end with counts.
    """
    header, stops = spec.turn.header, stop_strings(spec)
    mark = header if header in prefill else header.strip()
    last = prefill.rpartition(mark)[2] if mark else prefill
    begun = prefill.removeprefix(header) if prefill.startswith(header) else last
    openings = [prompt.removeprefix(header) for prompt in ("", *spec.thinking.prompts)]
    opening = max(filter(prefill.endswith, openings), key=len)
    return next((it for it in (begun, last) if not any(map(it.__contains__, stops))), opening)


def state_in(spec: Spec, prompt: str, absent: str = "") -> PromptState:
    """Tell the same of a spec's reasoning; without an end, what content begins with closes it."""
    closing = spec.reasoning.end or spec.content.start or spec.join(Part.REASONING, Part.CONTENT)
    if absent == spec.join(Part.START, Part.REASONING):
        absent = ""  # words that every part has before it
    return prompt_state(prompt, spec.reasoning.start, closing, absent)
