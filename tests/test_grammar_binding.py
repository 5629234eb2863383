"""What binding a grammar costs, and what it takes to be imported; and schemas that are loosened."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

import turnspec
from tests.bound_grammars import TOOLS, end_those_begun_since
from tests.grammar_engines.engine_llguidance import LlguidanceGrammar, compile_grammar
from turnspec.cli.main import turnspec as command
from turnspec.grammar.bound import BoundGrammar, GrammarBinder, bind_grammar
from turnspec.grammar.request import GrammarRequest, ToolChoice, functions
from turnspec.grammar.rule_names import RuleNames
from turnspec.grammar.schema_checks import checked
from turnspec.grammar.schema_form import is_plainly_well_formed
from turnspec.rendering.limits import Limits
from turnspec.spec.files import read_spec
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.verification.engine_llama_cpp import LlamaCppGrammar
from turnspec.verification.engine_llama_cpp import compile_grammar as llama_cpp

ROOT = Path(__file__).parent.parent
JSON_CALLS, TAGGED_CALLS = "qwen-qwen3-0-6b", "qwen3-coder"


def spec_of(name: str) -> Spec:
    spec = read_spec(ROOT / "specs" / f"{name}.yaml")
    assert isinstance(spec, Spec)
    return spec


def binder(name: str) -> GrammarBinder:
    return turnspec.grammar_binder(ROOT / "specs" / f"{name}.yaml")


def tool(number: int, **properties: Any) -> dict[str, Any]:
    properties = properties or {
        "city": {"type": "string", "description": "Where."},
        "unit": {"type": "string", "enum": ["C", "F"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "within": {"type": "object", "properties": {"folder": {"type": "string"}}},
    }
    parameters = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return {
        "type": "function",
        "function": {"name": f"look_up_number_{number}", "parameters": parameters},
    }


# What it costs


def calls_made(function: Any, *arguments: object) -> int:
    """Return how many calls Python makes: unlike time, the same on any machine."""
    made = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.parametrize("name", [JSON_CALLS, TAGGED_CALLS])
def test_binding_grows_with_the_number_of_tools_alone(name: str) -> None:
    bind = GrammarBinder(spec_of(name)).bind
    few, many = (
        calls_made(bind, GrammarRequest([tool(n) for n in range(count)], parallel=True))
        for count in (25, 200)
    )
    assert many < 8 * few


def test_binding_grows_with_the_alternatives_of_a_tool() -> None:
    """A parser of tagged calls looks for a name in all of them, which are looked at once."""

    def of_kinds(count: int) -> Any:
        kinds = [{"properties": {f"of_{n}": {"const": n}}, "required": []} for n in range(count)]
        return {"name": "look", "parameters": {"anyOf": kinds}}

    bind = GrammarBinder(spec_of(TAGGED_CALLS)).bind
    few, many = (calls_made(bind, GrammarRequest([of_kinds(count)])) for count in (25, 200))
    assert many < 8 * few


def test_names_with_one_beginning_are_found_at_once() -> None:
    """As do the rules of tools whose names differ beyond what a rule's name holds."""
    names = RuleNames(["tool-a", "tool-a-3"])
    assert [names.free("tool-a") for _ in range(3)] == ["tool-a-2", "tool-a-4", "tool-a-5"]
    few = calls_made(lambda: [RuleNames().free("x") for _ in range(10)])
    assert calls_made(lambda: [names.free("x") for _ in range(1000)]) < 200 * few


@pytest.mark.parametrize("name", [JSON_CALLS, TAGGED_CALLS])
def test_a_tool_that_is_new_costs_no_more_than_itself(name: str) -> None:
    """Requests of a conversation bring the tools of the last one, or one more."""
    bind = GrammarBinder(spec_of(name)).bind
    tools = [tool(n, **{f"of_{n}": {"type": "integer", "maximum": n}}) for n in range(60)]
    all_new = calls_made(bind, GrammarRequest(tools))
    changed = [*tools[:-1], tool(60, other={"type": "integer", "minimum": 7})]
    assert 3 * calls_made(bind, GrammarRequest(changed)) < all_new
    # What was remembered of other requests changes nothing.
    assert bind(GrammarRequest(changed)) == bind_grammar(spec_of(name), GrammarRequest(changed))


