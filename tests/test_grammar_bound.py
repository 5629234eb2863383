"""Grammars for real tools: what they let through is read and valid, what is invalid is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import pytest
from click.testing import CliRunner
from syrupy.assertion import SnapshotAssertion

from tests.bound_grammars import CALLS, REQUESTS, TOOLS, Bound, requests_for, written_calls
from tests.generated_formats import (
    EVERY_FORMAT,
    FORMS,
    KINDS,
    NAMES,
    ROOT,
    committed_format,
    committed_spec,
)
from tests.grammar_engines import Compile, CompiledGrammar, engine_llguidance
from tests.grammar_engines.agreement import Sample, ask_engines
from tests.grammar_engines.lazy_runs import LazyRun, lazy_run
from tests.grammar_engines.random_texts import mutated
from turnspec.cli.main import turnspec
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.spec.message import Call
from turnspec.spec.problems import Problem
from turnspec.spec.words import Part
from turnspec.verification import engine_llama_cpp

ENGINES: dict[str, Compile] = {
    "llama.cpp": engine_llama_cpp.compile_grammar,
    "llguidance": engine_llguidance.compile_grammar,
}
TURNS = 5
#: Each way to bind a grammar is tried on every so many of the formats, each time on others.
STEP = 1 if EVERY_FORMAT else 4
WITH_TOOLS = [name for name in FORMS if committed_spec(name).tools is not None]
ENCODINGS = {
    "JSON": "qwen-qwen3-0-6b",
    "JSON behind tags": "deepseek-ai-deepseek-v3-1",
    "raw text": "qwen3-coder",
    "types in tags": "kimi-k3",
    "Python": "lfm2-8b-a1b",
    "another quote": "google-gemma-4-31b-it",
    "elements": "minimax-m3",
}


def compiled(gbnf: str) -> dict[str, CompiledGrammar]:
    results = {name: compile_(gbnf) for name, compile_ in ENGINES.items()}
    assert not [result for result in results.values() if isinstance(result, Problem)]
    return {name: r for name, r in results.items() if not isinstance(r, Problem)}


def bound_to(name: str, request: GrammarRequest) -> BoundGrammar:
    bound = bind_grammar(committed_format(name).spec, request)
    assert isinstance(bound, BoundGrammar), list(map(str, bound))
    return bound


def refusals(name: str, **request: Any) -> list[str]:
    problems = bind_grammar(committed_format(name).spec, GrammarRequest(**request))
    assert isinstance(problems, list)
    return list(map(str, problems))


@pytest.mark.parametrize("name", KINDS)
def test_random_turns_are_accepted_read_and_valid(name: str) -> None:
    requests = list(requests_for(committed_format(name).spec).items())
    for title, request in requests[KINDS.index(name) % STEP :: STEP]:
        bound, random = Bound.of(name, request), Random(name + title)
        turns = bound.turns(random, TURNS)
        assert not [(title, turn, faults) for turn in turns if (faults := bound.faults(turn))]
        faulty = (mutated(turn, random, bound.bound.preserved_tokens) for turn in turns)
        samples = [Sample(turn, True) for turn in turns] + [Sample(turn, None) for turn in faulty]
        asked = ask_engines(compiled(bound.bound.grammar), samples)
        assert not asked.disagreements, (title, *map(str, asked.disagreements))


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_written_turns_are_accepted(name: str) -> None:
    """Turns as the template renders them, with valid arguments, behind the real prompt."""
    spec = committed_format(name).spec
    asked = 0
    for title in ("required", "required, no thinking"):
        request = REQUESTS[title]
        engines = compiled(bound_to(name, request).grammar)
        for calls in (*((call,) for call in CALLS), CALLS):
            turn = written_calls(spec, calls, thinking=request.thinking)
            if turn is None:
                continue
            for engine in engines.values():
                assert engine.accepts(turn), (title, turn, engine.accepted_length(turn))
                asked += 1
    assert asked >= 8


INVALID: dict[str, Sequence[Call]] = {
    "a tool that isn't there": [Call("get_time", {"city": "Rome"}, id="abcdefgh1")],
    "a name that goes on": [Call("get_weather2", {"city": "Rome"}, id="abcdefgh1")],
    "a required argument is missing": [Call("get_weather", {"days": 3}, id="abcdefgh1")],
    "another argument": [Call("get_weather", {"city": "R", "town": "R"}, id="abcdefgh1")],
    "not of the enumeration": [
        Call("get_weather", {"city": "R", "unit": "kelvin"}, id="abcdefgh1")
    ],
    "not of the type": [Call("get_weather", {"city": "R", "days": "three"}, id="abcdefgh1")],
    "out of bounds": [Call("get_weather", {"city": "R", "days": 15}, id="abcdefgh1")],
    "too long": [Call("get", {"short": "abcdef"}, id="abcdefgh1")],
    "against the pattern": [Call("get", {"code": "de-1"}, id="abcdefgh1")],
    "no such item": [Call("nested-things", {"entries": [{"value": 1}]}, id="abcdefgh1")],
}


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_invalid_calls_are_refused(name: str) -> None:
    spec = committed_format(name).spec
    engines = compiled(bound_to(name, REQUESTS["required"]).grammar)
    for why, calls in INVALID.items():
        turn = written_calls(spec, tuple(calls), thinking=True)
        assert turn is not None
        for engine in engines.values():
            assert not engine.accepts(turn), (why, turn)


#: Any string, beside strings that llguidance would take its beginning for.
BESIDE_ANY = {
    "anyOf": [{"const": "Rome"}, {"type": "string", "pattern": "^R+$"}, {"type": "string"}]
}
#: And where that is one of several types, in an alternative of an alternative.
BESIDE_MORE = {"anyOf": [{"anyOf": [{"type": ["string", "null"]}, {"const": "Roma"}]}, BESIDE_ANY]}


@pytest.mark.parametrize("city_schema", [BESIDE_ANY, BESIDE_MORE], ids=["one type", "more types"])
@pytest.mark.parametrize("name", ENCODINGS.values(), ids=ENCODINGS)
def test_any_string_may_be_written_beside_others(name: str, city_schema: Any) -> None:
    parameters = {"type": "object", "properties": {"city": city_schema}, "required": ["city"]}
    request = GrammarRequest([{"name": "get", "parameters": parameters}], tool_choice="required")
    spec, bound = committed_format(name).spec, bound_to(name, request)
    for city in ("Rome", "RR", "Ro", "Romes", "Paris"):
        call = Call("get", {"city": city}, id="abcdefgh1")
        turn = written_calls(spec, (call,), thinking=request.thinking)
        assert turn is not None
        for engine in compiled(bound.grammar).values():
            assert engine.accepts(turn), (city, turn)


#: Two members that may be missing before one that llguidance could take for a token.
REQUIRED_LAST = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "unit": {"enum": ["celsius", "kelvin"]},
    },
    "required": ["unit"],
}


@pytest.mark.parametrize("name", ENCODINGS.values(), ids=ENCODINGS)
def test_members_may_be_missing_before_one_that_is_required(name: str) -> None:
    tools = [{"name": "get", "parameters": REQUIRED_LAST}]
    request = GrammarRequest(tools, tool_choice="required")
    spec, bound = committed_format(name).spec, bound_to(name, request)
    optional = {"city": "Rome", "tags": ["a", "b"]}
    for given in ((), ("city",), ("tags",), ("city", "tags")):
        arguments = {**{key: optional[key] for key in given}, "unit": "kelvin"}
        call = Call("get", arguments, id="abcdefgh1")
        turn = written_calls(spec, (call,), thinking=request.thinking)
        assert turn is not None
        for engine in compiled(bound.grammar).values():
            assert engine.accepts(turn), turn


#: Two properties, of which one begins as the other does, beside any others, of another type.
OPEN = GrammarRequest(
    [
        {
            "name": "get",
            "parameters": {
                "type": "object",
                "properties": {"at": {"type": "integer"}, "at-b": {"type": "integer"}},
                "additionalProperties": {"type": "string"},
            },
        }
    ],
    tool_choice="required",
)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_listed_name_is_not_among_the_others(name: str) -> None:
    spec = committed_format(name).spec
    bound = bound_to(name, replace(OPEN, thinking=True))
    left_out = any("left out" in notice.message for notice in bound.notices)
    engines = compiled(bound.grammar)
    given: dict[str, tuple[dict[str, object], bool]] = {
        "as listed": ({"at": 1, "at-b": 2}, True),
        "a listed name with the others' type": ({"at": "x"}, False),
        "a longer one": ({"at-b": "x"}, False),
        "the beginning of one": ({"a": "x"}, not left_out),
        "one between both": ({"at-": "x"}, not left_out),
        "one that goes on": ({"at-bc": "x", "other": "y"}, not left_out),
    }
    for why, (arguments, is_taken) in given.items():
        turn = written_calls(spec, (Call("get", arguments, id="abcdefgh1"),), thinking=True)
        assert turn is not None
        for engine in engines.values():
            assert engine.accepts(turn) is is_taken, (why, turn)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_lazy_grammar_takes_hold_at_the_first_call(name: str) -> None:
    spec = committed_format(name).spec
    request = REQUESTS["auto"]
    bound = bound_to(name, request)
    assert bound.lazy == bool(spec.grammar.triggers)
    turn = written_calls(spec, CALLS[:1], thinking=True)
    if not bound.lazy or turn is None:
        assert not bound.trigger_patterns
        return
    # What ends the turn comes as a token, which a grammar knows by its end alone.
    turn = turn.rstrip()
    for end in (spec.final(Part.CALLS).strip(), *bound.stop):
        turn = turn.removesuffix(end) if end else turn
    run = lazy_run(bound.grammar, bound.trigger_patterns, list(turn))
    assert isinstance(run, LazyRun)
    assert run.accepted, turn
    assert run.start is not None
    first = min(turn.find(word) for word in bound.trigger_words if word in turn)
    begun = turn[: run.start + 1]
    assert first < len(begun)
    assert any(begun.endswith(word) for word in bound.trigger_words)


def test_a_prompt_that_opens_content_is_gone_on_from() -> None:
    """Elsewhere words stand between the turn's beginning and content; this prompt skips them."""
    asked = GrammarRequest(TOOLS[:1], thinking=False, lazy=False)
    answer = "It rains.<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>"
    for engine in compiled(bound_to("kimi-k3", asked).grammar).values():
        assert engine.accepts(answer)
        assert not engine.accepts(f"<|open|>response<|sep|>{answer}")


