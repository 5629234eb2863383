"""The engine of `turnspec.engine`, compiled: it reads what the one in `turnspec.engine` reads.

And what parsers that are generators could lose: copies in mid-stream, and a clear end.
"""

from __future__ import annotations

import copy
import gc
import json
import pickle
import re
import weakref
from ast import literal_eval
from collections.abc import Iterator
from random import Random
from threading import Thread
from typing import Any

import pytest

from tests.generated_formats import (
    EVERY_FORMAT,
    FORMATS,
    NAMES,
    committed_format,
    committed_spec,
    is_compiled_format,
    module_source,
    table_of,
)
from tests.marker_soup import marker_pieces, own_markers, plain_pieces
from tests.parser_checks import added_up, summary
from tests.special_pieces import special_tokens
from turnspec.codegen.compiled import compiled_source, loaded
from turnspec.codegen.facts import can_be_compiled, facts_of
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.codegen.writer import write_parts
from turnspec.deviations.table import DEVIATIONS
from turnspec.spec.model import Part
from turnspec.verification.random_messages import random_messages

#: Those that are compiled, and those that can be: these are compared in memory till all are.
COMPILED = [name for name in FORMATS if can_be_compiled(table_of(name))]
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
    pieces = [
        *own_markers(form.spec),
        *marker_pieces(form.spec),
        *plain_pieces(),
        "word",
        " ",
        "\n",
    ]
    for _ in range(SOUPS):
        soup = "".join(random.choices(pieces, k=random.choice((1, 2, 4, 9))))
        yield from (soup, soup[: random.randint(0, len(soup))])


def options_of(name: str, random: Random) -> dict[str, Any]:
    form = committed_format(name)
    header = form.spec.turn.header
    prefills: list[dict[str, Any]] = [{}, {"prefill": header}, {"prefill": f"{header}Well, <thi"}]
    return {
        **random.choice(prefills),
        "echo": random.random() < 0.3,
        "reasoning": random.choice(("extract", "inline")),
        "enable_thinking": random.choice((None, True, False)),
        "stop": random.choice(STOPS),
        "tools": random.choice((None, [], form.options["tools"], form.options["tools"])),
        "special_tokens": random.choice((None, None, [], special_tokens(committed_spec(name)))),
    }


def flagged(text: str, tokens: list[str] | None, random: Random) -> list[tuple[str, bool]]:
    """Return a text in pieces: special tokens whole, mostly as such, and others of any length."""
    found = "|".join(map(re.escape, sorted(tokens or (), key=len, reverse=True))) or "(?!)"
    pieces = []
    for part in re.split(f"({found})", text):
        if part in (tokens or ()):
            pieces.append((part, random.random() < 0.8))
        else:
            size = random.choice((1, 3, len(part) or 1))
            pieces += [(part[at : at + size], False) for at in range(0, len(part), size)]
    return pieces


def told(module: FormatModule, pieces: list[tuple[str, bool]], options: Any) -> Any:
    parser = module.Parser(**options)
    events = [event for piece in pieces for event in parser.feed(*piece)]
    events += parser.finish()
    assert added_up(events) == summary(parser.message) or options["echo"]
    return repr(parser.message), added_up(events)


@pytest.mark.parametrize("name", COMPILED)
def test_a_compiled_parser_reads_as_the_engine_does(name: str) -> None:
    random, asked = Random(name), 0
    module = loaded(compiled_source(facts_of(table_of(name))))
    engine = load(committed_spec(name))
    for text in texts(name, random):
        options = options_of(name, random)
        pieces = flagged(text, options["special_tokens"], random)
        assert told(module, pieces, options) == told(engine, pieces, options), (text, options)
        asked += 1
    assert asked > 30


# What a module says of itself


