"""Markers and words that would break a module, were they wrapped or cut after they are quoted."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from tests.generated_formats import committed_spec
from tests.specs_for_tests import tag_with_json_spec, two_prompts
from turnspec.codegen.loading import load
from turnspec.codegen.module import generate_module
from turnspec.codegen.writer import write_parts
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Part, Spec, Switch, SwitchWord

NASTY = (
    r"\x" * 60,
    r"\u" * 60,
    r"\N{" * 40,
    "\\" * 121,
    '"""' * 40,
    "'''" * 40,
    r"\"" * 70,
    "x" * 400,
    "{{ %} {# " * 20,
    "\x00\x1b[31m\u2028\u202e" * 20,
)


def with_word(spec: Spec, word: str) -> Spec:
    """Let a word in a message turn thinking off, which a module tells in its docstring."""
    switch = SwitchWord(word, Switch.DISABLED, ("user",), spec.turn.header + "off")
    thinking = replace(two_prompts(spec.turn.header, switch.prompt), words=(switch,))
    return replace(spec, thinking=thinking)


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_a_module_of_nasty_texts_says_what_they_are(text: str) -> None:
    spec = tag_with_json_spec()
    ends = tuple(replace(end, final=f"<{text}>", followed=f"<{text}>") for end in spec.turn.ends)
    spec = with_word(replace(spec, turn=replace(spec.turn, ends=ends)), f"{text} off")
    source = generate_module(spec, spec_path="specs/x.yaml", spec_hash="0", samples=[f"<{text}>"])
    docstring = ast.get_docstring(ast.parse(source)) or ""
    assert "The prompt disables thinking if the text of a user message ends with" in docstring


#: What stands for something in the engine's notation of markers.
SIGNS = (
    "{before x}",
    "{before {before {before ",
    "{{before x}}",
    "{?x}",
    "{no x}",
    "{name}",
    "{ }",
)


# One of them once sent the parser round for ever.
@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", SIGNS)
def test_the_signs_of_the_notation_are_text_in_a_marker(text: str) -> None:
    spec = committed_spec("lfm2-5-8b-a1b")
    joins = (replace(j, text=text) if j.right is Part.CALLS else j for j in spec.turn.joins)
    spec = replace(spec, turn=replace(spec.turn, joins=tuple(joins)))
    call = Call("look_up", {"city": "Paris"}, "")
    turn = write_parts(spec, Message("", "Hm.", (call,)), Part.START)
    message = load(spec).parse(turn, prefill=spec.turn.header)
    assert message.problems == []
    assert (message.reasoning_content, message.content.strip()) == ("Hm.", "")
    assert [(found.name, found.complete) for found in message.tool_calls] == [("look_up", True)]
