"""Reference templates and named formats as an app uses them: render, write, parse, continue."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.generated_formats import committed_format
from tests.grammar_engines.engine_llguidance import LlguidanceGrammar, compile_grammar
from tests.reference.cases import (
    CALLING,
    NOW,
    RAIN,
    SYSTEM,
    TIME,
    USER,
    WEATHER,
    OpenTemplates,
    tried_templates,
)
from turnspec.chat import NAMED_FORMATS, ChatTemplate
from turnspec.chat.errors import ChatError
from turnspec.chat.prepared import in_context
from turnspec.spec.message import Call, Message
from turnspec.verification.turns import written_input

#: This refuses a question that is a text alone: it wants the languages to translate between.
NOT_A_TEXT = "google-translategemma-4b-it"
NAMES = [name for name in tried_templates() if name != NOT_A_TEXT]
#: These say the system message with the last question only, and a result isn't one.
SAY_IT_LAST = (
    *("mistralai-mistral-7b-instruct-v0-3", "mistralai-mistral-nemo-instruct-2407"),
    *("vllm-mistral-7b-instruct", "vllm-mistral-7b-instruct-parallel"),
    *("xinference-mistral-7b-instruct-v0-3", "xinference-mistral-large-instruct"),
)
CALL = Call("get_weather", {"city": "Rome", "days": 3}, "abcdef123")
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}


def module_of(name: str, chat: ChatTemplate, *, with_tools: bool) -> Any:
    """Return the committed parser, where it is the one that the chat would generate."""
    prepared = chat.prepared()
    if name in NAMED_FORMATS or (with_tools and prepared.spec.tools is None):
        return prepared.parser_module(with_tools=with_tools)
    return committed_format(name).module


def test_a_template_that_wants_more_than_a_text_says_so(templates: OpenTemplates) -> None:
    with pytest.raises(ChatError, match=f"{NOT_A_TEXT}: TemplateError: User role must provide"):
        templates[NOT_A_TEXT].render([USER], now=NOW)


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_to_a_prompt_with_tools_is_read(name: str, templates: OpenTemplates) -> None:
    chat = templates[name]
    prompt = chat.render([SYSTEM, USER, CALLING, RAIN], tools=[WEATHER, TIME], now=NOW)
    for text in ("Be brief", "Paris", "get_weather", "days", "rain", "get_time"):
        moved = name in SAY_IT_LAST and text == "Be brief"
        assert (text in prompt.text) is not moved
    assert prompt.text.endswith(prompt.prefill)
    spec = chat.spec(with_tools=True)
    given = written_input(in_context(spec, prompt.prefill), Message(calls=(CALL,)), thinking=True)
    assert given is not None
    parser = module_of(name, chat, with_tools=True).Parser(
        prefill=prompt.prefill, tools=[WEATHER, TIME]
    )
    parser.feed(given.text)
    parser.finish()
    (found,) = parser.message.tool_calls
    assert (found.name, json.loads(found.arguments)) == (CALL.name, CALL.arguments)
    assert parser.message.problems == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("thinking", [True, False])
def test_a_message_is_continued(name: str, thinking: bool, templates: OpenTemplates) -> None:
    chat = templates[name]
    begun = {"role": "assistant", "content": "It rains, "}
    prompt = chat.render([USER, begun], continue_final=True, thinking=thinking, now=NOW)
    assert prompt.text.endswith("It rains, ")
    assert prompt.prefill.endswith("It rains, ")
    parser = module_of(name, chat, with_tools=False).Parser(prefill=prompt.prefill, echo=True)
    parser.feed("and storms.")
    parser.finish()
    assert parser.message.content == "It rains, and storms."
    assert parser.message.problems == []


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_fits_a_schema(name: str, templates: OpenTemplates) -> None:
    chat = templates[name]
    prompt = chat.render([USER], now=NOW)
    grammar = compile_grammar(chat.response_grammar(SCHEMA, prompt))
    assert isinstance(grammar, LlguidanceGrammar)
    answer = '{"city": "Rome", "days": 3}'
    spec = in_context(chat.spec(), prompt.prefill)
    for message in (Message(answer), Message(answer, "Rome, then.")):
        given = written_input(spec, message, thinking=True)
        if given is None:
            continue
        assert grammar.accepts(given.text)
        assert not grammar.accepts(given.text.replace("3", '"three"'))
        assert not grammar.accepts(given.text.replace(answer, f"Well: {answer}"))
        module = module_of(name, chat, with_tools=False)
        found = module.parse(given.text, prefill=prompt.prefill, tools=[])
        assert json.loads(found.content) == {"city": "Rome", "days": 3}
        assert found.problems == []


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_may_go_on_behind_words_of_its_own(name: str, templates: OpenTemplates) -> None:
    chat = templates[name]
    begun = {"role": "assistant", "content": "As JSON:"}
    prompt = chat.render([USER, begun], continue_final=True, now=NOW)
    grammar = compile_grammar(chat.response_grammar(SCHEMA, prompt))
    assert isinstance(grammar, LlguidanceGrammar)
    answer = ' {"city": "Oslo", "days": 2}'
    spec = chat.spec()
    thought = spec.reasoning.start + "Hm." + spec.reasoning.end
    assert grammar.accepted_length(answer) == len(answer)
    if spec.reasoning.start:
        assert grammar.accepted_length(thought) < len(spec.reasoning.start)


@pytest.mark.parametrize("name", NAMES)
def test_the_part_of_the_turn_in_a_prompt_is_what_the_spec_says(
    name: str, templates: OpenTemplates
) -> None:
    chat = templates[name]
    known = chat.spec().thinking
    for thinking in (None, True, False):
        prompt = chat.render([SYSTEM, USER], thinking=thinking, now=NOW)
        assert prompt.prefill == known.state(thinking).prompt
