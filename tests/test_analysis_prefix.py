"""Whether a template keeps what it rendered before: small templates break it at each step."""

from __future__ import annotations

import pytest

from turnspec.analysis.prefix import find_broken_prefix
from turnspec.rendering.conversation import Chat
from turnspec.rendering.dialect import Dialect
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.words import PrefixStep

_PROMPT = "{% if add_generation_prompt %}<assistant>{% endif %}"
_CALLS = "{% for c in m.tool_calls or [] %}[{{ c.function.name }}]{% endfor %}"
_THOUGHT = "{% if m.reasoning_content %}({{ m.reasoning_content }}){% endif %}"
_LATE = _THOUGHT.replace("{% if", "{% if loop.index > messages|length - 2 and", 1)
_UNASKED = _THOUGHT.replace("{% if", "{% if messages[-1].role != 'user' and", 1)
_EMPTY = "{% if m.role == 'assistant' %}<t>{{ m.reasoning_content }}</t>{% endif %}"
_LOOP = "{{% for m in messages %}}<{{{{ m.role }}}}>{0}{{{{ m.content }}}}{1}<end>{{% endfor %}}{2}"


@pytest.mark.parametrize(
    ("template", "step"),
    [
        (_LOOP.format(_THOUGHT, _CALLS, _PROMPT), PrefixStep.NOTHING),
        (_LOOP.format("", _CALLS, _PROMPT.replace("<assistant>", "<ai>")), PrefixStep.TURN),
        (
            _LOOP.format("", _CALLS, "{% if not add_generation_prompt %}</s>{% endif %}"),
            PrefixStep.RESULT,
        ),
        (_LOOP.format(_LATE, _CALLS, _PROMPT), PrefixStep.ANSWER),
        (_LOOP.format(_UNASKED, _CALLS, _PROMPT), PrefixStep.USER),
        # A prompt that has closed the reasoning is followed by turns without any.
        (_LOOP.format(_EMPTY, _CALLS, _PROMPT.replace(">{", "><t></t>{")), PrefixStep.NOTHING),
        ("{{ raise_exception('no') }}", None),
    ],
)
def test_the_first_step_that_breaks_the_prefix_is_found(
    template: str, step: PrefixStep | None
) -> None:
    with RenderWorker() as worker:
        chat = Chat(worker, template, {}, Dialect(reasoning_field="reasoning_content"))
        assert find_broken_prefix(chat, with_calls=True) == step


def test_without_calls_no_result_is_asked_for() -> None:
    template = (
        "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no') }}{% endif %}"
    )
    template += "<{{ m.role }}>{{ m.content }}{% endfor %}" + _PROMPT
    with RenderWorker() as worker:
        chat = Chat(worker, template, {})
        assert find_broken_prefix(chat, with_calls=False) is PrefixStep.NOTHING
        assert find_broken_prefix(chat, with_calls=True) is PrefixStep.NOTHING