def test_a_call_of_bare_json_takes_hold_where_the_turn_begins() -> None:
    """Prose may quote one; such a format has no content beside its calls."""
    bound = bound_to("meta-llama-llama-3-1-8b-instruct", REQUESTS["auto"])
    call = '{"name": "now", "parameters": {}}'
    for before, start in (("", 9), ("\n", 10), ("<|python_tag|>", 23), ("One writes ", None)):
        run = lazy_run(bound.grammar, bound.trigger_patterns, list(before + call))
        assert run == LazyRun(start, accepted=True)


def test_a_trigger_in_reasoning_does_not_count() -> None:
    bound = bound_to("qwen-qwen3-0-6b", REQUESTS["auto"])
    call = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    for before in ("<think>I could <tool_call> it.</think>\n", "No <think>or <tool_call></think>"):
        run = lazy_run(bound.grammar, bound.trigger_patterns, list(before + call))
        assert run == LazyRun(len(before) + len("<tool_call>") - 1, accepted=True)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_grammars(encoding: str, snapshot: SnapshotAssertion) -> None:
    """The rules for calls; those of free text are the same for any tools."""
    request = GrammarRequest(TOOLS[:2], tool_choice="required", parallel=True)
    lines = bound_to(ENCODINGS[encoding], request).grammar.splitlines()
    assert [
        line for line in lines if not line.startswith(("text", "raw-value-", "quoted-text-"))
    ] == snapshot


