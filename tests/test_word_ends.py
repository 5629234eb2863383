"""Where a name, a key or a bare value ends: what it can't hold, and the white space it needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.specs_for_tests import tag_with_json_spec, tagged_spec
from turnspec.codegen.facts import facts_of, unmarked_reasoning
from turnspec.grammar.tagged import before_argument
from turnspec.grammar.text import apart, spelled
from turnspec.grammar.turn import generate_grammar
from turnspec.spec.calls import Arguments, Literal, Piece, Slot, Tools
from turnspec.spec.characters import call_ends
from turnspec.spec.model import Limit
from turnspec.spec.words import Condition, SlotKind, Subject, ToolMode, Verdict
from turnspec.verification.quoted_calls import with_open_limits

NAME, ARGUMENTS = Slot(SlotKind.NAME), Slot(SlotKind.ARGUMENTS)
KEY, VALUE = Slot(SlotKind.KEY), Slot(SlotKind.VALUE)
ELEMENT = (Literal("<"), NAME, Literal(">\n"), ARGUMENTS, Literal("\n</"), NAME, Literal(">"))


def tools(call: tuple[Piece, ...], section_end: str = "", first: str | None = None) -> Tools:
    """Return calls with JSON or, if ``first`` stands before their keys, with tagged arguments."""
    if first is None:
        return Tools(ToolMode.TAG_WITH_JSON, "", call, "\n", section_end, Arguments())
    opening: tuple[Piece, ...] = (Literal(first),) if first else ()
    item = (*opening, KEY, Literal("="), VALUE)
    arguments = Arguments(item=item, start=" ", separator=" ")
    return Tools(ToolMode.TAG_WITH_TAGGED, "", call, "\n", section_end, arguments)


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        (tools((Literal("!! "), NAME, ARGUMENTS), first="--"), " !"),
        (tools((Literal("!! "), NAME, ARGUMENTS), first=":"), " !"),
        (tools((Literal("!! "), NAME, ARGUMENTS), first="["), "[!"),
        (tools(ELEMENT), "></"),
        (tools(ELEMENT[:4], section_end="\n</calls>"), "></"),
        (tools(ELEMENT[:4], section_end="\n-calls-"), "><"),
    ],
)
def test_what_a_name_cannot_hold(given: Tools, ends: str) -> None:
    assert call_ends(given, SlotKind.NAME) == ends


def test_a_closing_tag_is_no_head() -> None:
    spec = replace(tag_with_json_spec(), tools=tools(ELEMENT, section_end="\n</calls>"))
    assert facts_of(spec).text("CALL_HEAD") == "<{name but /} >"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", '""'),
        (" ", '" " gap'),
        ("\n", '"\\n" gap'),
        (" --", '" " gap "--"'),
        (" = ", 'gap "=" gap'),
        (": ", '":" gap'),
    ],
)
def test_white_space_behind_a_word(text: str, written: str) -> None:
    assert (apart(text) or '""') == written


@pytest.mark.parametrize(("first", "written"), [("", '" " gap'), ("-", '" " gap'), ("<", "gap")])
def test_white_space_before_an_argument(first: str, written: str) -> None:
    arguments = tools((NAME, ARGUMENTS), first=first).arguments
    assert before_argument(arguments.separator, arguments) == written


@pytest.mark.parametrize(
    ("start", "end", "written"),
    [
        ("<hm>", "\n</hm>\n", "</hm>"),
        ("#| ", " |#\n", " |#"),  # else "#|#" would open it once more
        (":::hm\n", "\n:::\n", ":::\n"),  # else it could go on in what stands behind it
        ("~~~", "~~~", "~~~"),
    ],
)
def test_white_space_that_an_end_needs(start: str, end: str, written: str) -> None:
    spec = tagged_spec()
    marked = replace(spec, reasoning=replace(spec.reasoning, start=start, end=end))
    grammar = generate_grammar(marked, spec_path="the.yaml", spec_hash="0")
    rule = next(line for line in grammar.splitlines() if line.startswith("reasoning-end ::="))
    assert rule == f"reasoning-end ::= text {spelled(written)}"


def test_reasoning_that_any_text_could_begin() -> None:
    spec = tagged_spec()
    assert unmarked_reasoning(spec) == ""
    hidden = replace(spec, reasoning=replace(spec.reasoning, start="# ", end="\n"))
    expected = "'# ' could stand in any text; parsers can't tell by it where reasoning begins"
    assert unmarked_reasoning(hidden) == expected
    same = replace(spec, reasoning=replace(spec.reasoning, start="%%", end="%%\n"))
    assert unmarked_reasoning(same) == ""


def test_a_spec_that_does_not_say_how_strings_are_written() -> None:
    unknown = Limit(Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS, Condition.ALWAYS, "e.g. '$'")
    spec = with_open_limits(replace(tagged_spec(), limits=(unknown,)))
    found = [limit.subject for limit in spec.limits if limit.verdict is Verdict.OPEN]
    assert Subject.ARGUMENT_STRING not in found
