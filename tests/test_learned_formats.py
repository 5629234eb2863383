"""benchmarks/learned_formats without the training: what is taught, how it is judged, the record."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import llama_cpp
import pytest
from benchmarks.learned_formats.model_file import Shape, Vocabulary, write_model
from benchmarks.learned_formats.questions import (
    FORMATS,
    TOOLS,
    Exchange,
    exchanges,
    prompt_of,
    turn_of,
)
from benchmarks.learned_formats.results import PAGE, RECORD, page_of
from benchmarks.learned_formats.tokens import new_vocabulary
from benchmarks.learned_formats.trial import Tally, Writer, Written, answered, judged, total

from tests.generated_formats import committed_format
from tests.tiny_llama import write_llama
from turnspec.deviations.turns import Format
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.spec.message import Call, Message
from turnspec.spec.turn_end import stop_strings

NAME = "qwen-qwen3-0-6b"
PARIS = Exchange(
    "Weather in Paris for 3 days?",
    Message("Let me look.", "Weather.", (Call("get_weather", {"city": "Paris", "days": 3}, "x"),)),
)
TURN = [
    *("<think>", "\nWeather", ".\n</think>\n\n", "Let me look.", "\n<tool_call>", "\n{"),
    *(
        '"name": "get_weather", ',
        '"arguments": {"city": "Paris", ',
        '"days": 3}}',
        "\n</tool_call>",
    ),
]
END = "<|im_end|>"


def bound_to_tools(known: Format) -> BoundGrammar:
    bound = bind_grammar(known.spec, GrammarRequest(tools=TOOLS, parallel=True))
    assert isinstance(bound, BoundGrammar)
    return bound


@pytest.fixture(scope="module")
def known() -> Format:
    return committed_format(NAME)


def tally(known: Format, pieces: list[str], *, stopped: bool = True) -> dict[str, Any]:
    written = Written(pieces, stopped)
    return judged(written, known.module, bound_to_tools(known), PARIS).counts()


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_taught_is_in_the_format(name: str) -> None:
    known = committed_format(name)
    for exchange in exchanges(known.spec, 100, seed=3):
        turn = turn_of(known.spec, exchange)
        assert turn.endswith(stop_strings(known.spec))
        message = known.module.parse(turn, tools=TOOLS)
        assert message.problems == []
        calls = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
        assert calls == [(call.name, call.arguments) for call in exchange.answer.calls]


def test_exchanges_are_seeded(known: Format) -> None:
    first, again, other = (exchanges(known.spec, 50, seed) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("name", FORMATS)
def test_the_vocabulary(name: str, tmp_path: Path) -> None:
    spec = committed_format(name).spec
    texts = [prompt_of(spec, each) + turn_of(spec, each) for each in exchanges(spec, 100, seed=3)]
    vocabulary = new_vocabulary(spec, texts, 50)
    write_model(tmp_path / "words.gguf", vocabulary, Shape(len(vocabulary)), {})
    model = llama_cpp.Llama(str(tmp_path / "words.gguf"), vocab_only=True, verbose=False)
    assert model.n_vocab() == len(vocabulary)
    for text in texts:
        tokens = model.tokenize(text.encode(), add_bos=False, special=True)
        assert model.detokenize(tokens, special=True).decode() == text
        assert len(tokens) < len(text) * 0.7
    for marker in vocabulary.specials:
        assert len(model.tokenize(marker.encode(), add_bos=False, special=True)) == 1
    words = llama_cpp.llama_model_get_vocab(model.model)
    for stop in vocabulary.stops:
        [token] = model.tokenize(stop.encode(), add_bos=False, special=True)
        assert llama_cpp.llama_vocab_is_eog(words, token)


def test_a_turn_as_it_should_be(known: Format) -> None:
    assert tally(known, [*TURN, END]) == dict.fromkeys(Tally().counts(), 1)


@pytest.mark.parametrize(
    ("pieces", "stopped", "lacking"),
    [
        ([*TURN, " Oops.", END], True, {"parsed"}),
        (TURN[:-2], False, {"stopped", "parsed", "as_asked", "valid", "without_stop"}),
        ([*TURN[:-2], '"days": true}}', TURN[-1], END], True, {"as_asked", "valid"}),
        ([*TURN[:3], "No.", END], True, {"triggered", "calling", "calls", "as_asked", "valid"}),
    ],
)
def test_a_turn_with_flaws(
    known: Format, pieces: list[str], stopped: bool, lacking: set[str]
) -> None:
    counts = tally(known, pieces, stopped=stopped)
    assert {name for name, count in counts.items() if not count} == lacking


def test_a_total() -> None:
    sums = total([Tally(turns=1, calls=2), Tally(turns=1, calls=3, valid=1)])
    assert sums == Tally(turns=2, calls=5, valid=1)


def test_the_lazy_grammar_holds_a_model_to_its_format(known: Format, tmp_path: Path) -> None:
    path = tmp_path / "by-heart.gguf"
    write_llama(path, [*TURN, " Oops."], prompt_end="\n", template="", end=END)
    writer, bound = Writer(path, 512), bound_to_tools(known)
    counts = {}
    for lazy in (False, True):
        [(exchange, written)] = answered(writer, known.spec, bound, [PARIS], lazy=lazy)
        assert written.stopped
        counts[lazy] = judged(written, known.module, bound, exchange)
    assert (counts[False].parsed, counts[True].parsed) == (False, True)
    assert counts[True] == replace(counts[False], parsed=True)


def test_the_record_and_its_page() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    assert tuple(record["formats"]) == FORMATS
    assert PAGE.read_text(encoding="utf-8") == page_of(record)
    for stages in record["formats"].values():
        assert list(stages) == ["early", "trained"]
        for modes in stages.values():
            assert list(modes) == ["free", "lazy"]
            assert all(counts["as_whole"] == counts["turns"] for counts in modes.values())
            assert modes["lazy"]["parsed"] >= modes["free"]["parsed"]


def test_a_vocabulary_counts_its_tokens() -> None:
    vocabulary = Vocabulary(("<a>", "<b>"), ("<b>",), [("a", "b"), ("ab", "c")])
    assert len(vocabulary) == 256 + 2 + 2 + 2  # the library's own begin and end are among them
