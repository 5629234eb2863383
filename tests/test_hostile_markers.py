"""Markers and words that would break a module, were they wrapped or cut after they are quoted."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest

from tests.generated_formats import committed_spec
from tests.grammar_engines import engine_llguidance as llguidance
from tests.specs_for_tests import tag_with_json_spec, tagged_spec, two_prompts
from turnspec.codegen.facts import facts_of
from turnspec.codegen.loading import load
from turnspec.codegen.module import generate_module
from turnspec.codegen.typescript import Script, script_text
from turnspec.codegen.writer import write_parts
from turnspec.grammar.text import character_class, literal
from turnspec.grammar.turn import generate_grammar
from turnspec.spec.calls import Literal
from turnspec.spec.files import dump_spec
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec, SwitchWord
from turnspec.spec.problems import Problem
from turnspec.spec.words import Part, Switch
from turnspec.verification import engine_llama_cpp as llama_cpp

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


def test_a_shown_turn_has_escapes_for_what_does_not_print() -> None:
    """A reviewer would take a blank for a blank."""
    spec = tag_with_json_spec()
    sample = f"{spec.turn.header}Hoot\x1b]0;owl\x07\u202e!"
    source = generate_module(spec, spec_path="specs/x.yaml", spec_hash="0", samples=[sample])
    docstring = ast.get_docstring(ast.parse(source), clean=False) or ""
    assert r"    Hoot\x1B]0;owl\x07\u202E!" in docstring.partition("WHAT ELSE IS READ")[0]


#: What turns the order of signs around, has no width, or commands a terminal; then digits, which
#: must not become part of an escape.
HIDDEN = "\u202eA\u2066\u2069\u200b\u2028\x9bC\ufeff\x1b1"


def test_no_sign_of_a_marker_deceives_a_reader_of_what_is_generated() -> None:
    base = tagged_spec()
    assert base.tools is not None
    tools = replace(base.tools, section_start=f"<{HIDDEN}>", section_end=f"</{HIDDEN}>")
    reasoning = replace(base.reasoning, start=f"<{HIDDEN}think>", end=f"</{HIDDEN}think>")
    spec = with_word(replace(base, tools=tools, reasoning=reasoning), f"/{HIDDEN}")
    options: Any = {"spec_path": f"{HIDDEN}.yaml", "spec_hash": "0"}
    module = generate_module(spec, samples=[f"<{HIDDEN}think>a</{HIDDEN}think>"], **options)
    facts = facts_of(spec)
    texts = {
        "YAML": dump_spec(spec),
        "Python": module,
        "GBNF": generate_grammar(spec, **options),
        **{script.value: script_text(module, facts, script) for script in Script},
    }
    for name, text in texts.items():
        odd = {sign for sign in text if not (sign.isprintable() or sign == "\n")}
        odd -= {"\U0010ffff"}  # where classes of grammars end
        assert not odd, f"{name}: {odd}"
    engines = (llama_cpp.compile_grammar, llguidance.compile_grammar)
    for compile_grammar in engines:
        grammar = compile_grammar(texts["GBNF"])
        assert not isinstance(grammar, Problem)
        assert grammar.accepts(f"<{HIDDEN}think>a</{HIDDEN}think>b{spec.turn.ends[0].final}")


def test_a_grammar_tells_the_signs_that_have_no_common_escape() -> None:
    base = tagged_spec()
    reasoning = replace(base.reasoning, start="<\u061c\U000e0001>", end="</\u061c>")
    spec = replace(base, reasoning=reasoning)
    text = generate_grammar(spec, spec_path="specs/x.yaml", spec_hash="0")
    assert "as engines have no common escape: U+061C, U+E0001\n" in text
    for compile_grammar in (llama_cpp.compile_grammar, llguidance.compile_grammar):
        assert not isinstance(compile_grammar(text), Problem)
    assert "escape:" not in generate_grammar(base, spec_path="specs/x.yaml", spec_hash="0")


def test_grammars_have_escapes_that_all_engines_read() -> None:
    assert literal("\x1bAg\x9b\u200bA") == r'"\x1B\x41g\x9B\u200BA"'
    assert character_class("\x1bB-^G") == r"[\x1B\x42G\x5E-]"
    # Of these llguidance reads no escape: U+061C as in "\u61C", U+E0001 as in "\UE0001".
    assert literal("\u061c\U000e0001") == '"\u061c\U000e0001"'


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


def test_what_closes_calls_may_be_no_whole_tag() -> None:
    spec = committed_spec("glm-4-6")
    assert spec.tools is not None
    arguments = replace(
        spec.tools.arguments, item=(*spec.tools.arguments.item[:-1], Literal("</over;"))
    )
    call = (*spec.tools.call[:-1], Literal("</and over;"))
    spec = replace(spec, tools=replace(spec.tools, call=call, arguments=arguments))
    turn = write_parts(spec, Message("", "", (Call("look_up", {"city": "Paris"}, ""),)), Part.START)
    message = load(spec).parse(turn, prefill=spec.turn.header)
    assert message.problems == []
    assert [found.arguments for found in message.tool_calls] == ['{"city": "Paris"}']


def test_noise_behind_a_call_is_left_out_however_often_it_stands_there() -> None:
    spec = committed_spec("mistralai-mistral-nemo-instruct-2407")
    call = Call("look_up", {"city": "Paris"}, "abcdefghi")
    turn = write_parts(spec, Message(calls=(call,)), Part.START).removesuffix(spec.turn.stop[0])
    message = load(spec).parse(turn + "[/TOOL_CALLS]" * 2000)
    assert [found.name for found in message.tool_calls] == ["look_up"]
    assert {problem.kind for problem in message.problems} == {"stray_marker"}


# All that these begin with begins the end of reasoning, too: that was once looked through for ever.
@pytest.mark.timeout(20)
@pytest.mark.parametrize("closing", ["</t>", "</thi>", "</think>", "</thinker>"])
def test_what_closes_calls_may_begin_as_what_closes_reasoning(closing: str) -> None:
    spec = committed_spec("glm-4-6")
    assert spec.tools is not None
    spec = replace(
        spec, tools=replace(spec.tools, call=(*spec.tools.call[:-1], Literal(f"\n{closing}")))
    )
    call = Call("look_up", {"city": "Paris"}, "")
    turn = write_parts(spec, Message("", "", (call,)), Part.START)
    (found,) = load(spec).parse(turn, prefill=spec.turn.header).tool_calls
    assert (found.name, found.arguments) == ("look_up", '{"city": "Paris"}')