def test_tools_with_equal_schemas_share_their_rules() -> None:
    equal = [tool(number, city={"type": "string", "minLength": 1}) for number in (1, 2)]
    found = binder(JSON_CALLS).bind(GrammarRequest(equal))
    assert isinstance(found, BoundGrammar)
    assert "tool-look-up-number-1 ::=" in found.grammar
    assert "tool-look-up-number-2" not in found.grammar
    again = [tool(number, city={"type": "string", "pattern": "(a)\\1"}) for number in (1, 2)]
    told = binder(JSON_CALLS).bind(GrammarRequest(again))
    assert isinstance(told, list)
    assert [problem.path.split("/")[1] for problem in told] == ["0", "1"]


def test_names_of_rules_stay_apart_where_schemas_are_remembered() -> None:
    """A tool may be named as the rule for another one's argument is."""
    first = {"type": "object", "properties": {"b": {"type": "string", "minLength": 2}}}
    second = {"type": "object", "properties": {"c": {"type": "integer", "minimum": 3}}}
    tools = [{"name": "a", "parameters": first}, {"name": "a-b", "parameters": second}]
    grammar_binder = binder(JSON_CALLS)
    for order in (tools, tools[::-1], tools):
        found = grammar_binder.bind(GrammarRequest(order, ToolChoice.REQUIRED))
        assert isinstance(found, BoundGrammar)
        names = [line.partition(" ::=")[0] for line in found.grammar.splitlines() if "::=" in line]
        assert len(names) == len(set(names))
        assert found == bind_grammar(spec_of(JSON_CALLS), GrammarRequest(order, "required"))


def test_an_equal_request_is_remembered_and_no_other() -> None:
    bind = binder(JSON_CALLS).bind
    request = GrammarRequest([tool(1)], ToolChoice.REQUIRED)
    first = bind(request)
    assert bind(GrammarRequest(json.loads(json.dumps([tool(1)])), "required")) is first
    assert first == bind_grammar(spec_of(JSON_CALLS), request)
    others = [
        GrammarRequest([tool(2)], "required"),
        GrammarRequest([tool(1)]),
        GrammarRequest([tool(1)], "required", thinking=False),
        GrammarRequest([tool(1)], lazy=False),
        GrammarRequest([tool(1, x={"const": 1})], "required"),
        GrammarRequest([tool(1, x={"const": True})], "required"),
        GrammarRequest([tool(1, x={"const": "1"})], "required"),
    ]
    found = [bind(other) for other in others]
    assert all(isinstance(bound, BoundGrammar) for bound in found)
    assert len({str(bound) for bound in (first, *found)}) == 8


#: To try the value on the pattern takes ages: it goes back and forth between the two repeats.
TAKES_LONG = {"enum": ["a" * 60 + "!"], "pattern": "^(a+)+$"}


def test_a_budget_ends_what_takes_too_long_and_nothing_else() -> None:
    spec, limit = spec_of(JSON_CALLS), Limits(seconds=0.5)
    slow = GrammarRequest([tool(1, x=TAKES_LONG)])
    with closing(GrammarBinder(spec, limit=limit)) as binder:
        for quick in (tool(1), tool(2)):
            assert binder.bind(GrammarRequest([quick])) == bind_grammar(
                spec, GrammarRequest([quick])
            )
        message = "binding the grammar took longer than 0.5 s"
        assert [str(problem) for problem in refused(binder.bind(slow))] == [message]
        # It isn't remembered, and the next request is bound again.
        assert [str(problem) for problem in refused(binder.bind(slow))] == [message]
        assert isinstance(binder.bind(GrammarRequest([tool(3)])), BoundGrammar)
        wrong = GrammarRequest([tool(1, x={"not": {}})])
        assert binder.bind(wrong) == bind_grammar(spec, wrong)
    assert [str(problem) for problem in refused(bind_grammar(spec, slow, limit=limit))] == [message]


