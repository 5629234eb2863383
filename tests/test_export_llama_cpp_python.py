"""The chat handler for llama-cpp-python, as exported, on a model that llama.cpp runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import llama_cpp
import pytest
from llama_cpp import llama_chat_format
from openai.types.chat import ChatCompletionChunk

from tests.exported_plugins import plugin
from tests.generated_formats import ROOT
from tests.test_chat_server import CALLED, CONTENT, QUESTION, REASONING, TOOLS, together
from tests.tiny_llama import write_llama
from turnspec.sources.index import Entry

NAME = "qwen-qwen3-0-6b"
END = "<|im_end|>"
THINKS = ["<think>", "\nThey ask", " for the weather.", "\n</think>", "\n\n"]
# Some tokens hold the end of one marker and the beginning of another, or more than 32 characters.
CALLS = [
    *("<tool_call>", '\n{"name": "get_weather', '", "arguments": {"city": "Par', 'is"}'),
    *("}\n</tool_call>", "\n<tool_call>\n", '{"name": "get_time", "arguments": ', '{"city": '),
    *('"Paris"', "}}\n", "</tool_call>", " Oops,", " I went on."),
]
TURN = [*THINKS, "Let me", " look.\n", *CALLS]
Load = Callable[..., Any]


@pytest.fixture(scope="module")
def handler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with plugin(NAME, "llama-cpp-python", tmp_path_factory.mktemp("handler")) as module:
        yield module


@pytest.fixture(scope="module")
def template(reference_templates: list[Entry]) -> str:
    [found] = [file for file in reference_templates if file.name == NAME]
    return (ROOT / found.location).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def load(handler: ModuleType, template: str, tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Write a model that knows the pieces by heart, and load it; each once."""

    @cache
    def model(pieces: tuple[str, ...], text: str, size: int) -> Any:
        path = tmp_path_factory.mktemp("model") / "by-heart.gguf"
        write_llama(path, pieces, prompt_end="\n", template=text, end=END)
        made = handler.ChatHandler()
        return llama_cpp.Llama(str(path), n_ctx=size, verbose=False, chat_handler=made)

    def by_heart(pieces: Sequence[str], *, text: str = template, size: int = 1500) -> Any:
        return model(tuple(pieces), text, size)

    return by_heart


def ask(llama: Any, **changes: Any) -> Any:
    request = {"temperature": 0, "tools": TOOLS, **changes}
    return llama.create_chat_completion(QUESTION, **request)


def said(answer: Any) -> dict[str, Any]:
    """Return an answer's message, without that in ids which differs from turn to turn."""
    [choice] = answer["choices"]
    message = {**choice["message"]}
    for call in message.get("tool_calls", []):
        call["id"] = re.sub(r"_[0-9a-f]{8}_", "_", call["id"])
    return message


@pytest.mark.parametrize("temperature", [0, 0.6])
def test_a_whole_answer_under_the_lazy_grammar(load: Load, temperature: float) -> None:
    answer = ask(load(TURN), temperature=temperature)
    assert said(answer) == {
        "role": "assistant",
        "content": CONTENT,
        "reasoning_content": REASONING,
        "tool_calls": CALLED,
    }
    assert (answer["object"], answer["choices"][0]["finish_reason"]) == (
        "chat.completion",
        "tool_calls",
    )
    usage = answer["usage"]
    assert usage["completion_tokens"] == len(TURN) - 2  # after calls it had to end
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_a_stream_is_what_a_server_sends(load: Load) -> None:
    chunks = list(ask(load(TURN), stream=True))
    assert together([*map(ChatCompletionChunk.model_validate, chunks)]) == {
        "role": "assistant",
        "content": CONTENT,
        "reasoning_content": REASONING,
        "calls": CALLED,
    }
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in chunks}) == 1
    choices = [chunk["choices"][0] for chunk in chunks]
    assert choices[0]["delta"] == {"role": "assistant"}
    reasons = [choice["finish_reason"] for choice in choices]
    assert reasons == [None] * (len(chunks) - 1) + ["tool_calls"]
    content = [choice["delta"]["content"] for choice in choices if "content" in choice["delta"]]
    assert content == ["Let me", " look."]


