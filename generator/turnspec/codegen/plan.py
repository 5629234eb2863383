"""Spec -> plan: which markers, expressions and states a generated parser module has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from turnspec.codegen.call_plan import CallPlan
from turnspec.codegen.code_plan import with_code
from turnspec.codegen.marker_plan import (
    Expression,
    Marker,
    MarkerPieces,
    literal,
    looks_like_head,
    looks_like_marker,
    opening_literal,
    words,
)
from turnspec.codegen.message_plan import (
    begins_with_header,
    message_boundaries,
    opening_headers,
    with_headers,
)
from turnspec.codegen.native_plan import plan_native
from turnspec.codegen.slot_plan import slotted
from turnspec.codegen.tag_plan import plan_tags
from turnspec.spec.model import Part, ReasoningMode, Spec, Switch, SwitchWord, ToolMode
from turnspec.spec.turn_end import stops_behind_parts

_LONGEST_END = 100  # characters


@dataclass(frozen=True, slots=True)
class ReasoningPlan:
    """How a module tells reasoning from content."""

    end: str
    starts_open: bool
    comes_first: bool  # before content and calls
    end_ends_turn: bool  # outside reasoning the closing marker ends the turn
    end_closes_content: bool
    may_stay_open: bool  # only content is preceded by what closes it
    may_end_turn: bool  # without a mark of its own or of the turn's end


@dataclass(frozen=True, slots=True)
class ModulePlan:
    """All that the code templates need to know about a format."""

    name: str
    header: str
    prompt_on: str
    prompt_off: str
    prompt_word: SwitchWord | None  # without it the template gives the other prompt
    reasoning: ReasoningPlan | None
    calls: CallPlan | None
    text: tuple[Marker, ...]  # the markers that end text, longest first
    content_last: bool  # behind calls
    openings: tuple[str, ...]  # what tells the beginning of a marker from content
    expressions: dict[str, str]  # by constant, beside those of calls


def plan_module(spec: Spec) -> ModulePlan:
    """Return the plan of the module that parses the spec's format."""
    given, spec = spec, with_headers(spec)
    ends = tuple(dict.fromkeys(text.strip() for text in _ends(spec) if looks_like_marker(text)))
    calls = _plan_calls(spec, ends)
    reasoning = _plan_reasoning(spec)
    expressions: dict[str, str] = {}
    markers = _text_markers(given, spec, calls, expressions)
    return ModulePlan(
        name=spec.name,
        header=spec.turn.header,
        prompt_on=spec.thinking.prompt_on or given.turn.header,
        prompt_off=spec.thinking.prompt_off or given.turn.header,
        prompt_word=_prompt_word(spec),
        reasoning=reasoning,
        calls=calls,
        text=tuple(markers),
        content_last=_content_last(spec),
        openings=(*_openings(markers), *opening_headers(given, spec)),
        expressions=expressions,
    )


def _text_markers(
    given: Spec, spec: Spec, calls: CallPlan | None, expressions: dict[str, str]
) -> list[Marker]:
    """Return the markers that end text; ``spec`` is the one ``given``, its parts with headers."""
    by_role: dict[str, list[MarkerPieces]] = {}
    _add(by_role, "boundary", message_boundaries(given, spec))
    for role, literals in _text_literals(spec):
        headed = [literal for literal in literals if begins_with_header(literal, given, spec)]
        # Nothing but its markers tells reasoning; those of other parts are less needed.
        suffices = looks_like_head if role in ("think", "unthink") else looks_like_marker
        marked = [literal for literal in literals if suffices(literal)]
        found = [words(literal) for literal in dict.fromkeys([*headed, *marked])]
        if role == "unthink" and (run_end := _run_end(marked)):
            expressions["_RUN_END"] = run_end
            found = [(*pieces, Expression("_RUN_END")) for pieces in found]
        _add(by_role, role, found)
    for role, pieces in _other_marks(spec, expressions):
        _add(by_role, role, [pieces])
    # A stop string ends the turn even if it is distinctive by its white space alone.
    _add(
        by_role,
        "end",
        [(stop,) for stop in stops_behind_parts(spec) if not looks_like_marker(stop)],
    )
    for marker in calls.text if calls else ():
        _add(by_role, marker.role, marker.alternatives)
    markers = [
        Marker(role, tuple(sorted(found, key=_length, reverse=True)))
        for role, found in by_role.items()
    ]
    # One that is the beginning of another comes after it; code is what nothing else begins with.
    markers.sort(key=lambda marker: (marker.role == "code", -_length(marker.alternatives[-1])))
    return markers


def _prompt_word(spec: Spec) -> SwitchWord | None:
    """Return the word that gives one of the prompts, where no variable does."""
    thinking = spec.thinking
    if thinking.on != thinking.off or thinking.prompt_on == thinking.prompt_off:
        return None
    # Where there are words for both, that for thinking only takes back what the other has said.
    for switch, prompt in (
        (Switch.OFF, thinking.prompt_off),
        (Switch.ON, thinking.prompt_on),
    ):
        for word in thinking.words:
            if (word.switches, word.prompt) == (switch, prompt):
                return word
    return None


def _run_end(markers: Iterable[str]) -> str:
    """Return what can't follow a marker of one sign: the text before it may end in that sign."""
    for marker in markers:
        if len(set(marker.strip())) == 1:
            return f"(?!{re.escape(marker.strip()[0])})"
    return ""


def _content_last(spec: Spec) -> bool:
    order = spec.turn.order
    if Part.CALLS not in order or Part.CONTENT not in order:
        return False
    return order.index(Part.CONTENT) > order.index(Part.CALLS)


