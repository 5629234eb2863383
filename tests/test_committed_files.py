"""The committed specs, parsers and grammars, all of them: what needs no template to be checked."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

from tests.generated_formats import EVERY_FORMAT, KINDS, NAMES, PARTS, committed_format
from tests.grammar_engines.engine_llguidance import LlguidanceGrammar, compile_grammar
from turnspec import __version__
from turnspec.grammar.turn_parts import TOOL_CALLS
from turnspec.pipeline.build import generate_files
from turnspec.pipeline.project import OutputPaths, Project
from turnspec.sources.index import read_index
from turnspec.spec.files import read_spec, spec_hash
from turnspec.spec.model import Spec
from turnspec.spec.results import NEVER_RENDERED, RUNGS, read_results

ROOT = Path(__file__).parent.parent


def spec_of(name: str) -> Spec:
    spec = read_spec(ROOT / "specs" / f"{name}.yaml")
    assert isinstance(spec, Spec), spec
    return spec


def test_there_is_a_spec_for_each_reference_template() -> None:
    index, _ = read_index(ROOT)
    assert sorted(entry.name for entry in index.entries) == NAMES
    assert len(NAMES) >= 120


@pytest.mark.parametrize("name", NAMES if EVERY_FORMAT else PARTS)
def test_generated_files_follow_from_the_spec(name: str) -> None:
    """`make check` says it of all, and of the specs themselves."""
    paths = OutputPaths.in_project(name)
    for path, text in generate_files(spec_of(name), paths, Project(ROOT).recipe).items():
        assert (ROOT / path).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", KINDS)
def test_grammar_compiles_in_llguidance(name: str) -> None:
    grammar = (ROOT / OutputPaths.in_project(name).grammar).read_text(encoding="utf-8")
    entries = ["root", TOOL_CALLS] if spec_of(name).tools else ["root"]
    for entry in entries:
        assert isinstance(compile_grammar(grammar, entry=entry), LlguidanceGrammar)


@pytest.mark.parametrize("name", KINDS)
def test_plain_words_are_content_or_reasoning(name: str) -> None:
    message = committed_format(name).module.parse("Just words.")
    said = message.content + message.reasoning_content
    assert said == "Just words."
    assert message.tool_calls == []
    json.dumps(message.to_dict())


def test_results_are_of_these_specs_and_this_generator() -> None:
    results = read_results(ROOT / "specs" / "verification.json")
    assert isinstance(results, dict)
    assert sorted(results) == NAMES
    for name, result in results.items():
        assert result.spec_hash == spec_hash(spec_of(name))
        assert result.generator == __version__


def test_every_template_passes_every_rung() -> None:
    results = read_results(ROOT / "specs" / "verification.json")
    assert isinstance(results, dict)
    failing = {
        name: {rung for rung in RUNGS if result.rungs[rung].failed or not result.rungs[rung].passed}
        for name, result in results.items()
    }
    assert {name: rungs for name, rungs in failing.items() if rungs} == {}


def test_every_branch_that_no_rendering_takes_is_listed_in_words() -> None:
    results = read_results(ROOT / "specs" / "verification.json")
    assert isinstance(results, dict)
    found = {name: result.coverage for name, result in results.items() if result.coverage}
    assert sorted(found) == NAMES
    told = re.compile(
        rf"line \d+, .+: (rendered with .+|(?P<left>out of reach: .+|{NEVER_RENDERED}))"
    )
    for name, coverage in found.items():
        lines = [told.fullmatch(line) for line in coverage.untaken]
        assert all(lines), name
        left = sum(bool(line and line["left"]) for line in lines)
        assert left == coverage.branches - coverage.rendered, name


def test_generated_modules_import_the_standard_library_alone() -> None:
    for path in sorted((ROOT / "generated").glob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        imported = {line.split()[1] for line in lines if line.startswith(("import ", "from "))}
        for name in imported - {"__future__"}:
            found = importlib.util.find_spec(name)
            assert found is not None
            assert "site-packages" not in (found.origin or ""), path
