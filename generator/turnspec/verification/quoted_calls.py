"""Texts that quote a call of their own format, and where a parser takes them for one.

By text alone a quoted call can't be told from one that the model makes: docs/safety.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from turnspec.analysis.text import common_prefix, common_suffix
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.codegen.writer import write_calls, write_parts
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Limit, Spec
from turnspec.spec.turn_end import may_repeat_calls
from turnspec.spec.words import Condition, Part, Subject, Verdict
from turnspec.verification.messages import allowed_call
from turnspec.verification.turns import is_ambiguous

CALL = Call("look_up", {"city": "Paris"}, "id0000001")
_PLACE = "Paris"  # where something else is put
_REASONS = {
    Subject.CONTENT: "a call that is quoted in it is read as one",
    Subject.ARGUMENT_STRING: "a call's end in one, and another call behind that, are read as such",
}


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text inside a turn that quotes the format, and what stands around it."""

    before: str
    text: str
    after: str

    @property
    def turn(self) -> str:
        """The whole turn."""
        return self.before + self.text + self.after


def prefill(spec: Spec) -> str:
    """Return what the prompt holds of a turn without reasoning."""
    is_open = is_ambiguous(spec, Message("It is said."))
    return spec.turn.header + (spec.reasoning.end if is_open else "")


def call_in_value(spec: Spec) -> tuple[Quoted, str]:
    """Return a call with a value that holds the rest of its call and another one; and the value."""
    assert spec.tools
    call = allowed_call(spec, CALL)
    turn = write_parts(spec, Message(calls=(call,)), Part.START)
    before, _, after = turn.partition(_PLACE)
    between = after + before
    if may_repeat_calls(spec):
        between = write_calls(spec.tools, (call, call)).split(_PLACE)[1]
    value = f"north{between}south"
    quoting = Call(call.name, {**call.arguments, "city": value}, call.id)
    written = write_parts(spec, Message(calls=(quoting,)), Part.START)
    before, after = common_prefix([before, written]), common_suffix([after, written])
    return Quoted(before, written[len(before) : len(written) - len(after)], after), value


def call_in_text(spec: Spec, lead: str, rest: str, *, header: str = "") -> Quoted:
    """Return content that quotes a whole turn with a call, from its header on if that is given."""
    call = allowed_call(spec, CALL)
    quoted = header + write_parts(spec, Message(calls=(call,)), Part.START)
    before, _, after = write_parts(spec, Message(_PLACE), Part.START).partition(_PLACE)
    return Quoted(before, lead + quoted.strip() + rest, after)


def calls_in_text(spec: Spec) -> tuple[Quoted, Quoted]:
    """Return contents that quote a call: alone, and with the header of its turn.

    Where a header says who a message is for, a call counts only behind one.
    """
    lead, rest = "As in ", " it is said."
    with_header = call_in_text(spec, lead, rest, header=spec.turn.header)
    return call_in_text(spec, lead, rest), with_header


def with_open_limits(spec: Spec) -> Spec:
    """Return a spec that says where a quoted call is read as one, if only text tells of it."""
    kept = tuple(limit for limit in spec.limits if limit.verdict is not Verdict.OPEN)
    subjects = _open_subjects(spec)
    found = (Limit(it, Verdict.OPEN, Condition.ALWAYS, _REASONS[it]) for it in subjects)
    return replace(spec, limits=(*kept, *found))


def _open_subjects(spec: Spec) -> Iterator[Subject]:
    if spec.tools is None:
        return
    form = load(spec)
    if any(_values(form, spec, quoted) for quoted in calls_in_text(spec)):
        yield Subject.CONTENT
    if "city" not in allowed_call(spec, CALL).arguments:  # nothing tells how a string is written
        return
    quoted, value = call_in_value(spec)
    if _values(form, spec, quoted) != [value]:
        yield Subject.ARGUMENT_STRING


def _values(form: FormatModule, spec: Spec, quoted: Quoted) -> list[object]:
    """Return the value that was asked for in each call."""
    tools = tool_definitions((allowed_call(spec, CALL),))
    message = form.parse(quoted.turn, tools=tools, prefill=prefill(spec))
    calls = [json.loads(call.arguments) for call in message.tool_calls if call.complete]
    return [arguments.get("city") for arguments in calls]
