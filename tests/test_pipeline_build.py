"""One template's build: our own templates up the whole ladder, and builds that fail.

Its first rungs, where the template has a part, are tried on all of them in test_analysis_golden.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import cast

import pytest

from tests.generated_formats import EVERY_FORMAT
from tests.own_templates import given_template, kinds, own_template
from turnspec.analysis.source import TemplateSource
from turnspec.codegen.loading import load, load_module
from turnspec.pipeline.build import build_template
from turnspec.pipeline.processes import Task, build_in_processes
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.starting import process_context
from turnspec.spec.files import load_spec
from turnspec.spec.model import Spec
from turnspec.spec.results import RUNGS
from turnspec.verification import grammar_rung
from turnspec.verification.rungs import DEFAULT_MESSAGES

#: With fewer than usual, cuts and walks are fewer, too; long runs take all.
MESSAGES = DEFAULT_MESSAGES if EVERY_FORMAT else 15

#: Those whose fault not every 162 walks come upon, so that they may pass.
SELDOM_SEEN = {
    "invented-minutes": "a bare word goes on with the marker of what stands behind the call",
}


@pytest.mark.long
@pytest.mark.parametrize("name", SELDOM_SEEN)
def test_a_fault_that_is_seldom_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If none of these walks shows it any more, it was mended, or walks have become blind."""
    paths = OutputPaths.in_folder(name)
    build = build_template(own_template(name), paths)
    spec = load_spec(build.files[paths.spec], paths.spec)
    assert isinstance(spec, Spec)
    shown = []
    for seed in range(12):
        monkeypatch.setattr(grammar_rung, "_SEED", seed)
        found = grammar_rung.walk_faults(spec, load(spec), build.files[paths.grammar])
        shown += [fault for fault in found if fault is not None]
    assert shown


def test_fewer_messages_make_cuts_and_walks_fewer() -> None:
    totals = []
    for messages in (5, DEFAULT_MESSAGES, 2 * DEFAULT_MESSAGES):
        paths = OutputPaths.in_folder("given")
        result = build_template(own_template("tagged-parameters"), paths, messages=messages).result
        assert result is not None
        totals.append([result.rungs[rung].total for rung in ("2", "3")])
    few, usual, many = totals
    assert all(0 < fewer < all_of_them for fewer, all_of_them in zip(few, usual, strict=True))
    assert many == usual


@pytest.mark.parametrize("name", sorted({*kinds(), "invented-many-roles"} - {*SELDOM_SEEN}))
def test_our_own_templates_pass_every_rung(name: str) -> None:
    build = build_template(own_template(name), OutputPaths.in_folder(name), messages=MESSAGES)
    assert build.problems == ()
    assert build.result is not None
    assert tuple(build.result.rungs) == tuple(RUNGS)
    assert [rung for rung, found in build.result.rungs.items() if not found.is_passed] == []


def test_a_build_without_messages_has_no_result() -> None:
    paths = OutputPaths.in_folder("plain-content")
    build = build_template(own_template("plain-content"), paths)
    assert build.result is None
    assert set(build.files) == {paths.spec, paths.module, paths.grammar}


def test_two_builds_are_equal() -> None:
    paths = OutputPaths.in_folder("json-in-tags")
    first, second = (build_template(own_template("json-in-tags"), paths) for _ in range(2))
    assert first == second


def test_a_build_that_fails_has_a_problem_and_no_files() -> None:
    build = build_template(given_template("{% if %}"), OutputPaths.in_folder("given"), messages=1)
    assert (build.files, build.result) == ({}, None)
    assert [problem.line for problem in build.problems] == [1]


def test_a_generated_module_can_be_loaded_from_its_text() -> None:
    paths = OutputPaths.in_folder("plain-content")
    text = build_template(own_template("plain-content"), paths).files[paths.module]
    message = load_module(text).parse("Hello!<:end:>\n")
    assert message.to_dict() == {"role": "assistant", "content": "Hello!"}


def test_builds_start_with_what_tests_have_loaded() -> None:
    """Else each compiles the same again; the tests take longer, and nothing else tells of it."""
    compiled = "__import__('turnspec.codegen.compiled').codegen.compiled"
    with process_context("tests.loaded_builds").Pool(1) as pool:
        assert pool.apply(eval, (f"{compiled}._common_source.cache_info().currsize",)) > 0


class Deadly(TemplateSource):
    """A template that ends the process in which it arrives."""

    def __reduce__(self) -> tuple[Callable[[int], object], tuple[int]]:
        return os._exit, (1,)


def test_a_process_that_ends_spoils_no_other_build() -> None:
    deadly = Deadly("deadly", "", "deadly.jinja", "local", {})
    sources = [deadly, *(own_template(name) for name in ("plain-content", "name-as-key"))]
    tasks = [Task(source, OutputPaths.in_folder(source.name), None) for source in sources]
    builds = build_in_processes(tasks, 2)
    assert {build.name: [str(problem) for problem in build.problems] for build in builds} == {
        "deadly": ["deadly.jinja: the process that built it ended (out of memory?)"],
        "plain-content": [],
        "name-as-key": [],
    }


def test_a_defect_of_ours_is_a_problem_of_that_template() -> None:
    odd = TemplateSource("odd", "", "odd.jinja", "local", cast("dict[str, str]", 7))
    sources = [odd, own_template("plain-content")]
    tasks = [Task(source, OutputPaths.in_folder(source.name), None) for source in sources]
    builds = build_in_processes(tasks, 1)
    assert [str(problem) for build in builds for problem in build.problems] == [
        "odd.jinja: internal error: TypeError: 'int' object is not a mapping"
    ]
