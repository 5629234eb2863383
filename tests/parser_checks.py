"""Checks that hold for every generated parser module, whatever the format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from tests.generated_formats import EVERY_FORMAT
from turnspec.codegen.format_module import FormatModule
from turnspec.protocol import PROBLEM_KINDS

Item = TypeVar("Item")
#: In how many places a text is cut, unless all are wanted.
CUTS = 20


def some(items: Sequence[Item], most: int = CUTS) -> Sequence[Item]:
    """Return so many items at most, from all over; in the long runs all of them."""
    return items if EVERY_FORMAT else items[:: 1 + max(len(items) - 1, 0) // most]


def stream(module: FormatModule, chunks: Iterable[str], **options: Any) -> tuple[Any, list[Any]]:
    """Feed chunks and finish; return the message and all events, which are in order and add up."""
    parser = module.Parser(**options)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    events += parser.finish()
    assert_in_order(events, parser.message)
    kinds = {problem.kind for problem in parser.message.problems}
    assert kinds <= set(PROBLEM_KINDS), kinds
    return parser.message, events


def added_up(events: Iterable[Any]) -> tuple[str, str, list[tuple[str, str, str]]]:
    """Return what events add up to: content, reasoning, and each call's id, name and arguments."""
    content, reasoning = "", ""
    calls: list[list[str]] = []
    ended: set[int] = set()
    for event in events:
        match event.type:
            case "content":
                content += event.text
            case "reasoning":
                reasoning += event.text
            case "tool_call_start":
                assert event.index == len(calls)
                calls.append([event.id, event.name, ""])
            case "tool_call_delta":
                assert event.index not in ended
                calls[event.index][2] += event.arguments
            case "tool_call_end":
                assert event.index not in ended
                ended.add(event.index)
                calls[event.index][0] += getattr(event, "id", "")
    assert ended == set(range(len(calls)))
    return content, reasoning, [(call[0], call[1], call[2]) for call in calls]


def summary(message: Any) -> tuple[str, str, list[tuple[str, str, str]]]:
    """Return of a message what events add up to."""
    calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    return message.content, message.reasoning_content, calls


def assert_in_order(events: Sequence[Any], message: Any) -> None:
    """Assert that a stream's events come call by call: start, deltas, end; and add up."""
    open_call, started = None, 0
    for event in events:
        match event.type:
            case "tool_call_start":
                assert open_call is None, f"call {open_call} is open: {events}"
                assert event.index == started, f"another call than {started} begins: {events}"
                open_call, started = event.index, started + 1
            case "tool_call_delta":
                assert event.index == open_call, f"call {event.index} is not open: {events}"
            case "tool_call_end":
                assert event.index == open_call, f"call {event.index} is not open: {events}"
                assert event.complete == message.tool_calls[open_call].complete
                open_call = None
            case _:
                assert open_call is None, f"text in call {open_call}: {events}"
    assert open_call is None, f"call {open_call} does not end: {events}"
    assert added_up(events) == summary(message), f"{events} are not {message}"


def assert_any_chunking(module: FormatModule, text: str, **options: Any) -> Any:
    """Assert that however text is cut the message is the same, and return that message."""
    whole = module.parse(text, **options)
    chunkings = [[text], ["", *text, ""]]
    chunkings += [[text[:at], text[at:]] for at in some(range(1, len(text)))]
    chunkings += [[text[at : at + size] for at in range(0, len(text), size)] for size in (2, 3, 7)]
    for chunks in chunkings:
        message, events = stream(module, chunks, **options)
        assert message == whole, chunks
        assert added_up(events) == summary(whole), chunks
    return whole


def assert_any_truncation(
    module: FormatModule, text: str, markers: Iterable[str] = (), **options: Any
) -> None:
    """Assert that text cut off anywhere parses: arguments load, and no whole marker leaks."""
    markers = tuple(markers)
    for length in some(range(len(text))):
        cut = text[:length]
        message = module.parse(cut, **options)
        streamed, events = stream(module, cut, **options)
        assert streamed == message, cut
        assert added_up(events) == summary(message), cut
        for call in message.tool_calls:
            assert isinstance(json.loads(call.arguments), dict), (cut, call)
        for marker in markers:
            assert marker not in message.content + message.reasoning_content, cut
