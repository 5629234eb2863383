"""The layout of a turn under one setting: header, starts, ends, joins and turn ends.

This puts the steps of `parts` and `calls` together, each on what the one before left over.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from turnspec.analysis import parts
from turnspec.analysis.around import (
    Around,
    before_results,
    find_around,
    followed_ends,
    next_headers,
)
from turnspec.analysis.calls import (
    CallsFinding,
    analyze_calls,
    end_of_only_call,
    find_after_first,
    mark_count,
    why_unread,
)
from turnspec.analysis.findings import Derivation
from turnspec.analysis.frames import Edge, Edges, Frame, Frames
from turnspec.analysis.header import Header, strip_header
from turnspec.analysis.parts import NOTHING, Wrapping, closed_apart, without_wrapped_end
from turnspec.analysis.text import markers
from turnspec.rendering.conversation import Chat, Following
from turnspec.spec.calls import AfterFirst
from turnspec.spec.model import End, Join
from turnspec.spec.turn_end import ends_turn
from turnspec.spec.words import Part


@dataclass(frozen=True, slots=True)
class Layout:
    """All literals of a turn. ``section`` stands around all calls of a turn."""

    header: Header
    user_header: str
    order: tuple[Part, ...]
    reasoning: Wrapping
    content: Wrapping
    section: Wrapping
    calls: CallsFinding | None
    after_first: AfterFirst | None
    joins: tuple[Join, ...]
    ends: tuple[End, ...]
    stop: tuple[str, ...]
    calls_decide_end: bool
    behind_calls: tuple[str, ...] = ()  # before a tool's answer: several calls, and only one

    def join(self, left: Part, right: Part) -> str:
        """Return what stands between two neighbours beyond their own end and start."""
        found = (join.text for join in self.joins if (join.left, join.right) == (left, right))
        return next(found, "")

    def generation_prompt(self, prompt: str) -> str:
        """Return a generation prompt from the assistant's header on.

        ``prompt`` is all that is rendered behind the user's text.
        """
        position = prompt.rfind(self.header.header)
        if position >= 0 and self.header.header:
            return prompt[position:]
        return "" if self.header.header else _behind(self.header.user_end, prompt)

    def before_header(self, prompt: str) -> str:
        """Return the last line of what a prompt says before the header, and turns don't."""
        before = prompt.rpartition(self.header.header)[0] if self.header.header else ""
        end = self.header.user_end.strip()
        return before.strip().removesuffix(end).removeprefix(end).rpartition("\n")[2].strip()

    def counting(self, lead: str) -> Layout:
        """Put a COUNT slot in the place of the number behind ``lead`` in a call of one argument."""
        if not lead or self.calls is None:
            return self
        return replace(self, calls=replace(self.calls, call=mark_count(self.calls.call, lead)))

    def without_reasoning(self, end: str) -> Layout:
        """Move an empty reasoning block off the start of content into the joins.

        ``end`` closes reasoning. It is found so where a template never renders reasoning, but
        always the empty block.
        """
        position = self.content.start.rfind(end) + len(end)
        if not end:
            return self
        if position < len(end):
            return replace(self, joins=(*self.joins, *self._behind_block(end)))
        block, start = self.content.start[:position], self.content.start[position:]
        joins = tuple(
            replace(join, text=join.text + block) if join.right is Part.CONTENT else join
            for join in self.joins
        )
        return replace(self, content=Wrapping(start, self.content.end), joins=joins)

    def _behind_block(self, end: str) -> Iterator[Join]:
        """Yield what follows reasoning, where a join has an empty block and a marker behind it.

        Where another part decides that there is no such block, the same follows as otherwise.
        """
        first = [join for join in self.joins if join.left is Part.START]
        rests = {join: join.text.rpartition(end)[2] for join in first}
        marked = {it.right for it, rest in rests.items() if end in it.text and markers(rest)}
        for join, rest in rests.items():
            if join.right in marked:
                yield replace(join, left=Part.REASONING, text=rest)

    def prompt_rest(self, prompt: str) -> str:
        """Return what a generation prompt adds behind the assistant's header."""
        return self.generation_prompt(prompt).removeprefix(self.header.header)


def _behind(user_end: str, prompt: str) -> str:
    """Return a prompt without what ends the user's message, of which a setting may lack the first.

    Another message may stand there, if nothing says otherwise.
    """
    ends = (user_end[at:] for at in range(len(user_end)))
    found = (end for end in ends if prompt.startswith(end) and (markers(end) or end == user_end))
    return prompt.removeprefix(next(found, ""))


