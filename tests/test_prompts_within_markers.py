"""Prompts that end within what a call begins with: grammars go on where the prompt breaks off."""

from __future__ import annotations

import pytest

from tests.test_right_formats import built

_ROLES = "{% else %}<:{{ m.role }}:>{{ m.content }}<:end:>{% endif %}{% endfor %}"
#: Behind a blank of the call's own head, and within a word that says whether calls follow.
TEMPLATES = {
    "a blank": (
        "{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% if m.reasoning_content %}<part of=bot as=muse>{{ m.reasoning_content }}</part>"
        "{% endif %}{% if m.content %}<part of=bot as=talk>{{ m.content }}</part>{% endif %}"
        "{% for c in m.tool_calls or [] %}<part of=bot as=use for={{ c.function.name }}>"
        "{{ c.function.arguments | tojson }}</part>{% endfor %}<:end:>"
        + _ROLES
        + "{% if add_generation_prompt %}{{ '<part of=bot ' }}{% endif %}"
    ),
    "a word": (
        "{% for m in messages %}{% if m.role == 'assistant' %}<:bot:>"
        "<pick>{{ 'use' if m.tool_calls else 'talk' }}</pick>{{ '\n' }}"
        "{% if m.reasoning_content %}<muse>{{ m.reasoning_content }}</muse>{{ '\n' }}{% endif %}"
        "{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}{{ '\n' }}<use {{ c.function.name }}>"
        "{{ c.function.arguments | tojson }}</use>{% endfor %}<:end:>"
        + _ROLES
        + "{% if add_generation_prompt %}<:bot:><pick>{% endif %}"
    ),
}


@pytest.mark.parametrize("where", TEMPLATES)
def test_the_grammar_goes_on_within_a_marker(where: str) -> None:
    build = built("given", TEMPLATES[where])
    assert build.result is not None
    assert {rung: it.example for rung, it in build.result.rungs.items() if it.failed} == {}
