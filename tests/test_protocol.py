"""All generated modules are formats as `turnspec.protocol` has them, to a type checker too."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import api_page
from tests.generated_formats import (
    EVERY_FORMAT,
    KINDS,
    NAMES,
    ROOT,
    committed_format,
    common_part,
    facts_of_format,
    first_of_each,
)
from turnspec import load, protocol
from turnspec.codegen.format_module import FormatModule
from turnspec.pipeline.project import OutputPaths
from turnspec.protocol import PROBLEM_KINDS, Format

MODULES = sorted(path.stem for path in (ROOT / "generated").glob("*.py"))
#: One module of each class: its common part is the same text in all others of it.
CLASSES = [
    Path(OutputPaths.in_project(name).module).stem
    for name in first_of_each(NAMES, {name: common_part(name) for name in NAMES})
]
MYPY_TAKES = 200  # seconds, at most
if EVERY_FORMAT:
    CLASSES, MYPY_TAKES = MODULES, 900


CALLED = "<tool_call>\n<function=look_up>\n</function>\n</tool_call>\n"
#: What a user's files say, by name, and what mypy has to say of them, strict as can be.
USES = {
    "table": f"""\
import turnspec.protocol
from generated import {", ".join(CLASSES)}

formats: dict[str, turnspec.protocol.Format] = {{
    {", ".join(f'"{name}": {name}' for name in CLASSES)}
}}
for name, fmt in formats.items():
    parser = fmt.Parser(tools=[], id_prefix=name)
    for event in [*parser.feed("Hello!"), *parser.finish()]:
        if event.type == "content":
            print(event.text)
        elif event.type == "tool_call_start":
            print(event.name)
    print(parser.message.finish_reason, fmt.parse("Hello!", echo=True).content)
""",
    "misuse": """\
from generated import qwen3_coder
from turnspec.pipeline.project import OutputPaths
from turnspec.protocol import Format

fmt: Format = qwen3_coder
qwen3_coder.parse("x", tolls=[])
fmt.parse("x", tolls=[])
fmt.Parser(reasoning="no")
fmt.parse("x").content = "y"
""",
}
MISUSED = [
    'Unexpected keyword argument "tolls" for "parse"; did you mean "tools"?',
    'Unexpected keyword argument "tolls" for "parse" of "Format"; did you mean "tools"?',
    'Argument "reasoning" to "Parser" of "Format" has incompatible type "Literal[\'no\']"; '
    "expected \"Literal['extract', 'inline']\"",
    'Property "content" defined in "Message" is read-only',
]


@pytest.mark.timeout(MYPY_TAKES + 100)
def test_what_a_type_checker_says(tmp_path: Path) -> None:
    """Nothing of a table of modules, one of each class."""
    assert len(MODULES) == len(NAMES)
    for name, code in USES.items():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    options = ("--strict", "--explicit-package-bases", "--no-error-summary", "--hide-error-codes")
    kept = f"--cache-dir={ROOT / 'build' / 'mypy'}"  # of an earlier run
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, kept, "."],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": os.pathsep.join([str(ROOT), str(ROOT / "generator")])},
        capture_output=True,
        text=True,
        timeout=MYPY_TAKES,
    )
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [line.partition(" error: ")[2] for line in lines] == MISUSED, done.stdout + done.stderr
    assert all(line.startswith("misuse.py:") for line in lines)


def module_of(name: str) -> FormatModule:
    return committed_format(name).module


@pytest.mark.parametrize("name", KINDS)
def test_the_options_are_those_of_the_protocol(name: str) -> None:
    wanted = [*inspect.signature(Format.Parser).parameters.values()][1:]
    module = module_of(name)
    parse = inspect.signature(module.parse)
    assert [*inspect.signature(module.Parser).parameters.values()] == wanted
    assert [*parse.parameters.values()][1:] == wanted


@pytest.mark.parametrize("name", KINDS)
def test_what_is_public_is_listed(name: str) -> None:
    """Events that no turn of a format gives aren't there."""
    module, values = module_of(name), facts_of_format(name).values
    of_a_parser = set(protocol.__all__) - {"PROBLEM_KINDS", "StreamingParser", "Format"}
    if not values["HAS_CALLS"]:
        of_a_parser -= {"ToolCallStart", "ToolCallDelta", "ToolCallEnd"}
    if not values["HAS_REASONING"]:
        of_a_parser.remove("ReasoningDelta")
    listed = vars(module)["__all__"]
    assert sorted(listed) == sorted(of_a_parser | {"FORMAT", "Parser", "parse"})
    assert all(hasattr(module, item) for item in listed)


