"""Turns as the parser meets them: the generation prompt's part as prefill, the rest as output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from turnspec.analysis.modes import marks_of_prompt
from turnspec.analysis.text import whole_prefix
from turnspec.codegen.writer import as_rendered, write_parts
from turnspec.rendering.conversation import Chat, tool_definitions
from turnspec.spec.conditions import holds, parts_of_message
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.prompt_state import PromptState, begins_content, state_in
from turnspec.spec.visible import shortened
from turnspec.spec.words import Condition, Part, ReasoningMode, Subject, Verdict
from turnspec.spec.yaml_text import quoted
from turnspec.verification.comparing import Turn
from turnspec.verification.messages import sample_messages


@dataclass(frozen=True, slots=True)
class Renderer:
    """Renders turns of one template as its spec sees them."""

    spec: Spec
    chat: Chat
    prompt: str
    bare_prompt: str
    _turns: dict[str, tuple[str | None, str]] = field(default_factory=dict, repr=False)

    @classmethod
    def create(cls, spec: Spec, chat: Chat) -> Renderer:
        """Take a chat in the template's dialect: reasoning as the spec says, thinking enabled."""
        reasoning = spec.reasoning
        dialect = replace(
            chat.dialect,
            reasoning_field=reasoning.field,
            call_reasoning_field=reasoning.call_field,
            blocks=reasoning.blocks,
        )
        using = chat.speaking(dialect).using(spec.thinking.enabled.variables)
        prompt = using.prompt().text or ""
        bare = using.prompt(add_generation_prompt=False).text or ""
        return cls(spec, using, prompt, bare)

    def turn(self, message: Message) -> tuple[str | None, str]:
        """Return the rendered text behind the user's message, or None and why there is none."""
        key = repr(message)  # what is rendered is kept: several rungs ask for the same
        if key not in self._turns:
            self._turns[key] = self._render(message)
        return self._turns[key]

    def _render(self, message: Message) -> tuple[str | None, str]:
        rendering = self.chat.turn(message)
        if rendering.text is None:
            return None, rendering.error
        if not self.spec.turn.header:
            return rendering.text, ""
        # Some templates put a prompt behind every conversation, asked for or not.
        user_end = rendering.text.partition(self.spec.turn.header)[0]
        # Behind a conversation no header is indented, nor joined.
        ends = (user_end, user_end.rstrip(" "), user_end.rstrip())
        known = next(filter(self.bare_prompt.startswith, ends), None)
        if known is None:
            return rendering.text, ""
        return rendering.text.removesuffix(self.bare_prompt.removeprefix(known)), ""

    def parser_input(self, turn: str, calls: Sequence[Call]) -> Turn | None:
        """Split a rendered turn behind what the generation prompt has in common with it."""
        header = self.spec.turn.header
        common = whole_prefix([turn, self.prompt])
        # Without a header, the turn begins where a conversation without a prompt ends.
        start = common.rfind(header) if header else len(whole_prefix([common, self.bare_prompt]))
        if start < 0:  # the prompt says more between the user's message and the header
            start = turn.find(header)
            common = turn[: start + len(header)]
        if start < 0:
            return None
        return Turn(turn[len(common) :], common[start:], tool_definitions(calls))


def written_input(spec: Spec, message: Message, *, thinking: bool | None) -> Turn | None:
    """Return what a model that follows its own format writes after a real generation prompt.

    ``thinking`` says which prompt. None where it leaves no place for the message's reasoning.
    """
    prompt = spec.thinking.state(thinking).prompt
    state = prompt_leaves(spec, thinking=thinking)
    has_reasoning = spec.reasoning.mode is not ReasoningMode.NONE
    shown = expected_behind(spec, message, thinking)
    turn = spec.turn.header + write_parts(spec, shown, Part.START)
    if turn.startswith(prompt):
        text = turn[len(prompt) :]
    elif prompt.strip() and turn.startswith(prompt.rstrip()):  # and has other white space there
        text = turn[len(prompt.rstrip()) :].lstrip()
    elif marks_of_prompt(spec, prompt):
        text = write_parts(spec, shown, Part.START).lstrip()
    elif state is PromptState.NEUTRAL or not has_reasoning or is_in_content(spec, prompt):
        return None
    else:
        behind = write_parts(spec, replace(shown, reasoning=""), Part.REASONING)
        is_open = state is PromptState.OPEN
        text = shown.reasoning + behind if is_open else behind.removeprefix(spec.reasoning.end)
    return Turn(text, prompt, tool_definitions(shown.calls), thinking)


