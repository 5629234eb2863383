"""A2 for arrays and objects whose values stand as elements: an object's members, an array's items.

The text of such a value is itself a repetition, and yields to the rule for repetitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from turnspec.analysis.probes import ARGUMENTS, KEYS, VALUES
from turnspec.analysis.repetition import Repetition, repeated_items
from turnspec.spec.calls import Arguments, Elements, Literal, Piece, Slot
from turnspec.spec.encoding import encode_argument
from turnspec.spec.words import Encoding, JsonType, SlotKind

#: Returns the text of an argument's value, or None where it isn't rendered.
WriteValue = Callable[[object], str | None]

#: Values that show how elements nest, and that there is nothing else between them.
_PROBES: tuple[object, ...] = (
    [1, "x", True],
    {"y": 1, "x": [False, "z"]},
    [{"x": "vqa", "y": -0.25}, {"z": 7}],
    [["vqa", ["vqb"]], []],
    {"x": {"y": {"x": ["vqa", {"y": {}}]}}, "z": ""},
    [],
    {},
)

#: Values that show what becomes of null in an array and in an object.
_NULL_PROBES: tuple[object, ...] = ([None, "x"], {"x": None, "y": 1, "z": [None]})

#: What such values are written as.
_NESTED = {JsonType.ARRAY: Encoding.ELEMENTS, JsonType.OBJECT: Encoding.ELEMENTS}


def as_elements(arguments: Arguments, write: WriteValue) -> Arguments | None:
    """Return the arguments with arrays and objects as elements, or None where they aren't.

    Only raw strings can hold elements; quotes or a guard would say themselves where text ends.
    """
    if arguments.values.get(JsonType.STRING) is not Encoding.RAW or arguments.guard:
        return None
    elements = _find_elements(write)
    if elements is None:
        return None
    tried = replace(arguments, elements=elements, values={**arguments.values, **_NESTED})
    return tried if _writes(tried, write, _PROBES) else None


def inner_null(arguments: Arguments, write: WriteValue) -> str:
    """Return why a null inside an array or object isn't read back; "" where it is."""
    if not _writes(arguments, write, _NULL_PROBES):
        return f"e.g. {write(_NULL_PROBES[0])!r}"
    if JsonType.NULL in arguments.values:
        return ""
    return "left out of objects; in arrays written as an empty string is"


def _writes(arguments: Arguments, write: WriteValue, probes: Sequence[object]) -> bool:
    return all(write(probe) == encode_argument(probe, arguments) for probe in probes)


def _find_elements(write: WriteValue) -> Elements | None:
    arrays = [write(list(VALUES[:count])) or "" for count in (1, 2, 3)]
    objects = [write(arguments) or "" for arguments in ARGUMENTS]
    items, members = _repeated(arrays, VALUES), _repeated(objects, KEYS)
    if items is None or members is None or items.separator != members.separator:
        return None
    head, _, behind_value = objects[0].partition(KEYS[0])[2].partition(VALUES[0])
    again, is_again, end = behind_value.partition(KEYS[0])
    tail = end if is_again else again  # behind the name, where that is said again
    member: list[Piece] = [Literal(members.start), Slot(SlotKind.KEY), Literal(head)]
    member += [Slot(SlotKind.VALUE), Literal(again)]
    if again != tail:
        member += [Slot(SlotKind.KEY), Literal(members.end)]
    else:
        member[-1] = Literal(members.end)
    element = (Literal(items.start), Slot(SlotKind.VALUE), Literal(items.end))
    pieces = (*member, *element)
    if Literal("") in pieces:
        return None
    return Elements(tuple(member), element, items.separator)


def _repeated(texts: Sequence[str], needles: Sequence[str]) -> Repetition | None:
    """Return how the items repeat that begin with these needles and end with a value.

    None where something else stands around them.
    """
    if any(needle not in text for text, needle in zip(texts, needles, strict=True)):
        return None
    found = repeated_items(texts, needles)
    return None if found.befores[0] or found.afters[0] else found
