"""Examples of calls as code in prose: a name, and keys with values in parentheses behind it."""

from __future__ import annotations

import re

from turnspec.analysis.tag_examples import OBJECT
from turnspec.spec.calls import Arguments, Literal, Slot, Tools
from turnspec.spec.words import Encoding, JsonType, SlotKind, ToolMode

#: A name, or what stands for one.
_WORD = r"(?:[^\W\d][\w.]*|\{\w+\}|<[\w ]+>)"
_VALUE = rf"(?:\"[^\"\n]*\"|'[^'\n]*'|[\w.-]+|{_WORD})"
#: A call with an argument at least; dots may say that there are more of them.
_CALL = re.compile(
    rf"(?<![\w.]){_WORD}\({_WORD}\s?=\s?{_VALUE}(?:,\s?{_WORD}\s?=\s?{_VALUE})*(?:,?\s?\.\.\.)?\)"
)
#: Another call behind one, of which no argument has to be shown.
_NEXT = re.compile(rf"(?<={OBJECT})(,\s*|\n){_WORD}\([^()\n]*\)")
_NUMBERS = (JsonType.INTEGER, JsonType.NUMBER)


def replace_calls(text: str) -> tuple[str, list[str]]:
    """Return the text with `OBJECT` in the place of each call that is code, and the calls."""
    found = [match.group() for match in _CALL.finditer(text)]
    return _NEXT.sub(rf"\1{OBJECT}", _CALL.sub(OBJECT, text)), found


def code_tools(opening: str, closing: str, separator: str) -> Tools:
    """Return the format of calls that are code in Python's literals, with what is around them."""
    call = (Slot(SlotKind.NAME), Literal("("), Slot(SlotKind.ARGUMENTS), Literal(")"))
    values = {kind: Encoding.JSON if kind in _NUMBERS else Encoding.PYTHON for kind in JsonType}
    item = (Slot(SlotKind.KEY), Literal("="), Slot(SlotKind.VALUE))
    arguments = Arguments(item=item, separator=", ", empty="", values=values)
    return Tools(ToolMode.TAG_WITH_TAGGED, opening, call, separator, closing, arguments)
