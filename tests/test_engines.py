"""The committed grammars in llama.cpp and llguidance, side by side, and against the parsers.

xgrammar joins them in `make engines`.
"""

from __future__ import annotations

import gc
import itertools
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper, grammar_from

from tests import engine_counts
from tests.generated_formats import FORMS, KINDS, committed_format, committed_spec
from tests.grammar_engines import Compile, CompiledGrammar, engine_llguidance, engine_xgrammar
from tests.grammar_engines.agreement import Sample, ask_engines, random_samples
from tests.grammar_engines.lazy_runs import LazyRun, lazy_run
from tests.grammar_engines.random_texts import random_turn
from tests.grammar_samples import (
    gbnf_of,
    says_twice,
    told_problems,
    written_samples,
    written_turns,
)
from tests.schema_grammars import schema_rules
from turnspec.grammar.free_text import text_without
from turnspec.grammar.schema import SchemaGrammar
from turnspec.grammar.turn_text import text_markers
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.verification import engine_llama_cpp, llama_cpp_library
from turnspec.verification.engine_llama_cpp import LlamaCppGrammar
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.llama_cpp_library import LlamaVocabulary, load_vocabulary

ENGINES: dict[str, Compile] = {
    "llama.cpp": engine_llama_cpp.compile_grammar,
    "llguidance": engine_llguidance.compile_grammar,
}
#: Random turns of each grammar; `make engines` asks about more.
TURNS = 40


def grammar_of(gbnf: str) -> Grammar:
    grammar = read_grammar(gbnf)
    assert isinstance(grammar, Grammar), grammar
    return grammar


def compiled(gbnf: str, entry: str = "root") -> dict[str, CompiledGrammar]:
    results = {name: compile_(gbnf, entry=entry) for name, compile_ in ENGINES.items()}
    problems = [result for result in results.values() if isinstance(result, Problem)]
    assert not problems
    return {name: r for name, r in results.items() if not isinstance(r, Problem)}


@pytest.mark.parametrize("name", FORMS)
def test_engines_agree_on_random_turns(name: str) -> None:
    spec = committed_spec(name)
    samples = random_samples(grammar_of(gbnf_of(name)), Random(name), TURNS, text_markers(spec))
    asked = ask_engines(compiled(gbnf_of(name)), samples)
    assert asked.strings == 2 * TURNS
    assert asked.accepted >= TURNS, "every turn"
    if spec.tools or spec.reasoning.field:  # text alone has nothing to break but a rare marker
        assert asked.accepted < asked.strings, "but not every mutation"
    assert not asked.disagreements, "\n".join(map(str, asked.disagreements))


@pytest.mark.parametrize("name", FORMS)
def test_engines_accept_what_the_writer_writes(name: str) -> None:
    asked = ask_engines(compiled(gbnf_of(name)), written_samples(name))
    assert asked.strings > 0
    assert not asked.disagreements, "\n".join(map(str, asked.disagreements))


@pytest.mark.parametrize("entry", ["tool-calls", "required-calls", "content-only"])
@pytest.mark.parametrize("name", [n for n in FORMS if committed_spec(n).tools])
def test_engines_agree_on_other_entries(name: str, entry: str) -> None:
    grammar, random = grammar_of(gbnf_of(name)), Random(name)
    turns = [random_turn(grammar, random, entry=entry, longest=200) for _ in range(5)]
    engines = compiled(gbnf_of(name), entry=entry)
    asked = ask_engines(engines, [Sample(turn, True) for turn in turns])
    assert not asked.disagreements, "\n".join(map(str, asked.disagreements))


@pytest.mark.parametrize("name", [n for n in KINDS if not says_twice(committed_spec(n))])
def test_parser_reads_random_turns(name: str) -> None:
    """Where names stand once; test_grammar_bound.py has all formats, with known names."""
    grammar, random = grammar_of(gbnf_of(name)), Random(name)
    turns = [random_turn(grammar, random) for _ in range(TURNS)]
    told = [(turn, problems) for turn in turns if (problems := told_problems(name, turn))]
    assert not told