def test_nobody_waits_for_a_request_that_takes_long() -> None:
    known = multiprocessing.active_children()
    binder = GrammarBinder(spec_of(JSON_CALLS), limit=Limits(seconds=20))
    with closing(binder), ThreadPoolExecutor() as threads:
        slow = threads.submit(binder.bind, GrammarRequest([tool(1, x=TAKES_LONG)]))
        others = [threads.submit(binder.bind, GrammarRequest([tool(n)])) for n in range(3)]
        assert all(isinstance(other.result(), BoundGrammar) for other in others)
        assert not slow.done()
        end_those_begun_since(known)
        assert refused(slow.result())


def refused(found: BoundGrammar | list[Problem]) -> list[Problem]:
    assert isinstance(found, list)
    return found


def test_tools_that_change_after_binding_change_nothing() -> None:
    tools = [tool(1)]
    bind = binder(JSON_CALLS).bind
    first = bind(GrammarRequest(tools))
    tools[0]["function"]["name"] = "another"
    second = bind(GrammarRequest(tools))
    assert isinstance(first, BoundGrammar)
    assert isinstance(second, BoundGrammar)
    assert "another" in second.grammar
    assert "another" not in first.grammar


def test_problems_are_remembered_as_a_list_of_ones_own() -> None:
    bind = binder(JSON_CALLS).bind
    found = bind(GrammarRequest([3]))  # type: ignore[list-item]
    assert isinstance(found, list)
    found.clear()
    assert len(bind(GrammarRequest([3]))) == 1  # type: ignore[list-item, arg-type]


IMPORTED = """
import sys
import turnspec
from turnspec.grammar.request import GrammarRequest
tool = {"name": "f", "parameters": {"properties": {"a": {"enum": ["b"]}}}}
binder = turnspec.grammar_binder(sys.argv[1])
print(type(binder.bind(GrammarRequest([tool], parallel=True))).__name__)
print(*{name.split(".")[0] for name in sys.modules})
print(*{name.split(".")[1] for name in sys.modules if name.startswith("turnspec.")})
"""


def test_binding_imports_neither_the_analysis_nor_what_it_needs() -> None:
    path = ROOT / "specs" / f"{TAGGED_CALLS}.yaml"
    run = subprocess.run(
        [sys.executable, "-c", IMPORTED, path], check=True, capture_output=True, text=True
    )
    kind, packages, own = run.stdout.splitlines()
    assert kind == "BoundGrammar"
    assert set(own.split()) == {"spec", "engine", "codegen", "grammar", "library", "protocol"}
    refused = {"jinja2", "black", "hypothesis", "click", "rich", "httpx2", "numpy", "llama_cpp"}
    assert not refused & set(packages.split())


# Whether a schema is well-formed, told at once


KEYWORDS: dict[str, list[Any]] = {
    "type": ["string", "text", ["integer", "null"], [], ["null", "null"], 1],
    "enum": [[1, "a"], [], "a"],
    "required": [["a", "b"], ["a", "a"], [1], "a"],
    "minLength": [0, -1, 1.0, 1.5, True, "1"],
    "minimum": [0, -1.5, True, "1"],
    "multipleOf": [1, 0, 0.5],
    "uniqueItems": [True, 1],
    "pattern": ["a", 1],
    "title": ["a", None],
    "default": [None, {"type": "text"}],
    "$ref": ["#", 1],
    "$id": ["a", "a#b"],
    "$anchor": ["a", "1"],
    "dependentRequired": [{"a": ["b"]}, {"a": ["b", "b"]}],
    "x-own": [1],
}


