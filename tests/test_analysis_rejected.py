"""Templates that can't be analysed, each with its message."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.own_templates import given_template
from turnspec.analysis.analyze import analyze_template
from turnspec.rendering.limits import USUAL_LIMITS
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.problems import Problem

TALK = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


REJECTED = {
    "a syntax error": (
        "a\nb {% if %}",
        "given.jinja:2: syntax error: Expected an expression, got 'end of statement block'",
    ),
    "an unknown filter": (
        TALK + "\n{{ messages | nosuchfilter }}",
        "given.jinja:2: syntax error: No filter named 'nosuchfilter'.",
    ),
    "nothing": ("", "given.jinja: the user's message is not rendered"),
    "always the same": ("hello", "given.jinja: the user's message is not rendered"),
    "users only": (
        "{% for m in messages %}{{ m.content if m.role == 'user' }}{% endfor %}",
        "given.jinja: the template renders no assistant content",
    ),
    "assistants only": (
        "{% for m in messages %}{{ m.content if m.role == 'assistant' }}{% endfor %}",
        "given.jinja: the user's message is not rendered",
    ),
    "raises always": (
        "{{ raise_exception('not\n today') }}",
        "given.jinja: TemplateError: not today",
    ),
    "an attribute escape": (
        "{{ ''.__class__.__mro__ }}" + TALK,
        "given.jinja: SecurityError: access to attribute '__class__' of 'str' object is unsafe.",
    ),
    "a variable that prompts need": (
        TALK + "{% if add_generation_prompt %}<assistant>"
        "{{ raise_exception('which kind?') if kind not in ['a', 'b'] }}{% endif %}",
        "given.jinja: no assistant turn is rendered: the prompt fails with "
        "'TemplateError: which kind?'",
    ),
    "the memory's end": (
        "{% set x = 'x' * (3 * 1024 ** 3) %}" + TALK,
        "given.jinja: needs more than 2 GB of memory",
    ),
}


@pytest.mark.parametrize("case", REJECTED)
def test_rejected(case: str, worker: RenderWorker) -> None:
    text, expected = REJECTED[case]
    analysis = analyze_template(given_template(text), worker)
    assert analysis.spec is None
    assert [str(problem) for problem in analysis.problems] == [expected]


def test_a_loop_without_end_is_rejected() -> None:
    with RenderWorker(time_limit=1.0) as worker:
        assert worker.render("warm", {}).text == "warm"
        limits = replace(USUAL_LIMITS, seconds=3.0)
        analysis = analyze_template(given_template(LOOP + TALK), worker, limits)
    text = "a rendering took longer than 1 s (--time-limit allows more)"
    assert analysis.problems == (Problem(text, file="given.jinja"),)


@pytest.mark.parametrize(
    "text",
    [
        "{% for m in messages %}{{ m.content }}{% endfor %}",
        TALK + "{{ raise_exception('no prompt') if add_generation_prompt }}",
        TALK + "{{ raise_exception('no tools') if tools }}",
        "{% for m in messages %}{{ raise_exception('no calls') if m.tool_calls }}"
        "<{{ m.role }}>{{ m.content }}{% endfor %}",
        TALK + "{{ raise_exception('answer') if messages | length == 1 }}",
    ],
)
def test_odd_templates_have_a_spec_or_a_problem(text: str, worker: RenderWorker) -> None:
    analysis = analyze_template(given_template(text), worker)
    assert (analysis.spec is None) == bool(analysis.problems)
