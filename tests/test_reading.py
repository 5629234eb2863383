"""Committed modules, which are compiled, read what the engine in memory reads, event by event.

And so do modules that are compiled from the tables written by hand, which have more than any
committed format. What a module says of itself is run.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import pytest

from tests.engine_cases import CASES, TOOLS
from tests.generated_formats import (
    CODES,
    EVERY_FORMAT,
    KINDS,
    NAMES,
    committed_format,
    committed_spec,
    module_source,
)
from tests.marker_soup import marker_pieces, own_markers, plain_pieces
from tests.parser_checks import assert_in_order, some
from tests.small_formats import FORMATS as SMALL
from tests.special_pieces import Piece, special_tokens
from turnspec.codegen.compiled import compiled_source
from turnspec.codegen.facts import facts_of
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load, load_module
from turnspec.codegen.writer import write_parts
from turnspec.deviations.table import DEVIATIONS
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Part
from turnspec.verification.messages import allowed_call
from turnspec.verification.random_messages import random_messages

#: Of each format: messages, and texts of markers in any order; more in the long runs.
MESSAGES, SOUPS = (4, 24) if EVERY_FORMAT else (2, 12)
STOPS: tuple[tuple[str, ...], ...] = ((), ("STOP",), ("<|", "{x}"), ("word", "\n\nUser"))


def texts(name: str, random: Random) -> Iterator[str]:
    """Yield turns, turns that break off, deviations, and markers and words in any order."""
    form = committed_format(name)
    for message in random_messages(form.spec, MESSAGES, 7):
        turn = write_parts(form.spec, message, Part.START)
        yield from (turn, turn[: len(turn) // 2], turn[: -random.randint(1, 9)])
    yield from (case.text for build in DEVIATIONS.values() for case in build(form))
    own = [*own_markers(form.spec), *marker_pieces(form.spec)]
    pieces = [*own, *plain_pieces(), "word", " ", "\n"]
    for _ in range(SOUPS):
        soup = "".join(random.choices(pieces, k=random.choice((1, 2, 4, 9))))
        yield from (soup, soup[: random.randint(0, len(soup))])


def options_of(name: str, random: Random) -> dict[str, Any]:
    """Return options: any that a parser has."""
    form = committed_format(name)
    header = form.spec.turn.header
    prefills: list[dict[str, Any]] = [{}, {"prefill": header}, {"prefill": f"{header}Well, <thi"}]
    return {
        **random.choice(prefills),
        "echo": random.random() < 0.3,
        "reasoning": random.choice(("extract", "inline")),
        "enable_thinking": random.choice((None, True, False)),
        "stop": random.choice(stops_of(name)),
        "id_prefix": random.choice(("call_", "x")),
        "tools": random.choice((None, [], form.options["tools"], form.options["tools"])),
        "special_tokens": random.choice((None, None, [], tokens_of(name))),
    }


@cache
def stops_of(name: str) -> list[tuple[str, ...]]:
    """Return two of the stops, so that a parser keeps what it makes for options."""
    return Random(name).sample(STOPS, len(STOPS) if EVERY_FORMAT else 2)


@cache
def tokens_of(name: str) -> tuple[str, ...]:
    return special_tokens(committed_spec(name))


def flagged(text: str, tokens: list[str] | None, random: Random) -> list[Piece]:
    """Return a text in pieces: special tokens whole, mostly as such, and others of any length."""
    found = "|".join(map(re.escape, sorted(tokens or (), key=len, reverse=True))) or "(?!)"
    pieces: list[Piece] = []
    for part in re.split(f"({found})", text):
        if part in (tokens or ()):
            pieces.append((part, random.random() < 0.8))
        else:
            size = random.choice((1, 3, len(part) or 1))
            pieces += [(part[at : at + size], False) for at in range(0, len(part), size)]
    return pieces


def told(module: FormatModule, pieces: list[Piece], options: dict[str, Any]) -> list[str]:
    """Return all that a parser tells, piece by piece, and at the end."""
    parser = module.Parser(**options)
    events = [parser.feed(*piece) for piece in pieces] + [parser.finish()]
    assert_in_order([event for given in events for event in given], parser.message)
    return [*map(repr, events), repr(parser.message)]


@pytest.mark.parametrize("name", CODES)
def test_a_module_reads_as_the_engine_does(name: str) -> None:
    random = Random(name)
    module, engine = committed_format(name).module, load(committed_spec(name))
    found = [*texts(name, random)]
    assert len(found) > 30
    if name not in KINDS:  # others than the next format has
        found = random.sample(found, len(found) // 2)
    for text in found:
        options = options_of(name, random)
        pieces = flagged(text, options["special_tokens"], random)
        assert told(module, pieces, options) == told(engine, pieces, options), (pieces, options)


@pytest.mark.parametrize("name", SMALL)
def test_a_table_is_compiled_to_what_the_engine_reads_with_it(name: str) -> None:
    """Whole and cut, with tools and without, and where the prompt holds the beginning."""
    module = load_module(compiled_source(facts_of(SMALL[name])))
    engine, random = load(SMALL[name]), Random(name)
    for text in [case[1] for case in CASES.values() if case[0] == name]:
        for cut in (*some(range(len(text)), 6), len(text)):
            options = {
                "tools": random.choice((None, TOOLS, TOOLS)),
                "prefill": random.choice(("", text[: cut // 2])),
                "reasoning": random.choice(("extract", "inline")),
                "special_tokens": random.choice((None, ["<end>", "<call", "</call>"])),
            }
            pieces = flagged(text[:cut], ["<end>", "<call", "</call>"], random)
            assert told(module, pieces, options) == told(engine, pieces, options), (text, options)


# What a module says of itself


def rows(source: str) -> Iterator[tuple[str, str]]:
    """Yield the texts in a module's docstring, each with the lines that say what comes of it."""
    text, said = "", []
    literal = r"    ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?: -> (.*))?"
    told = source.split('"""')[1].partition("\nWHAT ELSE IS READ\n")[2]
    for line in told.partition("\nWHAT feed() HOLDS BACK\n")[0].split("\n"):
        if found := re.fullmatch(literal, line):
            text += literal_eval(found[1])
            line = f"        {found[2]}" if found[2] else ""
        if text and line:
            said.append(line)
            if "  # " in line:
                yield text, "\n".join(said)
                text, said = "", []


