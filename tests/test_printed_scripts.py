"""Printed parsers read as Python's do: events, offsets and messages, whole and in pieces.

``TURNSPEC_EXAMPLES=200`` (`make test-long`) compares all formats, each by all deviations.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.generated_formats import FORMATS, committed_spec
from tests.typescript.engines import (
    TypeScriptEngine,
    difference,
    opened_engine,
    python_result,
)
from tests.typescript.toolchain import compile_typescript, lint
from turnspec.codegen.compiled import compiled_source
from turnspec.codegen.facts import facts_of
from turnspec.codegen.left_out import Extra, leave_out
from turnspec.codegen.loading import load, load_module
from turnspec.codegen.printer.script import script
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import Format

ALL = "TURNSPEC_EXAMPLES" in os.environ
_CONTENT, _TAGGED, _JSON = "01-ai-yi-1-5-chat", "qwen3-coder", "qwen-qwen3-0-6b"
_KEYED = "glm-4-6"  # keys and values in tags of their own, which may be missing
CHOSEN = FORMATS if ALL else (_CONTENT, _TAGGED, _JSON, _KEYED)
#: Of the same formats as some, without special tokens and other syntax.
SMALLER = {f"{name}, smaller": name for name in (_CONTENT, _TAGGED, _JSON)}
STEP = 1 if ALL else 3


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypeScriptEngine]:
    folder = tmp_path_factory.mktemp("printed")
    with opened_engine(folder) as opened:
        for name in CHOSEN:
            path = folder / f"{name}.mjs"
            path.write_text(script(source_of(name), is_typed=False), "utf-8")
            opened.load_file(name, path)
        for smaller, name in SMALLER.items():
            path = folder / f"smaller_{name}.mjs"
            path.write_text(script(smaller_source(name), is_typed=False), "utf-8")
            opened.load_file(smaller, path)
        yield opened


@cache
def source_of(name: str) -> str:
    return f'"""{name}"""\n{compiled_source(facts_of(committed_spec(name)))}'


@cache
def smaller_source(name: str) -> str:
    facts = leave_out(facts_of(committed_spec(name)), set(Extra))
    return f'"""{name}"""\n{compiled_source(facts)}'


@cache
def format_of(name: str) -> Format:
    spec = committed_spec(name)
    return Format(spec, load(spec))


@pytest.mark.parametrize("name", CHOSEN)
def test_deviations_are_read_alike(name: str, engine: TypeScriptEngine) -> None:
    form = format_of(name)
    for deviation in list(DEVIATIONS)[::STEP]:
        for case in DEVIATIONS[deviation](form):
            given = (engine, name, form.module)
            assert not difference(*given, case.text, case.options, (0, 1))
            assert not difference(*given, case.text[: len(case.text) // 2], case.options, (0,))


def test_a_key_alone_is_incomplete_in_both(engine: TypeScriptEngine) -> None:
    form = format_of(_KEYED)
    for case in DEVIATIONS["others: no opening of a value"](form):
        assert not difference(engine, _KEYED, form.module, case.text, case.options, (0, 1))


@pytest.mark.parametrize("smaller", SMALLER)
def test_smaller_parsers_read_alike(smaller: str, engine: TypeScriptEngine) -> None:
    form = format_of(SMALLER[smaller])
    module: Any = load_module(smaller_source(SMALLER[smaller]))
    for deviation in list(DEVIATIONS)[::3]:
        for case in DEVIATIONS[deviation](form):
            if "special_tokens" not in case.options:
                assert not difference(engine, smaller, module, case.text, case.options, (0, 1))
    with pytest.raises(AssertionError, match=r"^TypeError: special_tokens: this parser was made"):
        engine.parse(smaller, module, pieces=["x"], options={"special_tokens": ["</s>"]})


@pytest.mark.parametrize(
    "options",
    [
        {"stop": ["🛑"]},
        {"stop": ["🛑x", "zz"], "id_prefix": "it_"},
        {"prefill": "<|im_start|>assistant\n🦆 So", "echo": True},
        {"special_tokens": ["<tool_call>", "</tool_call>", "🛑"], "stop": ["🛑"]},
    ],
)
@pytest.mark.parametrize("name", [_CONTENT, _TAGGED])
def test_characters_of_two_halves_count_once(
    name: str, options: dict[str, object], engine: TypeScriptEngine
) -> None:
    call = (
        "<tool_call>\n<function=🦆>\n<parameter=ключ>\n𝔊\n</parameter>\n</function>\n</tool_call>"
    )
    module = format_of(name).module
    for text in (f"🦆 {call} 🛑 b", "x🛑", "🦆🛑x z", f"{call}{call}", "a zz!", f"{call[:40]}🛑x"):
        for pieces in ([text], list(text), [(text[:3], True), (text[3:], False)]):
            mine = python_result(module, pieces, options)
            (other,) = engine.parse(name, module, pieces=pieces, options=options)
            assert other == mine, (pieces, options)


def test_a_stop_text_that_is_too_long_is_refused(engine: TypeScriptEngine) -> None:
    with pytest.raises(AssertionError, match=r"^TypeError: stop: at most 64 texts of 1 to 1,000"):
        engine.parse(
            _TAGGED, format_of(_TAGGED).module, pieces=["x"], options={"stop": ["s" * 3000]}
        )


def test_a_script_has_what_its_format_can_give_and_no_more() -> None:
    content, others = script(source_of(_CONTENT)), script(source_of(_JSON))
    for word in ("ToolCallStart", "ReasoningDelta", "tool_calls?", "JsonNumber", "lastgroup"):
        assert word in others
        assert word not in content
    assert "#if" not in others + content
    assert "*/\n" in content.replace("*/\nexport ", "")
    assert "*/\n" not in script(source_of(_CONTENT), is_typed=False).replace("*/\nexport ", "")


#: Rules that linters recommend.
_RULES = (
    *("style/useConst", "suspicious/noControlCharactersInRegex", "suspicious/noExplicitAny"),
    *("suspicious/noEmptyBlockStatements", "correctness/noUnusedFunctionParameters"),
    *("correctness/noUnusedVariables", "correctness/noUnusedPrivateClassMembers"),
)


def test_printed_parsers_are_as_linters_want_them(tmp_path: Path) -> None:
    for name in CHOSEN:
        for ending, is_typed in ((".ts", True), (".mjs", False)):
            text = script(source_of(name), is_typed=is_typed)
            (tmp_path / f"{name}{ending}").write_text(text, "utf-8")
    lint([tmp_path], "lint", *(f"--only={rule}" for rule in _RULES))


_USE = """
import { Message, parse, Parser, sliceOf, toDelta, type Problem, type Tool } from "./MODULE.js";

