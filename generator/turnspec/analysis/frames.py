"""Frames: which parts a rendered turn shows, in which order, and the text between them.

A turn is rendered for every combination of parts. What stands between two neighbours depends on
these two alone (found to hold throughout the reference templates), so the frames come down to a
table of edges: from START, reasoning, content or calls to reasoning, content, calls or END.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from turnspec.analysis.probes import (
    CONTENT,
    REASONING,
    VALUES,
    Token,
    TokenKind,
    find_tokens,
    probe_message,
)
from turnspec.analysis.text import common_prefix, whole_prefix
from turnspec.rendering.conversation import Chat, Following
from turnspec.spec.calls import Arguments, Piece, Slot
from turnspec.spec.conditions import CONDITIONS, holds, parts_of_message
from turnspec.spec.encoding import encode_argument
from turnspec.spec.message import Message
from turnspec.spec.words import Condition, JsonType, Part, SlotKind


class Edge(NamedTuple):
    """Two neighbours; ``when`` a part that is neither of them decides what is between them."""

    left: Part
    right: Part
    when: Condition = Condition.ALWAYS


#: What stands between neighbours.
Edges = Mapping[Edge, str]

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
        return parts_of_message(self.message)


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
        stops = itertools.pairwise((Part.START, *self.order, Part.END))
        return list(zip(itertools.starmap(Edge, stops), self.gaps, strict=True))


@dataclass(frozen=True, slots=True)
class Frames:
    """All frames of one template, and the combinations that it refuses (with its message)."""

    frames: tuple[Frame, ...]
    refused: Mapping[Combination, str] = field(default_factory=dict)

    def edges(self, following: Following = Following.NOTHING) -> dict[Edge, str]:
        """Return the text of each edge.

        Where frames disagree, those with the fewest parts count, of them those with several
        calls, and the most of these. What the others have is an edge of its own if a part of the
        turn explains it.
        """
        seen: dict[Edge, dict[tuple[int, bool], Counter[str]]] = {}
        for frame in self.frames:
            if frame.following is following:
                rank = len(frame.combination.parts), frame.combination.calls == 1
                for edge, text in frame.edges():
                    seen.setdefault(edge, {}).setdefault(rank, Counter())[text] += 1
        usual = {edge: counts[min(counts)].most_common(1)[0][0] for edge, counts in seen.items()}
        return usual | dict(self._conditional(usual, following))

    def _conditional(self, usual: Edges, following: Following) -> Iterator[tuple[Edge, str]]:
        """Yield what stands between neighbours in just the turns with, or without, a third part."""
        shown: dict[Edge, list[tuple[Frame, str]]] = {}
        for frame in self.frames:
            for edge, text in frame.edges() if frame.following is following else ():
                shown.setdefault(edge, []).append((frame, text))
        for edge, found in shown.items():
            others = {text for _, text in found if edge.right is not Part.END} - {usual[edge]}
            for other, when in itertools.product(sorted(others), list(CONDITIONS)[1:]):
                if all(holds(when, frame.order) == (text == other) for frame, text in found):
                    yield Edge(edge.left, edge.right, when), other
                    break

    def with_calls(self, calls: int) -> Frames:
        """Return only the frames of messages with that many calls."""
        shown = (frame for frame in self.frames if frame.combination.calls == calls)
        return replace(self, frames=tuple(shown))

    def within_calls(self) -> frozenset[Part]:
        """Return which of reasoning and content stand between the first and last word of calls."""
        needles = ((Part.REASONING, REASONING), (Part.CONTENT, CONTENT))
        texts = [frame.calls_text for frame in self.frames]
        return frozenset(part for part, it in needles if any(it in text for text in texts))

    def without_both(self, part: Part) -> Frames:
        """Return only the frames of messages that don't have both ``part`` and calls."""
        both = {part, Part.CALLS}
        shown = (frame for frame in self.frames if not both <= frame.combination.parts)
        return replace(self, frames=tuple(shown))

    def exceptions(self) -> list[tuple[Frame, Edge, str]]:
        """Return the edges of frames at the conversation's end that the table doesn't explain."""
        table = self.edges()
        return [
            (frame, edge, text)
            for frame in self.frames
            if frame.following is Following.NOTHING
            for edge, text in frame.edges()
            if text not in _texts(table, edge, frame)
        ]


