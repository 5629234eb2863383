"""Conversations in the form that a template wants, and the text of one turn."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from turnspec.rendering.conversation import (
    Chat,
    Following,
    result_message,
    schema_of,
    tool_definitions,
    user_message,
)
from turnspec.rendering.dialect import AbsentContent, ArgumentsForm, Dialect, JsonObject
from turnspec.rendering.worker import Rendering, RenderWorker
from turnspec.spec.encoding import json_type
from turnspec.spec.message import Call, Message
from turnspec.spec.model import ContentBlocks

#: Shows messages as they are given.
DUMP = "{{ messages | tojson }}"
#: Shows who speaks and what is said.
TALK = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
CALL = Call("look_up", {"word": "é", "count": 2}, "id0000001")


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    with RenderWorker() as worker:
        yield worker


def assistant(worker: RenderWorker, dialect: Dialect, message: Message) -> JsonObject:
    return Chat(worker, DUMP, {}, dialect).assistant_message(message)


@pytest.mark.parametrize(
    ("absent", "beside_calls", "alone"),
    [
        (AbsentContent.NULL, {"content": None}, {"content": ""}),
        (AbsentContent.EMPTY, {"content": ""}, {"content": ""}),
        (AbsentContent.MISSING, {}, {"content": ""}),
    ],
)
def test_absent_content(
    worker: RenderWorker, absent: AbsentContent, beside_calls: JsonObject, alone: JsonObject
) -> None:
    dialect = Dialect(absent_content=absent)
    called = assistant(worker, dialect, Message(calls=(CALL,)))
    del called["tool_calls"]
    assert called == {"role": "assistant", **beside_calls}
    assert assistant(worker, dialect, Message()) == {"role": "assistant", **alone}


@pytest.mark.parametrize(
    ("form", "arguments"),
    [
        (ArgumentsForm.OBJECT, {"word": "é", "count": 2}),
        (ArgumentsForm.STRING, '{"word": "é", "count": 2}'),
    ],
)
def test_arguments_as_object_or_string(
    worker: RenderWorker, form: ArgumentsForm, arguments: object
) -> None:
    message = assistant(worker, Dialect(arguments=form), Message("hello", calls=(CALL,)))
    function = {"name": "look_up", "arguments": arguments}
    assert message == {
        "role": "assistant",
        "content": "hello",
        "tool_calls": [{"id": "id0000001", "type": "function", "function": function}],
    }


def test_reasoning_stands_under_the_dialects_field(worker: RenderWorker) -> None:
    message = Message("hello", "hm")
    assert "hm" not in assistant(worker, Dialect(), message).values()
    assert assistant(worker, Dialect(reasoning_field="thought"), message)["thought"] == "hm"


def test_reasoning_beside_calls_may_stand_under_another_key(worker: RenderWorker) -> None:
    dialect = Dialect(reasoning_field="thought", call_reasoning_field="plan")
    calling = assistant(worker, dialect, Message("", "hm", (CALL,)))
    assert (calling["plan"], calling.get("thought")) == ("hm", None)
    assert assistant(worker, dialect, Message("hello", "hm"))["thought"] == "hm"


def test_a_turn_runs_from_the_users_text_to_the_end(worker: RenderWorker) -> None:
    chat = Chat(worker, TALK, {})
    assert chat.turn(Message("hello")) == Rendering("<assistant>hello")


@pytest.mark.parametrize(
    ("following", "expected"),
    [(Following.USER, "<assistant>hello<user>"), (Following.TOOL, "<assistant>hello<tool>")],
)
def test_a_turn_that_is_followed_ends_at_the_next_text(
    worker: RenderWorker, following: Following, expected: str
) -> None:
    chat = Chat(worker, TALK, {})
    assert chat.turn(Message("hello"), following=following) == Rendering(expected)


def test_earlier_turns_are_answered(worker: RenderWorker) -> None:
    chat = Chat(
        worker, "{% for m in messages %}{{ m.role[0] }}{% endfor %}:{{ messages[-2].content }}!", {}
    )
    earlier = [Message("one"), Message(calls=(CALL, CALL))]
    whole = Chat(worker, DUMP, {}).turn(Message("last"), earlier=earlier).text
    assert whole is not None
    assert whole.count("last") == 1
    assert chat.turn(Message("last"), earlier=earlier) == Rendering("!")


def test_a_missing_user_message_is_an_error(worker: RenderWorker) -> None:
    chat = Chat(worker, "{{ messages[-1].role }}", {})
    assert chat.turn(Message("hello")) == Rendering(None, "the user's message is not rendered")
    assert chat.prompt() == Rendering(None, "the user's message is not rendered")


def test_a_missing_following_message_is_an_error(worker: RenderWorker) -> None:
    chat = Chat(worker, "{% for m in messages[:2] %}{{ m.content }}{% endfor %}", {})
    assert chat.turn(Message("hello"), following=Following.USER) == Rendering(
        None, "the message that follows is not rendered"
    )


def test_the_prompt_is_what_follows_the_user(worker: RenderWorker) -> None:
    chat = Chat(worker, TALK, {})
    assert chat.prompt() == Rendering("<assistant>")
    assert chat.prompt(add_generation_prompt=False) == Rendering("")


def test_tokens_and_variables_reach_the_template(worker: RenderWorker) -> None:
    chat = Chat(worker, "{{ messages[0].content }}{{ bos_token }}{{ mode }}", {"bos_token": "<s>"})
    assert chat.using({"mode": "deep"}).prompt() == Rendering("<s>deep")
    assert chat.prompt() == Rendering("<s>")


def test_tools_are_held_back_where_the_dialect_says_so(worker: RenderWorker) -> None:
    chat = Chat(worker, "{{ messages[0].content }}{{ tools is not none }}", {})
    assert chat.prompt() == Rendering("True")
    assert chat.speaking(Dialect(give_tools=False)).prompt() == Rendering("False")


@pytest.mark.parametrize(
    "told",
    [
        "{% if tools is not none %}{{ tools | tojson }}{% endif %}",  # fails where nothing is said
        "{% if tools is defined %}{{ tools | length }}{% endif %}",  # fails where there are none
    ],
)
def test_without_tools_the_template_is_told_so_unless_it_fails(
    told: str, worker: RenderWorker
) -> None:
    chat = Chat(worker, told + TALK, {})
    assert chat.render([user_message("hi")]) == Rendering("<user>hi")


def test_tool_definitions_type_what_the_calls_pass() -> None:
    calls = (Call("a", {"x": 1, "y": [True]}), Call("b"), Call("a", {"z": None}))
    first, second = tool_definitions(calls)
    text = json.dumps(first)
    assert '"name": "a"' in text
    assert '"required": ["x", "y", "z"]' in text
    assert [text.count(f'"type": "{kind}"') for kind in ("integer", "array", "null")] == [1, 1, 1]
    assert '"properties": {}' in json.dumps(second)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (True, "boolean"),
        (1, "integer"),
        (1.0, "number"),
        ("1", "string"),
        (None, "null"),
        ([], "array"),
        ((), "array"),
        ({}, "object"),
    ],
)
def test_json_type(value: object, name: str) -> None:
    assert json_type(value) == name


def test_a_schema_says_what_is_inside_of_values() -> None:
    assert schema_of([{"a": [1, "x"], "b": {}}, {"a": [[None]]}]) == {
        "type": "object",
        "properties": {
            "a": {
                "type": "array",
                "items": {
                    "anyOf": [
                        {"type": "integer"},
                        {"type": "string"},
                        {"type": "array", "items": {"type": "null"}},
                    ]
                },
            },
            "b": {"type": "object"},
        },
    }


def test_the_last_of_several_types_of_an_argument_counts() -> None:
    calls = (Call("a", {"x": [1]}, ""), Call("a", {"x": "text"}, ""), Call("a", {"x": [2.5]}, ""))
    assert '"items": {"anyOf": [{"type": "integer"}' in json.dumps(tool_definitions(calls))
    assert '"type": "string"' in json.dumps(tool_definitions(calls[:2]))


def test_messages_around_the_turn() -> None:
    assert user_message("hi") == {"role": "user", "content": "hi"}
    assert result_message(CALL) == {
        "role": "tool",
        "content": "resqa",
        "tool_call_id": "id0000001",
        "name": "look_up",
    }


@pytest.mark.parametrize("container", ["", "pieces"])
def test_reasoning_and_content_in_blocks(worker: RenderWorker, container: str) -> None:
    blocks = ContentBlocks("sort", "musing", "words", "text", container)
    dialect = Dialect(reasoning_field="note", blocks=blocks)
    reasoning, content = {"sort": "musing", "note": "Hm."}, {"sort": "words", "text": "Yes."}
    for message, found in (
        (Message("Yes.", "Hm."), [reasoning, content]),
        (Message("Yes."), [content]),
        (Message("", "Hm.", (CALL,)), [reasoning]),
    ):
        given = assistant(worker, dialect, message)
        assert given["content"] == ({container: found} if container else found)
        assert "note" not in given
    assert assistant(worker, dialect, Message(calls=(CALL,)))["content"] is None
    assert assistant(worker, dialect, Message())["content"] == ""
