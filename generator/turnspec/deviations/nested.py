"""Arrays and objects as elements within elements: what is between them, missing or in disorder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from turnspec.deviations.turns import Case, Format
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.calls import Elements, Literal, Piece, Slot
from turnspec.spec.message import Call, Message
from turnspec.spec.words import SlotKind

_KNOWN: dict[str, object] = {
    "trips": [{"town": "Rome", "days": 3}, {"town": "Oslo", "days": 5}],
    "from": {"town": "Bern"},
    "unit": "km",
}


def white_space(form: Format) -> Iterator[Case]:
    """White space stands before and behind every element."""
    if (elements := _elements(form)) is None:
        return
    for space in ("\n", "\r\n  ", " "):
        spaced = Elements(
            _spaced(elements.member, space), _spaced(elements.element, space), elements.separator
        )
        arguments = replace(form.tools.arguments, elements=spaced)
        text = _text(form.with_tools(arguments=arguments), _KNOWN)
        yield _case(form, text, _KNOWN)


def unknown_key(form: Format) -> Iterator[Case]:
    """An object has a member that its schema doesn't know: it stays a string."""
    if _elements(form):
        known = {"trips": [{"odd": "3", "town": "Rome"}]}
        yield _case(form, _text(form, known), known, "unknown_argument")


def not_closed(form: Format) -> Iterator[Case]:
    """The closing tag of a text, of an element or of all elements is missing."""
    if (elements := _elements(form)) is None:
        return
    text = _text(form, _KNOWN)
    member, element = _closing(elements.member, "town"), _closing(elements.element, "")
    days = _closing(elements.member, "days")
    for missing in (f"Rome{member}", f"5{days}{element}", f"3{days}{element}"):
        kept = missing.removesuffix(element if missing.endswith(element) else member)
        yield _case(form, text.replace(missing, kept), _KNOWN, "missing_marker")


def wrong_order(form: Format) -> Iterator[Case]:
    """What is around a text is closed before it."""
    if (elements := _elements(form)) is None:
        return
    known = {"trips": [{"town": "Rome"}], "unit": "km"}
    member, element = _closing(elements.member, "town"), _closing(elements.element, "")
    text = _text(form, known).replace(member + element, element + member)
    yield _case(form, text, known, "missing_marker", "stray_marker")


def wrong_type_inside(form: Format) -> Iterator[Case]:
    """A value inside isn't of the schema's type: it stays a string."""
    if _elements(form):
        known = {"trips": [{"town": "Rome", "days": "many"}]}
        yield _case(form, _text(form, known), known, "wrong_type")


def repeated(form: Format) -> Iterator[Case]:
    """A member is repeated in an object whose members no schema tells: they are an array."""
    if _elements(form):
        text = _text(form, {"from": {"town": "Bern", "other": "Biel"}, "unit": "km"})
        message = Message(calls=(_call({"from": {"town": ["Bern", "Biel"]}, "unit": "km"}),))
        yield form.case(text.replace("other", "town"), message, tools=None)


def json_instead(form: Format) -> Iterator[Case]:
    """An array is written as JSON."""
    if _elements(form):
        text = _text(form, {"trips": '[{"town": "Rome"}]', "unit": "km"})
        yield _case(form, text, {"trips": [{"town": "Rome"}], "unit": "km"})


def _elements(form: Format) -> Elements | None:
    return form.tools.arguments.elements if form.calls else None


def _call(arguments: Mapping[str, object]) -> Call:
    return Call("travel", arguments, "id0000001")


def _text(form: Format, arguments: Mapping[str, object]) -> str:
    return form.write(Message(calls=(_call(arguments),)))


def _case(form: Format, text: str, arguments: Mapping[str, object], *told: str) -> Case:
    message = Message(calls=(_call(arguments),))
    return form.case(text, message, *told, tools=tool_definitions((_call(_KNOWN),)))


def _spaced(pieces: tuple[Piece, ...], space: str) -> tuple[Piece, ...]:
    return (Literal(space), *pieces, Literal(space))


def _closing(pieces: tuple[Piece, ...], key: str) -> str:
    behind = pieces[pieces.index(Slot(SlotKind.VALUE)) + 1 :]
    return "".join(key if piece.kind else piece.text for piece in behind)