def find_layout(
    chat: Chat, frames: Frames, prompts: Sequence[str], derivation: Derivation
) -> Layout:
    """Find the layout from the frames of one setting.

    ``prompts`` are the texts behind the user's message with a generation prompt, one for each
    setting of the switches, the setting of the frames first.
    """
    frames, wrapped_end = without_wrapped_end(frames)
    around = find_around(chat, frames, prompts)
    only_call = end_of_only_call(frames, around.table, around.tail)
    edges = strip_header(around.table, around.header)
    wrappings, turn_end = _find_wrappings(edges, around)
    derivation.note("C1", f"header {around.header.header!r}, turn end {turn_end!r}", *prompts)
    for frame, edge, text in frames.exceptions():
        derivation.note("C1", f"unlike elsewhere, {edge[0]} to {edge[1]} is {text!r}", frame.text)
    calls = _find_calls(frames, edges, turn_end, only_call, derivation)
    if calls is not None:
        edges = _around_calls(edges, calls, turn_end)
        around = around.behind(calls)
        wrappings[Part.CALLS] = parts.find_wrapping(Part.CALLS, edges, around.open_header)
    wrappings = parts.without_prompted(wrappings, edges, around.header, around.prompts)
    wrappings = _settle(wrappings, edges, turn_end, around, chat.tokens.get("eos_token", ""))
    if wrapped_end:
        wrappings[Part.REASONING] = closed_apart(wrappings[Part.REASONING])
        wrappings[Part.CONTENT] = replace(wrappings[Part.CONTENT], end=wrapped_end)
    joins = parts.find_joins(edges, wrappings)
    ends = parts.find_ends(edges, followed_ends(edges, around), wrappings, wrapped_end)
    section = wrappings.get(Part.CALLS, NOTHING)
    final = next((end.final for end in ends if end.last is Part.CALLS), "")
    after = find_after_first(calls, only_call, section.end, final, derivation) if calls else None
    inside = _inner_texts(wrappings, calls, joins, turn_end)
    return Layout(
        header=around.header,
        user_header=around.user_header,
        order=_find_order(frames),
        reasoning=wrappings.get(Part.REASONING, NOTHING),
        content=wrappings.get(Part.CONTENT, NOTHING),
        section=section,
        calls=calls,
        after_first=after,
        joins=joins,
        ends=ends,
        stop=parts.stop_strings([*ends, *_only_end(after)], next_headers(around), inside),
        calls_decide_end=_calls_decide_end(frames, ends, wrappings),
        behind_calls=before_results(frames, calls),
    )


def _find_wrappings(edges: Edges, around: Around) -> tuple[parts.Wrappings, str]:
    """Return what stands around reasoning and content, and what ends a turn."""
    wrappings = {
        part: parts.find_wrapping(part, edges, around.open_header)
        for part in (Part.REASONING, Part.CONTENT)
        if any(part in edge for edge in edges)
    }
    wrappings = parts.without_turn_end(wrappings, edges, around.header.header)
    turn_end = parts.common_turn_end(edges, wrappings)
    if not turn_end:  # some templates end the last message of a conversation in their own way
        ends = {
            edge: text.removesuffix(around.user_header)
            for edge, text in around.by_user.items()
            if edge.right is Part.END and edge.left is not Part.START
        }
        turn_end = parts.common_turn_end(ends, wrappings)
    return parts.closed_alike(wrappings, turn_end, around.header.user_end)


def _find_calls(
    frames: Frames, edges: Edges, turn_end: str, only_call: str | None, derivation: Derivation
) -> CallsFinding | None:
    best = _with_most_calls(frames)
    if best is None:
        return None
    befores = [text for (_, right, _), text in edges.items() if right is Part.CALLS]
    afters = [
        text.removesuffix(turn_end) if right is Part.END else text
        for (left, right, _), text in edges.items()
        if left is Part.CALLS
    ]
    if only_call is not None:
        afters.append(only_call.removesuffix(turn_end))
    return analyze_calls(best.tokens, best.calls_text, befores, afters, derivation)


def _with_most_calls(frames: Frames) -> Frame | None:
    shown = [
        frame
        for frame in frames.frames
        if frame.following is Following.NOTHING and Part.CALLS in frame.order
    ]
    return max(shown, key=lambda frame: len({token.call for token in frame.tokens}), default=None)


def why_calls_unread(frames: Frames) -> str:
    """Return why calls that are rendered can't be read; "" if they can, or there are none."""
    best = _with_most_calls(frames)
    return why_unread(best.tokens, best.calls_text) if best else ""


def _around_calls(edges: Edges, calls: CallsFinding, turn_end: str) -> Edges:
    """Replace the edges at the calls by what the calls themselves leave of them."""
    befores = iter(calls.repetition.befores)
    afters = iter(calls.repetition.afters)
    result: dict[Edge, str] = {}
    for edge, text in edges.items():
        rest = text
        if edge.right is Part.CALLS:
            rest = next(befores)
        elif edge.left is Part.CALLS:
            rest = next(afters)
            if edge.right is Part.END and text.endswith(turn_end):
                rest += turn_end
        result[edge] = rest
    return result


