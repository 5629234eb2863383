"""Spec -> the part of a format table that says how a call's arguments are written."""

from __future__ import annotations

import re

from turnspec.codegen.format import ArgumentsFormat, ElementsFormat, ValuesFormat
from turnspec.codegen.markers import excluded
from turnspec.codegen.notation import (
    before_value,
    behind_value,
    literal_text,
    notation,
    slotted,
    with_optional_end,
)
from turnspec.codegen.shapes import looks_like_marker
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


def arguments_table(tools: Tools) -> ArgumentsFormat:
    """Return how the arguments of calls are written."""
    arguments = tools.arguments
    if not arguments.item:
        return {"form": "json", "values": _values(arguments)}
    is_structured = ends_itself(tools)
    found = _value_arguments(arguments) if is_structured else _text_arguments(arguments)
    # What the engine wouldn't see from the marker alone is written into it.
    known = excluded(("{comma}" if is_structured else "") + found["start"], "key")
    if others := "".join(sign for sign in key_ends(tools) if sign not in known + "{}"):
        found["start"] = found["start"].replace("{key}", f"{{key but {others}}}")
    return found


def _value_arguments(arguments: Arguments) -> ArgumentsFormat:
    opening, closing = _opening(arguments.item), _closing(arguments.item)
    return {
        "form": "values",
        "start": re.sub(r"(?<=\})([=:])$", r" \1", slotted(opening)),  # blanks around the sign
        "end": slotted(closing),
        "separator": notation(arguments.separator),
        "empty": notation(arguments.empty),
        "values": _values(arguments),
    }


def _text_arguments(arguments: Arguments) -> ArgumentsFormat:
    keyed = arguments.item[0] == _KEY
    closing = _closing(arguments.item) or (Literal("" if keyed else arguments.separator),)
    found: ArgumentsFormat = {
        "form": "text",
        "start": with_optional_end(before_value(_opening(arguments.item))),
        "end": behind_value(closing),
        "empty": notation(arguments.empty),
        "literals": "python" if has_python_words(arguments) else "json",
        "types": _types(arguments),
    }
    if keyed and arguments.separator.strip():
        found["separator"] = notation(arguments.separator)
    if arguments.guard:
        found["guard"] = [notation(arguments.guard.start), notation(arguments.guard.end)]
    if arguments.escapes:
        found["key_escapes"] = {text: sign for sign, text in arguments.escapes.items()}
    if arguments.value_escapes:
        found["value_escapes"] = {text: sign for sign, text in arguments.value_escapes.items()}
    if arguments.elements:
        found["elements"] = _elements(arguments, arguments.elements)
    return found


def _types(arguments: Arguments) -> dict[str, list[str]]:
    """Return the JSON types by the words that a format writes for them."""
    found: dict[str, list[str]] = {}
    for json_type, word in arguments.types.items():
        found.setdefault(word, []).append(json_type.value)
    return found


def _values(arguments: Arguments) -> ValuesFormat:
    """Return how values differ from JSON; where types do, it is what reads them all."""
    quote = arguments.syntax.quote
    if has_raw_strings(arguments):
        return {"escapes": "python", "raw_quote": quote}
    found = set(arguments.values.values()) if arguments.item else {arguments.syntax.encoding}
    if Encoding.QUOTED in found:
        return {"raw_quote": quote, "raw_inside": True}
    if Encoding.PYTHON in found:
        return {"escapes": "python"}
    return {"escapes": "json"} if arguments.syntax.python_words else {}


def has_python_words(arguments: Arguments) -> bool:
    """Tell whether a text may be a literal of Python."""
    return Encoding.PYTHON in arguments.values.values() or arguments.syntax.python_words


def has_raw_strings(arguments: Arguments) -> bool:
    """Tell whether strings have no escapes, but those inside other values have."""
    values = arguments.values
    inner = {values.get(JsonType.ARRAY), values.get(JsonType.OBJECT)}
    is_quoted = values.get(JsonType.STRING) is Encoding.QUOTED
    return is_quoted and Encoding.QUOTED not in inner and arguments.syntax.quote in "'\""


def _elements(arguments: Arguments, elements: Elements) -> ElementsFormat:
    """Return how arrays and objects are written as elements."""
    member, element = elements.member, elements.element
    start = before_value(_opening(member))
    if sign := _closing_sign(member):
        start = start.replace("{key}", f"{{no {sign}}}{{key}}")
    found: ElementsFormat = {
        "member_start": start,
        "member_end": behind_value(_closing(member)),
        "separator": elements.separator.strip(),
        "distinct": all(looks_like_marker(literal_text(pieces[0])) for pieces in (member, element)),
    }
    if key := _key_of_element(elements):
        found["element_key"] = key
    else:
        found["element_start"] = before_value(_opening(element))
        found["element_end"] = behind_value(_closing(element))
    lead = _lead(arguments, elements)
    if lead is not None:
        found["lead"] = notation(lead)
    return found


def _lead(arguments: Arguments, elements: Elements) -> str | None:
    """Return what stands before an argument's beginning in a member's; None if they differ."""
    item, member = _opening(arguments.item), _opening(elements.member)
    first, text = literal_text(item[0]), literal_text(member[0])
    if item[1:] != member[1:] or not text.endswith(first):
        return None
    return text.removesuffix(first)


def _key_of_element(elements: Elements) -> str:
    """Return the key with which a member looks like an array's element, or "" if none does."""
    expression = ""
    for piece in elements.member:
        if isinstance(piece, Literal):
            expression += re.escape(piece.text)
        elif piece == _VALUE:
            expression += "\0"
        else:
            expression += "(?P=key)" if "(?P<key>" in expression else "(?P<key>[^<>\"']+)"
    written = "".join(literal_text(piece) or "\0" for piece in elements.element)
    match = re.fullmatch(expression, written)
    return match["key"] if match else ""


def _closing_sign(member: tuple[Piece, ...]) -> str:
    """Return what tells a closing tag from an opening one, where it goes on as that begins."""
    opening, closing = literal_text(member[0]), literal_text(_closing(member)[0]).lstrip()
    sign = closing.removeprefix(opening.lstrip())
    return sign if sign != closing else ""


def _opening(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    return pieces[: pieces.index(_VALUE)]


def _closing(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    return pieces[pieces.index(_VALUE) + 1 :]