def test_names_of_rules_are_their_own() -> None:
    """Tools and properties may be called like each other, or like rules, or hold grammar."""
    names = ["root", "call", "text", "a-b", "a_b", "a.b", "A:B", "start", "9"]
    properties = {"b": {"type": "string", "maxLength": 2}, '"]} ::= x': {"const": '"\\\n" | root'}}
    tools = [{"name": n, "parameters": {"type": "object", "properties": properties}} for n in names]
    bound = Bound.of("qwen-qwen3-0-6b", GrammarRequest(tools, tool_choice="required"))
    engines = compiled(bound.bound.grammar)
    for turn in bound.turns(Random(0), 60):
        assert not bound.faults(turn)
        assert all(engine.accepts(turn) for engine in engines.values())


def test_a_key_that_would_end_its_tag_is_refused() -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a>b": {}, "ok": {}}}}]
    assert refusals("qwen3-coder", tools=tools) == [
        "tools: #/0/parameters/properties/a>b: the name 'a>b' cannot be written in this format"
    ]


def test_a_constant_that_would_end_its_value_is_refused() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ["x", "</parameter>"]}}}
    assert refusals("qwen3-coder", tools=[{"name": "f", "parameters": schema}]) == [
        'tools: #/0/parameters/properties/a/enum: "</parameter>" cannot be written in this format'
    ]