def _settle(
    wrappings: parts.Wrappings, edges: Edges, turn_end: str, around: Around, token: str
) -> parts.Wrappings:
    """Settle who owns a text that two neighbours, or a part and the turn's end, both claim.

    ``token`` is the special one that ends a turn.
    """
    found: parts.Wrappings = {}
    for part, wrapping in wrappings.items():
        last = Edge(part, Part.END)
        shown = (edges,) if part is Part.CALLS else (edges, around.by_user)
        finals = [table[last] for table in shown if last in table]
        owned = parts.own_end(wrapping, finals if last in edges else [], turn_end, token)
        found[part] = _end_before_header(owned, around.header.header)
    if _is_ended_alike(found, edges):
        found[Part.CONTENT] = replace(found[Part.CONTENT], start="")
    for (left, right, _), text in edges.items():
        if left in found and right in found:
            found[left], found[right] = parts.part_ways(found[left], found[right], text)
    return found


def _is_ended_alike(wrappings: parts.Wrappings, edges: Edges) -> bool:
    """Tell whether what begins content ends a thought, if an empty one, before calls as well."""
    if not wrappings.keys() >= {Part.REASONING, Part.CONTENT, Part.CALLS}:
        return False
    reasoning, content = wrappings[Part.REASONING], wrappings[Part.CONTENT]
    if content.start != reasoning.end or content.end.strip():  # it has marks of its own
        return False
    lefts, rights = (Part.START, Part.REASONING), (Part.CONTENT, Part.CALLS)
    begun = [text for (it, to, _), text in edges.items() if it in lefts and to in rights]
    return all(reasoning.end in text for text in begun)


def _calls_decide_end(frames: Frames, ends: Sequence[End], wrappings: parts.Wrappings) -> bool:
    """Tell whether content behind calls is followed by what ends a turn of calls."""
    finals = {end.last: end.final for end in ends}
    behind = [
        frame.gaps[-1].removeprefix(wrappings[Part.CONTENT].end)
        for frame in frames.frames
        if frame.following is Following.NOTHING and frame.order[-2:] == (Part.CALLS, Part.CONTENT)
    ]
    is_other = finals.get(Part.CONTENT) != finals.get(Part.CALLS)
    return is_other and set(behind) == {finals.get(Part.CALLS)}


def _inner_texts(
    wrappings: parts.Wrappings, calls: CallsFinding | None, joins: Sequence[Join], turn_end: str
) -> list[str]:
    """Return all literals that stand inside a turn.

    Some templates end a turn between two parts or calls and go on: no model gets beyond that. What
    ends a thought may end a turn as well; then the answer follows it.
    """
    texts = [text for wrapping in wrappings.values() for text in (wrapping.start, wrapping.end)]
    for join in joins:
        if ends_turn(join.text, turn_end) and join.left is not Part.REASONING:
            continue
        left, right = (wrappings.get(part, NOTHING) for part in (join.left, join.right))
        head = calls.call[0].text if calls is not None and join.right is Part.CALLS else ""
        texts += [join.text, left.end + join.text + right.start + head]
    if calls is not None:
        texts += [piece.text for piece in calls.call]
        separators = (calls.repetition.separator, calls.first_separator)
        texts += [text for text in separators if not ends_turn(text, turn_end)]
    return texts


def _only_end(after: AfterFirst | None) -> list[End]:
    """Return what ends a turn with one call, if it is an end of its own."""
    return [End(Part.CALLS, after.end, after.end)] if after and after.end.strip() else []


def _end_before_header(wrapping: Wrapping, header: str) -> Wrapping:
    """A part's end stops where the assistant's header comes again: a new message begins there."""
    position = wrapping.end.find(header.strip()) if header.strip() else -1
    return Wrapping(wrapping.start, wrapping.end[:position] if position >= 0 else wrapping.end)


def _find_order(frames: Frames) -> tuple[Part, ...]:
    """Return the parts as frames order them; those that none shows together in the usual order."""
    shown = [frame.order for frame in frames.frames if frame.following is Following.NOTHING]
    pairs = {pair for order in shown for pair in itertools.combinations(order, 2)}
    waiting = [part for part in Part if any(part in order for order in shown)]
    found: list[Part] = []
    while waiting:
        before = {part: sum((other, part) in pairs for other in waiting) for part in waiting}
        found.append(min(waiting, key=before.__getitem__))
        waiting.remove(found[-1])
    return tuple(found)
