"""The engine on tables written by hand: one for each way to write calls, as small as can be.

Each case is read whole and in pieces of several sizes, and has to come out the same.
"""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest
from turnspec.engine.json_text import find_flaw

from tests.engine_cases import CASES, TABLES, TOOLS, case_failures
from tests.parser_checks import stream
from turnspec.codegen.loading import load_table
from turnspec.engine.markers import Markers
from turnspec.engine.turn import Turn


@pytest.mark.parametrize("case", CASES)
def test_a_case(case: str) -> None:
    name, *_ = CASES[case]
    assert list(case_failures(load_table(TABLES[name]), CASES[case])) == []


@pytest.mark.parametrize("name", TABLES)
def test_events_say_where_their_text_stands(name: str) -> None:
    """Offsets grow, and content stands where its event says."""
    for table, text, *_ in CASES.values():
        if table == name:
            _, events = stream(load_table(TABLES[name]), text, tools=TOOLS)
            places = [place for event in events for place in (event.start, event.end)]
            assert places == sorted(places)
            for event in events:
                if event.type == "content":
                    assert text[event.start : event.end] == event.text


def found(marker: Any, text: str, *, final: bool = True) -> tuple[str, str] | None:
    """Return the role and the text of what is found first."""
    turn = Turn(0)
    turn.text, turn.final = text, final
    match = Markers([("role", marker)]).search(turn)
    return (match.role, match.text) if match else None


@pytest.mark.parametrize(
    ("marker", "text", "wanted"),
    [
        ("<a>", "x<a>y", ("role", "<a>")),
        ("<a> <b>", "<a>\n\n<b>", ("role", "<a>\n\n<b>")),
        ("\n<a>", "x\r\n<a>", ("role", "\r\n<a>")),
        ("<a={name}>", "<a=b.c>", ("role", "<a=b.c>")),
        ("<a={name}>", "<a=>", None),
        ("<{?x}y>", "<y>", ("role", "<y>")),
        ("-{no -}", "--", ("role", "-")),
        ("a{before b}", "aab", ("role", "a")),
        ("{{}}", "{}", ("role", "{}")),
        (("<a>", [" {{"]), "<a>x <a> {", ("role", "<a>")),
    ],
)
def test_a_notation(marker: Any, text: str, wanted: tuple[str, str] | None) -> None:
    assert found(marker, text) == wanted


@pytest.mark.parametrize("text", ["<", "x<a", "<a=na", "<a=name"])
def test_what_may_become_a_marker_is_held_back(text: str) -> None:
    held = found("<a={name}>", text, final=False)
    assert held is not None
    assert held[0] == ""
    assert found("<a={name}>", text) is None


def test_a_slot_gives_its_text() -> None:
    turn = Turn(0)
    turn.text, turn.final = '<a="b" 7>', True
    match = Markers([("role", "<a={name} {index}>")]).search(turn)
    assert match is not None
    assert (match["name"], match["id"]) == ("b", "")


def test_what_was_held_is_read_once_more() -> None:
    turn = Turn(0)
    turn.read = lambda: False
    turn.feed("ab")
    turn.hold()
    turn.position = 2
    turn.problem("kind", "dropped with what was held")
    turn.feed("cd")
    assert turn.message.problems == []
    assert turn.go_back() == 2
    assert (turn.text, turn.position, turn.offset, turn.problems) == ("abcd", 0, 0, [])


@pytest.mark.parametrize("stop", ["", " ", "\n"])
def test_a_stop_string_of_nothing_is_refused(stop: str) -> None:
    with pytest.raises(ValueError, match="a stop string needs more than white space"):
        load_table(TABLES["text"]).parse("x", stop=["<stop>", stop])


def test_without_markers_nothing_is_found() -> None:
    turn = Turn(0)
    turn.text = "any text"
    assert Markers([]).search(turn) is None
    assert Markers([]).match(turn) is None


@pytest.mark.parametrize(("depth", "kinds"), [(499, []), (500, ["not_json"])])
def test_how_deeply_arguments_may_be_nested(depth: int, kinds: list[str]) -> None:
    nested = "[" * depth + "]" * depth
    text = '<call>{"do": "look", "with": {"[": ' + nested + "}}</call>"
    message = load_table(TABLES["objects"]).parse(text)
    assert [problem.kind for problem in message.problems] == kinds
    assert [call.complete for call in message.tool_calls] == [not kinds]


def test_many_keys_of_which_the_last_is_repeated() -> None:
    text = json.dumps({str(number): number for number in range(100_000)})
    started = process_time()
    kind, message = find_flaw(f'{text[:-1]}, "99999": 1}}') or ("", "")
    assert (kind, message) == ("repeated_argument", "another value for '99999'")
    assert process_time() - started < 5  # each key counted for itself takes minutes
