"""Common beginnings and ends that never split a marker or a word."""

from __future__ import annotations

import pytest

from turnspec.analysis.text import (
    closing_of,
    common_prefix,
    common_suffix,
    distinct_beginning,
    markers,
    splits_marker,
    whole_prefix,
    whole_suffix,
)


@pytest.mark.parametrize(
    ("texts", "prefix", "suffix"),
    [
        ([], "", ""),
        (["abc"], "abc", "abc"),
        (["abc", "abd"], "ab", ""),
        (["xbc", "ybc", "bc"], "", "bc"),
        (["aa", "aaa"], "aa", "aa"),
        (["", "a"], "", ""),
    ],
)
def test_common_prefix_and_suffix(texts: list[str], prefix: str, suffix: str) -> None:
    assert common_prefix(texts) == prefix
    assert common_suffix(texts) == suffix


WHOLE_PREFIXES = {
    "tags that begin alike": (["\n<tool>", "\n<text>"], "\n"),
    "closing and opening tags": (["</a><b>", "</a></b>"], "</a>"),
    "tokens in square brackets": (["[CALL]x", "[CONTENT]x"], ""),
    "tags with attributes": (['<a x="1">', '<a x="2">'], ""),
    "words": (["hello there", "hello them"], "hello "),
    "a word and its continuation": (["end", "ending"], ""),
    "JSON's brackets are no markers": (['["a', '["b'], '["'),
    "numbers in square brackets are no markers": (["[1, 2]", "[1, 3]"], "[1, "),
    "markers between signs of one kind": (["|/a||end|", "|/a|text"], "|/a|"),
    "three of them": (["|/a||b||end|", "|/a||b|text"], "|/a||b|"),
    "markers of one kind that begin alike": (["§a§§b§x", "§a§§bc§x"], "§a§"),
    "what stands before such a marker": (["¦/a¦¦/all¦", "¦/a¦¦a¦"], "¦/a¦"),
    "a tag with such signs in it": (["<|a||b|>", "<|a||c|>"], ""),
    "a sign twice": (["a||b", "a|b"], "a"),
    "all of one": (["<a>\n", "<a>\nb"], "<a>\n"),
    "a broken tag is no marker": (["<a\n>", "<a\nb"], "<a\n"),
}


@pytest.mark.parametrize("case", WHOLE_PREFIXES)
def test_whole_prefix(case: str) -> None:
    texts, expected = WHOLE_PREFIXES[case]
    assert whole_prefix(texts) == expected
    assert whole_prefix(texts[::-1]) == expected


WHOLE_SUFFIXES = {
    "tags that end alike": (["<a-tool>\n", "<b-tool>\n"], "\n"),
    "tags of which one is the other's end": (["</a>", "<b></a>"], "</a>"),
    "tokens in square brackets": (["[A_END]", "[B_END]"], ""),
    "words": (["the end", "a bend"], ""),
    "words behind a space": (["the end", "this end"], " end"),
}


@pytest.mark.parametrize("case", WHOLE_SUFFIXES)
def test_whole_suffix(case: str) -> None:
    texts, expected = WHOLE_SUFFIXES[case]
    assert whole_suffix(texts) == expected
    assert whole_suffix(texts[::-1]) == expected


def test_nothing_has_no_prefix_and_no_suffix() -> None:
    assert (whole_prefix([]), whole_suffix([])) == ("", "")


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("<a>b", {1, 2}),
        ("b[X]", {2, 3}),
        ("ab c", {1}),
        ("<a b>", {1, 2, 3, 4}),
        ("a<b", set()),
        ("[1]", set()),
        ("a\n@@.", {3}),
        ("---", {1, 2}),
        ("}}", set()),
        ("\n#do\n", {2, 3}),
        ("@do", {1, 2}),
        ("a #b", set()),
        ("\n# b", set()),
        ("\n,do", {3}),
        ("@@a@@", {1, 2, 3, 4}),
        ("@@/a@@b", {1, 2, 3, 4, 5}),
        ("@@a@@@@b@@", {1, 2, 3, 4, 6, 7, 8, 9}),
        ("@@a@@@", {1, 2, 3, 4}),
        ("== a ==", {1, 2, 3, 4, 5, 6}),
    ],
)
def test_splits_marker(text: str, inside: set[int]) -> None:
    positions = range(-1, len(text) + 2)
    assert {position for position in positions if splits_marker(text, position)} == inside


@pytest.mark.parametrize(
    ("text", "every"),
    [
        ("", []),
        ("  plain  ", []),
        ("\n<a>\n<b c=d>", ["<a>", "<b c=d>"]),
        ("[CALLS][{", ["[CALLS]"]),
        ('[{"a": [1, 2]}]', []),
        ("x <unfinished", []),
        ("«do»«done»", ["«do»", "«done»"]),
        ("【a】 b", ["【a】"]),
        ("{% call %}{{ x }}", ["{% call %}", "{{ x }}"]),
        ("(: tools :)", ["(: tools :)"]),
        ("@@END@@\n--so--", ["@@END@@", "--so--"]),
        ("[|say|]x[|.|][[use|a]]", ["[|say|]", "[|.|]", "[[use|a]]"]),
        ("<<<draft>>>a<b>", ["<<<draft>>>", "<b>"]),
        ('{"a": {"b": 1}}', []),
    ],
)
def test_markers(text: str, every: list[str]) -> None:
    assert markers(text) == every


@pytest.mark.parametrize(
    ("text", "inside", "beginning"),
    [
        ("<end>\n<user>", [], "<end>"),
        ("<end><user>", ["<end>"], "<end><user>"),
        ("<close>tools<sep>", ["<close>call<sep>"], "<close>tools<sep>"),
        ("<end>", ["<end>"], ""),
        ("\n\nUser:", [], "\n\nUser:"),
        ("\n\nUser: ", ["\n\nUser:"], ""),
    ],
)
def test_distinct_beginning(text: str, inside: list[str], beginning: str) -> None:
    assert distinct_beginning(text, inside) == beginning


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("<muse>", "</muse>"), ('<muse how="a b">', "</muse>"), ("[MUSE]", "[/MUSE]")],
)
def test_what_closes_a_marker_has_none_of_its_attributes(opening: str, closing: str) -> None:
    assert closing_of(opening) == closing