def inside(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    one = st.sampled_from(["items", "not", "additionalProperties", "unevaluatedItems", "then"])
    several = st.sampled_from(["allOf", "anyOf", "prefixItems"])
    named = st.sampled_from(["properties", "$defs", "patternProperties", "dependentSchemas"])
    return (
        st.dictionaries(one, inner, max_size=2)
        | st.dictionaries(several, st.lists(inner, max_size=2), max_size=1)
        | st.dictionaries(named, st.dictionaries(st.sampled_from("ab"), inner), max_size=1)
        | st.dictionaries(st.sampled_from([*KEYWORDS, "items", "allOf", "properties"]), inner)
    )


KEYWORD = st.sampled_from(list(KEYWORDS)).flatmap(
    lambda keyword: st.sampled_from(KEYWORDS[keyword]).map(lambda value: {keyword: value})
)
WELL_OR_ILL: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | KEYWORD | st.just([]), inside, max_leaves=6
)


@given(WELL_OR_ILL)
def test_what_is_plainly_well_formed_is_so_to_the_meta_schema(schema: Any) -> None:
    if is_plainly_well_formed(schema):
        Draft202012Validator.check_schema(schema)


def test_usual_schemas_are_plainly_well_formed() -> None:
    for schema in (function.parameters for function in functions(TOOLS)):
        assert is_plainly_well_formed(schema)


def test_no_keyword_of_the_meta_schema_is_overlooked() -> None:
    """A keyword that the quick walk doesn't know would pass with any value."""
    meta = REGISTRY.contents("https://json-schema.org/draft/2020-12/schema")
    parts = [f"https://json-schema.org/draft/2020-12/{part['$ref']}" for part in meta["allOf"]]
    vocabularies = [meta, *map(REGISTRY.contents, parts)]
    keywords = {keyword for found in vocabularies for keyword in found["properties"]}
    assert len(keywords) > 50
    for keyword in keywords - {"const", "default"}:
        wrong = {keyword: object()}
        assert not is_plainly_well_formed(wrong), keyword


# Grammars that wait for nothing


def test_a_grammar_of_the_whole_turn_needs_no_trigger() -> None:
    """Behind so much content llama.cpp's search for a pattern overflows the stack."""
    request = GrammarRequest([tool(1, a={"type": "integer"})], lazy=False)
    bound = binder(JSON_CALLS).bind(request)
    assert isinstance(bound, BoundGrammar)
    assert (bound.lazy, bound.trigger_words, bound.trigger_patterns) == (False, (), ())
    engine = llama_cpp(bound.grammar)
    assert isinstance(engine, LlamaCppGrammar)
    content = "I say what I say. " * 2500
    call = '<tool_call>\n{"name": "look_up_number_1", "arguments": {"a": %s}}\n</tool_call>'
    assert engine.accepts(content + call % "1")
    wrong = content + call % '"1"'
    assert engine.accepted_length(wrong) == wrong.index('"1"')


# Schemas that are loosened


BEYOND = tool(
    1,
    list={"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": "(?=a)b"}},
    other={"not": {"type": "string"}},
    afar={"$ref": "https://example.org/schema"},
    named={
        "type": "object",
        "patternProperties": {"^x-": {"type": "integer", "multipleOf": 5}},
        "additionalProperties": False,
    },
)
AT = "tools: #/0/function/parameters/properties"


def said(tools: list[Any], *, loosen: bool, name: str = JSON_CALLS) -> list[str]:
    found = binder(name).bind(GrammarRequest(tools, "required", loosen=loosen))
    remarks = found.notices if isinstance(found, BoundGrammar) else found
    assert isinstance(found, BoundGrammar) is loosen
    return sorted(map(str, remarks))


