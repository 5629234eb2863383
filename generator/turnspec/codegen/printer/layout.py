"""Lays lines out: what is too long for one is broken in its brackets, from outside in.

Printed text holds signs for where it may break: BEGIN and END around what is indented on lines of
its own, LINE for a blank or a break, COMMA for one before a bracket on its own line, PAD for a
blank or nothing; CHAIN begins what is indented from its first break on, WHOLE what breaks at its
first LINE if the rest fits into one line.
"""

from __future__ import annotations

import re
from itertools import accumulate, groupby
from textwrap import wrap

BEGIN, END, LINE, COMMA, CHAIN, PAD, WHOLE = "\x02\x03\x04\x05\x06\x07\x08"
_SIGN = re.compile(f"([{BEGIN}-{WHOLE}])")
_INDENT = 2
WIDTH = 100
_SHORT = 28
#: Parts that break together, behind the sign that they begin with.
_Group = list["str | _Group"]


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
    depths = list(accumulate((sign in (BEGIN, CHAIN)) - (sign == END) for sign in text))
    if text.startswith(CHAIN) and 0 not in depths[:-1]:
        text = text[1:-1]
    return f"{before}{BEGIN}{text}{END}{after}"


def laid_out(text: str, indent: int = 0) -> list[str]:
    """Return a text as lines."""
    stack: list[_Group] = [[CHAIN]]
    for part in _SIGN.split(text):
        if part in (BEGIN, CHAIN, WHOLE):
            inner: _Group = [part]
            stack[-1].append(inner)
            stack.append(inner)
        elif part == END:
            stack.pop()
        elif part:
            stack[-1].append(part)
    lines = [" " * indent]
    _put(stack[0][1:], lines, after=0)
    return [line.rstrip() for line in lines]


def _put(parts: _Group, lines: list[str], after: int) -> None:
    """Add parts to the last line, each on one line if it fits in, with what stands behind it."""
    for at, part in enumerate(parts):
        rest = _width_to_break(parts[at + 1 :], after)
        if isinstance(part, str) or len(lines[-1]) + len(_flat(part)) + rest <= WIDTH:
            lines[-1] += _flat(part)
        else:
            _break(part, lines)


def _break(group: _Group, lines: list[str]) -> None:
    base = len(lines[-1]) - len(lines[-1].lstrip())
    inner = " " * (base + _INDENT)
    match group:
        case [str(sign), before, _, *rest] if sign == WHOLE and list in map(type, rest):
            if len(inner) + len(_flat(rest)) > WIDTH:
                _put([before, " ", *rest], lines, after=0)
                return
        case [_, str(), list(), "]" | "}", str()] if len(inner) + len(_flat(group)) > WIDTH:
            _put(group[1:-1], lines, after=1)  # the brackets of one list are enough
            return
    if group[0] == BEGIN:
        lines.append(inner)
        if filled := _filled(group[1:], WIDTH - len(inner)):
            lines[-1:] = [*(inner + line for line in filled), " " * base]
            return
    segment: _Group = []
    for part in [*group[1:], END]:
        if part not in (LINE, COMMA, END, PAD):
            segment.append(part)
        elif part != PAD:
            _put(segment, lines, after=1)
            segment = []
            lines[-1] += "," * (part == COMMA)
            if part == LINE:
                lines.append(inner)
    if group[0] == BEGIN:
        lines.append(" " * base)


def _filled(group: _Group, width: int) -> list[str]:
    """Return the lines of what fits into one, or is a list of what is short; else nothing."""
    whole = _flat(group).strip()
    if len(whole) <= width:
        return [whole]
    between = groupby(group, lambda part: part == LINE)
    parts = [_flat(list(part)) for is_end, part in between if not is_end]
    if COMMA not in group or max(map(len, parts)) > _SHORT:
        return []
    text = " ".join(part.strip().replace(" ", PAD) for part in parts)
    return [line.replace(PAD, " ") for line in wrap(text, width, break_on_hyphens=False)]


def _flat(part: str | _Group) -> str:
    """Return parts on one line."""
    text = part if isinstance(part, str) else "".join(map(_flat, part))
    return _SIGN.sub("", text.replace(LINE, " ").replace(PAD, " "))


def _width_to_break(parts: _Group, after: int) -> int:
    """Return how much stands behind a part that can't be on another line."""
    size = 0
    for part in parts:
        if part in (LINE, COMMA) or part[0] == BEGIN:
            return size
        if isinstance(part, list) and part[0] == CHAIN:
            return size + _width_to_break(part[1:], 0)
        size += len(_flat(part))
    return size + after
