"""Reading GBNF text and walking over it: what is read, what comes out, what is refused."""

from __future__ import annotations

import re
from random import Random
from types import SimpleNamespace

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.grammar_engines.random_texts import mutated, random_turn
from turnspec.grammar.text import character_class, literal
from turnspec.spec.problems import Problem
from turnspec.verification.gbnf_expressions import Characters
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.walked_turns import MeantTurn, read_as, same
from turnspec.verification.walks import LONGEST

CALLS = r"""
# a turn; "quotes" and # in a comment are nothing
root ::= text ( "<" "call" ">" value "</call>" )? end
end ::= "" | "\n" # a comment behind a rule
text ::= [^<]* ( "<" text-1 )*
text-1 ::= "" | "<" text-1 | [^<c] [^<]*
value ::= "{" ( pair ( "," pair ){0,2} )? "}" | [0-9]{1,3} | "\"" [^"\\\x00-\x1F]* "\""
pair ::= [a-z_-]+ ":" value
"""


def grammar_of(gbnf: str) -> Grammar:
    grammar = read_grammar(gbnf)
    assert isinstance(grammar, Grammar), grammar
    return grammar


def texts_of(gbnf: str, count: int = 200, longest: int = LONGEST) -> list[str]:
    grammar, random = grammar_of(gbnf), Random(1)
    return [random_turn(grammar, random, longest=longest) for _ in range(count)]


