"""T5: what follows a turn's first call, where it isn't what follows the later ones.

Turns with one, two and three calls are compared. Some templates close a section, or a turn, only
behind several calls, or separate the first two otherwise than the rest.
"""

from __future__ import annotations

from collections.abc import Mapping

from turnspec.analysis.calls import CallsFinding
from turnspec.analysis.findings import Derivation
from turnspec.analysis.frames import Edge, Frames
from turnspec.spec.calls import AfterFirst
from turnspec.spec.words import Part

_LAST = Edge(Part.CALLS, Part.END)


def end_of_only_call(frames: Frames, edges: Mapping[Edge, str], tail: str) -> str | None:
    """Return what ends a turn with one call, or None where several end it just so.

    ``edges`` are those of turns with several calls; ``tail`` is put behind every conversation.
    """
    text = frames.with_calls(1).edges().get(_LAST)
    only = None if text is None else text.removesuffix(tail)
    return None if only == edges.get(_LAST) else only


def find_after_first(
    calls: CallsFinding, only: str | None, section_end: str, end: str, derivation: Derivation
) -> AfterFirst | None:
    """Return what follows the first call; None where all calls are followed by the same.

    ``only`` comes from `end_of_only_call`, ``section_end`` and ``end`` follow several calls.
    """
    separator = calls.repetition.separator
    if only is None and calls.first_separator == separator:
        return None
    found = AfterFirst(calls.first_separator, section_end, end)
    if only is not None:
        rest = only.removeprefix(calls.repetition.end)
        found = AfterFirst(calls.first_separator, *_split_end(rest, section_end, end))
    derivation.note("T5", f"behind a turn's first call: {found}", only or "")
    return found


def _split_end(text: str, section_end: str, end: str) -> tuple[str, str]:
    """Split what ends a turn with one call as the end of a turn with several is split.

    What neither has in common with it ends the turn.
    """
    if section_end and text.startswith(section_end):
        return section_end, text.removeprefix(section_end)
    if end and text.endswith(end):
        return text.removesuffix(end), end
    return "", text
