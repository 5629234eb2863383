"""examples/chat_server, as a user's client meets it: the official one, over HTTP."""

from __future__ import annotations

import json
import multiprocessing
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import openai
import pytest

from tests.bound_grammars import end_those_begun_since
from tests.chat_servers import (
    FOLDER,
    FORMAT,
    EndlessModel,
    ScriptedModel,
    client_of,
    server_module,
    serving,
)
from tests.exported_plugins import exported
from tests.generated_formats import ROOT
from tests.tiny_llama import write_llama
from turnspec.sources.index import Entry

QUESTION: list[Any] = [{"role": "user", "content": "Weather?"}]
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
    for name in ("get_weather", "get_time")
]
PARIS = ['{"city": ', '"Paris"', "}"]
REASONING, CONTENT = "They ask for the weather.", "Let me look."
THINKS = ["<think>", "\nThey ask for", " the weather.", "\n", "</think>", "\n\n"]
CALLS = [
    *("\n", "<tool_call>", '\n{"name": "get', '_weather", ', '"arguments": ', *PARIS, "}\n"),
    *("</tool_call>", "\n", "<tool_call>", '\n{"name": "get_time", "arguments": '),
    *(*PARIS, "}\n", "</tool_call>"),
]
TURN = [*THINKS, "Let me", " look.", *CALLS]
CALLED = [
    {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": '{"city": "Paris"}'},
    }
    for number, name in enumerate(("get_weather", "get_time"))
]
Start = Callable[[Any], openai.OpenAI]


@pytest.fixture(scope="module")
def server() -> Iterator[ModuleType]:
    with server_module() as module:
        yield module


@pytest.fixture
def start(server: ModuleType) -> Iterator[Start]:
    """Start the server with a model, and return a client of it."""
    with ExitStack() as stack:

        def client(model: Any) -> openai.OpenAI:
            address = stack.enter_context(serving(server.create_app(model)))
            return stack.enter_context(client_of(address))

        yield client


@pytest.fixture(scope="module")
def refusing(server: ModuleType) -> Iterator[openai.OpenAI]:
    """A client of a server whose model is never asked."""
    model = ScriptedModel(["Fine."])
    with serving(server.create_app(model)) as address, client_of(address) as client:
        yield client
    assert model.asked == []


def ask(client: openai.OpenAI, **changes: Any) -> Any:
    fixed = {"model": "any", "temperature": 0}
    request = {**fixed, "messages": QUESTION, "tools": TOOLS, **changes}
    return client.chat.completions.create(**request)


def called(calls: Iterable[Any]) -> list[dict[str, Any]]:
    """Return calls without that in their ids which differs from turn to turn."""
    found = [call.model_dump(exclude={"index"}) for call in calls]
    return [{**call, "id": re.sub(r"_[0-9a-f]{8}_", "_", call["id"])} for call in found]


def together(chunks: Sequence[Any]) -> dict[str, Any]:
    """Put a stream's deltas together, as clients do."""
    message: dict[str, Any] = {"role": "", "content": None, "reasoning_content": "", "calls": []}
    for chunk in chunks:
        delta = chunk.choices[0].delta
        message["role"] += delta.role or ""
        message["reasoning_content"] += getattr(delta, "reasoning_content", "")
        if delta.content:
            message["content"] = (message["content"] or "") + delta.content
        for call in delta.tool_calls or []:
            if call.index == len(message["calls"]):
                message["calls"] += called([call])
            else:
                message["calls"][call.index]["function"]["arguments"] += call.function.arguments
    return message


def leave_in_mid_stream(client: openai.OpenAI) -> None:
    with ask(client, stream=True) as stream:
        next(chunk for chunk in stream if chunk.choices[0].delta.content)


