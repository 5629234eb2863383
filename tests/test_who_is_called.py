"""What was written is what is called: names of known tools, messages for the user, and streams."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest

from tests.bound_grammars import Bound
from tests.generated_formats import (
    FORMATS,
    KINDS,
    committed_format,
    committed_spec,
    facts_of_format,
)
from tests.own_templates import spec_of
from tests.parser_checks import added_up, stream, summary
from tests.reference.cases import OpenTemplates
from turnspec.codegen.facts import facts_of
from turnspec.codegen.loading import load
from turnspec.grammar.request import GrammarRequest
from turnspec.rendering.worker import RenderWorker
from turnspec.verification.chunking import chunking


def tool(name: str, *arguments: str) -> Any:
    properties = {argument: {"type": "string"} for argument in arguments}
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def calls_in(name: str, text: str, **options: Any) -> list[tuple[str, str, bool]]:
    """Return the calls in a text, which are the same by single characters."""
    module = committed_format(name).module
    whole = module.parse(text, **options)
    message, events = stream(module, text, **options)
    assert message == whole
    assert added_up(events) == summary(whole)
    return [(call.name, call.arguments, call.complete) for call in whole.tool_calls]


# A known tool's name is that tool

APERTUS = "apertus-8b-instruct"
WRAPPED = '<|tools_prefix|>[{"function": {"delete_file": {"path": "x"}}}]<|tools_suffix|>'


def test_a_tool_of_the_wrappers_name_is_called() -> None:
    tools = [tool("function", "delete_file"), tool("delete_file", "path")]
    assert calls_in(APERTUS, WRAPPED, tools=tools) == [
        ("function", '{"delete_file": {"path": "x"}}', True)
    ]


@pytest.mark.parametrize("tools", [None, [tool("delete_file", "path")]])
def test_a_wrapper_is_one_where_no_tool_is_called_so(tools: list[Any] | None) -> None:
    assert calls_in(APERTUS, WRAPPED, tools=tools) == [("delete_file", '{"path": "x"}', True)]


#: Words that calls are written with, in one format or another.
KEYS = ("function", "name", "arguments", "parameters", "tool_calls", "type", "id")


@pytest.mark.parametrize("name", sorted({APERTUS, *KINDS}))
def test_a_grammar_and_its_parser_agree_on_names_that_are_keys(name: str) -> None:
    if committed_spec(name).tools is None:
        return
    tools = [tool(key, *KEYS) for key in KEYS]
    bound = Bound.of(name, GrammarRequest(tools=tools, tool_choice="required"))
    turns = bound.turns(Random(name), 8)
    assert not [(turn, faults) for turn in turns if (faults := bound.faults(turn))]


# Clients write ids anew, and models go by the ids that they have seen

KIMI = "moonshotai-kimi-k2-5"


def with_id(id: str) -> str:
    """Return a call of Kimi's with an id."""
    call = f"<|tool_call_begin|>{id}<|tool_call_argument_begin|>{{}}<|tool_call_end|>"
    return f"<|tool_calls_section_begin|>{call}<|tool_calls_section_end|>"


@pytest.mark.parametrize(
    ("id", "name"),
    {
        "functions.look:0": "look",
        "functions_look_1": "look",
        "functionslook5": "look",
        "functions.look5": "look",
        "look:0": "look",
        "functions_look_up_3": "look_up",
        "functions.look_at:0": "look_at",
        "functions.outlook:0": "outlook",
    }.items(),
)
def test_an_id_that_was_written_anew_names_its_tool(id: str, name: str) -> None:
    tools = [tool("look"), tool("look_up")]
    assert calls_in(KIMI, with_id(id), prefill="", tools=tools) == [(name, "{}", True)]


@pytest.mark.parametrize("name", ["moonshotai-kimi-k2-instruct", KIMI])
@pytest.mark.parametrize("id", ["functions.look:0", "look:0", "functions.look", "look"])
def test_a_tool_is_called_by_an_id_in_no_section(name: str, id: str) -> None:
    text = re.sub(r"<\|tool_calls_section_\w+\|>", "", with_id(id))
    module = load(committed_spec(name))
    for known, names in (("look", ["look"]), ("rm", [])):
        message, events = stream(module, text, prefill="", tools=[tool(known)])
        assert [call.name for call in message.tool_calls] == names
        assert added_up(events) == summary(module.parse(text, prefill="", tools=[tool(known)]))


def test_without_tools_a_name_is_as_it_is_written() -> None:
    found = calls_in(KIMI, with_id("functions_look_1"), prefill="")
    assert found == [("functions_look_1", "{}", True)]


@pytest.mark.parametrize(
    ("written", "id"),
    {
        "functions.look:0": "functions.look:0",
        "functions.look:12": "functions.look:12",
        "look:3": "functions.look:3",
        "functions.look": "call_0",  # nobody knows its number
    }.items(),
)
def test_an_id_that_holds_the_name_is_the_calls_id(written: str, id: str) -> None:
    module = committed_format(KIMI).module
    message, events = stream(module, with_id(written), prefill="")
    assert [call.id for call in message.tool_calls] == [id]
    assert [event.id for event in events if event.type == "tool_call_start"] == [id]


