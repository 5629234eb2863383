"""R1 and C1: from the table of edges to the header, each part's start and end, and the joins.

What leads into a part in every edge is that part's start, what leads out of it in every edge its
end; the rest is the join of these two neighbours. So the edges can always be written again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from turnspec.analysis.frames import Edge
from turnspec.analysis.text import (
    closing_of,
    common_prefix,
    distinct_beginning,
    markers,
    splits_marker,
    whole_prefix,
    whole_suffix,
    worded_closings,
)
from turnspec.spec.model import End, Join, Part


@dataclass(frozen=True, slots=True)
class Wrapping:
    """What stands before a part and after it."""

    start: str
    end: str


NOTHING = Wrapping("", "")


@dataclass(frozen=True, slots=True)
class Prompts:
    """What is rendered behind a user's message alone.

    ``texts`` with a generation prompt, one for each setting of the template's switches; ``bare``
    without.
    """

    texts: tuple[str, ...]
    bare: str


@dataclass(frozen=True, slots=True)
class Header:
    """The assistant's header, and what ends the user's message before it.

    ``is_open`` says that prompts end in the middle of what turns have there, which the model goes
    on with, as behind ``<message assistant`` of ``<message assistant kind=…>``.
    """

    user_end: str
    header: str
    is_open: bool = False


def find_user_end(edges: Mapping[Edge, str], chat_prompts: Prompts, next_user: str) -> str:
    """Find what ends the user's message before the assistant's turn.

    ``next_user`` is what stands between an answer and the next user's message.
    """
    shared, bare = whole_prefix(_openings(edges)), chat_prompts.bare
    is_all = shared == bare and bare not in next_user  # and the header is in it
    is_all = is_all and not _ends_message(bare, next_user)
    if bare.strip() and shared.startswith(bare) and next_user.startswith(bare):
        return bare  # it ends answers as well, so no header is in it
    if _is_blank_end(bare, shared, next_user):
        return bare
    if bare in chat_prompts.texts or not shared.startswith(bare) or is_all:
        # The template ends every conversation with a prompt, asked for or not.
        return _before_role(shared, next_user)
    return bare


def _is_blank_end(bare: str, shared: str, next_user: str) -> bool:
    """Tell whether white space alone ends a message: behind it turns begin as the user's do."""
    rest = shared.removeprefix(bare)
    lead = next(iter(markers(rest)), rest[:1])
    is_told = rest != shared and rest.startswith(lead) and lead.strip() != ""
    return bare.isspace() and is_told and lead in next_user


def _ends_message(bare: str, next_user: str) -> bool:
    """Tell whether a text ends as messages do, so with no header that is left open."""
    ends = (next_user[:end] for end in range(1, len(next_user)))
    return any(markers(end) and bare.endswith(end) for end in ends)


def find_header(
    edges: Mapping[Edge, str], chat_prompts: Prompts, user_end: str, user_header: str
) -> Header:
    """Find the assistant's header.

    It stands in every turn and in every generation prompt, and has the shape of the user's
    header: no more markers than that, and no more text behind the last of them. What comes
    behind opens a part.
    """
    shared = whole_prefix(_openings(edges))
    header = _shaped_like(shared[len(user_end) :], user_header)
    before, first = _cut_at_marker(header)
    if before.strip() and _is_set_apart(header, first, chat_prompts.texts):
        user_end, header = user_end + before, first
    left_open = _left_open(edges, chat_prompts.texts, user_end, header)
    if left_open and not user_header.startswith(left_open):  # as all messages may begin
        return Header(user_end, left_open, is_open=True)
    if _tells_kinds(edges, chat_prompts.texts, user_end, user_header):
        return Header(user_end, "")
    if not any(header in text for text in chat_prompts.texts):
        header = _without_closed_tag(header, _openings(edges))
    while header and not _heads_all(header, chat_prompts.texts):
        header = whole_prefix([header, header[:-1]])
    if not markers(header):  # words before it may say what is set
        ends = [header[at:] for at, sign in enumerate(header) if sign == " " or not at]
        found = (end for end in ends if all(end in text for text in chat_prompts.texts))
        end = next(filter(str.strip, found), header)
        user_end, header = user_end + header.removesuffix(end), end
    return Header(user_end, header)