def test_a_refusal_names_everything_at_once() -> None:
    wrong = tool(2, a={"type": "text"})
    assert said([BEYOND, wrong], loosen=False) == [
        f"{AT}/afar/$ref: https://example.org/schema is nowhere in this schema",
        f"{AT}/list/items/pattern: the pattern is beyond a grammar: "
        "it looks ahead or behind, or sets a flag",
        f"{AT}/list/uniqueItems: uniqueItems cannot be expressed in a grammar",
        f"{AT}/named/patternProperties/^x-/multipleOf: multipleOf cannot be expressed in a grammar",
        f"{AT}/named/patternProperties: patternProperties cannot be expressed in a grammar",
        f"{AT}/other/not: not cannot be expressed in a grammar",
        "tools: #/1/function/parameters/properties/a/type: "
        "'text' is not valid under any of the given schemas",
    ]


def test_loosened_each_of_them_is_a_notice() -> None:
    assert said([BEYOND], loosen=True) == [
        f"{AT}/afar/$ref: https://example.org/schema is nowhere in this schema: any value fits",
        f"{AT}/list/items/pattern: the pattern is beyond a grammar: "
        "it looks ahead or behind, or sets a flag; it is not enforced",
        f"{AT}/list/uniqueItems: uniqueItems is not enforced",
        f"{AT}/named/patternProperties/^x-/multipleOf: multipleOf is not enforced",
        f"{AT}/named/patternProperties: "
        "patternProperties is read as values of other names, whatever these are",
        f"{AT}/named: a grammar lets names that the schema doesn't give come twice",
        f"{AT}/other/not: not is not enforced",
    ]


@pytest.mark.parametrize(
    ("arguments", "accepted"),
    [
        ({"list": ["a", "a"]}, True),
        ({"list": [1]}, False),
        ({"list": [], "other": "text"}, True),
        ({"list": [], "afar": {"a": [None]}}, True),
        ({"list": [], "named": {"x-1": 7, "y": 8}}, True),
        ({"list": [], "named": {"x-1": "7"}}, False),
    ],
    ids=str,
)
def test_what_can_be_said_is_still_enforced(arguments: Any, accepted: bool) -> None:
    bound = binder(JSON_CALLS).bind(GrammarRequest([BEYOND], "required", loosen=True))
    assert isinstance(bound, BoundGrammar)
    engine = compile_grammar(bound.grammar)
    assert isinstance(engine, LlguidanceGrammar)
    call = json.dumps({"name": "look_up_number_1", "arguments": arguments})
    turn = f"<think>\n\n</think>\n\n<tool_call>\n{call}\n</tool_call>"
    assert engine.accepts(turn) is accepted


def test_what_a_format_cannot_write_is_left_out() -> None:
    choice = tool(1, a={"enum": ["</parameter>", "b"]}, b={"type": "integer"})
    at = f"{AT}/a/enum"
    message = '"</parameter>" cannot be written in this format'
    assert said([choice], loosen=False, name=TAGGED_CALLS) == [f"{at}: {message}"]
    assert said([choice], loosen=True, name=TAGGED_CALLS) == [f"{at}: {message}; it is left out"]


def test_loosening_mends_nothing_that_is_wrong() -> None:
    ring = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
    for schema in ({"type": "text"}, ring, {"enum": list(range(20_000))}):
        findings = checked(schema, loosen=True)
        assert findings.problems
        assert not findings.usable


def test_the_command_loosens(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([tool(1, a={"type": "array", "uniqueItems": True})]))
    at = f"{path}: #/0/function/parameters/properties/a/uniqueItems: uniqueItems"
    arguments = ["grammar", JSON_CALLS, "--tools", str(path), "--root", str(ROOT)]
    refused = CliRunner().invoke(command, arguments)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == f"error: {at} cannot be expressed in a grammar\n"
    loosened = CliRunner().invoke(command, [*arguments, "--loosen"])
    assert loosened.exit_code == 0
    assert loosened.stderr == f"notice: {at} is not enforced\n"
