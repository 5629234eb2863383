"""Sanity of where turns and calls begin and end for an engine: stop strings and triggers."""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.analysis.other_marks import with_lists
from turnspec.analysis.probes import IDS
from turnspec.analysis.text import markers, splits_marker
from turnspec.rendering.conversation import Following
from turnspec.spec.message import Message
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import ends_turn, settled_stops, stop_strings
from turnspec.spec.words import Part
from turnspec.spec.yaml_text import quoted
from turnspec.verification.messages import SAMPLE_CALLS, allowed_call
from turnspec.verification.sanity_view import Finding, View, listed
from turnspec.verification.turns import never_renders_calls

_IDS = (*IDS, *(call.id for call in SAMPLE_CALLS))


def stops(view: View) -> Iterator[Finding]:
    """Every turn ends at a stop string; none holds one before; none cuts a marker."""
    spec = view.spec
    found = stop_strings(spec)
    if settled_stops(spec) != spec.turn.stop and "turn.stop" not in spec.overlay:
        yield "turn.stop", f"the ends of turns give {listed(settled_stops(spec))}"
    for stop in found:
        if stop.strip() and stop != stop.rstrip():
            yield "turn.stop", f"{quoted(stop)} waits for white space that no model need write"
    yield from _unended(view, found)
    for message, turn in view.turns():
        joins = (join.text for join in spec.turn.joins if join.right is Part.CALLS)
        for between in (*joins, *(spec.tools.separators if spec.tools else ())):
            if ends_turn(between, spec.final(Part.CALLS)):
                turn = turn.replace(between, "\n")
        ended = _ended_at(spec, message, turn)
        for stop in found:
            at = turn.find(stop)
            if 0 <= at < ended:
                yield "turn.stop", f"{quoted(stop)} stands inside of a turn: {quoted(turn)}"
                return
            if at >= 0 and _cuts(turn, at, stop):
                yield "turn.stop", f"{quoted(stop)} cuts a marker: {quoted(turn)}"
                return


def _unended(view: View, found: tuple[str, ...]) -> Iterator[Finding]:
    """Yield the turns of content and of calls that no stop string ends."""
    spec = view.spec
    ends = {Part.REASONING: spec.reasoning.end, Part.CONTENT: spec.content.end}
    for end in spec.turn.ends:
        for key, text in (("final", end.final), ("followed", end.followed)):
            whole = (ends.get(end.last, "") + text).rstrip()
            is_last = end.last in (Part.CONTENT, Part.CALLS) and text.strip()
            if is_last and not _is_ended(whole, found):
                path = f"turn.ends.{end.last}.{key}"
                yield path, f"no stop string stands in the end: {quoted(whole)}"


def _cuts(text: str, at: int, stop: str) -> bool:
    """Tell whether a stop string that stands at a place cuts a marker there; a whole one can't.

    Nor does one that goes up to an id, which is another one in each conversation.
    """
    end = at + len(stop)
    if markers(stop) == [stop] or (text.startswith(_IDS, end) and not splits_marker(text, at)):
        return False
    return splits_marker(text, at) or splits_marker(text, end)


def _is_ended(text: str, found: tuple[str, ...]) -> bool:
    """Tell whether a stop string stands in a text, or goes on from it with the next header."""
    ends = tuple(text[at:] for at in range(len(text)))
    return any(stop in text or stop.startswith(ends) for stop in found)


def shown_stops(view: View) -> Iterator[Finding]:
    """Each stop string stands whole behind some turn as rendered, and each such turn has one."""
    spec = view.spec
    if "turn.stop" in spec.overlay:
        return
    texts = []
    for text, is_followed in _rendered_ends(view):
        texts.append(text)
        # Where messages follow each other without any mark, there is none to stop at.
        is_marked = bool(text.strip())
        if is_followed and is_marked and not any(stop in text for stop in stop_strings(spec)):
            yield "turn.stop", f"none stands before the next message: {quoted(text)}"
    if spec.tools and not never_renders_calls(spec):
        call = allowed_call(spec, SAMPLE_CALLS[0])
        texts += with_lists(view.renderer.chat, call, call.name)
    if never_renders_calls(spec):  # a person says how they end
        texts += [turn for message, turn in view.turns() if message.calls]
    for stop in spec.turn.stop:
        places = [(text, text.find(stop)) for text in texts if stop in text]
        if not places:
            yield "turn.stop", f"{quoted(stop)} is rendered behind no turn"
        elif all(_cuts(text, at, stop) for text, at in places):
            yield "turn.stop", f"{quoted(stop)} cuts a marker: {quoted(places[0][0])}"


def _rendered_ends(view: View) -> Iterator[tuple[str, bool]]:
    """Yield what stands behind an answer and behind a call, and whether its next message follows.

    Then the text goes on to that message's own.
    """
    call = allowed_call(view.spec, SAMPLE_CALLS[0])
    answer, calling = Message("The answer is here."), Message(calls=(call,))
    asked = [(answer, following, answer.content) for following in Following]
    if view.spec.tools and not never_renders_calls(view.spec):
        # Where no results are rendered, a user's message may follow all the same.
        shown = view.renderer.chat.turn(calling, following=Following.TOOL).text is not None
        asked.append((calling, Following.TOOL if shown else Following.USER, call.name))
    for message, following, anchor in asked:
        text = view.renderer.chat.turn(message, following=following).text
        if text is not None and anchor in text:
            usual = Following.TOOL if message is calling else Following.USER
            yield text.partition(anchor)[2], following is usual


def _ended_at(spec: Spec, message: Message, turn: str) -> int:
    """Return where the last part's text ends in a turn, so that nothing but its end follows."""
    texts = [message.content, message.reasoning]
    last = max((turn.rfind(text) + len(text) for text in texts if text), default=0)
    if not message.calls or not spec.tools:
        return last
    # A call's own end may be what stops the model.
    if spec.turn.order.index(Part.CALLS) < spec.turn.order.index(Part.CONTENT) and message.content:
        return 0 if spec.turn.header.strip() in turn else last
    return turn.rfind(message.calls[-1].name)


def triggers(view: View) -> Iterator[Finding]:
    """A trigger stands in every turn with calls, and in no other."""
    spec = view.spec
    words = spec.grammar.triggers
    if spec.tools is None or not words:
        return
    for message, turn in view.turns():
        shown = [word for word in words if word in turn]
        if message.calls and not shown:
            yield "grammar.triggers", f"none stands in a turn with calls: {quoted(turn)}"
            return
        if not message.calls and shown:
            yield "grammar.triggers", f"{quoted(shown[0])} in a turn without calls: {quoted(turn)}"
            return
