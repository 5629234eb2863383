"""Where a string ends that is never closed: at the end of its call, if no string goes on there.

A string may well quote the format; then what it quotes has the string's own escapes.
"""

from __future__ import annotations

import re

from turnspec.engine.markers import WHITE_SPACE, after_space

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.input import Input

#: A call goes on with an object, whose first quote a string would have escaped.
OBJECT_BEGINS = re.compile(r'[^"\\]{0,256}')


def after_ends(input: Input, start: int) -> tuple[int, bool | None]:
    """Return where the ends of a call that follow each other are over.

    And whether no string goes on there, or None if more text has to tell.
    """
    at, ends = start, input.rules.at_call_end
    while (found := ends.match(input, not input.final, at)) and not found.is_partial:
        at = after_space(input.text, found.end)
    if found or at == start:
        return at, None if found else False
    if at == len(input.text):
        return at, input.final or None
    call = input.rules.at_call_start.match(input, not input.final, at)
    if call is None or call.is_partial:
        return at, None if call else False
    before = OBJECT_BEGINS.match(input.text, at)
    assert before  # if only an empty text
    sign = input.text[before.end() : before.end() + 1]
    if not sign and not input.final:
        return at, None
    return at, sign == '"' and before.group().rstrip(WHITE_SPACE).endswith("{")
