"""What an overlay adds to a format: other ways to write calls, code, other marks, other ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.parser_checks import assert_any_chunking, assert_any_truncation
from tests.parser_formats import BARE, HERMES, make_spec, pieces, tagged, tagged_json
from turnspec.codegen.loading import load
from turnspec.spec.calls import Literal, Piece, Slot
from turnspec.spec.checks import check_spec
from turnspec.spec.files import dump_spec, load_checked_spec
from turnspec.spec.model import Alternatives, CodeCall, OtherMarks, Spec
from turnspec.spec.words import Part, SlotKind

WORD = Slot(SlotKind.WORD)


def other(text: str) -> tuple[Piece, ...]:
    """Return pieces of a text in which ``⟨WORD⟩`` and other slots stand."""
    return pieces(text)


NAMED = replace(
    make_spec("named", tagged_json("<to ⟨NAME⟩>⟨ARGUMENTS⟩</to>"), content=("<say>", "")),
    alternatives=Alternatives(
        calls=(
            other("<kind>⟨WORD⟩for ⟨NAME⟩⟨WORD⟩<is>⟨ARGUMENTS⟩</to>"),
            other("<kind>⟨WORD⟩for ⟨NAME⟩⟨WORD⟩<as>⟨WORD⟩<is>⟨ARGUMENTS⟩</over>"),
        ),
        marks=(
            OtherMarks(Part.CONTENT, (Literal("<aside>"), WORD, Literal("<says>")), "</says>"),
            OtherMarks(Part.REASONING, (Literal("<muse>"),), "</muse>"),
        ),
        code=CodeCall("<code>", "python", "source"),
        stop=("<halt>",),
    ),
)
TAGGED = replace(
    make_spec(
        "tagged",
        tagged(
            "<call>\n<do=⟨NAME⟩>⟨ARGUMENTS⟩</do>\n</call>",
            "<with=⟨KEY⟩>⟨VALUE⟩</with>",
        ),
    ),
    alternatives=Alternatives(calls=(other("<run ⟨NAME⟩>⟨ARGUMENTS⟩</do>"),)),
)
WHOLE = replace(
    TAGGED,
    alternatives=Alternatives(
        calls=(other("<do=⟨NAME⟩><all>⟨ARGUMENTS⟩</all></do>\n</call>"),),
    ),
)
ANNOUNCED = replace(
    BARE,
    alternatives=Alternatives(
        calls=(other('<|tag|>{"name": "⟨NAME⟩", "parameters": ⟨ARGUMENTS⟩}'),),
        code=CodeCall("<|tag|>", "shell", "code", "call"),
        stop=("<|more|>",),
    ),
)
WORDED = replace(
    make_spec("worded", tagged_json("<to ⟨NAME⟩>⟨ARGUMENTS⟩</to>")),
    alternatives=Alternatives(calls=(other("to:⟨NAME⟩⟨WORD⟩<is>⟨ARGUMENTS⟩</to>"),)),
)
LINE = replace(HERMES, alternatives=Alternatives(code=CodeCall("py:\n", "python", "code")))

CALL = [("look", '{"city": "Paris"}')]
CASES: dict[str, tuple[Spec, str, str, list[tuple[str, str]]]] = {
    "a word": (NAMED, '<kind>as for look<is>{"city": "Paris"}</to>', "", CALL),
    "no word": (NAMED, '<kind>for look<is>{"city": "Paris"}</to><|stop|>', "", CALL),
    "more words": (NAMED, '<kind>to for look say<as>is<is>{"city": "Paris"}</over>', "", CALL),
    "the template's": (NAMED, '<to look>{"city": "Paris"}</to>', "", CALL),
    "two ways": (
        NAMED,
        '<to look>{"city": "Paris"}</to><kind>for look<is>{"city": "Paris"}</to>',
        "",
        CALL * 2,
    ),
    "a name ends where a word may be missing": (
        WORDED,
        'to:look<is>{"city":"a<is>{"}</to>',
        "",
        [("look", '{"city":"a<is>{"}')],
    ),
    "marks": (NAMED, "<aside>say<says>Hello.</says><halt>", "Hello.", []),
    "other end": (NAMED, "<say>Hello.<halt>", "Hello.", []),
    "code": (NAMED, "<code>x = 'a'\n<|stop|>", "", [("python", '{"source": "x = \'a\'"}')]),
    "code as JSON": (NAMED, '<code>{"source": "x"}<|stop|>', "", [("python", '{"source": "x"}')]),
    "tagged": (TAGGED, "<run look><with=city>Paris</with></do>", "", CALL),
    "announced": (ANNOUNCED, '<|tag|>{"name": "look", "parameters": {"city": "Paris"}}', "", CALL),
    "announced after content": (
        ANNOUNCED,
        'So: <|tag|> [{"name": "look", "parameters": {"city": "Paris"}}]<|more|>',
        "So:",
        CALL,
    ),
    "a method": (ANNOUNCED, "<|tag|>look.call(city='Paris')<|more|>", "", CALL),
    "a method without arguments": (ANNOUNCED, "<|tag|>look.call()<|stop|>", "", [("look", "{}")]),
    "blanks where a word may be": (
        NAMED,
        f'<kind>{" " * 50}\r\nfor look<is>{{"city": "Paris"}}</to>',
        "",
        CALL,
    ),
    "code to the text's end": (ANNOUNCED, "<|tag|>ls -l", "", [("shell", '{"code": "ls -l"}')]),
    "a code's line": (LINE, "py:\nls<|stop|>", "", [("python", '{"code": "ls"}')]),
    "no code": (LINE, "happy: yes, py: no\npy:", "happy: yes, py: no\npy:", []),
}


def calls_of(message: Any) -> list[tuple[str, str]]:
    """Return a message's calls without their ids."""
    return [(call.name, call.arguments) for call in message.tool_calls]


