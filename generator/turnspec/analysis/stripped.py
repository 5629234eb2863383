"""R4: markers that a template never renders, only strips.

The template's own constants are put into an assistant message. A constant before which the
message's text is cut away ends reasoning; where a pair of constants is cut with the text between
them, the first of them opens it. Where such a pair is cut with all that stands around it, what is
left between them is content.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext

from turnspec.analysis.findings import Derivation
from turnspec.analysis.parts import Wrapping
from turnspec.analysis.text import closing_of, markers, markers_of_constants, worded_openings
from turnspec.rendering.conversation import USER_TEXT, Chat, user_message
from turnspec.spec.message import Message

_BEFORE = "befqa"
_BETWEEN = "midqa"
_AFTER = "aftqa"
_LAST = "lastqa"


def find_stripped(
    chat: Chat, prompts: list[str], of_content: Sequence[Wrapping], derivation: Derivation
) -> Wrapping | None:
    """Return the markers that are cut from assistant text, in the last turn or in earlier ones.

    ``prompts`` are what the generation prompts add after the header: an opening marker that
    stands in one of them is known from there, and else may be unknown (""). ``of_content`` are
    marks that end no reasoning.
    """
    known = {mark for marks in of_content for mark in (marks.start, marks.end)}
    candidates = [it for it in _candidates(chat) if it not in known]
    shown_with = _shown_with(chat, candidates)
    if end := _settled_end(shown_with, prompts, chat.source):
        return _ended(end, prompts, chat, shown_with[end], derivation)
    # Which are cut out by themselves: they may close what another opens.
    lost = [it for it, shown in shown_with.items() if shown and all(it not in t for t in shown)]
    pairs = _pairs(candidates)
    for start, end in (*itertools.product(candidates, lost), *pairs):
        shown = _shown(chat, _BEFORE + start + _BETWEEN + end + _AFTER)
        is_cut = [_AFTER in text and _BETWEEN not in text for text in shown]
        if start != end and any(is_cut) and (all(is_cut) or (start, end) in pairs):
            derivation.note("R4", f"text between {start!r} and {end!r} is stripped", *shown)
            return Wrapping(_with_word(start, chat.facts.string_constants), end)
        if _is_written_again(shown, start, end):
            derivation.note("R4", f"only text before {start!r} is stripped", *shown)
            return Wrapping(start, end)
    for using in _switched(chat):
        shown_with = _shown_with(using, candidates)
        if end := _settled_end(shown_with, prompts, chat.source):
            return _ended(end, prompts, chat, shown_with[end], derivation)
    return None


def _with_word(start: str, constants: Sequence[str]) -> str:
    """Return an opening marker with the word that has the rest of its line, if one is written."""
    found = {it for it in constants if re.fullmatch(rf"{re.escape(start)}\w+\n\s*", it)}
    return found.pop() if len(found) == 1 else start


def _shown_with(chat: Chat, candidates: Sequence[str]) -> dict[str, list[str]]:
    """Return how a message is shown with each marker in it.

    Behind the first up to which text is cut they are only compared, and witness no branch.
    """
    found: dict[str, list[str]] = {}
    for marker in candidates:
        is_known = any(is_cut_before(shown, _BEFORE, _AFTER) for shown in found.values())
        with chat.worker.unwitnessed() if is_known else nullcontext():
            found[marker] = _shown(chat, _BEFORE + marker + _AFTER)
    return found


def _settled_end(shown_with: Mapping[str, list[str]], prompts: list[str], source: str) -> str:
    """Return the marker up to which text is cut, "" if there is none.

    What opens an answer may be another such marker. So what closes a prompt's own marker is it
    before others, and what closes any before what closes none.
    """
    ends = [it for it, shown in shown_with.items() if is_cut_before(shown, _BEFORE, _AFTER)]
    prompted = {closing_of(mark) for prompt in prompts for mark in markers(prompt)}
    rank = {it: (it not in prompted, not _opening(it, prompts, source)) for it in ends}
    return min(ends, key=rank.__getitem__, default="")


def _is_written_again(shown: Sequence[str], start: str, end: str) -> bool:
    """Tell whether a thought is shown between its marks, and nothing of what stood before them."""
    pieces = map(re.escape, (start, _BETWEEN, end, _AFTER))
    order = re.compile(r"\s*".join(pieces))
    return bool(shown) and all(order.search(it) and _BEFORE not in it for it in shown)


def is_cut_before(shown: Iterable[str], before: str, behind: str) -> bool:
    """Tell whether of a text with a marker in it only what stands behind that is shown."""
    return any(before not in text and behind in text for text in shown)


def _ended(
    end: str, prompts: list[str], chat: Chat, shown: Sequence[str], derivation: Derivation
) -> Wrapping:
    derivation.note("R4", f"text up to {end!r} is stripped", *shown)
    return Wrapping(_opening(end, prompts, chat.source), end)


def find_content_marks(chat: Chat, derivation: Derivation) -> tuple[Wrapping, ...]:
    """Return the pairs of markers of which only what stands between them is kept of a message."""
    found = []
    for start, end in _pairs(_candidates(chat)):
        with chat.worker.unwitnessed():
            shown = _shown(chat, _BEFORE + start + _BETWEEN + end + _AFTER)
        shown = [text.partition(USER_TEXT)[2] for text in shown]  # the prompt may tell of them
        cut = (_BEFORE, start, end, _AFTER)
        if shown and all(_BETWEEN in text and not any(it in text for it in cut) for text in shown):
            derivation.note("R4", f"all but the text between {start!r} and {end!r} is stripped")
            found.append(Wrapping(start, end))
    return tuple(found)


def _candidates(chat: Chat) -> list[str]:
    """Return the template's markers, in prose only those of one word, as others may be prose."""
    constants = chat.facts.string_constants
    found = dict.fromkeys(markers_of_constants(constants))
    return [it for it in found if it in constants or not re.search(r"\s", it)]


def _switched(chat: Chat) -> Iterator[Chat]:
    """Yield the chat with each of its switches: some strip only what that has the model write.

    Some strip it only where the model is to go on.
    """
    yield chat.using({**chat.variables, "add_generation_prompt": True})
    for name, values in chat.facts.switch_values.items():
        for value in values:
            yield chat.using({**chat.variables, name: value})


def _pairs(candidates: Sequence[str]) -> list[tuple[str, str]]:
    return [(it, closing_of(it)) for it in candidates if closing_of(it) in candidates]


def now_and_earlier(chat: Chat, content: str) -> list[str | None]:
    """Return the renderings of a message as the last one and as an earlier one."""
    message = chat.assistant_message(Message(content=content))
    last = chat.assistant_message(Message(content=_LAST))
    user = user_message(USER_TEXT)
    conversations = ([user, message], [user, message, user_message("nextqa"), last])
    return [chat.render(messages).text for messages in conversations]


def _shown(chat: Chat, content: str) -> list[str]:
    return [text for text in now_and_earlier(chat, content) if text is not None]


def _opening(end: str, prompts: list[str], source: str) -> str:
    """Return the marker that opens what ``end`` closes, "" if nothing tells.

    A prompt shows it, alone or before the end marker; otherwise it is the end marker without its
    slash, as in any markup, or one of the template's with another word, or else all that a prompt
    says.
    """
    for prompt in prompts:
        opened = markers(prompt.partition(end)[0])
        if opened:
            return opened[-1]
    if "/" in end:
        return end.replace("/", "", 1)
    worded = next((it for it in worded_openings(end) if it in source), "")
    said = (prompt for prompt in prompts if prompt.strip() and end not in prompt)
    return worded or next(said, "")
