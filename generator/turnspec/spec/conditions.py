"""When a condition holds: it asks which parts a message has."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.spec.words import Condition, Part

#: The parts that a condition asks for, and whether each has to be there; the simplest come first.
CONDITIONS: Mapping[Condition, Mapping[Part, bool]] = {
    Condition.ALWAYS: {},
    Condition.WITH_CALLS: {Part.CALLS: True},
    Condition.WITHOUT_CALLS: {Part.CALLS: False},
    Condition.WITH_CONTENT: {Part.CONTENT: True},
    Condition.WITHOUT_CONTENT: {Part.CONTENT: False},
    Condition.WITH_REASONING: {Part.REASONING: True},
    Condition.WITHOUT_REASONING: {Part.REASONING: False},
    Condition.WITH_ALL_PARTS: dict.fromkeys((Part.REASONING, Part.CONTENT, Part.CALLS), True),
}


def holds(condition: Condition, parts: Collection[Part]) -> bool:
    """Tell whether a condition holds for a message with these parts."""
    return all((part in parts) is is_there for part, is_there in CONDITIONS[condition].items())


def parts_of_message(message: Message) -> frozenset[Part]:
    """Return the parts that a message has."""
    texts = {
        Part.REASONING: message.reasoning,
        Part.CONTENT: message.content,
        Part.CALLS: message.calls,
    }
    return frozenset(part for part, text in texts.items() if text)


def find_join(spec: Spec, left: Part, right: Part, parts: Collection[Part]) -> str:
    """Return what stands between two neighbours in a turn with these parts."""
    found = [join for join in spec.joins(left, right) if holds(join.when, parts)]
    # What a condition says goes before what is usual.
    return min(found, key=lambda join: join.when is Condition.ALWAYS).text if found else ""
