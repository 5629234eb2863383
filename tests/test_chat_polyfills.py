"""What stands in where a template lacks something, on small templates that each lack one thing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from turnspec.chat import ChatError, ChatTemplate, Polyfill, Prompt
from turnspec.rendering.worker import RenderWorker

HEAD = "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
CALLS = (
    "{% for c in m.tool_calls or [] %}<call>{{ c.function.name }} "
    "{{ c.function.arguments | tojson }}</call>{% endfor %}"
)
TAIL = "<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
TOOLS = "{% for t in tools or [] %}<tool>{{ t | tojson }}</tool>{% endfor %}"
#: What `HEAD` prints for null content is no text that anybody wrote.
WHOLE = TOOLS + HEAD.replace("m.content", "m.content or ''") + CALLS + TAIL
NOTHING = HEAD.replace("m.content", "m.content or ''") + TAIL
NO_TOOLS = HEAD.replace("m.content", "m.content or ''") + CALLS + TAIL
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + (
    WHOLE
)
NO_RESULTS = WHOLE.replace("{% for m in messages %}", "{% for m in messages if m.role != 'tool' %}")
ONE_CALL = WHOLE.replace(
    "{% for c in m.tool_calls or [] %}",
    "{% if (m.tool_calls or []) | length > 1 %}{{ raise_exception('one') }}{% endif %}"
    "{% for c in m.tool_calls or [] %}",
)
ALTERNATING = (
    "{% for m in messages if m.role != 'tool' and not m.tool_calls %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('alternate') }}"
    "{% endif %}{% endfor %}" + WHOLE
)
PRINTS_NONE = TOOLS + HEAD + CALLS + TAIL
OBSERVATIONS = WHOLE.replace(
    "{% for m in messages %}",
    "{% for m in messages %}{% if m.role == 'observation' %}<seen>{{ m.content }}</seen>"
    "{% elif m.role == 'tool' %}{% else %}",
).replace("<end>", "<end>{% endif %}")

TOOL = {
    "name": "look",
    "description": "Look.",
    "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Look!"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": '{"at": "sky"}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "blue"},
]
TWO_CALLS: list[dict[str, Any]] = [
    TALK[1],
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "c1", "function": {"name": "look", "arguments": {"at": "sky"}}},
            {"id": "c2", "function": {"name": "look", "arguments": {"at": "sea"}}},
        ],
    },
    {"role": "tool", "tool_call_id": "c2", "content": "green"},
    {"role": "tool", "tool_call_id": "c1", "content": "blue"},
]
SAID = '<call>look {"at": "sky"}</call>'


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    with RenderWorker() as worker:
        yield worker


def rendered(
    template: str, messages: list[dict[str, Any]], worker: RenderWorker, *, tools: bool = False
) -> Prompt:
    chat = ChatTemplate.of_text(template, worker=worker)
    return chat.render(messages, tools=[TOOL] if tools else [])


def test_nothing_is_done_where_nothing_is_missing(worker: RenderWorker) -> None:
    prompt = rendered(WHOLE, TALK, worker, tools=True)
    listed = json.dumps({"type": "function", "function": TOOL})
    assert prompt.text == (
        f"<tool>{listed}</tool><system>Be kind.<end><user>Look!<end><assistant>{SAID}<end>"
        "<tool>blue<end><assistant>"
    )
    assert prompt.polyfills == ()


def test_tools_are_described_with_the_templates_own_call(worker: RenderWorker) -> None:
    prompt = rendered(NO_TOOLS, TALK, worker, tools=True)
    assert prompt.polyfills == (Polyfill.TOOLS,)
    assert prompt.text.partition("<end>")[0] == (
        "<system>Be kind.\n\nYou can call these tools, each given with the JSON Schema of its "
        f"parameters:\n{json.dumps(TOOL)}\n\nTo call a tool, write nothing but the call, with the "
        "tool's name and its arguments, in this form. Write several calls one behind the other.\n"
        '<call>look {"at": "…"}</call>'
    )


def test_a_system_message_is_made_for_tools(worker: RenderWorker) -> None:
    prompt = rendered(NO_TOOLS, TALK[1:2], worker, tools=True)
    assert prompt.text.startswith("<system>You can call these tools")
    assert prompt.text.endswith("<end><user>Look!<end><assistant>")


def test_a_template_without_calls_gets_a_syntax_that_its_parser_reads(
    worker: RenderWorker,
) -> None:
    chat = ChatTemplate.of_text(NOTHING, worker=worker)
    prompt = chat.render(TALK, tools=[TOOL])
    call = '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>'
    assert prompt.polyfills == (Polyfill.TOOLS, Polyfill.CALLS)
    assert call.replace("sky", "…") in prompt.text
    assert f"<assistant>{call}<end>" in prompt.text
    parser = chat.parser(prompt, tools=[TOOL])
    parser.feed(f"I look.\n{call}<end>")
    parser.finish()
    message = parser.message
    assert (message.content, message.problems) == ("I look.", [])
    assert [(c.name, c.arguments) for c in message.tool_calls] == [("look", '{"at": "sky"}')]


def test_a_system_message_moves_into_the_first_user_message(worker: RenderWorker) -> None:
    prompt = rendered(NO_SYSTEM, TALK[:2], worker)
    assert prompt.text == "<user>Be kind.\n\nLook!<end><assistant>"
    assert prompt.polyfills == (Polyfill.SYSTEM,)
    alone = rendered(NO_SYSTEM, TALK[:1], worker)
    assert alone.text == "<user>Be kind.<end><assistant>"


def test_results_become_user_messages(worker: RenderWorker) -> None:
    prompt = rendered(NO_RESULTS, TALK[1:], worker)
    assert prompt.text.endswith(f"{SAID}<end><user>Result of look:\nblue<end><assistant>")
    assert prompt.polyfills == (Polyfill.RESULTS,)


def test_the_templates_own_role_for_results(worker: RenderWorker) -> None:
    prompt = rendered(OBSERVATIONS, TALK[1:], worker)
    assert prompt.text.endswith(f"{SAID}<end><seen>blue</seen><assistant>")
    assert prompt.polyfills == ()


def test_several_calls_become_several_messages_with_their_results(worker: RenderWorker) -> None:
    prompt = rendered(ONE_CALL, TWO_CALLS, worker)
    assert prompt.polyfills == (Polyfill.SINGLE_CALLS,)
    assert prompt.text == (
        f"<user>Look!<end><assistant>I look.{SAID}<end><tool>blue<end>"
        f"<assistant>{SAID.replace('sky', 'sea')}<end><tool>green<end><assistant>"
    )


def test_messages_of_one_role_in_a_row_are_merged(worker: RenderWorker) -> None:
    twice = [TALK[1], {"role": "user", "content": [{"type": "text", "text": "Now!"}]}]
    prompt = rendered(ALTERNATING, twice, worker)
    assert prompt.text == "<user>Look!\n\nNow!<end><assistant>"
    assert prompt.polyfills == (Polyfill.ALTERNATION,)
    assert rendered(ALTERNATING, TALK[1:2], worker).polyfills == ()


def test_null_content_is_not_printed(worker: RenderWorker) -> None:
    chat = ChatTemplate.of_text(PRINTS_NONE, worker=worker)
    assert chat.polyfills == (Polyfill.NULL_CONTENT,)
    assert f"<assistant>{SAID}" in chat.render(TALK).text


def test_what_the_template_refuses_is_an_error(worker: RenderWorker) -> None:
    with pytest.raises(ChatError) as raised:
        rendered(WHOLE + "{{ raise_exception('not today') }}", TALK, worker)
    assert str(raised.value) == "given: TemplateError: not today"
