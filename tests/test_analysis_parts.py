"""From the table of edges to starts, ends, joins, turn ends and stop strings."""

from __future__ import annotations

import pytest

from turnspec.analysis.frames import Edge
from turnspec.analysis.header import Header, find_header, find_user_end
from turnspec.analysis.parts import (
    Wrapping,
    closed_alike,
    common_turn_end,
    find_ends,
    find_joins,
    find_wrapping,
    own_end,
    part_ways,
    stop_strings,
)
from turnspec.spec.model import End, Join
from turnspec.spec.words import Condition, Part

START, REASONING, CONTENT, CALLS, END = Part

#: A turn with reasoning in tags, content, and a section of calls.
EDGES = {
    Edge(START, REASONING): "<hm>\n",
    Edge(START, CONTENT): "",
    Edge(START, CALLS): "<calls>",
    Edge(REASONING, CONTENT): "\n</hm>\n\n",
    Edge(REASONING, CALLS): "\n</hm>\n\n<calls>",
    Edge(CONTENT, CALLS): "\n<calls>",
    Edge(CONTENT, END): "<end>\n",
    Edge(CALLS, END): "</calls><end>\n",
}
WRAPPINGS = {part: find_wrapping(part, EDGES) for part in (REASONING, CONTENT, CALLS)}


def test_find_wrapping() -> None:
    assert {
        REASONING: Wrapping("<hm>\n", "\n</hm>\n\n"),
        CONTENT: Wrapping("", ""),
        CALLS: Wrapping("<calls>", ""),
    } == WRAPPINGS


#: Turns whose parts begin in the middle of a tag, up to which all are alike.
OPEN = {
    Edge(START, REASONING): "\n<by bot to=self>",
    Edge(START, CONTENT): "\n<by bot to=all>",
    Edge(REASONING, CONTENT): "\n<by bot to=all>",
}


def test_a_prompt_may_leave_a_header_in_the_middle_of_a_tag() -> None:
    header = find_header(OPEN, ["\n<by bot"], "\n", "<by user>")
    assert header == Header("\n", "<by bot", is_open=True)
    assert find_wrapping(CONTENT, OPEN, "<by bot").start == " to=all>"
    # All messages begin with that; it says nothing of who writes.
    header = find_header(OPEN, ["\n<by"], "\n", "<by user>")
    assert header == Header("\n", "")


def test_a_header_that_no_prompt_writes_and_that_says_what_comes_is_each_parts() -> None:
    lead = {edge: text.replace("<by", "::").replace(">", "::") for edge, text in OPEN.items()}
    assert find_header(lead, ["\n"], "\n", ":: user::") == Header("\n", "")
    other = dict.fromkeys(OPEN, ":: bot\n")
    assert find_header(other, [""], "", ":: user\n").header.strip() == ":: bot"


def thinks_after(header: str, start: str = "<hm>", end: str = "</hm>") -> dict[Edge, str]:
    """Return where turns begin that all open thoughts, and close them at once if there are none."""
    return {
        Edge(START, REASONING): f"\n{header}{start}\n",
        Edge(START, CONTENT): f"\n{header}{start}\n\n{end}\n\n",
    }


def test_a_role_may_stand_in_a_tag_behind_which_a_prompt_has_other_white_space() -> None:
    prompts = ["\n<by>bot</by><hm>\n"]
    header = find_header(thinks_after("<by>bot</by>\n"), prompts, "\n", "<by>user</by>")
    assert header == Header("\n", "<by>bot</by>")


@pytest.mark.parametrize(
    ("own", "user"), [("Bot: ", "User: "), ("<bot>", "<user>"), ("## Bot:\n", "## User:\n")]
)
def test_words_that_all_turns_have_behind_a_header_like_the_users_open_a_part(
    own: str, user: str
) -> None:
    edges = thinks_after(own, "# Why\n", "# So\n")
    prompts = [f"\n{own}# Why\n", f"\n{own}# Why\n\n# So\n"]
    assert find_header(edges, prompts, "\n", user) == Header("\n", own)


