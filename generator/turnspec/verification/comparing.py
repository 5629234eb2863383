"""What a message says, in a form in which two can be compared: as it was meant, and as it was read.

White space at the ends of a text, the style of JSON, and ids where a format has none say nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from turnspec.codegen.format_module import FormatModule
from turnspec.spec.calls import Slot
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.spec.results import Counterexample
from turnspec.spec.words import SlotKind, Subject, Verdict

#: A call as its name, its arguments as JSON in one style, and its id.
ComparedCall = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Said:
    """A message, and the kinds of problems that a parser told with it."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[ComparedCall, ...] = ()
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        calls = [f"{name}({text}){f' {id_}' if id_ else ''}" for name, text, id_ in self.calls]
        parts: dict[str, object] = {"reasoning": self.reasoning, "content": self.content}
        parts |= {"calls": calls, "problems": list(self.problems)}
        shown = {name: json.dumps(part, ensure_ascii=False) for name, part in parts.items() if part}
        return ", ".join(f"{name} {text}" for name, text in shown.items()) or "nothing"


@dataclass(frozen=True, slots=True)
class Turn:
    """A text for a parser: what the model wrote, behind which prompt, and what it was offered."""

    text: str
    prefill: str | None  # None: that of the parser's own template, for what ``thinking`` asks
    tools: Sequence[Any]
    thinking: bool | None = None


def as_meant(spec: Spec, message: Message) -> Said:
    """Return what a message says that was written in a format."""
    trims, shows_id = trims_strings(spec), has_ids(spec)
    calls = (
        (call.name, _one_style(dict(call.arguments), trims), call.id if shows_id else "")
        for call in message.calls
    )
    return Said(message.content.strip(), message.reasoning.strip(), tuple(calls))


def as_read(spec: Spec, module: FormatModule, turn: Turn) -> Said:
    """Return what a parser reads in a turn of the format; that it raises is a problem, too."""
    options: dict[str, object] = {"tools": list(turn.tools), "enable_thinking": turn.thinking}
    if turn.prefill is not None:
        options["prefill"] = turn.prefill
    try:
        return as_parsed(spec, module.parse(turn.text, **options))
    except Exception as error:  # a parser never raises: that it did is the result
        return Said(problems=(f"{type(error).__name__}: {error}",))


def as_parsed(spec: Spec, parsed: Any) -> Said:
    """Return what a parsed message says."""
    trims, shows_id = trims_strings(spec), has_ids(spec)
    calls = (
        (call.name, _parsed_arguments(call, trims), call.id if shows_id else "")
        for call in parsed.tool_calls
    )
    kinds = tuple(problem.kind for problem in parsed.problems)
    return Said(parsed.content, parsed.reasoning_content, tuple(calls), kinds)


def difference(wanted: Said, got: Said, written: str) -> Counterexample | None:
    """Return a counterexample if something else was read than meant, or with problems."""
    return None if wanted == got else Counterexample(written, str(wanted), str(got))


def trims_strings(spec: Spec) -> bool:
    """Tell whether white space at the ends of string arguments is lost."""
    trimmed = (Subject.ARGUMENT_STRING, Verdict.TRIMS)
    return any((limit.subject, limit.verdict) == trimmed for limit in spec.limits)


def has_ids(spec: Spec) -> bool:
    """Tell whether calls show their ids."""
    return spec.tools is not None and Slot(SlotKind.ID) in spec.tools.call


def _parsed_arguments(call: Any, trims: bool) -> str:
    try:
        text = _one_style(json.loads(call.arguments), trims)
    except ValueError:
        text = f"not JSON: {call.arguments}"
    return text if call.complete else f"incomplete: {text}"


def _one_style(value: object, trims: bool) -> str:
    if trims and isinstance(value, dict):
        value = {k: v.strip() if isinstance(v, str) else v for k, v in value.items()}
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


#: A call as it was read: its id, its name, and its arguments as JSON.
ReadCall = tuple[str, str, str]

#: Content, reasoning and calls as they were read.
ReadParts = tuple[str, str, list[ReadCall]]


def parts_of(message: Any) -> ReadParts:
    """Return the parts of a parsed message."""
    calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    return message.content, message.reasoning_content, calls


def added_up(events: Iterable[Any]) -> ReadParts:
    """Return the parts that a parser's events add up to."""
    texts = {"content": "", "reasoning": ""}
    calls: list[ReadCall] = []
    for event in events:
        if event.type in texts:
            texts[event.type] += event.text
        elif event.type == "tool_call_start":
            calls.append((event.id, event.name, ""))
        else:  # a piece of the arguments, or the end, which has the id if that stands last
            identifier, name, arguments = calls[event.index]
            more = event.arguments if event.type == "tool_call_delta" else ""
            behind = getattr(event, "id", "") if event.type == "tool_call_end" else ""
            calls[event.index] = (identifier + behind, name, arguments + more)
    return texts["content"], texts["reasoning"], calls


def loaded(arguments: str) -> object:
    """Return the value of a call's arguments, or a text that says that they are no JSON."""
    try:
        return json.loads(arguments)
    except ValueError:
        return f"not JSON: {arguments}"
