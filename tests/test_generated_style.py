"""The committed modules look as if written by hand, to black: what they say alone, and the engine.

What follows the table is the same text in all modules that need the same parts of the engine, which
are files that `make lint` looks at. So black reads one module whole, with the most parts, and of
others what stands before the engine. In the long runs it reads all of them whole. ruff takes the
little time that it needs for all in any case (`make lint`), and test_protocol has mypy look at one
of each class.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import black
import pytest
from black.mode import TargetVersion

from tests.generated_formats import (
    EVERY_FORMAT,
    FORMATS,
    KINDS,
    NAMES,
    is_compiled_format,
    module_source,
    parted,
    parts_of,
)
from turnspec.codegen.compiled import BEGINS_COMMON, PUBLIC

_MOST_COMMON_PARTS = 12
MODE = black.Mode(line_length=100, target_versions={TargetVersion.PY310})
COPIED = [name for name in NAMES if not is_compiled_format(name)]
COMPILED = [name for name in NAMES if is_compiled_format(name)]
WHOLE = (
    COPIED
    if EVERY_FORMAT
    else [max(sorted({*FORMATS} & {*COPIED}), key=lambda name: len(parts_of(name)))]
)


def test_modules_with_the_same_parts_have_the_same_engine() -> None:
    engines = {(parts_of(name), parted(module_source(name))[1]) for name in COPIED}
    assert len(engines) == len({parts for parts, _ in engines})


@pytest.mark.parametrize("name", WHOLE)
def test_a_module_is_formatted(name: str) -> None:
    source = module_source(name)
    assert black.format_str(source, mode=MODE) == source


@pytest.mark.parametrize("name", [name for name in KINDS if name in COPIED])
def test_what_a_module_says_of_its_format_is_formatted(name: str) -> None:
    head, _ = parted(module_source(name))
    assert black.format_str(head, mode=MODE) == head


@pytest.mark.parametrize("name", COMPILED if EVERY_FORMAT else COMPILED[::12])
def test_a_compiled_module_is_formatted_by_default_settings(name: str, tmp_path: Path) -> None:
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
    mode = black.Mode(target_versions={TargetVersion.PY310})
    assert black.format_str(module_source(name), mode=mode) == module_source(name)


@pytest.mark.parametrize("name", [name for name in KINDS if name in COMPILED])
def test_a_compiled_module_shows_no_more_than_its_format_needs(name: str) -> None:
    """Each name that it defines is used, and its common part is the same as in its neighbours."""
    source = module_source(name)
    tree = ast.parse(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    defined = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    public = {*PUBLIC, "finish_reason", "to_dict", "to_delta", "feed", "finish", "message"}
    unused = {node.name for node in defined if not node.name.startswith("__")} - used - public
    assert unused == set()


def test_compiled_modules_share_a_few_common_parts() -> None:
    common = {module_source(name).partition(BEGINS_COMMON)[2] for name in COMPILED}
    assert "" not in common
    assert len(common) <= _MOST_COMMON_PARTS