def _plan_calls(spec: Spec, ends: tuple[str, ...]) -> CallPlan | None:
    if spec.tools is None:
        return None
    others = spec.alternatives.calls
    if spec.tools.mode is ToolMode.JSON_NATIVE:
        plan = plan_native(spec.tools, others)
    else:
        reasoning_end = spec.reasoning.end.strip()
        plan = plan_tags(spec.tools, ends, spec.turn.stop, reasoning_end, others)
    return with_code(plan, spec.alternatives.code, ends)


def _openings(markers: Iterable[Marker]) -> tuple[str, ...]:
    """Return the tags and literals with which markers begin that go on after them."""
    found: dict[str, None] = {}
    whole = {
        literal(pieces)
        for marker in markers
        if marker.role != "mention"
        for pieces in marker.alternatives
    }
    for marker in markers:
        for pieces in marker.alternatives:
            head = opening_literal(pieces)
            tags = [tag.end() for tag in re.finditer(r"[>\]]", head)]
            starts = [head[:at] for at in tags if at < len(head) and looks_like_marker(head[:at])]
            if literal(pieces) != head and marker.role in ("wrap", "call", "open"):
                starts.append(head)
            starts = [start for start in starts if start not in whole]
            found |= dict.fromkeys(starts[:1])
    return tuple(found)


def _add(by_role: dict[str, list[MarkerPieces]], role: str, found: Iterable[MarkerPieces]) -> None:
    """Add markers to a role, unless another role has them already."""
    for pieces in found:
        if not any(pieces in known for known in by_role.values()):
            by_role.setdefault(role, []).append(pieces)


def _length(pieces: MarkerPieces) -> int:
    return sum(len(piece) if isinstance(piece, str) else 0 for piece in pieces)


def _text_literals(spec: Spec) -> Iterable[tuple[str, list[str]]]:
    """Yield roles and their markers; of two roles for one marker the first wins."""
    if spec.reasoning.mode is not ReasoningMode.NONE:
        yield "think", [spec.reasoning.start]
        yield "unthink", [_closing(spec)]
    yield "boundary", _boundaries(spec)
    yield "opening", [spec.content.start]
    yield "end", _ends(spec)
    yield "closing", [spec.content.end]
    yield "header", [spec.turn.header]


def _other_marks(spec: Spec, expressions: dict[str, str]) -> Iterable[tuple[str, MarkerPieces]]:
    """Yield roles and markers that an overlay adds for reasoning and content."""
    roles = {Part.REASONING: ("think", "unthink"), Part.CONTENT: ("opening", "closing")}
    for marks in spec.alternatives.marks:
        opens, closes = roles[marks.part]
        yield opens, slotted(marks.start, expressions, "")
        if marks.end:
            yield closes, words(marks.end)


def _closing(spec: Spec) -> str:
    """Return what closes reasoning: its own end or, where it has none, what leads to content."""
    return spec.reasoning.end.strip() or spec.join(Part.REASONING, Part.CONTENT).strip()


def _ends(spec: Spec) -> list[str]:
    """Return every way in which a turn can end, the end-of-sequence token among them."""
    finals = [text for end in spec.turn.ends for text in (end.final, end.followed)]
    if spec.tools and spec.tools.after_first:
        finals.append(spec.tools.after_first.end)
    sequence_ends = [token.text for name, token in spec.tokens.items() if name.startswith("eos")]
    found = [*finals, *stops_behind_parts(spec), *spec.alternatives.stop, *sequence_ends]
    reasoning_end = _closing(spec)
    return [
        text if text.strip() == reasoning_end else _shortened(_without_reasoning(spec, text))
        for text in found
    ]


def _shortened(end: str) -> str:
    """Cut an end that goes on with other text after its first tags."""
    if len(end) <= _LONGEST_END:
        return end
    tag = re.match(r"\s*(?:<[^<>]*>|\[[^\[\]]*\])", end)
    return tag.group() if tag else end[:_LONGEST_END]


def _without_reasoning(spec: Spec, text: str) -> str:
    """Return what is left of text when an empty reasoning block is taken out."""
    for marker in (spec.reasoning.start.strip(), _closing(spec)):
        text = text.replace(marker, "") if marker else text
    return text


def _boundaries(spec: Spec) -> list[str]:
    """Return what stands between parts: the end of one message and the header of the next."""
    part_ends = {Part.REASONING: spec.reasoning.end, Part.CONTENT: spec.content.end}
    found = []
    for join in spec.turn.joins:
        text = _without_reasoning(spec, join.text)
        if text.strip():
            found += [part_ends.get(join.left, "") + join.text, text]
    if spec.tools:
        found += spec.tools.separators
    return found


def _plan_reasoning(spec: Spec) -> ReasoningPlan | None:
    reasoning = spec.reasoning
    if reasoning.mode is ReasoningMode.NONE:
        return None
    end = _closing(spec)
    may_stay_open = bool(end) and not reasoning.end.strip()
    return ReasoningPlan(
        end=end,
        comes_first=spec.turn.order[0] is Part.REASONING or reasoning.field is None,
        starts_open=reasoning.mode is ReasoningMode.DELIMITER and not reasoning.start.strip(),
        end_ends_turn=end in {text.strip() for text in _ends(spec)},
        end_closes_content=end == spec.content.end.strip(),
        may_stay_open=may_stay_open,
        may_end_turn=may_stay_open and not spec.final(Part.REASONING).strip(),
    )
