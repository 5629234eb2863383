"""A conversation rendered piece by piece: the pieces put together are the whole rendering."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.generated_formats import EVERY_FORMAT
from tests.reference.cases import (
    ANSWER,
    CALLING,
    CALLING_TWO,
    NOON,
    NOW,
    RAIN,
    SYSTEM,
    THANKS,
    THOUGHTFUL,
    TIME,
    USER,
    WEATHER,
    OpenTemplates,
    tried_templates,
)
from turnspec.chat import ChatError, ChatTemplate, Conversation
from turnspec.rendering.worker import RenderWorker

TOOLS = [WEATHER, TIME]
#: Steps of a conversation: messages, a prompt (None), or an answer with the text that was written.
Step = Mapping[str, Any] | None | tuple[Mapping[str, Any], str]

ROUNDS: tuple[tuple[Step, ...], ...] = (
    (USER, None, ANSWER),
    (USER, None, THOUGHTFUL),
    (USER, (ANSWER, "It rains.<end of the turn>")),
    (THANKS, None, (THOUGHTFUL, "They ask.</think>It rains.")),
    (USER, CALLING, RAIN, None, ANSWER),
    (THANKS, None, CALLING_TWO, RAIN, NOON, None, THOUGHTFUL),
)
#: The same conversation for every template: nine messages, and a prompt wherever a model answers.
TALK: tuple[Step, ...] = (
    SYSTEM,
    *(USER, None, THOUGHTFUL),
    *(THANKS, None, CALLING, RAIN, None, ANSWER),
    *(USER, None),
)


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    with RenderWorker() as worker:
        yield worker


def assert_adds_up(chat: ChatTemplate, conversation: Conversation, steps: tuple[Step, ...]) -> int:
    """Take all steps; what was given out is what there is, and every claim holds."""
    text, dropped = "", 0
    for step in steps:
        if isinstance(step, tuple):
            conversation.answered(*step)
            text += step[1]
            continue
        try:
            increment = conversation.prompt() if step is None else conversation.add(step)
        except ChatError:  # the template takes no such conversation
            return dropped
        assert increment.kept + increment.dropped == len(text)
        assert increment.appended == (not increment.reason)
        text = text[: increment.kept] + increment.text
        dropped += not increment.appended
        assert conversation.text == text
        if step is None:
            messages = conversation.messages
            assert text == chat.render(messages, tools=TOOLS, now=NOW).text
    return dropped


def opened(chat: ChatTemplate) -> Conversation:
    return chat.conversation(tools=TOOLS, now=NOW)


@pytest.mark.parametrize("name", tried_templates())
def test_increments_add_up(name: str, templates: OpenTemplates) -> None:
    chat = templates[name]

    @settings(max_examples=9 if EVERY_FORMAT else 2, deadline=None, database=None, derandomize=True)
    @given(st.booleans(), st.lists(st.sampled_from(ROUNDS), min_size=1, max_size=3))
    def holds(guided: bool, rounds: list[tuple[Step, ...]]) -> None:
        steps = (*((SYSTEM,) if guided else ()), *(step for part in rounds for step in part))
        assert_adds_up(chat, opened(chat), (*steps, THANKS, None))

    holds()
    assert_adds_up(chat, opened(chat), TALK)


def talk(text: str, worker: RenderWorker, **options: Any) -> Conversation:
    return ChatTemplate.of_text(text, worker=worker).conversation(**options)


LAST_OTHERWISE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{{ '<return>' if loop.last and m.role == 'assistant' and not add_generation_prompt "
    "else '<end>' }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)


def test_a_last_message_that_ends_otherwise_is_held_back_there(worker: RenderWorker) -> None:
    conversation = talk(LAST_OTHERWISE, worker)
    assert conversation.add(USER).text == f"<user>{USER['content']}<end>"
    assert conversation.prompt().text == "<assistant>"
    step = conversation.add(ANSWER)
    assert (step.text, step.appended) == ("It rains.", True)
    step = conversation.add(THANKS)
    assert (step.text, step.appended) == (f"<end><user>{THANKS['content']}<end>", True)


DROPS_REASONING = (
    "{% for m in messages %}<{{ m.role }}>"
    "{% if m.reasoning_content and loop.last %}<think>{{ m.reasoning_content }}</think>{% endif %}"
    "{{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)


def test_reasoning_that_is_dropped_later_is_never_given_out(worker: RenderWorker) -> None:
    conversation = talk(DROPS_REASONING, worker)
    conversation.add(USER)
    conversation.prompt()
    assert conversation.add(THOUGHTFUL).text == ""
    step = conversation.add(THANKS)
    assert (step.appended, conversation.prompt().appended) == (True, True)
    assert step.text == f"It rains.<end><user>{THANKS['content']}<end>"
    assert "They ask" not in conversation.text


def test_reasoning_that_the_model_wrote_itself_is_told_when_it_is_dropped(
    worker: RenderWorker,
) -> None:
    conversation = talk(DROPS_REASONING, worker)
    conversation.add(USER)
    conversation.prompt()
    conversation.answered(THOUGHTFUL, "<think>They ask for the weather.</think>It rains.<end>")
    step = conversation.add(THANKS)
    assert not step.appended
    assert step.kept == len(f"<user>{USER['content']}<end><assistant>")
    assert step.dropped == len("<think>They ask for the weather.</think>It rains.<end>")
    assert step.text == f"It rains.<end><user>{THANKS['content']}<end>"
    assert step.reason == (
        "message 1 (assistant) is rendered otherwise now: "
        "'<think>They ask for the ' became 'It rains.<end><user>Than'"
    )


TOOLS_LAST = (
    "{% for m in messages %}{% if m.role == 'user' and messages[loop.index0 + 1:] "
    "| selectattr('role', 'equalto', 'user') | list | length == 0 %}"
    "<tools>{% for t in tools or [] %}{{ t.function.name }};{% endfor %}</tools>{% endif %}"
    "<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def test_tools_that_move_are_told(worker: RenderWorker) -> None:
    conversation = talk(TOOLS_LAST, worker, tools=TOOLS)
    conversation.add(USER)
    conversation.prompt()
    assert conversation.text.startswith("<tools>get_weather;get_time;</tools><user>")
    conversation.answered(ANSWER, "It rains.<end>")
    step = conversation.add(THANKS)
    assert not step.appended
    assert step.reason == (
        "message 0 (user) is rendered otherwise now: "
        "'tools>get_weather;get_ti' became \"user>What's the weather \""
    )
    conversation.prompt()
    assert conversation.text.count("<tools>") == 1


TRIMS = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def test_what_is_trimmed_from_an_answer_is_told(worker: RenderWorker) -> None:
    conversation = talk(TRIMS, worker)
    conversation.add(USER)
    conversation.prompt()
    conversation.answered({"role": "assistant", "content": "Rain. \n"}, "Rain. \n<end>")
    step = conversation.add(THANKS)
    assert step.dropped == len(" \n<end>")
    assert step.reason == (
        "message 1 (assistant) is rendered otherwise now: "
        "' \\n<end>' became '<end><user>Thanks! And é'"
    )


DATED = "{{ strftime_now('%Y-%m-%d %H:%M:%S.%f') }}" + TRIMS


def test_the_time_stands_still_in_a_conversation(worker: RenderWorker) -> None:
    conversation = talk(DATED, worker)
    year = str(datetime.datetime.now().year)
    assert conversation.add(USER).text.startswith(year)
    assert conversation.prompt().appended
    assert conversation.add(ANSWER).appended


def test_a_prompt_that_a_template_refuses_is_an_error_and_the_text_stays(
    worker: RenderWorker,
) -> None:
    text = "{% if messages | length == 2 %}{{ raise_exception('two') }}{% endif %}" + TRIMS
    conversation = talk(text, worker)
    conversation.add(USER)
    before = conversation.text
    conversation.add(ANSWER)
    with pytest.raises(ChatError, match="given: TemplateError: two"):
        conversation.prompt()
    conversation.add(THANKS)
    conversation.prompt()
    assert conversation.text.startswith(before)


def test_a_message_in_no_usual_form_is_an_error_that_says_which(worker: RenderWorker) -> None:
    with ChatTemplate.named("qwen3", worker) as chat:
        conversation = chat.conversation()
        conversation.add({"role": "user", "content": "Hello!"})
        with pytest.raises(ChatError, match=r"^messages\[1\]: is no object with a role$"):
            conversation.add(None)  # type: ignore[arg-type]
        assert len(conversation.messages) == 1


def test_the_last_prompt_is_kept_for_the_parser(worker: RenderWorker) -> None:
    conversation = ChatTemplate.named("chatml", worker).conversation()
    assert conversation.last_prompt is None
    conversation.add(USER)
    conversation.prompt()
    assert conversation.last_prompt is not None
    assert conversation.last_prompt.text == conversation.text
    assert conversation.last_prompt.prefill == "<|im_start|>assistant\n"
    assert conversation.messages == (USER,)
