"""What a template's source says about its variables and constants, without running it."""

from __future__ import annotations

import pytest

from turnspec.rendering.variables import TemplateFacts, template_facts

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
        {"mode": ["off", "on", False, True], "n": [7, False, True]},
    ),
    "the keys of a table that it asks for a value": (
        "{% set leads = {'low': 'x', 'high': 'y'} %}{{ leads.get(mode | default('auto'), '') }}"
        "{{ {1: 'x'}.get(n) }}{{ messages[0].get('mode') }}",
        {"mode": ["low", "high", "auto", False, True], "n": [1, False, True]},
    ),
    "texts that stand for it": (
        "{% set m = mode if mode is defined else ('deep' if tools else 'brief') %}"
        "{{ m ~ (style | default('plain')) ~ (n | default(3)) }}",
        {
            "mode": ["deep", "brief", False, True],
            "style": ["plain", False, True],
            "n": [False, True],
        },
    ),
    "the numbers beside a limit": (
        "{% if n > 3 %}x{% endif %}",
        {"n": [3, 2, 4, False, True]},
    ),
    "with a default": (
        "{% if mode | default('on') == 'off' %}x{% endif %}",
        {"mode": ["off", "on", False, True]},
    ),
    "given ones are none": (
        "{{ messages }}{{ tools }}{{ bos_token }}{{ add_generation_prompt }}",
        {},
    ),
    "set ones are none": ("{% set think = true %}{% if think %}x{% endif %}", {}),
    "nor is what a branch sets, for what is behind it": (
        "{% if tools %}{% set lead = 'a' %}{% else %}{% set rest = 1 %}{% endif %}{{ lead }}"
        "{% for m in messages %}{% if m %}{% set text = m %}{% endif %}{{ text }}{% endfor %}",
        {},
    ),
    "what the other branch sets, and what is read before it is set": (
        "{% if think is defined %}{% set mode = 'on' %}{% elif mode is defined %}x{% endif %}"
        "{% set deep = deep if deep is defined else 1 %}{{ deep }}",
        {"deep": [False, True], "mode": [False, True], "think": [False, True]},
    ),
    "what only a loop or a macro sets, behind it": (
        "{% for m in messages %}{% set a = m %}{{ a }}{% endfor %}{{ a }}"
        "{% macro put(b) %}{{ b }}{% endmacro %}{{ put(1) }}{{ b }}",
        {"a": [False, True], "b": [False, True]},
    ),
    "a macro of one branch is none": (
        "{% if tools %}{% macro put(b) %}{{ b }}{% endmacro %}{% endif %}{{ put(1) }}",
        {},
    ),
}


@pytest.mark.parametrize("case", SWITCHES)
def test_switch_values(case: str) -> None:
    source, expected = SWITCHES[case]
    found = template_facts(source).switch_values
    assert found == expected
    assert {name: list(map(type, values)) for name, values in found.items()} == {
        name: list(map(type, values)) for name, values in expected.items()
    }


def test_string_constants_come_in_order_and_once() -> None:
    source = (
        "<text>{{ '<a>' + x + '</a>' }}{% if y == '<a>' %}{{ z.split('<b>') }}{% endif %}{{ 7 }}"
    )
    assert template_facts(source).string_constants == ["<a>", "</a>", "<b>"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ bos_token }}", True),
        ("{{ messages[0].bos_token }}", False),
        ("{% set bos_token = 'x' %}{{ bos_token }}", False),
        ("bos_token {# bos_token #}", False),
    ],
)
def test_variables_read(source: str, expected: bool) -> None:
    assert ("bos_token" in template_facts(source).reads) is expected


def test_attributes_and_keys_come_once() -> None:
    source = "{{ a.one + a['two'] + a[0] + a[b] }}{% if a.two.three %}{{ a.one }}{% endif %}"
    assert sorted(template_facts(source).attribute_names) == ["one", "three", "two"]


def test_attributes_with_the_texts_they_are_compared_to() -> None:
    source = (
        "{% if a.kind == 'x' or 'y' == a['kind'] or a.kind in ['z', 'x', 7] or a.other != b %}"
        "{% endif %}{% if a.number == 3 or b == 'q' or 'w' in a.text %}{% endif %}"
    )
    assert template_facts(source).attribute_words == {"kind": ["x", "y", "z"], "text": ["w"]}


SEARCHED = {
    "in": ("{% if '/a' in m.content %}{% endif %}", ["/a"]),
    "not in": ("{% if '/a' not in m.content %}{% endif %}", ["/a"]),
    "a test": ("{% if '/a' is in m.content %}{% endif %}", ["/a"]),
    "methods": ("{{ m.endswith('/a') ~ m.split('/b') }}", ["/a", "/b"]),
    "a filter": ("{{ m.content | replace('/a', '/b') }}", ["/a"]),
    "another method": ("{{ m.content.strip('/a') ~ m.content.get('/b') }}", []),
    "compared": ("{% if m.role == '/a' %}{% endif %}", []),
    "not a text, or blank": ("{% if 7 in m or ' ' in m or m.x in n %}{% endif %}", []),
}


@pytest.mark.parametrize("case", SEARCHED)
def test_searched_words(case: str) -> None:
    source, expected = SEARCHED[case]
    assert sorted(template_facts(source).searched_words) == expected


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("{{ 'a' }}\n{% if x.y == 'z' and 'w' in x %}", "line 2: Unexpected end of template."),
        ("{{ x.y == 'z' | nonsense }}", "line 1: No filter named 'nonsense'."),
        ("{{ " + "(" * 5000 + "x" + ")" * 5000 + " }}", "nested too deeply"),
    ],
    ids=["syntax", "filter", "depth"],
)
def test_of_a_template_that_cannot_be_compiled_only_that_is_known(source: str, error: str) -> None:
    found = template_facts(source)
    assert (found.error or "").startswith(error)
    assert found == TemplateFacts(error=found.error)
