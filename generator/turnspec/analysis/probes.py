"""The messages that are rendered to be compared, and finding their texts again.

Every name, id, key and value is a *needle*: a word that no template contains, so that where it
turns up in a rendering is where the template put it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from turnspec.spec.message import Call, Message

REASONING = "reasqa"
CONTENT = "contqa"
NAMES = ("funqa", "funqb", "funqc")
KEYS = ("keyqa", "keyqb", "keyqc")
VALUES = ("valqa", "valqb", "valqc")
#: One argument, two, three.
ARGUMENTS: list[dict[str, object]] = [dict(zip(KEYS[:n], VALUES, strict=False)) for n in (1, 2, 3)]
#: Nine letters and digits: some templates accept no other length.
IDS = ("callqa001", "callqb002", "callqc003")


class TokenKind(StrEnum):
    """What a needle found in a rendering stands for."""

    REASONING = "reasoning"
    CONTENT = "content"
    NAME = "NAME"
    ID = "ID"
    ARGUMENTS = "ARGUMENTS"
    KEY = "KEY"
    VALUE = "VALUE"


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of a rendering that came from the message: its kind, whose call, and where."""

    kind: TokenKind
    call: int
    start: int
    end: int


def probe_call(number: int) -> Call:
    """Return the call with that number (0 to 2), its one argument a string."""
    return Call(NAMES[number], {KEYS[number]: VALUES[number]}, IDS[number])


def probe_message(*, reasoning: bool = False, content: bool = False, calls: int = 0) -> Message:
    """Return a message with just the parts asked for."""
    return Message(
        content=CONTENT if content else "",
        reasoning=REASONING if reasoning else "",
        calls=tuple(probe_call(number) for number in range(calls)),
    )


def find_tokens(text: str, calls: tuple[Call, ...] = (), *, as_objects: bool = True) -> list[Token]:
    """Return the needles of a probe message found in ``text``, in the order in which they stand.

    Arguments that stand as one object give an ARGUMENTS token, if they are known to be
    ``as_objects``; otherwise their keys and values give tokens of their own.
    """
    tokens = _occurrences(text, REASONING, TokenKind.REASONING, -1)
    tokens += _occurrences(text, CONTENT, TokenKind.CONTENT, -1)
    for number, call in enumerate(calls):
        tokens += _occurrences(text, call.name, TokenKind.NAME, number)
        tokens += _occurrences(text, call.id, TokenKind.ID, number)
        tokens += _argument_tokens(text, call, number, as_objects)
    return sorted(tokens, key=lambda token: token.start)


def find_object(text: str, value: Mapping[str, object], anchor: str) -> tuple[int, int] | None:
    """Return where ``value`` stands in ``text`` as one JSON or Python object around ``anchor``.

    Telling JSON from tags is the analysis' one heuristic: what a decoder reads back is an object.
    It may be a JSON string that holds the object.
    """
    position = text.find(anchor)
    start = text.rfind("{", 0, position) if position >= 0 else -1
    while start >= 0:
        end = _object_end(text, start, value)
        if end is not None:
            return start, end
        start = text.rfind("{", 0, start)
    return _string_with_object(text, value, position)


def _argument_tokens(text: str, call: Call, number: int, as_objects: bool) -> list[Token]:
    if not call.arguments:
        return []
    anchor = next(iter(call.arguments))
    span = find_object(text, call.arguments, anchor) if as_objects else None
    if span is not None:
        return [Token(TokenKind.ARGUMENTS, number, *span)]
    tokens: list[Token] = []
    for key, value in call.arguments.items():
        tokens += _occurrences(text, key, TokenKind.KEY, number)
        if isinstance(value, str):
            tokens += _occurrences(text, value, TokenKind.VALUE, number)
    return tokens


def _string_with_object(
    text: str, value: Mapping[str, object], position: int
) -> tuple[int, int] | None:
    """Return where a JSON string that holds ``value`` as JSON stands around a position."""
    start = text.rfind('"{', 0, position) if position >= 0 else -1
    if start < 0:
        return None
    try:
        held, end = json.JSONDecoder().raw_decode(text, start)
        return (start, end) if json.loads(held) == value else None
    except (ValueError, RecursionError):
        return None


def _object_end(text: str, start: int, value: Mapping[str, object]) -> int | None:
    try:
        found, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return _python_object_end(text, start, value)
    return end if found == value else None


def _python_object_end(text: str, start: int, value: Mapping[str, object]) -> int | None:
    end = text.find("}", start)
    while end >= 0:
        try:
            if ast.literal_eval(text[start : end + 1]) == value:
                return end + 1
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            pass
        end = text.find("}", end + 1)
    return None


def _occurrences(text: str, needle: str, kind: TokenKind, call: int) -> list[Token]:
    tokens: list[Token] = []
    start = text.find(needle) if needle else -1
    while start >= 0:
        tokens.append(Token(kind, call, start, start + len(needle)))
        start = text.find(needle, start + len(needle))
    return tokens