def test_a_whole_answer(start: Start) -> None:
    answer = ask(start(ScriptedModel([*THINKS, "Hello", " there."])))
    [choice] = answer.choices
    assert choice.message.model_dump(exclude_none=True) == {
        "role": "assistant",
        "content": "Hello there.",
        "reasoning_content": REASONING,
    }
    assert (answer.object, answer.model) == ("chat.completion", "scripted")
    assert choice.finish_reason == "stop"


def test_parallel_calls(start: Start) -> None:
    [choice] = ask(start(ScriptedModel(TURN))).choices
    assert choice.message.model_dump(exclude_none=True, exclude={"tool_calls"}) == {
        "role": "assistant",
        "content": CONTENT,
        "reasoning_content": REASONING,
    }
    assert called(choice.message.tool_calls) == CALLED
    assert choice.finish_reason == "tool_calls"


def test_a_stream(start: Start) -> None:
    chunks = list(ask(start(ScriptedModel(TURN)), stream=True))
    assert together(chunks) == {
        "role": "assistant",
        "content": CONTENT,
        "reasoning_content": REASONING,
        "calls": CALLED,
    }
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk.id for chunk in chunks}) == 1
    reasons = [chunk.choices[0].finish_reason for chunk in chunks]
    assert reasons == [None] * (len(chunks) - 1) + ["tool_calls"]


def test_a_stream_comes_in_pieces(start: Start) -> None:
    chunks = list(ask(start(ScriptedModel(TURN)), stream=True))
    deltas = [chunk.choices[0].delta for chunk in chunks]
    content = [delta.content for delta in deltas if delta.content]
    assert content == ["Let me", " look."]
    calls = [call for delta in deltas for call in delta.tool_calls or []]
    first = [call.function.arguments for call in calls if call.index == 0]
    assert first == ["", "{", '"city": "Paris"', "}"]
    named = [call for call in calls if call.function.name]
    assert [call["id"] for call in called(named)] == ["call_0", "call_1"]


def test_a_client_that_leaves_a_stream(start: Start) -> None:
    model = EndlessModel(["all ", "the ", "words "])
    client = start(model)
    leave_in_mid_stream(client)
    assert model.stopped.wait(5)
    written = model.written
    time.sleep(0.1)
    assert model.written == written
    model.stopped.clear()
    leave_in_mid_stream(client)  # the model is free for the next
    assert model.stopped.wait(5)
    assert model.written > written


def test_a_client_that_leaves_a_whole_answer(start: Start) -> None:
    model = EndlessModel(["all ", "the ", "words "])
    client = start(model)
    with pytest.raises(openai.APITimeoutError):
        ask(client.with_options(timeout=0.5))
    assert model.written > 0
    assert model.stopped.wait(5)


def test_what_the_handler_is_asked(start: Start) -> None:
    model = ScriptedModel(["Fine."])
    more = {
        "chat_template_kwargs": {"enable_thinking": False},
        "parallel_tool_calls": False,
        "logprobs": False,
    }
    [choice] = ask(start(model), tool_choice="required", extra_body=more, seed=5, stop=None).choices
    assert choice.message.content == "Fine."
    assert not hasattr(choice.message, "reasoning_content")
    assert model.asked == [
        {
            "messages": QUESTION,
            "tools": TOOLS,
            "tool_choice": "required",
            "parallel_tool_calls": False,
            "temperature": 0,
            "seed": 5,
            "enable_thinking": False,
            "stream": True,
        }
    ]


