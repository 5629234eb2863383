"""When a condition holds: it asks which parts a message has."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from turnspec.spec.message import Message
from turnspec.spec.model import Condition, Part, Spec

#: The part that a condition asks for, and whether it has to be there; the simplest come first.
CONDITIONS: Mapping[Condition, tuple[Part, bool] | None] = {
    Condition.ALWAYS: None,
    Condition.WITH_CALLS: (Part.CALLS, True),
    Condition.WITHOUT_CALLS: (Part.CALLS, False),
    Condition.WITH_CONTENT: (Part.CONTENT, True),
    Condition.WITHOUT_CONTENT: (Part.CONTENT, False),
    Condition.WITH_REASONING: (Part.REASONING, True),
    Condition.WITHOUT_REASONING: (Part.REASONING, False),
}


def holds(condition: Condition, parts: Collection[Part]) -> bool:
    """Tell whether a condition holds for a message with these parts."""
    asked = CONDITIONS[condition]
    return asked is None or (asked[0] in parts) is asked[1]


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
