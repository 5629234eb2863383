"""Parts of the grammar of a schema that need no schema: formats of strings, and arrays."""

from __future__ import annotations

from turnspec.grammar.digit_ranges import repeat
from turnspec.grammar.text import sequence

_DAY = "0[1-9]|[12][0-9]"
_DATE = (
    rf"[0-9]{{4}}-(?:(?:0[13578]|1[02])-(?:{_DAY}|3[01])|(?:0[469]|11)-(?:{_DAY}|30)|02-(?:{_DAY}))"
)
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = rf"{_CLOCK}:[0-5][0-9](?:\.[0-9]+)?(?:Z|[+-]{_CLOCK})"
#: The formats that are enforced, as regular expressions. February always has 29 days.
FORMATS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "uuid": r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
}


def array_text(
    firsts: list[str], item: str | None, bounds: tuple[int, int | None], comma: str
) -> str:
    """Return an array's items: ``firsts``, then ``item`` for all others.

    There may be an end, once there are as many items as the lower bound says, behind any of them.
    """
    least, most = bounds
    tail, count = "", len(firsts)
    after = (max(least - count, 0), None if most is None else most - count)
    if item and after[1] != 0:
        tail = _more_items(item, *after, comma if firsts else "", comma)
    for position in range(count - 1, -1, -1):
        text = sequence(comma if position else "", firsts[position], tail)
        tail = text if position < least else f"( {text} )?"
    return tail


def _more_items(item: str, least: int, most: int | None, before: str, comma: str) -> str:
    if before:
        return f"( {before} {item} ){repeat(least, most)}"
    if not comma:
        return f"( {item} ){repeat(least, most)}"
    rest = repeat(max(least - 1, 0), None if most is None else most - 1)
    text = item if most == 1 else f"{item} ( {comma} {item} ){rest}"
    return text if least else f"( {text} )?"
