"""Has printed text, and what is written by hand, take fewer lines where it is short."""

from __future__ import annotations

import re
from collections.abc import Callable

from turnspec.codegen.printer.layout import WIDTH

_ARM = (
    r"(?:{0}) \{{(?: //.*)?\n\1  (?!(?:if|for|while|const|let|case) ?\b|//)[^\n]*;(?: //.*)?\n\1\}}"
)
_IF, _ELSE, _FOR = map(_ARM.format, (r"if \([^\n]*\)", "else", r"for \([^\n]*\)"))
#: A condition, or a loop, of which all blocks hold one statement.
_SHORT = re.compile(rf"^( *)(?:{_IF}(?: else {_IF})*(?: {_ELSE})?(?! else)|{_FOR})$", re.MULTILINE)
#: A function of one statement.
_FUNCTION = re.compile(
    r"^( *)((?!(?:if|for|while|switch) |return\b)[^\n]*\)[^\n()]* \{)"
    r"\n\1  (?!//|const |let )([^\n]*;)\n\1(\}\)?;?)$",
    re.MULTILINE,
)
#: What is done with each of many, on a line of its own.
_LINK = re.compile(
    r"^( *)([^\n]*[\w)\]])(\.\w+\()\n\1  (\([^\n]*\)[^\n]* => [^\n]*[^,{\n])\n\1(\)[^\n]*)$",
    re.MULTILINE,
)
#: Members of a class, a type or a value, of which nothing is told; and those that are given.
_MEMBERS = re.compile(
    r"(?:^(?:  )+(?:(?:private|readonly) )*\w+[?!]?: [^;{}=/]*(?:=>[^;{}=/]*)?;\n){2,}"
    r"|(?:^    this\._?(\w+) = \1;\n){2,}|(?:^  (?:\w+: \"[^\n\"]*\"|\[[^][\n]*\]),\n){2,}",
    re.MULTILINE,
)
#: Definitions of one line; what is told of one may stand above it.
_APART = re.compile(
    r"^((?:export )?(?:const|type) [^\n]*;(?: //[^\n]*)?)\n\n"
    r"(?=(?:/\*\* [^\n]* \*/\n)?(?:export )?(?:const|type) [^\n]*;(?: //[^\n]*)?\n)"
    r"|^(  \w[^\n]* \{ [^\n]* \})\n\n(?=  \w[^\n]* \{ [^\n]* \}\n)",
    re.MULTILINE,
)


def shortened(text: str) -> str:
    """Return lines of which what is short stands on one: blocks, functions, and members."""
    text = _LINK.sub(_fitting(r"\1\2\n\1  \3\4\5"), _SHORT.sub(_without_braces, text))
    return _FUNCTION.sub(_fitting(r"\1\2 \3 \4"), _MEMBERS.sub(_filled, text))


def closed_up(text: str) -> str:
    """Return a text without empty lines between definitions of one line."""
    return _APART.sub(lambda it: f"{it[1] or it[2]}\n", text)


def _fitting(form: str) -> Callable[[re.Match[str]], str]:
    """Return what gives a form to what is found, if its last line fits in, and has no comment."""

    def found(match: re.Match[str]) -> str:
        text = match.expand(form)
        is_fit = len(text.rpartition("\n")[2]) <= WIDTH and "//" not in text
        return text if is_fit else match[0]

    return found


def _filled(found: re.Match[str]) -> str:
    lines: list[str] = []
    for member in found[0].splitlines():
        if lines and len(line := f"{lines[-1]} {member.lstrip()}") <= WIDTH:
            lines[-1] = line
        else:
            lines.append(member)
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
