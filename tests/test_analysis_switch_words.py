"""Words in messages that switch thinking: which are found, and what their prompts are good for."""

from __future__ import annotations

import pytest

from tests.own_templates import NAMES, given_template, own_template, spec_of
from turnspec.analysis.analyze import ASSUMED_TOKENS, analyze_template
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.conversation import Chat
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.words import Switch

ON, OFF = Switch.ENABLED, Switch.DISABLED
FOUND = {
    "switch-words": [("-brood", OFF, ("system", "user")), ("+brood", ON, ("user",))],
    "words-beside-variable": [
        ("answers: quick", OFF, ("system",)),
        ("answers: careful", ON, ("system",)),
    ],
    "thinking-by-word": [("(think)", ON, ("user",))],
}


@pytest.mark.parametrize("name", NAMES)
def test_words_of_our_own_templates(name: str, worker: RenderWorker) -> None:
    words = spec_of(name, worker).thinking.words
    found = [(word.word, word.switches, word.roles) for word in words]
    assert found == FOUND.get(name, [])


@pytest.mark.parametrize("name", FOUND)
def test_a_word_gives_its_prompt(name: str, worker: RenderWorker) -> None:
    thinking = spec_of(name, worker).thinking
    chat = Chat(
        worker, own_template(name).text, ASSUMED_TOKENS, variables=thinking.enabled.variables
    )
    for word in thinking.words:
        for role in word.roles:
            messages: list[dict[str, object]] = [{"role": "user", "content": "Hello"}]
            if role == "system":
                messages.insert(0, {"role": "system", "content": "Be kind"})
            messages[0]["content"] = f"{messages[0]['content']} {word.word}"
            text = chat.render(messages, add_generation_prompt=True).text
            assert (text or "").endswith(word.prompt)


def test_a_prompt_that_no_variable_gives_is_that_of_a_word(worker: RenderWorker) -> None:
    words = spec_of("switch-words", worker).thinking
    assert (words.enabled.variables, words.disabled.variables) == ({}, {})
    assert words.disabled.prompt == words.words[0].prompt != words.default.prompt
    assert words.enabled == words.default
    by_word = spec_of("thinking-by-word", worker).thinking
    assert by_word.enabled.prompt == by_word.words[0].prompt != by_word.default.prompt
    assert by_word.disabled == by_word.default
    variable = spec_of("words-beside-variable", worker).thinking
    assert variable.disabled.variables == {"deep": False}
    assert variable.disabled.prompt not in [word.prompt for word in variable.words]


def _module(name: str) -> FormatModule:
    paths = OutputPaths.in_folder(name)
    return load_module(build_template(own_template(name), paths).files[paths.module])


def test_the_prompt_of_a_word_is_the_default_prefill() -> None:
    module = _module("switch-words")
    thought = module.parse("One.(:/brood:)Two.(:end:)")
    assert (thought.reasoning_content, thought.content) == ("One.", "Two.")
    at_once = module.parse("Two.(:end:)", enable_thinking=False)
    assert (at_once.reasoning_content, at_once.content) == ("", "Two.")
    assert (thought.problems, at_once.problems) == ([], [])
    asked = _module("thinking-by-word").FORMAT
    assert asked["prompt"] == asked["prompt_with_thinking"] + "<idea></idea>"


def module_text(name: str, paths: OutputPaths) -> str:
    return build_template(own_template(name), paths).files[paths.module]


def test_the_module_says_what_a_message_has_to_hold() -> None:
    paths = OutputPaths.in_folder("given")
    for name, line in (
        (
            "switch-words",
            "disables thinking if the text of a system or user message ends with '-brood'.",
        ),
        ("thinking-by-word", "enables thinking if the text of a user message ends with '(think)'."),
    ):
        assert f"The prompt {line}" in module_text(name, paths)


#: What a template does with a user's text, and the words that are found.
TEMPLATES = {
    "a word inside another": (
        "{% if '!no' in m.content %}{% set s.off = true %}{% endif %}"
        "{% if 'really!no' in m.content %}{% set s.off = true %}{% endif %}",
        [("!no", OFF)],
    ),
    "a test": ("{% if '!no' is in m.content %}{% set s.off = true %}{% endif %}", [("!no", OFF)]),
    "one that is only taken out": ("{% set text = m.content | replace('!no', '') %}", []),
    "one that means something else": ("{% if '!no' in m.content %}(no){% endif %}", []),
    "one of the assistant": (
        "{% if m.role == 'assistant' and '!no' in m.content %}{% set s.off = true %}{% endif %}",
        [],
    ),
}


@pytest.mark.parametrize("case", TEMPLATES)
def test_which_words_switch_thinking(case: str, worker: RenderWorker) -> None:
    body, expected = TEMPLATES[case]
    source = (
        "{% set s = namespace(off=false) %}{% for m in messages %}" + body + "{{ '<' + m.role + '>'"
        " + ('<t>' + m.thinking + '</t>' if m.thinking else '') + m.content + '<end>' }}"
        "{% endfor %}{% if add_generation_prompt %}<assistant>"
        "{{ '<t></t>' if s.off else '<t>' }}{% endif %}"
    )
    spec = analyze_template(given_template(source), worker).spec
    assert spec is not None
    assert [(word.word, word.switches) for word in spec.thinking.words] == expected
