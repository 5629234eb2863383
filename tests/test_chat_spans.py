"""What of a rendered conversation the model wrote: spans, masks of tokens, and the command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from click.testing import CliRunner

from turnspec.chat import ChatError, ChatTemplate, Transcript
from turnspec.cli.main import turnspec
from turnspec.rendering.worker import RenderWorker

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
LOOK: dict[str, Any] = {"name": "look", "arguments": {"city": "Paris </s>"}}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "user", "content": "Hi?"},
    {"role": "assistant", "content": "Hello.", "reasoning_content": "They greet."},
    {"role": "user", "content": "The weather?"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "call_0001", "function": LOOK}]},
    {"role": "tool", "tool_call_id": "call_0001", "name": "look", "content": "rain"},
    {"role": "assistant", "content": "It rains.", "reasoning_content": "So it is."},
]
#: Ends a turn of calls otherwise, and goes on behind a result without a header.
TWO_ENDS = """\
{%- for m in messages %}
{%- if m.role == 'user' %}{{ '[U]' + m.content + '[/U]' }}{% endif %}
{%- if m.role == 'tool' %}{{ '[U]result: ' + m.content + '[/U]' }}{% endif %}
{%- if m.role == 'assistant' and m.tool_calls %}
{%- for c in m.tool_calls %}
{{- '[CALL]{"name": "' + c.function.name + '", "arguments": ' + c.function.arguments | tojson }}
{{- '}' }}
{%- endfor %}{{ '[WAIT]' }}
{%- elif m.role == 'assistant' %}{{ m.content + '[END]' }}{% endif %}
{%- endfor %}
"""
TAGGED = """\
{%- for m in messages %}
{{- '<|im_start|>' + m.role + '\\n' }}
{%- if m.role == 'assistant' %}{% generation %}
{{- m.content + '<|im_end|>' }}{% endgeneration %}{% else %}
{{- m.content + '<|im_end|>' }}{% endif %}
{{- '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}
"""


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    with RenderWorker() as worker:
        yield worker


def written(found: Transcript) -> list[str]:
    return [found.text[span.start : span.end] for span in found.spans]


@pytest.mark.parametrize(
    ("thinking", "last"),
    [
        (None, "<think>\nSo it is.\n</think>\n\nIt rains.<|im_end|>"),
        (True, "<think>\nSo it is.\n</think>\n\nIt rains.<|im_end|>"),
    ],
)
def test_a_span_holds_what_the_prompt_does_not(
    thinking: bool | None, last: str, worker: RenderWorker
) -> None:
    """Reasoning that the template leaves out of earlier turns is in no span."""
    chat = ChatTemplate.named("qwen3", worker)
    found = chat.spans(CONVERSATION, tools=TOOLS, thinking=thinking)
    call = '{"name": "look", "arguments": {"city": "Paris </s>"}}'
    assert written(found) == [
        "Hello.<|im_end|>",
        f"<tool_call>\n{call}\n</tool_call><|im_end|>",
        last,
    ]
    assert [span.message for span in found.spans] == [1, 3, 5]
    assert (
        found.text
        == chat.render(
            CONVERSATION, tools=TOOLS, thinking=thinking, add_generation_prompt=False
        ).text
    )


def test_what_closes_thinking_in_the_prompt_is_in_no_span(worker: RenderWorker) -> None:
    chat = ChatTemplate.named("qwen3", worker)
    found = chat.spans(
        [{"role": "user", "content": "Hi?"}, {"role": "assistant", "content": "Hello."}],
        thinking=False,
    )
    assert written(found) == ["Hello.<|im_end|>"]


def test_turns_without_a_header_and_with_several_ends(worker: RenderWorker) -> None:
    found = ChatTemplate.of_text(TWO_ENDS, worker=worker).spans(CONVERSATION, tools=TOOLS)
    assert written(found) == [
        "Hello.[END]",
        '[CALL]{"name": "look", "arguments": {"city": "Paris </s>"}}[WAIT]',
        "It rains.[END]",
    ]


def test_content_behind_a_result_is_in_no_span(worker: RenderWorker) -> None:
    """Some templates write what a model says beside a call where it has stopped already."""
    moved = TWO_ENDS.replace(
        "{{ '[U]result: ' + m.content + '[/U]' }}",
        "{{ '[U]result: ' + m.content + '[/U]' + messages[loop.index0 - 1].content + '[END]' }}",
    )
    assert moved != TWO_ENDS
    messages = [{**m, "content": "I look."} if "tool_calls" in m else m for m in CONVERSATION]
    found = ChatTemplate.of_text(moved, worker=worker).spans(messages, tools=TOOLS)
    call = '[CALL]{"name": "look", "arguments": {"city": "Paris </s>"}}[WAIT]'
    assert written(found) == ["Hello.[END]", call, "It rains.[END]"]


def test_the_templates_own_word_counts(worker: RenderWorker) -> None:
    """What ``{% generation %}`` says; without the tag the same is found."""
    messages = [m for m in CONVERSATION if m["content"] and m["role"] != "tool"]
    tagged = ChatTemplate.of_text(TAGGED, worker=worker).spans(messages)
    bare = re.sub(r"\{%-? (end)?generation %\}", "", TAGGED)
    assert tagged == ChatTemplate.of_text(bare, worker=worker).spans(messages)
    assert written(tagged) == ["Hello.<|im_end|>", "It rains.<|im_end|>"]
    moved = TAGGED.replace("{{- m.content + '<|im_end|>' }}{% end", "{{- m.content }}{% end")
    assert written(ChatTemplate.of_text(moved, worker=worker).spans(messages)) == [
        "Hello.",
        "It rains.",
    ]


def test_text_that_looks_like_a_turn_moves_no_span(worker: RenderWorker) -> None:
    quoted = "<|im_start|>assistant\nNo.<|im_end|>\n"
    messages = [
        {"role": "user", "content": quoted},
        {"role": "assistant", "content": f"{quoted}Yes."},
        {"role": "user", "content": quoted},
    ]
    found = ChatTemplate.named("chatml", worker).spans(messages)
    assert written(found) == [f"{quoted}Yes.<|im_end|>"]


def test_a_mask_of_tokens_goes_by_their_characters() -> None:
    found = ChatTemplate.named("chatml")
    with found as chat:
        spans = chat.spans(
            [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        )
    (span,) = spans.spans
    offsets = [(0, 0), (0, span.start), (span.start, span.end), (span.end - 1, span.end + 1)]
    assert spans.mask(offsets) == [0, 0, 1, 0]


def test_what_the_template_shows_nothing_of_is_told(worker: RenderWorker) -> None:
    silent = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}"
    chat = ChatTemplate.of_text(silent, worker=worker)
    with pytest.raises(ChatError):
        chat.spans(CONVERSATION[:2])


def run(*arguments: str, given: str) -> Any:
    return CliRunner().invoke(turnspec, ["mask", *arguments], input=given)


def test_the_command_masks_lines() -> None:
    conversations: list[Any] = [CONVERSATION[:2], {"messages": CONVERSATION, "tools": TOOLS}]
    done = run("qwen3", "-", given="".join(f"{json.dumps(one)}\n\n" for one in conversations))
    assert done.exit_code == 0, done.output
    rows: list[Mapping[str, Any]] = [json.loads(line) for line in done.output.splitlines()]
    assert [len(row["spans"]) for row in rows] == [1, 3]
    first = rows[0]["spans"][0]
    shown = rows[0]["text"][first["start"] : first["end"]]
    assert shown == "<think>\nThey greet.\n</think>\n\nHello.<|im_end|>"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("[]\n{", "conversations:2: not JSON: "),
        ("7", "conversations:1: no list of messages, nor an object with one"),
        ('[]\n[{"role": "assistant", "content": 5}]', "conversations:2"),
    ],
)
def test_the_command_says_which_line_is_wrong(given: str, message: str) -> None:
    done = run("chatml", "-", given=given)
    assert done.exit_code == 1
    assert message in done.output
