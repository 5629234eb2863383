"""What an overlay's keys entail, so that a person need not say it.

A part that only the overlay knows belongs into the turn, ends it as content does, and is never
rendered; what starts a call follows from how calls are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from turnspec.analysis.assemble import grammar_hints, with_stops
from turnspec.analysis.told_limits import NEVER_RENDERED
from turnspec.spec.checks import check_spec
from turnspec.spec.model import End, Limit, Spec
from turnspec.spec.overlay import (
    OverlayText,
    overlaid_lines,
    put_as,
    put_over,
    read_overlay,
    source_problems,
)
from turnspec.spec.problems import Problem
from turnspec.spec.words import Part, ReasoningMode, Subject
from turnspec.spec.yaml_document import Document

#: Calls are part of the format, but the template renders none.
CALLS_NEVER_RENDERED = replace(NEVER_RENDERED, subject=Subject.CALLS)


def overlaid(
    spec: Spec, given: OverlayText, template_file: str, template_text: str
) -> Spec | list[Problem]:
    """Return a spec with an overlay put over it, or everything that is wrong with the overlay."""
    overlay = read_overlay(given.text, given.file)
    if isinstance(overlay, list):
        return overlay
    problems = source_problems(overlay, template_file, template_text)
    found = put_over(overlay, spec)
    if isinstance(found, list):
        return problems + found
    entailed = _with_consequences(found, [key.key for key in overlay.keys])
    problems += check_spec(entailed, overlay.file, Document(None, overlaid_lines(overlay)))
    return problems or entailed


def overlaid_as(spec: Spec, known: Spec) -> Spec | None:
    """Return a spec with what the overlay of a known one says put over it, if there is room."""
    found = put_as(spec, known)
    return None if found is None else _with_consequences(found, known.overlay)


def _with_consequences(spec: Spec, keys: Sequence[str]) -> Spec:
    order, limits = spec.turn.order, spec.limits
    if any(key.startswith("tools.call") for key in keys):  # how a call shows its name is said now
        limits = tuple(limit for limit in limits if limit.subject is not Subject.CALL_ID)
    if spec.reasoning.mode is not ReasoningMode.NONE and Part.REASONING not in order:
        order, limits = (Part.REASONING, *order), _with(NEVER_RENDERED, limits)
    if spec.tools is not None and Part.CALLS not in order:
        order, limits = (*order, Part.CALLS), _with(CALLS_NEVER_RENDERED, limits)
    turn = replace(spec.turn, order=order, ends=_ends(spec))
    spec = replace(spec, turn=turn, limits=limits)
    if "turn.stop" not in keys:
        spec = with_stops(spec)
    if any(key.split(".")[0] == "grammar" for key in keys):
        return spec
    return replace(spec, grammar=grammar_hints(spec))


def _with(limit: Limit, limits: tuple[Limit, ...]) -> tuple[Limit, ...]:
    """Return the limits and one more, unless they say so already."""
    what = (limit.subject, limit.verdict, limit.when)
    known = any((other.subject, other.verdict, other.when) == what for other in limits)
    return limits if known else (*limits, limit)


def _ends(spec: Spec) -> tuple[End, ...]:
    """Return the turn's ends; one after calls that nothing tells is the one after content."""
    content = spec.end(Part.CONTENT)
    if spec.tools is None or content is None or spec.end(Part.CALLS) is not None:
        return spec.turn.ends
    return (*spec.turn.ends, End(Part.CALLS, content.final, content.followed))