@pytest.mark.parametrize("key", ["max_tokens", "max_completion_tokens"])
def test_the_most_that_may_be_written(start: Start, key: str) -> None:
    model = ScriptedModel(["Fine."])
    ask(start(model), **{key: 7})
    assert model.asked[0]["max_tokens"] == 7


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"messages": []}, "there have to be messages"),
        ({"messages": "Hello"}, "messages has to be of the type array"),
        ({"tools": {"name": "get_time"}}, "tools has to be of the type array"),
        ({"tool_choice": 1}, "tool_choice has to be of the type string or object"),
        ({"n": 2}, "n has to be 1: there is one answer at a time"),
        ({"max_tokens": -1}, "max_tokens has to be from 1 to 2147483647"),
        ({"temperature": 10**400}, "temperature has to be from 0 to 100"),
        ({"temperature": -0.1}, "temperature has to be from 0 to 100"),
        ({"top_p": 1.5}, "top_p has to be from 0 to 1"),
        (
            {"seed": 10**400},
            "seed has to be from -9223372036854775808 to 18446744073709551615",
        ),
        ({"stop": ["x"] * 65}, STOPS := "stop has to be 64 texts of 1000 characters at most"),
        ({"stop": "x" * 1001}, STOPS),
        ({"stop": ["x", 1]}, STOPS),
        ({"temperature": "hot"}, "temperature has to be of the type number"),
        ({"seed": 1.5}, "seed has to be of the type integer"),
        ({"seed": True}, "seed has to be of the type integer"),
        ({"chat_template_kwargs": "off"}, "chat_template_kwargs has to be an object"),
        (
            {"chat_template_kwargs": {"logits_processor": [], "top_k": 1, "bos": ""}},
            "chat_template_kwargs can't hold logits_processor, top_k",
        ),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_malformed_request(
    refusing: openai.OpenAI, wrong: dict[str, Any], message: str, stream: bool
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        ask(refusing, stream=stream, extra_body=wrong)
    assert caught.value.body == {"message": message, "type": "invalid_request_error"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the body isn't JSON: Expecting property name enclosed in double quotes: "),
        (b"[]", "the body has to be a JSON object"),
        (b'{"temperature": NaN}', "the body isn't JSON: there is no NaN in it"),
        (b'{"temperature": 1e400, "messages": [{}]}', "temperature has to be from 0 to 100"),
        (b'{"messages": ' + b"[" * 100_000, "the body is nested too deeply"),
    ],
)
def test_a_malformed_body(refusing: openai.OpenAI, body: bytes, message: str) -> None:
    address = f"{refusing.base_url}chat/completions"
    with pytest.raises(HTTPError) as caught:
        urlopen(address, data=body, timeout=10)
    assert caught.value.code == 400
    error = json.load(caught.value)["error"]
    assert error["message"].startswith(message)


HELLO = b'{"messages": [{"role": "user", "content": "Hello"}]}'


@pytest.mark.parametrize(
    ("headers", "status", "message"),
    [
        ({}, 200, ""),
        ({"Host": "localhost"}, 200, ""),
        ({"Host": "localhost:1234"}, 200, ""),
        ({"Host": "[::1]:80", "Origin": "http://[::1]:80"}, 200, ""),
        ({"Host": "evil.example:80"}, 403, "this server isn't 'evil.example:80'"),
        ({"Host": "localhost.evil.example"}, 403, "this server isn't 'localhost.evil.example'"),
        ({"Origin": "https://evil.example"}, 403, "pages of 'https://evil.example' may not ask"),
        ({"Origin": "null"}, 403, "pages of 'null' may not ask"),
        ({"Host": "localhost:80", "Origin": "http://localhost:81"}, 403, "pages of 'http://"),
    ],
)
def test_who_may_ask(start: Start, headers: dict[str, str], status: int, message: str) -> None:
    model = ScriptedModel(["Fine."])
    address = f"{start(model).base_url}chat/completions"
    request = Request(address, data=HELLO, headers=headers)
    try:
        with urlopen(request, timeout=10) as answer:
            found, said = answer.status, ""
    except HTTPError as error:
        found, said = error.code, json.load(error)["error"]["message"]
    assert (found, said[: len(message)]) == (status, message)
    assert len(model.asked) == (status == 200)


def test_two_origins_are_refused(refusing: openai.OpenAI) -> None:
    url = refusing.base_url
    own = f"Host: {url.host}:{url.port}\r\nOrigin: http://{url.host}:{url.port}\r\n"
    head = f"POST {url.path}chat/completions HTTP/1.1\r\n{own}Origin: https://evil.example\r\n"
    with socket.create_connection((url.host, url.port), timeout=10) as connection:
        connection.sendall(f"{head}Content-Length: {len(HELLO)}\r\n\r\n".encode() + HELLO)
        with connection.makefile("rb") as answer:
            assert answer.readline() == b"HTTP/1.1 403 Forbidden\r\n"


