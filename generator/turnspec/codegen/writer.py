"""The turn writer: a message written as a spec says, as the template would render it."""

from __future__ import annotations

from dataclasses import replace

from turnspec.spec.calls import AfterFirst, Arguments, Tools, filled
from turnspec.spec.conditions import find_join, holds, parts_of_message
from turnspec.spec.encoding import (
    encode_argument,
    encode_object,
    json_type,
    ordered_keys,
    written_key,
)
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import ContentMode, IndexScope, Part, SlotKind, Subject, Verdict


def write_turn(
    spec: Spec, message: Message, *, calls_before: int = 0, followed: bool = False
) -> str:
    """Return the whole turn, from the assistant's header to the turn's end.

    ``calls_before`` is the number of calls in earlier turns, for formats that count them all;
    ``followed``: another message comes behind the turn.
    """
    if followed:
        ends = tuple(replace(end, final=end.followed) for end in spec.turn.ends)
        spec = replace(spec, turn=replace(spec.turn, ends=ends))
    shown = as_rendered(spec, message)
    return spec.turn.header + write_parts(spec, shown, Part.START, calls_before)


def write_parts(spec: Spec, message: Message, after: Part, calls_before: int = 0) -> str:
    """Return the turn from behind the part ``after`` (START: behind the header) to its end."""
    only: AfterFirst | None = None  # what follows a call that is the only one
    around = {
        Part.REASONING: (spec.reasoning.start, message.reasoning, spec.reasoning.end),
        Part.CONTENT: (spec.content.start, message.content, _content_end(spec, message)),
        Part.CALLS: ("", "", ""),
    }
    if tools := spec.tools:
        only = tools.after_first if len(message.calls) == 1 else None
        calls = write_calls(tools, message.calls, calls_before)
        end = only.section_end if only else tools.section_end
        around[Part.CALLS] = (tools.section_start, calls, end)
    ends = {part: end for part, (_, _, end) in around.items()}
    present = {part for part, (_, text, _) in around.items() if text} | {after}
    written: list[str] = []
    last = after
    for part in spec.turn.order:
        start, text, _ = around[part]
        if text and part is not after:
            written += [ends.get(last, ""), find_join(spec, last, part, present), start, text]
            last = part
    decisive = Part.CALLS if message.calls and spec.turn.calls_decide_end else last
    final = spec.final(decisive)
    if spec.end(decisive) is None and last not in (Part.CONTENT, Part.CALLS):
        # As if content were there, empty.
        join = find_join(spec, last, Part.CONTENT, present)
        written += [ends.get(last, ""), join, spec.content.start]
        last, final = Part.CONTENT, spec.final(Part.CONTENT)
    if decisive is Part.CALLS and only:
        final = only.end
    return "".join([*written, ends.get(last, ""), final])


def _content_end(spec: Spec, message: Message) -> str:
    """Return what closes content: nothing if it is bare without reasoning and nothing opens it."""
    if spec.content.mode is not ContentMode.WRAPPED_WITH_REASONING or message.reasoning:
        return spec.content.end
    opening = find_join(spec, Part.START, Part.CONTENT, parts_of_message(message))
    return spec.content.end if opening.strip() else ""


def write_calls(tools: Tools, calls: tuple[Call, ...], calls_before: int = 0) -> str:
    """Return the calls, without what opens and closes their section."""
    base = tools.index_base or 0
    if tools.index_scope is IndexScope.CONVERSATION:
        base += calls_before
    written = [_write_call(tools, call, base + number) for number, call in enumerate(calls)]
    if tools.after_first is None:
        return tools.separator.join(written)
    later = [tools.separator.join(written[1:])] if written[1:] else []
    return tools.after_first.separator.join([*written[:1], *later])


def _write_call(tools: Tools, call: Call, index: int) -> str:
    fillers = {
        SlotKind.NAME: call.name,
        SlotKind.ID: call.id,
        SlotKind.INDEX: str(index),
        SlotKind.COUNT: str(len(call.arguments)),
        SlotKind.ARGUMENTS: _write_arguments(tools.arguments, call),
    }
    return filled(tools.call if call.arguments else tools.empty_call or tools.call, fillers)


def _write_arguments(arguments: Arguments, call: Call) -> str:
    if not call.arguments:
        return arguments.empty
    if not arguments.item:
        return encode_object(call.arguments, arguments.syntax)
    keys = ordered_keys(call.arguments, arguments.syntax)
    items = [_write_argument(arguments, key, call.arguments[key]) for key in keys]
    return arguments.start + arguments.separator.join(items) + arguments.end


def _write_argument(arguments: Arguments, key: str, value: object) -> str:
    kind = json_type(value)
    fillers = {
        SlotKind.KEY: written_key(key, arguments),
        SlotKind.TYPE: arguments.types.get(kind, ""),
        SlotKind.VALUE: encode_argument(value, arguments),
    }
    return filled(arguments.item, fillers)


def as_rendered(spec: Spec, message: Message) -> Message:
    """Return what is left of a message after the template dropped or moved what it can't show."""
    reasoning = message.reasoning if spec.reasoning.field else ""
    content, calls = message.content, message.calls if spec.tools else ()
    for limit in spec.limits:
        if not holds(limit.when, parts_of_message(message)):
            continue
        match limit.subject, limit.verdict:
            case Subject.REASONING, Verdict.DROPS:
                reasoning = ""
            case Subject.CONTENT, Verdict.DROPS:
                content = ""
            case Subject.CONTENT, Verdict.MOVES:
                reasoning, content = reasoning or content, ""
            case Subject.CONTENT, Verdict.TRIMS:
                content = content.strip()
            case Subject.CALLS, Verdict.DROPS:
                calls = ()
            case Subject.FURTHER_CALLS, Verdict.DROPS:
                calls = calls[:1]
    return Message(content, reasoning, tuple(_shown_call(spec, call) for call in calls))


def _shown_call(spec: Spec, call: Call) -> Call:
    dropped = {limit.subject.value for limit in spec.limits if limit.verdict is Verdict.DROPS}
    arguments = call.arguments.items()
    kept = {key: it for key, it in arguments if f"argument.{json_type(it)}" not in dropped}
    return Call(call.name, kept, call.id)
