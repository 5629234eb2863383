"""Calls whose name stands in tags: the markers before the name, and what closes a call."""

from __future__ import annotations

from dataclasses import dataclass

from turnspec.codegen.argument_plan import has_quoted_strings, raw_sets, structured_sets
from turnspec.codegen.call_plan import CallPlan, dialect
from turnspec.codegen.element_plan import plan_elements
from turnspec.codegen.marker_plan import (
    SPACE,
    Expression,
    Follows,
    Marker,
    MarkerPieces,
    looks_like_head,
    looks_like_marker,
    mentions,
    opening_literal,
    tags,
    words,
)
from turnspec.codegen.slot_plan import literal_text, numbered, slotted
from turnspec.spec.characters import arguments_begin, ends_itself
from turnspec.spec.model import Encoding, Literal, Piece, Slot, SlotKind, ToolMode, Tools
from turnspec.spec.turn_end import without_stop

_ARGUMENTS = Slot(SlotKind.ARGUMENTS)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A call taken apart: ``head`` is where it is told from other text, ``wraps`` stand before."""

    head: tuple[Piece, ...]
    wraps: tuple[str, ...]
    after: tuple[Piece, ...]
    tail: tuple[MarkerPieces, ...]  # the tags that close it
    closers: tuple[str, ...]  # the same, without those that have a slot in them
    in_section: bool  # calls are recognised only in their section


def plan_tags(
    tools: Tools,
    ends: tuple[str, ...],
    stop: tuple[str, ...],
    reasoning_end: str,
    others: tuple[tuple[Piece, ...], ...] = (),
) -> CallPlan:
    """Return the plan for reading calls whose name stands in tags.

    ``ends`` are the markers that end a turn, ``stop`` its stop strings; ``reasoning_end`` may close
    calls as well. ``others`` are other ways in which a call may be written.
    """
    shape = _shape(tools)
    expressions: dict[str, str] = {}
    tagged = tools.mode is ToolMode.TAG_WITH_TAGGED
    head = slotted(shape.head, expressions, arguments_begin(tools))
    heads = [head, *_other_heads(tools, others, expressions)]
    heads = [
        (
            pieces
            if isinstance(pieces[-1], str)
            else (*pieces, Follows(_after_name(tools, shape, tagged)))
        )
        for pieces in heads
    ]
    if tagged:
        sets = _argument_sets(tools, shape, ends, expressions)
    else:
        sets = _tail_set(shape, expressions, _behind(tools, stop), reasoning_end)
    if any(Expression("_CLOSED") in pieces for pieces in shape.tail):
        expressions["_CLOSED"] = r"[^\s<>]{0,256}"
    if shape.in_section:
        expressions["_SEPARATOR"] = r"[\s,;]{0,99}"
        sets["_SECTION"] = _section(tools, heads)
    return CallPlan(
        kind="tagged" if tagged else "json",
        text=(*_opening_markers(shape, heads), *_closing_markers(tools, shape, others, stop)),
        sets=sets,
        expressions=expressions,
        wrap=shape.wraps[0] if shape.wraps and not shape.in_section else "",
        in_section=shape.in_section,
        structured=not tagged or ends_itself(tools),
        head_slots=_slot_names(shape.head),
        tail_slots=_slot_names(shape.after) if "_TAIL" in sets else frozenset(),
        type_words=_type_words(tools),
        python_values=Encoding.PYTHON in tools.arguments.values.values(),
        guarded="_GUARD" in sets,
        key_closes="_KEY_AGAIN" in expressions,
        dialect=dialect(tools),
        quote=tools.arguments.syntax.quote,
        quoted_strings=has_quoted_strings(tools),
        name_groups=("name", *(f"name_{number}" for number in range(2, len(heads) + 1))),
        elements=plan_elements(tools.arguments),
    )


def _other_heads(
    tools: Tools, others: tuple[tuple[Piece, ...], ...], expressions: dict[str, str]
) -> list[MarkerPieces]:
    """Return the beginnings of other ways to write a call, each with groups of its own."""
    heads = []
    for number, pieces in enumerate(others, 2):
        own: dict[str, str] = {}
        head = pieces[: pieces.index(_ARGUMENTS)]
        heads.append(numbered(slotted(head, own, arguments_begin(tools)), own, number, expressions))
    return heads


def _shape(tools: Tools) -> _Shape:
    at = tools.call.index(_ARGUMENTS)
    head, after = tools.call[:at], tools.call[at + 1 :]
    tagged = tools.mode is ToolMode.TAG_WITH_TAGGED
    head_text = literal_text(head[0])
    head_tags = tags(head_text)
    section = [tools.section_start.strip()] if tools.section_start.strip() else []
    distinctive = any(looks_like_head(literal_text(piece)) for piece in head) or not section
    between = (tools.separator, tools.section_end)
    lost = any(text.strip() and not looks_like_marker(text) for text in between)
    in_section = not head_tags or not distinctive or (bool(section) and lost)
    if not in_section:
        head = (Literal(head_text[head_text.rindex(head_tags[-1]) :]), *head[1:])
    if tagged and tools.arguments.start.strip():
        head = (*head, Literal(tools.arguments.start))
    closing = "".join(map(literal_text, after))
    closers = tags(tools.arguments.end + closing if tagged else closing)
    named = tagged and any(isinstance(piece, Slot) for piece in after)
    return _Shape(
        head=head,
        wraps=tuple(section if in_section else section + head_tags[:-1]),
        after=after,
        tail=_named_tail(tools, after) if named else tuple(map(words, closers)),
        closers=() if named else tuple(closers),
        in_section=in_section,
    )


def _named_tail(tools: Tools, after: tuple[Piece, ...]) -> tuple[MarkerPieces, ...]:
    """Return what closes a call with a slot in it, such as the name once more."""
    pieces: list[str | Expression | Follows] = []
    for piece in (Literal(tools.arguments.end), *after):
        pieces += words(piece.text) if isinstance(piece, Literal) else [Expression("_CLOSED")]
    return (tuple(pieces),)


def _opening_markers(shape: _Shape, heads: list[MarkerPieces]) -> list[Marker]:
    """Return what opens calls, each only if a call follows, and a mention of the first."""
    found = []
    for index, wrap in enumerate(shape.wraps):
        following = [words(inner) for inner in shape.wraps[index + 1 :]] + heads
        ahead = Follows(tuple((SPACE, *pieces) for pieces in following))
        found.append(Marker("open" if index else "wrap", ((*words(wrap), ahead),)))
    if not shape.in_section:
        found.append(Marker("call", tuple(heads)))
    first = words(shape.wraps[0] if shape.wraps else opening_literal(heads[0]))
    return found + mentions(first)


def _closing_markers(
    tools: Tools, shape: _Shape, others: tuple[tuple[Piece, ...], ...], stop: tuple[str, ...]
) -> list[Marker]:
    """Return what closes calls; the last one closes what was opened around them."""
    section_end = tools.section_end.strip()
    tails = [tag for pieces in others for tag in tags(literal_text(pieces[-1]))]
    closers = [tag for tag in tails if tag not in shape.closers] + [*shape.closers]
    closers += [section_end] if tools.section_start.strip() else []
    closers = [literal for literal in closers if looks_like_marker(literal)]
    ends_section = bool(tools.section_start.strip() and section_end)
    found = []
    if shape.wraps and len(closers) > (0 if ends_section else 1):
        lasts = [closers.pop(), *filter(looks_like_marker, tools.section_ends[1:])]
        lasts += filter(None, [without_stop(lasts[0], stop)])
        alternatives = [words(text) for last in lasts for text in (last, last.lstrip("]})"))]
        found.append(Marker("unwrap", tuple(dict.fromkeys(alternatives))))
    # A bracket before a closing tag may be missing.
    closers += [tag for literal in closers if (tag := literal.lstrip("]})")) != literal]
    if closers:
        found.append(Marker("close", tuple(map(words, closers))))
    return found


def _argument_sets(
    tools: Tools, shape: _Shape, ends: tuple[str, ...], expressions: dict[str, str]
) -> dict[str, tuple[Marker, ...]]:
    if ends_itself(tools):
        return structured_sets(tools, shape.tail, expressions)
    openings = shape.wraps or (opening_literal(words(literal_text(shape.head[0]))),)
    return raw_sets(tools, shape.tail, openings, ends, expressions)


def _section(tools: Tools, heads: list[MarkerPieces]) -> tuple[Marker, ...]:
    found = [Marker("call", tuple((Expression("_SEPARATOR"), *head) for head in heads))]
    if unwraps := [words(text) for text in tools.section_ends if text.strip()]:
        found.append(Marker("unwrap", tuple((SPACE, *unwrap) for unwrap in unwraps)))
    return tuple(found)


def opening_words(head: tuple[Piece, ...]) -> MarkerPieces:
    """Return the text with which a call begins."""
    return words(literal_text(head[0]))


def _slot_names(pieces: tuple[Piece, ...]) -> frozenset[str]:
    return frozenset(piece.kind.value.lower() for piece in pieces if isinstance(piece, Slot))


def _after_name(tools: Tools, shape: _Shape, tagged: bool) -> tuple[MarkerPieces, ...]:
    """Return what can follow a name that no literal closes.

    Where nothing closes a call either, that is all that can follow one without arguments.
    """
    if not tagged:
        return ((SPACE, "{"), (SPACE, '"{'))
    opening = words(literal_text(tools.arguments.item[0]))[:1]
    behind = (words(tools.section_end), opening_words(shape.head))
    following = (opening, words(tools.arguments.empty), *(shape.tail or behind))
    return tuple((SPACE, *pieces) for pieces in following if pieces)


def _tail_set(
    shape: _Shape, expressions: dict[str, str], behind: str, reasoning_end: str
) -> dict[str, tuple[Marker, ...]]:
    """Return what follows JSON arguments, where it isn't one of the markers in text."""
    text = "".join(map(literal_text, shape.after)).strip()
    slots = any(isinstance(piece, Slot) for piece in shape.after)
    elsewhere = looks_like_marker(text) and text != reasoning_end and not shape.in_section
    if not slots and (not text or elsewhere):
        return {}
    return {"_TAIL": (Marker("tail", ((SPACE, *slotted(shape.after, expressions, behind)),)),)}


def _behind(tools: Tools, stop: tuple[str, ...]) -> str:
    """Return the signs with which what follows a call can begin; a tag can follow any."""
    texts = [text for text in (tools.separator, tools.section_end, *stop) if text.strip()]
    firsts = dict.fromkeys(text.strip()[0] for text in texts)
    signs = "".join(first for first in firsts if not first.isalnum())
    spaced = any(text[0].isspace() for text in texts)
    return "<" + signs.replace("<", "") + (" " if spaced else "")


def _type_words(tools: Tools) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for json_type, word in tools.arguments.types.items():
        found[word] = (*found.get(word, ()), json_type.value)
    return found
