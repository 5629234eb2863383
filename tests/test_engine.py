"""The engine on formats written by hand: one for each way to write calls, as small as can be.

Each case is read whole and in pieces of several sizes, and has to come out the same.
"""

from __future__ import annotations

import json
from time import process_time
from typing import Any, cast

import pytest

from tests.engine_cases import CASES, TOOLS, case_failures
from tests.engine_options import checks
from tests.parser_checks import stream
from tests.small_formats import FORMATS, small_format
from turnspec.codegen.markers import Notation
from turnspec.codegen.rules import Slots
from turnspec.engine.facts import SLOTS
from turnspec.engine.input import Input
from turnspec.engine.json_texts import find_flaw
from turnspec.engine.markers import BLANKS, Found, Markers
from turnspec.engine.roles import Role
from turnspec.engine.rules import rules_for
from turnspec.engine.turn_state import missing_texts

CHECKS = checks()


@pytest.mark.parametrize("case", CASES)
def test_a_case(case: str) -> None:
    name, *_ = CASES[case]
    assert list(case_failures(small_format(name), CASES[case])) == []


def test_a_piece_that_is_no_text_is_told_and_leaves_the_parser_as_it_was() -> None:
    parser = small_format("thoughts").Parser()
    parser.feed("Hel")
    for wrong in cast(tuple[str, ...], (None, 3, b"x")):  # also where text passes through
        with pytest.raises(TypeError, match=f"^text: {wrong!r} is not a string$"):
            parser.feed(wrong)
    parser.feed("lo")
    parser.finish()
    assert parser.message.content == "Hello"


def test_a_text_may_be_pieces_with_a_flag_or_not_and_nothing_else() -> None:
    parse = small_format("thoughts").parse
    assert parse(["He", ("l", True), "lo"]).content == "Hello"
    for wrong in cast(tuple[str, ...], (None, 3, b"x")):
        with pytest.raises(TypeError, match=f"^text: {wrong!r} is not a string$"):
            parse(wrong)


@pytest.mark.parametrize("check", CHECKS)
def test_options(check: str) -> None:
    table, failures = CHECKS[check]
    assert list(failures(small_format(table))) == []


@pytest.mark.parametrize("name", FORMATS)
def test_events_say_where_their_text_stands(name: str) -> None:
    """Offsets grow, and content stands where its event says."""
    for table, text, *_ in CASES.values():
        if table == name:
            _, events = stream(small_format(name), text, tools=TOOLS)
            places = [place for event in events for place in (event.start, event.end)]
            assert places == sorted(places)
            for event in events:
                if event.type == "content":
                    assert text[event.start : event.end] == event.text


def input_of(text: str, *, final: bool = True) -> Input:
    input = Input(0, rules_for((), None))
    input.add(text, special=False)
    input.final = final
    return input


def markers_of(*written: Notation) -> Markers:
    """Return markers with which content begins."""
    slots = Slots()
    rows = slots.rows([("content_start", marker) for marker in written])
    parts = [(Role.CONTENT_START, parts_of((row.marker, row.if_before))) for row in rows]
    return Markers(parts, {**BLANKS, **SLOTS, **slots.found}, None)


def parts_of(marker: Notation) -> tuple[str, tuple[Any, ...]]:
    text, after = (marker, ()) if isinstance(marker, str) else marker
    return text, tuple(map(parts_of, after))


def found(marker: Notation, text: str, *, final: bool = True) -> Found | None:
    """Return what is found first."""
    return markers_of(marker).search(input_of(text, final=final), partial=not final)


@pytest.mark.parametrize(
    ("marker", "text", "wanted"),
    [
        ("<a>", "x<a>y", "<a>"),
        ("<a> <b>", "<a>\n\n<b>", "<a>\n\n<b>"),
        ("\n<a>", "x\r\n<a>", "\r\n<a>"),
        ("<a={name}>", "<a=b.c>", "<a=b.c>"),
        ("<a={name}>", "<a=>", None),
        ("<{?x}y>", "<y>", "<y>"),
        ("-{no -}", "--", "-"),
        ("a{before b}", "aab", "a"),
        ("{{}}", "{}", "{}"),
        (("<a>", (" {{",)), "<a>x <a> {", "<a>"),
        (("<a>", (("<b>", ("<c>",)),)), "<a><b><b> <a><b><c>", "<a>"),
    ],
)
def test_a_notation(marker: Notation, text: str, wanted: str | None) -> None:
    match = found(marker, text)
    assert (match and match.text) == wanted
    assert match is None or match.role is Role.CONTENT_START


def test_what_has_to_follow_decides_which_of_two_counts() -> None:
    match = found(("<a>", (" {{",)), "<a>x <a> {")
    assert match is not None
    assert (match.start, match.end) == (5, 8)


@pytest.mark.parametrize("text", ["<", "x<a", "<a=na", "<a=name"])
def test_what_may_become_a_marker_is_held_back(text: str) -> None:
    held = found("<a={name}>", text, final=False)
    assert held is not None
    assert held.is_partial
    assert held.role is None
    assert found("<a={name}>", text) is None


@pytest.mark.parametrize("length", range(4093, 4098))
def test_a_marker_is_found_behind_a_long_text(length: int) -> None:
    """It is looked for in windows, and none of them cuts a line break."""
    match = markers_of("\n<a>", "[b]").search(input_of("x" * length + "\r\n<a>"), partial=False)
    assert match is not None
    assert (match.start, match.text) == (length, "\r\n<a>")


@pytest.mark.parametrize(
    ("text", "wanted"), [("x](y", False), ("x]", True), ("]\ty", True), ("]<y", True)]
)
def test_a_blank_tells_what_comes_second(text: str, wanted: bool) -> None:
    assert bool(markers_of("] <b>", "]\n[", "]] {name}").may_begin.search(text)) is wanted


def test_a_slot_gives_its_text() -> None:
    match = found("<a={name} {key}{?!}>", "<a=b  7>")
    assert match is not None
    assert (match.slot("name"), match.slot("key"), match.slot("id")) == ("b", "7", "")
    assert missing_texts(match) == ["!"]


def test_what_was_held_is_read_once_more() -> None:
    """Till it is sure that it is no call, nothing is told of it, nor of what is wrong with it."""
    parser = small_format("objects").Parser(tools=TOOLS)
    assert [event.text for event in parser.feed("a ")] == ["a"]
    for sign in '<call>{"x": 1, "y": 2':
        assert parser.feed(sign) == []
        assert (parser.message.content, parser.message.problems) == ("a", [])
    events = parser.feed("}</call> b")
    assert "".join(event.text for event in events) == ' <call>{"x": 1, "y": 2}</call> b'
    assert (events[0].start, events[-1].end) == (1, 33)
    assert [problem.kind for problem in parser.message.problems] == ["no_name"]


def test_without_markers_nothing_is_found() -> None:
    input = input_of("any text")
    assert markers_of().search(input, partial=True) is None
    assert markers_of().match(input, partial=True) is None


def test_many_keys_of_which_the_last_is_repeated() -> None:
    text = json.dumps({str(number): number for number in range(100_000)})
    started = process_time()
    kind, message = find_flaw(f'{text[:-1]}, "99999": 1}}') or ("", "")
    assert (kind, message) == ("repeated_argument", "another value for '99999'")
    assert process_time() - started < 5  # each key counted for itself takes minutes
