"""Turns that show a format, for the docstrings of its parsers."""

from __future__ import annotations

from turnspec.codegen.writer import write_parts
from turnspec.spec.message import Message
from turnspec.spec.model import Part, Spec
from turnspec.verification.messages import SAMPLE_CALLS, allowed_call
from turnspec.verification.turns import expected_message


def sample_turns(spec: Spec) -> list[str]:
    """Return turns that show the format: an answer, and a call."""
    reasoning = "They ask for the weather." if spec.reasoning.end.strip() else ""
    messages = [Message("It rains in Paris.", reasoning)]
    if spec.tools:
        messages.append(Message("", reasoning, (allowed_call(spec, SAMPLE_CALLS[0]),)))
    shown = (expected_message(spec, message) for message in messages)
    return [spec.turn.header + write_parts(spec, message, Part.START) for message in shown]
