"""What prompts hold that no part of a spec explains."""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.analysis.text import closing_of, markers, whole_prefix
from turnspec.rendering.conversation import Chat
from turnspec.spec.model import Spec, Thinking
from turnspec.spec.words import Part, ReasoningMode
from turnspec.spec.yaml_text import quoted
from turnspec.verification.messages import format_markers

#: The states of thinking by their paths in the spec, and what is asked of each.
STATES = {"thinking.default": None, "thinking.enabled": True, "thinking.disabled": False}


def prompts_of(thinking: Thinking) -> Iterator[tuple[str, str]]:
    """Yield the generation prompts of the states by their paths, each prompt once."""
    choices = thinking.choices
    for path, enable in STATES.items():
        if enable in choices:
            yield f"{path}.prompt", thinking.state(enable).prompt
    for number, state in enumerate(thinking.others):
        yield f"thinking.others[{number}].prompt", state.prompt


def unexplained_prompts(spec: Spec, chat: Chat) -> Iterator[tuple[str, bool]]:
    """Yield what a setting puts into a prompt, where that is none of the format's markers.

    Also yields whether it may open a thought: not where turns show how thoughts begin, unless the
    template has what closes it.
    """
    known = tuple(text for _, text in prompts_of(spec.thinking) if text)
    values = chat.facts.switch_values.items()
    for name, value in ((name, value) for name, each in values for value in each):
        prompt = chat.using({name: value}).prompt().text or ""
        if prompt.endswith(known) or spec.turn.header not in prompt:
            continue
        # What is printed itself is a text of the user's, and switches nothing.
        if str(value) in prompt:
            continue
        for marker in unexplained(spec, prompt):
            told = f"with {name}={value!r} a prompt has the marker {quoted(marker)}"
            yield told, may_open_thought(spec, chat, marker)


def may_open_thought(spec: Spec, chat: Chat, marker: str) -> bool:
    """Tell whether a marker may open a thought: turns show none, or the template may close it."""
    is_shown = spec.reasoning.mode is not ReasoningMode.NONE and Part.REASONING in spec.turn.order
    return not is_shown or closing_of(marker) in "".join(chat.facts.string_constants)


def unexplained(spec: Spec, prompt: str) -> Iterator[str]:
    """Yield the markers behind the header of a prompt that are none of the format's."""
    known = format_markers(spec) | {marks.fixed_start for marks in spec.alternatives.marks}
    # A turn may be rendered without the header that all prompts have.
    header = spec.turn.header or whole_prefix([text for _, text in prompts_of(spec.thinking)])
    behind = prompt.partition(header)[2] if header and header in prompt else prompt
    for marker in markers(_outside_of_reasoning(spec, behind)):
        # Turns may show only what closes reasoning that a prompt has opened.
        opens = spec.reasoning.end.strip() == closing_of(marker)
        if not opens and not any(marker in text for text in known):
            yield marker


def _outside_of_reasoning(spec: Spec, text: str) -> str:
    """Return a text without what stands in a block of reasoning: that is reasoning's own text."""
    start, end = spec.reasoning.start.strip(), spec.reasoning.end.strip()
    if not start or not end or start not in text:
        return text
    before, _, behind = text.partition(start)
    inside, closed, rest = behind.rpartition(end)
    return before + rest if closed else before + inside
