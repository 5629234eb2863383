"""What a grammar is asked for: tools, the choice among them, and the form of the answer."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf
from typing import Any

from turnspec.grammar.schema_checks import Findings, Schema, checked
from turnspec.spec.characters import is_name
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem

#: The version of marshal's format in which equal data is written in one way.
_WITHOUT_REFERENCES = 2
_LONGEST_KEY = 1_000_000  # bytes


class ToolChoice(StrEnum):
    """Whether a turn calls tools, as chat-completions APIs have it; any other word names a tool."""

    AUTO = "auto"
    REQUIRED = "required"
    NONE = "none"


def chosen_tool(choice: str | Mapping[str, Any] | None) -> str:
    """Return a choice as a request has it, given as chat-completions APIs have it.

    That is a word, or an object that names a tool; None is the usual one.

    Raises:
        ValueError: it is an object that names none.
    """
    match choice:
        case {"function": {"name": str(name)}} | {"name": str(name)}:
            return name
        case Mapping():
            raise ValueError(f"the tool choice names no tool in function.name: {choice}")
    return choice or ToolChoice.AUTO


def plain_key(data: Any, longest: float = inf) -> bytes | None:
    """Return a key that only equal data has; None if it is longer, or the data isn't plain.

    It is Python's own way to write plain data, and takes a few microseconds for a tool.
    """
    try:
        key = marshal.dumps(data, _WITHOUT_REFERENCES)
    except ValueError:  # of other mappings than dict, say, or nested too deep
        return None
    return key if len(key) <= longest else None


@dataclass(frozen=True, slots=True)
class GrammarRequest:
    """What a grammar is to let through.

    Attributes:
        tools: OpenAI tool definitions, or just their functions.
        tool_choice: one of `ToolChoice`, or the name of the only tool that may be called.
        parallel: whether a turn may hold several calls.
        thinking: which prompt it is: that with thinking enabled, with it disabled, or (None) the
            one that the template gives by itself.
        response_schema: a JSON Schema for the content.
        own_grammar: a GBNF text to be used as it is.
        loosen: whether what no grammar can express of a schema is left out, each time with a
            notice; else it is a problem.
        lazy: whether the grammar may wait for a call, where the model may call tools or not; else
            it holds from the prompt's end on, and needs no trigger.
        prefill: the prompt, or what it holds of the turn, as parsers take it: in place of the
            prompt that ``thinking`` says, for a message that is continued, say.
    """

    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: str = ToolChoice.AUTO
    parallel: bool = False
    thinking: bool | None = None
    response_schema: Schema | None = None
    own_grammar: str | None = None
    loosen: bool = False
    lazy: bool = True
    prefill: str | None = None

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

    def as_bytes(self) -> bytes | None:
        """Return the whole request as a key, which only an equal one has; None if it has none.

        A key says all that the request does.
        """
        calls = (self.tools, str(self.tool_choice), self.parallel, self.thinking)
        others = (self.response_schema, self.own_grammar, self.loosen, self.lazy, self.prefill)
        return plain_key(calls + others, _LONGEST_KEY)

    @classmethod
    def from_bytes(cls, key: bytes) -> GrammarRequest:
        """Return the request that has this key."""
        return cls(*marshal.loads(key))


@dataclass(frozen=True, slots=True)
class Function:
    """One tool: its name, the schema of its arguments, and where that stands among the tools."""

    name: str
    parameters: Schema
    path: str


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """The functions whose schemas can be read, and what is to be said of all."""

    functions: tuple[Function, ...]
    problems: tuple[Problem, ...]
    notices: tuple[Problem, ...]


def functions(tools: Sequence[Mapping[str, Any]]) -> list[Function]:
    """Return the tools' functions; `checked_tools` says what is wrong with them."""
    return [_function(function, path) for function, path in _with_paths(tools)]


def _function(function: Mapping[str, Any], path: str) -> Function:
    parameters = function.get("parameters")
    if parameters is None:
        parameters = {"type": "object", "properties": {}}
    return Function(function["name"], parameters, f"{path}/parameters")


def _with_paths(tools: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """Yield what should be each tool's function, and where it stands."""
    for number, tool in enumerate(tools):
        inside = isinstance(tool, Mapping) and "function" in tool
        yield (tool["function"], f"#/{number}/function") if inside else (tool, f"#/{number}")


def contradictions(spec: Spec, request: GrammarRequest) -> Iterator[Problem]:
    """Yield what is wrong with a request as a whole."""
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


def checked_tools(
    request: GrammarRequest, check: Callable[..., Findings] = checked
) -> CheckedTools:
    """Check the tools of a request, each by itself and for names that come twice.

    ``check`` is what checks a schema: `checked`, or what remembers what that said.
    """
    found: list[Function] = []
    problems: list[Problem] = []
    notices: list[Problem] = []
    names: dict[str, str] = {}
    for function, path in _with_paths(request.tools):
        if not isinstance(function, Mapping):
            problems.append(Problem("a tool is an object with a function in it", path=path))
            continue
        amiss = [*_faults(function, path, names)]
        findings = Findings()
        if isinstance(function.get("parameters"), Mapping | bool):
            findings = check(function["parameters"], loosen=request.loosen)
        problems += (*amiss, *_placed(findings.problems, f"{path}/parameters"))
        notices += _placed(findings.notices, f"{path}/parameters")
        found += [_function(function, path)] if findings.usable and not amiss else []
    said = ([replace(p, file="tools") for p in remarks] for remarks in (problems, notices))
    return CheckedTools(tuple(found), *map(tuple, said))


def _placed(remarks: Iterable[Problem], path: str) -> list[Problem]:
    return [replace(remark, path=path + remark.path.removeprefix("#")) for remark in remarks]


def _faults(function: Mapping[str, Any], path: str, names: dict[str, str]) -> Iterator[Problem]:
    """Yield what is wrong with a function by itself, and add its name to those seen so far."""
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
    if not isinstance(function.get("parameters"), Mapping | bool | None):
        yield Problem("the parameters are no JSON Schema", path=f"{path}/parameters")
