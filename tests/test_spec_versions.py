"""Older forms of a spec are read; newer ones are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import yaml

from tests.generated_formats import FORMATS, committed_format, committed_spec
from tests.specs_for_tests import ALL_SPECS, json_native_spec, two_prompts
from turnspec.spec.files import dump_spec, load_checked_spec, load_spec
from turnspec.spec.model import Spec, SwitchWord, Thinking, ThinkingState
from turnspec.spec.words import Switch

FILE = "specs/x.yaml"
HEADER = "<|turn|>assistant\n"
CLOSED = HEADER + "<think>\n\n</think>\n\n"

#: The thinking of version 1, and what it means.
OLD = {
    "nothing switches it": (
        "  on: {}\n  off: {}\n  prompt_on: |+\n    a\n  prompt_off: |+\n    a\n",
        None,
    ),
    "on by default": (
        f"  on: {{}}\n  off: {{quick: true}}\n  prompt_on: {HEADER!r}\n  prompt_off: {CLOSED!r}\n",
        two_prompts(HEADER, CLOSED, disabled={"quick": True}),
    ),
    "off by default": (
        f"  on: {{slow: true}}\n  off: {{}}\n  prompt_on: {HEADER!r}\n  prompt_off: {CLOSED!r}\n",
        Thinking(
            ThinkingState(CLOSED), ThinkingState(HEADER, {"slow": True}), ThinkingState(CLOSED)
        ),
    ),
    "off by a word": (
        f"  on: {{}}\n  off: {{}}\n  prompt_on: {HEADER!r}\n  prompt_off: {CLOSED!r}\n"
        f"  words:\n    - {{word: /q, switches: off, roles: [user], prompt: {CLOSED!r}}}\n",
        replace(
            two_prompts(HEADER, CLOSED),
            words=(SwitchWord("/q", Switch.DISABLED, ("user",), CLOSED),),
        ),
    ),
    "on by default, and two words": (
        f"  on: {{}}\n  off: {{}}\n  prompt_on: {HEADER!r}\n  prompt_off: {CLOSED!r}\n"
        f"  words:\n    - {{word: /q, switches: off, roles: [user], prompt: {CLOSED!r}}}\n"
        f"    - {{word: /t, switches: on, roles: [user], prompt: {HEADER!r}}}\n",
        replace(
            two_prompts(HEADER, CLOSED),
            words=(
                SwitchWord("/q", Switch.DISABLED, ("user",), CLOSED),
                SwitchWord("/t", Switch.ENABLED, ("user",), HEADER),
            ),
        ),
    ),
    "on by a word": (
        f"  on: {{}}\n  off: {{}}\n  prompt_on: {HEADER!r}\n  prompt_off: {CLOSED!r}\n"
        f"  words:\n    - {{word: /t, switches: on, roles: [user], prompt: {HEADER!r}}}\n",
        Thinking(
            ThinkingState(CLOSED),
            ThinkingState(HEADER),
            ThinkingState(CLOSED),
            (SwitchWord("/t", Switch.ENABLED, ("user",), HEADER),),
        ),
    ),
}


def version_1(spec: Spec, thinking: str) -> str:
    """Return a spec's text as version 1 has it."""
    before, _, rest = dump_spec(spec).partition("thinking:\n")
    after = rest[rest.index("turn:\n") :]
    thinking = thinking.replace("'", '"')
    return before.replace("spec_version: 2\n", "") + "thinking:\n" + thinking + after


@pytest.mark.parametrize("case", OLD)
def test_version_1_is_read(case: str) -> None:
    text, expected = OLD[case]
    spec = load_checked_spec(version_1(json_native_spec(), text), FILE)
    assert isinstance(spec, Spec), spec
    if expected is None:
        assert spec.thinking.choices == (None,)
        return
    assert spec.thinking == expected
    assert load_spec(dump_spec(spec), FILE) == spec


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("3", "3 is newer than this turnspec, which reads up to 2; update it"),
        ("0", "not a version: 0; this turnspec writes 2"),
        ("two", "not a version: 'two'; this turnspec writes 2"),
        ("true", "not a version: True; this turnspec writes 2"),
    ],
)
def test_a_version_that_cannot_be_read(version: str, told: str) -> None:
    text = dump_spec(json_native_spec()).replace("spec_version: 2", f"spec_version: {version}")
    problems = load_spec(text, FILE)
    assert isinstance(problems, list)
    assert [str(problem) for problem in problems] == [f"{FILE}:2: spec_version: {told}"]


@pytest.mark.parametrize("make", ALL_SPECS)
def test_keys_are_words_to_yaml_1_1_too(make: Callable[[], Spec]) -> None:
    """Other programs read specs with PyYAML, to which ``on`` and ``off`` are booleans."""
    assert keys(yaml.safe_load(dump_spec(make()))) == {str}


@pytest.mark.parametrize("name", FORMATS)
def test_keys_of_committed_specs_are_words(name: str) -> None:
    assert keys(yaml.safe_load(dump_spec(committed_spec(name)))) == {str}


def keys(data: object) -> set[type]:
    """Return the types of all keys in plain data."""
    if isinstance(data, dict):
        return {type(key) for key in data}.union(*map(keys, data.values()))
    return set().union(*map(keys, data)) if isinstance(data, list) else set()


@pytest.mark.parametrize("name", FORMATS)
def test_a_parser_takes_the_templates_own_default(name: str) -> None:
    """An answer without a prefill, of a model that nobody told anything of thinking."""
    module, thinking = committed_format(name).module, committed_spec(name).thinking
    for enable in (None, True, False):
        given = module.parse("Hello! It rains.", prefill=thinking.state(enable).prompt)
        assert module.parse("Hello! It rains.", enable_thinking=enable) == given
    assert module.parse("Hello! It rains.") == module.parse(
        "Hello! It rains.", enable_thinking=None
    )
