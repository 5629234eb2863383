"""What a template can do, as data and in words: for the table, the command line, and scripts."""

from __future__ import annotations

import json

from turnspec.chat.form import MessageForm
from turnspec.chat.polyfills import missing_features
from turnspec.spec.model import Capabilities, Spec
from turnspec.spec.words import ContentMode, Part

_WORDS = {
    "system_role": "system messages",
    "tools": "tools",
    "tool_calls": "calls",
    "parallel_calls": "several calls at once",
    "tool_results": "tool results",
}


def summary(form: MessageForm, spec: Spec) -> dict[str, object]:
    """Return what a template takes and how its answers are marked, as plain data."""
    can = form.capabilities
    return {
        "system_role": can.system_role,
        "developer_role": form.developer_role,
        "tools": can.tools,
        "tool_calls": can.tool_calls,
        "parallel_calls": can.parallel_calls,
        "tool_results": form.result_role,
        "arguments": form.dialect.arguments.value if can.tool_calls else None,
        "flat_calls": form.dialect.flat_calls,
        "content_parts": sorted(form.takes_parts),
        "reasoning": spec.reasoning.field,
        "thinking": thinking_switch(spec),
        "channel": channel(spec),
        "polyfills": [polyfill.value for polyfill in missing_features(form)],
    }


def channel(spec: Spec) -> dict[str, str] | None:
    """Return the markers between which content stands; None where any text is content."""
    if spec.content.mode is not ContentMode.ALWAYS_WRAPPED:
        return None
    return {"start": spec.content.start, "end": spec.content.end or spec.final(Part.CONTENT)}


def thinking_switch(spec: Spec) -> str:
    """Return what turns thinking off (or on, where it is off at first), "" if nothing does."""
    known = spec.thinking
    if known.enabled.variables != known.disabled.variables:
        variables = known.disabled.variables or known.enabled.variables
        return ", ".join(f"{name}={json.dumps(value)}" for name, value in variables.items())
    return " or ".join(dict.fromkeys(word.word for word in known.words))


def capabilities_in_words(spec: Spec) -> str:
    """Return one line: what the template takes, what not, and its content's markers."""
    taken = _named(spec.capabilities, True)
    lacking = _named(spec.capabilities, False)
    marks = channel(spec)
    parts = [f"takes {', '.join(taken)}" if taken else "takes messages only"]
    parts += [f"lacks {', '.join(lacking)}"] if lacking else []
    parts += [f"content stands between {marks['start']!r} and {marks['end']!r}"] if marks else []
    return "; ".join(parts)


def _named(can: Capabilities, wanted: bool) -> list[str]:
    return [word for name, word in _WORDS.items() if getattr(can, name) is wanted]