BAD_TOOLS: list[tuple[list[Any], list[str]]] = [
    ([{"type": "function", "function": {}}], ["tools: #/0/function/name: a tool needs a name"]),
    ([{"name": ""}], ["tools: #/0/name: a tool needs a name"]),
    (
        [{"name": "a b"}, {"name": 'a"b'}],
        [
            "tools: #/0/name: 'a b' is no tool's name: that has letters, digits and any of _.:/-",
            "tools: #/1/name: 'a\"b' is no tool's name: that has letters, digits and any of _.:/-",
        ],
    ),
    (
        [{"name": "a"}, {"name": "b"}, {"name": "a"}],
        ["tools: #/2/name: there is a tool 'a' already, at #/0/name"],
    ),
    ([3], ["tools: #/0: a tool is an object with a function in it"]),
    (
        [{"name": "a", "parameters": []}],
        ["tools: #/0/parameters: the parameters are no JSON Schema"],
    ),
    (
        [{"name": "a", "parameters": {"properties": {"x": {"$ref": "#/$defs/X"}}}}],
        ["tools: #/0/parameters/properties/x/$ref: #/$defs/X is nowhere in this schema"],
    ),
    (
        [{"name": "a", "parameters": {"properties": {"x": {"$ref": "#/properties/x"}}}}],
        ["tools: #/0/parameters/properties/x/$ref: #/properties/x leads back here without an end"],
    ),
    (
        [
            {"name": "a", "parameters": {"properties": {"x": {"not": {}}}}},
            {"name": "b", "parameters": {"uniqueItems": True}},
        ],
        [
            "tools: #/0/parameters/properties/x/not: not cannot be expressed in a grammar",
            "tools: #/1/parameters/uniqueItems: uniqueItems cannot be expressed in a grammar",
        ],
    ),
    (
        [{"name": "a", "parameters": {"type": "string"}}],
        ["tools: #/0/parameters: no value fits the schema"],
    ),
    (
        [
            {
                "name": "a",
                "parameters": {"type": "object", "required": ["x"], "properties": {"x": False}},
            }
        ],
        ["tools: #/0/parameters: no value fits the schema"],
    ),
]


@pytest.mark.parametrize(("tools", "problems"), BAD_TOOLS)
def test_tools_that_are_refused(tools: list[Any], problems: list[str]) -> None:
    assert refusals("qwen-qwen3-0-6b", tools=tools) == problems


