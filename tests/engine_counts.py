"""Asks llama.cpp, llguidance and xgrammar about every committed grammar: `make engines`.

Writes specs/engines.json: for each format how many texts were asked about (turns that the spec's
writer writes, random turns, and random turns with a fault), how many all engines judged alike, how
many of them all accepted, and how many random turns the generated parser read without a problem.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import chain
from random import Random

from generator.spec.atomic import write_atomically
from generator.spec.problems import Problem
from generator.verification import engine_llama_cpp, engine_llguidance, engine_xgrammar
from generator.verification.agreement import Disagreement, ask_engines, random_samples
from generator.verification.engines import Compile, CompiledGrammar
from generator.verification.gbnf_reader import read_grammar
from tests.generated_formats import NAMES, ROOT
from tests.grammar_samples import gbnf_of, told_problems, written_samples

PAGE = ROOT / "specs" / "engines.json"
TURNS = 200
ENGINES: dict[str, Compile] = {
    "llama-cpp-python": engine_llama_cpp.compile_grammar,
    "llguidance": engine_llguidance.compile_grammar,
    "xgrammar": engine_xgrammar.compile_grammar,
}


@dataclass(frozen=True, slots=True)
class Counts:
    """What came of asking about one format; ``parsed`` is out of the random ``turns``."""

    strings: int
    agreed: int
    accepted: int
    turns: int
    parsed: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The counts of one format, and what to look at."""

    counts: Counts
    faults: tuple[Disagreement | Problem, ...]


def ask_about(name: str) -> Outcome | Problem:
    """Compile a committed grammar in each engine and ask about its texts."""
    gbnf = gbnf_of(name)
    grammar = read_grammar(gbnf)
    if isinstance(grammar, Problem):
        return grammar
    compiled: dict[str, CompiledGrammar] = {}
    for engine, compile_ in ENGINES.items():
        result = compile_(gbnf)
        if isinstance(result, Problem):
            return result
        compiled[engine] = result
    samples = list(random_samples(grammar, Random(name), TURNS))
    asked = ask_engines(compiled, chain(samples, written_samples(name)))
    turns = [sample.text for sample in samples if sample.allowed]
    told = [(turn, problems) for turn in turns if (problems := told_problems(name, turn))]
    faults = [
        Problem(f"{problems[0].kind}: {problems[0].message}: {turn!r}") for turn, problems in told
    ]
    parsed = len(turns) - len(told)
    counts = Counts(asked.strings, asked.agreed, asked.accepted, len(turns), parsed)
    return Outcome(counts, (*asked.disagreements, *faults))


def main(names: list[str]) -> int:
    """Ask about the named formats, or about all and write the counts; say what went wrong."""
    counts: dict[str, dict[str, int]] = {}
    failed = 0
    for name in names or NAMES:
        outcome = ask_about(name)
        if isinstance(outcome, Problem):
            print(f"{name}: {outcome}")
            return 1
        counts[name] = asdict(outcome.counts)
        shown = outcome.faults if names else outcome.faults[:1]
        failed += bool(shown)
        for fault in shown:
            print(f"{name}: {fault}")
    total = sum(entry["strings"] for entry in counts.values())
    agreed = sum(entry["agreed"] for entry in counts.values())
    print(
        f"{len(counts)} formats, {agreed} of {total} texts agreed on; {failed} formats with faults"
    )
    if not names:
        page = {"engines": {engine: version(engine) for engine in ENGINES}, "formats": counts}
        write_atomically(PAGE, json.dumps(page, indent=2) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
