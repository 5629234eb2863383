"""What type checkers say of a parser in somebody's project, as strict as they can be."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections import Counter
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from tests.generated_formats import (
    EVERY_FORMAT,
    FORMATS,
    NAMES,
    PARTS,
    committed_spec,
    module_source,
)
from tests.typescript.toolchain import node as node_program
from tests.typescript.toolchain import tool
from turnspec import engine
from turnspec.codegen.compiled import COMMON, OWN
from turnspec.codegen.shared import engine_text
from turnspec.protocol import PROBLEM_KINDS

_OLDEST_PYTHON = "3.10"


def test_pyright_finds_nothing_but_what_is_wrong(tmp_path: Path) -> None:
    """In parsers, in its strict mode; and in a shared engine where it is not strict.

    What parsers have for themselves is Any there.
    """
    parsers = tmp_path / "parsers"
    parsers.mkdir()
    for name in NAMES if EVERY_FORMAT else PARTS:
        (parsers / f"{name.replace('-', '_')}.py").write_text(module_source(name), "utf-8")
    (tmp_path / "turnspec_engine.py").write_text(engine_text(), encoding="utf-8")
    for folder in (parsers, tmp_path):
        (folder / "wrong.py").write_text("x: int = ''\ny = [][0]\n", encoding="utf-8")
    told = said_by_pyright(tmp_path, {"typeCheckingMode": "standard", "strict": ["parsers"]})
    no_int = """Type "Literal['']" is not assignable to declared type "int\""""
    assert sorted(line.split("\n")[0] for line in told) == [
        f"{parsers / 'wrong.py'}: {no_int}",
        f'{parsers / "wrong.py"}: Type of "y" is unknown',
        f"{tmp_path / 'wrong.py'}: {no_int}",
    ]


def said_by_pyright(folder: Path, options: Mapping[str, object]) -> list[str]:
    """Return what pyright says of a folder's files, with some options."""
    options = {**options, "pythonVersion": _OLDEST_PYTHON}
    (folder / "pyrightconfig.json").write_text(json.dumps(options), encoding="utf-8")
    command = [node_program(), str(tool("pyright")), "--project", str(folder), "--outputjson"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    return [f"{each['file']}: {each['message']}" for each in told["generalDiagnostics"]]


def test_the_kinds_of_problems_are_those_of_the_protocol() -> None:
    kinds: set[str] = set()
    for name in FORMATS:
        kinds |= kinds_in(module_source(name))
    assert kinds == set(PROBLEM_KINDS)


def test_a_parser_names_the_kinds_that_it_tells_and_no_others() -> None:
    no_calls = module_source(next(name for name in FORMATS if not committed_spec(name).tools))
    assert kinds_in(no_calls) == {"repeated", "text_after_end", "cut_off", "stray_marker"}


def kinds_in(source: str) -> set[str]:
    """Return the kinds of problems that a module's types name."""
    lines = re.findall(r"^    (?:Of\w+|ProblemKind) = (.*)", source, re.MULTILINE)
    return set(re.findall(r'"(\w+)"', " ".join(lines)))


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
