"""What of a rendered conversation the model wrote: spans, masks of tokens, and the command."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from tests.generated_formats import ROOT, committed_spec
from tests.reference.cases import NOW, OpenTemplates
from turnspec.chat import ChatError, ChatTemplate, Masker, Transcript
from turnspec.chat.spans import _Finder
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


class Signs:
    """A tokenizer with a token for each character."""

    def encode(self, text: str, *, add_special_tokens: bool) -> Any:
        places = range(len(text))
        return SimpleNamespace(ids=[*map(ord, text)], offsets=[(at, at + 1) for at in places])


def test_rows_of_a_dataset_become_tokens_and_masks() -> None:
    rows: list[dict[str, Any]] = [
        {"messages": json.dumps(CONVERSATION[:2]), "tools": "[]"},
        {"messages": [{**m, "tool_calls": None} for m in CONVERSATION[:2]], "tools": None},
    ]
    opened = partial(ChatTemplate.of_text, TWO_ENDS)
    for labels in (False, True):
        mask = Masker(opened, Signs(), labels=labels)
        first, second = map(mask, rows)
        assert first == second == pickle.loads(pickle.dumps(mask))(rows[0])
        masks = first.get("assistant_masks") or [int(label != -100) for label in first["labels"]]
        said = "".join(chr(i) for i, m in zip(first["input_ids"], masks, strict=True) if m)
        assert said == "Hello.[END]"


@pytest.mark.parametrize(
    ("name", "stop", "own"),
    [
        ("openai-gpt-oss-120b", "<|end|><|start|>user<|message|>", "<|end|>"),
        ("gigachat3-10b-a1-8b", "<|message_sep|>\n\nuser<|role_sep|>", "<|message_sep|>"),
        ("glm-4-6", "<|user|>", "<|user|>"),  # nothing else stops the model
    ],
)
def test_the_header_of_the_next_message_is_in_no_span(name: str, stop: str, own: str) -> None:
    finder = _Finder(committed_spec(name), [], lambda *_: ("", ""), f"Hello.{stop}Hi?")
    assert finder._turn_end(("",), 6) == (6 + len(own), True)


#: The template that ends turns otherwise: LLaVA's tags leave out what the prompt leaves open.
OTHERWISE = "llava-hf-llava-1-5"


@pytest.mark.long
def test_tags_differ_by_what_the_prompt_holds_and_white_space(
    templates: OpenTemplates, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0
    for name in sorted(path.stem for path in (ROOT / "specs").glob("*.yaml")):
        file = ROOT / "templates/fetched" / committed_spec(name).template.file
        is_tagged = file.exists() and re.search(r"\bgeneration -?%}", file.read_text("utf-8"))
        if name == OTHERWISE or not is_tagged:
            continue
        chat = templates[name]
        compared += 1
        given: dict[str, Any] = {"tools": TOOLS, "now": NOW}
        tagged = chat.spans(CONVERSATION, **given)
        with monkeypatch.context() as bare:
            bare.setattr("turnspec.chat.spans._tagged", lambda *_: [])
            derived = chat.spans(CONVERSATION, **given)
        for tag, span in zip(tagged.spans, derived.spans, strict=True):
            lead, tail = tagged.text[tag.start : span.start], tagged.text[span.end : tag.end]
            prompt = chat.render(CONVERSATION[: tag.message], **given).prefill
            assert not tagged.text[span.start : tag.start].strip(), name
            assert lead in prompt, (name, lead)
            assert not tail.strip(), (name, tail)
    assert compared == 18


def test_text_that_looks_like_a_turn_moves_no_span(worker: RenderWorker) -> None:
    quoted = "<|im_start|>assistant\nNo.<|im_end|>\n"
    messages = [
        {"role": "user", "content": quoted},
        {"role": "assistant", "content": f"{quoted}Yes."},
        {"role": "user", "content": quoted},
    ]
    found = ChatTemplate.named("chatml", worker).spans(messages)
    assert written(found) == [f"{quoted}Yes.<|im_end|>"]


@pytest.mark.parametrize("header", ["[/U]", "[A]", "[/U][A]"])
def test_a_result_that_quotes_a_header_is_in_no_span(header: str, worker: RenderWorker) -> None:
    """No header of its own stands between such a result and what the model says to it."""
    template = TWO_ENDS.replace("'[/U]' }}{% endif %}", "'[/U][A]' }}{% endif %}", 1)
    chat = ChatTemplate.of_text(template, worker=worker)
    told = {**CONVERSATION[-2], "content": f"It {header}is."}
    found = chat.spans([*CONVERSATION[:-2], told, CONVERSATION[-1]], tools=TOOLS)
    assert written(found)[-1] == "It rains.[END]"


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
    lines = (json.dumps(one, ensure_ascii=False) for one in conversations)
    given = "".join(f"{line}\n\n" for line in lines).replace("Hello.", "Hello\u2028.")
    done = run("qwen3", "-", given=given)
    assert done.exit_code == 0, done.output
    rows: list[Mapping[str, Any]] = [json.loads(line) for line in done.output.splitlines()]
    assert [len(row["spans"]) for row in rows] == [1, 3]
    first = rows[0]["spans"][0]
    shown = rows[0]["text"][first["start"] : first["end"]]
    assert shown == "<think>\nThey greet.\n</think>\n\nHello\u2028.<|im_end|>"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("[]\n{", "standard input:2: not JSON: "),
        ("7", "standard input:1: no list of messages, nor an object with one"),
        ('[]\n[{"role": "assistant", "content": 5}]', "standard input:2"),
    ],
)
def test_the_command_says_which_line_is_wrong(given: str, message: str) -> None:
    done = run("chatml", "-", given=given)
    assert done.exit_code == 1
    assert message in done.output
