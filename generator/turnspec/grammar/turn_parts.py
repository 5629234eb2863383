"""The parts of a turn as a grammar needs them: what opens and ends each, what stands between."""

from __future__ import annotations

from dataclasses import dataclass

from turnspec.codegen.facts import words_of
from turnspec.codegen.text_marks import marks_of
from turnspec.grammar.call_text import call_marker
from turnspec.grammar.calls import Calls
from turnspec.grammar.text import trimmed
from turnspec.spec.model import Spec
from turnspec.spec.words import Part, ReasoningMode


def parts_of(spec: Spec) -> tuple[Part, ...]:
    """Return the parts that a turn may have, in their order."""
    absent = {Part.REASONING} if spec.reasoning.mode is ReasoningMode.NONE else set()
    if spec.tools is None:
        absent.add(Part.CALLS)
    return tuple(part for part in spec.turn.order if part not in absent)


def opening_of(spec: Spec, part: Part) -> str:
    """Return the text that tells the beginning of ``part`` from what stands before it."""
    if part is Part.CALLS:
        return call_marker(spec.tools) if spec.tools else ""
    return spec.reasoning.start if part is Part.REASONING else spec.content.start


def end_of(spec: Spec, part: Part) -> str:
    """Return the text that ends ``part``; calls end with their section."""
    if part is Part.CALLS:
        return spec.tools.section_end if spec.tools else ""
    return spec.reasoning.end if part is Part.REASONING else spec.content.end


def joins_of(spec: Spec, left: Part, right: Part) -> list[str]:
    """Return what may stand between two neighbours, white space aside."""
    joins = [spec.join(left, right), *(join.text for join in spec.joins(left, right))]
    if (left, right) == (Part.CONTENT, Part.CALLS) and not any(map(trimmed, joins)):
        joins = _between_messages(spec) or joins
    return list({trimmed(text): text for text in reversed(joins)}.values())[::-1]


def _between_messages(spec: Spec) -> list[str]:
    """Return what leads from content to calls that are another message, as reasoning shows it.

    Behind the header of content nothing calls a tool before the header of the next message.
    """
    if not marks_of(spec).text.headers:
        return []
    joins = spec.joins(Part.REASONING, Part.CALLS)
    return [spec.reasoning.end + join.text for join in joins]


def calls_of(spec: Spec, *, parallel: bool) -> Calls | None:
    """Return which calls a grammar takes, None if the format has none."""
    if spec.tools is None:
        return None
    return Calls(
        spec.tools,
        parallel=parallel,
        words=words_of(marks_of(spec)),
        spell=begins_like_call(spec),
        named_by_id=spec.names_by_id,
    )


def begins_like_call(spec: Spec) -> bool:
    """Say whether another part's beginning could be that of a call, as far as the call's name."""
    marker = trimmed(call_marker(spec.tools)) if spec.tools else ""
    starts = (trimmed(spec.reasoning.start), trimmed(spec.content.start))
    return bool(marker) and any(start.startswith(marker) for start in starts)


def whole_end(end: str, start: str) -> str:
    """Return what ends a part, with as much of its white space as it takes to tell it.

    No parser could tell where one sign said several times ends if the next part began with it, nor
    an end that begins inside of what opens the part, as ``|#`` does in ``#|#``.
    """
    core = trimmed(end)
    before, _, behind = end.partition(core)
    if is_run(core):
        return core + behind[:1]
    opening = trimmed(start)
    shared = [core[:length] for length in range(1, len(core)) if opening.endswith(core[:length])]
    # Text may end in a sign with which a marker begins, but no further within one.
    overlaps = any(len(set(opening.removesuffix(text))) <= 1 for text in shared)
    return before[-1:] + core if overlaps else core


def is_run(text: str) -> bool:
    """Tell whether a text is one sign, said several times."""
    return len(text) > 1 and len(set(text)) == 1


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
