"""Making what fails smaller, as long as it still fails, so that the example is short."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from turnspec.spec.conditions import parts_of_message
from turnspec.spec.message import Call, Message

#: How many smaller messages are tried at most.
_MOST_TRIES = 300

_Item = TypeVar("_Item")


def smallest_text(text: str, fails: Callable[[str], bool], end: float) -> str:
    """Return the smallest text found by ``end`` that fails, with "x" for words where that fails."""
    pieces = re.findall(r"\w+|\s+|[^\w\s]", text)
    pieces = smallest_part(pieces, lambda some: fails("".join(some)), end)
    for number, piece in enumerate(pieces):
        other = [*pieces[:number], "x", *pieces[number + 1 :]]
        if re.match(r"\w", piece) and time.monotonic() < end and fails("".join(other)):
            pieces = other
    return "".join(pieces)


def smallest_part(
    items: Sequence[_Item], fails: Callable[[Sequence[_Item]], bool], end: float
) -> list[_Item]:
    """Return the fewest items found by ``end`` that fail: runs are left out, ever shorter ones."""
    kept, size = [*items], len(items)
    while size:
        at = 0
        while at < len(kept) and time.monotonic() < end:
            fewer = [*kept[:at], *kept[at + size :]]
            kept, at = (fewer, at) if fails(fewer) else (kept, at + size)
        size //= 2
    return kept


def smallest(message: Message, fails: Callable[[Message], bool]) -> Message:
    """Return the smallest message found that fails as ``message`` does."""
    tries = 0
    shrunk = True
    while shrunk:
        shrunk = False
        for smaller in _smaller(message):
            tries += 1
            if tries > _MOST_TRIES:
                return message
            if fails(smaller):
                message, shrunk = smaller, True
                break
    return message


def _smaller(message: Message) -> Iterator[Message]:
    """Yield messages with a part less or a shorter one; those that leave out most come first."""
    calls = message.calls
    fewer = [replace(message, calls=calls[:at] + calls[at + 1 :]) for at in range(len(calls))]
    fewer += [replace(message, reasoning=""), replace(message, content="")]
    yield from (other for other in fewer if other != message and parts_of_message(other))
    for at, call in enumerate(calls):
        for smaller in _smaller_calls(call):
            yield replace(message, calls=(*calls[:at], smaller, *calls[at + 1 :]))
    yield from (replace(message, content=text) for text in _shorter(message.content) if text)
    yield from (replace(message, reasoning=text) for text in _shorter(message.reasoning) if text)


def _smaller_calls(call: Call) -> Iterator[Call]:
    for key in call.arguments:
        kept = {name: value for name, value in call.arguments.items() if name != key}
        yield replace(call, arguments=kept)
    for key, value in call.arguments.items():
        for smaller in _smaller_values(value):
            yield replace(call, arguments={**call.arguments, key: smaller})


def _smaller_values(value: object) -> Iterator[object]:
    if isinstance(value, str):
        yield from _shorter(value)
    elif isinstance(value, list):
        yield from (value[:at] + value[at + 1 :] for at in range(len(value)))
        for at, item in enumerate(value):
            yield from ([*value[:at], less, *value[at + 1 :]] for less in _smaller_values(item))
    elif isinstance(value, dict):
        yield from ({k: v for k, v in value.items() if k != key} for key in value)
        for key, item in value.items():
            yield from ({**value, key: smaller} for smaller in _smaller_values(item))


def _shorter(text: str) -> Iterator[str]:
    """Yield shorter texts; white space at the ends of a text may be dropped, so it has none."""
    half = len(text) // 2
    cuts = (text[:half], text[half:], text[1:], text[:-1])
    yield from (cut for cut in dict.fromkeys(cuts) if len(cut) < len(text) and cut == cut.strip())
