"""What type checkers say of a parser in somebody's project, as strict as they can be."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections import Counter
from importlib import resources
from pathlib import Path

from tests.generated_formats import EVERY_FORMAT, KINDS, NAMES, module_source
from tests.typescript.toolchain import node as node_program
from tests.typescript.toolchain import tool
from turnspec import engine
from turnspec.codegen.compiled import COMMON, OWN
from turnspec.codegen.shared import engine_text
from turnspec.protocol import PROBLEM_KINDS

_OLDEST_PYTHON = "3.10"


def test_pyright_finds_nothing_in_a_parser(tmp_path: Path) -> None:
    for name in NAMES if EVERY_FORMAT else KINDS:
        (tmp_path / f"{name.replace('-', '_')}.py").write_text(module_source(name), "utf-8")
    assert said_by_pyright(tmp_path, "strict") == []


def test_pyright_finds_nothing_in_a_shared_engine_but_what_is_wrong_beside_it(
    tmp_path: Path,
) -> None:
    """Where it is not strict: what parsers have for themselves is Any there."""
    (tmp_path / "turnspec_engine.py").write_text(engine_text(), encoding="utf-8")
    (tmp_path / "wrong.py").write_text("x: int = ''\n", encoding="utf-8")
    (told,) = said_by_pyright(tmp_path, "standard")
    assert told.startswith(f"{tmp_path / 'wrong.py'}: ")


def said_by_pyright(folder: Path, mode: str) -> list[str]:
    """Return what pyright says of a folder's files in one of its modes."""
    options = {"typeCheckingMode": mode, "pythonVersion": _OLDEST_PYTHON}
    (folder / "pyrightconfig.json").write_text(json.dumps(options), encoding="utf-8")
    command = [node_program(), str(tool("pyright")), "--project", str(folder), "--outputjson"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    return [f"{each['file']}: {each['message']}" for each in told["generalDiagnostics"]]


def test_the_kinds_of_problems_are_those_of_the_protocol() -> None:
    source = module_source(KINDS[0])
    text = source[source.index("    OfText = ") : source.index("\n    ProblemKind = ")]
    kinds = re.findall(r'"(\w+)"', text)
    assert sorted(kinds) == sorted(PROBLEM_KINDS)


def test_no_two_files_of_the_engine_define_the_same_name() -> None:
    """As all of them become one module."""
    names: list[str] = []
    for file in (*OWN, *COMMON):
        text = resources.files(engine).joinpath(f"{file}.py").read_text("utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.append(node.name)
            elif isinstance(node, ast.Assign):
                names += [ast.unparse(target) for target in node.targets]
    twice = {name for name, count in Counter(names).items() if count > 1}
    assert twice == {"TYPE_CHECKING"}