SCHEMAS: list[dict[str, Any]] = [
    {},
    {"type": "string", "pattern": '^[A-Z]{2}-\\d+(?:/[^"\\s]*)?$'},
    {"type": "string", "minLength": 3, "maxLength": 7},
    {"type": "integer", "minimum": -12, "maximum": 1305},
    {"type": "number", "exclusiveMinimum": 0.25},
    {"enum": ["a\nb", "\u2028", 1.5, None, {"ü": []}]},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 4},
    {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"$ref": "#"}},
        "required": ["a"],
    },
    {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "uuid"}]},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_engines_agree_on_schemas(schema: dict[str, Any]) -> None:
    rules = schema_rules(schema, "value")
    assert isinstance(rules, SchemaGrammar), rules
    grammar, random = grammar_of(str(rules)), Random(1)
    turns = [random_turn(grammar, random, entry="value", longest=80) for _ in range(TURNS)]
    asked = ask_engines(compiled(str(rules), "value"), [Sample(turn, True) for turn in turns])
    assert not asked.disagreements, "\n".join(map(str, asked.disagreements))


GBNF = 'root ::= "ä" other* [^a-z]?\nother ::= "b" | "\\x07"\n'


@pytest.mark.parametrize("compile_", ENGINES.values(), ids=ENGINES)
def test_verdicts(compile_: Compile) -> None:
    grammar = compile_(GBNF)
    assert not isinstance(grammar, Problem)
    assert all(map(grammar.accepts, ["ä", "äbb", "äb\x07", "ä😀", "ä\u2028"]))
    assert not any(map(grammar.accepts, ["", "b", "äa", "äb😀b"]))
    lengths = {"": 0, "b": 0, "äbc": 3, "ä😀😀": 6, "äbb": 4}
    assert {text: grammar.accepted_length(text) for text in lengths} == lengths
    part = compile_(GBNF, entry="other")
    assert not isinstance(part, Problem)
    assert part.accepts("b")
    assert not part.accepts("äb")


REFUSED = {
    "root ::= (": "expecting ')' at ",
    'root ::= "a" b': "Undefined rule identifier 'b'",
    'root ::= root "b" | "a"': "unsupported grammar, left recursion detected for nonterminal at"
    " index 0",
    'root ::= "a"{3000}': "number of repetitions exceeds sane defaults, please reduce the number"
    " of repetitions",
    'other ::= "a"': "grammar does not contain a 'root' symbol",
}


@pytest.mark.parametrize("gbnf", REFUSED)
def test_llama_cpp_says_why_it_refuses(gbnf: str, capfd: pytest.CaptureFixture[str]) -> None:
    problem = engine_llama_cpp.compile_grammar(gbnf)
    assert problem == Problem(f"llama.cpp cannot read the grammar: {REFUSED[gbnf]}")
    assert capfd.readouterr() == ("", "")


def test_llama_cpp_grammars_do_not_disturb_each_other() -> None:
    first, second = (engine_llama_cpp.compile_grammar(f'root ::= "{char}"') for char in "ab")
    assert isinstance(first, LlamaCppGrammar)
    assert isinstance(second, LlamaCppGrammar)
    with first.state() as one, first.state() as two:
        assert one.take(ord("a"))
        assert two.take(ord("a"))
        assert one.allows(one.end)
    del first
    gc.collect()
    assert second.accepts("b")


