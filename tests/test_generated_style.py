"""The committed modules look as if written by hand, to a formatter and a linter of any project.

What follows `BEGINS_COMMON` is the same text in all modules of a class. So black reads one module
of each class whole, and of others what stands before that. In the long runs it reads all of them
whole. ruff takes the little time that it needs for all in any case (`make lint`), and test_protocol
has mypy look at one of each class.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import black
import pytest
from benchmarks.module_limits import COMMON_TEXTS
from black.mode import TargetVersion

from tests.generated_formats import (
    EVERY_FORMAT,
    FORMATS,
    KINDS,
    NAMES,
    common_part,
    first_of_each,
    installed_module,
    module_source,
)
from turnspec.codegen.compiled import BEGINS_COMMON

_MODE = black.Mode(target_versions={TargetVersion.PY310})
_WHOLE = NAMES if EVERY_FORMAT else first_of_each(FORMATS, {n: common_part(n) for n in FORMATS})


_ROW_OF_ONE = re.compile(r"^ +\*\([^(),\n]+,\),$", re.MULTILINE)


def laid_out(source: str) -> str:
    """Return a module as black lays it out, by what stands between two empty lines each."""
    return "\n\n\n".join(map(_block_laid_out, source.removesuffix("\n").split("\n\n\n"))) + "\n"


@cache  # modules share most of these
def _block_laid_out(block: str) -> str:
    return black.format_str(f"{block}\n", mode=_MODE).removesuffix("\n")


@pytest.mark.parametrize("name", _WHOLE)
def test_a_module_is_formatted_by_default_settings(name: str, tmp_path: Path) -> None:
    """Of whoever vendors it: 88 columns, and the rules that ruff has without being asked."""
    path = tmp_path / "parser.py"
    path.write_text(module_source(name), encoding="utf-8")
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", path],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
    assert laid_out(module_source(name)) == module_source(name)


@pytest.mark.parametrize("name", [name for name in KINDS if name not in _WHOLE])
def test_what_a_module_says_of_its_format_is_formatted(name: str) -> None:
    own = module_source(name).partition(f"\n\n\n{BEGINS_COMMON}")[0] + "\n"
    assert laid_out(own) == own


def test_blocks_are_laid_out_as_a_whole_module_is() -> None:
    source = module_source(_WHOLE[0])
    assert black.format_str(source, mode=_MODE) == source
    for wrong in ("x = 1\n\n\n\ny = 2\n", "x = 1\ndef f(): ...\n", "x = 1\n\n\nx = 'a'\n"):
        assert laid_out(wrong) != wrong


def test_no_row_of_a_table_is_a_tuple_of_one() -> None:
    assert _ROW_OF_ONE.search('X = (\n    *("a", "b"),\n    *(" {stop}",),\n)\n')
    for name in NAMES:
        assert _ROW_OF_ONE.findall(module_source(name)) == [], name


def test_modules_share_a_few_common_parts() -> None:
    common = {common_part(name) for name in NAMES}
    assert "" not in common
    assert len(common) <= COMMON_TEXTS


def test_functions_can_be_read_at_once() -> None:
    """They have 30 lines at most, docstrings apart."""
    parts = {part for name in FORMATS for part in module_source(name).split("\n\n\n")}
    found = (
        node
        for part in parts
        if part.count("\n") > 30
        for node in ast.walk(ast.parse(part))
        if isinstance(node, ast.FunctionDef)
    )
    lines = {(node.name, _lines_of_body(node)) for node in found}
    assert {(name, count) for name, count in lines if count > 30} == set()


def _lines_of_body(function: ast.FunctionDef) -> int:
    """Return how many lines a function has behind its signature and its docstring."""
    at = 1 if ast.get_docstring(function) else 0
    return (function.end_lineno or 0) - function.body[at].lineno + 1


def test_lines_are_no_longer_than_wanted() -> None:
    """Texts of templates can't be cut everywhere; what is the engine's is."""
    for common in {common_part(name) for name in NAMES}:
        assert max(map(len, common.splitlines())) <= 100


#: Brackets that black adds, as a comment leaves no room on the line.
_BROKEN_BY_A_COMMENT = re.compile(r"= \(\n.*  # .*\n *\)$|\n *\):?  # .*", re.MULTILINE)


def test_no_statement_is_broken_for_its_comment() -> None:
    assert _BROKEN_BY_A_COMMENT.search("inline = (\n    False  # why\n)\n")
    assert _BROKEN_BY_A_COMMENT.search("while (\n    start < end\n):  # why\n    pass\n")
    for name in NAMES:
        assert _BROKEN_BY_A_COMMENT.findall(module_source(name)) == [], name


#: A heading, comments between empty lines, and another one in the place of what it announces.
_EMPTY_SECTION = re.compile(r"^(# .*\n)+\n+(?=(# .*\n)+\n)", re.MULTILINE)


def test_no_section_is_empty() -> None:
    assert _EMPTY_SECTION.search("# What this is.\n\n\n# What that is.\n\nX = 1\n")
    for name in NAMES:
        assert not _EMPTY_SECTION.search(module_source(name)), name


def test_no_rule_says_twice_what_may_follow() -> None:
    tables = [table for name in NAMES for table in vars(installed_module(name)).values()]
    rules = [row for table in tables if isinstance(table, tuple) for row in table]
    followers = [row.if_before for row in rules if type(row).__name__ == "Rule"]
    assert len(followers) > len(NAMES)
    assert [each for each in followers if len({*each}) < len(each)] == []