const tools: Tool[] = [{ type: "function", function: { name: "look", parameters: {} } }];
const message: Message = parse(["It ", ["rains.", false]], { tools, reasoning: "inline" });
const given = (some?: Tool[], stop?: string): Message => parse("It rains.", { tools: some, stop });
if (given().content !== given(tools).content) throw new Error("options that aren't given");
const kinds: Problem["kind"][] = message.problems.map((problem) => problem.kind);
const parser = new Parser({ idPrefix: "turn2_", stop: ["."] });
for (const event of [...parser.feed("It rains."), ...parser.finish()]) {
  const said: string = event.type === "content" ? event.text : sliceOf("It rains.", event);
  if (toDelta(event)?.content !== said) throw new Error(kinds.join());
  CALLS
}
export async function read(stream: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const event of parse(stream)) text += event.type === "content" ? event.text : "";
  return text;
}
"""
_CALLS = 'if (event.type === "tool_call_end" && !event.complete) throw new Error(event.id);'


def test_printed_parsers_are_strict_typescript(tmp_path: Path) -> None:
    for name in FORMATS if ALL else ():
        (tmp_path / f"{name}.ts").write_text(script(source_of(name)), "utf-8")
    for name in (_CONTENT, _TAGGED):
        (tmp_path / f"{name}.ts").write_text(script(source_of(name)), "utf-8")
        (tmp_path / f"smaller_{name}.ts").write_text(script(smaller_source(name)), "utf-8")
        use = _USE.replace("MODULE", name).replace("CALLS", _CALLS * (name == _TAGGED))
        (tmp_path / f"use_{name}.ts").write_text(use, "utf-8")
    strict = ("noPropertyAccessFromIndexSignature", "isolatedDeclarations", "erasableSyntaxOnly")
    options = (f"--{option}" for option in strict)
    compile_typescript(tmp_path, tmp_path / "compiled", *options)
