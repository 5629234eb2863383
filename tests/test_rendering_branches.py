"""Which branches a template has, and which of them its renderings take."""

from __future__ import annotations

import pytest

from turnspec.rendering.branches import Branch
from turnspec.rendering.environment import create_environment, render_template
from turnspec.rendering.variables import template_facts
from turnspec.rendering.worker import RenderWorker

SOURCE = """\
{% set fixed = 'a' %}
{% macro mark(text) %}<{{ text }}>{% endmacro %}
{% for m in messages %}
{% if m.role == 'user' and not (m.bare or quiet) %}
{{ mark(m.content) }}{{ 'x' if m['odd'] is defined else ('y' if m.get('rare') else 'z') }}
{% elif fixed == 'b' %}
never
{% else %}
{{ raise_exception('who is that?') }}
{% endif %}
{% else %}
nobody
{% endfor %}
{{ 'long' if text | length > 3 }}
"""
BRANCHES = {
    "line 2, macro mark": "",
    "line 3, each of messages": "",
    "line 4, m.role == 'user' and not (m.bare or quiet)": "",
    "line 9, else of m.role == 'user' and not (m.bare or quiet)": "it only raises an exception",
    "line 5, m['odd'] is defined": "",
    "line 5, else of m['odd'] is defined": "",
    "line 5, m.get('rare')": "",
    "line 5, else of m.get('rare')": "",
    "line 6, fixed == 'b'": "constants decide",
    "line 12, none of messages": "",
    "line 14, text|length > 3": "",
}


def taken(source: str, **variables: object) -> set[str]:
    environment = create_environment()
    template = environment.from_string(source)
    plain = render_template(template, variables)
    assert "environment" not in plain
    branches = template_facts(source).branches
    return {str(branches[number]) for number in environment.taken}


def test_branches_and_why_nobody_gets_there() -> None:
    found = template_facts(SOURCE).branches
    assert {str(branch): branch.unreachable for branch in found} == BRANCHES
    by_name = {str(branch): branch for branch in found}
    loop = by_name["line 3, each of messages"]
    assert [found[at] for at in loop.path] == [loop]
    asked = by_name["line 4, m.role == 'user' and not (m.bare or quiet)"]
    assert [found[at] for at in asked.path] == [loop, asked]
    rare = by_name["line 5, m.get('rare')"]
    other = by_name["line 5, else of m['odd'] is defined"]
    assert [found[at] for at in rare.path] == [loop, asked, other, rare]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, {"line 12, none of messages"}),
        (
            {"messages": [{"role": "user", "content": "a", "rare": True}], "text": "long"},
            {
                "line 2, macro mark",
                "line 3, each of messages",
                "line 4, m.role == 'user' and not (m.bare or quiet)",
                "line 5, else of m['odd'] is defined",
                "line 5, m.get('rare')",
                "line 14, text|length > 3",
            },
        ),
    ],
)
def test_renderings_tell_which_they_take(variables: dict[str, object], expected: set[str]) -> None:
    assert taken(SOURCE, **variables) == expected


def test_a_condition_that_is_too_long_is_cut() -> None:
    assert str(Branch(1, "x" * 100, (0,))) == f"line 1, {'x' * 80}…"


@pytest.mark.parametrize("value", ["", 0, None, "text"])
def test_a_side_keeps_its_value(value: object) -> None:
    source = "{{ (a if b else c) is none }}{{ a if b else c }}"
    template = create_environment().from_string(source)
    for chosen in (True, False):
        text = render_template(template, {"a": value, "c": value, "b": chosen})
        assert text == f"{value is None}{value}"


def test_the_worker_tells_once_what_was_taken_of_the_template_at_hand(worker: RenderWorker) -> None:
    source = "{% if a %}x{% endif %}{% if b %}y{% endif %}"
    worker.render(source, {"a": True})
    worker.render(source, {"b": True})
    assert worker.taken() == {0, 1}
    assert worker.taken() == frozenset()
    worker.render(source, {"a": True})
    worker.render("{% if c %}z{% endif %}", {})
    assert worker.taken() == frozenset()


def test_what_is_rendered_unwitnessed_takes_nothing(worker: RenderWorker) -> None:
    source = "{% if a %}x{% endif %}{% if b %}y{% endif %}"
    worker.render(source, {"a": True})
    with worker.unwitnessed():
        assert worker.render(source, {"b": True}).text == "y"
    assert worker.taken() == {0}
    with worker.unwitnessed():
        worker.render("{% if c %}z{% endif %}", {"c": True})
    assert worker.taken() == frozenset()


def test_a_rendering_that_fails_takes_nothing(worker: RenderWorker) -> None:
    source = "{% if a %}x{% endif %}{% if b %}{{ b + c.d }}{% endif %}"
    assert worker.render(source, {"a": True}).text == "x"
    assert worker.render(source, {"a": True, "b": "y"}).text is None
    assert worker.taken() == {0}


def test_a_template_cannot_reach_what_records_it() -> None:
    source = "{{ environment is defined }}{{ taken is defined }}{% if true %}{% endif %}"
    template = create_environment().from_string(source)
    assert render_template(template, {}) == "FalseFalse"
