"""C1: marks around content that stand there only behind reasoning, or before calls as well.

What opens it is a join; what closes it would be several joins and ends, one for each neighbour.
"""

from __future__ import annotations

from dataclasses import replace

from turnspec.analysis.frames import Frame, Frames
from turnspec.analysis.parts import Wrapping, behind_markers
from turnspec.analysis.text import markers
from turnspec.spec.words import Part


def without_wrapped_end(frames: Frames) -> tuple[Frames, str]:
    """Take what closes content in just the turns with reasoning off the frames, and return it."""
    shown: dict[tuple[object, ...], dict[bool, str]] = {}
    for frame in frames.frames:
        if Part.CONTENT in frame.order:
            key = frame.following, frame.combination.calls, frame.order[-1]
            text = frame.gaps[frame.order.index(Part.CONTENT) + 1]
            shown.setdefault(key, {})[_is_behind(frame)] = text
    pairs = [(found[True], found[False]) for found in shown.values() if len(found) > 1]
    ends = {text.removesuffix(usual) for text, usual in pairs if text != usual}
    end = ends.pop() if len(ends) == 1 else ""
    # Where reasoning makes no difference content is closed in any case, as before calls.
    is_closed = all(
        text == end + usual or (text == usual and text.startswith(end)) for text, usual in pairs
    )
    if not markers(end) or not is_closed:
        return frames, ""
    found = tuple(_without(frame, end) if _is_behind(frame) else frame for frame in frames.frames)
    return replace(frames, frames=found), end


def closed_apart(reasoning: Wrapping) -> Wrapping:
    """Leave reasoning as many marks behind it as before it: what follows them opens content."""
    at = behind_markers(reasoning.end, len(markers(reasoning.start)))
    return Wrapping(reasoning.start, reasoning.end[:at] or reasoning.end)


def _is_behind(frame: Frame) -> bool:
    return frame.order[:2] == (Part.REASONING, Part.CONTENT)


def _without(frame: Frame, end: str) -> Frame:
    gaps = (*frame.gaps[:2], frame.gaps[2].removeprefix(end), *frame.gaps[3:])
    return replace(frame, gaps=gaps)
