"""What a turn may be, and the entry rules of a grammar that say so."""

from __future__ import annotations

from dataclasses import dataclass

from turnspec.spec.model import Spec
from turnspec.spec.words import Part

#: The entry rules: the whole turn after the prompt, and its calls from the trigger on.
ROOT = "root"
TOOL_CALLS = "tool-calls"
REQUIRED_CALLS = "required-calls"
CONTENT_ONLY = "content-only"
ENTRIES = (ROOT, TOOL_CALLS, REQUIRED_CALLS, CONTENT_ONLY)
TEXT = "text"


@dataclass(frozen=True, slots=True)
class Offer:
    """What a turn may be: its ``parts``, behind which ``prompts``, and what its content is.

    ``needed`` is a part that no turn lacks. ``entry`` is the rule for the whole turn; the rules for
    the rest of a turn have its name in theirs unless it is the root.
    """

    spec: Spec
    parts: tuple[Part, ...]
    prompts: tuple[str, ...]
    entry: str = ROOT
    needed: Part | None = None
    content: str = TEXT

    def turn_rule(self, part: Part) -> str:
        """Return the name of the rule for the rest of the turn from inside a part on."""
        return f"{part.value}-turn" if self.entry == ROOT else f"{self.entry}-{part.value}-turn"

    def following(self, left: Part) -> tuple[Part, ...]:
        """Return the parts that may follow one: up to the needed one, which none of them skips."""
        order = self.spec.turn.order
        place = -1 if left is Part.START else order.index(left)
        needed = len(order) if self.needed is None else order.index(self.needed)
        within = order[place + 1 : needed + 1] if place < needed else order[place + 1 :]
        if left is Part.START:
            # Reasoning behind an answer of a given form doesn't stand in its place.
            given = self.content != TEXT and Part.CONTENT in self.parts
            behind = order[order.index(Part.CONTENT) :] if given else ()
            return tuple(
                part
                for part in self.parts
                if part in within and (part not in behind or part is not Part.REASONING)
            )
        # An answer of a given form stands alone.
        apart = {Part.CONTENT, Part.CALLS} if self.content != TEXT else set()
        return tuple(part for part in self.parts if part in within and {left, part} != apart)

    def may_end(self, left: Part) -> bool:
        """Say whether the turn may end behind a part."""
        order = (Part.START, *self.spec.turn.order)
        return self.needed is None or order.index(left) >= order.index(self.needed)

    def text(self, part: Part) -> str:
        """Return what refers to the text of content or reasoning."""
        return self.content if part is Part.CONTENT else TEXT
