"""R4: reasoning markers that a template never renders, only strips.

The template's own constants are put into an assistant message. A constant before which the
message's text is cut away ends reasoning; where a pair of constants is cut with the text between
them, the first of them opens it.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from turnspec.analysis.findings import Derivation
from turnspec.analysis.text import closing_of, markers
from turnspec.rendering.conversation import USER_TEXT, Chat, user_message
from turnspec.spec.message import Message

_BEFORE = "befqa"
_BETWEEN = "midqa"
_AFTER = "aftqa"
_LAST = "lastqa"


@dataclass(frozen=True, slots=True)
class Stripped:
    """The markers that a template strips from assistant text; ``start`` may be unknown ("")."""

    start: str
    end: str


def find_stripped(chat: Chat, prompts: list[str], derivation: Derivation) -> Stripped | None:
    """Return the markers that are cut from assistant text, in the last turn or in earlier ones.

    ``prompts`` are what the generation prompts add after the header: an opening marker that
    stands in one of them is known from there.
    """
    found = [marker for text in chat.facts.string_constants for marker in markers(text)]
    candidates = [text for text in dict.fromkeys(found) if not re.search(r"\s", text)]
    lost: list[str] = []  # which are cut out by themselves: they may close what another opens
    for end in candidates:
        shown = _shown(chat, _BEFORE + end + _AFTER)
        lost += [end] if shown and all(end not in text for text in shown) else []
        if any(_BEFORE not in text and _AFTER in text for text in shown):
            start = _opening(end, prompts)
            derivation.note("R4", f"text up to {end!r} is stripped", *shown)
            return Stripped(start, end)
    pairs = [(it, closing_of(it)) for it in candidates if closing_of(it) in candidates]
    for start, end in (*itertools.product(candidates, lost), *pairs):
        shown = _shown(chat, _BEFORE + start + _BETWEEN + end + _AFTER)
        is_cut = [_AFTER in text and _BETWEEN not in text for text in shown]
        if start != end and any(is_cut) and (all(is_cut) or (start, end) in pairs):
            derivation.note("R4", f"text between {start!r} and {end!r} is stripped", *shown)
            return Stripped(start, end)
    return None


def _shown(chat: Chat, content: str) -> list[str]:
    """Return the renderings of a message as the last one and as an earlier one."""
    message = chat.assistant_message(Message(content=content))
    last = chat.assistant_message(Message(content=_LAST))
    user = user_message(USER_TEXT)
    texts = [
        chat.render([user, message]).text,
        chat.render([user, message, user_message("nextqa"), last]).text,
    ]
    return [text for text in texts if text is not None]


def _opening(end: str, prompts: list[str]) -> str:
    """Return the marker that opens what ``end`` closes.

    A prompt shows it, alone or before the end marker; otherwise it is the end marker without its
    slash, as in any markup.
    """
    for prompt in prompts:
        opened = markers(prompt.partition(end)[0])
        if opened:
            return opened[-1]
    return end.replace("/", "", 1) if "/" in end else ""