def test_vocabulary_is_read_back(tmp_path: Path) -> None:
    vocabulary = load_vocabulary(("<call>", "</call>"))
    assert isinstance(vocabulary, LlamaVocabulary)
    functions = vocabulary.library.functions
    assert functions.llama_vocab_n_tokens(vocabulary.pointer) == 256 + len(vocabulary.specials)
    text = "<call>ä 😀\n\r\x07</call>".encode()
    tokens = (functions.llama_token * 64)()
    count = functions.llama_tokenize(vocabulary.pointer, text, len(text), tokens, 64, False, True)
    inner = text.removeprefix(b"<call>").removesuffix(b"</call>")
    ids = vocabulary.specials
    assert tokens[:count] == [ids["<call>"], *inner, ids["</call>"]]


CALL = 'root ::= "<call>" [a-c]* "</call>"'


@pytest.mark.parametrize(
    ("pattern", "pieces", "run"),
    [
        ("(<call>)", ["no <", "call"], LazyRun(None, True)),
        ("(<call>)", ["Look: ", "<call>", "ab", "</call>"], LazyRun(1, True)),
        ("(<call>)", ["Look: <ca", "ll>a", "b", "</call>"], LazyRun(1, True)),
        ("(<call>)", ["Look: ", "<call>", "x", "</call>"], LazyRun(1, False)),
        ("(<call>)", ["<call>", "a"], LazyRun(0, False)),
        ("<call>a", ["<call>", "b", "<call>", "a", "</call>"], LazyRun(3, True)),
        ("\n(<call>)", ["<call>", "x\n", "<call>", "c</call>"], LazyRun(2, True)),
        # From the trigger on the text isn't a call: a server would stop with an error here.
        ("(all>)", ["<call>", "a"], LazyRun(0, False)),
        ("(<call>)", ["<call>", "</call>", "<|im_end|>", "more"], LazyRun(0, True)),
        ("(<call>)", ["<call>", "a", "<|im_end|>", "more"], LazyRun(0, False)),
    ],
)
def test_lazy_grammar_wakes_at_its_trigger(pattern: str, pieces: list[str], run: LazyRun) -> None:
    vocabulary = load_vocabulary(("<call>", "</call>", "<|im_end|>"))
    assert isinstance(vocabulary, LlamaVocabulary)
    assert lazy_run(CALL, [pattern], pieces, vocabulary=vocabulary) == run


CALLERS = [name for name in KINDS if committed_spec(name).grammar.triggers]


@pytest.mark.parametrize("name", CALLERS)
def test_trigger_fires_on_a_written_turn(name: str) -> None:
    spec = committed_format(name).spec
    text = turn_with_calls(spec)
    # What stands before the calls doesn't end a turn, though llama.cpp may think so by its text.
    calls = text[min(text.index(trigger) for trigger in spec.grammar.triggers if trigger in text) :]
    preserved = [token for token in spec.grammar.preserved_tokens if token in calls]
    # Of some tokens llama.cpp knows by those that end a turn that they end none.
    specials = tuple(dict.fromkeys([*preserved, *spec.turn.stop]))
    vocabulary = load_vocabulary(specials)
    assert isinstance(vocabulary, LlamaVocabulary)
    pieces = pieces_of(text, specials)
    patterns = [f"({re.escape(trigger)})" for trigger in spec.grammar.triggers]
    run = lazy_run(gbnf_of(name), patterns, pieces, entry="calls-turn", vocabulary=vocabulary)
    assert isinstance(run, LazyRun), run
    assert run.accepted
    assert run.start is not None
    before, shown = "".join(pieces[: run.start]), "".join(pieces[: run.start + 1])
    assert any(trigger in shown for trigger in spec.grammar.triggers)
    assert not any(trigger in before for trigger in spec.grammar.triggers)


def turn_with_calls(spec: Spec) -> str:
    """Return the longest of the written turns that hold a trigger."""
    triggers = spec.grammar.triggers
    return max((t for t in written_turns(spec) if any(map(t.__contains__, triggers))), key=len)


def pieces_of(text: str, specials: tuple[str, ...]) -> list[str]:
    """Cut a text as a tokenizer does: special tokens whole, the rest in short pieces."""
    longest = sorted(map(re.escape, specials), key=len, reverse=True)
    return re.findall("|".join([*longest, r"\s?\w{1,4}|(?s:.)"]), text)


