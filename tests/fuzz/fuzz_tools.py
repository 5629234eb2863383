"""The fuzzer's bytes are a list of tools: it is refused in a line, or the parser works with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.fuzz.fuzz_parser import load_target
from tests.fuzz.fuzzing import Choices, Target
from tests.generated_formats import committed_format
from tests.parser_checks import added_up, stream, summary

#: One format for each way to read arguments, and one that has no calls.
NAMES = (
    *("qwen3-coder", "minimax-m3", "deepseek-ai-deepseek-v3-2", "qwen-qwen3-0-6b"),
    *("kimi-k2-instruct", "lfm2-5-instruct", "google-gemma-4-31b-it", "google-gemma-2-2b-it"),
)
_FORMATS = {name: (committed_format(name), load_target(name).module) for name in NAMES}
_WORDS = (
    *("type", "properties", "anyOf", "oneOf", "allOf", "items", "prefixItems", "$ref", "$defs"),
    *("enum", "const", "additionalProperties", "city", "days", "required", "not"),
)
_VALUES: tuple[Any, ...] = (
    *("string", "integer", "array", "object", "null", "#", "#/$defs/city", "#/properties/days"),
    *(True, False, None, [], {}, 5, ["string", 5], "https://example.com"),
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A format, and the tools that its parser is given."""

    name: str
    tools: Any


def _schema(choices: Choices, depth: int = 4) -> Any:
    kind = choices.number(4)
    if not depth or kind == 0:
        return choices.one_of(_VALUES) if choices.number(4) else choices.value(1)
    if kind == 1:
        return [_schema(choices, depth - 1) for _ in range(choices.number(3))]
    words = [choices.one_of(_WORDS) for _ in range(choices.number(4))]
    return {word: _schema(choices, depth - 1) for word in words}


def attempt(data: bytes) -> Attempt:
    """Return what the fuzzer's bytes stand for."""
    choices = Choices(data)
    name = choices.one_of(NAMES)
    tools: list[Any] = []
    for _ in range(1 + choices.number(2)):
        function: Any = {"name": choices.one_of(("look", "count", "look", "", 5))}
        function["parameters"] = _schema(choices)
        kind = choices.number(7)
        tool = {"type": "function", "function": function} if kind > 1 else function
        tools.append(tool if kind else choices.value())
    return Attempt(name, tools if choices.number(15) else choices.value())


def check(tried: Attempt) -> None:
    """Make a parser and read a turn with calls, whole and in characters."""
    known, form = _FORMATS[tried.name]
    refused = ""
    try:
        form.Parser(tools=tried.tools)
    except ValueError as error:
        refused = str(error)
    if refused:
        assert refused.startswith(("tools", "#"))
        assert len(refused.splitlines()) == 1
        return
    text = known.write(known.message)
    options = {"tools": tried.tools, "prefill": known.spec.turn.header}
    whole = form.parse(text, **options)
    message, events = stream(form, text, **options)
    assert message == whole
    assert added_up(events) == summary(whole)


TARGET = Target(attempt, check)