def rows(source: str) -> Iterator[tuple[str, str]]:
    """Yield the texts in a module's docstring, each with what it says comes of it."""
    text, said = "", []
    for line in source.split('"""')[1].split("\n"):
        if re.match(r"    ['\"]", line):
            text += literal_eval(line.strip())
        elif text:
            said.append(line.strip())
            if "  # " in line:
                yield text, ", ".join(said)
                text, said = "", []


@pytest.mark.parametrize("name", [name for name in NAMES if is_compiled_format(name)])
def test_what_a_module_says_of_itself_is_so(name: str) -> None:
    module, asked = committed_format(name).module, 0
    for text, result in rows(module_source(name)):
        message = module.parse(text)
        said, _, kinds = result.partition("  # ")
        parts = {"reasoning": message.reasoning_content, "content": message.content}
        shown = [f"{part} {value!r}" for part, value in parts.items() if value]
        for call in message.tool_calls:
            end = "" if call.complete else ", not complete"
            shown.append(f"call {call.name!r} {call.arguments}{end}")
        assert said == (", ".join(shown) or "nothing")
        found = dict.fromkeys(problem.kind for problem in message.problems)
        assert kinds == (", ".join(found) or "-")
        asked += 1
    assert asked >= 2


# What generators could lose

TEXT = "<|im_start|>assistant\nIt rains in Paris. <|im_end|> More."


@pytest.fixture
def module() -> FormatModule:
    return committed_format("01-ai-yi-1-5-chat").module


@pytest.mark.parametrize("at", range(0, len(TEXT), 5))
def test_a_parser_is_copied_in_mid_stream(module: FormatModule, at: int) -> None:
    parser = module.Parser(stop=["Paris"], echo=True)
    parser.feed(TEXT[:at])
    others = [copy.copy(parser), copy.deepcopy(parser)]
    for other in others:
        assert other.message == parser.message
    whole = parser.feed(TEXT[at:]) + parser.finish()
    for other in others:
        assert other.feed(TEXT[at:]) + other.finish() == whole
        assert other.message == parser.message
        assert copy.copy(other).message == parser.message


def test_a_parser_is_pickled_by_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    from generated import _01_ai_yi_1_5_chat as installed

    parser = installed.Parser()
    parser.feed(TEXT[:30])
    other = pickle.loads(pickle.dumps(parser))
    assert other.feed(TEXT[30:]) == parser.feed(TEXT[30:])


def test_a_parser_is_freed_without_the_garbage_collector(module: FormatModule) -> None:
    gc.disable()
    try:
        parser = module.Parser()
        parser.feed("It rains <|im")
        gone = weakref.ref(parser)
        turn = weakref.ref(vars(parser)["_turn"])
        del parser
        assert (gone(), turn()) == (None, None)
    finally:
        gc.enable()


def test_after_an_interruption_the_message_stays_and_the_next_call_raises(
    module: FormatModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = module.Parser()
    parser.feed("It rains. ")
    turn: Any = vars(parser)["_turn"]

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(turn.input), "take", interrupted)
    with pytest.raises(KeyboardInterrupt):
        parser.feed("<")
    monkeypatch.undo()
    assert parser.message.content == "It rains."
    for call in (parser.finish, lambda: parser.feed("x")):
        with pytest.raises(RuntimeError, match="an exception ended"):
            call()
    assert parser.message.content == "It rains."


def test_parsers_in_threads_share_nothing_that_changes(module: FormatModule) -> None:
    found: list[str] = []

    def read(number: int) -> None:
        parser = module.Parser(stop=[f"<{number}>"])
        for piece in [f"text {number} ", *["word "] * 200, f"<{number}>", "rest"]:
            parser.feed(piece)
        parser.finish()
        found.append(f"{number}: {json.dumps(parser.message.to_dict())}")

    threads = [Thread(target=read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = [
        {"role": "assistant", "content": f"text {n} {'word ' * 200}".strip()} for n in range(8)
    ]
    assert sorted(found) == [f"{n}: {json.dumps(message)}" for n, message in enumerate(wanted)]
