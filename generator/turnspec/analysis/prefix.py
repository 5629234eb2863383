"""Prefix preservation: whether a conversation's text always begins with what it was before.

A template renders a whole conversation anew with each message. Where the text only grows, a cache
of the prefix holds, and what a model read and wrote is what it is trained on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnspec.analysis.probes import CONTENT, REASONING, probe_call
from turnspec.rendering.conversation import (
    EXAMPLE_TOOL,
    NEXT_USER_TEXT,
    USER_TEXT,
    Chat,
    result_message,
    tool_definitions,
    user_message,
)
from turnspec.rendering.dialect import JsonObject
from turnspec.spec.message import Call, Message
from turnspec.spec.words import PrefixStep

#: A step, and the texts before it and behind it; None where the template refuses a conversation.
_Step = tuple[PrefixStep, str | None, str | None]


def find_broken_prefix(chat: Chat, *, with_calls: bool) -> PrefixStep | None:
    """Return the first step that changes what was rendered before it; None if that can't be seen.

    ``chat`` speaks in the template's dialect, under the setting that is asked about. Where its
    prompt leaves no place for reasoning there is none.
    """
    for calls in ((probe_call(0),), ()) if with_calls else ((),):
        found = [_first_break([*_steps(chat, calls, thought)]) for thought in (REASONING, "")]
        seen = [step for step in found if step]
        if seen:
            return next((step for step in seen if step is not PrefixStep.TURN), seen[0])
    return None


def _first_break(steps: Sequence[_Step]) -> PrefixStep | None:
    if any(text is None for _, *texts in steps for text in texts):
        return None
    broken = (step for step, before, after in steps if not (after or "").startswith(before or ""))
    return next(broken, PrefixStep.NOTHING)


def _steps(chat: Chat, calls: Sequence[Call], reasoning: str) -> Iterator[_Step]:
    """Yield the steps of a conversation with a call, if there is one, and a further question."""
    tools = tool_definitions(calls) or [EXAMPLE_TOOL]

    def text(messages: Sequence[JsonObject], *, prompt: bool = False) -> str | None:
        return chat.render(messages, tools=tools, add_generation_prompt=prompt).text

    said = [user_message(USER_TEXT)]
    step = PrefixStep.TURN
    if calls:
        called = [*said, chat.assistant_message(Message(reasoning=reasoning, calls=tuple(calls)))]
        yield step, text(said, prompt=True), text(called)
        said = [*called, *map(result_message, calls)]
        yield PrefixStep.RESULT, text(called), text(said)
        step = PrefixStep.ANSWER
    answered = [*said, chat.assistant_message(Message(CONTENT, reasoning))]
    yield step, text(said, prompt=True), text(answered)
    yield PrefixStep.USER, text(answered), text([*answered, user_message(NEXT_USER_TEXT)])
