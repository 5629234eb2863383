"""The engine as modules hold it, and as it runs in memory; facts as scripts hold them."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.generated_formats import (
    FORMATS,
    KINDS,
    ROOT,
    committed_format,
    committed_spec,
    facts_of_format,
    module_source,
)
from tests.parser_checks import stream
from tests.parser_formats import NAME_LAST, XML
from tests.small_formats import FORMATS as SMALL
from turnspec import load
from turnspec.codegen.compiled import COMMON, OWN, compiled_source
from turnspec.codegen.facts import facts_of
from turnspec.codegen.typescript import Script, script_text
from turnspec.explain.samples import sample_turns
from turnspec.spec.model import Limit
from turnspec.spec.words import Condition, Subject, Verdict

ENGINE = ROOT / "generator/turnspec/engine"
_LONGEST_TABLE = 308  # lines, as scripts have it
_MEDIAN_TABLE = 152
_MOST_SWITCHES = 10
_LARGEST_ENGINE = 4526
_QUICK = 0.030  # seconds that an import may take above that of what it imports, on a busy machine


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Yield the engine's files, each with its tree."""
    for path in sorted(ENGINE.glob("*.py")):
        yield path.stem, ast.parse(path.read_text(encoding="utf-8"))


def defined_names(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that a file defines, those for type checkers included."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.If):
            yield from defined_names(node.body)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (found for target in targets for found in ast.walk(target))
            yield from (found.id for found in names if isinstance(found, ast.Name))


def imported_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that a file imports, each with what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            yield from ((name.asname or name.name, module + name.name) for name in node.names)


def test_no_two_files_define_a_name() -> None:
    """In a module they stand in one file, where the later one would count for both."""
    defined: dict[str, str] = {}
    for file, tree in trees():
        for name in {*defined_names(tree.body)} - {"TYPE_CHECKING"}:
            assert defined.setdefault(name, file) == file, name
    assert {"Parser", "Reading", "WHITE_SPACE", "HAS_CALLS", "read_turn"} <= set(defined)


def test_a_name_that_is_imported_means_the_same_in_all_files() -> None:
    defined = {name: file for file, tree in trees() for name in defined_names(tree.body)}
    imported: dict[str, str] = {}
    for _, tree in trees():
        for name, source in imported_names(tree):
            assert imported.setdefault(name, source) == source, name
            file = defined.get(name, "")
            assert not file or source == f"turnspec.engine.{file}.{name}"


def test_every_file_is_part_of_modules() -> None:
    assert {file for file, _ in trees()} == {*OWN, *COMMON, "facts", "__init__"}


def test_every_function_is_part_of_some_module() -> None:
    """What nothing reaches with any format's facts is of no use.

    No committed one has a tail, escapes in values, or calls that are shown by their ids alone.
    """
    nodes = (node for _, tree in trees() for node in ast.walk(tree))
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    id_alone = Limit(Subject.CALL_ID, Verdict.AMBIGUOUS, Condition.ALWAYS, "names the tool")
    named_by_id = replace(XML, limits=(id_alone,))
    others = map(facts_of, (SMALL["tail"], SMALL["entities"], NAME_LAST, named_by_id))
    sources = [*map(module_source, FORMATS), *map(compiled_source, others)]
    found: set[str] = set()
    for source in sources:
        found |= {*re.findall(r"^ *(?:def |class |(?=Role = ))(\w+)", source, re.MULTILINE)}
    assert (own - found, found - own) == (set(), set())


@pytest.mark.parametrize("name", ["glm-4-6", "lfm2-8b-a1b", "kimi-k2-instruct", "qwen-qwen3-0-6b"])
def test_what_a_parser_notes_may_be_otherwise(name: str) -> None:
    """An attribute that is only ever given one and the same constant decides nothing."""
    given: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(compiled_source(facts_of(committed_spec(name))))):
        values = [*ast.iter_child_nodes(node)][-1:]
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For):
            targets = [node.target]
        first = targets[0] if targets else None
        if isinstance(first, ast.Tuple):
            values = list(getattr(values[0], "elts", values * 9))
            targets = first.elts
        for target, value in zip(targets, values * len(targets), strict=False):
            if isinstance(target, ast.Attribute):
                is_known = isinstance(value, ast.Constant) and not isinstance(node, ast.AugAssign)
                given.setdefault(target.attr, set()).add(ast.dump(value) if is_known else "?")
    same = {attribute for attribute, found in given.items() if len(found) == 1 and "?" not in found}
    # Formats with text as values share it: some have words that tell a value's type.
    assert same <= {"is_told"}


