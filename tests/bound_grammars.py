"""Requests for grammars, and what comes of random turns of them: read, and checked by schema."""

from __future__ import annotations

import json
import multiprocessing
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing.process import BaseProcess
from random import Random
from typing import Any

from jsonschema import Draft202012Validator

from tests.generated_formats import committed_format
from tests.grammar_engines.random_texts import random_turn
from tests.grammar_samples import turn_ends
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.grammar.requested import prompt_for
from turnspec.grammar.turn_onward import opens_reasoning, prompt_extra
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.turns import written_input


def _tool(
    name: str, required: str = "", more: dict[str, Any] | None = None, **properties: Any
) -> Any:
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": required.split(),
    }
    return {"type": "function", "function": {"name": name, "parameters": parameters | (more or {})}}


_TREE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
    },
    "required": ["name"],
}
_ENTRY = {
    "type": "object",
    "properties": {"key": {"type": "string"}, "value": {"type": "number"}},
    "required": ["key"],
}
#: Between them they have every type, most keywords, and names that are easy to get wrong.
TOOLS: list[Any] = [
    _tool(
        "get_weather",
        "city",
        city={"type": "string"},
        unit={"type": "string", "enum": ["celsius", "fahrenheit"]},
        days={"type": "integer", "minimum": 1, "maximum": 14},
    ),
    _tool(
        "get",
        plain={"type": "string"},
        short={"type": "string", "maxLength": 5},
        code={"type": "string", "pattern": r"^[A-Z]{2}-\d+$"},
        day={"type": "string", "format": "date"},
        id={"type": "string", "format": "uuid"},
        odd={"enum": ["a b", "<x>", '"q"', "", "ü😀"]},
    ),
    _tool(
        "numbers",
        "n",
        n={"type": "integer"},
        part={"type": "number", "minimum": 0, "maximum": 1},
        pick={"enum": [1, 2.5, -3]},
        mixed={"enum": ["auto", 1, None, True]},
        constant={"const": 7},
    ),
    _tool(
        "unions",
        maybe={"anyOf": [{"type": "string"}, {"type": "null"}]},
        either={"type": ["integer", "string"]},
        flag={"type": ["boolean", "null"]},
        list_or={"oneOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "boolean"}]},
        open={},
    ),
    _tool(
        "nested-things",
        "entries",
        entries={"type": "array", "items": _ENTRY, "minItems": 1},
        pair={
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "items": False,
            "minItems": 2,
        },
        matrix={"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        settings={
            "type": "object",
            "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}},
        },
    ),
    _tool(
        "refs",
        "",
        {"$defs": {"Tree": _TREE, "Unit": {"type": "string", "enum": ["c", "f"]}}},
        tree={"$ref": "#/$defs/Tree"},
        unit={"$ref": "#/$defs/Unit"},
        **{"first name": {"type": "string"}, "ключ": {"type": "boolean"}},
    ),
    {"name": "now"},
]
#: Tools that a grammar can't bind wholly: it doesn't see that a name comes twice.
OPEN_TOOLS: list[Any] = [
    {"name": "anything", "parameters": {"type": "object"}},
    _tool("more", "", {"additionalProperties": {"type": "boolean"}}, a={"type": "integer"}),
    _tool(
        "inner",
        any_list={"type": "array"},
        any_object={"type": "object"},
        map={"type": "object", "additionalProperties": {"type": "integer"}},
    ),
]
ANSWER = {
    "type": "object",
    "properties": {
        "answer": {"type": "string"},
        "kind": {"enum": ["<one>", "two"]},
        "points": {"type": "array", "items": {"type": "integer"}},
        "any": {},
    },
    "required": ["answer"],
}
REQUESTS = {
    "auto": GrammarRequest(TOOLS),
    "auto, parallel": GrammarRequest(TOOLS, parallel=True),
    "required": GrammarRequest(TOOLS, tool_choice="required", parallel=True),
    "required, no thinking": GrammarRequest(
        TOOLS, tool_choice="required", parallel=True, thinking=False
    ),
    "one tool": GrammarRequest(TOOLS, tool_choice="nested-things"),
    "none": GrammarRequest(TOOLS, tool_choice="none"),
    "answer": GrammarRequest(response_schema=ANSWER),
    "answer or calls": GrammarRequest(TOOLS, response_schema=ANSWER, thinking=False),
    "open tools": GrammarRequest(OPEN_TOOLS, tool_choice="required"),
}


def requests_for(spec: Spec) -> dict[str, GrammarRequest]:
    """Return the requests that a format can answer."""
    if spec.tools is not None:
        return REQUESTS
    return {title: replace(REQUESTS[title], tools=()) for title in ("none", "answer")}


#: As in rung 3 (`verification/grammar_rung.py`).
_BEYOND_DOUBLES = re.compile(r"[eE]\+?[0-9]{3}")


@dataclass(frozen=True, slots=True)
class Bound:
    """A grammar for a request, with what its turns stand behind."""

    spec: Spec
    request: GrammarRequest
    bound: BoundGrammar
    prefill: str
    grammar: Grammar = field(repr=False)

    @classmethod
    def of(cls, name: str, request: GrammarRequest) -> Bound:
        """Return the grammar of a committed format for a request."""
        spec = committed_format(name).spec
        bound = bind_grammar(spec, request)
        assert isinstance(bound, BoundGrammar), list(map(str, bound))
        grammar = read_grammar(bound.grammar)
        assert isinstance(grammar, Grammar), grammar
        prompt = prompt_for(spec, request)
        # A lazy grammar begins with the first call, when reasoning is over.
        begun = bound.lazy and opens_reasoning(spec, prompt_extra(spec, prompt))
        return cls(spec, request, bound, prompt + (spec.reasoning.end if begun else ""), grammar)

    def turns(self, random: Random, count: int) -> list[str]:
        """Return random turns, none with a number that no double holds."""
        drawn = iter(lambda: random_turn(self.grammar, random, longest=250), None)
        return list(islice((turn for turn in drawn if not _BEYOND_DOUBLES.search(turn)), count))

    def faults(self, turn: str) -> list[str]:
        """Return what is wrong with a turn as the generated parser reads it, ended or not."""
        found = (self._faults(turn + end) for end in ("", *turn_ends(self.spec)))
        return min(found, key=len)

    def _faults(self, turn: str) -> list[str]:
        module = committed_format(self.spec.name).module
        options = {"tools": self.request.tools or None, "prefill": self.prefill}
        message = module.parse(turn, enable_thinking=self.request.thinking, **options)
        told = (problem for problem in message.problems if not self._is_allowed(problem))
        return [*map(str, told), *self._schema_faults(message), *self._answer_faults(message)]

    def _is_allowed(self, problem: Any) -> bool:
        return self.request.tools == OPEN_TOOLS and problem.kind == "repeated_argument"

    def _schema_faults(self, message: Any) -> Iterator[str]:
        for call in message.tool_calls:
            if not call.complete:
                yield f"{call.name} is not complete"
            if call.name not in (known := schemas_of(self.request)):
                yield f"there is no tool {call.name}"
                continue
            errors = Draft202012Validator(known[call.name]).iter_errors(json.loads(call.arguments))
            yield from (f"{call.name}: {error.message}" for error in errors)

    def _answer_faults(self, message: Any) -> Iterator[str]:
        calls = len(message.tool_calls)
        if self.request.calls_needed and not calls:
            yield "there is no call"
        if not self.request.calls_allowed and calls:
            yield "there is a call"
        if calls > 1 and not self.request.parallel:
            yield "there are several calls"
        if self.request.response_schema is not None and not calls:
            validator = Draft202012Validator(self.request.response_schema)
            yield from (
                error.message for error in validator.iter_errors(json.loads(message.content))
            )


def schemas_of(request: GrammarRequest) -> dict[str, Any]:
    """Return the schema of every tool's arguments."""
    functions = (tool.get("function", tool) for tool in request.tools)
    return {function["name"]: function.get("parameters", {}) for function in functions}


#: Arguments in the order of the schemas.
CALLS = (
    Call("get_weather", {"city": "Rome", "unit": "celsius", "days": 3}, id="abcdefgh1"),
    Call(
        "nested-things",
        {"entries": [{"key": "a", "value": 1.5}], "matrix": [[1], []]},
        id="abcdefgh2",
    ),
    Call("unions", {"maybe": "x y", "either": 5, "flag": True}, id="abcdefgh3"),
)


def written_calls(spec: Spec, calls: tuple[Call, ...], *, thinking: bool | None) -> str | None:
    """Return a turn of calls, with reasoning where there is any, behind the real prompt."""
    for reasoning in ("It is cold there.", "") if spec.thinking.expects(thinking) else ("",):
        given = written_input(spec, Message(reasoning=reasoning, calls=calls), thinking=thinking)
        if given is not None:
            return given.text
    return None


def end_those_begun_since(known: Collection[BaseProcess]) -> None:
    """End the processes that a binder began, as nobody has to wait for them any more."""
    for process in multiprocessing.active_children():
        if process not in known:
            process.kill()
