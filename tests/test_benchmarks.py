"""The benchmark of the parsers: what it measures and prints, never how long anything takes."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from benchmarks import grammar_binding, parser_speed, schema_suite
from benchmarks.cases import Format, LongText, format_class, has_part, long_turn, read_formats, said
from benchmarks.measuring import Effort, Streamed, WrongResult, streamed
from benchmarks.targets import judge_streamed
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from tests import parser_formats as formats
from turnspec.codegen.loading import load_module
from turnspec.pipeline.build import generate_files
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.model import Spec

ROOT = Path(__file__).parent.parent
QUICK = ("--size", "256", "--size", "512", "--rounds", "1", "--seconds", "0")
ANY_TIME, NO_TIME = ("--slack", "1e9"), ("--slack", "0")
TAGGED_JSON, TAGGED = "mistralai-ministral-3-14b-reasoning-2512", "qwen3-5-4b"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(parser_speed.bench, [*QUICK, *arguments])


def as_json(*arguments: str) -> Any:
    result = run("--json", *ANY_TIME, *arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def as_format(spec: Spec) -> Format:
    files = generate_files(spec, OutputPaths.in_project(spec.name))
    return Format(spec, format_class(spec), files[OutputPaths.in_project(spec.name).module])


def test_json_has_the_cost_of_each_long_text() -> None:
    data = as_json(TAGGED)
    assert [(each["name"], each["text"]) for each in data["streamed"]] == [
        (TAGGED, "content"),
        (TAGGED, "reasoning"),
        (TAGGED, "string argument"),
    ]
    for each in data["streamed"]:
        assert list(each["microseconds"]) == list(each["in_calls"]) == ["256", "512"]
        small, large = each["microseconds"].values()
        assert each["growth"] == pytest.approx(large / small)
        assert each["in_calls"]["256"] == pytest.approx(small / data["call_microseconds"])
        assert each["ok"] is True
    assert data["missed"] == []


def test_texts_fed_at_once_have_escapes_where_strings_are_json() -> None:
    data = as_json(TAGGED_JSON, TAGGED)
    measured = [(each["name"], each["text"], each["size"]) for each in data["whole"]]
    assert measured == [
        (TAGGED_JSON, "content", 512),
        (TAGGED_JSON, "argument of escapes", 512),
        (TAGGED, "content", 512),
    ]


def test_one_parser_of_each_class_is_measured_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = read_formats(ROOT)
    classes = sorted({each.format_class for each in known})
    few = [next(each for each in known if each.format_class == name) for name in classes[:2]]
    few += [next(each for each in known if each.format_class == classes[0] and each != few[0])]
    monkeypatch.setattr(parser_speed, "read_formats", lambda root: few)
    assert {each["name"] for each in as_json()["streamed"]} == {each.name for each in few[:2]}
    everything = as_json("--all")["streamed"]
    assert {each["name"] for each in everything} == {each.name for each in few}


def test_lengths_count_what_follows_the_docstring() -> None:
    data = as_json(TAGGED)
    assert sum(each["modules"] for each in data["lengths"]) == len(read_formats(ROOT))
    assert parser_speed._lines('# banner\n"""Doc.\n\nMore.\n"""\n\nimport re\n') == 2


def test_a_missed_target_is_told_and_makes_the_exit_code_1() -> None:
    result = run(*NO_TIME, TAGGED)
    assert result.exit_code == 1
    told = re.findall(
        r"^missed: (.+?): [\d.]+( µs| ms|), target 0\.00", result.stderr, re.MULTILINE
    )
    assert told == [
        (f"{TAGGED}, content at once", " ms"),
        (f"{TAGGED}, content in pieces", " µs"),
        (f"{TAGGED}, content, longest : shortest", ""),
        (f"{TAGGED}, reasoning in pieces", " µs"),
        (f"{TAGGED}, reasoning, longest : shortest", ""),
        (f"{TAGGED}, string argument in pieces", " µs"),
        (f"{TAGGED}, string argument, longest : shortest", ""),
    ]
    assert "over" in result.stdout


def test_tables_have_no_colours_in_a_pipe_and_no_cut_lines() -> None:
    result = run(*ANY_TIME, "cohereforai-c4ai-command-r7b-12-2024-tool-use")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    row = r"cohereforai-c4ai-command-r7b-12-2024-tool-use +│ string argument │ .* ok .* ok "
    assert re.search(row, result.stdout)
    assert "512 : 256" in result.stdout


def test_an_unknown_name_is_wrong_usage() -> None:
    result = run("nobody")
    assert result.exit_code == 2
    assert "no spec nobody; see specs/README.md for the names" in result.stderr


def test_help_has_an_example() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "Example:\n    python -m benchmarks.parser_speed" in result.stdout


def test_a_parser_that_loses_text_is_not_measured() -> None:
    known = as_format(formats.XML)
    broken = dataclasses.replace(known, source=known.source.replace("def feed(", "def feed_(", 1))
    deaf = broken.source.replace(
        "    def feed_(",
        "    def feed(self, text: str) -> list[Event]:\n        return []\n\n    def feed_(",
        1,
    )
    with pytest.raises(WrongResult, match="xml: the content didn't come back from the parser"):
        streamed(dataclasses.replace(known, source=deaf), LongText.CONTENT, [256], Effort(1, 0))


@pytest.mark.parametrize(
    "spec",
    [
        formats.HERMES,
        formats.BRACKETS,
        formats.XML,
        formats.PYTHON,
        formats.QUOTED,
        formats.GUARDED,
    ],
    ids=lambda spec: spec.name,
)
def test_long_turns_come_back_from_the_parser(spec: Spec) -> None:
    module = load_module(as_format(spec).source)
    for part in [part for part in LongText if has_part(spec, part)]:
        turn = long_turn(spec, part, 1000)
        assert 980 <= len(turn.body) <= 1060, part
        message = module.parse(turn.whole, tools=turn.tools, prefill=spec.turn.header)
        assert said(part, message) == turn.value


def test_escapes_are_of_all_kinds() -> None:
    body = long_turn(formats.HERMES, LongText.ESCAPES, 1000).body
    for escape in (r"\"", r"\\", r"\n", r"\u0001"):
        assert body.count(escape) > 20


def test_targets_are_those_of_the_format_and_the_worst_size_counts() -> None:
    specs = [formats.HERMES, formats.XML]
    results = [
        Streamed(as_format(spec), part, {1: 2.0, 4: 2.4, 16: 2.2})
        for spec in specs
        for part in (LongText.CONTENT, LongText.ARGUMENT)
    ]
    verdicts = [list(judge_streamed(result, 1.0)) for result in results]
    assert [(cost.value, cost.target) for cost, _ in verdicts] == [
        (2.4, 1.5),
        (2.4, 2.5),
        (2.4, 1.5),
        (2.4, 3.0),
    ]
    assert [growth.value for _, growth in verdicts] == pytest.approx([1.1] * 4)


def bind(*arguments: str) -> Result:
    few = ("--tools", "20", "--rounds", "1")
    return CliRunner().invoke(grammar_binding.bench, [*few, *arguments])


def test_binding_is_measured_beside_llama_cpps_converter() -> None:
    result = bind("--json", *ANY_TIME, TAGGED)
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)
    assert (found["name"], found["tools"]) == (TAGGED, 20)
    assert 0 < found["again_milliseconds"] < found["cold_milliseconds"]
    assert found["converter_milliseconds"] > 0


def test_binding_that_takes_too_long_is_named() -> None:
    result = bind(*NO_TIME, TAGGED)
    assert result.exit_code == 1
    assert [line.partition(" tools")[0] for line in result.stderr.splitlines()] == [
        f"missed: {TAGGED}, 20"
    ] * 2


def test_the_tools_that_are_bound_can_be() -> None:
    """A converter that refused them would be fast."""
    converted = grammar_binding.as_one_schema(grammar_binding.tools_of(2))
    for call in converted["oneOf"]:
        Draft202012Validator.check_schema(call)
    assert bind("--json", *ANY_TIME, "no-such-format").exit_code == 2


def test_what_becomes_of_others_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both that is accepted wrongly, and what is neither compiled nor refused by name, is told."""
    tests = [
        {"description": "fits", "data": {"b": 1, "a": 2}, "valid": True},
        {"description": "is one, it says", "data": {"a": 1}, "valid": False},
        {"description": "as it says", "data": {"a": "x"}, "valid": True},
    ]
    integers = {"properties": {key: {"type": "integer"} for key in "ab"}}
    cases = [
        {"description": "integers", "schema": integers, "tests": tests},
        {"description": "no grammar", "schema": {"not": {}}, "tests": tests},
    ]
    counts = schema_suite.judge_suite([("file", cases)])
    assert counts.schemas == {"compiled": 1, "refused by name": 1}
    assert counts.values == {
        "valid values accepted": 1,
        "invalid values accepted (accepted wrongly)": 1,
        "valid values refused (refused wrongly)": 1,
    }
    assert counts.wrong == ["file: integers: is one, it says: {'a': 1}"]

    def broken(schema: Any, name: str) -> Any:
        raise ValueError("no answer")

    monkeypatch.setattr(schema_suite, "schema_rules", broken)
    counts = schema_suite.judge_suite([("file", cases[:1])])
    assert counts.schemas == {"neither": 1}
    assert counts.wrong == ["file: integers: ValueError: no answer"]


def test_real_schemas_are_held_to_a_validator() -> None:
    schemas = {"a": {"type": "integer"}, "b": {"type": "text"}, "c": {"$id": "x", "enum": [1]}}
    counts = schema_suite.judge_real(schemas.items(), Random(0))
    assert counts.schemas == {"compiled": 2, "refused by name": 1}
    assert counts.values == {"valid values accepted": 40}
    assert counts.wrong == []