def _texts(table: Edges, edge: Edge, frame: Frame) -> list[str]:
    """Return what the table has for an edge of a frame: what holds there, else what is usual."""
    found = [
        text
        for (left, right, when), text in table.items()
        if (left, right) == edge[:2] and when != edge.when and holds(when, frame.order)
    ]
    return found or [table[edge]]


def level_leads(frames: Frames, prompts: Sequence[str], bare: str) -> Frames:
    """Take off white space in which turns, or turns and ``prompts``, differ before their header.

    It is the prompt's: some templates indent what they write before one turn and not before
    another. What follows it has to be the same text everywhere, as a header is. Behind what they
    share but for ``bare``, which is there without a prompt, the header has been, and a part begins.
    """
    texts = [frame.gaps[0] for frame in frames.frames]
    shared = common_prefix([*texts, *prompts])
    rests = [text[len(shared) :].lstrip() for text in (*texts, *prompts)]
    differ = any(text[len(shared) : len(shared) + 1].isspace() for text in (*texts, *prompts))
    is_behind = shared.startswith(bare) and shared.removeprefix(bare).strip() != ""
    if not differ or is_behind or not whole_prefix(rests).strip():
        return frames
    levelled = (
        replace(frame, gaps=(shared + rest, *frame.gaps[1:]))
        for frame, rest in zip(frames.frames, rests, strict=False)
    )
    return replace(frames, frames=tuple(levelled))


def collect_frames(
    chat: Chat, *, with_reasoning: bool, max_calls: int, arguments: Arguments
) -> Frames:
    """Render every combination of parts, alone and followed by other messages."""
    reasoning = (False, True) if with_reasoning else (False,)
    frames: list[Frame] = []
    refused: dict[Combination, str] = {}
    for choice in itertools.product(reasoning, (False, True), range(max_calls + 1)):
        combination = Combination(*choice)
        own = ""  # the turn up to its last needle, as it is rendered alone
        for following in Following:
            rendering = chat.turn(combination.message, following=following)
            if rendering.text is not None:
                frame = cut_frame(rendering.text, combination, following, arguments, own)
                own = own or frame.text.removesuffix(frame.gaps[-1])
                frames.append(frame)
            elif following is Following.NOTHING:
                refused[combination] = rendering.error
    return Frames(tuple(frames), refused)


def cut_frame(
    text: str, combination: Combination, following: Following, arguments: Arguments, own: str = ""
) -> Frame:
    """Cut a turn at its message's needles, which ``own`` ends with: an answer may say one again."""
    found = find_tokens(text, combination.message.calls, as_objects=not arguments.item)
    if own and text.startswith(own):
        found = [token for token in found if token.end <= len(own)]
    tokens = join_argument_tokens(found, arguments)
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


_ARGUMENT_KINDS = (TokenKind.KEY, TokenKind.VALUE)
_SLOTS = (Slot(SlotKind.KEY), Slot(SlotKind.VALUE))


def join_argument_tokens(tokens: Sequence[Token], arguments: Arguments) -> tuple[Token, ...]:
    """Replace each call's KEY and VALUE tokens by one ARGUMENTS token around them."""
    if not arguments.item:
        return tuple(tokens)
    lead = len(arguments.start) + _size(arguments.item, arguments)
    tail = len(arguments.end) + _size(arguments.item[::-1], arguments)
    kept = [token for token in tokens if token.kind not in _ARGUMENT_KINDS]
    inner = [token for token in tokens if token.kind in _ARGUMENT_KINDS]
    for number, group in itertools.groupby(inner, key=lambda token: token.call):
        found = list(group)
        end = found[-1].end + tail
        if found[-1].kind is TokenKind.VALUE and JsonType.STRING in arguments.values:
            written = encode_argument(VALUES[0], arguments)
            end += len(written) - written.find(VALUES[0]) - len(VALUES[0])  # what closes a string
        kept.append(Token(TokenKind.ARGUMENTS, number, found[0].start - lead, end))
    return tuple(sorted(kept, key=lambda token: token.start))


def _size(pieces: Sequence[Piece], arguments: Arguments) -> int:
    """Return how many characters stand in pieces before the first key or value: a string's."""
    word = arguments.types.get(JsonType.STRING, "")
    around = itertools.takewhile(lambda piece: piece not in _SLOTS, pieces)
    return sum(len(word if piece.kind else piece.text) for piece in around)
