"""R1 and C1: from the table of edges to each part's start and end, and the joins.

What leads into a part in every edge is that part's start, what leads out of it in every edge its
end; the rest is the join of these two neighbours. So the edges can always be written again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from turnspec.analysis.frames import Edge, Edges, Frame, Frames
from turnspec.analysis.header import Header
from turnspec.analysis.text import distinct_beginning, markers, whole_prefix, whole_suffix
from turnspec.spec.model import End, Join
from turnspec.spec.words import Part


@dataclass(frozen=True, slots=True)
class Wrapping:
    """What stands before a part and after it."""

    start: str
    end: str


NOTHING = Wrapping("", "")
Wrappings = dict[Part, Wrapping]


def find_wrapping(part: Part, edges: Edges, open_header: str = "") -> Wrapping:
    """Find what always leads into a part and what always leads out of it.

    What follows a part only at the turn's end belongs to that end, unless the part has a marker
    of its own to open it (`own_end` settles that). An ``open_header`` is no part's, though a
    marker begins in it.
    """
    into = [text for (_, right, _), text in edges.items() if right is part]
    if open_header:
        into = [text.rpartition(open_header)[2] for text in into]
    out = {edge: text for edge, text in edges.items() if edge.left is part}
    start = whole_suffix(into) if into else ""
    goes_on = any(edge.right is not Part.END for edge in out)
    end = whole_prefix(list(out.values())) if goes_on else ""
    return Wrapping(start, end)


def common_turn_end(edges: Edges, wrappings: Wrappings) -> str:
    """Return what ends every turn, whatever its last part."""
    rests = [
        text.removeprefix(wrappings[left].end if left in wrappings else "")
        for (left, right, _), text in edges.items()
        if right is Part.END
    ]
    return whole_suffix(rests)


def without_turn_end(wrappings: Wrappings, edges: Edges, header: str) -> Wrappings:
    """Take what ends every turn off content that has no marker of its own to open it.

    It stands behind content before calls, too, where each of them is a message of its own: there
    a header follows once more, if another role's, or else it ends no turn that shows nothing.
    """
    content = wrappings.get(Part.CONTENT)
    shown = {edge: text for edge, text in edges.items() if edge.left is not Part.START}
    turn_end = common_turn_end(shown, {})
    if content is None or markers(content.start) or not turn_end.strip():
        return dict(wrappings)
    more = [text for edge, text in edges.items() if edge[:2] == (Part.CONTENT, Part.CALLS)]
    lead = next(iter(markers(header)), header)
    behind = turn_end + lead if common_turn_end(edges, {}) else turn_end
    if not (header.strip() and any(text.startswith(behind) for text in more)):
        return dict(wrappings)
    return {**wrappings, Part.CONTENT: Wrapping(content.start, content.end.removesuffix(turn_end))}


def closed_alike(wrappings: Wrappings, turn_end: str, user_end: str) -> tuple[Wrappings, str]:
    """Take what closes every part off the turn's end, where content has a marker to open it.

    It stands before what ends the user's message as well, or closes reasoning. Returns what stands
    around each part, and what is left of the turn's end.
    """
    reasoning, content = (wrappings.get(it, NOTHING) for it in (Part.REASONING, Part.CONTENT))
    before = turn_end.removesuffix(user_end if markers(user_end) else "")
    end = before if before != turn_end else whole_prefix([reasoning.end, turn_end])
    rest = turn_end.removeprefix(end)
    if content.end or not all(map(markers, (content.start, end, rest))):
        return wrappings, turn_end
    return {**wrappings, Part.CONTENT: Wrapping(content.start, end)}, rest


def without_prompted(
    wrappings: Wrappings, edges: Edges, header: Header, prompts: Sequence[str]
) -> Wrappings:
    """Take what prompts give before any of several parts off their starts: it opens none of them.

    So it is with a header that only some turns begin with, as reasoning has one of its own. What
    one prompt gives before content's own marker, and calls have before them as well, is such.
    """
    given = [prompt.removeprefix(header.user_end) for prompt in prompts]
    lead = whole_prefix(given)
    led = {
        part: Wrapping(wrapping.start.removeprefix(lead), wrapping.end)
        for part, wrapping in wrappings.items()
        if not header.header and lead.strip() and wrapping.start.startswith(lead)
    }
    if len(led) > 1:
        return {**wrappings, **led}
    content = wrappings.get(Part.CONTENT, NOTHING)
    into = [text for edge, text in edges.items() if _leads_to_first_call(edge)]
    for text in given if into and not header.header else ():
        own = content.start.removeprefix(text)
        if own != content.start and markers(own) and all(it.endswith(text) for it in into):
            return {**wrappings, Part.CONTENT: Wrapping(own, content.end)}
    return dict(wrappings)


def _leads_to_first_call(edge: Edge) -> bool:
    """Tell whether calls come behind it with no content before them."""
    return edge.right is Part.CALLS and edge.left is not Part.CONTENT


def own_end(wrapping: Wrapping, finals: Sequence[str], turn_end: str, token: str = "") -> Wrapping:
    """Give a part that has its own opening marker what closes it before the turn's end.

    ``finals`` are what follows the part when it is the last, whatever comes after the turn. Where
    no turn end is common to all, the part gets as many markers as its own start has. The ``token``
    that ends turns closes no part.
    """
    if wrapping.end or not wrapping.start.strip() or not finals:
        return wrapping
    end = whole_prefix([finals[0].removesuffix(turn_end), *finals])
    count = len(markers(wrapping.start))
    if count and not turn_end:
        end = end[: behind_markers(end, count)] or end
    return Wrapping(wrapping.start, end.partition(token)[0] if token else end)


def behind_markers(text: str, count: int) -> int:
    """Return the position behind so many markers of a text, and the white space there."""
    position = 0
    for marker in markers(text)[:count]:
        position = text.find(marker, position) + len(marker)
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def part_ways(left: Wrapping, right: Wrapping, edge: str) -> tuple[Wrapping, Wrapping]:
    """Part an end and a start that claim the same text between two neighbours.

    What the left one begins with, behind another marker, begins the right one as well. Where
    nothing tells them apart, the end gets as many markers as its own start has.
    """
    if not edge.startswith(left.end):
        left = Wrapping(left.start, whole_prefix([edge, left.end]))
    overlap = len(left.end) + len(right.start) - len(edge)
    if overlap <= 0:
        return left, right
    end = left.end
    if not end[-overlap:].isspace():
        position = behind_markers(edge, len(markers(left.start)))
        again = edge.find(next(iter(markers(left.start)), edge))
        if len(edge) - len(right.start) <= again < len(end) and markers(edge[:again]):
            position = again
        end = edge[:position] if position and end.startswith(edge[:position]) else end
    start = edge[len(end) :]
    if not right.start.endswith(start):
        start = ""
    return Wrapping(left.start, end), Wrapping(start, right.end)


def find_joins(edges: Edges, wrappings: Wrappings) -> tuple[Join, ...]:
    """Return what each edge holds beyond the end and the start of its neighbours."""
    joins: list[Join] = []
    for (left, right, when), text in edges.items():
        if right is Part.END:
            continue
        end, start = wrappings.get(left, NOTHING).end, wrappings.get(right, NOTHING).start
        joins.append(Join(left, right, text.removeprefix(end).removesuffix(start), when))
    order = list(Part)
    joins.sort(key=lambda join: (order.index(join.left), order.index(join.right)))
    return tuple(joins)


def find_ends(
    edges: Edges, followed: Mapping[Part, str], wrappings: Wrappings, wrapped_end: str = ""
) -> tuple[End, ...]:
    """Return how a turn ends after each last part: at the conversation's end, and before more.

    A turn without content that ends as one with empty content does needs no entry; behind
    reasoning ``wrapped_end`` closes that.
    """
    ends: list[End] = []
    for part in (Part.START, Part.REASONING, Part.CONTENT, Part.CALLS):
        final = edges.get(Edge(part, Part.END))
        if final is None or _ends_as_content(part, edges, wrapped_end):
            continue
        end, before_more = wrappings.get(part, NOTHING).end, followed.get(part, final)
        ends.append(End(part, final.removeprefix(end), before_more.removeprefix(end)))
    return tuple(ends)


def _ends_as_content(part: Part, edges: Edges, wrapped_end: str) -> bool:
    closing = wrapped_end if part is Part.REASONING else ""
    through = edges.get(Edge(part, Part.CONTENT)), closing, edges.get(Edge(Part.CONTENT, Part.END))
    if part in (Part.CONTENT, Part.CALLS) or None in through:
        return False
    return edges[Edge(part, Part.END)] == "".join(text or "" for text in through)


def stop_strings(
    ends: Sequence[End], next_headers: Sequence[str], inside: Sequence[str]
) -> tuple[str, ...]:
    """Return the texts at which a turn is over.

    That is the first marker of an end, or as many as it takes to tell the end from all texts
    ``inside`` a turn. Where a turn has no end of its own, or one that stands inside of turns as
    well, the headers of the messages that follow stop it.
    """
    shown = [end for end in ends if end.last in (Part.CONTENT, Part.CALLS)]
    texts = [text for end in shown for text in (end.final, end.followed)]
    stops = [distinct_beginning(text, inside) for text in texts if text.strip()]
    endless = any(not end.followed.strip() for end in shown)
    if endless or not all(stops):
        # Words behind a header's last marker may be all that tells it from those inside.
        rests = ((distinct_beginning(text, inside), text.rstrip()) for text in next_headers)
        stops += [stop or rest * (not any(rest in x for x in inside)) for stop, rest in rests]
    return tuple(dict.fromkeys(stop for stop in stops if stop))


def without_wrapped_end(frames: Frames) -> tuple[Frames, str]:
    """Take what closes content in just the turns with reasoning off the frames, and return it.

    What opens it is a join; this would be several joins and ends, one for each neighbour.
    """
    shown: dict[tuple[object, ...], dict[bool, str]] = {}
    for frame in frames.frames:
        if Part.CONTENT in frame.order:
            key = frame.following, frame.combination.calls, frame.order[-1]
            text = frame.gaps[frame.order.index(Part.CONTENT) + 1]
            shown.setdefault(key, {})[_is_behind(frame)] = text
    pairs = [(found[True], found[False]) for found in shown.values() if len(found) > 1]
    ends = {text.removesuffix(usual) for text, usual in pairs if text != usual}
    end = ends.pop() if len(ends) == 1 else ""
    # Where reasoning makes no difference content is closed in any case, as before calls.
    is_closed = all(
        text == end + usual or (text == usual and text.startswith(end)) for text, usual in pairs
    )
    if not markers(end) or not is_closed:
        return frames, ""
    found = tuple(_without(frame, end) if _is_behind(frame) else frame for frame in frames.frames)
    return replace(frames, frames=found), end


def closed_apart(reasoning: Wrapping) -> Wrapping:
    """Leave reasoning as many marks behind it as before it: what follows them opens content."""
    at = behind_markers(reasoning.end, len(markers(reasoning.start)))
    return Wrapping(reasoning.start, reasoning.end[:at] or reasoning.end)


def _is_behind(frame: Frame) -> bool:
    return frame.order[:2] == (Part.REASONING, Part.CONTENT)


def _without(frame: Frame, end: str) -> Frame:
    gaps = (*frame.gaps[:2], frame.gaps[2].removeprefix(end), *frame.gaps[3:])
    return replace(frame, gaps=gaps)
