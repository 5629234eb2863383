"""The one rule for repeated items: calls in a section, arguments in a call.

From the texts before the first item, between two items and after the last, the item's start is
the common end of *before* and *between*, its end the common beginning of *between* and *after*;
what is left over opens the section, separates the items and closes it. White space between items
belongs to the separator.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from turnspec.analysis.probes import VALUES
from turnspec.analysis.text import common_suffix, whole_prefix, whole_suffix

#: Stands in a text for a running index while texts are compared. No template can render it.
INDEX_MARK = "\ue000"


@dataclass(frozen=True, slots=True)
class Repetition:
    """How items repeat. ``befores`` and ``afters`` are what is left of those texts, in order."""

    start: str
    end: str
    separator: str
    befores: tuple[str, ...]
    afters: tuple[str, ...]


def split_repetition(
    befores: Sequence[str], betweens: Sequence[str], afters: Sequence[str]
) -> Repetition:
    """Apply the rule; a text that could close an item or open the next one closes it.

    ``betweens`` may be empty where no template ever shows two items; then the item takes all that
    its neighbours have in common.
    """
    if not betweens:
        start, end = _alone_in_array(whole_suffix(befores), whole_prefix(afters))
        return _leftovers(start, end, "", befores, afters)
    end = whole_prefix([*afters, *betweens]).rstrip()
    start = whole_suffix([*befores, *(text.removeprefix(end) for text in betweens)]).lstrip()
    if not (start or end):
        start, end = _halves(befores, betweens, afters)
    separators = [text.removeprefix(end).removesuffix(start) for text in betweens]
    return _leftovers(start, end, max(separators, key=len), befores, afters)


def _halves(
    befores: Sequence[str], betweens: Sequence[str], afters: Sequence[str]
) -> tuple[str, str]:
    """Return an item's start and end where they make up one run of a sign between two items."""
    text = betweens[0].strip()
    size = len(text) // 2
    end, start = text[:size], text[size:]
    is_run = len({*text}) == 1 and {it.strip() for it in betweens} == {text} and not text.isalnum()
    is_split = all(it.startswith(end) for it in afters)
    is_split = is_split and all(it.endswith(start) for it in befores)
    return (start, end) if is_run and is_split else ("", "")


def _alone_in_array(start: str, end: str) -> tuple[str, str]:
    """Return what is left of an item's start and end without the array whose one element it is."""
    opening = re.search(r"\[\s*(?=\{[^{}\[\]]*\Z)", start)
    closing = re.match(r"[^{}\[\]]*\}(?=\s*\])", end)
    return (start[opening.end() :], closing.group()) if opening and closing else (start, end)


def repeated_items(texts: Sequence[str], needles: Sequence[str]) -> Repetition:
    """Return how items repeat that begin with these needles, and end with the probes' values.

    The texts have one, two, … of them; one that wasn't rendered is empty.
    """
    first = texts[0]
    betweens = [
        _behind_item(text[: text.find(needles[step + 1])], needles[step], VALUES[step])
        for text in texts
        for step in (0, 1)
        if needles[step + 1] in text
    ]
    after = _behind_item(first, needles[0], VALUES[0])
    return split_repetition([first[: first.find(needles[0])]], betweens, [after])


def _behind_item(text: str, needle: str, value: str) -> str:
    """Return what follows an item: after its value, or after its name said again behind it."""
    end = text.rfind(value) + len(value)
    again = text.find(needle, end)
    return text[again + len(needle) :] if again >= 0 else text[end:]


def _leftovers(
    start: str, end: str, separator: str, befores: Sequence[str], afters: Sequence[str]
) -> Repetition:
    return Repetition(
        start=start,
        end=end,
        separator=separator,
        befores=tuple(text.removesuffix(start) for text in befores),
        afters=tuple(text.removeprefix(end) for text in afters),
    )


def mark_leading_index(
    firsts: Sequence[str], nexts: Sequence[str]
) -> tuple[list[str], list[str], int] | None:
    """Find a running index in the texts before items, and put `INDEX_MARK` in its place.

    ``firsts`` stand before the first item, ``nexts`` before the second, third, … Returns both
    with the mark, and the index of the first item; None where there is no such number.
    """
    if not nexts:
        return None
    tail = common_suffix([*firsts, *nexts])
    tail = tail.lstrip("0123456789")
    numbers: list[int] = []
    for text in (*firsts, *nexts):
        found = re.search(r"(\d+)\Z", text.removesuffix(tail))
        if found is None:
            return None
        numbers.append(int(found.group()))
    base = numbers[0]
    expected = [base] * len(firsts) + [base + 1 + step for step in range(len(nexts))]
    if numbers != expected:
        return None

    def marked(text: str) -> str:
        return re.sub(r"\d+\Z", INDEX_MARK, text.removesuffix(tail)) + tail

    return [marked(text) for text in firsts], [marked(text) for text in nexts], base


def mark_inner_index(texts: Sequence[str]) -> tuple[str, int] | None:
    """Find a running index in the same text of successive items.

    Returns that text with `INDEX_MARK` in the index's place, and the first item's index.
    """
    pattern = [re.split(r"(\d+)", text) for text in texts]
    if len(texts) < 2 or len({len(parts) for parts in pattern}) != 1:
        return None
    columns = enumerate(zip(*pattern, strict=True))
    differing = [place for place, column in columns if len(set(column)) > 1]
    if len(differing) != 1 or not pattern[0][differing[0]].isdigit():
        return None
    numbers = [int(parts[differing[0]]) for parts in pattern]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    parts = list(pattern[0])
    parts[differing[0]] = INDEX_MARK
    return "".join(parts), numbers[0]