def test_what_ends_the_message_before_closes_no_tag_of_the_header() -> None:
    begun = "<|hm_end|>\n<|hm_start|>bot\n\n"
    edges = {Edge(START, CONTENT): begun, Edge(START, CALLS): f"{begun}<use>"}
    prompts = ["<|hm_end|>\n<|hm_start|>bot\n<hm>"]
    found = find_header(edges, prompts, "<|hm_end|>\n", "<|hm_start|>user\n")
    assert found.header == "<|hm_start|>bot\n"


@pytest.mark.parametrize("header", ["", "::bot::"])
@pytest.mark.parametrize(
    ("start", "end"), [("<hm>", "</hm>"), ("<|hm|>", "<|/hm|>"), ("<|begin_hm|>", "<|end_hm|>")]
)
def test_a_tag_that_turns_close_where_it_begins_is_no_header(
    header: str, start: str, end: str
) -> None:
    found = find_header(thinks_after(header, start, end), ["\n"], "\n", "")
    assert found == Header("\n", header)


def test_white_space_alone_may_end_a_message() -> None:
    turns = {edge: text.replace("<by bot", "<by><bot>") for edge, text in OPEN.items()}
    assert find_user_end(turns, ["\n"], "\n", "\n<done>\n<by>user") == "\n"


@pytest.mark.parametrize(
    ("thought", "user_end", "turn_end", "content", "left"),
    [
        ("<off>", "<done>", "<off><done>", "<off>", "<done>"),
        ("", "<done>", "<off><done>", "<off>", "<done>"),
        ("<off>", "\n", "<off><done>\n", "<off>", "<done>\n"),
        ("<other>", "<over>", "<off><done>", "", "<off><done>"),
        ("<off>", "<off>", "<off>", "", "<off>"),
    ],
    ids=["both", "the user's end", "a thought's end", "neither", "nothing ends the turn"],
)
def test_what_closes_all_parts_is_no_part_of_the_turns_end(
    thought: str, user_end: str, turn_end: str, content: str, left: str
) -> None:
    wrappings = {REASONING: Wrapping("<hm>", thought), CONTENT: Wrapping("<say>", "")}
    found = closed_alike(wrappings, turn_end, user_end)
    assert (found[0][CONTENT].end, found[1]) == (content, left)


def test_a_part_takes_as_many_markers_of_an_end_as_its_start_has() -> None:
    calls = Wrapping("<calls>", "")
    assert own_end(calls, ["</calls><go>"], "") == Wrapping("<calls>", "</calls>")
    assert own_end(calls, ["\n</calls>\n<go>\n"], "") == Wrapping("<calls>", "\n</calls>\n")
    assert own_end(calls, ["</calls><go>"], "<go>") == Wrapping("<calls>", "</calls>")
    assert own_end(calls, ["<go>"], "") == Wrapping("<calls>", "<go>")
    assert own_end(calls, ["."], "") == Wrapping("<calls>", ".")
    assert own_end(Wrapping("calls:", ""), ["\n]\n<go>"], "") == Wrapping("calls:", "\n]\n<go>")


def test_common_turn_end() -> None:
    assert common_turn_end(EDGES, WRAPPINGS) == "<end>\n"


def test_joins_hold_what_is_left_over() -> None:
    joins = find_joins(EDGES, WRAPPINGS)
    assert joins == (
        Join(START, REASONING, ""),
        Join(START, CONTENT, ""),
        Join(START, CALLS, ""),
        Join(REASONING, CONTENT, ""),
        Join(REASONING, CALLS, ""),
        Join(CONTENT, CALLS, "\n"),
    )
    nothing = Wrapping("", "")
    for join in joins:
        left, right = WRAPPINGS.get(join.left, nothing), WRAPPINGS[join.right]
        assert left.end + join.text + right.start == EDGES[Edge(join.left, join.right)]