def test_the_ids_of_calls_begin_as_wanted() -> None:
    module = module_of("qwen3-coder")
    parser = module.Parser(id_prefix="turn7-")
    starts = [event for event in parser.feed(CALLED * 2) if event.type == "tool_call_start"]
    assert [start.id for start in starts] == ["turn7-0", "turn7-1"]
    assert [call.id for call in parser.message.tool_calls] == ["turn7-0", "turn7-1"]
    assert module.parse(CALLED).tool_calls[0].id == "call_0"


def test_an_id_that_the_model_writes_is_kept() -> None:
    text = '[TOOL_CALLS][{"name": "f", "arguments": {}, "id": "abcdef123"}]'
    [call] = module_of("mistralai-mistral-nemo-instruct-2407").parse(text, id_prefix="x").tool_calls
    assert call.id == "abcdef123"


def test_why_a_turn_is_over() -> None:
    module = module_of("qwen3-coder")
    assert module.parse("Hello!").finish_reason == "stop"
    assert module.parse(CALLED).finish_reason == "tool_calls"
    assert module_of("google-gemma-2-2b-it").parse("Hello!").finish_reason == "stop"


def test_a_prefill_may_begin_with_the_conversation() -> None:
    module = load(committed_format("qwen-qwen3-0-6b").spec)
    header, off = module.FORMAT["header"], module.FORMAT["prompt_without_thinking"]
    asked = "<|im_start|>user\nWhy?<|im_end|>\n"
    talk = f"{asked}{header}Hello!<|im_end|>\n{asked}"
    for prompt in (header, off, f"{header}<think>\n"):
        assert module.parse("So.", prefill=talk + prompt) == module.parse("So.", prefill=prompt)
    assert module.parse("So.", prefill=talk + off).content == "So."
    assert module.parse("So.", prefill=f"{talk}{header}<think>\n").reasoning_content == "So."


def test_a_call_that_was_cut_off_is_told_by_its_end_and_the_finish_reason() -> None:
    module: Format = load(committed_format("qwen3-coder").spec)
    parser = module.Parser()
    cut = CALLED + CALLED.partition("\n</function>")[0]
    events = [*parser.feed(cut), *parser.finish()]
    assert [event.complete for event in events if event.type == "tool_call_end"] == [True, False]
    assert [call.complete for call in parser.message.tool_calls] == [True, False]
    assert parser.message.finish_reason == "length"
    assert [problem.message for problem in parser.message.problems] == ["an unfinished call"]


def test_events_say_where_their_texts_stand() -> None:
    module: Format = load(committed_format("qwen3-coder").spec)
    parser = module.Parser()
    text = "So \U0001f600 it is." + CALLED
    events = [*parser.feed(text[:9]), *parser.feed(text[9:]), *parser.finish()]
    content = [text[event.start : event.end] for event in events if event.type == "content"]
    assert content == ["So \U0001f600 it i", "s."]
    assert [event.id for event in events if event.type == "tool_call_end"] == [""]


def test_no_event_has_an_empty_delta() -> None:
    module = module_of("qwen3-coder")
    parser = module.Parser(prefill=module.FORMAT["prompt"] + CALLED.partition("</function>")[0])
    events = [*parser.feed("</function>\n</tool_call>"), *parser.finish()]
    found = {event.type: event.to_delta() for event in events}
    assert list(found) == ["tool_call_start", "tool_call_delta", "tool_call_end"]
    assert found.pop("tool_call_end") is None
    assert all(found.values())
    assert all(event.arguments for event in events if event.type == "tool_call_delta")


def test_every_kind_of_problem_is_told_by_some_parser() -> None:
    texts = [(ROOT / "generated" / f"{name}.py").read_text(encoding="utf-8") for name in MODULES]
    assert [kind for kind in PROBLEM_KINDS if not any(f'"{kind}"' in text for text in texts)] == []


def test_the_page_is_fresh() -> None:
    assert api_page.PAGE.read_text(encoding="utf-8") == api_page.page(), "run: make api"


def test_the_page_tells_all() -> None:
    page = api_page.page()
    options = [*inspect.signature(Format.Parser).parameters][1:]
    for name in [*options, *PROBLEM_KINDS, "to_delta", "finish_reason", "to_dict", "FORMAT"]:
        assert f"| `{name}" in page