def test_rules_as_read(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(f"{n} = {body}" for n, body in grammar_of(CALLS).rules.items()) == snapshot


# What a rule reads as, as a regular expression that fits all of its texts and no others.
READ = {
    r'"a\"b\\\n\t\r\x41\u00e4\U0001F600[]"': re.escape('a"b\\\n\t\rAä😀[]'),
    r"[a-c\]\[\\\x41-\x43-]": r"[a-cA-C\]\[\\-]",
    r"[^a-z\n]": r"[^a-z\n]",
    r"[\u0400-\U0001F600]": "[\u0400-\U0001f600]",
    '"a" "b"+ ( "c" | "" )? "d"* "e"{2} "f"{1,} "g"{1,3}': "ab+c?d*ee(?:f)+g{1,3}",
    '"ab"{2}': "abab",
    '( ( "a" | "b" ) "c" )*': "([ab]c)*",
}


@pytest.mark.parametrize("body", READ)
def test_walks_stay_in_the_rule(body: str) -> None:
    texts = texts_of(f"root ::= {body}")
    assert all(re.fullmatch(READ[body], text, re.DOTALL) for text in texts), texts


@pytest.mark.parametrize(
    ("gbnf", "expected"),
    [
        ('root ::= "a" | "b" "c"? | [x-z]', {"a", "b", "bc", "x", "y", "z"}),
        ('root ::= "a"{2,4}', {"aa", "aaa", "aaaa"}),
        ('root ::= "" | "(" root ")" | other\nother ::= "o"', {"", "o", "()", "(o)", "(())"}),
    ],
)
def test_every_way_is_walked(gbnf: str, expected: set[str]) -> None:
    assert expected <= set(texts_of(gbnf))


def test_characters_are_mostly_ordinary_and_sometimes_odd() -> None:
    text = "".join(texts_of("root ::= [^\\x00]*", count=2000))
    ordinary = sum(char.isascii() and (char.isalnum() or char in " \n,.") for char in text)
    assert 0.8 < ordinary / len(text) < 0.95
    assert set('"<{\n\u2028\x01😀') <= set(text)


def test_texts_are_short_on_average() -> None:
    texts = texts_of(CALLS)
    assert 10 < sum(map(len, texts)) / len(texts) < 200


def test_a_half_written_marker_is_reached() -> None:
    """Each state is one step further; left to chance alone the last one is never seen."""
    states = "".join(f'r-{n} ::= "" | "<" r-1 | "{n % 10}" r-{n + 1}\n' for n in range(1, 30))
    texts = texts_of(f'root ::= "<" r-1\n{states}r-30 ::= "!"')
    assert any(text.endswith("!") for text in texts)


@pytest.mark.parametrize(
    "gbnf",
    [
        'root ::= "(" root ")" root | "(" root ")" | "."',
        'root ::= ( "a" root )* "b" | "c" root root',
    ],
)
def test_endless_recursion_ends_soon_after_the_limit(gbnf: str) -> None:
    assert max(map(len, texts_of(gbnf, longest=300))) < 1500


def test_no_text_is_too_deep() -> None:
    chain = "".join(f"r{n} ::= r{n + 1}\n" for n in range(5000))
    assert set(texts_of(f'root ::= r0\n{chain}r5000 ::= "end"', count=2)) == {"end"}
    nested = max(texts_of('root ::= "(" root ")" | "("', count=9, longest=20000), key=len)
    assert nested.count("(") > nested.count(")")


def test_written_literals_and_classes_are_read_back() -> None:
    text = "".join(map(chr, range(1, 0x180))) + "\u2028😀"
    assert set(texts_of(f"root ::= {literal(text)}", count=1)) == {text}
    (body,) = grammar_of(f"root ::= {character_class(text)}").rules.values()
    assert isinstance(body, Characters)
    assert all(char in body for char in text)
    assert "\u0180" not in body


def test_same_seed_same_texts() -> None:
    assert texts_of(CALLS) == texts_of(CALLS)
    assert len(set(texts_of(CALLS))) > 150


REJECTED = {
    "": "the grammar has no rules",
    "root": "1: expected a rule: a name and ::= at column 1",
    'root ::= "a"\nx = 1': "2: expected a rule: a name and ::= at column 1",
    "root ::=": '1: expected something; nothing is written "" at column 9',
    'root ::= "a" |': '1: expected something; nothing is written "" at column 15',
    'root ::= "a': '1: expected " at column 12',
    "root ::= [a": "1: expected ] at column 12",
    "root ::= []": "1: a class without characters ends at column 12",
    "root ::= [z-a]": "1: the range 'z' to 'a' runs backwards at column 14",
    'root ::= ( "a"': "1: expected ) at column 15",
    'root ::= "a" )': "1: unexpected ')' at column 14",
    "root ::= .": "1: unexpected '.' at column 10",
    "root ::= *": "1: unexpected '*' at column 10",
    r'root ::= "\q"': "1: unknown escape at column 11",
    r'root ::= "\U00110000"': "1: no character has the code 00110000, which ends at column 21",
    'root ::= "a"{3,2}': "1: more repeats at least than at most at column 13",
    'root ::= "a"\n\nroot ::= "b"': "3: a second rule root",
    "root ::= other": "the rule root refers to other, which is no rule",
    'root ::= root-2 root-2 | "x"\nroot-2 ::= root root | ""': (
        "the rule root begins with itself, which engines refuse"
    ),
    'root ::= "a" root': "the rule root has no end: each of its options refers back to it",
    "root ::= " + "(" * 101: "1: more than 100 groups inside each other at column 110",
}


@pytest.mark.parametrize("gbnf", REJECTED)
def test_rejected(gbnf: str) -> None:
    problem = read_grammar(gbnf)
    assert isinstance(problem, Problem)
    assert str(Problem(problem.message)) == re.sub(r"^\d+: ", "", REJECTED[gbnf])
    line = re.match(r"\d+", REJECTED[gbnf])
    assert problem.line == (int(line[0]) if line else None)


def test_mutations_are_small_and_of_every_kind() -> None:
    text, random = "<call>{}</call>", Random(3)
    results = [mutated(text, random, ["</call>", "<end>"]) for _ in range(2000)]
    changed = {result for result in results if result != text}
    assert len(changed) > 200
    assert {text[1:], "<<call>{}</call>", "c<all>{}</call>", "<call>", "<end><call>{}</call>"} <= (
        changed
    )
    assert all(len(result) <= len(text) + len("</call>") for result in results)
    assert {len(mutated("", random)) for _ in range(50)} == {0, 1}


def test_a_turn_is_compared_without_white_space_and_told_with_it() -> None:
    parsed = SimpleNamespace(content="<a b>\n c", reasoning_content="so  so", tool_calls=[])
    meant = MeantTurn("<a b> c\n", "so so", ())
    read = read_as(parsed, meant)
    assert same(meant, read)
    assert str(read) == r'reasoning "so  so", content "<a b>\n c"'
    assert not same(meant, MeantTurn("<ab> d", "so so", ()))
