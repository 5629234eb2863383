"""The rule for repeated items, and running indices in them."""

from __future__ import annotations

import pytest

from turnspec.analysis.repetition import (
    INDEX_MARK,
    Repetition,
    mark_inner_index,
    mark_leading_index,
    split_repetition,
)

REPETITIONS = {
    "tags one after the other": (
        (["<call>"], ["</call><call>"], ["</call>"]),
        Repetition("<call>", "</call>", "", ("",), ("",)),
    ),
    "white space between items separates them": (
        (["<call>\n"], ["\n</call>\n<call>\n"], ["\n</call>"]),
        Repetition("<call>\n", "\n</call>", "\n", ("",), ("",)),
    ),
    "a section around the items": (
        (["<calls>\n<call>"], ["</call>\n<call>"], ["</call>\n</calls>"]),
        Repetition("<call>", "</call>", "\n", ("<calls>\n",), ("\n</calls>",)),
    ),
    "an array": (
        (['[{"name": "'], ['}, {"name": "'], ["}]"]),
        Repetition('{"name": "', "}", ", ", ("[",), ("]",)),
    ),
    "no marker at all": ((["["], [", "], ["]"]), Repetition("", "", ", ", ("[",), ("]",))),
    "an opening token that needs no closing one": (
        (["[CALL]"], ["[CALL]"], ["</s>"]),
        Repetition("[CALL]", "", "", ("",), ("</s>",)),
    ),
    "several texts before and after": (
        (["<call>", "\n\n<call>"], ["</call><call>"], ["</call>", "</call><end>"]),
        Repetition("<call>", "</call>", "", ("", "\n\n"), ("", "<end>")),
    ),
    "what could close an item or open the next one closes it": (
        (["<call><bar>"], ["<bar>"], ["<bar></call>"]),
        Repetition("", "<bar>", "", ("<call><bar>",), ("</call>",)),
    ),
    "one item only": (
        (["<a><call>", "<b><call>"], [], ["</call></a>", "</call></b>"]),
        Repetition("<call>", "</call>", "", ("<a>", "<b>"), ("</a>", "</b>")),
    ),
}


@pytest.mark.parametrize("case", REPETITIONS)
def test_split_repetition(case: str) -> None:
    texts, expected = REPETITIONS[case]
    assert split_repetition(*texts) == expected


@pytest.mark.parametrize("case", [name for name in REPETITIONS if name != "one item only"])
def test_the_pieces_give_the_texts_again(case: str) -> None:
    (befores, betweens, afters), _ = REPETITIONS[case]
    found = split_repetition(befores, betweens, afters)
    assert [before + found.start for before in found.befores] == befores
    assert [found.end + found.separator + found.start for _ in betweens] == betweens
    assert [found.end + after for after in found.afters] == afters


def test_a_leading_index_from_zero() -> None:
    found = mark_leading_index(["<calls>0:", "\n<calls>0:"], ["|1:", "|2:"])
    first, later = ["<calls>\ue000:", "\n<calls>\ue000:"], ["|\ue000:", "|\ue000:"]
    assert found == (first, later, 0)
    assert INDEX_MARK == "\ue000"


def test_a_leading_index_from_one_through_two_digits() -> None:
    found = mark_leading_index(["9) "], ["10) ", "11) "])
    assert found == (["\ue000) "], ["\ue000) ", "\ue000) "], 9)


@pytest.mark.parametrize(
    ("firsts", "nexts"),
    [
        (["0:"], []),
        (["a:"], ["b:"]),
        (["0:"], ["2:"]),
        (["0:"], ["0:"]),
        (["0:", "1:"], ["1:"]),
    ],
)
def test_no_leading_index(firsts: list[str], nexts: list[str]) -> None:
    assert mark_leading_index(firsts, nexts) is None


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([":0<", ":1<", ":2<"], (":\ue000<", 0)),
        (["v2:1<", "v2:2<"], ("v2:\ue000<", 1)),
        ([":9", ":10"], (":\ue000", 9)),
        ([":0<"], None),
        ([":0<", ":2<"], None),
        ([":1<", ":0<"], None),
        ([":0<", ":1>"], None),
        ([":0-0", ":1-1"], None),
        ([":0", ":a"], None),
    ],
)
def test_inner_index(texts: list[str], expected: tuple[str, int] | None) -> None:
    assert mark_inner_index(texts) == expected
