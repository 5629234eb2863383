"""Examples of calls as code in prose: a name, and keys with values in parentheses behind it."""

from __future__ import annotations

import re

from turnspec.analysis.tag_examples import OBJECT
from turnspec.spec.calls import Arguments, Literal, Slot, Tools
from turnspec.spec.words import Encoding, JsonType, SlotKind, ToolMode

#: A name, or what stands for one.
_WORD = r"(?:[^\W\d][\w.]*|\{\w+\}|<[\w ]+>)"
#: No two ways begin alike: else a call that isn't closed takes twice the time for each argument.
_VALUE = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[\w.-]+|\{\w+\}|<[\w ]+>)"
#: A call with an argument at least; dots may say that there are more of them.
_CALL = rf"{_WORD}\({_WORD}\s?=\s?{_VALUE}(?:,\s?{_WORD}\s?=\s?{_VALUE})*(?:,?\s?\.\.\.)?\)"
#: Calls one behind the other; of those behind the first no argument has to be shown.
_CALLS = re.compile(rf"(?<![\w.])({_CALL})((?:(?:,\s*|\n){_WORD}\([^()\n]*\))*)")
_NEXT = re.compile(rf"(,\s*|\n){_WORD}\([^()\n]*\)")
_NUMBERS = (JsonType.INTEGER, JsonType.NUMBER)


def replace_calls(text: str) -> tuple[str, dict[int, str]]:
    """Return the text with `OBJECT` in the place of each call that is code, and first calls.

    These begin runs of calls; each is told by where it then stands.
    """
    result, position = "", 0
    first: dict[int, str] = {}
    for found in _CALLS.finditer(text):
        result += text[position : found.start()]
        first[len(result)] = found[1]
        result += OBJECT + _NEXT.sub(rf"\1{OBJECT}", found[2])
        position = found.end()
    return result + text[position:], first


def code_tools(opening: str, closing: str, separator: str) -> Tools:
    """Return the format of calls that are code in Python's literals, with what is around them."""
    call = (Slot(SlotKind.NAME), Literal("("), Slot(SlotKind.ARGUMENTS), Literal(")"))
    values = {kind: Encoding.JSON if kind in _NUMBERS else Encoding.PYTHON for kind in JsonType}
    item = (Slot(SlotKind.KEY), Literal("="), Slot(SlotKind.VALUE))
    arguments = Arguments(item=item, separator=", ", empty="", values=values)
    return Tools(ToolMode.TAG_WITH_TAGGED, opening, call, separator, closing, arguments)
