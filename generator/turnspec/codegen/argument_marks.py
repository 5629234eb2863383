"""Spec -> the markers of a call's arguments, and how their values differ from JSON."""

from __future__ import annotations

import re
from dataclasses import replace

from turnspec.codegen.markers import excluded
from turnspec.codegen.marks import ArgumentMarks, ElementMarks, ValueStyle
from turnspec.codegen.notation import (
    before_value,
    behind_value,
    notation,
    slotted,
    with_optional_end,
)
from turnspec.spec.characters import ends_itself, key_ends
from turnspec.spec.model import (
    Arguments,
    Elements,
    Encoding,
    JsonType,
    Literal,
    Piece,
    Slot,
    SlotKind,
    Tools,
)

_KEY, _VALUE = Slot(SlotKind.KEY), Slot(SlotKind.VALUE)

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
    opening, closing = _around_value(arguments.item)
    return ArgumentMarks(
        form="values",
        start=re.sub(r"(?<=\})([=:])$", r" \1", slotted(opening)),  # blanks around the sign
        end=slotted(closing),
        separator=notation(arguments.separator),
        empty=notation(arguments.empty),
        style=_style(arguments),
    )


def _of_texts(arguments: Arguments) -> ArgumentMarks:
    opening, closing = _around_value(arguments.item)
    keyed, guard = arguments.item[0] == _KEY, arguments.guard
    return ArgumentMarks(
        form="text",
        start=with_optional_end(before_value(opening)),
        end=behind_value(closing or (Literal("" if keyed else arguments.separator),)),
        separator=notation(arguments.separator) if keyed else "",
        empty=notation(arguments.empty),
        guard=(notation(guard.start), notation(guard.end)) if guard else (),
        elements=_elements(arguments, arguments.elements) if arguments.elements else None,
    )


def _style(arguments: Arguments) -> ValueStyle | None:
    """Return how values differ from JSON; where types do, it is what reads them all."""
    quote = arguments.syntax.quote
    if has_raw_strings(arguments):
        return ValueStyle(quote, has_python_escapes=True)
    found = set(arguments.values.values()) if arguments.item else {arguments.syntax.encoding}
    if Encoding.QUOTED in found:
        return ValueStyle(quote, is_raw_inside=True)
    is_python = Encoding.PYTHON in found
    differs = is_python or arguments.syntax.python_words
    return ValueStyle(has_python_escapes=is_python) if differs else None


def has_python_words(arguments: Arguments) -> bool:
    """Tell whether a text may be a literal of Python."""
    return Encoding.PYTHON in arguments.values.values() or arguments.syntax.python_words


def has_raw_strings(arguments: Arguments) -> bool:
    """Tell whether strings have no escapes, but those inside other values have."""
    values = arguments.values
    inner = {values.get(JsonType.ARRAY), values.get(JsonType.OBJECT)}
    is_quoted = values.get(JsonType.STRING) is Encoding.QUOTED
    return is_quoted and Encoding.QUOTED not in inner and arguments.syntax.quote in "'\""


def _elements(arguments: Arguments, elements: Elements) -> ElementMarks:
    opening, closing = _around_value(elements.member)
    start = before_value(opening)
    if sign := _closing_sign(opening, closing):
        start = start.replace("{key}", f"{{no {sign}}}{{key}}")
    before, behind = _around_value(elements.element)
    is_own = not element_key(elements)
    return ElementMarks(
        member_start=start,
        member_end=behind_value(closing),
        element_start=before_value(before) if is_own else "",
        element_end=behind_value(behind) if is_own else "",
        separator=elements.separator.strip(),
        lead=_lead(_around_value(arguments.item)[0], opening),
    )


def _lead(item: Pieces, member: Pieces) -> str | None:
    """Return what stands before an argument's beginning in a member's; None if they differ."""
    first, text = item[0].text, member[0].text
    if item[1:] != member[1:] or not text.endswith(first):
        return None
    return notation(text.removesuffix(first))


def element_key(elements: Elements) -> str:
    """Return the key with which a member looks like an array's element, or "" if none does."""
    expression = ""
    for piece in elements.member:
        if isinstance(piece, Literal):
            expression += re.escape(piece.text)
        elif piece == _VALUE:
            expression += "\0"
        else:
            expression += "(?P=key)" if "(?P<key>" in expression else "(?P<key>[^<>\"']+)"
    written = "".join(piece.text or "\0" for piece in elements.element)
    match = re.fullmatch(expression, written)
    return match["key"] if match else ""


def _closing_sign(opening: Pieces, closing: Pieces) -> str:
    """Return what tells a closing tag from an opening one, where it goes on as that begins."""
    before, behind = opening[0].text.lstrip(), closing[0].text.lstrip()
    sign = behind.removeprefix(before)
    return sign if sign != behind else ""


def _around_value(pieces: Pieces) -> tuple[Pieces, Pieces]:
    at = pieces.index(_VALUE)
    return pieces[:at], pieces[at + 1 :]
