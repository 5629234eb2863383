"""Calls that are JSON objects: the markers around them, and the keys inside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turnspec.codegen.call_plan import CallPlan, dialect
from turnspec.codegen.marker_plan import (
    SPACE,
    Expression,
    Follows,
    Marker,
    MarkerPieces,
    looks_like_marker,
    mentions,
    words,
)
from turnspec.codegen.slot_plan import literal_text
from turnspec.spec.model import Literal, Piece, Slot, SlotKind, Tools

_JSON_OPENING = re.compile(r'[\[{](?:[\s\[\]{}:,]|"[^"]*"|true|false|null|\d)*"?$')
_BRACKET = Expression("_BRACKET")
_COMMA = Expression("_COMMA")

#: The beginning of a code block, which models like to put around JSON.
_FENCE = r"(?:`{1,3}\w{0,9}\s{0,99})?"

#: How chat-completions APIs wrap a call; models that have seen many do so where it isn't asked for.
_API_WRAPPER = "function"


def plan_native(tools: Tools, others: tuple[tuple[Piece, ...], ...] = ()) -> CallPlan:
    """Return the plan for reading calls that are JSON objects.

    ``others`` are other ways in which a call may be written: what they have before the object.
    """
    section = _before_json(tools.section_start)
    call = _before_json(literal_text(tools.call[0]))
    closing = (literal_text(tools.call[-1]), *tools.section_ends)
    closers = [literal for text in closing if (literal := _after_json(text))]
    keys = _keys(tools)
    bare = not (section or call)
    openings = [words(_before_json(literal_text(pieces[0]))) for pieces in others]
    text = _opening_markers(section, call, openings)
    if bare and not tools.fields.name_is_key:
        text = [*_announced(openings, keys), Marker("object", tuple(_object_heads(keys)))]
    stray = [words(literal) for literal in closers if looks_like_marker(literal)]
    if stray:
        text.append(Marker("close", tuple(stray)))
    return CallPlan(
        kind="native",
        text=tuple(text),
        sets={"_OBJECTS": _objects(section, call, closers), "_MEMBER": _members()},
        expressions={
            "_SEPARATOR": rf"[\s,;]{{0,99}}{_FENCE}\[?\s{{0,99}}",
            "_BRACKET": rf"\s{{0,99}}{_FENCE}\[?\s{{0,99}}",
            "_COMMA": r"[\s,]{0,99}",
            "_BRACKETS": r"\s{0,99}[}\]`][\s}\]`]{0,99}",
        },
        bare=bare,
        structured=True,
        keys=keys,
        name_is_key=tools.fields.name_is_key,
        in_array=tools.section_start.rstrip().endswith("["),
        wrapped_object=_API_WRAPPER in _literal_keys(tools),
        arguments_first=_arguments_first(tools),
        dialect=dialect(tools),
        quote=tools.arguments.syntax.quote,
    )


def _opening_markers(section: str, call: str, others: list[MarkerPieces]) -> list[Marker]:
    """Return what opens calls: a marker only if one follows, else a mention of it."""
    opening = section or call
    if not opening:
        return []
    following: list[MarkerPieces] = [(_BRACKET, "{")]
    if section and call:
        following.append((SPACE, *words(call)))
    openings = [words(opening), *others]
    wraps = tuple((*pieces, Follows(tuple(following))) for pieces in openings)
    return [Marker("wrap", wraps), *mentions(words(opening))]


def _object_heads(keys: dict[str, tuple[str, ...]]) -> list[MarkerPieces]:
    """Return how a call begins that no marker announces: with one of the keys it can have."""
    known = dict.fromkeys([key for names in keys.values() for key in names] + [_API_WRAPPER])
    heads: list[MarkerPieces] = [("{", SPACE, f'"{key}"') for key in known]
    return heads + [("[", SPACE, *head) for head in heads]


def _announced(openings: list[MarkerPieces], keys: dict[str, tuple[str, ...]]) -> Iterator[Marker]:
    """Yield what may stand before a call that needs no announcement."""
    heads = Follows(tuple((SPACE, *head) for head in _object_heads(keys)))
    if openings:
        yield Marker("wrap", tuple((*opening, heads) for opening in openings))


def _objects(section: str, call: str, closers: list[str]) -> tuple[Marker, ...]:
    found = [
        Marker("object", ((Expression("_SEPARATOR"), "{"),)),
        Marker("array_end", ((SPACE, "]"),)),
    ]
    if section and call:
        found.append(Marker("open", ((SPACE, *words(call)),)))
    if closers:
        ahead = Follows(tuple((SPACE, *words(literal)) for literal in closers))
        found.append(Marker("extra", ((Expression("_BRACKETS"), ahead),)))
        found.append(Marker("close", tuple((SPACE, *words(literal)) for literal in closers)))
    return tuple(found)


def _members() -> tuple[Marker, ...]:
    wrapper = (_COMMA, f'"{_API_WRAPPER}"', SPACE, ":", SPACE, "{")
    member = (_COMMA, '"', Expression("_KEY_TEXT"), '"', SPACE, ":")
    return (
        Marker("wrapper", (wrapper,)),
        Marker("member", (member,)),
        Marker("close", ((_COMMA, "}"),)),
    )


def _keys(tools: Tools) -> dict[str, tuple[str, ...]]:
    """Return the keys of a call object by what they stand for; the others mean nothing here."""
    fields = tools.fields
    named = {
        "_NAME_KEYS": fields.name[-1:],
        "_ARGUMENTS_KEYS": fields.arguments[-1:],
        "_ID_KEYS": fields.id[-1:],
    }
    known = {key for keys in named.values() for key in keys} | {_API_WRAPPER}
    others = dict.fromkeys(["type", *_literal_keys(tools)])
    return {**named, "_OTHER_KEYS": tuple(key for key in others if key not in known)}


def _literal_keys(tools: Tools) -> list[str]:
    literals = " ".join(piece.text for piece in tools.call if isinstance(piece, Literal))
    return re.findall(r'"(\w+)"\s*:', literals)


def _arguments_first(tools: Tools) -> bool:
    order = [piece.kind for piece in tools.call if isinstance(piece, Slot)]
    return order.index(SlotKind.ARGUMENTS) < order.index(SlotKind.NAME)


def _before_json(text: str) -> str:
    match = _JSON_OPENING.search(text)
    return (text[: match.start()] if match else text).strip()


def _after_json(text: str) -> str:
    return text.lstrip(' \t\r\n"}]').rstrip()