def test_the_engine_is_no_larger_than_wanted() -> None:
    lines = [line for file in ENGINE.glob("*.py") for line in file.read_text("utf-8").split("\n")]
    assert sum(bool(line.strip()) for line in lines) <= _LARGEST_ENGINE


# What scripts have of a format


def table_lines(name: str) -> int:
    """Return how many lines a script's table takes."""
    facts = facts_of_format(name)
    text = script_text(module_source(name), facts, Script.JAVASCRIPT, shared=True)
    return text[text.index("const MODULE = ") :].partition("\n\n")[0].count("\n") + 1


def test_white_space_is_the_same_in_all_languages() -> None:
    r"""What `\s` stands for isn't, as of U+0085 and U+FEFF; with `\S` beside it, it is anything."""
    for name in FORMATS:
        source = module_source(name).replace(r"\\s\\S", "").replace(r"\s\S", "")
        assert r"\s" not in source.lower(), name


def test_tables_are_short() -> None:
    lines = sorted(table_lines(name) for name in KINDS)
    assert lines[-1] <= _LONGEST_TABLE
    assert lines[len(lines) // 2] <= _MEDIAN_TABLE


# Formats in memory


@pytest.mark.parametrize("name", KINDS)
def test_a_format_in_memory_does_what_its_module_does(name: str) -> None:
    spec, module = committed_format(name).spec, committed_format(name).module
    in_memory: Any = load(spec)
    for sample in sample_turns(spec):
        text = sample.text.removeprefix(spec.turn.header)
        for turn in (text, text[: len(text) // 2], f"{text} more"):
            pieces = [turn[start : start + 3] for start in range(0, len(turn), 3)]
            assert told(in_memory, pieces) == told(module, pieces)


def told(module: Any, pieces: list[str]) -> tuple[str, str]:
    message, events = stream(module, pieces)
    shown = [(event.type, event.start, event.end, event.to_delta()) for event in events]
    return repr(message), repr(shown)


def test_formats_in_memory_know_nothing_of_each_other() -> None:
    """They run one engine, each with facts of its own."""
    first = load(committed_spec("qwen3-coder"))
    turn = "<tool_call>\n<function=look>\n</function>\n</tool_call>"
    before = first.parse(turn)
    second = load(committed_spec("google-gemma-2-2b-it"))
    assert second.parse(turn).tool_calls == []
    assert first.parse(turn) == before
    assert [call.name for call in before.tool_calls] == ["look"]


def test_a_spec_can_be_loaded_by_its_path(tmp_path: Path) -> None:
    loaded = load(ROOT / "specs/qwen3-coder.yaml")
    assert loaded.parse("Hi<|im_end|>").content == "Hi"
    broken = tmp_path / "broken.yaml"
    broken.write_text("- 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"broken\.yaml:1: "):
        load(broken)


# Modules


def test_a_module_is_imported_quickly(tmp_path: Path) -> None:
    """The least of a few, once compiled, above what the imports of the standard library take."""
    code = (
        "import re, json, sys, typing, enum, collections.abc, functools, time\n"
        "start = time.process_time()\n"
        "from generated import minimax_m3\n"
        "print(time.process_time() - start)\n"
    )
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    command = [sys.executable, "-c", code]
    took = [float(subprocess.check_output(command, cwd=ROOT, env=environment)) for _ in range(6)]
    assert min(took) <= _QUICK
