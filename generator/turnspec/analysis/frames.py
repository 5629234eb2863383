"""Frames: which parts a rendered turn shows, in which order, and the text between them.

A turn is rendered for every combination of parts. What stands between two neighbours depends on
these two alone (found to hold throughout the reference templates), so the frames come down to a
table of edges: from START, reasoning, content or calls to reasoning, content, calls or END.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from turnspec.analysis.argument_tokens import join_argument_tokens
from turnspec.analysis.probes import Token, TokenKind, find_tokens, probe_message
from turnspec.rendering.conversation import Chat, Following
from turnspec.spec.message import Message
from turnspec.spec.model import Arguments, Part

Edge = tuple[Part, Part]

_PART_OF_TOKEN = {TokenKind.REASONING: Part.REASONING, TokenKind.CONTENT: Part.CONTENT}


@dataclass(frozen=True, slots=True)
class Combination:
    """Which parts a message has."""

    reasoning: bool
    content: bool
    calls: int

    @property
    def message(self) -> Message:
        """Return the probe message with these parts."""
        return probe_message(reasoning=self.reasoning, content=self.content, calls=self.calls)

    @property
    def parts(self) -> frozenset[Part]:
        """Return the parts as a set."""
        flags = {
            Part.REASONING: self.reasoning,
            Part.CONTENT: self.content,
            Part.CALLS: bool(self.calls),
        }
        return frozenset(part for part, present in flags.items() if present)


@dataclass(frozen=True, slots=True)
class Frame:
    """A rendered turn cut at its needles.

    ``order`` holds the parts in the order shown; ``gaps`` the texts before, between and after
    them; ``calls_text`` and ``tokens`` (positions within it) what stands from the first to the
    last needle of the calls.
    """

    combination: Combination
    following: Following
    text: str
    order: tuple[Part, ...]
    gaps: tuple[str, ...]
    calls_text: str
    tokens: tuple[Token, ...]

    def edges(self) -> list[tuple[Edge, str]]:
        """Return each pair of neighbours with the text between them."""
        stops = (Part.START, *self.order, Part.END)
        return list(zip(itertools.pairwise(stops), self.gaps, strict=True))


@dataclass(frozen=True, slots=True)
class Frames:
    """All frames of one template, and the combinations that it refuses (with its message)."""

    frames: tuple[Frame, ...]
    refused: Mapping[Combination, str] = field(default_factory=dict)

    def edges(self, following: Following = Following.NOTHING) -> dict[Edge, str]:
        """Return the text of each edge.

        Where frames disagree, those with the fewest parts count, of them those with several
        calls, and the most of these.
        """
        seen: dict[Edge, dict[tuple[int, bool], Counter[str]]] = {}
        for frame in self.frames:
            if frame.following is following:
                rank = len(frame.combination.parts), frame.combination.calls == 1
                for edge, text in frame.edges():
                    seen.setdefault(edge, {}).setdefault(rank, Counter())[text] += 1
        return {edge: counts[min(counts)].most_common(1)[0][0] for edge, counts in seen.items()}

    def with_calls(self, calls: int) -> Frames:
        """Return only the frames of messages with that many calls."""
        shown = (frame for frame in self.frames if frame.combination.calls == calls)
        return replace(self, frames=tuple(shown))

    def exceptions(self) -> list[tuple[Frame, Edge, str]]:
        """Return the edges of frames at the conversation's end that differ from the table."""
        table = self.edges()
        return [
            (frame, edge, text)
            for frame in self.frames
            if frame.following is Following.NOTHING
            for edge, text in frame.edges()
            if table[edge] != text
        ]


def collect_frames(
    chat: Chat, *, with_reasoning: bool, max_calls: int, arguments: Arguments
) -> Frames:
    """Render every combination of parts, alone and followed by other messages."""
    reasoning = (False, True) if with_reasoning else (False,)
    frames: list[Frame] = []
    refused: dict[Combination, str] = {}
    for choice in itertools.product(reasoning, (False, True), range(max_calls + 1)):
        combination = Combination(*choice)
        for following in Following:
            rendering = chat.turn(combination.message, following=following)
            if rendering.text is not None:
                frames.append(cut_frame(rendering.text, combination, following, arguments))
            elif following is Following.NOTHING:
                refused[combination] = rendering.error
    return Frames(tuple(frames), refused)


def cut_frame(
    text: str, combination: Combination, following: Following, arguments: Arguments
) -> Frame:
    """Cut a rendered turn at the needles of its probe message."""
    tokens = join_argument_tokens(find_tokens(text, combination.message.calls), arguments)
    spans = _part_spans(tokens)
    order = tuple(part for part, _, _ in spans)
    cuts = [0, *(position for _, start, end in spans for position in (start, end)), len(text)]
    gaps = tuple(text[cuts[i] : cuts[i + 1]] for i in range(0, len(cuts), 2))
    calls = next(((start, end) for part, start, end in spans if part is Part.CALLS), (0, 0))
    inner = tuple(
        Token(token.kind, token.call, token.start - calls[0], token.end - calls[0])
        for token in tokens
        if token.call >= 0
    )
    return Frame(combination, following, text, order, gaps, text[calls[0] : calls[1]], inner)


def _part_spans(tokens: Sequence[Token]) -> list[tuple[Part, int, int]]:
    """Return each part shown with its span; a part that is shown twice counts once, the last."""
    spans: dict[Part, tuple[int, int]] = {}
    for token in tokens:
        part = _PART_OF_TOKEN.get(token.kind, Part.CALLS)
        if part is Part.CALLS and part in spans:
            spans[part] = (spans[part][0], token.end)
        else:
            spans[part] = (token.start, token.end)
    ordered = sorted(spans.items(), key=lambda item: item[1])
    return [(part, start, end) for part, (start, end) in ordered]
