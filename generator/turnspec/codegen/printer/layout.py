"""Lays lines out: what is too long for one is broken in its brackets, from outside in.

Printed text holds signs for where it may break: BEGIN and END around what is indented on lines of
its own, LINE for a blank or a break, COMMA for one before a bracket on its own line, PAD for a
blank or nothing; CHAIN begins what is indented from its first break on, WHOLE what breaks at its
first LINE if the rest fits into one line.
"""

from __future__ import annotations

import re
from itertools import accumulate

BEGIN, END, LINE, COMMA, CHAIN, PAD, WHOLE = "\x02\x03\x04\x05\x06\x07\x08"
_SIGN = re.compile(f"([{BEGIN}-{WHOLE}])")
_INDENT = 2
WIDTH = 100
_ARM = (
    r"(?:{0}) \{{(?: //.*)?\n\1  (?!(?:if|for|while|const|let|case) ?\b|//)[^\n]*;(?: //.*)?\n\1\}}"
)
_IF, _ELSE, _FOR = map(_ARM.format, (r"if \([^\n]*\)", "else", r"for \([^\n]*\)"))
#: A condition, or a loop, of which all blocks hold one statement.
_SHORT = re.compile(rf"^( *)(?:{_IF}(?: else {_IF})*(?: {_ELSE})?(?! else)|{_FOR})$", re.MULTILINE)
#: A function of one statement.
_FUNCTION = re.compile(
    r"^( *)((?!(?:if|for|while|switch) |return\b)[^\n]*\)[^\n()]* \{)\n\1  (?!//|const |let )([^\n]*;)\n\1(\}\)?;?)$",
    re.MULTILINE,
)
#: What is done with each of many, on a line of its own.
_LINK = re.compile(
    r"^( *)([^\n]*[\w)\]])(\.\w+\()\n\1  (\([^\n]*\)[^\n]* => [^\n]*[^,{\n])\n\1(\)[^\n]*)$",
    re.MULTILINE,
)
#: Members of a class or a type, of which nothing is told.
_MEMBERS = re.compile(r"(?:^(?:  )+(?:(?:private|readonly) )*\w+[?!]?: [^;{}=/]*(?:=>[^;{}=/]*)?;\n){2,}", re.MULTILINE)

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


def is_breakable(text: str) -> bool:
    """Tell whether a text can break somewhere."""
    return _SIGN.search(text) is not None


def flat(text: str) -> str:
    """Return a text on one line."""
    return _SIGN.sub("", text.replace(LINE, " ").replace(PAD, " "))


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
        case [str(sign), before, _, *rest] if sign == WHOLE and any(type(it) is list for it in rest):
            if len(inner) + len(_flat(rest)) > WIDTH:
                _put([before, " ", *rest], lines, after=0)
                return
        case [_, str(), list(), "]" | "}", str()] if len(inner) + len(_flat(group)) > WIDTH:
            _put(group[1:-1], lines, after=1)  # the brackets of one list are enough
            return
    if group[0] == BEGIN:
        lines.append(inner)
        line = inner + _flat(group[1:]).strip()
        if COMMA in group and len(line) <= WIDTH:
            lines[-1:] = [line, " " * base]
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


def _flat(part: str | _Group) -> str:
    return flat(part if isinstance(part, str) else "".join(map(_flat, part)))


def _width_to_break(parts: _Group, after: int) -> int:
    """Return how much stands behind a part that can't be on another line."""
    size = 0
    for part in parts:
        if part in (LINE, COMMA) or part[0] == BEGIN:
            return size
        if part[0] == CHAIN:
            return size + _width_to_break(part[1:], 0)
        size += len(_flat(part))
    return size + after


def shortened(text: str) -> str:
    """Return lines of which what is short stands on one: blocks and functions of one statement,
    and members.
    """
    text = _LINK.sub(_linked, _SHORT.sub(_without_braces, text))
    return _MEMBERS.sub(_filled, _FUNCTION.sub(_on_one_line, text))


def _linked(found: re.Match[str]) -> str:
    before, link = f"{found[1]}{found[2]}", f"{found[1]}  {found[3]}{found[4]}{found[5]}"
    return f"{before}\n{link}" if len(link) <= WIDTH and "//" not in before else found[0]


def _on_one_line(found: re.Match[str]) -> str:
    line = f"{found[1]}{found[2]} {found[3]} {found[4]}"
    return line if len(line) <= WIDTH and "//" not in line else found[0]


def _filled(found: re.Match[str]) -> str:
    lines: list[str] = []
    for member in found[0].splitlines():
        line = f"{lines[-1]} {member.lstrip()}" if lines else ""
        is_beside = line and len(line) <= WIDTH and member[:4].count(" ")
        lines[-1 if is_beside else len(lines):] = [line if is_beside else member]
    return "\n".join([*lines, ""])


def _without_braces(found: re.Match[str]) -> str:
    lines = re.split(rf"\n{found[1]}\}}(?: |$)", found[0])[:-1]
    lines = [re.sub(r" \{( //.*)?\n *(.*)", r" \2\1", line) for line in lines]
    lines = [line if line.startswith(found[1]) else found[1] + line for line in lines]
    if len(lines) == 1 and len(lines[0]) > WIDTH and " // " in lines[0]:
        line, _, note = lines[0].rpartition(" // ")
        lines = [f"{found[1]}// {note}", line]
    is_short = all(len(line) <= WIDTH and line.count("// ") < 2 for line in lines)
    return "\n".join(lines) if is_short else found[0]
