"""Comparing texts: common beginnings and ends that never split a marker.

A marker here is anything in angle or square brackets, as in the auto-parser's own boundary rule:
``<…>`` and ``[…]`` stay whole. No marker is known by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from turnspec.spec.characters import WIDE_CLOSING, WIDE_OPENING

#: A tag (``<…>`` or ``<<…>>``) or a bracketed token (``[…]`` or ``[[…]]``), with no bracket or
#: line break inside; likewise in other brackets (guillemets, corner brackets, triangles, …),
#: between brackets doubled or with a sign of their own as in ``{% … %}`` and ``[| … |]``, and
#: between two runs of the same sign as in ``@@…@@`` and ``=== … ===``.
_MARKER = re.compile(
    r"<{2,}[^<>\n]+>{2,}|<[^<>\n]*>"
    r"|\[{2,}[A-Za-z_/][^\[\]\n]*\]{2,}|\[[A-Za-z_/][^\[\]\n]*\]"
    rf"|[{WIDE_OPENING}][^{WIDE_OPENING}{WIDE_CLOSING}\n]*[{WIDE_CLOSING}]"
    r"|\{\{[^{}\n]+\}\}"
    r"|[({](?P<sign>[^\w\s\"'(){}\[\]])[^(){}\n]*(?P=sign)[)}]"
    r"|\[(?P<mark>[^\w\s\"'(){}\[\]<>,;:])[^\[\]\n]*(?P=mark)\]"
    r"|(?P<run>(?P<one>[^\w\s\"'(){}\[\]<>,;.])(?P=one)+) ?/?\w[^\n]*?(?P=run)"
)

#: Markers that meet, each between two of the same single sign, as in ``§calls§§call§``. What stands
#: in brackets, or between runs of the sign, is none of them.
_CHAIN = re.compile(
    r"(?<![<\[({])(?P<sign>[^\w\s\"'(){}\[\]<>,;.])(?<!(?P=sign)(?P=sign))"
    r"/?\w(?:(?!(?P=sign)).)*(?:(?P=sign){2}/?\w(?:(?!(?P=sign)).)*)+(?P=sign)(?!(?P=sign))"
)

_WORD = re.compile(r"\w")

#: What else is a marker where a template asks for it alone, as ``(muse)`` and ``%muse%``.
_WORDS_BETWEEN_SIGNS = re.compile(r"[^\w\s\"']/?\w[\w -]*[^\w\s\"']")

#: Words with which a marker says that it opens, and what then says that another one closes.
_OPENS = (("begin", "end"), ("start", "end"), ("open", "close"))

#: The signs of which several in a row are one sign, such as a fence or ``@@``.
_RUN = re.compile(r"[^\w\s\"'(){}\[\]<>,;.]")


def common_prefix(texts: Sequence[str]) -> str:
    """Return the longest text with which all of ``texts`` begin."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)  # all others lie between these two
    for position, character in enumerate(first):
        if last[position] != character:
            return first[:position]
    return first


def common_suffix(texts: Sequence[str]) -> str:
    """Return the longest text with which all of ``texts`` end."""
    return common_prefix([text[::-1] for text in texts])[::-1]


def splits_marker(text: str, position: int) -> bool:
    """Tell whether ``position`` lies inside a marker, a word or a run of one sign of ``text``.

    A sign that begins a line belongs to the word behind it, as in ``#tool`` and ``@end``.
    """
    if not 0 < position < len(text):
        return False
    spans = list(_spans(text))
    if any(start < position < end for start, end in spans):
        return True
    if any(position in span for span in spans):
        return False  # the next one may begin with the signs with which this one ends
    before, after = text[position - 1], text[position]
    if before == after and _RUN.match(after):
        return True
    begins_line = position == 1 or text[position - 2] == "\n"
    is_one_word = _WORD.match(before) or (begins_line and _RUN.match(before))
    return bool(is_one_word and _WORD.match(after))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each marker of a text begins and ends."""
    done = 0
    for chain in _CHAIN.finditer(text):
        yield from (match.span() for match in _MARKER.finditer(text, done, chain.start()))
        meeting = re.compile(r"(.)(?:(?!\1).)*\1")
        yield from (match.span() for match in meeting.finditer(text, *chain.span()))
        done = chain.end()
    yield from (match.span() for match in _MARKER.finditer(text, done))


def whole_prefix(texts: Sequence[str]) -> str:
    """Return the longest common beginning that splits no marker, word or run of any text."""
    end = len(common_prefix(texts))
    while end and any(splits_marker(text, end) for text in texts):
        end -= 1
    return texts[0][:end] if texts else ""


def whole_suffix(texts: Sequence[str]) -> str:
    """Return the longest common end that splits no marker, word or run of any text."""
    size = len(common_suffix(texts))
    while size and any(splits_marker(text, len(text) - size) for text in texts):
        size -= 1
    return texts[0][len(texts[0]) - size :] if texts else ""


def markers(text: str) -> list[str]:
    """Return every whole marker of a text, in order."""
    return [text[start:end] for start, end in _spans(text)]


def markers_of_constants(constants: Sequence[str]) -> list[str]:
    """Return the markers in a template's constants, and those that are but words between signs."""
    found = [marker for text in constants for marker in markers(text)]
    return [*found, *filter(_WORDS_BETWEEN_SIGNS.fullmatch, constants)]


def closing_of(marker: str) -> str:
    """Return the marker that closes what another one opens, as in any markup: with a slash.

    A tag's attributes aren't said again.
    """
    bare = re.sub(r"\A(<\w[^\s<>]*)\s[^<>]*>\Z", r"\1>", marker)
    return _WORD.sub(lambda found: f"/{found.group()}", bare, count=1)


def worded_closings(marker: str) -> list[str]:
    """Return the markers that may close what another one opens by a word, as ``end`` ``start``."""
    return _with_other_word(marker, _OPENS)


def worded_openings(marker: str) -> list[str]:
    """Return the markers that may open, by a word, what another one closes."""
    return _with_other_word(marker, [(closing, opening) for opening, closing in _OPENS])


def _with_other_word(marker: str, words: Sequence[tuple[str, str]]) -> list[str]:
    cased = [tuple(map(case, pair)) for pair in words for case in (str.lower, str.upper, str.title)]
    return [marker.replace(old, new, 1) for old, new in cased if old in marker]


def distinct_beginning(text: str, inside: Sequence[str]) -> str:
    """Return the shortest beginning, whole markers only, that stands in no other text."""
    position = 0
    for marker in markers(text):
        position = text.find(marker, position) + len(marker)
        beginning = text[:position].strip()
        if not any(beginning in other for other in inside):
            return beginning
    whole = text.rstrip() if not markers(text) else ""
    return "" if any(whole in other for other in inside) else whole