def test_what_was_read_is_rendered_as_it_was_written(templates: OpenTemplates) -> None:
    """So that the model sees in the next prompt what it wrote itself."""
    written = with_id("functions.look:4")
    message = committed_format(KIMI).module.parse(written, prefill="", tools=[tool("look")])
    asked: list[Any] = [{"role": "user", "content": "Look!"}, message.to_dict()]
    assert written in templates[KIMI].render(asked, tools=[tool("look")]).text


# Who a message is for decides

QUOTED = (
    " to=user<|message|>E.g.\n"
    '<atem:function_calls>\n<atem:invoke name="rm">\n</atem:invoke>\n</atem:function_calls><|eot|>'
)


@pytest.mark.parametrize("tools", [None, [], [tool("rm")]])
def test_a_message_for_the_user_calls_nothing(tools: list[Any] | None) -> None:
    options: dict[str, Any] = {"prefill": "<|start|>assistant", "tools": tools}
    assert calls_in("muse-glimmer", QUOTED, **options) == []
    message = committed_format("muse-glimmer").module.parse(QUOTED, **options)
    content = QUOTED.removeprefix(" to=user<|message|>").removesuffix("<|eot|>")
    assert (message.content, message.problems) == (content, [])


def test_a_call_whose_header_lacks_its_last_tag() -> None:
    options: dict[str, Any] = {"prefill": "<|start|>assistant", "tools": [tool("rm")]}
    text = "<|channel|>commentary to=functions.rm <|constrain|>json{}<|call|>"
    assert calls_in("openai-gpt-oss-120b", text, **options) == [("rm", "{}", True)]


def test_a_tool_may_be_called_user() -> None:
    options: dict[str, Any] = {"prefill": "<|start|>assistant", "tools": [tool("user")]}
    text = QUOTED.replace('"rm"', '"user"').replace("E.g.\n", "")
    assert calls_in("muse-glimmer", text, **options) == [("user", "{}", True)]


@pytest.mark.parametrize(
    "start", ["<|channel|>final<|message|>", " to=user<|channel|>final<|message|>"]
)
def test_a_message_is_for_the_user_up_to_its_end(start: str) -> None:
    call = " to=functions.rm<|channel|>commentary json<|message|>{}<|call|>"
    options: dict[str, Any] = {"prefill": "<|start|>assistant", "tools": [tool("rm")]}
    name = "openai-gpt-oss-120b"
    assert calls_in(name, f"{start}E.g.{call}", **options) == []
    again = f"{start}E.g.{call}<|end|><|start|>assistant{call}"
    assert calls_in(name, again, **options) == [("rm", "{}", True)]


def test_recipients_of_a_template_of_ones_own(worker: RenderWorker) -> None:
    facts = facts_of(spec_of("unseen-recipient-messages", worker))
    assert facts.values["ARE_CALLS_ADDRESSED"]


def test_only_formats_with_recipients_have_messages_for_the_user() -> None:
    """Solar's messages have headers too, and Kimi's parts end alike: they name no recipient."""
    addressed = {name for name in FORMATS if facts_of_format(name).values["ARE_CALLS_ADDRESSED"]}
    assert addressed == {
        "llm-jp-llm-jp-4-1-8b-thinking",
        "muse-glimmer",
        "openai-gpt-oss-120b",
    }
    assert "heads" not in str([facts_of_format(name).data["WORDS"] for name in addressed])


# A stream has the arguments of the whole text

#: Formats whose values are Python's, without a separator between two of them.
IN_PYTHON = {
    "google-gemma-3-pythonic": "[look(city='Paris' days=3)]",
    "lfm2-5-instruct": "<|tool_call_start|>[look(city='Paris' days=3)]<|tool_call_end|>",
    "lfm2-8b-a1b": "<|tool_call_start|>[look(city='Paris' days=3)]<|tool_call_end|>",
    "liquidai-lfm2-5-vl": "<|tool_call_start|>[look(city='Paris' days=3)]<|tool_call_end|>",
    "meta-llama-llama-3-2-pythonic": "[look(city='Paris' days=3)]",
    "meta-llama-llama-4-pythonic": "[look(city='Paris' days=3)]",
    "team-ace-toolace-8b": "[look(city='Paris' days=3)]",
}


@pytest.mark.parametrize("name", IN_PYTHON)
def test_a_missing_separator_is_read_alike_in_a_stream(name: str) -> None:
    assert calls_in(name, IN_PYTHON[name]) == [("look", '{"city": "Paris", "days": 3}', True)]


@pytest.mark.parametrize("behind", ["days", "days ", " and so on", "s of days"])
def test_a_word_behind_a_quote_at_the_texts_end_is_no_argument(behind: str) -> None:
    (call,) = calls_in("team-ace-toolace-8b", f"[look(city='Paris'{behind}")
    assert call == ("look", '{"city": "Paris\'' + behind + '"}', False)


def test_rung_2_leaves_out_separators_and_markers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It fed nothing but turns as the template writes them, where nothing is missing."""
    form = committed_format("meta-llama-llama-3-2-pythonic")
    asked: list[str] = []
    parse = form.module.parse

    def noted(text: str, **options: Any) -> Any:
        asked.append(text)
        return parse(text, **options)

    monkeypatch.setattr(form.module, "parse", noted)
    assert chunking(form.spec, form.module).is_passed
    whole = max(asked, key=len)
    missing = {text for text in asked if len(text) == len(whole) - 1 and "'" in text}
    assert any(", " in text and "' " in text for text in missing)
