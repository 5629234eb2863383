"""Spec -> the markers of a call's arguments, and how their values differ from JSON."""

from __future__ import annotations

import re
from dataclasses import replace

from turnspec.codegen.markers import excluded
from turnspec.codegen.marks import ArgumentMarks, ValueStyle
from turnspec.codegen.notation import before_value, behind_value, notation, slotted
from turnspec.spec.calls import Arguments, Literal, Piece, Slot, Tools
from turnspec.spec.characters import ends_itself, key_ends
from turnspec.spec.words import Encoding, JsonType, SlotKind

Pieces = tuple[Piece, ...]


def argument_marks(tools: Tools) -> ArgumentMarks:
    """Return how the arguments of calls are written."""
    arguments = tools.arguments
    if not arguments.item:
        return ArgumentMarks("json", style=_style(arguments))
    is_structured = ends_itself(tools)
    found = _of_values(arguments) if is_structured else _of_texts(arguments)
    # What the engine wouldn't see from the marker alone is written into it.
    known = excluded(("{comma}" if is_structured else "") + found.start, "key") + "{}"
    if others := "".join(sign for sign in key_ends(tools) if sign not in known):
        return replace(found, start=found.start.replace("{key}", f"{{key but {others}}}"))
    return found


def _of_values(arguments: Arguments) -> ArgumentMarks:
    opening, closing = around_value(arguments.item)
    return ArgumentMarks(
        form="values",
        # Blanks may be around the sign, and any comma may stand before an argument.
        start=re.sub(r"(?<=\})([=:])$", r" \1", slotted(opening)).lstrip(",; "),
        end=slotted(closing),
        separator=notation(arguments.separator),
        empty=notation(arguments.empty),
        style=_style(arguments),
    )


def _of_texts(arguments: Arguments) -> ArgumentMarks:
    opening, closing = around_value(arguments.item)
    keyed = arguments.item[0] == Slot(SlotKind.KEY)
    start = _with_optional_end(before_value(opening))
    end = behind_value(closing or (Literal("" if keyed else arguments.separator),))
    types = " ".join(dict.fromkeys(arguments.types.values()))
    if re.fullmatch(r"[\w ]+", types):  # no other tag ends a value
        end = end.replace("{type}", f"{{nothing but {types}}}")
    return ArgumentMarks(
        form="text",
        start=re.sub(r"(?<=[=>])\{key\}(?=[<>])", " {key} ", start),  # blanks are none of a key
        end=end,
        separator=notation(arguments.separator) if keyed else "",
        empty=notation(arguments.empty),
    )


def _with_optional_end(marker: str) -> str:
    """Return a marker whose last tag may be missing, if there are others that don't hold it."""
    match = re.search(r"(?<=[>\]]) ?((?:<[^<>{}\s]+>|\[[^\[\]{}\s]+\]))(\n?)$", marker)
    if match is None:
        return marker
    return marker[: match.start(1)].rstrip() + f" {{?{match[1]}}}{match[2]}"


def _style(arguments: Arguments) -> ValueStyle | None:
    """Return how values differ from JSON; where types do, it is what reads them all."""
    quote = arguments.syntax.quote
    if has_raw_strings(arguments):
        return ValueStyle(quote, has_python_escapes=True)
    found = set(arguments.values.values()) if arguments.item else {arguments.syntax.encoding}
    is_quoted = Encoding.QUOTED in found
    if is_quoted and not arguments.syntax.one_quote:
        return ValueStyle(quote, is_raw_inside=True)
    is_python = Encoding.PYTHON in found
    # A value by itself may be written in single quotes, behind which no JSON goes on.
    differs = is_python or is_quoted or arguments.syntax.python_words or arguments.item
    return ValueStyle(has_python_escapes=is_python) if differs else None


def has_python_words(arguments: Arguments) -> bool:
    """Tell whether a text may be a literal of Python."""
    return Encoding.PYTHON in arguments.values.values() or arguments.syntax.python_words


def has_raw_strings(arguments: Arguments) -> bool:
    """Tell whether strings have no escapes, but those inside other values have."""
    values = arguments.values
    inner = {values.get(JsonType.ARRAY), values.get(JsonType.OBJECT)}
    is_quoted = values.get(JsonType.STRING) is Encoding.QUOTED
    is_usual = not arguments.syntax.quote.strip("'\"")  # one of Python's, of three signs too
    return is_quoted and Encoding.QUOTED not in inner and is_usual


def around_value(pieces: Pieces) -> tuple[Pieces, Pieces]:
    """Return what stands before a value, and what stands behind it."""
    at = pieces.index(Slot(SlotKind.VALUE))
    return pieces[:at], pieces[at + 1 :]