def literal_of(text: str) -> str:
    return repr(text) if len(text) <= 76 else f"{text[:30]!r} ... {text[-30:]!r}"


def said_of(message: Any) -> str:
    """Return the lines that say what came of a text."""
    parts = {"reasoning": message.reasoning_content, "content": message.content}
    shown = [f"{part} {literal_of(value)}" for part, value in parts.items() if value]
    for call in message.tool_calls:
        end = "" if call.complete else ", not complete"
        shown.append(f"call {call.name!r} {call.arguments}{end}")
    kinds = ", ".join(dict.fromkeys(problem.kind for problem in message.problems))
    lines = "\n".join(f"        {line}" for line in shown or ["nothing"])
    return f"{lines}  # {kinds or '-'}"


@pytest.mark.parametrize("name", NAMES)
def test_what_a_module_says_of_itself_is_so(name: str) -> None:
    """Among its rows is a turn with two calls, where there may be two."""
    module = committed_format(name).module
    found = list(rows(module_source(name)))
    assert len(found) >= 2
    spec = committed_spec(name)
    may_be_two = bool(spec.tools) and (
        spec.capabilities.parallel_calls or not spec.capabilities.tool_calls
    )
    assert may_be_two == ("call 'get_time'" in found[0][1])
    for text, said in found:
        assert said_of(module.parse(text, prefill=module.FORMAT["header"])) == said


@pytest.mark.parametrize("name", NAMES)
def test_a_module_says_what_becomes_of_a_call_of_no_given_tool(name: str) -> None:
    source, spec = module_source(name), committed_spec(name)
    told = " ".join(source.split('"""')[1].partition("\nTHE FORMAT")[0].split())
    is_kept = "A call of no given tool is kept, and told as `unknown_tool`" in told
    is_content = re.search("A call of no given tool is content(?:, but behind `(.+?)`)?[.]", told)
    assert (is_kept or bool(is_content)) == bool(spec.tools)
    if not spec.tools:
        return
    module, call = committed_format(name).module, allowed_call(spec, Call("look", {"at": 5}))
    text = write_parts(spec, Message(calls=(call,)), Part.START)
    options = {"tools": [{"name": "other"}], "prefill": module.FORMAT["header"]}
    read = module.parse(text, **options)
    assert bool(read.tool_calls) == is_kept
    assert ("unknown_tool" in [problem.kind for problem in read.problems]) == is_kept
    if is_content and is_content[1]:
        behind = module.parse(is_content[1] + text, **options)
        assert [problem.kind for problem in behind.problems] == ["unknown_tool"]
    if "; an argument of unknown type is a string." in told:
        assert read.tool_calls[0].arguments == '{"at": "5"}'
