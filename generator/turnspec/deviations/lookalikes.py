"""Text that only looks like a call, and calls whose text looks like something else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from turnspec.codegen.shapes import tags
from turnspec.deviations.calls import is_bare
from turnspec.deviations.turns import Case, Format
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.calls import Slot
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Encoding, JsonType, SlotKind, ToolMode
from turnspec.verification.messages import format_markers
from turnspec.verification.turns import expected_message


def marker_in_prose(form: Format) -> Iterator[Case]:
    """A marker that opens calls stands in a sentence, and no call follows."""
    for marker in _openings(form):
        yield form.as_written(Message(f"To call, use {marker} and say what you want."))


def marker_in_code(form: Format) -> Iterator[Case]:
    """A marker that opens calls stands in a block of code, and no call follows."""
    for marker in _openings(form):
        yield form.as_written(Message(f"```\n{marker}\n```\nThat is how it begins."))


def function_tag_in_prose(form: Format) -> Iterator[Case]:
    """The function's tag stands in a sentence, with a name that is no tool's."""
    inner = tags(form.tools.call[0].text) if form.calls and not form.json_call else []
    if len(inner) > 1:
        after = form.tools.call[2].text.split("\n")[0]
        yield form.as_written(Message(f"Write {inner[-1]}name{after} and so on."))


def call_in_addressed_text(form: Format) -> Iterator[Case]:
    """A message quotes a call whose header says that it is for the user, or nothing of it."""
    if form.calls and form.marks.text.headers:
        text = f"It was\n{form.without_end(form.one_call).strip()}\nbefore."
        yield form.as_written(Message(text))
        leads = (lead for lead in form.marks.text.leads if "{before" not in lead)
        plain = (re.sub(r"\{words?[^{}]*\}", "", lead) for lead in leads)
        yield from (form.case(lead + text, Message(text)) for lead in plain)


def tool_named_as_a_key(form: Format) -> Iterator[Case]:
    """A tool is named as a member of call objects may be, and its argument as another tool."""
    for name in ("function", "name", "arguments", "parameters", "type") if form.calls else ():
        call = replace(form.call, name=name)
        yield _called(form, call)
        if form.json_call or form.tools.mode is ToolMode.TAG_WITH_JSON:  # whose values have keys
            yield _called(form, replace(call, arguments={form.call.name: {"name": form.call.name}}))


def _called(form: Format, call: Call) -> Case:
    message = expected_message(form.spec, Message(calls=(call,)))
    return form.as_written(message, tools=tool_definitions((call, *form.calls)))


def json_answer(form: Format) -> Iterator[Case]:
    """The answer is JSON: an object, an array, and one with a name that is no tool's."""
    for value in ({"answer": 42}, [{"name": "Ann"}, 2], {"name": "Ann", "arguments": {"x": 1}}):
        yield form.as_written(Message(json.dumps(value)))
    yield form.as_written(Message("It is {} or [] or {'a': 1}."))
    if form.calls and is_bare(form):
        call = form.json_call
        assert call is not None
        case = form.as_written(Message(json.dumps(call.filled(form.call))))
        yield replace(case, options={**case.options, "tools": []})


def tool_name_first(form: Format) -> Iterator[Case]:
    """The answer begins with a tool's name, or with what may become one."""
    for name in (form.call.name, form.call.name[:2]) if form.calls else ():
        yield form.as_written(Message(f"{name} {{x}} is what I would use."))


def markers_in_arguments(form: Format) -> Iterator[Case]:
    """A string argument holds the format's own markers, and what JSON is made of."""
    if not form.calls or "city" not in form.call.arguments:
        return
    own = sorted(format_markers(form.spec))
    raw = form.tools.arguments.values.get(JsonType.STRING, Encoding.JSON)
    quote = form.tools.arguments.syntax.quote
    for inner in [*own, '"}}]', "\\", '\\"', "}{", "'", "\n", "</a>", "```"]:
        if raw is Encoding.QUOTED and quote in inner:
            continue
        text = f"a {inner} b"
        message = form.calling({"city": text, "days": 3})
        closing = _closing_tag(form) if raw is Encoding.RAW else ""
        told = ("inner_marker",) if closing and closing in inner else ()
        yield form.as_written(message, *told)


def _closing_tag(form: Format) -> str:
    """Return what closes a raw value, where nothing else tells such text in a value from it."""
    arguments = form.tools.arguments
    behind = arguments.item[arguments.item.index(Slot(SlotKind.VALUE)) + 1 :]
    distinct = arguments.guard is not None or len(behind) > 1
    return "" if distinct else behind[0].text.strip()


def _openings(form: Format) -> list[str]:
    if not form.calls:
        return []
    texts = (form.tools.section_start, form.tools.call[0].text)
    call = form.json_call
    if call:
        texts = (form.tools.section_start.strip().removesuffix("["), call.before)
    finals = (end.final for end in form.spec.turn.ends)
    ends = tuple(end.strip() for end in (*form.spec.turn.stop, *finals) if end.strip())
    found = dict.fromkeys(text.strip() for text in texts)
    return [text for text in found if text and not text.startswith(ends)]
