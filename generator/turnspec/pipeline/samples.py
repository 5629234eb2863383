"""Turns that show a format, for the docstrings of its parsers."""

from __future__ import annotations

from turnspec.codegen.writer import write_parts
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Part
from turnspec.verification.messages import SAMPLE_CALLS, allowed_call
from turnspec.verification.turns import expected_message

_SECOND_CALL = Call("get_time", {}, "zyxwvu987")


def sample_turns(spec: Spec) -> list[str]:
    """Return turns that show the format: an answer, a call, and two calls if there may be two."""
    reasoning = "They ask for the weather." if spec.reasoning.end.strip() else ""
    messages = [Message("It rains in Paris.", reasoning)]
    if spec.tools:
        calls = tuple(allowed_call(spec, call) for call in (SAMPLE_CALLS[0], _SECOND_CALL))
        messages.append(Message("", reasoning, calls[:1]))
        can, is_told = spec.capabilities, not spec.capabilities.tool_calls  # by an overlay
        messages += [Message("", "", calls)] * (can.parallel_calls or is_told)
    shown = (expected_message(spec, message) for message in messages)
    return [spec.turn.header + write_parts(spec, message, Part.START) for message in shown]
