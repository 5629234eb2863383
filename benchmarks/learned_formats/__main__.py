"""Trains the models and tries them out: `make learned-formats`, or python -m with some names."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import click
import llama_cpp

from benchmarks.learned_formats.model_file import Shape, write_model
from benchmarks.learned_formats.plans import Plan, Sample, Weights
from benchmarks.learned_formats.questions import (
    FORMATS,
    TOOLS,
    Exchange,
    exchanges,
    prompt_of,
    turn_of,
)
from benchmarks.learned_formats.results import page_of, write_results
from benchmarks.learned_formats.tokens import new_vocabulary
from benchmarks.learned_formats.trial import TEMPERATURE, Writer, answered, judged, total
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.files import read_spec
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.turn_end import may_repeat_calls
from turnspec.verification.llama_cpp_library import llama_library

ROOT = Path(__file__).parents[2]
_MISSING = "PyTorch is not installed; to have it: pip install -r requirements-training.txt"
SAMPLES, QUESTIONS, MERGES = 800, 100, 200
PLAN = Plan(steps=150, early=40)
Stages = dict[str, dict[str, dict[str, int]]]


@dataclass(frozen=True, slots=True)
class Lesson:
    """One format, and what a model of it is taught and asked."""

    spec: Spec
    parser: FormatModule
    bound: BoundGrammar
    taught: list[Exchange]
    asked: list[Exchange]


def lesson_of(name: str) -> Lesson:
    """Return the lesson for a committed format; what is asked wasn't taught."""
    spec = read_spec(ROOT / "specs" / f"{name}.yaml")
    if not isinstance(spec, Spec):
        raise click.ClickException(f"{name}: no such spec, or not a sound one; try {FORMATS[0]}")
    source = (ROOT / OutputPaths.in_project(name).module).read_text(encoding="utf-8")
    request = GrammarRequest(tools=TOOLS, parallel=may_repeat_calls(spec))
    bound = bind_grammar(spec, request)
    assert isinstance(bound, BoundGrammar), bound
    taught = exchanges(spec, SAMPLES, seed=1)
    known = {exchange.question for exchange in taught}
    others = [e for e in exchanges(spec, 40 * QUESTIONS, seed=2) if e.question not in known]
    return Lesson(spec, load_module(source), bound, taught, others[:QUESTIONS])


def learn(lesson: Lesson, folder: Path) -> Iterator[tuple[str, Path, Shape, float]]:
    """Train a model; yield its file, early and at the end."""
    from benchmarks.learned_formats.network import train  # PyTorch is there for this alone

    texts = [prompt_of(lesson.spec, e) + turn_of(lesson.spec, e) for e in lesson.taught]
    vocabulary = new_vocabulary(lesson.spec, texts, MERGES)
    shape, path = Shape(len(vocabulary)), folder / "model.gguf"
    write_model(path, vocabulary, shape, {})
    tokenizer = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)

    def tokens(text: str) -> Sequence[int]:
        return tokenizer.tokenize(text.encode(), add_bos=False, special=True)

    def write(weights: Weights) -> None:
        arrays = {name: weight.detach().numpy() for name, weight in weights.items()}
        write_model(path, vocabulary, shape, arrays)

    samples = [
        Sample(tokens(prompt_of(lesson.spec, e)), tokens(turn_of(lesson.spec, e)))
        for e in lesson.taught
    ]
    for step, weights, loss in train(shape, samples, PLAN):
        write(weights)
        yield ("trained" if step == PLAN.steps else "early"), path, shape, loss


def run(name: str, *, verbose: bool) -> Stages:
    """Train a model of one format, and count what its turns are like."""
    lesson, stages = lesson_of(name), Stages()
    with tempfile.TemporaryDirectory() as folder:
        for stage, path, shape, loss in learn(lesson, Path(folder)):
            click.echo(f"{name}: {stage}, loss {loss:.3f}", err=True)
            writer = Writer(path, shape.context)
            for mode, lazy in (("free", False), ("lazy", True)):
                turns = [
                    (written, judged(written, lesson.parser, lesson.bound, exchange))
                    for exchange, written in answered(
                        writer, lesson.spec, lesson.bound, lesson.asked, lazy=lazy
                    )
                ]
                for written, tally in turns if verbose else ():
                    if not tally.parsed:
                        click.echo(f"{stage}, {mode}: {''.join(written.pieces)!r}")
                counts = total([tally for _, tally in turns]).counts()
                stages.setdefault(stage, {})[mode] = counts
    return stages


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("-v", "--verbose", is_flag=True, help="Show the turns with problems.")
def main(names: Sequence[str], verbose: bool) -> None:
    """Train small models of formats and have llama.cpp run them, without and with a grammar.

    Without NAMES all is done that is recorded, and the results are written.

    \b
    Example:
      python -m benchmarks.learned_formats qwen3-coder
    """  # noqa: D301
    if find_spec("torch") is None:
        raise click.ClickException(_MISSING)
    if isinstance(library := llama_library(), Problem):  # it also keeps llama.cpp's log quiet
        raise click.ClickException(str(library))
    settings = {
        "weights": "about 700 000",
        "samples": SAMPLES,
        "questions": QUESTIONS,
        "temperature": TEMPERATURE,
        "early": PLAN.early,
        "trained": PLAN.steps,
    }
    versions = {package: version(package) for package in ("torch", "llama-cpp-python")}
    formats = {name: run(name, verbose=verbose) for name in names or FORMATS}
    record = {"settings": settings, "versions": versions, "formats": formats}
    if not names:
        write_results(record)
    click.echo(page_of(record))


if __name__ == "__main__":
    main()
