"""What surrounds the values of tagged arguments, by kind: strings, and everything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from turnspec.analysis.probes import KEYS
from turnspec.analysis.text import common_prefix, common_suffix, whole_prefix, whole_suffix
from turnspec.spec.calls import Guard

#: Returns the text of a one-call turn with these arguments from the call's last slot before its
#: arguments to the end of what the call writes, or None where the template refuses them.
RenderArguments = Callable[[dict[str, object]], str | None]

#: Two strings that share no character at either end.
_UNLIKE_STRINGS = ("valqa", "otherq0")
_INTEGERS = (7, -12)

_WORD_AT_START, _WORD_AT_END = re.compile(r"\A\w+"), re.compile(r"\w+\Z")


@dataclass(frozen=True, slots=True)
class Kinds:
    """What stands between key and value and behind it, for a string and for an integer.

    ``quote`` or ``guard`` surround strings only; ``lead`` and ``trail`` surround a word for the
    value's type. ``first`` is the word for strings, if it stands before the key. ``echo``, if the
    tail says the word again, is what stands before that, and the word: ``</`` and ``string``, for
    instance. Then the tail is what follows.
    """

    middle: str
    tail: str
    quote: str = ""
    typed: bool = False
    lead: str = ""
    trail: str = ""
    guard: Guard | None = None
    echo: tuple[str, str] = ("", "")
    first: str = ""

    @property
    def string_end(self) -> str:
        """What closes a string, before all that stands behind values."""
        return self.guard.end if self.guard else self.quote


def find_kinds(render: RenderArguments) -> Kinds:
    """Compare a string's surroundings with an integer's."""
    strings = _around([render({KEYS[0]: value}) for value in _UNLIKE_STRINGS])
    integers = _around([render({KEYS[0]: value}) for value in _INTEGERS])
    if strings is None or integers is None or strings == integers:
        _, middle, tail = strings or ("", "", "")
        return Kinds(middle, tail)
    (head, middle, tail), (plain_head, plain_middle, plain_tail) = strings, integers
    is_first = head != plain_head
    quote = middle.removeprefix(plain_middle)
    if middle == plain_middle + quote and tail == quote + plain_tail:
        found = Kinds(plain_middle, plain_tail, quote=quote)
        return _with_word_before(found, head, plain_head) if is_first else found
    if is_first and middle != plain_middle:
        return Kinds(middle, tail)
    guarded = None if is_first else _guarded_kinds((middle, tail), (plain_middle, plain_tail))
    if guarded is not None:
        return guarded
    told = (head, plain_head) if is_first else (middle, plain_middle)
    lead, trail = _around_words(*told)
    words = [text[len(lead) : len(text) - len(trail)] for text in told]
    first = words[0] if is_first else ""
    before, word, after = tail.partition(words[0] or "\0")
    if trail and word and plain_tail == before + words[1] + after:
        echo = (before, word)
        return Kinds(middle, after, typed=True, lead=lead, trail=trail, echo=echo, first=first)
    typed = tail == plain_tail and bool(lead and trail)
    return Kinds(middle, tail, typed=typed, lead=lead, trail=trail, first=first)


def _with_word_before(found: Kinds, head: str, plain_head: str) -> Kinds:
    """Add the word for a type that tells a string's head from an integer's, if a sign ends it."""
    lead, trail = _around_words(head, plain_head)
    first = head[len(lead) : len(head) - len(trail)]
    return replace(found, typed=True, lead=lead, trail=trail, first=first) if trail else found


def _around_words(first: str, second: str) -> tuple[str, str]:
    """Return what stands before and behind the words in which two texts differ.

    Where markers differ as a whole, such as ``<|s|>`` and ``<|j|>``, the words stand inside of
    them: a word for a type needs something behind it that ends it.
    """
    lead = _whole_lead(first, second)
    trail = whole_suffix([first[len(lead) :], second[len(lead) :]])
    if trail:
        return lead, trail
    lead = _WORD_AT_END.sub("", common_prefix([first, second]))
    trail = common_suffix([first[len(lead) :], second[len(lead) :]])
    return lead, _WORD_AT_START.sub("", trail)


def _whole_lead(first: str, second: str) -> str:
    """Return what two texts behind a key begin with: a sign there is none that begins a line."""
    return whole_prefix([KEYS[0] + first, KEYS[0] + second]).removeprefix(KEYS[0])


def _guarded_kinds(strings: tuple[str, str], integers: tuple[str, str]) -> Kinds | None:
    """Return what surrounds values where strings have a beginning and an end of their own.

    A word for the type may stand before; what follows that word in both comes before the guard.
    """
    (middle, tail), (plain_middle, plain_tail) = strings, integers
    end = tail.removesuffix(plain_tail)
    if not end or not tail.endswith(plain_tail):
        return None
    if middle.startswith(plain_middle):
        start = middle.removeprefix(plain_middle)
        return Kinds(plain_middle, plain_tail, guard=Guard(start, end, "")) if start else None
    lead = _whole_lead(middle, plain_middle)
    word = re.match(r"\w+", plain_middle[len(lead) :])
    trail = plain_middle[len(lead) + word.end() :] if word else ""
    position = middle.find(trail, len(lead) + 1) + len(trail) if trail else -1
    if position < len(trail) or position == len(middle):
        return None
    guard = Guard(middle[position:], end, "")
    return Kinds(middle, plain_tail, typed=True, lead=lead, trail=trail, guard=guard)


def _around(texts: Sequence[str | None]) -> tuple[str, str, str] | None:
    """Return what stands before a key, between it and its value, and behind that.

    The renderings differ in the value alone; None if they show none.
    """
    parted = [text.partition(KEYS[0]) for text in texts if text is not None]
    cut = [behind for _, _, behind in parted]
    if len(cut) < 2 or cut[0] == cut[1]:
        return None
    before = common_prefix(cut)
    return parted[0][0], before, common_suffix([text[len(before) :] for text in cut])