@pytest.mark.parametrize("case", CASES)
def test_it_is_read_without_a_problem(case: str) -> None:
    spec, text, content, calls = CASES[case]
    message = assert_any_chunking(load(spec), text)
    kinds = {problem.kind for problem in message.problems} - {"array", "no_arguments"}
    assert (message.content, calls_of(message), kinds) == (content, calls, set())


@pytest.mark.parametrize("end", ["</all></do>\n</call>", " </all>\n</do></call>"])
def test_all_arguments_as_one_object_between_marks_of_their_own(end: str) -> None:
    """They are told as an object, which is no tag."""
    calls = f'<call>\n<do=look><all>{{"city": "Paris"}}{end}'
    message = assert_any_chunking(load(WHOLE), f"{calls}<|stop|>")
    assert (message.content, calls_of(message)) == ("", CALL)
    assert message.tool_calls[0].complete
    assert [problem.kind for problem in message.problems] == ["other_syntax"]


def test_a_word_that_the_format_does_not_have_is_told() -> None:
    text = '<kind>now for look<is>{"city": "Paris"}</to>'
    message = assert_any_chunking(load(NAMED), text)
    assert calls_of(message) == CALL
    assert [problem.message for problem in message.problems] == [
        "'now' in '<kind>now for look<is>'"
    ]


@pytest.mark.parametrize("case", CASES)
def test_cut_off_anywhere(case: str) -> None:
    spec, text, _, _ = CASES[case]
    assert_any_truncation(load(spec), text, ["<|tag|>", "<is>", "<says>", "<halt>"])


def test_other_marks_of_reasoning() -> None:
    message = assert_any_chunking(load(NAMED), "<muse>Hm.</muse><say>Yes.")
    assert (message.reasoning_content, message.content, message.problems) == ("Hm.", "Yes.", [])


def test_tools_decide_only_what_nothing_announces() -> None:
    text = '{"name": "look", "parameters": {"city": "Paris"}}'
    module = load(ANNOUNCED)
    bare = assert_any_chunking(module, text, tools=[])
    assert (bare.content, bare.tool_calls) == (text, [])
    announced = assert_any_chunking(module, "<|tag|>" + text, tools=[])
    assert calls_of(announced) == CALL
    assert [problem.kind for problem in announced.problems] == ["unknown_tool"]


@pytest.mark.parametrize(
    "text",
    ["city=Paris)", '**{"city": 1})', 'city="Paris").more(days=3)', 'city="Paris")(days=3)'],
)
def test_keyword_arguments_that_are_none(text: str) -> None:
    module = load(ANNOUNCED)
    message = assert_any_chunking(module, f"<|tag|>look.call({text}<|more|>")
    assert [(call.name, call.arguments, call.complete) for call in message.tool_calls] == [
        ("look", "{}", False)
    ]
    assert [problem.kind for problem in message.problems] == ["malformed"]


@pytest.mark.parametrize("spec", [NAMED, TAGGED, LINE], ids=lambda spec: spec.name)
def test_the_spec_comes_back_from_its_file(spec: Spec) -> None:
    assert load_checked_spec(dump_spec(spec), "x.yaml") == spec


@pytest.mark.parametrize(
    ("alternatives", "problem"),
    [
        (
            Alternatives(calls=(other("⟨NAME⟩(⟨ARGUMENTS⟩)"),)),
            "alternatives.calls[0]: no text stands at its beginning: nothing shows it",
        ),
        (
            Alternatives(calls=(other("<a>⟨ARGUMENTS⟩⟨NAME⟩"),)),
            "alternatives.calls[0]: the NAME slot has to stand before ARGUMENTS",
        ),
        (Alternatives(calls=(other("<a>⟨NAME⟩"),)), "alternatives.calls[0]: no ARGUMENTS slot"),
        (
            Alternatives(marks=(OtherMarks(Part.CONTENT, (WORD,)),)),
            "alternatives.marks[0].start: no text stands at its beginning: nothing shows it",
        ),
        (
            Alternatives(marks=(OtherMarks(Part.CONTENT, other("<a>⟨NAME⟩")),)),
            "alternatives.marks[0].start[1].slot: a NAME slot doesn't belong here",
        ),
        (
            Alternatives(code=CodeCall(" ", "python", "code")),
            "alternatives.code.start: nothing shows where the code begins",
        ),
        (Alternatives(stop=("",)), "alternatives.stop[0]: a stop string can't be empty"),
    ],
)
def test_what_is_impossible_is_told(alternatives: Alternatives, problem: str) -> None:
    found = [str(problem) for problem in check_spec(replace(HERMES, alternatives=alternatives))]
    assert any(line.startswith(problem) for line in found), found


def test_code_needs_an_end_and_calls_need_tools() -> None:
    code = Alternatives(code=CodeCall("<c>", "python", "code"))
    endless = replace(HERMES, turn=replace(HERMES.turn, ends=(), stop=()), alternatives=code)
    assert [str(problem) for problem in check_spec(endless)] == [
        "alternatives.code: nothing shows where the code ends: the turn has no end"
    ]
    order = (Part.REASONING, Part.CONTENT)
    without = replace(HERMES, tools=None, turn=replace(HERMES.turn, order=order, ends=()))
    found = [str(problem) for problem in check_spec(replace(without, alternatives=code))]
    assert "alternatives: another way to write calls, but tools is missing" in found
