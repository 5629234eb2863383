"""Other ends of a turn with calls: some templates have one where they are given a list.

The list names tools that the model has by itself, say. That none of them is called is enough: the
turn ends in that other way all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.analysis.findings import Derivation
from turnspec.analysis.probes import VALUES, probe_call
from turnspec.analysis.text import markers, whole_prefix
from turnspec.rendering.conversation import Chat
from turnspec.spec.message import Call, Message


def find_other_ends(chat: Chat, derivation: Derivation) -> tuple[str, ...]:
    """Return the markers that end a turn with a call where one of the variables is a list."""
    call = probe_call(0)
    usual = _behind(chat, call, VALUES[0])
    found: dict[str, None] = {}
    for text in with_lists(chat, call, VALUES[0]):
        same = len(whole_prefix([usual, text]))
        ends = usual[same:].strip(), text[same:].strip()
        if ends[0] != ends[1] and all(markers(end) == [end] for end in ends):
            found[ends[1]] = None
    if found:
        derivation.note("C1", f"a list as a variable ends a turn with calls with {[*found]}")
    return tuple(found)


def with_lists(chat: Chat, call: Call, anchor: str) -> Iterator[str]:
    """Yield what stands behind ``anchor`` in a turn with a call, once for each such variable."""
    for name in chat.facts.switch_values:
        if name not in chat.variables:
            with chat.worker.unwitnessed():
                text = _behind(chat.using({**chat.variables, name: []}), call, anchor)
            yield text


def _behind(chat: Chat, call: Call, anchor: str) -> str:
    return (chat.turn(Message(calls=(call,))).text or "").rpartition(anchor)[2]
