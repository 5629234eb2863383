"""Rendering with a chat template: thinking, variables, time, continuing, tokens, errors."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import pytest

from tests.own_templates import own_template
from turnspec.chat import ChatError, ChatTemplate
from turnspec.rendering.worker import RenderWorker

USER = [{"role": "user", "content": "Hi"}]
NOON = datetime.datetime(2031, 5, 6, 12, 0, 0)


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    with RenderWorker() as worker:
        yield worker


def own(name: str, worker: RenderWorker) -> ChatTemplate:
    return ChatTemplate.of_text(
        own_template(name).text, bos_token="<s>", eos_token="</s>", worker=worker
    )


@pytest.mark.parametrize(
    ("thinking", "end"),
    [
        (None, "<|im_start|>assistant\n"),
        (True, "<|im_start|>assistant\n"),
        (False, "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
    ],
)
def test_thinking_is_switched_by_the_templates_variable(
    thinking: bool | None, end: str, worker: RenderWorker
) -> None:
    chat = ChatTemplate.named("qwen3", worker)
    prompt = chat.render(USER, thinking=thinking)
    assert prompt.text == f"<|im_start|>user\nHi<|im_end|>\n{end}"
    assert prompt.prefill == end
    assert prompt.notes == ()


def test_thinking_is_switched_by_the_templates_word(worker: RenderWorker) -> None:
    chat = own("thinking-by-word", worker)
    (word,) = chat.spec().thinking.words
    prompt = chat.render(USER, thinking=True)
    assert f"Hi {word.word}" in prompt.text
    assert prompt.prefill == chat.spec().thinking.enabled.prompt
    assert chat.render(USER, thinking=False).prefill == chat.spec().thinking.disabled.prompt
    assert word.word not in chat.render(USER, thinking=False).text


def test_thinking_that_nothing_switches(worker: RenderWorker) -> None:
    prompt = ChatTemplate.named("chatml", worker).render(USER, thinking=False)
    assert prompt.notes == ("nothing turns thinking off in this template",)


def test_variables_by_their_real_names(worker: RenderWorker) -> None:
    chat = ChatTemplate.named("qwen3", worker)
    assert chat.variables == ("enable_thinking",)
    prompt = chat.render(USER, variables={"enable_thinking": False})
    assert prompt.prefill == "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    # What is said by name counts.
    prompt = chat.render(USER, thinking=False, variables={"enable_thinking": True})
    assert prompt.prefill == "<|im_start|>assistant\n"
    prompt = chat.render(USER, variables={"enable_thoughts": False})
    assert prompt.notes == (
        "the template reads no variable enable_thoughts; it reads enable_thinking",
    )


def test_a_prompt_that_a_variable_makes_is_the_prefill(worker: RenderWorker) -> None:
    text = (
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
        "{% if add_generation_prompt %}<assistant>{{ tone }}{% endif %}"
    )
    chat = ChatTemplate.of_text(text, worker=worker)
    assert chat.render(USER, variables={"tone": "Gladly"}).prefill == "<assistant>Gladly"


def test_templates_see_the_time(worker: RenderWorker) -> None:
    text = "{{ strftime_now('%d %b %Y') }} {{ datetime }} {{ messages[0].content }}" + (
        "{% if messages[1] %}>{{ messages[1].content }}{% endif %}"
        "{% if add_generation_prompt %}>{% endif %}"
    )
    chat = ChatTemplate.of_text(text, worker=worker)
    assert chat.render(USER, now=NOON).text == "06 May 2031 2031-05-06 Hi>"
    today = datetime.datetime.now().strftime("%Y-%m-")
    assert today in chat.render(USER).text


def test_without_a_generation_prompt(worker: RenderWorker) -> None:
    prompt = ChatTemplate.named("chatml", worker).render(USER, add_generation_prompt=False)
    assert (prompt.text, prompt.prefill) == ("<|im_start|>user\nHi<|im_end|>\n", "")


@pytest.mark.parametrize(
    ("begun", "thinking", "end"),
    [
        ({"content": "It is "}, None, "It is "),
        ({"content": "It is "}, False, "<think>\n\n</think>\n\nIt is "),
        (
            {"content": "It is ", "reasoning_content": "Hm."},
            None,
            "<think>\nHm.\n</think>\n\nIt is ",
        ),
        ({"content": "", "reasoning": "Hm, "}, None, "<think>\nHm, "),
        ({"content": None}, None, ""),
    ],
)
def test_a_message_is_continued(
    begun: dict[str, Any], thinking: bool | None, end: str, worker: RenderWorker
) -> None:
    chat = ChatTemplate.named("qwen3", worker)
    messages = [*USER, {"role": "assistant", **begun}]
    prompt = chat.render(messages, continue_final=True, thinking=thinking)
    assert prompt.text == f"<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n{end}"
    assert prompt.prefill == f"<|im_start|>assistant\n{end}"


def test_a_continued_answer_is_read_whole(worker: RenderWorker) -> None:
    chat = ChatTemplate.named("qwen3", worker)
    begun = {"role": "assistant", "content": "It is ", "reasoning_content": "Hm."}
    prompt = chat.render([*USER, begun], continue_final=True)
    parser = chat.parser(prompt, echo=True)
    parser.feed("noon.<|im_end|>")
    parser.finish()
    assert parser.message.to_dict() == {
        "role": "assistant",
        "content": "It is noon.",
        "reasoning_content": "Hm.",
    }


@pytest.mark.parametrize(
    ("messages", "thinking", "problem"),
    [
        (
            USER,
            None,
            "messages[-1]: isn't an assistant's message behind another one, so it can't be "
            "continued",
        ),
        (
            [{"role": "assistant", "content": "x"}],
            None,
            "messages[-1]: isn't an assistant's message behind another one, so it can't be "
            "continued",
        ),
        (
            [*USER, {"role": "assistant", "tool_calls": [{"name": "f"}]}],
            None,
            "messages[-1]: a message with calls can't be continued",
        ),
        (
            [*USER, {"role": "assistant", "content": "x", "reasoning": "y"}],
            False,
            "messages[-1]: the prompt leaves no place for the message's reasoning",
        ),
    ],
)
def test_what_cant_be_continued(
    messages: list[Any], thinking: bool | None, problem: str, worker: RenderWorker
) -> None:
    chat = ChatTemplate.named("qwen3", worker)
    with pytest.raises(ChatError) as raised:
        chat.render(messages, continue_final=True, thinking=thinking)
    assert str(raised.value) == problem


def test_all_problems_are_told_at_once(worker: RenderWorker) -> None:
    chat = ChatTemplate.named("chatml", worker)
    with pytest.raises(ChatError) as raised:
        chat.render([{"role": 3}, {"role": "user", "content": 3}])
    assert [str(problem) for problem in raised.value.problems] == [
        "messages[0]: is no object with a role",
        "messages[1].content: is neither text nor a list of parts",
    ]


def test_calls_a_level_higher_are_rendered(worker: RenderWorker) -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": '{"at": "sky"}'}}
    prompt = own("flat-calls", worker).render([*USER, {"role": "assistant", "tool_calls": [call]}])
    assert "<do look><set at>sky</set></do>" in prompt.text


def test_reasoning_in_blocks(worker: RenderWorker) -> None:
    chat = own("blocks-in-container", worker)
    message = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
    text = chat.render([*USER, message], add_generation_prompt=False).text
    assert "Hm." in text
    assert "Yes." in text


def test_a_schema_that_no_grammar_has(worker: RenderWorker) -> None:
    chat = ChatTemplate.named("chatml", worker)
    with pytest.raises(ChatError, match="#"):
        chat.response_grammar({"type": "nothing"}, chat.render(USER))


def test_a_grammar_of_answers(worker: RenderWorker) -> None:
    chat = ChatTemplate.named("qwen3", worker)
    grammar = chat.response_grammar({"type": "boolean"}, chat.render(USER, thinking=False))
    rules = [line for line in grammar.splitlines() if "response" in line and "::=" in line]
    assert rules == [
        "content-turn ::= gap response gap ( turn-end )?",
        'response ::= "true" | "false"',
    ]


def test_a_template_that_cant_be_analysed_is_rendered_all_the_same(worker: RenderWorker) -> None:
    text = "{{ messages[0].content }}{% if add_generation_prompt %}>>{% endif %}"
    chat = ChatTemplate.of_text(text, worker=worker)
    prompt = chat.render(USER)
    problem = "given: the template renders no assistant content"
    assert (prompt.text, prompt.prefill) == ("Hi>>", ">>")
    assert prompt.notes == (f"its answers can't be read: {problem}",)
    with pytest.raises(ChatError, match=problem):
        chat.parser(prompt)


def test_a_template_is_a_context_manager() -> None:
    with ChatTemplate.named("chatml") as chat:
        assert chat.render(USER).text.startswith("<|im_start|>user")
    assert chat.capabilities.tools
