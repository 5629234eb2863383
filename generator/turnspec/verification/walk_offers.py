"""What grammars are bound to for random walks: tools of every type, and requests for them.

The names of arguments are words that nothing else holds, so that a walk shows by its literals which
arguments it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from turnspec.grammar.bound import BoundGrammar
from turnspec.grammar.request import GrammarRequest, functions
from turnspec.spec.characters import call_ends, is_name
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.words import SlotKind
from turnspec.verification.gbnf_reader import Grammar, read_grammar


def _tool(name: str, required: str = "", **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required.split()}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


#: What binds a format's grammar to a request.
Bind = Callable[[GrammarRequest], BoundGrammar | list[Problem]]

_TEXT = {"type": "string"}
_NUMBERS = {"type": "array", "items": {"type": "integer"}}
_ENTRY = {
    "type": "object",
    "properties": {"qxkey": _TEXT, "qxamount": {"type": "number"}, "qxparts": _NUMBERS},
    "required": ["qxkey"],
}
#: Between them they have values of every type, beside each other and inside of each other.
TOOLS: tuple[dict[str, Any], ...] = (
    _tool(
        "qx_mixed",
        "qxtext",
        qxtext=_TEXT,
        qxcount={"type": "integer"},
        qxratio={"type": "number"},
        qxflag={"type": "boolean"},
        qxnothing={"type": "null"},
    ),
    _tool(
        "qx-nested",
        qxlist={"type": "array", "items": _TEXT},
        qxthing=_ENTRY,
        qxentries={"type": "array", "items": _ENTRY},
    ),
    _tool("qx_texts", "qxone qxtwo", qxone=_TEXT, qxtwo=_TEXT, qxthree=_TEXT),
    _tool("qx_empty"),
)
_ANSWER = {
    "type": "object",
    "properties": {"qxanswer": _TEXT, "qxpoints": _NUMBERS},
    "required": ["qxanswer"],
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A request for a grammar, what to call it, and how many walks it gets."""

    title: str
    request: GrammarRequest
    walks: int


def offers(spec: Spec) -> Iterator[Offer]:
    """Yield the requests to bind a format's grammar to."""
    if spec.tools is not None:
        needed = GrammarRequest(
            _writable(TOOLS, spec), tool_choice="required", parallel=True, thinking=True
        )
        yield Offer("calls", needed, 90)
        yield Offer("calls without thinking", replace(needed, thinking=False), 8)
        if _has_own_default(spec):
            yield Offer("calls, thinking by default", replace(needed, thinking=None), 8)
        yield Offer("calls or an answer", replace(needed, tool_choice="auto"), 8)
    yield Offer("no calls", GrammarRequest(tool_choice="none", thinking=True), 8)
    yield Offer("no calls, no thinking", GrammarRequest(tool_choice="none", thinking=False), 4)
    if _has_own_default(spec):
        yield Offer("no calls, thinking by default", GrammarRequest(tool_choice="none"), 4)
    yield Offer("an answer by a schema", GrammarRequest(response_schema=_ANSWER), 4)


def _has_own_default(spec: Spec) -> bool:
    """Tell whether a template's own prompt is neither that with thinking nor that without."""
    thinking = spec.thinking
    return thinking.default.prompt not in (thinking.enabled.prompt, thinking.disabled.prompt)


def _writable(tools: Sequence[Mapping[str, Any]], spec: Spec) -> list[dict[str, Any]]:
    """Return tools with names that the format can write: a dash may be the end of one."""
    ends = call_ends(spec.tools, SlotKind.NAME) if spec.tools else ""
    found = []
    for tool in tools:
        function = dict(tool["function"])
        name = str(function["name"])
        function["name"] = name if is_name(name, ends) else name.replace("-", "")
        found.append({**tool, "function": function})
    return found


def schemas(tools: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the schema of each tool's arguments, by the tool's name."""
    return {function.name: function.parameters for function in functions(tools)}


def bound_grammar(request: GrammarRequest, bind: Bind) -> tuple[BoundGrammar, Grammar] | Problem:
    """Return a grammar that is bound to a request, as it is and as it is read."""
    bound = bind(request)
    if not isinstance(bound, BoundGrammar):
        return bound[0]
    grammar = read_grammar(bound.grammar)
    return grammar if isinstance(grammar, Problem) else (bound, grammar)