def _without_closed_tag(header: str, openings: Sequence[str]) -> str:
    """Return a header up to a tag that some part closes where it begins: that is another part's.

    A role may stand in such a tag; then the header says it.
    """
    for tag in markers(header):
        before, _, rest = header.partition(tag)
        behind = [opening.partition(tag)[2] for opening in openings]
        for closing in (closing_of(tag), *worded_closings(tag)):
            within, closes, _ = rest.partition(closing)
            is_role = closes and within.strip()
            if closing != tag and not is_role and any(closing in it for it in behind):
                return before
    return header


def _left_open(
    edges: Mapping[Edge, str], prompts: Sequence[str], user_end: str, header: str
) -> str:
    """Return the header up to where a prompt leaves it, if that is within a marker or a word.

    All turns go on there, and ``header`` is what they have in common without cutting any.
    """
    openings = _openings(edges)
    found = {
        prompt for prompt in prompts if openings and all(it.startswith(prompt) for it in openings)
    }
    prompt = min(found, key=len, default="")
    is_cut = any(splits_marker(text, len(prompt)) for text in openings)
    left = prompt.removeprefix(user_end) if prompt.startswith(user_end) else ""
    return left if left.strip() and (is_cut or len(header) > len(left)) else ""


def _tells_kinds(
    edges: Mapping[Edge, str], prompts: Sequence[str], user_end: str, user_header: str
) -> bool:
    """Tell whether no prompt writes the header, and its role goes on otherwise than the user's.

    Then each part begins with a header of its own, which says what it is.
    """
    header = common_prefix(_openings(edges)).removeprefix(user_end)
    lead = re.sub(r"\w+\Z", "", common_prefix([header, user_header]))
    own, user = (re.compile(r"\w+").match(text, len(lead)) for text in (header, user_header))
    if not lead.strip() or not own or not user or any(lead.strip() in it for it in prompts):
        return False
    rest, known = header[own.end() :], user_header[user.end() :]
    return rest != "" and rest[:1] != known[:1] and not markers(rest)


def _openings(edges: Mapping[Edge, str]) -> list[str]:
    return [
        text
        for (left, right, _), text in edges.items()
        if left is Part.START and right is not Part.END
    ]


def _shaped_like(header: str, user_header: str) -> str:
    wanted = len(markers(user_header))
    inside = markers(header)
    if not user_header.strip() or len(inside) < wanted:
        return header
    position = 0
    for marker in inside[:wanted]:
        position = header.find(marker, position) + len(marker)
    tail = user_header.rpartition(markers(user_header)[-1])[2] if wanted else user_header
    if wanted and tail and header.startswith(tail, position):
        return header[: position + len(tail)]
    if len(inside) != wanted:
        return header[: header.find(inside[wanted], position)]
    # The role is another word. What stands behind more text than in the user's opens a part.
    own = re.compile(_shape_of_role(tail)).match(header, position)
    return header[: own.end()] if own and header[own.end() :].strip() else header


def _shape_of_role(tail: str) -> str:
    """Return an expression for what a header has where the user's ends in ``tail``, its role.

    It fits nothing where that is more than a word between signs.
    """
    role = re.fullmatch(r"(\W*)\w+(\W+)", tail)
    if role:
        return rf"{re.escape(role[1])}\w+{re.escape(role[2])}"
    return "(?!)" if tail else ""


def _cut_at_marker(header: str) -> tuple[str, str]:
    """Return what stands before a header's first marker, and the rest."""
    at = header.find(next(iter(markers(header)), header))
    return header[:at], header[at:]


def _is_set_apart(header: str, first: str, prompts: Sequence[str]) -> bool:
    """Tell whether the words that a header has before ``first`` say what is set."""
    return _heads_all(first, prompts) and not _heads_all(header, prompts)


