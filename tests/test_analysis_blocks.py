"""Reasoning as a block of content: found by its words and keys, written, and read back."""

from __future__ import annotations

import pytest

from tests.own_templates import NAMES, own_template, spec_of
from turnspec.analysis.analyze import ASSUMED_TOKENS
from turnspec.analysis.message_form import find_content_blocks
from turnspec.codegen.loading import load_module
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.conversation import Chat
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.model import ContentBlocks

FOUND = {
    "reasoning-block": ("note", ContentBlocks("sort", "musing", "words", "words")),
    "invented-only-in-parts": ("thinking", ContentBlocks("type", "thinking", "text", "text")),
    "invented-parts-of-all": ("reasoning", ContentBlocks("type", "reasoning", "text", "text")),
    "blocks-in-container": ("said", ContentBlocks("is", "draft", "reply", "said", "pieces")),
}


@pytest.mark.parametrize("name", NAMES)
def test_blocks_of_our_own_templates(name: str, worker: RenderWorker) -> None:
    reasoning = spec_of(name, worker).reasoning
    field, blocks = FOUND.get(name, (reasoning.field, None))
    assert (reasoning.field, reasoning.blocks) == (field, blocks)


#: What a template does with a block of content, and what is found; ROLE stands for a condition.
TEMPLATES = {
    "marks around one of two": (
        "{% if b.t == 'a' %}{{ b.x }}{% elif b.t == 'z' and m.role == 'assistant' %}"
        "<z>{{ b.y }}</z>{% endif %}",
        ("y", ContentBlocks("t", "z", "a", "x")),
    ),
    "several words for one": (
        "{% if b['t'] in ['a', 'b'] %}{{ b['x'] }}{% elif m.role == 'assistant' and 'z' == b.t %}"
        "<z>{{ b.x }}</z>{% endif %}",
        ("x", ContentBlocks("t", "z", "a", "x")),
    ),
    "a user's message may have it too": (
        "{% if b.t == 'a' %}{{ b.x }}{% elif b.t == 'z' %}<z>{{ b.y }}</z>{% endif %}",
        None,
    ),
    "its type says it, whoever may have it": (
        "{% if b.t == 'a' %}{{ b.x }}{% elif b.t == 'reasoning' %}<z>{{ b.x }}</z>{% endif %}",
        ("x", ContentBlocks("t", "reasoning", "a", "x")),
    ),
    "no marks": (
        "{% if b.t == 'a' %}{{ b.x }}{% elif b.t == 'z' and m.role == 'assistant' %}"
        "{{ b.y }}{% endif %}",
        None,
    ),
    "said twice": (
        "{% if b.t == 'a' %}{{ b.x }}{% elif b.t == 'z' and m.role == 'assistant' %}"
        "<z>{{ b.y }}{{ b.y }}</z>{% endif %}",
        None,
    ),
    "two texts": (
        "{% if b.t == 'a' %}{{ b.x }}{% elif b.t == 'z' and m.role == 'assistant' %}"
        "<z>{{ b.y }}{{ b.x }}</z>{% endif %}",
        None,
    ),
    "no content beside it": (
        "{% if b.t == 'z' and m.role == 'assistant' %}<z>{{ b.y }}</z>{% endif %}",
        None,
    ),
}


@pytest.mark.parametrize("case", TEMPLATES)
def test_which_block_is_reasoning(case: str, worker: RenderWorker) -> None:
    body, expected = TEMPLATES[case]
    source = (
        "{% for m in messages %}[{{ m.role }}]{% if m.content is string %}{{ m.content }}"
        "{% else %}{% for b in m.content %}" + body + "{% endfor %}{% endif %}{% endfor %}"
    )
    assert find_content_blocks([Chat(worker, source, ASSUMED_TOKENS)]) == expected


def test_a_setting_may_be_needed(worker: RenderWorker) -> None:
    source = (
        "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
        "{% for b in m.content %}{% if b.t == 'a' %}{{ b.x }}"
        "{% elif b.t == 'z' and deep and m.role == 'assistant' %}<z>{{ b.y }}</z>{% endif %}"
        "{% endfor %}{% endif %}{% endfor %}"
    )
    chat = Chat(worker, source, ASSUMED_TOKENS)
    assert find_content_blocks([chat]) is None
    found = find_content_blocks([chat, chat.using({"deep": True})])
    assert found == ("y", ContentBlocks("t", "z", "a", "x"))


def test_a_call_may_leave_reasoning_open() -> None:
    paths = OutputPaths.in_folder("given")
    files = build_template(own_template("blocks-in-container"), paths).files
    module = load_module(files[paths.module])
    call = '<:call:>{"tool": "look", "with": {"at": 1}}<:end:>'
    message = module.parse(f"<:draft:>Hm.{call}")
    assert message.to_dict() == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Hm.",
        "tool_calls": [
            {
                "id": "call_0",
                "type": "function",
                "function": {"name": "look", "arguments": '{"at": 1}'},
            }
        ],
    }
    assert message.problems == []
    closed = module.parse("<:draft:>Hm.<:reply:>Yes.<:end:>")
    assert (closed.reasoning_content, closed.content, closed.problems) == ("Hm.", "Yes.", [])
    both = module.parse("<:draft:>Hm.<:reply:>Yes." + call)
    assert (both.reasoning_content, both.content, both.problems) == ("Hm.", "Yes.", [])
    assert module.parse("<:draft:>Hm.<:end:>").problems == []
    cut_off = module.parse("<:draft:>Hm.")
    assert [problem.kind for problem in cut_off.problems] == ["unclosed"]
    assert module.parse("<:draft:>Hm." + call.removesuffix("<:end:>")).problems == []