def test_another_name_may_be_allowed(server: ModuleType) -> None:
    app = server.create_app(ScriptedModel(["Fine."]), [*server.HOSTS, "models.example"])
    with serving(app) as address:
        headers = {"Host": "models.example", "Origin": "https://models.example"}
        request = Request(f"{address}/chat/completions", data=HELLO, headers=headers)
        with urlopen(request, timeout=10) as answer:
            assert answer.status == 200


def test_a_body_is_read_no_further_than_it_may_go(
    server: ModuleType, refusing: openai.OpenAI
) -> None:
    """It says that it has 200 MB, and waits for an answer after the first that are too many."""
    url = refusing.base_url
    head = f"POST {url.path}chat/completions HTTP/1.1\r\nHost: {url.host}\r\n"
    with socket.create_connection((url.host, url.port), timeout=10) as connection:
        connection.sendall(f"{head}Content-Length: 200000000\r\n\r\n".encode())
        connection.sendall(b"[" * (server.LONGEST_BODY + 1))
        with connection.makefile("rb") as answer:
            assert answer.readline() == b"HTTP/1.1 413 Request Entity Too Large\r\n"


def test_a_body_that_breaks_off_leaves_the_log_clear(
    refusing: openai.OpenAI, capfd: pytest.CaptureFixture[str]
) -> None:
    url = refusing.base_url
    head = f"POST {url.path}chat/completions HTTP/1.1\r\nHost: {url.host}\r\n"
    with socket.create_connection((url.host, url.port), timeout=10) as connection:
        connection.sendall(f"{head}Content-Length: 200\r\n\r\n{{".encode())
    with pytest.raises(openai.BadRequestError):
        ask(refusing, messages=[])
    assert "Traceback" not in capfd.readouterr().err


BY_HEART = [
    *("<think>", "\nThey ask", " for the weather.", "\n</think>", "\n\n", "Let me", " look.\n"),
    *("<tool_call>", '\n{"name": "get_weather', '", "arguments": {"city": "Par', 'is"}'),
    *("}\n</tool_call>", "\n<tool_call>\n", '{"name": "get_time", "arguments": ', '{"city": '),
    *('"Paris"', "}}\n", "</tool_call>", " Oops,", " I went on."),
]
END = "<|im_end|>"
Load = Callable[[Sequence[str]], Any]


@pytest.fixture(scope="module")
def template(reference_templates: list[Entry]) -> str:
    [found] = [file for file in reference_templates if file.name == FORMAT]
    return (ROOT / found.location).read_text(encoding="utf-8")


@pytest.fixture
def load(server: ModuleType, template: str, tmp_path: Path) -> Load:
    """Write a model that knows the pieces by heart, and load it with llama.cpp."""

    def model(pieces: Sequence[str]) -> Any:
        path = tmp_path / "by-heart.gguf"
        write_llama(path, pieces, prompt_end="\n", template=template, end=END)
        return server.load(path, 1500)

    return model


@pytest.mark.parametrize("temperature", [0, 0.6])
def test_llama_cpp_streams_under_the_lazy_grammar(
    start: Start, load: Load, temperature: float
) -> None:
    chunks = list(ask(start(load(BY_HEART)), stream=True, temperature=temperature))
    assert together(chunks) == {
        "role": "assistant",
        "content": CONTENT,
        "reasoning_content": REASONING,
        "calls": CALLED,
    }
    assert chunks[-1].choices[0].finish_reason == "tool_calls"
    assert chunks[-1].usage.completion_tokens == len(BY_HEART) - 2  # after calls it had to end


def answer_by(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"schema": schema}}


