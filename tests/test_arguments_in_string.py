r"""Arguments that stand in a JSON string, as chat-completions APIs send them: `"{\"a\": 1}"`."""

from __future__ import annotations

import json

import pytest

from tests.own_templates import own_template, spec_of
from tests.test_deviations import failures_of
from turnspec.codegen.loading import load
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import Format
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.in_string import in_string
from turnspec.grammar.request import GrammarRequest, ToolChoice
from turnspec.grammar.text import Rule
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.problems import Problem
from turnspec.verification import engine_llama_cpp

NAME = "invented-arguments-in-string"
TOOL = {
    "name": "add",
    "parameters": {
        "type": "object",
        "properties": {"unit": {"enum": ['"', "\\"]}, "days": {"type": "array"}},
        "required": ["unit"],
        "additionalProperties": False,
    },
}


def turn(arguments: str) -> str:
    """Return a turn with these arguments as they are written."""
    head = '<~calls~>{"tool_calls": [{"id": "call_0", "function": {"name": "add", "arguments": '
    return f"{head}{arguments}}}}}]}}<~/calls~><~end~>"


def test_every_rung_is_passed() -> None:
    build = build_template(own_template(NAME), OutputPaths.in_folder(NAME), messages=20)
    assert build.problems == ()
    assert build.result is not None
    assert all(found.is_passed for found in build.result.rungs.values())


def test_deviations_are_read_and_told(worker: RenderWorker) -> None:
    spec = spec_of(NAME, worker)
    form = Format(spec, load(spec))
    cases = [case for build in DEVIATIONS.values() for case in build(form)]
    # A call that is no array leaves a bracket behind it, which is told besides.
    cases = [case for case in cases if case.told != {"array"}]
    failures = [found for case in cases for found in failures_of(form, case)]
    assert len(cases) > 100
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize(
    ("written", "arguments", "told"),
    [
        (r'"{\"a\": \"\\\"\\n\"}"', '{"a": "\\"\\n"}', ""),
        ('""', "{}", ""),  # as some servers send none
        ('{"a": 1}', '{"a": 1}', "the arguments are in no string"),
        (r'"{\"a\": [1}"', '{"a": [1]}', r'the arguments are "{\"a\": [1}"'),
        (r'"{\"a\": 1} 2"', '{"a": 1}', r'the arguments are "{\"a\": 1} 2"'),
    ],
)
def test_what_stands_for_arguments(
    written: str, arguments: str, told: str, worker: RenderWorker
) -> None:
    message = load(spec_of(NAME, worker)).parse(turn(written))
    (call,) = message.tool_calls
    assert call.arguments == arguments
    assert [(it.kind, it.message) for it in message.problems] == (
        [("string_arguments", told)] if told else []
    )


@pytest.mark.parametrize(
    ("arguments", "is_allowed"),
    [
        ({"unit": '"'}, True),
        ({"unit": "\\", "days": ['\n"', {"a": "\\"}, 1.5]}, True),
        ({"unit": "km"}, False),
        ({"days": []}, False),
    ],
)
def test_a_bound_grammar_holds_what_is_in_the_string_to_the_schema(
    arguments: object, is_allowed: bool, worker: RenderWorker
) -> None:
    request = GrammarRequest(tools=(TOOL,), tool_choice=ToolChoice.REQUIRED)
    bound = bind_grammar(spec_of(NAME, worker), request)
    assert isinstance(bound, BoundGrammar)
    grammar = engine_llama_cpp.compile_grammar(bound.grammar)
    assert not isinstance(grammar, Problem)
    text = turn(json.dumps(json.dumps(arguments))).removesuffix("<~end~>")
    assert grammar.accepts(text) is is_allowed
    assert not grammar.accepts(turn(json.dumps(arguments)).removesuffix("<~end~>"))


def test_rules_have_the_escapes_of_a_string() -> None:
    rules = [
        Rule("root", '"(" value ")"'),
        Rule("value", r'"\"" [^"\\\x00-\x1F]* "\\" ["\\/n] [ \t\n]{0,9} "\x01" "\""'),
    ]
    assert list(map(str, in_string(rules, ["value"]))) == [
        'root ::= "(" value ")"\n',
        'value ::= "\\"" in-string-value "\\""\n',
        r'in-string-value ::= "\\\"" [^"\\\x00-\x1F]* "\\\\" ( [/n] | "\\\"" | "\\\\" ) '
        r'( [ ] | "\\t" | "\\n" ){0,9} "\\u0001" "\\\""' + "\n",
    ]
