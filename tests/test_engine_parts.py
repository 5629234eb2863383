"""Generated modules: a table of plain data, and the engine's parts as they stand in its files."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.generated_formats import (
    FORMATS,
    KINDS,
    ROOT,
    committed_format,
    committed_spec,
    is_compiled_format,
    parts_of,
    table_of,
)
from tests.parser_checks import stream
from turnspec import load
from turnspec.codegen.loading import load_table
from turnspec.codegen.parts import PARTS, join_parts, part_text
from turnspec.codegen.table import format_table
from turnspec.codegen.table_checks import table_problems
from turnspec.engine import ENGINE_VERSION
from turnspec.explain.samples import sample_turns
from turnspec.pipeline.project import OutputPaths

_LONGEST_TABLE = 100  # lines
_MEDIAN_TABLE = 60
_MOST_SWITCHES = 10
_LARGEST_ENGINE = 3950  # lines that aren't blank
_QUICK = 0.030  # seconds that an import may take above that of what it imports, on a busy machine


COPIED = [name for name in KINDS if not is_compiled_format(name)]


def source_of(name: str) -> str:
    return (ROOT / OutputPaths.in_project(name).module).read_text(encoding="utf-8")


def table_lines(name: str) -> int:
    """Return how many lines the table takes: it ends where a line is nothing but its bracket."""
    lines = source_of(name).splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("FORMAT: "))
    return lines.index("}", first) - first + 1


def switches(value: object, path: str = "") -> Iterator[str]:
    if isinstance(value, bool):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from switches(item, f"{path}.{key}")


@pytest.mark.parametrize("name", COPIED)
def test_each_part_stands_in_the_module_as_in_the_engine(name: str) -> None:
    source = source_of(name)
    places = []
    for part in parts_of(name):
        body = part_text(part).body
        engine = ROOT / "generator/turnspec/engine" / f"{part}.py"
        assert engine.read_text(encoding="utf-8").rstrip().endswith(body)
        assert source.count(body) == 1
        places.append(source.index(body))
    assert places == sorted(places)
    assert f"engine, version {ENGINE_VERSION}," in source


@pytest.mark.parametrize("name", KINDS)
def test_the_table_is_plain_data(name: str) -> None:
    module = committed_format(name).module
    table: Any = json.loads(json.dumps(table_of(name)))
    assert table == table_of(name)
    assert table_problems(table) == []
    kept = module.FORMAT if is_compiled_format(name) else table
    told = {key: table[key] for key in kept}
    assert told == module.FORMAT
    assert is_compiled_format(name) or table_lines(name) <= _LONGEST_TABLE


def test_tables_are_short_and_say_little_by_switches() -> None:
    lines = sorted(table_lines(name) for name in FORMATS if not is_compiled_format(name))
    assert lines[len(lines) // 2] <= _MEDIAN_TABLE
    used = {path for name in FORMATS for path in switches(format_table(committed_spec(name)))}
    assert len(used) <= _MOST_SWITCHES


def test_the_engine_is_no_larger_than_wanted() -> None:
    files = (ROOT / "generator/turnspec/engine").glob("*.py")
    lines = [line for file in files for line in file.read_text("utf-8").split("\n")]
    assert sum(bool(line.strip()) for line in lines) <= _LARGEST_ENGINE


@pytest.mark.parametrize("part", PARTS)
def test_a_part_names_none_that_may_be_missing(part: str) -> None:
    """What a part imports stands before it; everything else it uses, it is given."""
    needs = part_text(part).needs
    assert needs <= set(PARTS[: PARTS.index(part)])
    for name in FORMATS:
        chosen = parts_of(name)
        assert part not in chosen or needs <= set(chosen)


def test_no_two_parts_define_a_name() -> None:
    """In a module they stand in one file, where the later one would count for both."""
    defined: dict[str, str] = {}
    for part in PARTS:
        for name in defined_names(part):
            assert defined.setdefault(name, part) == part, name
    assert {"Markers", "is_name", "WHITE_SPACE"} <= set(defined)


def defined_names(part: str) -> Iterator[str]:
    for node in ast.parse(part_text(part).body).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (found for target in targets for found in ast.walk(target))
            yield from (found.id for found in names if isinstance(found, ast.Name))


def test_every_part_is_needed_by_some_format() -> None:
    used = {part for name in FORMATS for part in parts_of(name)}
    assert used == set(PARTS)


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


def test_a_spec_can_be_loaded_by_its_path(tmp_path: Path) -> None:
    loaded = load(ROOT / "specs/qwen3-coder.yaml")
    assert loaded.parse("Hi<|im_end|>").content == "Hi"
    broken = tmp_path / "broken.yaml"
    broken.write_text("- 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"broken\.yaml:1: "):
        load(broken)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"turn_end": "<end>"}, "turn_end: should be an array"),
        ({"turn_end": ["<{nme}>"]}, "turn_end.0: there is no slot {nme}; "),
        ({"turn_end": ["}"]}, "turn_end.0: a brace by itself; "),
        ({"order": [1]}, "order.0: should be text"),
        ({"reasoning": {"starts_open": 1}}, "reasoning.starts_open: should be true or false"),
        ({"calls": {"form": "x"}}, "calls.form: should be one of objects, heads"),
        ({"calls": {"form": "heads"}}, "arguments: is missing, as there are calls"),
        ({"colour": "red"}, "colour: there is no such field; "),
        ({"content": []}, "content: should have fields"),
        ({"header": {1}}, "not data that JSON can hold: "),
    ],
)
def test_what_is_no_table_is_refused(fields: dict[str, Any], problem: str) -> None:
    table: Any = {"name": "n", "header": "", "prompt": "", "order": ["content"], "turn_end": []}
    assert table_problems(table) == []
    table |= fields
    assert any(found.startswith(problem) for found in table_problems(table))
    with pytest.raises(ValueError, match=re.escape(problem)):
        load_table(table)


def test_a_module_is_imported_quickly(tmp_path: Path) -> None:
    """The least of a few, once compiled, above what the imports of the standard library take."""
    code = (
        "import re, json, sys, typing, dataclasses, collections.abc, functools, time\n"
        "start = time.process_time()\n"
        "from generated import minimax_m3\n"
        "print(time.process_time() - start)\n"
    )
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    command = [sys.executable, "-c", code]
    took = [float(subprocess.check_output(command, cwd=ROOT, env=environment)) for _ in range(6)]
    assert min(took) <= _QUICK


def test_a_module_imports_the_standard_library_alone() -> None:
    for name in {parts_of(name): name for name in FORMATS}.values():
        for node in ast.walk(ast.parse(source_of(name))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert all(found.partition(".")[0] in sys.stdlib_module_names for found in names)
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0


def test_the_joins_are_of_engine_classes() -> None:
    for name in KINDS:
        join = join_parts(table_of(name))
        for found in join.names() if join else ():
            assert importlib.util.find_spec("turnspec.engine") is not None
            assert callable(getattr(committed_format(name).module, found))