def _heads_all(header: str, prompts: Sequence[str]) -> bool:
    """Tell whether a header stands in every generation prompt that has its first marker.

    A setting may put words of its own before its last one.
    """
    inside = markers(header) or header.split() or [""]
    before, last, behind = header.rpartition(inside[-1] or header)
    worded = f"{re.escape(before)}[^<>]+{re.escape(last + behind)}"
    shaped = re.compile(f"{re.escape(header)}|{worded}" if inside[1:] else re.escape(header))
    return all(shaped.search(prompt) for prompt in prompts if inside[0] in prompt)


def _before_role(shared: str, next_user: str) -> str:
    """Return how a message ends, where each following message shows its own role's header.

    A message's end and the beginning of a header look alike in both; the header's first marker
    stays with the header.
    """
    end = len(shared)
    while end and shared[:end] not in next_user:
        end -= 1
    found = whole_prefix([shared, shared[:end]])
    inside = markers(found)
    if len(inside) == 1 and shared[len(found) :].startswith(tuple(markers(shared))):
        return found
    if not shared.strip():  # there is no header
        return found
    return found[: found.rfind(inside[-1])] if len(inside) > 1 else ""


def strip_header(edges: Mapping[Edge, str], header: Header) -> dict[Edge, str]:
    """Return the edges without what stands before the turn's first part.

    An empty turn that lacks the header (some templates skip it) has no edge.
    """
    lead = header.user_end + header.header
    return {
        edge: text.removeprefix(lead) if edge.left is Part.START else text
        for edge, text in edges.items()
        if edge.left is not Part.START or text.startswith(lead)
    }


def find_wrapping(part: Part, edges: Mapping[Edge, str], open_header: str = "") -> Wrapping:
    """Find what always leads into a part and what always leads out of it.

    What follows a part only at the turn's end belongs to that end, unless the part has a marker
    of its own to open it (`own_ends` settles that). An ``open_header`` is no part's, though a
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


def common_turn_end(edges: Mapping[Edge, str], wrappings: Mapping[Part, Wrapping]) -> str:
    """Return what ends every turn, whatever its last part."""
    rests = [
        text.removeprefix(wrappings[left].end if left in wrappings else "")
        for (left, right, _), text in edges.items()
        if right is Part.END
    ]
    return whole_suffix(rests)


def without_turn_end(
    wrappings: Mapping[Part, Wrapping], edges: Mapping[Edge, str], header: str
) -> dict[Part, Wrapping]:
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


def without_prompted(
    wrappings: Mapping[Part, Wrapping],
    edges: Mapping[Edge, str],
    header: Header,
    prompts: Sequence[str],
) -> dict[Part, Wrapping]:
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
    content = wrappings.get(Part.CONTENT, Wrapping("", ""))
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

    Where nothing tells them apart, the end gets as many markers as its own start has.
    """
    if not edge.startswith(left.end):
        left = Wrapping(left.start, whole_prefix([edge, left.end]))
    overlap = len(left.end) + len(right.start) - len(edge)
    if overlap <= 0:
        return left, right
    end = left.end
    if not end[-overlap:].isspace():
        position = behind_markers(edge, len(markers(left.start)))
        end = edge[:position] if position and end.startswith(edge[:position]) else end
    start = edge[len(end) :]
    if not right.start.endswith(start):
        start = ""
    return Wrapping(left.start, end), Wrapping(start, right.end)


def find_joins(edges: Mapping[Edge, str], wrappings: Mapping[Part, Wrapping]) -> tuple[Join, ...]:
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
    edges: Mapping[Edge, str],
    followed: Mapping[Part, str],
    wrappings: Mapping[Part, Wrapping],
    wrapped_end: str = "",
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
        end = wrappings[part].end if part in wrappings else ""
        final = final.removeprefix(end)
        before_more = followed.get(part)
        ends.append(
            End(part, final, final if before_more is None else before_more.removeprefix(end))
        )
    return tuple(ends)


def _ends_as_content(part: Part, edges: Mapping[Edge, str], wrapped_end: str) -> bool:
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
