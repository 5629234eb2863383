"""T1 to T3 and T5 to T7: how tool calls are written.

The calls of a turn are items of a section; each is literals with slots between them. Where the
name and the argument names stand, inside JSON or in tags, defines the tool mode.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from turnspec.analysis.findings import Derivation
from turnspec.analysis.frames import Combination, Edge, Edges, Frame, Frames
from turnspec.analysis.probes import Token, TokenKind
from turnspec.analysis.repetition import (
    INDEX_MARK,
    Repetition,
    mark_inner_index,
    mark_leading_index,
    split_repetition,
)
from turnspec.rendering.conversation import Following
from turnspec.spec.calls import AfterFirst, Arguments, Fields, Literal, Piece, Slot, filled
from turnspec.spec.words import CallIdPosition, Part, SlotKind, ToolMode

_SLOT_OF_TOKEN = {
    TokenKind.NAME: SlotKind.NAME,
    TokenKind.ID: SlotKind.ID,
    TokenKind.ARGUMENTS: SlotKind.ARGUMENTS,
}


@dataclass(frozen=True, slots=True)
class CallsFinding:
    """One call's pieces, what stands around the calls, and the index of the first call.

    ``first_separator`` stands between the first two calls, the repetition's between later ones.
    """

    call: tuple[Piece, ...]
    repetition: Repetition
    index_base: int | None
    first_separator: str


def analyze_calls(
    tokens: Sequence[Token],
    text: str,
    befores: list[str],
    afters: list[str],
    derivation: Derivation,
) -> CallsFinding | None:
    """Find one call's pieces from a turn with as many calls as the template takes (T2, T3, T7).

    ``tokens`` are positions in ``text``, which runs from the first to the last of them;
    ``befores`` and ``afters`` are what stands around the calls in every edge.
    """
    if reason := why_unread(tokens, text):
        derivation.note("T2", reason, text)
        return None
    groups = _by_call(tokens)
    betweens = [text[left[-1].end : right[0].start] for left, right in itertools.pairwise(groups)]
    betweens, last_base = mark_indexes(betweens, afters)
    marked = mark_leading_index(befores, betweens)
    index_base = marked[2] if marked else last_base
    first, later = (marked[0], marked[1]) if marked else (befores, betweens)
    repetition = split_repetition(first, later, afters)
    separator, repetition = _separate_first(repetition, later)
    pieces = _split_index(repetition.start)
    for place, token in enumerate(groups[0]):
        if place:
            inner = [text[group[place - 1].end : group[place].start] for group in groups]
            literal, base = mark_inner_index(inner) or (inner[0], None)
            index_base = base if base is not None else index_base
            pieces += _split_index(literal)
        pieces.append(Slot(_SLOT_OF_TOKEN[token.kind]))
    pieces += _split_index(repetition.end)
    derivation.note("T2", f"calls are separated by {repetition.separator!r}", text)
    return CallsFinding(tuple(pieces), repetition, index_base, separator)


def why_unread(tokens: Sequence[Token], text: str) -> str:
    """Return why the calls of a turn can't be read from where their needles are; "" if they can."""
    groups = _by_call(tokens)
    if len(groups) != len({token.call for token in tokens}):
        return "the calls of a turn can't be told apart: what belongs to one doesn't stand together"
    if len({tuple(token.kind for token in group) for group in groups}) != 1:
        return "the calls of a turn can't be told apart: one shows something else than another"
    if tokens and not any(token.kind is TokenKind.ARGUMENTS for token in tokens):
        return "a call shows no arguments; an overlay can say, under tools, how the model writes it"
    return ""


def _by_call(tokens: Sequence[Token]) -> list[list[Token]]:
    return [list(group) for _, group in itertools.groupby(tokens, key=lambda token: token.call)]


def _separate_first(repetition: Repetition, betweens: Sequence[str]) -> tuple[str, Repetition]:
    """Return what separates the first two calls, and the repetition of those behind."""
    start, end = repetition.start, repetition.end
    separators = [text.removeprefix(end).removesuffix(start) for text in betweens]
    if len(set(separators[1:])) != 1:
        return repetition.separator, repetition
    return separators[0], replace(repetition, separator=separators[1])


def _split_index(text: str) -> list[Piece]:
    """Turn a text with `INDEX_MARK` in it into literals and an INDEX slot."""
    pieces: list[Piece] = []
    for number, part in enumerate(text.split(INDEX_MARK)):
        if number:
            pieces.append(Slot(SlotKind.INDEX))
        if part:
            pieces.append(Literal(part))
    return pieces


