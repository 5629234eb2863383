"""Messages of chat APIs, read in any form and written in the one that a template takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from turnspec.chat.form import MessageForm
from turnspec.chat.messages import (
    Turn,
    read_messages,
    read_tools,
    with_ids,
    with_text_before,
    with_text_behind,
    write_messages,
)
from turnspec.rendering.dialect import AbsentContent, ArgumentsForm, Dialect
from turnspec.spec.message import Call
from turnspec.spec.model import Capabilities, ContentBlocks
from turnspec.spec.problems import Problem

CAN = Capabilities(
    system_role=True,
    tools=True,
    tool_calls=True,
    parallel_calls=True,
    tool_results=True,
    object_arguments=True,
    string_arguments=True,
    null_content=True,
    content_beside_calls=True,
    call_id_required=False,
    roles_alternate=False,
)
NEEDS_IDS = replace(CAN, call_id_required=True)
PLAIN = Dialect()


def form(dialect: Dialect = PLAIN, **changes: Any) -> MessageForm:
    given: dict[str, Any] = {
        "dialect": dialect,
        "capabilities": CAN,
        "result_role": "tool",
        "developer_role": False,
        "takes_parts": frozenset(),
        "only_parts": frozenset(),
    }
    return MessageForm(**(given | changes))


def turns(messages: list[dict[str, Any]]) -> list[Turn]:
    read = read_messages(messages)
    assert all(isinstance(turn, Turn) for turn in read), read
    return [turn for turn in read if isinstance(turn, Turn)]


def written(
    messages: list[dict[str, Any]], form: MessageForm
) -> tuple[list[dict[str, Any]], list[str]]:
    done, problems = write_messages(with_ids(turns(messages), form), form)
    return done, [str(problem) for problem in problems]


def calling(function: dict[str, Any], **call: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{**call, "function": function}]}


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": [1]}}},
        {"id": "c1", "function": {"name": "f", "arguments": '{"a": [1]}'}},
        {"id": "c1", "name": "f", "arguments": {"a": [1]}},
        {"id": "c1", "name": "f", "arguments": '{"a": [1]}'},
    ],
)
def test_calls_are_read_in_every_form(call: dict[str, Any]) -> None:
    (turn,) = turns([{"role": "assistant", "tool_calls": [call]}])
    assert turn.calls == (Call("f", {"a": [1]}, "c1"),)


@pytest.mark.parametrize("arguments", [None, "", " ", "{}", {}])
def test_a_call_without_arguments(arguments: object) -> None:
    (turn,) = turns([calling({"name": "f", "arguments": arguments})])
    assert turn.calls == (Call("f"),)


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
def test_reasoning_is_read_under_each_of_its_keys(key: str) -> None:
    (turn,) = turns([{"role": "assistant", "content": "hi", key: "hm"}])
    assert turn == Turn("assistant", "hi", "hm")


def test_the_older_name_of_a_result() -> None:
    assert turns([{"role": "function", "name": "f", "content": "x"}]) == [
        Turn("tool", "x", extra={"name": "f"})
    ]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("hello", "messages[0]: is no object with a role"),
        ({"content": "x"}, "messages[0]: is no object with a role"),
        (
            {"role": "user", "content": 3},
            "messages[0].content: is neither text nor a list of parts",
        ),
        ({"role": "user", "content": [{}]}, "messages[0].content[0]: is no part with a type"),
        (
            {"role": "user", "content": [{"type": "text"}]},
            "messages[0].content[0]: is no part with a type",
        ),
        ({"role": "assistant", "tool_calls": {"a": 1}}, "messages[0].tool_calls: is no list"),
        (
            {"role": "assistant", "tool_calls": [{"id": "x"}]},
            "messages[0].tool_calls[0]: is no call with a name",
        ),
        (
            calling({"name": "f", "arguments": '{"a": '}),
            "messages[0].tool_calls[0].arguments: are neither an object nor the JSON text of one",
        ),
        (
            calling({"name": "f", "arguments": [1]}),
            "messages[0].tool_calls[0].arguments: are neither an object nor the JSON text of one",
        ),
    ],
)
def test_messages_that_cant_be_read(message: Any, problem: str) -> None:
    assert [str(found) for found in read_messages([message])] == [problem]


def test_no_messages() -> None:
    assert read_messages([]) == [Problem("there are no messages", path="messages")]


@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        (Dialect(), {"type": "function", "function": {"name": "f", "arguments": {"é": 1}}}),
        (
            Dialect(arguments=ArgumentsForm.STRING),
            {"type": "function", "function": {"name": "f", "arguments": '{"é": 1}'}},
        ),
        (Dialect(flat_calls=True), {"type": "function", "name": "f", "arguments": {"é": 1}}),
    ],
)
def test_calls_are_written_in_the_templates_form(dialect: Dialect, call: dict[str, Any]) -> None:
    done, problems = written([calling({"name": "f", "arguments": '{"é": 1}'})], form(dialect))
    assert problems == []
    assert done == [{"role": "assistant", "content": None, "tool_calls": [call]}]


@pytest.mark.parametrize(
    ("absent", "content"),
    [
        (AbsentContent.NULL, {"content": None}),
        (AbsentContent.EMPTY, {"content": ""}),
        (AbsentContent.MISSING, {}),
    ],
)
def test_absent_content(absent: AbsentContent, content: dict[str, Any]) -> None:
    messages = [{"role": "user", "content": None}, calling({"name": "f"})]
    (user, assistant), _ = written(messages, form(Dialect(absent_content=absent)))
    del assistant["tool_calls"]
    assert assistant == {"role": "assistant", **content}
    assert user == {"role": "user", "content": ""}


def test_reasoning_is_written_where_the_template_reads_it() -> None:
    message = {"role": "assistant", "content": "hi", "reasoning": "hm"}
    (done,), _ = written([message], form(Dialect(reasoning_field="thinking")))
    assert done == {"role": "assistant", "content": "hi", "thinking": "hm"}
    two_keys = form(Dialect(reasoning_field="thinking", call_reasoning_field="plan"))
    (done,), _ = written([calling({"name": "f"}) | {"reasoning": "hm"}], two_keys)
    assert (done["plan"], done.get("thinking")) == ("hm", None)
    (done,), _ = written([message], form())
    assert done == {"role": "assistant", "content": "hi", "reasoning_content": "hm"}
    blocks = ContentBlocks("type", "thinking", "text", "text")
    (done,), _ = written([message], form(Dialect(reasoning_field="thinking", blocks=blocks)))
    assert done == {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hi"}],
    }


def test_parts_become_text_where_the_template_takes_none() -> None:
    parts: list[Any] = [{"type": "text", "text": "one"}, "two"]
    (done,), problems = written([{"role": "user", "content": parts}], form())
    assert (done["content"], problems) == ("one\ntwo", [])


def test_parts_stay_parts_where_the_template_takes_them() -> None:
    parts: list[Any] = [{"type": "text", "text": "one"}, {"type": "image"}]
    (done,), problems = written(
        [{"role": "user", "content": parts}], form(takes_parts=frozenset({"user"}))
    )
    assert (done["content"], problems) == (parts, [])


def test_text_becomes_a_part_where_the_template_takes_nothing_else() -> None:
    (done,), _ = written([{"role": "user", "content": "one"}], form(only_parts=frozenset({"user"})))
    assert done["content"] == [{"type": "text", "text": "one"}]


def test_an_image_for_a_template_that_takes_text() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {}}]
    _, problems = written([{"role": "user", "content": parts}], form())
    assert problems == [
        "messages[0].content: the template takes text only from user, not image_url"
    ]


@pytest.mark.parametrize(("knows", "role"), [(True, "developer"), (False, "system")])
def test_a_developer_is_a_system_where_the_template_doesnt_know_it(knows: bool, role: str) -> None:
    (done,), _ = written([{"role": "developer", "content": "x"}], form(developer_role=knows))
    assert done == {"role": role, "content": "x"}


def test_results_have_the_templates_role_and_their_calls_name() -> None:
    messages: list[dict[str, Any]] = [
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "function": {"name": "f"}},
                {"id": "c2", "function": {"name": "g"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "second"},
        {"role": "tool", "content": "first"},
        {"role": "tool", "content": "of nothing"},
    ]
    (_, *results), _ = written(messages, form(result_role="observation"))
    assert results == [
        {"role": "observation", "content": "second", "tool_call_id": "c2", "name": "g"},
        {"role": "observation", "content": "first", "tool_call_id": "c1", "name": "f"},
        {"role": "observation", "content": "of nothing"},
    ]


def test_ids_are_made_where_the_template_needs_them() -> None:
    messages = [calling({"name": "f"}), {"role": "tool", "content": "x"}, calling({"name": "g"})]
    (first, result, second), _ = written(messages, form(capabilities=NEEDS_IDS))
    assert first["tool_calls"][0]["id"] == result["tool_call_id"] == "call00001"
    assert second["tool_calls"][0]["id"] == "call00002"
    (first, result, _), _ = written(messages, form())
    assert "id" not in first["tool_calls"][0]
    assert result == {"role": "tool", "content": "x", "name": "f"}


def test_other_keys_are_handed_on() -> None:
    (done,), _ = written([{"role": "user", "content": "x", "name": "Ann"}], form())
    assert done == {"role": "user", "content": "x", "name": "Ann"}


def test_tools_in_both_forms() -> None:
    function = {"name": "f", "parameters": {}}
    whole = {"type": "function", "function": function}
    assert read_tools([whole]) == read_tools([function]) == [whole]


def test_tools_without_a_name() -> None:
    found = read_tools([{"function": {}}, {"name": "f"}, {"name": 3}])
    assert [str(problem) for problem in found] == [
        "tools[0]: is no tool with a name",
        "tools[2]: is no tool with a name",
    ]


def test_texts_beside_content_keep_its_other_parts() -> None:
    image: dict[str, object] = {"type": "image_url", "image_url": {"url": "x"}}
    look: dict[str, object] = {"type": "text", "text": "Look:"}
    shown, text = Turn("user", (look, image)), {"type": "text", "text": "Hm."}
    assert with_text_before(shown, "Hm.").content == (text, look, image)
    assert with_text_behind(shown, "Hm.").content == (look, image, text)
    told = Turn("user", ({"type": "text", "text": "Look:"},))
    assert with_text_before(told, "Hm.").content == "Hm.\n\nLook:"
    assert with_text_behind(told, "Hm.").content == "Look: Hm."