def test_a_third_part_may_decide_what_stands_between_two() -> None:
    edges = {**EDGES, Edge(START, CONTENT, Condition.WITH_CALLS): "<plan>"}
    joins = find_joins(edges, WRAPPINGS)
    assert joins[1:3] == (
        Join(START, CONTENT, ""),
        Join(START, CONTENT, "<plan>", Condition.WITH_CALLS),
    )


def test_ends_by_last_part() -> None:
    followed = {CONTENT: "<end>\n", CALLS: "</calls><more>\n"}
    assert find_ends(EDGES, followed, WRAPPINGS) == (
        End(CONTENT, "<end>\n", "<end>\n"),
        End(CALLS, "</calls><end>\n", "</calls><more>\n"),
    )


def test_a_turn_that_ends_as_one_with_empty_content_needs_no_end() -> None:
    edges = {**EDGES, Edge(REASONING, END): "\n</hm>\n\n<end>\n", Edge(START, END): "<end>\n"}
    assert find_ends(edges, {}, WRAPPINGS) == find_ends(EDGES, {}, WRAPPINGS)
    other = {**EDGES, Edge(REASONING, END): "\n</hm>\n\n<stopped>\n"}
    assert find_ends(other, {}, WRAPPINGS)[0] == End(REASONING, "<stopped>\n", "<stopped>\n")


@pytest.mark.parametrize(
    ("left", "right", "edge", "expected"),
    [
        # Nothing to settle: both fit side by side.
        (("<a>", "</a>"), ("<b>", ""), "</a>\n<b>", ("</a>", "<b>")),
        # The end claims all; it gets as many markers as its start has.
        (("<a>", "</a><b>"), ("</a><b>", "</b>"), "</a><b>", ("</a>", "<b>")),
        (("<a><i>", "</i></a><b>"), ("<b>", "</b>"), "</i></a><b>", ("</i></a>", "<b>")),
        # White space behind a marker stays with the end.
        (("<a>", "</a>\n<b>"), ("\n<b>", "</b>"), "</a>\n<b>", ("</a>\n", "<b>")),
        # Without markers of its own the end keeps what it claims.
        (("", "\n"), ("\n", ""), "\n", ("\n", "")),
        # So it does where only white space is claimed twice.
        (("# why\n", "\n# so\n"), ("\n<call>", ""), "\n# so\n<call>", ("\n# so\n", "<call>")),
    ],
)
def test_part_ways(
    left: tuple[str, str], right: tuple[str, str], edge: str, expected: tuple[str, str]
) -> None:
    first, second = part_ways(Wrapping(*left), Wrapping(*right), edge)
    assert (first.end, second.start) == expected
    assert (first.start, second.end) == (left[0], right[1])


STOPS = {
    "the first marker of an end": (["<end>\n"], [], [], ("<end>",)),
    "as many markers as it takes": (["<end><stop>"], [], ["<end>\n"], ("<end><stop>",)),
    "an end without markers": (["END\n"], [], [], ("END",)),
    "an end that stands inside turns": (["\n"], ["<user>"], [], ("<user>",)),
    "no end at all": ([""], ["<user>\n", "<tool>\n"], [], ("<user>", "<tool>")),
    "the headers don't count where there is an end": (["<end>"], ["<user>"], [], ("<end>",)),
    "nothing that tells the end": (["<end>"], [], ["<end>"], ()),
}


@pytest.mark.parametrize("case", STOPS)
def test_stop_strings(case: str) -> None:
    ends, headers, inside, expected = STOPS[case]
    found = stop_strings([End(CONTENT, end, end) for end in ends], headers, inside)
    assert found == expected


def test_each_stop_string_comes_once() -> None:
    ends = [End(CONTENT, "<end>\n", "<end>"), End(CALLS, "<eot>", "<end>"), End(START, "<x>", "")]
    assert stop_strings(ends, [], []) == ("<end>", "<eot>")
