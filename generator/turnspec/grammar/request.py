"""What a grammar is asked for: tools, the choice among them, and the form of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from turnspec.grammar.schema_checks import Schema, schema_problems
from turnspec.spec.characters import is_name
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem


class ToolChoice(StrEnum):
    """Whether a turn calls tools, as chat-completions APIs have it; any other word names a tool."""

    AUTO = "auto"
    REQUIRED = "required"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class GrammarRequest:
    """What a grammar is to let through.

    Attributes:
        tools: OpenAI tool definitions, or just their functions.
        tool_choice: one of `ToolChoice`, or the name of the only tool that may be called.
        parallel: whether a turn may hold several calls.
        thinking: whether the prompt is the one for thinking.
        response_schema: a JSON Schema for the content.
        own_grammar: a GBNF text to be used as it is.
    """

    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: str = ToolChoice.AUTO
    parallel: bool = False
    thinking: bool = True
    response_schema: Schema | None = None
    own_grammar: str | None = None

    @property
    def only_tool(self) -> str:
        """The tool that has to be called, "" if there is no such choice."""
        return "" if self.tool_choice in tuple(ToolChoice) else self.tool_choice

    @property
    def calls_needed(self) -> bool:
        """Whether a turn has to call a tool."""
        return self.tool_choice == ToolChoice.REQUIRED or bool(self.only_tool)

    @property
    def calls_allowed(self) -> bool:
        """Whether a turn may call a tool."""
        return bool(self.tools) and self.tool_choice != ToolChoice.NONE


@dataclass(frozen=True, slots=True)
class Function:
    """One tool: its name, the schema of its arguments, and where that stands among the tools."""

    name: str
    parameters: Schema
    path: str


def functions(tools: Sequence[Mapping[str, Any]]) -> list[Function]:
    """Return the tools' functions; `request_problems` says what is wrong with them."""
    found = []
    for function, path in _with_paths(tools):
        parameters = function.get("parameters")
        if parameters is None:
            parameters = {"type": "object", "properties": {}}
        found.append(Function(function["name"], parameters, f"{path}/parameters"))
    return found


def _with_paths(tools: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """Yield what should be each tool's function, and where it stands."""
    for number, tool in enumerate(tools):
        inside = isinstance(tool, Mapping) and "function" in tool
        yield (tool["function"], f"#/{number}/function") if inside else (tool, f"#/{number}")


def request_problems(spec: Spec, request: GrammarRequest) -> list[Problem]:
    """Return all that is wrong with a request, but for what is wrong with its schemas."""
    tools = (replace(problem, file="tools") for problem in _tool_problems(request))
    return [*_contradictions(spec, request), *tools]


def _contradictions(spec: Spec, request: GrammarRequest) -> Iterator[Problem]:
    if request.own_grammar is not None and request.response_schema is not None:
        yield Problem("give a response schema or a grammar of your own, not both")
    if request.own_grammar is not None and request.calls_allowed:
        message = "a grammar of your own leaves no room for tool calls: give no tools, or choose"
        yield Problem(f"{message} none")
    if request.calls_needed and request.response_schema is not None:
        yield Problem("a turn that has to call a tool has no answer for a response schema")
    if request.calls_needed and not request.tools:
        yield Problem(f"the tool choice {request.tool_choice!r} needs tools")
    names = _names(request.tools)
    if request.only_tool and names and request.only_tool not in names:
        known = ", ".join(names)
        yield Problem(f"there is no tool {request.only_tool!r} to choose; there are: {known}")
    if request.calls_allowed and spec.tools is None:
        yield Problem(f"{spec.name} has no tool calls; a response schema can bind its content")


def _names(tools: Sequence[Any]) -> list[str]:
    found = (f.get("name") for f, _ in _with_paths(tools) if isinstance(f, Mapping))
    return [name for name in found if isinstance(name, str)]


def _tool_problems(request: GrammarRequest) -> Iterator[Problem]:
    names: dict[str, str] = {}
    for function, path in _with_paths(request.tools):
        if isinstance(function, Mapping):
            yield from _function_problems(function, path, names)
        else:
            yield Problem("a tool is an object with a function in it", path=path)


def _function_problems(
    function: Mapping[str, Any], path: str, names: dict[str, str]
) -> Iterator[Problem]:
    """Yield what is wrong with one function, and add its name to those seen so far."""
    name = function.get("name")
    if not isinstance(name, str) or not name:
        yield Problem("a tool needs a name", path=f"{path}/name")
    elif not is_name(name):
        message = f"{name!r} is no tool's name: that has letters, digits and any of _.:/-"
        yield Problem(message, path=f"{path}/name")
    elif name in names:
        message = f"there is a tool {name!r} already, at {names[name]}"
        yield Problem(message, path=f"{path}/name")
    else:
        names[name] = f"{path}/name"
    parameters = function.get("parameters")
    if not isinstance(parameters, Mapping | bool | None):
        yield Problem("the parameters are no JSON Schema", path=f"{path}/parameters")
    elif parameters is not None:
        for problem in schema_problems(parameters):
            place = f"{path}/parameters{problem.path.removeprefix('#')}"
            yield replace(problem, path=place)