def test_calls_that_are_asked_for_or_refused(load: Load) -> None:
    llama = load([*THINKS, *CALLS])
    assert called_by(ask(llama, tool_choice="required")) == CALLED
    chosen = {"type": "function", "function": {"name": "get_weather"}}
    answer = ask(llama, tool_choice=chosen, max_tokens=20)
    assert [call["function"]["name"] for call in called_by(answer)] == ["get_weather"]
    message = said(ask(load(TURN), tool_choice="none"))
    assert message == {"role": "assistant", "content": CONTENT, "reasoning_content": REASONING}


def called_by(answer: Any) -> Any:
    return said(answer).get("tool_calls", [])


def test_no_grammar_holds_back_what_has_no_tools(load: Load) -> None:
    assert said(ask(load(TURN), tools=None))["content"] == f"{CONTENT}\n Oops, I went on."


def test_without_turnspec_there_is_no_grammar(
    load: Load, handler: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "bound_grammar", None)
    message = said(ask(load(TURN)))
    assert (message["content"], message["tool_calls"]) == (f"{CONTENT}\n Oops, I went on.", CALLED)


def test_a_call_that_begins_inside_a_token(load: Load) -> None:
    """The model goes back to before the token, and the message has nothing of it twice."""
    llama = load(["<think>", "x</think>Let me look.\n<tool_call>", "\n{"])
    message = said(ask(llama, max_tokens=50))  # it knows no other token for the marker
    assert message == {"role": "assistant", "content": CONTENT, "reasoning_content": "x"}


def test_a_marker_in_reasoning_is_text(load: Load) -> None:
    thinks = ["<think>", "I could write", "<tool_call>", " first.", "</think>", "Fine."]
    message = said(ask(load(thinks)))
    assert message["reasoning_content"] == "I could write<tool_call> first."
    assert message["content"] == "Fine."


def test_where_a_turn_stops(load: Load) -> None:
    llama = load([*THINKS, "One", " two", " three"])
    [choice] = ask(llama, max_tokens=len(THINKS) + 1)["choices"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("length", "One")
    [choice] = ask(llama, stop="tw")["choices"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("stop", "One")


def test_thinking_is_a_variable_of_the_template(handler: ModuleType, load: Load) -> None:
    llama = load(["Fine", " then."])
    answer = handler.ChatHandler()(llama=llama, messages=QUESTION, enable_thinking=False)
    assert said(answer) == {"role": "assistant", "content": "Fine then."}


def test_a_history_with_calls(handler: ModuleType, load: Load) -> None:
    llama = load(["Fine", " then."])
    history = [
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
        {"role": "assistant", "content": None, "tool_calls": CALLED[:1]},
        {"role": "tool", "content": "rain", "tool_call_id": "call_0"},
    ]
    prompt = handler.ChatHandler()._prompt(llama, history, TOOLS, {})
    assert '{"name": "get_weather", "arguments": {"city": "Paris"}}' in prompt
    assert "<|im_start|>user\nWeather?<|im_end|>" in prompt


def test_an_answer_by_a_schema(load: Load) -> None:
    llama = load([*THINKS, '{"n": ', "1}", " and", " more"])
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    form = {"type": "json_object", "schema": schema}
    assert said(ask(llama, tools=None, response_format=form))["content"] == '{"n": 1}'


def test_the_server_finds_the_handler_by_name(handler: ModuleType) -> None:
    found = llama_chat_format.get_chat_completion_handler(NAME)
    assert isinstance(found, handler.ChatHandler)


OTHER = "{% for m in messages %}{{ m.content }}{% endfor %}\n"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"logprobs": True}, f"{NAME}: there is no logprobs here"),
        (
            {"tool_choice": "get_news"},
            "there is no tool 'get_news' to choose; there are: get_weather, get_time",
        ),
        (
            {"tools": [{"type": "function"}]},
            "tools: #/0/name: a tool needs a name",
        ),
    ],
)
def test_a_request_that_cannot_be_met(load: Load, asked: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ask(load(["Fine."]), **asked)


def test_a_prompt_that_is_too_long(load: Load) -> None:
    with pytest.raises(ValueError, match=r"^the prompt has \d+ tokens, 255 is the most$"):
        ask(load(["Fine."], size=256))


def test_a_model_of_another_format(load: Load) -> None:
    with pytest.raises(ValueError, match="the model's chat template isn't in the format qwen"):
        ask(load(["Fine."], text=OTHER))
