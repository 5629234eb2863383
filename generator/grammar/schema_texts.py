"""Parts of the grammar of a schema that need no schema: formats of strings, and arrays."""

from __future__ import annotations

from generator.grammar.digit_ranges import repeat
from generator.grammar.text import GAP

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


def array_text(firsts: list[str], item: str | None, least: int, most: int | None) -> str:
    """Return an array that may end, once it has ``least`` items, behind any of them."""
    tail, count = "", len(firsts)
    after = (max(least - count, 0), None if most is None else most - count)
    if item and after[1] != 0:
        tail = _more_items(item, *after, first=not firsts)
    for position in range(count - 1, -1, -1):
        comma = '"," space ' if position else ""
        text = f"{comma}{firsts[position]} space {tail}".rstrip()
        tail = text if position < least else f"( {text} )?"
    return " ".join(part for part in (f'"[" {GAP}', tail, '"]"') if part)


def _more_items(item: str, least: int, most: int | None, *, first: bool) -> str:
    more = f'( "," space {item} space )'
    if not first:
        return f"{more}{repeat(least, most)}"
    rest = repeat(max(least - 1, 0), None if most is None else most - 1)
    text = f"{item} space" if most == 1 else f"{item} space {more}{rest}"
    return text if least else f"( {text} )?"
