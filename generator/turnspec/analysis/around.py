"""What stands around a turn: headers, the user's end, what ends all conversations, what follows.

`find_around` finds it before a turn's parts are told apart; `layout` goes on from there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from turnspec.analysis.calls import CallsFinding
from turnspec.analysis.frames import Edge, Edges, Frames
from turnspec.analysis.header import Header, find_header, find_user_end
from turnspec.analysis.probes import IDS, NAMES
from turnspec.analysis.text import markers, whole_prefix, whole_suffix
from turnspec.rendering.conversation import (
    EXAMPLE_TOOL_NAME,
    NEXT_USER_TEXT,
    USER_TEXT,
    Chat,
    Following,
    user_message,
)
from turnspec.spec.words import Part

_LAST = Edge(Part.CONTENT, Part.END)


@dataclass(frozen=True, slots=True)
class Around:
    """What is known before a turn's parts are told apart.

    ``table`` are the edges at a conversation's end, without the ``tail`` that ends all of these;
    ``by_user`` and ``by_tool`` are those before another message.
    """

    prompts: Sequence[str]
    header: Header
    user_header: str
    tail: str
    table: Edges
    by_user: Edges
    by_tool: Edges

    @property
    def open_header(self) -> str:
        """The assistant's header, if prompts end in the middle of it."""
        return self.header.header if self.header.is_open else ""

    def behind(self, calls: CallsFinding) -> Around:
        """Take what ends the last call off what follows it."""
        by_user, by_tool = (_behind_calls(edges, calls) for edges in (self.by_user, self.by_tool))
        return replace(self, by_user=by_user, by_tool=by_tool)


def find_around(chat: Chat, frames: Frames, prompts: Sequence[str]) -> Around:
    """Find the headers, and the edges of turns without what ends every conversation."""
    bare = chat.prompt(add_generation_prompt=False).text or ""
    table = frames.edges()
    by_user, by_tool = frames.edges(Following.USER), frames.edges(Following.TOOL)
    user_end = find_user_end(table, prompts, bare, by_user.get(_LAST, ""))
    user_end, user_header = _around_user(chat, user_end, table, by_user)
    header = find_header(table, prompts, user_end, user_header)
    tail = _tail_behind(user_end, bare)
    table = {
        edge: text.removesuffix(tail) if edge.right is Part.END else text
        for edge, text in table.items()
    }
    return Around(prompts, header, user_header, tail, table, by_user, by_tool)


def _tail_behind(user_end: str, bare: str) -> str:
    """Return what ends all conversations: what stands in ``bare`` behind the user's end.

    Where messages are joined, what stands between two is part of that end, and not of ``bare``.
    """
    if user_end.startswith(bare):
        return ""
    return bare.removeprefix(user_end if bare.startswith(user_end) else user_end.rstrip())


def next_headers(around: Around) -> list[str]:
    """Return what follows a turn, of which some stops a model as well as the turn's own end."""
    shown = [table.get(_LAST, "") for table in (around.by_user, around.by_tool)]
    # A header that says whose result follows is another one for each tool.
    found = [text for text in shown if EXAMPLE_TOOL_NAME not in text]
    is_prompted = any(around.tail in prompt for prompt in around.prompts)
    return found if is_prompted else [*found, around.tail]  # the end of all conversations stops


def before_results(frames: Frames, calls: CallsFinding | None) -> tuple[str, ...]:
    """Return what stands behind calls, and behind a turn's only call, before a tool's answer."""
    if calls is None:
        return ()
    tables = (frames.edges(Following.TOOL), frames.with_calls(1).edges(Following.TOOL))
    texts = [table.get(Edge(Part.CALLS, Part.END), "") for table in tables]
    texts = [re.split("|".join((*NAMES, *IDS)), text)[0] for text in texts]
    end = calls.repetition.end
    # A result may say the call's name or id again; then what is known stands behind that.
    whole = [text.removeprefix(end) for text in texts if text.startswith(end)]
    return tuple(dict.fromkeys(text for text in whole if text.strip()))


def _behind_calls(edges: Edges, calls: CallsFinding) -> Edges:
    """Return the edges without what ends the last call."""
    return {
        edge: text.removeprefix(calls.repetition.end) if edge.left is Part.CALLS else text
        for edge, text in edges.items()
    }


def followed_ends(edges: Edges, around: Around) -> dict[Part, str]:
    """Return how a turn ends before another message, for each last part."""
    by_user, by_tool, user_header = around.by_user, around.by_tool, around.user_header
    result: dict[Part, str] = {}
    for (left, right, _), final in edges.items():
        edge = Edge(left, Part.END)
        shown = by_tool.get(edge, by_user.get(edge)) if left is Part.CALLS else by_user.get(edge)
        if right is not Part.END or left is Part.START or shown is None:
            continue
        is_listed = EXAMPLE_TOOL_NAME in shown  # tools are told anew before the last question
        is_headed = user_header and shown.endswith(user_header) and not is_listed
        if is_headed and left is not Part.CALLS:
            result[left] = shown.removesuffix(user_header)
        elif final in shown:  # a call may say more once its result is there
            result[left] = final
        else:
            result[left] = whole_prefix([shown, final])
    return result


def _around_user(chat: Chat, user_end: str, edges: Edges, by_user: Edges) -> tuple[str, str]:
    """Return what ends a user's message, of which ``user_end`` is known, and what stands before it.

    The header is read from two such messages in a row or, where that is refused, from what all
    turns have before the next one. What a conversation doesn't begin with is no part of it: some
    templates end no message that is the last.
    """
    first = chat.render([user_message(USER_TEXT)]).text or ""
    pair = chat.render([user_message(USER_TEXT), user_message(NEXT_USER_TEXT)]).text or ""
    lead = first.partition(USER_TEXT)[0]
    between = pair.partition(USER_TEXT)[2].partition(NEXT_USER_TEXT)[0]
    if not between.startswith(user_end):
        texts = [text for edge, text in by_user.items() if edge.right is Part.END]
        texts += [lead] * bool(lead.strip())
        return user_end, whole_suffix(texts).removeprefix(user_end) if len(texts) > 1 else ""
    between = between.removeprefix(user_end)
    header = whole_suffix([between, lead])
    end = user_end + between.removesuffix(header)
    shared = whole_prefix([text for edge, text in edges.items() if edge.left is Part.START])
    if not (header.strip() and shared.startswith(end)):
        return user_end, between
    if shared[len(end) :].strip():
        return end, header
    # A prompt follows every user's message, and the assistant's header is in it, or more than that.
    is_more = len(markers(end)) > len(markers(header))
    if is_more and not markers(header):  # as where words begin a message, and a marker ends it
        return end, header
    return user_end, header if user_end.strip() or is_more else between