def test_missing_engines_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_cpp_library, "find_spec", lambda name: None)
    monkeypatch.setattr(engine_xgrammar, "find_spec", lambda name: None)
    problem = llama_cpp_library.llama_library.__wrapped__()
    assert problem == Problem(
        "llama.cpp is not installed; to have it: pip install 'turnspec[live]'"
    )
    assert engine_xgrammar.compile_grammar(GBNF) == Problem(
        "xgrammar is not installed; to have it: pip install -r requirements-engines.txt"
    )


def test_counting_names_the_missing_engine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine_xgrammar, "find_spec", lambda name: None)
    assert engine_counts.main(["qwen3-coder"]) == 1
    assert capsys.readouterr().out == (
        "qwen3-coder: xgrammar is not installed; to have it: "
        "pip install -r requirements-engines.txt\n"
    )


def test_counts_of_one_format(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine_counts, "ENGINES", ENGINES)
    monkeypatch.setattr(engine_counts, "TURNS", 40)
    outcome = engine_counts.ask_about("google-gemma-2-2b-it")
    counts = outcome.counts
    assert counts.turns == counts.valid == 40
    assert 80 < counts.strings == counts.agreed
    assert 40 < counts.accepted < counts.strings
    assert engine_counts.main(["google-gemma-2-2b-it"]) == 0
    assert capsys.readouterr().out == (
        f"1 formats; engines agree on {counts.agreed} of {counts.strings} texts; "
        "of 40 random turns 40 are read and valid; 0 formats with faults\n"
    )


def test_disagreements_are_told() -> None:
    engines = compiled('root ::= "ab"')
    other = engine_llguidance.compile_grammar('root ::= "ax"')
    assert not isinstance(other, Problem)
    samples = [Sample("ab", None), Sample("a", None), Sample("ax", True)]
    asked = ask_engines({"one": engines["llama.cpp"], "two": other}, samples)
    assert (asked.strings, asked.agreed, asked.accepted) == (3, 1, 0)
    assert [str(disagreement) for disagreement in asked.disagreements] == [
        "one accepts, two refuses at 1 of 2: 'ab'",
        "one refuses at 1 of 2, two accepts: 'ax'",
    ]
    agreed = ask_engines(engines, [Sample("b", True)])
    assert [str(disagreement) for disagreement in agreed.disagreements] == [
        "llama.cpp refuses at 0 of 1, llguidance refuses at 0 of 1: 'b'"
    ]


class ShortTokens:
    """A tokenizer of all words of two or three of some characters, as llguidance wants one."""

    eos_token_id, bos_token_id, special_token_ids = 256, None, (256,)

    def __init__(self) -> None:
        signs = [bytes([code]) for code in b'etaoinshrdlucmfwypvbgkjxqz <{|_>/"=:']
        words = (b"".join(w) for length in (2, 3) for w in itertools.product(signs, repeat=length))
        self.tokens = [*(bytes([code]) for code in range(256)), b"<turnspec:end>", *words]

    def __call__(self, text: bytes | str) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


def test_llguidance_masks_free_text_within_its_limit_of_steps() -> None:
    """With a step for each character it gave up, with these 48,000 tokens as with real ones."""
    markers = ("<|end|>", '{"name"', "<|python_tag|>", "<|start_header_id|>", "<|eom_id|>")
    text = "\n".join(map(str, text_without("text", markers)))
    grammar = grammar_from("gbnf", f'root ::= text "<" "|" "e" "n" "d" "|" ">"\n{text}')
    tokenizer = LLTokenizer(TokenizerWrapper(ShortTokens()))
    matcher = LLMatcher(tokenizer, grammar, log_level=0)
    assert matcher.try_consume_tokens(list(b"It is ")) == len("It is ")
    matcher.compute_bitmask()
    assert matcher.get_error() == ""
