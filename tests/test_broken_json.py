"""Arguments that are no JSON: handed on as they are written, and never content."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generated_formats import committed_spec
from tests.test_what_models_write import COHERE, LLAMA, QWEN, SEEK, SEEK_CALL, TOOLS
from turnspec.codegen.loading import load

#: How formats write a call, and what follows it.
AROUND = {
    QWEN: ('<tool_call>\n{{"name": "read", "arguments": {}}}\n</tool_call>\n', ""),
    LLAMA: ('{{"name": "read", "parameters": {}}}\n', ""),
    COHERE: ('{{"tool_call_id": "0", "tool_name": "read", "parameters": {}}}', "]<|END_ACTION|>"),
    SEEK: (f"{SEEK_CALL}{{}}<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"),
}
OPENED = {COHERE: "<|START_ACTION|>[", SEEK: "</think><｜tool▁calls▁begin｜>"}
BETWEEN = {COHERE: ", "}
WHOLE = '{"path": "a"}'


def read(name: str, text: str) -> Any:
    """Read a text, and see that its pieces give the same."""
    module = load(committed_spec(name))
    message = module.parse(text, tools=TOOLS)
    for size in (1, 5):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert module.parse(pieces, tools=TOOLS) == message
    return message


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize(
    "broken",
    [
        '{"path": <path>, "d": 1}',
        '{"path": "a"; "d": 1}',
        '{"path": ("a", `b`), "d": {"e": [1]}}',
        '{{"path": "a"}}',
        '{, "path": "a"}',
        '{"path": "a",, "d": 1}',
        '{"path": , "d": 1}',
        '{"path: "a"}',
    ],
)
def test_what_is_no_json_is_handed_on_as_it_is_written(name: str, broken: str) -> None:
    call, end = AROUND[name]
    calls = BETWEEN.get(name, "").join(map(call.format, (broken, WHOLE)))
    message = read(name, OPENED.get(name, "") + calls + end)
    first, second = message.tool_calls
    assert (first.arguments, first.complete) == (broken, False)
    assert (second.arguments, second.complete) == (WHOLE, True)
    assert message.content == ""
    assert "malformed" in {problem.kind for problem in message.problems}


@pytest.mark.parametrize("name", AROUND)
def test_a_single_quote_is_escaped_as_other_languages_do(name: str) -> None:
    """Its backslash is left out; that of a path or an expression stays."""
    call, end = AROUND[name]
    text = call.format(r"""{"path": "C:\gone\\'s \'a\d"}""")
    message = read(name, OPENED.get(name, "") + text + end)
    assert message.tool_calls[0].arguments == r"""{"path": "C:\\gone\\'s 'a\\d"}"""
    assert message.tool_calls[0].complete
    assert [problem.message for problem in message.problems] == [
        f"{escape!r} is no escape" for escape in (r"\g", r"\'", r"\d")
    ]


def test_what_is_no_json_ends_where_its_call_does() -> None:
    call = AROUND[QWEN][0].format('{"path": <path>')
    message = read(QWEN, f"{call.removesuffix('}')}Done.")
    (found,) = message.tool_calls
    assert (found.complete, message.content) == (False, "Done.")
    message = read(QWEN, '<tool_call>{"name": "read", "arguments": {"path": (' + call)
    assert [it.name for it in message.tool_calls] == ["read", "read"]


def test_a_bracket_that_is_not_closed_is_where_the_one_around_it_is() -> None:
    message = read(LLAMA, '{"name": "read", "parameters": {"path": ["a", {"b": 1}}\nSo.')
    (call,) = message.tool_calls
    assert (call.arguments, call.complete) == ('{"path": ["a", {"b": 1}]}', False)


def test_a_brace_too_many_stands_between_calls_that_nothing_marks() -> None:
    call = '{"name": "read", "parameters": {"path": "a"}}'
    message = read(LLAMA, f"{call}}}, {call}")
    assert [it.complete for it in message.tool_calls] == [True, True]
    assert (message.content, message.problems[0].kind) == ("", "stray_marker")
