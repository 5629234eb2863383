"""What a template's source says about its variables and constants, without running it."""

from __future__ import annotations

import pytest

from generator.rendering.variables import refers_to, string_constants, switch_values

SWITCHES = {
    "a plain test": ("{% if think %}x{% endif %}", {"think": [False, True]}),
    "a constant": ("{% if mode == 'deep' %}x{% endif %}", {"mode": ["deep", False, True]}),
    "a constant twice": (
        "{% if mode == 'deep' or mode == 'deep' %}x{% endif %}",
        {"mode": ["deep", False, True]},
    ),
    "a list of constants": (
        "{% if mode in ['on', 'off'] %}x{% endif %}",
        {"mode": ["on", "off", False, True]},
    ),
    "a number is not false": ("{% if n == 0 %}x{% endif %}", {"n": [0, False, True]}),
    "compared with a variable": (
        "{% if a == b %}x{% endif %}",
        {"a": [False, True], "b": [False, True]},
    ),
    "several": (
        "{% if b is defined and b is false %}{{ a }}{% endif %}",
        {"a": [False, True], "b": [False, True]},
    ),
    "under another name": (
        "{% set ns = namespace(a=1) %}{% if n is defined %}{% set ns.a = n %}{% endif %}"
        "{% set m = mode | default('on') %}{% if ns.a == 7 or m == 'off' %}x{% endif %}",
        {"mode": ["off", False, True], "n": [7, False, True]},
    ),
    "the numbers beside a limit": (
        "{% if n > 3 %}x{% endif %}",
        {"n": [3, 2, 4, False, True]},
    ),
    "with a default": (
        "{% if mode | default('on') == 'off' %}x{% endif %}",
        {"mode": ["off", False, True]},
    ),
    "given ones are none": (
        "{{ messages }}{{ tools }}{{ bos_token }}{{ add_generation_prompt }}",
        {},
    ),
    "set ones are none": ("{% set think = true %}{% if think %}x{% endif %}", {}),
    "a broken template has none": ("{% if think", {}),
}


@pytest.mark.parametrize("case", SWITCHES)
def test_switch_values(case: str) -> None:
    source, expected = SWITCHES[case]
    found = switch_values(source)
    assert found == expected
    assert {name: list(map(type, values)) for name, values in found.items()} == {
        name: list(map(type, values)) for name, values in expected.items()
    }


def test_string_constants_come_in_order_and_once() -> None:
    source = (
        "<text>{{ '<a>' + x + '</a>' }}{% if y == '<a>' %}{{ z.split('<b>') }}{% endif %}{{ 7 }}"
    )
    assert string_constants(source) == ["<a>", "</a>", "<b>"]


def test_a_broken_template_has_no_constants() -> None:
    assert string_constants("{{ 'a' ") == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ bos_token }}", True),
        ("{{ messages[0].bos_token }}", False),
        ("{% set bos_token = 'x' %}{{ bos_token }}", False),
        ("bos_token {# bos_token #}", False),
        ("{{ bos_token", False),
    ],
)
def test_refers_to(source: str, expected: bool) -> None:
    assert refers_to(source, "bos_token") is expected
