"""Asks llama.cpp, llguidance and xgrammar about every format's grammars: `make engines`.

Writes specs/engines.json: for each format, by the hash of its spec, how many texts were asked about
(turns that the spec's writer writes, random turns of its grammar and of grammars bound to tools and
answers, and random turns with a fault), how many all engines judged alike and how many of them all
accepted; and how many random turns of bound grammars the generated parser read without a problem,
with arguments and answers that their schemas allow.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from random import Random
from typing import Any

from rich.console import Console
from rich.progress import track

from tests.bound_grammars import Bound, requests_for
from tests.generated_formats import NAMES, ROOT, committed_format
from tests.grammar_engines import Compile, CompiledGrammar, engine_llguidance, engine_xgrammar
from tests.grammar_engines.agreement import Agreement, Sample, ask_engines, random_samples
from tests.grammar_engines.random_texts import mutated
from tests.grammar_samples import gbnf_of, written_samples
from turnspec.grammar.turn_text import text_markers
from turnspec.spec.atomic import write_atomically
from turnspec.spec.files import spec_hash
from turnspec.spec.problems import Problem
from turnspec.verification import engine_llama_cpp
from turnspec.verification.gbnf_reader import Grammar, read_grammar

PAGE = ROOT / "specs" / "engines.json"
TURNS = 200
ENGINES: dict[str, Compile] = {
    "llama-cpp-python": engine_llama_cpp.compile_grammar,
    "llguidance": engine_llguidance.compile_grammar,
    "xgrammar": engine_xgrammar.compile_grammar,
}


class _Refused(Exception):
    """An engine isn't there or can't read a grammar; it never leaves this module."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What came of asking about one format; ``valid`` is out of the random ``turns``."""

    strings: int
    agreed: int
    accepted: int
    turns: int
    valid: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The counts of one format, and what to look at."""

    counts: Counts
    faults: tuple[str, ...]


def ask_about(name: str) -> Outcome:
    """Compile a format's grammars in each engine, and ask about their texts."""
    random = Random(name)
    unbound = read_grammar(gbnf_of(name))
    assert isinstance(unbound, Grammar), unbound
    samples = [
        *random_samples(unbound, random, TURNS // 4, text_markers(committed_format(name).spec)),
        *written_samples(name),
    ]
    asked = [_asked(gbnf_of(name), samples)]
    faults: list[str] = []
    requests = requests_for(committed_format(name).spec)
    count = -(-TURNS // len(requests))
    for title, request in requests.items():
        bound = Bound.of(name, request)
        turns = bound.turns(random, count)
        faulty = (mutated(turn, random, bound.bound.preserved_tokens) for turn in turns)
        samples = [*(Sample(t, True) for t in turns), *(Sample(t, None) for t in faulty)]
        asked.append(_asked(bound.bound.grammar, samples))
        told = ((turn, bound.faults(turn)) for turn in turns)
        faults += [f"{title}: {found[0]}: {turn!r}" for turn, found in told if found]
    total = count * len(requests)
    strings, agreed, accepted = (
        sum(getattr(a, word) for a in asked) for word in ("strings", "agreed", "accepted")
    )
    counts = Counts(strings, agreed, accepted, total, total - len(faults))
    return Outcome(counts, (*(str(d) for a in asked for d in a.disagreements), *faults))


def _asked(gbnf: str, samples: Iterable[Sample]) -> Agreement:
    compiled: dict[str, CompiledGrammar] = {}
    for engine, compile_ in ENGINES.items():
        result = compile_(gbnf)
        if isinstance(result, Problem):
            raise _Refused(str(result))
        compiled[engine] = result
    return ask_engines(compiled, samples)


def main(names: list[str]) -> int:
    """Ask about the named formats, or about all and write the counts; say what went wrong."""
    counts: dict[str, dict[str, Any]] = {}
    failed = 0
    for name in track(names or NAMES, "asking", console=Console(stderr=True), transient=True):
        try:
            outcome = ask_about(name)
        except _Refused as refused:
            print(f"{name}: {refused}")
            return 1
        spec = committed_format(name).spec
        counts[name] = {"spec_hash": spec_hash(spec), **asdict(outcome.counts)}
        shown = outcome.faults if names else outcome.faults[:1]
        failed += bool(shown)
        for fault in shown:
            print(f"{name}: {fault}")
    total, agreed, turns, valid = (
        sum(entry[word] for entry in counts.values())
        for word in ("strings", "agreed", "turns", "valid")
    )
    print(
        f"{len(counts)} formats; engines agree on {agreed} of {total} texts; of {turns} random "
        f"turns {valid} are read and valid; {failed} formats with faults"
    )
    if not names:
        page = {"engines": {engine: version(engine) for engine in ENGINES}, "formats": counts}
        write_atomically(PAGE, json.dumps(page, indent=2) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
