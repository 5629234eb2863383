"""A call that is told as complete says what the model wrote, though a sign around it is damaged.

Where that can't be known, as what is left is a turn of its own, there are limits: no more of the
damaged turns may be read otherwise than now. ``TURNSPEC_EXAMPLES=1000`` tries so many of a format.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections import Counter
from functools import cache
from random import Random
from typing import Any

import pytest

from tests.damaged_turns import Damage, as_written, damages, written_turn
from tests.engine_cases import TOOLS
from tests.generated_formats import FORMATS, committed_format, committed_spec, facts_of_format
from tests.parser_checks import stream
from tests.parser_formats import UNESCAPED
from tests.small_formats import FORMATS as SMALL_FORMATS
from turnspec.codegen.loading import load
from turnspec.rendering.conversation import tool_definitions

EXAMPLES = int(os.environ.get("TURNSPEC_EXAMPLES", 50))
NAMES = [name for name in FORMATS if committed_spec(name).tools]
#: Of a hundred damaged turns in formats of a kind, those with a complete call that isn't one of
#: the turn's: with nothing told, and with a problem.
MOST = {"text": (1.4, 2.5), "json": (0.1, 1.4), "values": (0.5, 6.5), "objects": (0.1, 0.8)}
#: Of a hundred, those in which fewer calls were read than written, with nothing told.
MOST_LOST = {"text": 0.1, "json": 0.9, "values": 0.9, "objects": 0.7}


def kind_of(name: str) -> str:
    """Return how a format writes calls."""
    values = facts_of_format(name).values
    return "objects" if values["CALLS_ARE_OBJECTS"] else str(values["ARGUMENTS"])


@cache
def readings(name: str) -> list[tuple[Damage, bool, bool, bool]]:
    """Return damaged turns: whether a complete call is wrong, if that is told, if one is lost."""
    form = committed_format(name)
    text, message = written_turn(form)
    options = {"tools": tool_definitions(message.calls), "prefill": form.spec.turn.header}
    right = as_written(form.module.parse(text, **options).tool_calls)
    assert right, text
    found = []
    for damage in itertools.islice(damages(form, text, message.calls, Random(name)), EXAMPLES):
        read = form.module.parse(damage.text, **options)
        complete = as_written([call for call in read.tool_calls if call.complete])
        is_wrong = any(call not in right for call in complete)
        is_lost = len(read.tool_calls) < len(right)
        found.append((damage, is_wrong, bool(read.problems), is_lost))
    return found


@pytest.mark.parametrize("kind", MOST)
def test_few_complete_calls_are_not_what_was_written(kind: str) -> None:
    read = [it for name in NAMES if kind_of(name) == kind for it in readings(name)]
    wrong = Counter(is_told for _, is_wrong, is_told, _ in read if is_wrong)
    shares = (100 * wrong[False] / len(read), 100 * wrong[True] / len(read))
    assert [share for share, most in zip(shares, MOST[kind], strict=True) if share > most] == []


@pytest.mark.parametrize("kind", MOST)
def test_few_calls_are_lost_without_a_word(kind: str) -> None:
    read = [it for name in NAMES if kind_of(name) == kind for it in readings(name)]
    lost = sum(is_lost and not is_told for *_, is_told, is_lost in read)
    assert 100 * lost / len(read) <= MOST_LOST[kind]


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_turn_is_read_alike_in_pieces_and_nothing_is_lost(name: str) -> None:
    form = committed_format(name)
    text, message = written_turn(form)
    options = {"tools": tool_definitions(message.calls), "prefill": form.spec.turn.header}
    for damage, *_ in readings(name)[:: 1 + EXAMPLES // 10]:
        whole = form.module.parse(damage.text, **options)
        assert stream(form.module, damage.text, **options)[0] == whole, damage
        found = json.dumps(whole.to_dict(), ensure_ascii=False)
        found += " ".join(problem.message for problem in whole.problems)
        assert [it for it in re.findall("qv[a-z]+", text) if it not in found] == [], damage


#: Texts in the formats of `tests.small_formats`, and whether their only call is complete.
CERTAINTY = {
    "the next argument's mark is misspelt": (
        *("array", "<call add><arg b>x</arg><rag c>y</arg></call>", False),
    ),
    "a mark that closes is doubled": ("array", "<call add><arg b>x</arg></arg></call>", True),
    "a sentence about a mark": ("array", "<call add><arg b>an </arg> is</arg></call>", True),
    "a mark in quotes": ("array", "<call add><arg b>the '</arg>' is</arg></call>", True),
    "a pair of marks": ("array", "<call add><arg b>x<arg b>y</arg>z</arg></call>", True),
    "a number and more": (
        "array",
        "<call add><arg a>3</ar><arg b>x</arg></call>",
        False,
    ),
    "a word for a number": ("array", "<call add><arg a>three</arg></call>", True),
    "an array that is broken": ("tags", '<call add><o>{"a": [1}</o></call>', False),
    "JSON that goes on behind its end": ("json", '<call add>{"b": "x"}, "a": 1}</call>', False),
    "a key behind the end of JSON": ("json", '<call add>{"b": "x"}a": 1}</call>', False),
    "one bracket too many": ("json", '<call add>{"b": "x"}}</call>', True),
    "a word in the place of a comma": ("json", '<call add>{"c": [1 x 2]}</call>', False),
    "a word in the place of a bracket": ("json", '<call add>{"o": x"a": 1}</call>', False),
    "no comma": ("json", '<call add>{"b": "x" "a": 1}</call>', True),
    "a string that holds the beginning of arguments": (
        *("objects", '<call>{"do": "add", "with": "{"}</call>', False),
    ),
    "a string that holds arguments": (
        *("objects", '<call>{"do": "add", "with": "{\\"a\\": 1}"}</call>', True),
    ),
    "an object that is not closed": (
        *("objects", '<call>{"do": "add", "with": {"a": 1}</call>', True),
    ),
    "an object inside has one key, and a bracket is missing": (
        *("objects", '<call>{"do": "add", "with": {"b": "x", "o": {"a": 1}}</call>', True),
    ),
    "an argument outside of the arguments": (
        *("objects", '<call>{"do": "add", "b": "x", "with": {"a": 1}}</call>', False),
    ),
    "all arguments outside of arguments": (
        *("objects", '<call>{"do": "add", "b": "x", "a": 1}</call>', True),
    ),
    "one of two objects is not closed, and a key may be of either": (
        *("objects", '<call>{"do": "add", "with": {"o": {"x": 1, "a": 2}}</call>', False),
    ),
    "a key further inside may be of either": (
        *("objects", '<call>{"do": "add", "with": {"o": {"p": {"x": 1, "y": 2}}}</call>', False),
    ),
    "more behind an object that is not closed": (
        *("objects", '<call>{"do": "add", "with": {"o": {"x": 1}}, "a": 2</call>', False),
    ),
    "arguments without their bracket": ("json", '<call add>{"b": "x"</call>', False),
    "an array that is not closed": ("json", '<call add>{"c": [1, 2</call>', False),
    "arguments in which the text ends": ("json", '<call add>{"b": "x"', False),
    "members behind an object that is closed too early": (
        *("objects", '<call>{"do": "add", "with": {}b": 1}}</call>', False),
    ),
    "a text that lacks a quote": ("python", "<call>add(b=one two', a=1)</call>", False),
    "a text without quotes": ("python", "<call>add(b=one two, a=1)</call>", True),
    "an object or the arguments aren't closed": ("python", "<call>add(o={'a': 1}</call>", False),
    "arguments that aren't closed": ("python", "<call>add(a=1</call>", True),
    "a head alone": ("array", "<call add><end>", False),
    "a bracket is missing, and the call's id stands in the arguments": (
        *("bare", '{"do": "add", "with": {"a": 1, "as": "x1"}<end>', False),
    ),
    "a bracket is missing behind the call's id": (
        *("bare", '{"do": "add", "with": {"a": 1}, "as": "x1"<end>', True),
    ),
    "a call for a value": ("python", "<call>add(b=now())</call>", False),
    "a name for a value": ("python", "<call>add(b=now)</call>", True),
    "a number that begins with zeros": ("python", "<call>add(b=02134)</call>", True),
    "a string that lacks a quote before the next argument": (
        *("python", "<call>add(b='x, o='y')</call>", False),
    ),
    "a quote twice at the end": ("python", "<call>add(b='x'', a=1)</call>", False),
    "a quote twice at the beginning": ("python", "<call>add(b=''x', a=1)</call>", False),
    "both quotes twice": ("python", "<call>add(b=''x'', a=1)</call>", False),
    "quotes at both ends of a string": ("python", "<call>add(b=''x' or 'y'', a=1)</call>", True),
    "quotes in a string": ("python", "<call>add(b='say 'x'', a=1)</call>", True),
    "an apostrophe": ("python", "<call>add(b='it's', a=1)</call>", True),
    "a sign before a key": ("python", "<call>add(b='x', **a=1)</call>", False),
    "a word that is no key": ("python", "<call>add(b='x', d=1)</call>", True),
    "a quote twice in JSON": ("json", '<call add>{"b": "x ""a": 1}</call>', False),
    "a quote twice in an array": ("json", '<call add>{"c": ["x "" y"]}</call>', False),
}


@pytest.mark.parametrize(
    ("arguments", "is_certain"),
    [
        ("text='one, count=3), run(text='two'", False),
        ("text='one' count=3), run(text='two'", False),
        ("text='one'[, 2], more='two'", False),
        ("text='say 'one' or so', count=3", True),
    ],
)
def test_a_string_without_escapes_may_not_hold_another_arguments_beginning(
    arguments: str, is_certain: bool
) -> None:
    text, form = f"<|calls|>[run({arguments})]<|/calls|><|stop|>", load(UNESCAPED)
    options: dict[str, Any] = {"tools": [{"name": "run"}], "prefill": ""}
    message = form.parse(text, **options)
    (call,) = message.tool_calls
    assert call.complete == is_certain, message
    assert bool(message.problems) != is_certain
    assert stream(form, text, **options)[0] == message


def test_zeros_before_a_number_are_kept() -> None:
    """They are no number in Python, but they may be a code."""
    form = load(SMALL_FORMATS["python"])
    for written, read in (("02134", "02134"), ("[007, 0.5]", ["007", 0.5]), ("007.5", 7.5)):
        (call,) = form.parse(f"<call>add(b={written}, a=00)</call>").tool_calls
        assert json.loads(call.arguments) == {"b": read, "a": 0}


@pytest.mark.parametrize("title", CERTAINTY)
def test_a_call_is_complete_where_it_is_certain(title: str) -> None:
    name, text, is_certain = CERTAINTY[title]
    form = load(SMALL_FORMATS[name])
    message = form.parse(text, tools=TOOLS)
    assert [call.complete for call in message.tool_calls] == [is_certain], message
    assert message.problems
    assert stream(form, text, tools=TOOLS)[0] == message