CONTRADICTIONS: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "glm-4-6",
        {"response_schema": {}, "own_grammar": 'root ::= "a"'},
        ["give a response schema or a grammar of your own, not both"],
    ),
    (
        "glm-4-6",
        {"tools": TOOLS, "own_grammar": 'root ::= "a"'},
        ["a grammar of your own leaves no room for tool calls: give no tools, or choose none"],
    ),
    (
        "glm-4-6",
        {"tools": TOOLS, "tool_choice": "required", "response_schema": {}},
        ["a turn that has to call a tool has no answer for a response schema"],
    ),
    ("glm-4-6", {"tool_choice": "required"}, ["the tool choice 'required' needs tools"]),
    (
        "glm-4-6",
        {"tools": TOOLS[:1], "tool_choice": "get"},
        ["there is no tool 'get' to choose; there are: get_weather"],
    ),
    (
        "google-gemma-2-2b-it",
        {"tools": TOOLS},
        ["google-gemma-2-2b-it has no tool calls; a response schema can bind its content"],
    ),
]


@pytest.mark.parametrize(("name", "request_", "problems"), CONTRADICTIONS)
def test_contradictions(name: str, request_: dict[str, Any], problems: list[str]) -> None:
    assert refusals(name, **request_) == problems


def test_a_grammar_of_ones_own_is_used_as_it_is() -> None:
    bound = bound_to("qwen-qwen3-0-6b", GrammarRequest(TOOLS, tool_choice="none", own_grammar="x"))
    assert (bound.grammar, bound.lazy, bound.stop) == ("x", False, ("<|im_end|>",))


def test_five_hundred_tools() -> None:
    tools = [
        {"name": f"tool_{n}", "parameters": TOOLS[0]["function"]["parameters"]} for n in range(500)
    ]
    begun = perf_counter()
    bound = bound_to("qwen-qwen3-0-6b", GrammarRequest(tools, tool_choice="required"))
    assert perf_counter() - begun < 30
    engines = compiled(bound.grammar)
    for number, ok in ((0, True), (499, True), (500, False)):
        call = {"name": f"tool_{number}", "arguments": {"city": "Rome"}}
        turn = f"<think>\n\n</think>\n\n<tool_call>\n{json.dumps(call)}\n</tool_call>"
        assert {engine.accepts(turn) for engine in engines.values()} == {ok}


def test_a_response_may_mention_markers() -> None:
    """In an answer that is JSON a marker's character is written by its code."""
    bound = bound_to("glm-4-6", GrammarRequest(response_schema={"type": "string"}))
    engines = compiled(bound.grammar)
    assert all(e.accepts(r'"\u003Ctool_call>"') for e in engines.values())
    assert not any(e.accepts('"<tool_call>"') for e in engines.values())
    message = committed_format("glm-4-6").module.parse(r'"\u003Ctool_call>"', prefill="")
    assert json.loads(message.content) == "<tool_call>"
    assert not message.problems


def test_no_key_of_a_response_is_a_marker() -> None:
    """Nor is one that no schema gives, beside keys that one does."""
    schema = {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "null"}}
    bound = bound_to("glm-4-6", GrammarRequest(response_schema={"type": "object", **schema}))
    engines = compiled(bound.grammar)
    assert all(e.accepts(r'{"\u003Ctool_call>": null}') for e in engines.values())
    assert not any(e.accepts('{"<tool_call>": null}') for e in engines.values())


def run(*arguments: object) -> Any:
    return CliRunner().invoke(turnspec, ["grammar", *map(str, arguments), "--root", str(ROOT)])


@pytest.fixture
def tools_file(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS[:1]), encoding="utf-8")
    return path


