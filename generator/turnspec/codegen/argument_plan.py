"""The markers around a call's arguments where each argument stands alone."""

from __future__ import annotations

from collections.abc import Iterator

from turnspec.codegen.element_plan import NEWLINE, NEWLINE_TEXT, Around, element_sets
from turnspec.codegen.marker_plan import SPACE, Expression, Follows, Marker, MarkerPieces, words
from turnspec.codegen.slot_plan import literal_text, slotted
from turnspec.spec.characters import key_ends
from turnspec.spec.model import Encoding, JsonType, Literal, Slot, SlotKind, Tools

TEXT_END = Expression("_TEXT_END")


def has_quoted_strings(tools: Tools) -> bool:
    """Tell whether strings have no escapes, but those inside other values have."""
    values = tools.arguments.values
    inner = {values.get(JsonType.ARRAY), values.get(JsonType.OBJECT)}
    return (
        values.get(JsonType.STRING) is Encoding.QUOTED
        and Encoding.QUOTED not in inner
        and tools.arguments.syntax.quote in "'\""
    )


def structured_sets(
    tools: Tools, tail: tuple[MarkerPieces, ...], expressions: dict[str, str]
) -> dict[str, tuple[Marker, ...]]:
    """Return the markers around values that tell themselves where they end."""
    arguments = tools.arguments
    at = arguments.item.index(Slot(SlotKind.VALUE))
    opening = slotted(arguments.item[:at], expressions, "", key_ends(tools))
    closing = slotted(arguments.item[at + 1 :], expressions, "")
    done = tail[0] if tail else ()
    expressions["_SEPARATOR"] = r"[\s,;]{0,99}"
    separator = Expression("_SEPARATOR")
    endings = [*_without_arguments(tools, done), done]
    found = [
        Marker("done", tuple((separator, *pieces) for pieces in endings)),
        Marker("parameter", ((separator, *opening),)),
    ]
    # What ends the arguments comes first: it may look like the start of another one. Where nothing
    # ends them, they end at whatever else comes.
    if not done:
        found.reverse()
    if closing:
        found.append(Marker("close", ((SPACE, *closing),)))
    sets = {"_PARAMETERS": tuple(found)}
    if has_quoted_strings(tools):
        after = [pieces for pieces in (words(arguments.separator), done) if pieces]
        ahead = Follows(tuple((SPACE, *pieces) for pieces in ([closing] if closing else after)))
        sets["_QUOTED_END"] = (Marker("end", ((arguments.syntax.quote, ahead),)),)
    return sets


def _to_first_text(pieces: MarkerPieces) -> MarkerPieces:
    """Return a marker's pieces up to the first that is text: an argument may begin with its key."""
    texts = (at for at, piece in enumerate(pieces) if isinstance(piece, str))
    return pieces[: next(texts, len(pieces)) + 1]


def _without_arguments(tools: Tools, done: MarkerPieces) -> list[MarkerPieces]:
    """Return what stands where arguments would, up to the end of the call."""
    empty = words(tools.arguments.empty)
    return [(*empty, SPACE, *done) if done else empty] if empty else []


def _tails(tail: tuple[MarkerPieces, ...], following: list[MarkerPieces]) -> Iterator[MarkerPieces]:
    """Yield what ends a value that isn't closed: the rest of the call, and what follows calls."""
    for first in range(len(tail)):
        rest: MarkerPieces = ()
        for pieces in tail[first:]:
            rest = (*rest, SPACE, *pieces) if rest else pieces
        yield from ((*rest, SPACE, *pieces) for pieces in following)


def raw_sets(
    tools: Tools,
    tail: tuple[MarkerPieces, ...],
    openings: tuple[str, ...],
    ends: tuple[str, ...],
    expressions: dict[str, str],
) -> dict[str, tuple[Marker, ...]]:
    """Return the markers around values that are raw text."""
    item = tools.arguments.item
    at = item.index(Slot(SlotKind.VALUE))
    opening = slotted(item[:at], expressions, "", key_ends(tools))
    done = tail[0] if tail else ()
    if literal_text(item[at - 1]).endswith("\n"):
        opening = (*opening, NEWLINE)
    first = _to_first_text(opening)
    others = [*tail[1:], *map(words, [*tools.section_ends, *openings, *ends])]
    others = [pieces for pieces in others if pieces and pieces != first]
    behind = item[at + 1 :] or (Literal(tools.arguments.separator),)
    before_close = (NEWLINE,) if literal_text(behind[0]).startswith("\n") else ()
    closing = slotted(behind, expressions, "")
    following = [pieces for pieces in (first, done, *others) if pieces]
    ahead = Follows(tuple((SPACE, *pieces) for pieces in following))

    def value(*guard_end: str) -> tuple[Marker, ...]:
        found = [Marker("close", ((*guard_end, *before_close, *closing, ahead),))]
        if "_KEY_AGAIN" not in expressions and (guard_end or closing):
            found.append(Marker("inner", ((*guard_end, *closing),)))
        if tail:
            over = Follows(tuple(_tails(tail, [*others, (TEXT_END,)])))
            found.append(Marker("tail", ((*guard_end, *before_close, over),)))
            expressions["_TEXT_END"] = r"\Z"
            if not guard_end:
                found.append(Marker("next", ((NEWLINE, *opening),)))
        if ends:
            expressions["_NEVER"] = r"(?!)"
            ending = ((*words(end), SPACE, Expression("_NEVER")) for end in ends)
            found.append(Marker("ending", tuple(ending)))
        return tuple(found)

    if tail or NEWLINE in opening or before_close:
        expressions["_NEWLINE"] = NEWLINE_TEXT
    endings = [*_without_arguments(tools, done), done] if done else []
    parameters = [Marker("done", tuple(endings))] if done else []
    parameters.append(Marker("parameter", (opening,)))
    if others:
        parameters.append(Marker("broken", tuple(others)))
    sets = {"_PARAMETERS": tuple(parameters), "_VALUE": value()}
    if guard := tools.arguments.guard:
        sets["_GUARD"] = (Marker("guard", ((guard.start,),)),)
        sets["_GUARDED_VALUE"] = value(guard.end)
    if elements := tools.arguments.elements:
        tails = tuple(_tails(tail, [*others, (TEXT_END,)]))
        around = Around(opening, (*before_close, *closing), ahead, done, tails, ends)
        sets |= element_sets(tools.arguments, elements, around, expressions)
    return sets
