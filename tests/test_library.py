"""`turnspec.load`: what commands take, programs take; and it costs little."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any, cast

import pytest

import turnspec
from tests.generated_formats import ROOT
from turnspec.grammar.request import GrammarRequest
from turnspec.library import LoadedFormat
from turnspec.spec.files import read_spec
from turnspec.spec.model import Spec

TOOL = {"name": "look_up", "parameters": {"properties": {"word": {"type": "string"}}}}
TEXT = "<tool_call>\n<function=look_up>\n</function>\n</tool_call>"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_known_format_by_its_name() -> None:
    fmt = turnspec.load("qwen3-coder")
    assert fmt.FORMAT["name"] == "qwen3-coder"
    assert fmt.parse(TEXT).tool_calls[0].name == "look_up"
    assert fmt.grammar == (ROOT / "generated/qwen3-coder.gbnf").read_text("utf-8")
    assert turnspec.load("Qwen3_Coder") is fmt


def test_a_guess_is_a_warning_where_the_name_is_written() -> None:
    with pytest.warns(UserWarning, match="is taken for qwen-qwen3-0-6b by its template") as told:
        fmt = turnspec.load("Qwen/Qwen3-8B")
    assert fmt.FORMAT["name"] == "qwen-qwen3-0-6b"
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="is taken for") as told:
        assert turnspec.grammar_binder("Qwen/Qwen3-8B").spec.name == "qwen-qwen3-0-6b"
    assert told[0].filename == __file__


@pytest.mark.parametrize("file", ["specs/qwen3-coder.yaml", "generated/qwen3_coder.py"])
def test_files_of_a_format(file: str) -> None:
    assert turnspec.load(ROOT / file).parse(TEXT).tool_calls[0].name == "look_up"


def test_a_spec_has_its_grammar_too() -> None:
    spec = read_spec(ROOT / "specs/qwen3-coder.yaml")
    assert isinstance(spec, Spec)
    made, known = turnspec.load(spec).grammar, turnspec.load("qwen3-coder").grammar
    assert made.partition("root ::=")[2] == known.partition("root ::=")[2]


def test_a_grammar_is_bound_to_tools() -> None:
    fmt = turnspec.load("qwen3-coder")
    bound = fmt.bind([TOOL], tool_choice="required")
    assert "look_up" in bound.grammar
    assert not bound.lazy
    named = {"type": "function", "function": {"name": "look_up"}}
    assert fmt.bind([TOOL], tool_choice=named) == fmt.bind([TOOL], tool_choice="look_up")
    with pytest.raises(ValueError, match="there is no tool"):
        fmt.bind([TOOL], tool_choice="other")
    with pytest.raises(ValueError, match="names no tool in function"):
        fmt.bind([TOOL], tool_choice={"type": "allowed_tools"})
    wrong: Any = "no"
    with pytest.raises(ValueError, match=r"^parallel: 'no' is not True or False$"):
        fmt.bind([TOOL], parallel=wrong)
    with pytest.raises(ValueError, match=r"^enable_thinking: 'no' is not True, False or None$"):
        fmt.bind([TOOL], enable_thinking=wrong)
    with pytest.raises(ValueError, match=r"^tools: None is not a list$"):
        fmt.bind(cast(list[Any], None))
    with pytest.raises(ValueError, match=r"^prefill: 3 is not a string or None$"):
        fmt.bind([TOOL], prefill=cast(str, 3))


def test_all_that_a_request_asks_for_is_an_option() -> None:
    """An editor shows them by the protocol; a grammar of one's own needs no binding."""
    asked = {it.name for it in fields(GrammarRequest)} - {"own_grammar", "thinking"}
    options = signature(LoadedFormat.bind).parameters.keys()
    assert options == asked | {"self", "enable_thinking"}


@pytest.mark.parametrize(
    ("fmt", "told"),
    [
        ("nothing-like-it", "no format is known as 'nothing-like-it'; [^;]*$"),
        ("Some/Nope-9B", "no format is known as .*; fetch=True asks the hub for it$"),
        ("glm", "'glm' may be glm-4-6, "),
        ("x.py", "x.py: there is no such file or folder"),
        (__file__, "is no parser that turnspec generated"),
        ("x.yaml", "x.yaml: there is no such file or folder"),
        ("x.gguf", "x.gguf: there is no such file or folder"),
        (cast(str, None), "^fmt: None is not a name, a path or a spec$"),
    ],
)
def test_what_stands_for_no_format(fmt: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        turnspec.load(fmt)


def test_a_module_alone_has_no_grammar() -> None:
    fmt = turnspec.load(ROOT / "generated/qwen3_coder.py")
    for wanted in (lambda: fmt.grammar, fmt.bind):
        with pytest.raises(ValueError, match="a parser alone has no grammar"):
            wanted()


def test_parsers_can_be_copied_and_pickled() -> None:
    parser = turnspec.load("qwen3-coder").Parser()
    parser.feed(TEXT[:40])
    for other in (copy.deepcopy(parser), pickle.loads(pickle.dumps(parser))):
        other.feed(TEXT[40:])
        other.finish()
        assert other.message.tool_calls[0].complete


def test_loading_imports_neither_the_analysis_nor_what_builds_modules() -> None:
    code = "import sys, turnspec; turnspec.load(sys.argv[1]); print(*sys.modules)"
    command = [sys.executable, "-W", "ignore", "-c", code, "Qwen/Qwen3-8B"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert not loaded & {"black", "jinja2", "click", "rich", "hypothesis", "httpx2"}
    own = {name.split(".")[1] for name in run.stdout.split() if name.startswith("turnspec.")}
    assert not own & {"analysis", "rendering", "verification", "grammar", "cli"}
    assert "turnspec.codegen.compiled" not in run.stdout.split()