def test_an_argument_is_let_through_whose_name_begins_as_that_of_a_later_one() -> None:
    """A comma and all that is fixed behind it would be one token of llguidance's lexer."""
    kinds = {"days": "integer", "opts": "object", "one": "boolean"}
    properties = {name: {"type": kind} for name, kind in kinds.items()}
    tool = {"name": "f", "parameters": {"type": "object", "properties": properties}}
    bound = bound_to("google-functiongemma-270m-it", GrammarRequest(tools=[tool], lazy=False))
    call = "<start_function_call>call:f{days:3,opts:{}}<end_function_call>"
    assert {
        name: it.accepts(call) for name, it in compiled(bound.grammar).items()
    } == dict.fromkeys(ENGINES, True)


def test_the_command_prints_a_grammar_with_all_that_belongs_to_it(tools_file: Path) -> None:
    result = run("qwen-qwen3-0-6b", "--tools", tools_file)
    assert result.exit_code == 0
    head, _, grammar = result.stdout.partition("\n\n")
    assert head.splitlines() == [
        "# qwen-qwen3-0-6b: begins with the first call (lazy)",
        '# trigger words: ["<tool_call>"]',
        r'# trigger patterns: ["(?:^|</think>)(?:(?!<think>)[\\s\\S])*?(<tool_call>)"]',
        '# preserved tokens: ["<think>", "</think>", "<tool_call>", "</tool_call>"]',
        '# stop strings: ["<|im_end|>"]',
    ]
    request = GrammarRequest(TOOLS[:1])
    assert grammar.strip() == bound_to("qwen-qwen3-0-6b", request).grammar.strip()
    assert compiled(result.stdout)


@pytest.mark.parametrize("name", ENCODINGS.values(), ids=ENCODINGS)
def test_a_quote_that_may_be_a_token_is_kept(name: str) -> None:
    kept = bound_to(name, GrammarRequest(TOOLS[:1])).preserved_tokens
    assert ('<|"|>' in kept) is (name == ENCODINGS["another quote"])
    assert not {'"', "'"} & {*kept}


def test_the_command_prints_json(tools_file: Path) -> None:
    found = json.loads(run("glm-4-6", "--tools", tools_file, "--json").stdout)
    bound = bound_to("glm-4-6", GrammarRequest(TOOLS[:1]))
    assert found == {
        "grammar": bound.grammar,
        "root": "root",
        "lazy": True,
        "triggers": {"words": ["<tool_call>"], "patterns": list(bound.trigger_patterns)},
        "preserved_tokens": list(bound.preserved_tokens),
        "stop": ["<|user|>", "<|observation|>"],
        "notices": [],
    }


def test_notices_name_the_file(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}}
    path = tmp_path / "tools.json"
    path.write_text(json.dumps({"tools": [{"name": "f", "parameters": schema}]}), encoding="utf-8")
    result = run("glm-4-6", "--tools", path)
    assert result.exit_code == 0
    assert result.stderr == (
        f"notice: {path}: #/0/parameters/properties/a/maxLength: "
        "the string is written without '<'\n"
    )


@pytest.mark.parametrize(
    ("text", "code", "error"),
    [
        (
            "[{",
            1,
            "not JSON: Expecting property name enclosed in double quotes: line 1 column 3 (char 2)",
        ),
        ("{}", 1, "give a JSON list of tool definitions"),
        ('[{"name": "a b"}, {}]', 1, "tool 1 has no name"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path: Path, text: str, code: int, error: str) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text, encoding="utf-8")
    result = run("glm-4-6", "--tools", path)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.splitlines()[-1] == f"error: {path}: {error}"


def test_misuse() -> None:
    for arguments, error in (
        (["nobody"], "no format is known as 'nobody'; turnspec list shows all that are"),
        (["glm-4-6", "--tool-choice", "required"], "the tool choice 'required' needs tools"),
    ):
        result = run(*arguments)
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"error: {error}\n")


def test_every_format_has_the_entries_that_its_parts_allow() -> None:
    entries = {"root", "tool-calls", "required-calls", "content-only"}
    for name in NAMES:
        text = (ROOT / "generated" / f"{name}.gbnf").read_text(encoding="utf-8")
        found = {entry for entry in entries if f"\n{entry} ::=" in text}
        assert found == (entries if committed_spec(name).tools else {"root"})
