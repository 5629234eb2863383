"""What chat templates may use in the environment, and what the sandbox refuses."""

from __future__ import annotations

import pytest
from jinja2 import TemplateError, TemplateSyntaxError
from jinja2.exceptions import SecurityError

from turnspec.rendering import environment
from turnspec.rendering.environment import OutputTooLong, create_environment, render_template


def render(text: str, **variables: object) -> str:
    return render_template(create_environment().from_string(text), variables)


ACCEPTED = {
    "blocks are trimmed": ("{% if true %}\n  a\n  {% endif %}\nb", "  a\nb"),
    "generation tag": ("a{% generation %}b{{ 1 + 1 }}{% endgeneration %}c", "ab2c"),
    "generation tag across lines": ("{% generation %}\nb\n{% endgeneration %}\nc", "b\nc"),
    "continue": (
        "{% for i in [1, 2, 3] %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
        "13",
    ),
    "break": (
        "{% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}",
        "1",
    ),
    "tojson without HTML escapes": ("{{ '<a> & \"é\"' | tojson }}", '"<a> & \\"é\\""'),
    "tojson in ASCII": ("{{ 'é' | tojson(ensure_ascii=True) }}", '"\\u00e9"'),
    "tojson indented": ("{{ {'a': [1]} | tojson(indent=2) }}", '{\n  "a": [\n    1\n  ]\n}'),
    "tojson with separators": (
        "{{ {'a': [1, 2]} | tojson(separators=(',', ':')) }}",
        '{"a":[1,2]}',
    ),
    "tojson keeps the order": ("{{ {'b': 1, 'a': 2} | tojson }}", '{"b": 1, "a": 2}'),
    "tojson sorted": ("{{ {'b': 1, 'a': 2} | tojson(sort_keys=True) }}", '{"a": 2, "b": 1}'),
    "tojson of a generator": ("{{ ['b', 'a'] | map('upper') | tojson }}", '["B", "A"]'),
    "append": ("{% set found = [] %}{% set _ = found.append(7) %}{{ found }}", "[7]"),
    "pop": ("{% set found = [7, 8] %}{% set _ = found.pop() %}{{ found }}", "[7]"),
    "from_json": ("{{ ('{\"a\": [1, null]}' | from_json).a }}", "[1, None]"),
    "fromjson": ("{{ ('{\"a\": 3}' | fromjson).a }}", "3"),
    "pinned time": ("{{ strftime_now('%d %b %Y %H:%M') }}", "15 Jan 2026 12:00"),
    "pinned date": ("{{ datetime }}", "2026-01-15"),
    "no functions": ("{{ functions }}", "[]"),
    "an undefined variable is empty": ("[{{ nothing }}]", "[]"),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepts(case: str) -> None:
    template, expected = ACCEPTED[case]
    assert render(template) == expected


def test_functions_are_the_tools_as_json() -> None:
    assert (
        render("{{ functions }}", tools=[{"name": "f"}])
        == '[\n    {\n        "name": "f"\n    }\n]'
    )


def test_a_given_variable_replaces_the_environments_own() -> None:
    assert render("{{ datetime }}", datetime="today") == "today"


def test_raise_exception_raises_with_its_message() -> None:
    with pytest.raises(TemplateError, match=r"^roles must alternate$"):
        render("{{ raise_exception('roles must alternate') }}")


ESCAPES = [
    "''.__class__",
    "''['__class__']",
    "'' | attr('__class__')",
    "[].__class__.__base__",
    "raise_exception.__globals__",
    "strftime_now.__globals__",
    "cycler.__init__.__globals__",
    "namespace.__init__.__globals__",
    "messages.append.__self__",
]


@pytest.mark.parametrize("expression", ESCAPES)
def test_the_sandbox_refuses_to_go_on_from(expression: str) -> None:
    with pytest.raises(SecurityError, match=r"^access to attribute '__"):
        render("{{ (" + expression + ").further }}", messages=[])


@pytest.mark.parametrize(
    "expression", ["'[{0.__class__}]'.format('')", "'[{a.__class__}]'.format_map({'a': ''})"]
)
def test_a_format_string_shows_no_internals(expression: str) -> None:
    assert render("{{ " + expression + " }}") == "[]"


def test_a_range_that_is_too_long_is_refused() -> None:
    with pytest.raises(OverflowError):
        render("{{ range(10 ** 9) | length }}")


def test_too_long_an_output_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "OUTPUT_LIMIT", 100)
    loop = "{% for i in range(99999) %}xx{% endfor %}"
    assert render("{% for i in range(50) %}xx{% endfor %}") == "xx" * 50
    with pytest.raises(OutputTooLong, match=r"^rendered more than 100 characters$"):
        render(loop)


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("{% if %}", 1),
        ("a\n\n{{ 1 + }}", 3),
        ("a\n{% for x in y %}\n", 2),
        ("{% generation %}\n{% endif %}", 2),
        ("a\n{{ x | nosuchfilter }}", 2),
    ],
)
def test_a_syntax_error_carries_its_line(template: str, line: int) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        create_environment().from_string(template)
    assert caught.value.lineno == line
