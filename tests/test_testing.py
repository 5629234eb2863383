"""The helper for tests of parsers: it passes what is right, and says what isn't."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.generated_formats import ROOT, committed_format
from tests.own_templates import FOLDER
from tests.specs_for_tests import json_native_spec, tag_with_json_spec, write_spec
from turnspec.codegen.format_module import FormatModule
from turnspec.testing import PIECES, Call, Message, check_case, parser_of

PAGE = (ROOT / "docs/test-a-parser.md").read_text(encoding="utf-8")
LOOK = Call("look", {"at": [1, {"x": "é"}]})
TEXT = 'Hm.<tool_call>\n{"name": "look", "arguments": {"at":[1,{"x":"é"}]}}\n</tool_call><|stop|>\n'


@pytest.fixture(scope="module")
def parser() -> FormatModule:
    return parser_of(json_native_spec())


def fault_of(parser: FormatModule, text: str, expect: Message, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        check_case(parser, text, expect=expect, **options)
    return str(caught.value)


def test_what_is_right_passes(parser: ModuleType) -> None:
    check_case(parser, TEXT, expect=Message("Hm.", calls=(LOOK,)))
    check_case(parser, "<think>\nWhy\n</think>\n\nSo.", expect=Message("So.", "Why"))
    check_case(parser, "", expect=Message())


def test_options_are_the_parsers(parser: ModuleType) -> None:
    check_case(parser, "Why\n</think>\n\nSo.", expect=Message("So.", "Why"), prefill="<think>\n")
    inline = Message("<think>\nWhy\n</think>\n\nSo.")
    check_case(parser, inline.content, expect=inline, reasoning="inline")


@pytest.mark.parametrize(
    ("expect", "part", "wanted"),
    [
        (Message("Hm"), "content", '"Hm"'),
        (Message("Hm.", "Why"), "reasoning", '"Why"'),
        (Message("Hm."), "calls", "[]"),
        (Message("Hm.", calls=(Call("look"),)), "calls", '[{"name": "look", "arguments": {}}]'),
        (Message("Hm.", calls=(LOOK, LOOK)), "calls", ""),
    ],
)
def test_what_differs_is_told(parser: ModuleType, expect: Message, part: str, wanted: str) -> None:
    fault = fault_of(parser, TEXT, expect)
    assert fault.startswith(f"parse: {part}\n  wanted {wanted}")


def test_problems_must_be_expected(parser: ModuleType) -> None:
    text = "<think>\nWhy"
    check_case(parser, text, expect=Message("", "Why"), problems=["unclosed"])
    assert fault_of(parser, text, Message("", "Why")) == (
        'parse: problems\n  wanted []\n  found  ["unclosed"]\n  text   "<think>\\nWhy"'
    )
    assert fault_of(parser, text, Message("Why")) == (
        'parse: reasoning\n  wanted ""\n  found  "Why"\n  text   "<think>\\nWhy"\n'
        '  told   ["unclosed"]'
    )
    fault = fault_of(parser, "Hi", Message("Hi"), problems=["unclosed"])
    assert fault.startswith('parse: problems\n  wanted ["unclosed"]\n  found  []\n')


def test_ids_are_compared_where_they_are_given() -> None:
    parser = parser_of(tag_with_json_spec())
    text = '[CALL]look[ID]abc[ARGS]{"x": 1}</s>'
    check_case(parser, text, expect=Message(calls=(Call("look", {"x": 1}),)))
    check_case(parser, text, expect=Message(calls=(Call("look", {"x": 1}, "abc"),)))
    fault = fault_of(parser, text, Message(calls=(Call("look", {"x": 1}, "abd"),)))
    assert '"id": "abd"' in fault
    assert '"id": "abc"' in fault


class Chunked:
    """A parser that reads a text right as a whole, but not in pieces of a given length."""

    def __init__(self, parser: Any, wrong: int, in_events: bool) -> None:
        self.parser, self.wrong, self.in_events = parser, wrong, in_events

    def feed(self, piece: str) -> Any:
        if len(piece) != self.wrong:
            return self.parser.feed(piece)
        if self.in_events:
            return self.parser.feed(piece)[1:]
        return self.parser.feed(piece.upper())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.parser, name)


@pytest.mark.parametrize("size", PIECES)
@pytest.mark.parametrize("in_events", [False, True])
def test_every_length_of_pieces_is_tried(parser: FormatModule, size: int, in_events: bool) -> None:
    other = ModuleType("wrong")
    other.__dict__["parse"] = parser.parse
    other.__dict__["Parser"] = lambda **options: Chunked(parser.Parser(**options), size, in_events)
    text = "some words of content, 33 letters"
    way = f"the events in pieces of {size}" if in_events else f"in pieces of {size}"
    assert fault_of(other, text, Message(text)).startswith(f"{way}: content\n")


def test_all_that_stands_for_a_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_spec(tmp_path, json_native_spec())
    module = ROOT / "generated/qwen3_coder.py"
    end = "<|im_end|>"
    check_case(tmp_path / "json-native.yaml", "Hi<|stop|>", expect=Message("Hi"))
    check_case(str(module), f"Hi{end}", expect=Message("Hi"))
    check_case(committed_format("qwen3-coder").spec, f"Hi{end}", expect=Message("Hi"))
    monkeypatch.chdir(tmp_path)  # a known format is known anywhere
    check_case("Qwen3-Coder", f"Hi{end}", expect=Message("Hi"))
    with pytest.warns(UserWarning, match=r"is taken for qwen3-coder by its template"):
        check_case("Qwen/Qwen3-Coder-30B-A3B-Instruct", f"Hi{end}", expect=Message("Hi"))


def test_a_template_stands_for_its_parser() -> None:
    check_case(FOLDER / "plain-content.jinja", "Hi!<:end:>\n", expect=Message("Hi!"))


def test_what_stands_for_no_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.yaml").write_text("- 1\n", encoding="utf-8")
    (tmp_path / "bad.jinja").write_text("{% if %}", encoding="utf-8")

    def fault(fmt: str | Path) -> str:
        with pytest.raises(ValueError, match=r"\S") as caught:
            parser_of(fmt)
        return str(caught.value)

    monkeypatch.chdir(ROOT)
    known = "apertus-8b-instruct or swiss-ai-apertus-8b-instruct-2509"
    assert fault("apertos") == f"no format is known as 'apertos'; did you mean {known}?"
    assert fault(tmp_path / "x.py") == f"{tmp_path / 'x.py'}: there is no such file or folder"
    assert fault(tmp_path / "bad.yaml").startswith(f"{tmp_path / 'bad.yaml'}:1: ")
    assert fault(tmp_path / "bad.jinja").startswith("bad.jinja:1: syntax error: ")
    monkeypatch.chdir(tmp_path)
    assert fault("x") == "no format is known as 'x'; turnspec list shows all that are"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_pages_example_is_a_test_that_passes(tmp_path: Path) -> None:
    file = tmp_path / "test_formats.py"
    file.write_text(blocks("python")[0], encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=100, env=environment
    )
    assert "3 passed" in done.stdout
    assert done.returncode == 0


def test_the_pages_failure_is_what_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[1]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.endswith(next(b for b in blocks("") if b.startswith("AssertionError")))