def mark_count(call: Sequence[Piece], lead: str) -> tuple[Piece, ...]:
    """Return the call with a COUNT slot in the place of the number 1 behind ``lead``."""
    pieces: list[Piece] = []
    for piece in call:
        before, found, after = piece.text.partition(f"{lead}1")
        if not found or Slot(SlotKind.COUNT) in pieces:
            pieces.append(piece)
            continue
        pieces += [Literal(before + lead), Slot(SlotKind.COUNT)]
        pieces += [Literal(after)] if after else []
    return tuple(pieces)


def call_id_position(call: Sequence[Piece]) -> CallIdPosition:
    """Return where a call's id stands among its name and arguments."""
    kinds = [piece.kind for piece in call if piece.kind]
    if SlotKind.ID not in kinds:
        return CallIdPosition.NONE
    place = kinds.index(SlotKind.ID)
    if SlotKind.ARGUMENTS in kinds and place > kinds.index(SlotKind.ARGUMENTS):
        return CallIdPosition.POST_ARGS
    if SlotKind.NAME in kinds and place < kinds.index(SlotKind.NAME):
        return CallIdPosition.PRE_FUNC_NAME
    return CallIdPosition.BETWEEN_FUNC_AND_ARGS


def find_fields(call: Sequence[Piece], arguments: Arguments) -> Fields | None:
    """Return the keys under which a JSON call holds its slots; None where the call isn't JSON.

    An object that holds only some of them is one slot's surroundings among others, and so is one
    behind a name: what says the name first is a head.
    """
    if arguments.item:
        return None
    fillers = {
        SlotKind.NAME: "nameqa",
        SlotKind.ID: "idqa",
        SlotKind.INDEX: "0",
        SlotKind.COUNT: "1",
        SlotKind.ARGUMENTS: '{"argqa": 1}',
    }
    text = filled(call, fillers)
    for match in re.finditer(r"\{", text.partition(fillers[SlotKind.NAME])[0]):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, match.start())
        except ValueError:
            continue
        fields = _fields_of(value)
        if fields is not None and bool(fields.id) == (Slot(SlotKind.ID) in call):
            return fields
    return None


def _fields_of(value: object) -> Fields | None:
    paths = dict(_paths(value, ()))
    arguments = next((path for path, leaf in paths.items() if path[-1:] == ("argqa",)), None)
    name = next((path for path, leaf in paths.items() if leaf == "nameqa"), None)
    identifier = next((path for path, leaf in paths.items() if leaf == "idqa"), ())
    if arguments is None:
        return None
    if name is not None:
        return Fields(name=name, arguments=arguments[:-1], id=identifier)
    if set(paths) == {("nameqa", "argqa")}:  # beside other members the key is one slot of several
        return Fields(name_is_key=True)
    return None


def _paths(value: object, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], object]]:
    if not isinstance(value, Mapping):
        return [(path, value)]
    return [item for key, inner in value.items() for item in _paths(inner, (*path, str(key)))]


def tool_mode(fields: Fields | None, arguments: Arguments) -> ToolMode:
    """Return the mode: name in JSON, arguments in JSON, or both in tags."""
    if fields is not None:
        return ToolMode.JSON_NATIVE
    return ToolMode.TAG_WITH_TAGGED if arguments.item else ToolMode.TAG_WITH_JSON


_LAST = Edge(Part.CALLS, Part.END)


def end_of_only_call(frames: Frames, edges: Edges, tail: str) -> str | None:
    """Return what ends a turn with one call, or None where several end it just so.

    ``edges`` are those of turns with several calls; ``tail`` is put behind every conversation.
    """
    text = frames.with_calls(1).edges().get(_LAST)
    only = None if text is None else text.removesuffix(tail)
    return None if only == edges.get(_LAST) else only


def find_after_first(
    calls: CallsFinding, only: str | None, section_end: str, end: str, derivation: Derivation
) -> AfterFirst | None:
    """Return what follows the first call (T5); None where all calls are followed by the same.

    Some templates close a section, or a turn, only behind several calls, or separate the first two
    otherwise than the rest.
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


def mark_last_index(frames: Frames) -> Frames:
    """Put `INDEX_MARK` in the place of the last call's index behind the calls of every turn (T2).

    That is as in ``end of call 2``, found in turns that differ in nothing but how many calls
    they have.
    """
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
