"""The fuzzer's bytes put other markers into a template: generate, import, parse, or say why not.

The template is analysed, and its spec, parser and grammar are made and used; nothing on the way may
raise. Rendering is done in this process, as the templates are our own but for their markers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from website.worker.in_process import InProcessWorker

from tests.fuzz.fuzzing import Choices, Target
from tests.own_templates import NAMES, given_template, own_template, spec_of
from tests.parser_checks import stream, summary
from turnspec.analysis.analyze import analyze_template
from turnspec.codegen.loading import load, load_module
from turnspec.grammar.turn import generate_grammar
from turnspec.pipeline.build import generate_files
from turnspec.pipeline.project import OutputPaths
from turnspec.pipeline.samples import sample_turns
from turnspec.spec.checks import check_spec
from turnspec.spec.files import dump_spec, load_checked_spec
from turnspec.spec.model import Spec
from turnspec.spec.visible import visible
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.messages import format_markers

_MOST_CHANGES = 3
_COMPILED = 12  # one of so many templates becomes a module, too, which takes ten times as long
_NO_ESCAPE = "\n" + "".join(map(chr, (*range(0x100, 0x1000), *range(0x10000, 0x110000))))


@dataclass(frozen=True, slots=True)
class Changed:
    """One of our own templates, with other texts where its markers stood."""

    name: str
    texts: Mapping[str, str]
    is_compiled: bool

    def source(self) -> str:
        """Return the template's text."""
        text = own_template(self.name).text
        for marker, other in self.texts.items():
            text = text.replace(marker, other)
        return text


@cache
def _markers(name: str) -> tuple[str, ...]:
    """Return the markers that stand in a template as they are."""
    text = own_template(name).text
    spec = spec_of(name, InProcessWorker())
    return tuple(sorted(marker for marker in format_markers(spec) if marker in text))


def attempt(data: bytes) -> Changed:
    """Return what the fuzzer's bytes stand for."""
    choices = Choices(data)
    name = choices.one_of(NAMES)
    markers = _markers(name)
    texts: dict[str, str] = {}
    for _ in range(1 + choices.number(_MOST_CHANGES - 1)):
        if markers:
            marker = choices.one_of(markers)
            around = ("", "") if choices.flag() else (marker[:1], marker[-1:])
            texts[marker] = choices.text().join(around)
    return Changed(name, texts, choices.number(_COMPILED - 1) == 0)


def check(changed: Changed) -> None:
    """Make of the template all that is made of one, and use it."""
    source = given_template(changed.source())
    analysis = analyze_template(source, InProcessWorker())
    problems = [*analysis.problems]
    if analysis.spec is not None:
        problems += check_spec(analysis.spec, source.file)
    assert all(problem.message for problem in problems)
    if problems or analysis.spec is None:
        assert problems
        return
    paths = OutputPaths.in_folder("given")
    files = _files(analysis.spec, paths, changed.is_compiled)
    assert load_checked_spec(files[paths.spec], "given.yaml") == analysis.spec
    assert isinstance(read_grammar(files[paths.grammar]), Grammar)
    for path, text in files.items():
        # There is no escape for these that all engines read.
        kept = _NO_ESCAPE if path == paths.grammar else "\n"
        assert visible(text, kept) == text, path
    in_memory = load(analysis.spec)
    module = load_module(files[paths.module]) if changed.is_compiled else in_memory
    for turn in sample_turns(analysis.spec):
        text = turn.removeprefix(analysis.spec.turn.header)
        whole = module.parse(text)
        assert summary(whole) == summary(in_memory.parse(text))
        message, _ = stream(module, list(text))
        assert message == whole


def _files(spec: Spec, paths: OutputPaths, is_compiled: bool) -> dict[str, str]:
    if is_compiled:
        return generate_files(spec, paths)
    grammar = generate_grammar(spec, spec_path=paths.spec, spec_hash="")
    return {paths.spec: dump_spec(spec), paths.grammar: grammar}


_FOUND = (
    # A call's arguments stood in the module's docstring as they are.
    Changed("own-string-quotes", {"}<:/call:>": "}\ufeff>"}, is_compiled=True),
    # A grammar's class of letters began with one that doesn't print.
    Changed("own-string-quotes", {"<:/call:>": "<>"}, is_compiled=False),
    # What rendered here couldn't say which branches it took.
    Changed("stripped-reasoning", {"<:stop:>": "", "</muse>": ""}, is_compiled=False),
)
TARGET = Target(attempt, check, found=_FOUND)
