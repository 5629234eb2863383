"""Finding needles and whole objects in a rendering."""

from __future__ import annotations

import json

import pytest

from turnspec.analysis.probes import (
    CONTENT,
    REASONING,
    Token,
    TokenKind,
    find_object,
    find_tokens,
    probe_call,
    probe_message,
)

OBJECT = {"keyqa": "valqa"}

OBJECTS = {
    "JSON": ('call({"keyqa": "valqa"})', '{"keyqa": "valqa"}'),
    "compact JSON": ('{"a":{"keyqa":"valqa"}}', '{"keyqa":"valqa"}'),
    "JSON on lines": ('x{\n  "keyqa": "valqa"\n}y', '{\n  "keyqa": "valqa"\n}'),
    "Python": ("f {'keyqa': 'valqa'} g", "{'keyqa': 'valqa'}"),
    "a brace before it": ('{ {"keyqa": "valqa"} }', '{"keyqa": "valqa"}'),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_find_object(case: str) -> None:
    text, expected = OBJECTS[case]
    span = find_object(text, OBJECT, "keyqa")
    assert span is not None
    assert text[slice(*span)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<keyqa>valqa</keyqa>",
        "{keyqa: valqa}",
        '{"keyqa": "other"}',
        '{"keyqa": "valqa", "more": 1}',
        '{"keyqa": "valqa"',
    ],
)
def test_no_object(text: str) -> None:
    assert find_object(text, OBJECT, "keyqa") is None


def test_find_object_in_a_string() -> None:
    text = json.dumps({"a": json.dumps(OBJECT)})
    start, end = find_object(text, OBJECT, "keyqa") or (0, 0)
    assert json.loads(json.loads(text[start:end])) == OBJECT
    assert find_object(text, {"keyqa": "other"}, "keyqa") is None


def test_find_object_round_an_inner_anchor() -> None:
    text = '{"a": {"b": {"keyqa": 1}}}'
    assert find_object(text, {"a": {"b": {"keyqa": 1}}}, "keyqa") == (0, len(text))


def test_find_python_object_whose_strings_hold_braces() -> None:
    text = "f({'keyqa': '}{', 'b': {}})"
    assert find_object(text, {"keyqa": "}{", "b": {}}, "keyqa") == (2, len(text) - 1)


def test_tokens_of_arguments_as_an_object() -> None:
    text = f'{CONTENT}<funqa>{{"keyqa": "valqa"}}</funqa>callqa001'
    assert [
        (token.kind, token.call, text[token.start : token.end])
        for token in find_tokens(text, (probe_call(0),))
    ] == [
        (TokenKind.CONTENT, -1, CONTENT),
        (TokenKind.NAME, 0, "funqa"),
        (TokenKind.ARGUMENTS, 0, '{"keyqa": "valqa"}'),
        (TokenKind.NAME, 0, "funqa"),
        (TokenKind.ID, 0, "callqa001"),
    ]


def test_tokens_of_tagged_arguments() -> None:
    tokens = find_tokens(f"{REASONING} funqb keyqb=valqb", (probe_call(0), probe_call(1)))
    assert tokens == [
        Token(TokenKind.REASONING, -1, 0, 6),
        Token(TokenKind.NAME, 1, 7, 12),
        Token(TokenKind.KEY, 1, 13, 18),
        Token(TokenKind.VALUE, 1, 19, 24),
    ]


def test_probe_messages_have_just_the_parts_asked_for() -> None:
    assert probe_message().calls == ()
    message = probe_message(reasoning=True, content=True, calls=3)
    assert (message.reasoning, message.content) == (REASONING, CONTENT)
    assert message.calls == (probe_call(0), probe_call(1), probe_call(2))


@pytest.mark.parametrize(
    "text", ['{"keyqa": ' + "[" * 100_000, '"{\\"a\\": ' + "[" * 100_000 + ' keyqa}"']
)
def test_what_is_nested_too_deeply_is_no_object(text: str) -> None:
    assert find_object(text, {"keyqa": "valqa"}, "keyqa") is None
