"""T2: the running index that a template says again behind each call, as in ``end of call 2``.

Turns that differ in nothing but the number of their calls are compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from turnspec.analysis.frames import Combination, Frame, Frames
from turnspec.analysis.repetition import INDEX_MARK, mark_inner_index
from turnspec.rendering.conversation import Following
from turnspec.spec.words import Part


def mark_last_index(frames: Frames) -> Frames:
    """Put `INDEX_MARK` in the place of the last call's index behind the calls of every turn."""
    shown = [frame for frame in frames.frames if Part.CALLS in frame.order]
    alone = {frame.combination: frame for frame in shown if frame.following is Following.NOTHING}
    for combination in [found for found in alone if found.calls == 1]:
        marked = mark_inner_index(_behind_calls(alone, combination))
        if marked is not None:
            before = marked[0].partition(INDEX_MARK)[0]
            found = (_marked(frame, before) for frame in frames.frames)
            return replace(frames, frames=tuple(found))
    return frames


def mark_indexes(texts: Sequence[str], afters: Sequence[str]) -> tuple[list[str], int | None]:
    """Put `INDEX_MARK` into texts between calls, where it stands in what is behind the last.

    Returns them with the first call's index, None where there is no such mark.
    """
    before = next((text.partition(INDEX_MARK)[0] for text in afters if INDEX_MARK in text), None)
    if before is None:
        return list(texts), None
    first = re.match(rf"{re.escape(before)}(\d+)", texts[0]) if texts else None
    return [_mark(text, before) for text in texts], int(first[1]) if first else None


def _behind_calls(frames: Mapping[Combination, Frame], first: Combination) -> list[str]:
    """Return what stands behind one call, two calls, and so on, in turns that have just these."""
    texts = []
    for calls in range(1, 4):
        frame = frames.get(replace(first, calls=calls))
        if frame is not None:
            texts.append(frame.gaps[frame.order.index(Part.CALLS) + 1])
    return texts


def _marked(frame: Frame, before: str) -> Frame:
    if Part.CALLS not in frame.order:
        return frame
    place = frame.order.index(Part.CALLS) + 1
    text = _mark(frame.gaps[place], before)
    return replace(frame, gaps=(*frame.gaps[:place], text, *frame.gaps[place + 1 :]))


def _mark(text: str, before: str) -> str:
    return re.sub(rf"\A{re.escape(before)}\d+", lambda _: before + INDEX_MARK, text)