#: To try the value on the pattern takes ages: it goes back and forth between the two repeats.
TAKES_LONG = {"enum": ["a" * 60 + "!"], "pattern": "^(a+)+$"}
DEEP_CALL = {"function": {"name": "get_time", "arguments": "[" * 100_000}}
NO_TOOL = "there is no tool 'get_news' to choose; there are: get_weather, get_time"
GET_NEWS = {"type": "function", "function": {"name": "get_news"}}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"messages": [{"role": "user", "tool_calls": [DEEP_CALL]}]}, "the request is nested too"),
        ({"messages": ["Hello"]}, "this can't be answered: AttributeError("),
        ({"messages": [{"role": "user", "content": "?" * 3000}]}, "this can't be answered: the "),
        ({"tools": [{"type": "function"}]}, "this can't be answered: "),
        ({"tool_choice": GET_NEWS}, f"this can't be answered: {NO_TOOL}"),
        ({"response_format": answer_by(TAKES_LONG)}, "this can't be answered: binding the grammar"),
    ],
)
def test_what_the_handler_refuses(
    server: ModuleType,
    start: Start,
    load: Load,
    monkeypatch: pytest.MonkeyPatch,
    asked: Any,
    message: str,
) -> None:
    monkeypatch.setattr(server, "BINDING_SECONDS", 1.0)
    client = start(load(BY_HEART))
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as caught:
            ask(client, stream=stream, extra_body=asked)
        error: Any = caught.value.body
        assert error["message"].startswith(message)
    assert ask(client).choices[0].finish_reason == "tool_calls"  # the model is free for the next


def test_a_request_waits_for_no_other_ones_grammar(
    start: Start, load: Load, monkeypatch: pytest.MonkeyPatch, server: ModuleType
) -> None:
    monkeypatch.setattr(server, "BINDING_SECONDS", 10.0)
    client = start(load(BY_HEART))
    known = multiprocessing.active_children()
    refused: list[bool] = []

    def ask_in_vain() -> None:
        with pytest.raises(openai.BadRequestError):
            ask(client, extra_body={"response_format": answer_by(TAKES_LONG)})
        refused.append(True)

    thread = threading.Thread(target=ask_in_vain)
    thread.start()
    time.sleep(1)
    assert ask(client).choices[0].finish_reason == "tool_calls"
    assert not refused
    end_those_begun_since(known)
    thread.join()
    assert refused


def test_llama_cpp_goes_on_after_a_client_left(start: Start, load: Load) -> None:
    client = start(load(BY_HEART))
    leave_in_mid_stream(client)
    [choice] = ask(client).choices
    assert called(choice.message.tool_calls) == CALLED


def test_the_command(template: str, tmp_path: Path) -> None:
    path = tmp_path / "by-heart.gguf"
    write_llama(path, BY_HEART, prompt_end="\n", template=template, end=END)
    command = [sys.executable, str(FOLDER / "server.py"), str(path), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        address = next(filter(None, (re.search(r"http://\S+", line) for line in process.stderr)))
        try:
            with client_of(f"{address[0]}/v1") as client:
                assert together(list(ask(client, stream=True)))["calls"] == CALLED
        finally:
            process.terminate()
            process.communicate(timeout=20)


def test_a_model_with_another_template(tmp_path: Path) -> None:
    path = tmp_path / "other.gguf"
    write_llama(path, ["Hello."], prompt_end=":", template="Assistant:", end=END)
    command = [sys.executable, str(FOLDER / "server.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    message = f"error: {path}: the model's chat template isn't in the format {FORMAT}\n"
    assert (done.returncode, done.stderr.endswith(message)) == (1, True)


def test_the_handler_is_fresh() -> None:
    for name, text in exported(FORMAT, "llama-cpp-python").items():
        stale = f"run: turnspec export {FORMAT} --to llama-cpp-python --into examples/chat_server"
        assert (FOLDER / name).read_text(encoding="utf-8") == text, stale
