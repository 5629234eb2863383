"""Random messages to compare two formats on, the same ones whatever else changes.

The ladder's random messages are better at finding defects, but Hypothesis draws from the constants
of the code around it, so that other messages would come with every change of the generator.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator

from turnspec.spec.message import Call, Message
from turnspec.spec.model import ReasoningMode, Spec, Subject
from turnspec.verification.messages import (
    TRICKY_TEXTS,
    allowed_call,
    allowed_text,
    format_markers,
)

_SEED = 2026
_WORDS = ("So", "it is", "7", "true", "Déjà vu!", "x = y", "the end.")


def random_messages(spec: Spec, count: int) -> Iterator[Message]:
    """Return messages that hold nothing of which the spec says that it doesn't come back."""
    chance = random.Random(_SEED)
    markers = format_markers(spec)

    def text(subject: Subject) -> str:
        found = " ".join(chance.choices((*TRICKY_TEXTS, *_WORDS), k=chance.randint(1, 3)))
        allowed = allowed_text(spec, subject, found).strip()
        return "" if any(marker in allowed for marker in markers) else allowed

    def value() -> object:
        word = text(Subject.ARGUMENT_STRING)
        number = chance.randint(-(10**6), 10**6)
        one: list[object] = [word, "", number, number / 100, chance.random() < 0.5, None]
        many: list[object] = [[word, "a"], [number, 2], [], {"key": word, "n": number}, {}]
        return chance.choice(one + many)

    def call() -> Call:
        keys = [_name(chance) for _ in range(chance.randint(0, 4))]
        identifier = "".join(chance.choices(string.ascii_letters + string.digits, k=9))
        return allowed_call(spec, Call(_name(chance), {key: value() for key in keys}, identifier))

    has_reasoning = spec.reasoning.mode is not ReasoningMode.NONE
    for _ in range(count):
        content = text(Subject.CONTENT) if chance.random() < 0.7 else ""
        reasoning = text(Subject.REASONING) if has_reasoning and chance.random() < 0.6 else ""
        calls = [call() for _ in range(chance.randint(0, 3))] if spec.tools else []
        message = Message(content, reasoning, tuple(calls))
        if content or reasoning or calls:
            yield message


def _name(chance: random.Random) -> str:
    return "t" + "".join(chance.choices(string.ascii_letters + string.digits + "_", k=6))
