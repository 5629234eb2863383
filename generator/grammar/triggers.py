"""When a lazy grammar takes hold: words of the format, and patterns that leave reasoning alone."""

from __future__ import annotations

import re

from generator.grammar.text import trimmed
from generator.grammar.turn import opens_reasoning
from generator.spec.model import ReasoningMode, Spec

# What ECMAScript's regular expressions, which llama.cpp uses, give a meaning to.
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")


def trigger_patterns(spec: Spec, extra: str) -> tuple[str, ...]:
    r"""Return regular expressions, to be searched for in all that the model has written.

    The grammar begins where the group of a match does. They are in the syntax of ECMAScript, as
    llama.cpp reads them, and of Python, too.

    Args:
        spec: the format.
        extra: what the prompt holds of the turn behind its header.
    """
    words = spec.grammar.triggers
    if not words:
        return ()
    group = f"({'|'.join(map(_escaped, words))})"
    start, end = trimmed(spec.reasoning.start), trimmed(spec.reasoning.end)
    if spec.reasoning.mode is ReasoningMode.NONE or not end or end == start:
        return (group,)
    if opens_reasoning(spec, extra):
        return (rf"{_escaped(end)}[\s\S]*?{group}",)
    if not start:
        return (group,)
    return (rf"(?:^|{_escaped(end)})(?:(?!{_escaped(start)})[\s\S])*?{group}",)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
