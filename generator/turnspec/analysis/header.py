"""The assistant's header, and what ends the user's message before it, from edges and prompts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from turnspec.analysis.frames import Edges
from turnspec.analysis.text import (
    closing_of,
    common_prefix,
    markers,
    splits_marker,
    whole_prefix,
    worded_closings,
)
from turnspec.spec.words import Part


@dataclass(frozen=True, slots=True)
class Header:
    """The assistant's header, and what ends the user's message before it.

    ``is_open`` says that prompts end in the middle of what turns have there, which the model goes
    on with, as behind ``<message assistant`` of ``<message assistant kind=…>``.
    """

    user_end: str
    header: str
    is_open: bool = False


def find_user_end(edges: Edges, prompts: Sequence[str], bare: str, next_user: str) -> str:
    """Find what ends the user's message before the assistant's turn.

    ``prompts`` are rendered behind a user's message alone, one for each setting of the template's
    switches, and ``bare`` without a generation prompt. ``next_user`` is what stands between an
    answer and the next user's message.
    """
    shared = whole_prefix(_openings(edges))
    is_all = shared == bare and bare not in next_user  # and the header is in it
    is_all = is_all and not _ends_message(bare, next_user)
    if bare.strip() and shared.startswith(bare) and next_user.startswith(bare):
        return bare  # it ends answers as well, so no header is in it
    if _is_blank_end(bare, shared, next_user):
        return bare
    if bare in prompts or not shared.startswith(bare) or is_all:
        # The template ends every conversation with a prompt, asked for or not.
        return _before_role(shared, next_user)
    return bare


def _is_blank_end(bare: str, shared: str, next_user: str) -> bool:
    """Tell whether white space alone ends a message: turns begin as the user's do, or in words."""
    rest = shared.removeprefix(bare)
    lead = next(iter(markers(rest)), "")
    is_told = rest != shared and rest.startswith(lead) and rest[:1].strip() != ""
    return bare.isspace() and is_told and lead in next_user


def _ends_message(bare: str, next_user: str) -> bool:
    """Tell whether a text ends as messages do, so with no header that is left open."""
    ends = (next_user[:end] for end in range(1, len(next_user)))
    return any(markers(end) and bare.endswith(end) for end in ends)


def find_header(edges: Edges, prompts: Sequence[str], user_end: str, user_header: str) -> Header:
    """Find the assistant's header.

    It stands in every turn and in every generation prompt, and has the shape of the user's
    header: no more markers than that, and no more text behind the last of them. What comes
    behind opens a part.
    """
    shared = whole_prefix(_openings(edges))
    header = _shaped_like(shared[len(user_end) :], user_header)
    before, first = _cut_at_marker(header)
    if before.strip() and _heads_all(first, prompts) and not _heads_all(header, prompts):
        # The words before say what is set.
        user_end, header = user_end + before, first
    left_open = _left_open(edges, prompts, user_end, header)
    if left_open and not user_header.startswith(left_open):  # as all messages may begin
        return Header(user_end, left_open, is_open=True)
    if _tells_kinds(edges, prompts, user_end, user_header):
        return Header(user_end, "")
    is_prompted = any(header in text for text in prompts if header.strip())
    if _heads_alone(user_end, edges) and (
        _is_left_out(header, user_end, prompts)
        if is_prompted
        else all(it.endswith(user_end) for it in prompts)
    ):
        return Header("", user_end)
    if not is_prompted:
        header = _without_closed_tag(header, _openings(edges))
    while header and not _heads_all(header, prompts):
        header = whole_prefix([header, header[:-1]])
    if not markers(header):  # words before it may say what is set
        ends = [header[at:] for at, sign in enumerate(header) if sign == " " or not at]
        found = (end for end in ends if all(end in text for text in prompts))
        end = next(filter(str.strip, found), header)
        user_end, header = user_end + header.removesuffix(end), end
    return Header(user_end, header)


def _heads_alone(user_end: str, edges: Edges) -> bool:
    """Tell whether a marker ends the user's message, and no turn: it may be what heads turns."""
    ends = [
        text
        for (left, right, _), text in edges.items()
        if left is not Part.START and right is Part.END
    ]
    own = user_end.strip()
    is_end = any(own in text or (text.strip() and text.strip() in own) for text in ends)
    return bool(markers(user_end)) and not is_end


def _is_left_out(header: str, user_end: str, prompts: Sequence[str]) -> bool:
    """Tell whether some prompt lacks the header's first marker behind the user's message."""
    rests = [prompt.partition(user_end)[2] for prompt in prompts if user_end in prompt]
    is_everywhere = len(rests) == len(prompts)
    return is_everywhere and any(it not in rest for rest in rests for it in markers(header)[:1])


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


def _left_open(edges: Edges, prompts: Sequence[str], user_end: str, header: str) -> str:
    """Return the header up to where a prompt leaves it, if that is within a marker or a word.

    All turns go on there, and ``header`` is what they have in common without cutting any.
    """
    openings = _openings(edges)
    found = [prompt for prompt in prompts if all(it.startswith(prompt) for it in openings)]
    prompt = min(found, key=len, default="") if openings else ""
    is_cut = any(splits_marker(text, len(prompt)) for text in openings)
    left = prompt.removeprefix(user_end) if prompt.startswith(user_end) else ""
    return left if left.strip() and (is_cut or len(header) > len(left)) else ""


def _tells_kinds(edges: Edges, prompts: Sequence[str], user_end: str, user_header: str) -> bool:
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


def _openings(edges: Edges) -> list[str]:
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


def strip_header(edges: Edges, header: Header) -> Edges:
    """Return the edges without what stands before the turn's first part.

    An empty turn that lacks the header (some templates skip it) has no edge.
    """
    lead = header.user_end + header.header
    return {
        edge: text.removeprefix(lead) if edge.left is Part.START else text
        for edge, text in edges.items()
        if edge.left is not Part.START or text.startswith(lead)
    }
