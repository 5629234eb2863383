"""Special tokens in both engines: `feed(piece, special)` tells the same, whatever comes as one.

``TURNSPEC_EXAMPLES=1000`` (`make test-long`) compares more random texts.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.generated_formats import PARTS, committed_spec
from tests.marker_soup import Output, soups
from tests.special_pieces import (
    Piece,
    as_text,
    in_characters,
    pieces_of,
    special_tokens,
)
from tests.typescript.engines import (
    TypeScriptEngine,
    has_two_halves,
    opened_engine,
    python_result,
)
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.rendering.conversation import tool_definitions
from turnspec.verification.messages import allowed_call
from turnspec.verification.quoted_calls import CALL, call_in_text, call_in_value, prefill

EXAMPLES = int(os.environ.get("TURNSPEC_EXAMPLES", 24)) // 6
ALL = "TURNSPEC_EXAMPLES" in os.environ
FORMATS = [name for name in PARTS if committed_spec(name).tools]

pytestmark = pytest.mark.timeout(300 + 10 * EXAMPLES)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypeScriptEngine]:
    with opened_engine(tmp_path_factory.mktemp("engine")) as opened:
        yield opened


@cache
def loaded(name: str) -> FormatModule:
    return load(committed_spec(name))


def compare(
    engine: TypeScriptEngine, name: str, pieces: Sequence[Piece], options: dict[str, Any]
) -> dict[str, Any]:
    """Compare what both tell of each piece, and at the end; return it."""
    module = loaded(name)
    for cut in (list(pieces), in_characters(pieces)):
        mine = python_result(module, cut, options)
        (other,) = engine.parse(name, module, pieces=cut, options=options)
        assert other == mine, (name, cut, options)
    assert isinstance(mine, dict)
    return mine


def options_of(name: str, tokens: Sequence[str] | None) -> dict[str, Any]:
    spec = committed_spec(name)
    tools = tool_definitions((allowed_call(spec, CALL),))
    return {"tools": tools, "prefill": prefill(spec), "special_tokens": tokens}


@pytest.mark.parametrize("name", FORMATS)
def test_turns_that_quote_the_format_are_read_alike(name: str, engine: TypeScriptEngine) -> None:
    spec = committed_spec(name)
    tokens = special_tokens(spec)
    turns = (
        call_in_value(spec)[0],
        call_in_text(spec, "As in ", " it is said."),
        call_in_text(spec, "", ""),
    )
    for turn in turns:
        for pieces in (as_text(turn, tokens), pieces_of(turn.turn, tokens), [(turn.turn, False)]):
            for known in (tokens, tokens[:1], None):
                compare(engine, name, pieces, options_of(name, known))


def test_a_call_of_tokens_is_one_and_a_call_of_text_is_none(engine: TypeScriptEngine) -> None:
    """What both tell is what tokens are for, so that both can't be wrong in the same way."""
    name = "qwen3-coder"
    spec = committed_spec(name)
    tokens = special_tokens(spec)
    turn = call_in_text(spec, "As in ", " it is said.")
    options = options_of(name, tokens)
    called = compare(engine, name, pieces_of(turn.turn, tokens), options)
    quoted = compare(engine, name, as_text(turn, tokens), options)
    assert len(called["message"]["tool_calls"]) == 1
    assert quoted["message"]["tool_calls"] == []
    assert quoted["message"]["content"] == turn.text


@pytest.mark.parametrize("name", FORMATS)
def test_random_pieces_are_read_alike(name: str, engine: TypeScriptEngine) -> None:
    spec = committed_spec(name)
    tokens = special_tokens(spec)

    @settings(
        max_examples=EXAMPLES,
        derandomize=not ALL,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(soups(spec), st.integers(0, 2**32 - 1))
    def read(output: Output, seed: int) -> None:
        if has_two_halves(output.text + (output.options.get("prefill") or "")):
            return
        if not output.text.isascii() and any("\ud800" <= sign <= "\udbff" for sign in output.text):
            return  # half a character is told a piece later in JavaScript
        draw = random.Random(seed)
        pieces = [(text, draw.random() < 0.7) for text, _ in pieces_of(output.text, tokens)]
        compare(engine, name, pieces, {**output.options, "special_tokens": tokens})

    read()
