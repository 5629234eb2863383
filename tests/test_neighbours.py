"""What stands beside a call that deviates is read all the same: here the call after it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from tests.generated_formats import FORMATS, KINDS, committed_format
from turnspec.codegen.writer import write_parts
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import Case, Format
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Part
from turnspec.verification.messages import allowed_call

ASKED = Call("ask_it", {"where": "Oslo", "days": "two"}, "abcdef124")
WITH_CALLS = [name for name in FORMATS if committed_format(name).calls]


@dataclass(frozen=True, slots=True)
class Beside:
    """How a turn ends behind its only call, and how it goes on if there is another one."""

    end: str
    more: str


@cache
def beside(name: str) -> Beside:
    form = committed_format(name)
    second = allowed_call(form.spec, ASKED)
    one, two = (
        write_parts(form.spec, Message(calls=calls), Part.START)
        for calls in ((form.call,), (form.call, second))
    )
    ends = (one[at:] for at in range(len(one) + 1) if two.startswith(one[:at]))
    # What both end with may begin as what stands between calls does.
    end = max(filter(two.endswith, ends), key=len)
    return Beside(end, two[len(one) - len(end) :])


def last_call(form: Format, text: str, options: dict[str, Any]) -> tuple[str, Any, bool]:
    tools = [*(options.get("tools") or ()), *tool_definitions((ASKED,))]
    message = form.module.parse(text, **{**options, "tools": tools})
    if not message.tool_calls:
        return "", None, False
    call = message.tool_calls[-1]
    return call.name, json.loads(call.arguments), call.complete


@pytest.mark.parametrize("name", WITH_CALLS)
def test_two_calls_are_read_whether_the_template_shows_two_or_not(name: str) -> None:
    form, then = committed_format(name), beside(name)
    one = write_parts(form.spec, Message(calls=(form.call,)), Part.START)
    text = one.removesuffix(then.end) + then.more
    assert last_call(form, text, dict(form.options)) == (ASKED.name, ASKED.arguments, True)


@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_a_call_after_one_that_deviates_is_whole(deviation: str) -> None:
    failures = [
        f"{name}: {found}\n    from {text!r}"
        for name in KINDS
        if committed_format(name).calls
        for case in DEVIATIONS[deviation](committed_format(name))
        if (text := with_another(name, case))
        and (found := last_call(committed_format(name), text, dict(case.options)))
        != (ASKED.name, ASKED.arguments, True)
    ]
    assert not failures, "\n".join(failures[:10])


def with_another(name: str, case: Case) -> str:
    """Return a case with another call; "" if it has several, or ends otherwise than turns do."""
    then = beside(name)
    is_one = len(case.calls) == 1 and case.text.endswith(then.end)
    return case.text.removesuffix(then.end) + then.more if is_one else ""
