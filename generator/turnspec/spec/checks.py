"""What a spec must be beyond its form: the things that schema.json can't say.

Each check yields where it objects and why. None of them knows a model: they ask whether the parts
of a spec fit each other, and whether a parser could tell a part's beginning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnspec.spec.call_checks import check_tools
from turnspec.spec.calls import Piece
from turnspec.spec.model import Reasoning, Spec, ThinkingState
from turnspec.spec.piece_checks import (
    CALL_SLOTS,
    check_pieces,
    check_stops,
    empty_texts,
    exactly_one,
    first_text,
    slots_in,
    unannounced,
)
from turnspec.spec.plain import spec_to_data
from turnspec.spec.problems import Problem
from turnspec.spec.sizes import oversized
from turnspec.spec.words import (
    Condition,
    ContentMode,
    Part,
    ReasoningMode,
    SlotKind,
    Subject,
    Switch,
    Verdict,
)
from turnspec.spec.yaml_document import Document, Finding, YamlPath

#: What holds text, of which some characters may not come back.
_TEXTS = (Subject.REASONING, Subject.CONTENT, Subject.ARGUMENT_STRING, Subject.ARGUMENT_KEY)


def check_spec(spec: Spec, file: str = "", document: Document | None = None) -> list[Problem]:
    """Return what is impossible in a spec; with the ``document`` it came from, also the lines."""
    checks = (
        *(_thinking(spec), _turn(spec), _reasoning(spec), _blocks(spec.reasoning)),
        *(_content(spec), check_tools(spec), _limits(spec), _grammar(spec), _alternatives(spec)),
        oversized(spec_to_data(spec)),
    )
    document = document or Document(None)
    return [document.problem(*found, file) for check in checks for found in check]


def _thinking(spec: Spec) -> Iterator[Finding]:
    thinking = spec.thinking
    seen: set[tuple[str, Switch]] = set()
    for index, word in enumerate(thinking.words):
        path: YamlPath = ("thinking", "words", index)
        if not word.word.strip():
            yield (*path, "word"), "a word can't be empty"
        if (word.word, word.switches) in seen:
            yield path, f"a second word {word.word!r} by which thinking is {word.switches}"
        seen.add((word.word, word.switches))
    for name in ("enabled", "disabled"):
        state: ThinkingState = getattr(thinking, name)
        if state.variables or state.prompt == thinking.default.prompt:
            continue
        if not any(word.prompt == state.prompt for word in thinking.words):
            yield ("thinking", name, "prompt"), "no variable and no word gives another prompt"


def _turn(spec: Spec) -> Iterator[Finding]:
    order = spec.turn.order
    for index, part in enumerate(order):
        if part in order[:index]:
            yield ("turn", "order", index), f"{part} is there twice"
    if spec.tools and Part.CALLS not in order:
        yield ("turn", "order"), "calls is missing, but tools says how they are written"
    if not spec.tools and Part.CALLS in order:
        yield ("turn", "order"), "calls is there, but tools is missing"
    yield from _joins(spec)
    yield from _ends(spec)
    yield from check_stops(spec.turn.stop, ("turn", "stop"))


def _joins(spec: Spec) -> Iterator[Finding]:
    order = (Part.START, *spec.turn.order)
    seen: set[tuple[Part, Part, Condition]] = set()
    for index, join in enumerate(spec.turn.joins):
        path: YamlPath = ("turn", "joins", index)
        if (join.left, join.right, join.when) in seen:
            yield path, f"a second join of {join.left} and {join.right}"
        seen.add((join.left, join.right, join.when))
        strangers = [part for part in (join.left, join.right) if part not in order]
        for part in strangers:
            yield path, f"joins {part}, which turn.order doesn't have"
        if not strangers and order.index(join.left) >= order.index(join.right):
            yield path, f"joins {join.left} to {join.right}, against turn.order"


def _ends(spec: Spec) -> Iterator[Finding]:
    seen: set[Part] = set()
    for index, end in enumerate(spec.turn.ends):
        path: YamlPath = ("turn", "ends", index)
        if end.last in seen:
            yield path, f"a second end after {end.last}"
        seen.add(end.last)
        if end.last not in (Part.START, *spec.turn.order):
            yield path, f"an end after {end.last}, which turn.order doesn't have"


def _reasoning(spec: Spec) -> Iterator[Finding]:
    reasoning, order = spec.reasoning, spec.turn.order
    if reasoning.mode is ReasoningMode.NONE:
        for key, marker in (("start", reasoning.start), ("end", reasoning.end)):
            if marker:
                yield ("reasoning", key), "a marker, but the mode is NONE"
        if Part.REASONING in order:
            yield ("turn", "order"), "reasoning is there, but its mode is NONE"
        return
    if reasoning.field is not None and not reasoning.field:
        yield ("reasoning", "field"), "a key can't be empty"
    if reasoning.call_field is not None and reasoning.field in (None, reasoning.call_field):
        yield ("reasoning", "call_field"), "is there, but field is missing or the same"
    if reasoning.mode is ReasoningMode.TAG_BASED and not reasoning.start.strip():
        yield ("reasoning", "start"), "nothing marks the start, but the mode is TAG_BASED"
    after = order[order.index(Part.REASONING) + 1 :] if Part.REASONING in order else ()
    following = [part for part in after if spec.joins(Part.REASONING, part)] or after
    starts = {
        Part.CONTENT: spec.content.start,
        Part.CALLS: spec.tools.section_start + first_text(spec.tools.call) if spec.tools else "",
    }
    behind = [spec.join(Part.REASONING, part) + starts.get(part, "") for part in following]
    if not reasoning.end.strip() and not (behind and all(text.strip() for text in behind)):
        yield ("reasoning", "end"), f"nothing marks the end, but the mode is {reasoning.mode}"


def _blocks(reasoning: Reasoning) -> Iterator[Finding]:
    blocks = reasoning.blocks
    if blocks is None:
        return
    if reasoning.field is None:
        yield ("reasoning", "blocks"), "is there, but field is missing"
    if blocks.reasoning_type == blocks.content_type:
        yield ("reasoning", "blocks"), "reasoning_type and content_type are the same"
    for key, field in (("field", reasoning.field), ("blocks", blocks.content_key)):
        if field == blocks.type_key:
            yield ("reasoning", key), f"{field} is the key of the type already"


def _content(spec: Spec) -> Iterator[Finding]:
    content = spec.content
    marked = bool(content.start.strip() or content.end.strip())
    if content.mode is ContentMode.PLAIN and marked:
        yield ("content", "mode"), "is PLAIN, but start or end is a marker"
    if content.mode is not ContentMode.PLAIN and not marked:
        yield ("content", "mode"), f"is {content.mode}, but neither start nor end is a marker"


#: What can be said of a subject beside that it is dropped or ambiguous.
_VERDICTS = {
    Subject.REASONING: (Verdict.TRIMS, Verdict.TOLD),
    Subject.CONTENT: (Verdict.TRIMS, Verdict.MOVES, Verdict.OPEN, Verdict.TOLD),
    Subject.CALLS: (Verdict.TOLD,),
    Subject.ARGUMENT_STRING: (Verdict.TRIMS, Verdict.OPEN),
}


def _limits(spec: Spec) -> Iterator[Finding]:
    for index, limit in enumerate(spec.limits):
        allowed = (Verdict.DROPS, Verdict.AMBIGUOUS, *_VERDICTS.get(limit.subject, ()))
        if limit.subject is Subject.FURTHER_CALLS:
            allowed = (Verdict.DROPS,)
        if limit.verdict not in allowed:
            wanted = " or ".join(allowed)
            yield ("limits", index, "verdict"), f"{limit.subject}: can be {wanted} only"
        path: YamlPath = ("limits", index, "characters")
        if limit.characters and limit.subject not in _TEXTS:
            yield path, f"is there, but {limit.subject} is no text"
        if limit.characters and limit.verdict is not Verdict.AMBIGUOUS:
            yield path, f"is for ambiguous, but the verdict is {limit.verdict}"


def _grammar(spec: Spec) -> Iterator[Finding]:
    for key, what in (("triggers", "a trigger"), ("preserved_tokens", "a preserved token")):
        yield from empty_texts(getattr(spec.grammar, key), ("grammar", key), what)


def _alternatives(spec: Spec) -> Iterator[Finding]:
    path: YamlPath = ("alternatives",)
    found = spec.alternatives
    if spec.tools is None and (found.calls or found.code):
        yield path, "another way to write calls, but tools is missing"
    for index, call in enumerate(found.calls):
        yield from _other_call(call, (*path, "calls", index))
    for index, marks in enumerate(found.marks):
        place: YamlPath = (*path, "marks", index, "start")
        yield from check_pieces(marks.start, place, (SlotKind.WORD,))
        yield from unannounced(marks.start, place)
    if found.code and not found.code.start.strip():
        yield (*path, "code", "start"), "nothing shows where the code begins"
    ends = [end.final.strip() for end in spec.turn.ends] + [*spec.turn.stop, *found.stop]
    if found.code and not any(ends):
        yield (*path, "code"), "nothing shows where the code ends: the turn has no end"
    yield from check_stops(found.stop, (*path, "stop"))


def _other_call(call: Sequence[Piece], path: YamlPath) -> Iterator[Finding]:
    yield from check_pieces(call, path, (*CALL_SLOTS, SlotKind.WORD))
    yield from unannounced(call, path)
    slots = slots_in(call)
    name, arguments = SlotKind.NAME, SlotKind.ARGUMENTS
    yield from exactly_one(slots, name, path)
    yield from exactly_one(slots, arguments, path)
    if arguments in slots and name not in slots[: slots.index(arguments)]:
        yield path, "the NAME slot has to stand before ARGUMENTS"