def is_in_content(spec: Spec, prompt: str) -> bool:
    """Tell whether a prompt ends in the words that content begins with, so that it has to come."""
    start = spec.content.start
    return bool(start.strip()) and prompt == spec.turn.header + start


def no_place(spec: Spec, what: str) -> str:
    """Say that no prompt leaves a place for something, and how prompts and turns differ."""
    message = expected_message(spec, list(sample_messages(spec))[-1])
    turn = spec.turn.header + write_parts(spec, message, Part.START)
    prompt, begins = (quoted(shortened(text, 40)) for text in (spec.thinking.default.prompt, turn))
    told = f"the prompt is {prompt}, and such a turn begins {begins}"
    return f"no prompt leaves a place for {what}: {told}"


def prompt_leaves(spec: Spec, *, thinking: bool | None) -> PromptState:
    """Return where the generation prompt leaves reasoning."""
    prompt = spec.thinking.state(thinking).prompt
    absent = spec.join(Part.START, Part.CONTENT)
    rest = prompt.removeprefix(spec.turn.header)
    is_shown = spec.reasoning.field is not None  # else nobody knows with what it begins
    start = absent + spec.content.start
    if is_shown and start != spec.reasoning.start and begins_content(rest, start, spec.turn.order):
        return PromptState.CLOSED  # by what stands before content, be it white space alone
    return state_in(spec, rest, absent)


def expected_message(spec: Spec, message: Message) -> Message:
    """Return the message as a model writes it: what its own template never renders stays."""
    shown = as_rendered(spec, message)
    if not spec.reasoning.field:
        shown = replace(shown, reasoning=message.reasoning)
    return replace(shown, calls=message.calls) if never_renders_calls(spec) else shown


def expected_behind(spec: Spec, message: Message, thinking: bool | None) -> Message:
    """Return that without reasoning where the prompt closes it, be it content moved by calls."""
    shown = expected_message(spec, message)
    closed = prompt_leaves(spec, thinking=thinking) is PromptState.CLOSED
    closed = closed or spec.reasoning.mode is ReasoningMode.NONE
    return replace(shown, reasoning="") if closed else shown


def never_renders_calls(spec: Spec) -> bool:
    """Tell whether calls are known from an overlay alone, or written as that says."""
    if writes_calls_otherwise(spec):
        return True
    never = (Subject.CALLS, Verdict.DROPS, Condition.ALWAYS)
    return any((limit.subject, limit.verdict, limit.when) == never for limit in spec.limits)


def writes_calls_otherwise(spec: Spec) -> bool:
    """Tell whether an overlay says that the model writes calls otherwise than the template."""
    return any(key.startswith("tools.") for key in spec.overlay)


def is_within_calls(spec: Spec, message: Message) -> bool:
    """Tell whether a message's content stands within its calls, where no writer writes it."""
    within = (Subject.CONTENT, Verdict.AMBIGUOUS, Condition.WITH_CALLS)
    has_both = bool(message.content and message.calls)
    return has_both and any((it.subject, it.verdict, it.when) == within for it in spec.limits)


def is_ambiguous(spec: Spec, message: Message) -> bool:
    """Tell whether the spec says that a rendered message can't be read back for sure."""
    parts = (Subject.REASONING, Subject.CONTENT, Subject.CALLS)
    return any(
        limit.verdict is Verdict.AMBIGUOUS
        and not limit.characters  # messages are made without them
        and limit.subject in parts
        and holds(limit.when, parts_of_message(message))
        for limit in spec.limits
    )
