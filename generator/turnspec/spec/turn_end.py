"""What ends a turn: the stop strings, and an end that a template writes inside of its last call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from turnspec.spec.calls import Literal, Piece, Tools
from turnspec.spec.model import End, Spec
from turnspec.spec.words import Part, Subject, Verdict

#: How many texts may stop a model, all of which an engine looks for with every token.
MOST_STOPS = 64

# The brackets and fences that close a call's JSON, in front of a marker.
_CLOSERS = re.compile(r"[\s}\]`\"']*")


def may_repeat_calls(spec: Spec) -> bool:
    """Say whether a turn may hold several calls: not if the template renders but one."""
    limits = ((limit.subject, limit.verdict) for limit in spec.limits)
    return (Subject.FURTHER_CALLS, Verdict.DROPS) not in limits


def with_stop_at_end(spec: Spec) -> Spec:
    """Return the spec with a marker that stops the model taken out of the calls, as their end.

    Behind the last call a template may write no end of the turn, because the call or the section
    ends with it. An engine takes such a marker away, or doesn't show it as text; so a grammar must
    not insist on it, as little as on any other end of a turn.
    """
    if spec.tools is None or spec.final(Part.CALLS).strip():
        return spec
    stop = _last_marker(spec, spec.tools)
    if not stop:
        return spec
    followed = next((end.followed for end in spec.turn.ends if end.last is Part.CALLS), "")
    ends = [end for end in spec.turn.ends if end.last is not Part.CALLS]
    tail = spec.tools.section_end if spec.tools.section_end.strip() else spec.tools.call[-1].text
    blank = tail[len(tail.rstrip()) :]
    joins = (
        replace(join, text=stop + blank + join.text) if join.left is Part.CALLS else join
        for join in spec.turn.joins
    )
    turn = replace(spec.turn, joins=tuple(joins), ends=(*ends, End(Part.CALLS, stop, followed)))
    return replace(spec, turn=turn, tools=_without(spec.tools, stop))


def without_stop(text: str, stop: Iterable[str]) -> str:
    """Return what ends a section without the beginning of a stop string, "" if it has none.

    An engine may take that away, so a parser has to know the end without it.
    """
    ends = (text[at:] for at in range(1, len(text)))
    found = next((end for end in ends if any(s.startswith(end) for s in stop)), "")
    kept = text.removesuffix(found).rstrip() if found else ""
    return "" if _CLOSERS.fullmatch(kept) or _CLOSERS.fullmatch(found) else kept


def stop_strings(spec: Spec) -> tuple[str, ...]:
    """Return the texts at which an engine has to stop: what ends a turn wherever it stands.

    Everything that needs them takes them from here: the grammar, servers, checks, and pages.
    """
    return tuple(dict.fromkeys((*spec.turn.stop, *spec.alternatives.stop, *end_tokens(spec))))


def end_tokens(spec: Spec) -> tuple[str, ...]:
    """Return the tokens of the model that end a turn though its template never writes them."""
    return spec.tokenizer.end_tokens if spec.tokenizer else ()


def stops_behind_parts(spec: Spec) -> tuple[str, ...]:
    """Return the stop strings that no part ends with: a parser reads the others as that part's."""
    if spec.tools is None:
        return spec.turn.stop
    closing = spec.tools.call[-1].text + spec.tools.section_end
    return tuple(stop for stop in spec.turn.stop if stop not in closing)


def settled_stops(spec: Spec) -> tuple[str, ...]:
    """Return a spec's own stop strings as they have to be, from what was found at the turns' ends.

    A marker that ends the last call and the turn with it is one; what may stand inside of a turn is
    none, nor what begins with another one.
    """
    ended = with_stop_at_end(spec)
    last = ended.final(Part.CALLS).strip() if ended != spec else ""
    final = spec.final(Part.CONTENT)
    found = [join for join in spec.turn.joins if not ends_turn(join.text, final)]
    joins = [join.text for join in found]
    inside = [spec.reasoning.end + join for join in joins]
    inside += [spec.content.end + join.text for join in found if join.left is Part.CONTENT]
    for pieces in _ways_to_call(spec):
        texts = (piece.text for piece in pieces[:-1])
        inside += [join + text for text in texts for join in joins]
    stops = [stop for stop in dict.fromkeys((*spec.turn.stop, last)) if stop]
    ending = [stop for stop in stops if not any(stop in text for text in inside)]
    known = (*ending, *spec.alternatives.stop)
    return tuple(s for s in ending if not any(s != o and s.startswith(o) for o in known))


def _ways_to_call(spec: Spec) -> tuple[tuple[Piece, ...], ...]:
    if spec.tools is None:
        return ()
    closed = ends_turn(spec.tools.separator, spec.final(Part.CALLS))
    between = Literal("" if closed else spec.tools.separator)
    section = (Literal(spec.tools.section_start), between, Literal(""))
    return (section, spec.tools.call, *spec.alternatives.calls)


def ends_turn(separator: str, turn_end: str) -> bool:
    """Tell whether what stands between two calls ends the turn: no model gets beyond that."""
    return bool(turn_end.strip()) and turn_end.strip() in separator


def _last_marker(spec: Spec, tools: Tools) -> str:
    """Return the marker at the calls' end that ends the turn as well, "" if there is none."""
    if not tools.section_end.strip() and may_repeat_calls(spec):
        return ""
    tail = (tools.call[-1].text + tools.section_end).rstrip()
    starts = (tail[at:] for at in range(len(tail)))
    shared = next((s for s in starts if any(stop.startswith(s) for stop in spec.turn.stop)), "")
    if shared and not _CLOSERS.fullmatch(shared):
        return shared
    if any(_may_follow_calls(spec, stop) for stop in spec.turn.stop):
        return ""
    last = tools.section_end.rstrip() or tail
    match = _CLOSERS.match(last)
    return last[match.end() :] if match else ""


def _may_follow_calls(spec: Spec, stop: str) -> bool:
    """Say whether a stop string may stand behind calls: not if it is how other turns end."""
    followed = spec.end(Part.CALLS)
    if followed and followed.followed.strip():
        return followed.followed.strip().startswith(stop)
    content = spec.end(Part.CONTENT)
    texts = (content.final, content.followed) if content else ("",)
    ends = [(spec.content.end + text).strip() for text in texts]
    return not any(end and (stop.startswith(end) or end.startswith(stop)) for end in ends)


def _without(tools: Tools, stop: str) -> Tools:
    section_end = tools.section_end.rstrip()
    if section_end.endswith(stop):
        return replace(tools, section_end=section_end.removesuffix(stop))
    kept = tools.call[-1].text.rstrip().removesuffix(stop)
    call = (*tools.call[:-1], *([Literal(kept)] if kept else []))
    return replace(tools, call=call)
