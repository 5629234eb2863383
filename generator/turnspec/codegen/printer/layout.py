"""Lays lines out: what is too long for one is broken in its brackets, from outside in.

Printed text holds signs for where it may break: BEGIN and END around what is indented on lines of
its own, LINE for a blank or a break, SOFT for nothing or a break, COMMA for one before a bracket on
its own line, PAD for a blank or nothing; CHAIN begins what is indented from its first break on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

BEGIN, END, LINE, COMMA, CHAIN, PAD = "\x02\x03\x04\x05\x06\x07"
_SIGN = re.compile(f"([{BEGIN}-{PAD}])")
_INDENT = 2
WIDTH = 100


@dataclass(slots=True)
class _Group:
    """Parts that break together; `is_chain` if nothing breaks before the first."""

    is_chain: bool
    parts: list[str | _Group] = field(default_factory=list)


def brackets(before: str, inside: list[str], after: str) -> str:
    """Return what stands in brackets, one part each on lines of its own where it has to break."""
    if not inside:
        return before + after
    return f"{before}{BEGIN}{f',{LINE}'.join(inside)}{COMMA}{END}{after}"


def called(function: str, given: list[str]) -> str:
    """Return a call."""
    return brackets(f"{function}(", given, ")")


def listed(values: list[str]) -> str:
    """Return a list."""
    return brackets("[", values, "]")


def braces(members: list[str]) -> str:
    """Return an object of members."""
    if not members:
        return "{}"
    return f"{{{BEGIN}{PAD}{f',{LINE}'.join(members)}{COMMA}{PAD}{END}}}"


def chain(parts: list[str], sign: str) -> str:
    """Return what operators join."""
    return f"{CHAIN}{f' {sign}{LINE}'.join(parts)}{END}" if len(parts) > 1 else parts[0]


def enclosed(before: str, text: str, after: str) -> str:
    """Return a text in brackets; if it is a chain, that is indented once."""
    if text.startswith(CHAIN) and _end_of_group(text) == len(text) - 1:
        text = text[1:-1]
    return f"{before}{BEGIN}{text}{END}{after}"


def _end_of_group(text: str) -> int:
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in (BEGIN, CHAIN)) - (sign == END)
        if not depth:
            return at
    return -1


def is_breakable(text: str) -> bool:
    """Tell whether a text can break somewhere."""
    return _SIGN.search(text) is not None


def flat(text: str) -> str:
    """Return a text on one line."""
    return _SIGN.sub("", text.replace(LINE, " ").replace(PAD, " "))


def laid_out(text: str, indent: int = 0, width: int = WIDTH) -> list[str]:
    """Return a text as lines."""
    root = _Group(is_chain=True)
    stack = [root]
    for part in _SIGN.split(text):
        if part in (BEGIN, CHAIN):
            inner = _Group(is_chain=part == CHAIN)
            stack[-1].parts.append(inner)
            stack.append(inner)
        elif part == END:
            stack.pop()
        elif part:
            stack[-1].parts.append(part)
    lines = [" " * indent]
    _put(root.parts, lines, width, after=0)
    return [line.rstrip() for line in lines]


def _put(parts: list[str | _Group], lines: list[str], width: int, after: int) -> None:
    """Add parts to the last line, each on one line if it fits in, with what stands behind it."""
    for at, part in enumerate(parts):
        rest = _width_to_break(parts[at + 1 :], after)
        if isinstance(part, str) or len(lines[-1]) + len(_flat(part)) + rest <= width:
            lines[-1] += _flat(part)
        else:
            _break(part, lines, width)


def _break(group: _Group, lines: list[str], width: int) -> None:
    base = len(lines[-1]) - len(lines[-1].lstrip())
    inner = " " * (base + _INDENT)
    if not group.is_chain:
        lines.append(inner)
    segment: list[str | _Group] = []
    for part in [*group.parts, END]:
        if part == PAD:
            continue
        if part not in (LINE, COMMA, END):
            segment.append(part)
            continue
        _put(segment, lines, width, after=1)
        segment = []
        if part == COMMA:
            lines[-1] += ","
        elif part == LINE:
            lines.append(inner)
    if not group.is_chain:
        lines.append(" " * base)


def _flat(part: str | _Group) -> str:
    if isinstance(part, str):
        return {LINE: " ", PAD: " ", COMMA: ""}.get(part, part)
    return "".join(map(_flat, part.parts))


def _width_to_break(parts: list[str | _Group], after: int) -> int:
    """Return how much stands behind a part that can't be on another line."""
    size = 0
    for part in parts:
        if part in (LINE, COMMA):
            return size
        text = _flat(part)
        if isinstance(part, _Group) and not part.is_chain:
            return size
        size += len(text)
    return size + after
