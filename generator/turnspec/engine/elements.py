"""Arrays and objects that are written as elements within elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from turnspec.engine.facts import (
    ARGUMENT_SIGNS,
    ELEMENT_KEY,
    ELEMENT_SEPARATOR,
    ELEMENTS_ARE_DISTINCT,
    ELEMENTS_ARE_KEYED,
    ENTITIES,
    ENTITIES_ARE_OF_STRINGS,
    HAS_ELEMENT_LEAD,
    HAS_PYTHON_LITERALS,
    MEMBERS_END_AS_ARGUMENTS,
)
from turnspec.engine.json_texts import dump_json, load_json
from turnspec.engine.literals import join_halves
from turnspec.engine.markers import WHITE_SPACE, Found
from turnspec.engine.roles import MORE_TEXT, Role
from turnspec.engine.tools import list_in, object_in, schema_options
from turnspec.engine.types import json_types
from turnspec.engine.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from turnspec.engine.open_call import OpenCall
    from turnspec.engine.results import Event
    from turnspec.engine.text import Reading
    from turnspec.engine.turn import Turn

NESTED = {"array", "object"}


class Place(Enum):
    """Where a nested value is being read."""

    VALUE = "value"  # an element's value comes next
    TEXT = "text"  # of an element
    BETWEEN = "between"  # elements
    CLOSING = "closing"  # what closes the whole value comes next
    OVER = "over"


class Container:
    """An open array or object, with the schemas of what is in it."""

    def __init__(self, closer: str, members: dict[Any, Any], others: Any) -> None:
        self.closer = closer  # its closing bracket
        self.members = members  # schemas by key, or by index
        self.others = others  # the schema of all others
        self.size = 0  # how many elements have begun in it

    def knows(self, found: Found) -> bool:
        """Say whether an element is one that belongs in it."""
        if self.closer == "}":
            return found.slot("key") in self.members
        return is_element(found)


class NestedValue:
    """A value that consists of elements. What is open in it is a stack."""

    def __init__(self, call: OpenCall, value: Value, key: str, schema: Any, root: Any) -> None:
        self.call = call
        self.other_keys = value.other_keys or ()  # those of other arguments
        self.value = value  # of the element that was begun last
        self.schema = schema  # of that
        self.root = root  # the schema in which that stands
        self.key = key  # of the argument
        self.place = Place.VALUE
        self.unexpected: list[str] = []  # text between elements
        self.containers: list[Container] = []
        self.collecting = 0  # of these, the one whose members no schema tells
        self.collected: list[str] | None = None  # what waits for more of that
        self.path: list[str] = []  # what closes the elements that are open in them
        self.open: dict[str, int] = {}  # how often each of these is open
        self.next_argument: Found | None = None  # one that begins in it

    def add(self, text: str) -> list[Event]:
        """Add JSON text that comes from what was read last, or collect it."""
        if self.collected is None:
            return self.call.add(text)
        if text:
            self.collected.append(text)
        return []

    def is_open(self, name: str) -> bool:
        """Say whether an element is open that some text closes."""
        return self.open.get(name, 0) > 0


def is_element(found: Found) -> bool:
    """Say whether an opening tag is that of an array's element."""
    if ELEMENT_KEY:
        return found.slot("key") == ELEMENT_KEY
    return found.role is Role.ELEMENT


def closing_name(found: Found) -> str:
    """Return what a closing tag shares with its opening tag, as the path has it."""
    if ELEMENTS_ARE_KEYED:
        return found.slot("key")
    return "member" if found.role is Role.MEMBER_END else "element"


def first_element(turn: Turn, value: Value) -> Found | None:
    """Return the element with which a value begins, if it consists of such.

    Its schema tells; else an opening tag that cannot be text does.
    """
    if value.types & NESTED or (ELEMENTS_ARE_DISTINCT and not value.types):
        return turn.input.rules.first_element.match(turn.input, True)
    return None


def read_elements(turn: Turn, nested: NestedValue, found: Found) -> Reading[bool]:
    """Read a value that begins with an element; return whether it ends before the text."""
    begin_elements(turn, nested, found)
    while nested.place is not Place.OVER:
        if read_on(turn, nested):
            continue
        if turn.input.final:
            cut_elements_off(turn, nested)
            return False
        yield MORE_TEXT
    return True


def cut_elements_off(turn: Turn, nested: NestedValue) -> None:
    """Close what the end of the text leaves open."""
    turn.cut_off("".join(nested.unexpected) + turn.input.rest)
    nested.unexpected.clear()
    if nested.place is Place.VALUE:
        begin_text(turn, nested)
    if nested.containers:
        end_nested(turn, nested, Place.OVER)


def read_on(turn: Turn, nested: NestedValue) -> bool:
    """Take a step; return whether another one can follow, without more text."""
    match nested.place:
        case Place.VALUE:
            found = first_element(turn, nested.value)
            if found and not found.is_partial:
                begin_elements(turn, nested, found)
            elif found is None:
                begin_text(turn, nested)
            return not (found and found.is_partial)
        case Place.TEXT:
            return read_element_text(turn, nested)
        case Place.BETWEEN:
            return read_between_elements(turn, nested)
        case _:
            return take_closing(turn, nested)


def take_closing(turn: Turn, nested: NestedValue) -> bool:
    """Take what closes the whole value; return whether it has come, or is missing."""
    input = turn.input
    found = input.rules.in_value.match(input, True)
    if input.final and found and found.is_partial:  # by what may follow it
        found = input.rules.in_value.match(input, False) or found
    if found and found.is_partial:
        return False
    if found and found.role is Role.VALUE_CLOSED:
        input.take(found.end)
    nested.place = Place.OVER
    return True


def begin_text(turn: Turn, nested: NestedValue) -> None:
    """Begin an element that is text."""
    value = nested.value
    turn.events += nested.add(f'{value.before}"' if value.is_string else "")
    collected = nested.collected
    value.start = len(nested.call.pieces) if collected is None else len(collected)
    nested.place = Place.TEXT


def end_text(turn: Turn, nested: NestedValue, is_closed: bool) -> None:
    """End an element that is text; without what closes it, it may hold that misspelt."""
    value, call = nested.value, nested.call
    last, edges = value.end(turn), value.edges
    if nested.collected is not None and value.is_string:
        text = "".join(nested.collected[value.start :])
        edges = text[:40] + text[-40:]
    if not is_closed or value.is_wrong:
        has_sign = any(sign in edges for sign in ARGUMENT_SIGNS)
        call.complete = call.complete and not has_sign
    turn.events += nested.add(last)


def begin_elements(turn: Turn, nested: NestedValue, found: Found) -> None:
    """Begin an array or an object with its first element."""
    kinds = nested.value.types & NESTED
    is_array = is_element(found)
    if ELEMENT_KEY and len(kinds) == 1:
        is_array = "array" in kinds
    elif kinds and ("array" if is_array else "object") not in kinds:
        kind = "array" if is_array else "object"
        turn.problem("wrong_type", f"an {kind} is not expected")
    members, others = schemas_inside(nested.schema, nested.root, is_array)
    turn.events += nested.add(nested.value.before)
    if nested.collected is None and not (is_array or members or others):
        nested.collected = []
        nested.collecting = len(nested.containers)
    turn.events += nested.add("[" if is_array else "{")
    nested.containers.append(Container("]" if is_array else "}", members, others))
    begin_element(turn, nested, found)


def begin_element(turn: Turn, nested: NestedValue, found: Found) -> None:
    """Begin a member of an object, or an element of an array."""
    tell_unexpected(turn, nested)
    turn.input.take(found.end)
    container, key = nested.containers[-1], found.slot("key")
    before = ", " if container.size else ""
    if container.closer == "}":
        before += f"{dump_json(key)}: "
        if container.members and not container.others and key not in container.members:
            turn.problem("unknown_argument", f"an object has no {key!r}")
        nested.schema = container.members.get(key, container.others)
    else:
        if key and key != ELEMENT_KEY:
            turn.problem("malformed", f"an array has no {key!r}")
        nested.schema = container.members.get(container.size, container.others)
    container.size += 1
    types = json_types(nested.schema, nested.root)
    nested.value = Value(turn.input, nested.call, types, before, HAS_PYTHON_LITERALS)
    name = key if ELEMENTS_ARE_KEYED else "member" if key else "element"
    nested.path.append(name)
    nested.open[name] = nested.open.get(name, 0) + 1
    nested.place = Place.VALUE


def next_element_marker(turn: Turn) -> Found | None:
    """Return the next marker of elements; at the end of the text, a call's rest before all else."""
    input = turn.input
    found = input.rules.in_elements.search(input, True)
    if input.final and found and found.is_partial:
        whole = input.rules.in_elements.match(input, False, found.start)
        return whole if whole and whole.role is Role.REST_OF_CALL else found
    return found


def take_text(turn: Turn, nested: NestedValue, end: int | None) -> None:
    """Take the text up to a position for a part of an element."""
    turn.events += nested.add(nested.value.take(turn.input.take(end)))


def taken_escape(turn: Turn, value: Value, found: Found) -> str:
    """Take what stands for a sign; return it in JSON, which may have it in strings alone."""
    is_json = ENTITIES_ARE_OF_STRINGS and not (value.is_string or "string" in value.types)
    text = turn.input.take(found.end)
    return value.take(text if is_json else ENTITIES[text])


def read_element_text(turn: Turn, nested: NestedValue) -> bool:
    """Read the text of an element, up to what closes it."""
    found, value = next_element_marker(turn), nested.value
    take_text(turn, nested, found.start if found else None)
    if found is None or found.is_partial:
        if nested.collected is None:
            value.ends = turn.input.rules.in_elements
            turn.flow = None if found else value.flow
        return False
    if found.role is Role.ESCAPE:
        turn.events += nested.add(taken_escape(turn, value, found))
        return True
    if found.role in (Role.MEMBER, Role.ELEMENT):
        open_in_text(turn, nested, found)
        return True
    may_be_text = not value.types or "string" in value.types
    if found.role in (Role.MEMBER_END, Role.ELEMENT_END) and may_be_text:
        after = turn.input.rules.after_element.match(turn.input, True, found.end)
        if after and after.is_partial:
            return False
        if after is None:
            take_inner(turn, nested, found)
            return True
    if not end_elements(turn, nested, found):
        take_text(turn, nested, found.start + 1)
    return True


def open_in_text(turn: Turn, nested: NestedValue, found: Found) -> None:
    """Begin another element within one's text, unless what looks like it is text."""
    if nested.containers[-1].knows(found) and (ELEMENTS_ARE_DISTINCT or not nested.value.is_string):
        turn.problem("missing_marker", "an element is not closed")
        close_elements(turn, nested, len(nested.path) - 1)
        begin_element(turn, nested, found)
        return
    if ELEMENTS_ARE_DISTINCT:
        turn.problem("inner_marker", f"{found.text!r} inside a value")
    take_marker(turn, nested, found)


def take_inner(turn: Turn, nested: NestedValue, found: Found) -> None:
    """Take for text a closing tag after which the format cannot go on."""
    if ELEMENTS_ARE_DISTINCT or not ELEMENTS_ARE_KEYED or nested.is_open(closing_name(found)):
        turn.problem("inner_marker", f"{found.text!r} inside a value")
        if last_sign(nested) not in " \"'`":
            nested.call.complete = False  # the next element's beginning may be misspelt
    take_marker(turn, nested, found)


def take_marker(turn: Turn, nested: NestedValue, found: Found) -> None:
    """Take a marker for text; the line break behind it may be that of another one."""
    take_text(turn, nested, found.start + len(found.text.rstrip(WHITE_SPACE)))


def last_sign(nested: NestedValue) -> str:
    """Return the last character of an element's text so far, or the quote before it."""
    if nested.value.is_string and nested.collected is not None:
        return nested.collected[-1][-1:]
    pieces = nested.call.pieces if nested.value.is_string else nested.value.pieces
    return pieces[-1][-1:] if pieces else ""


def read_between_elements(turn: Turn, nested: NestedValue) -> bool:
    """Read what stands between elements: the next one's beginning, or what closes them."""
    found, container = next_element_marker(turn), nested.containers[-1]
    nested.unexpected.append(turn.input.take(found.start if found else None))
    if found is None or found.is_partial:
        return False
    if found.role is Role.ESCAPE:
        nested.unexpected.append(turn.input.take(found.end))
        return True
    if found.role not in (Role.MEMBER, Role.ELEMENT):
        if not end_elements(turn, nested, found):
            turn.problem("stray_marker", f"{found.text!r} closes nothing")
            turn.input.take(found.end)
        return True
    may_have = container.closer == "}" and (container.others or not container.members)
    if not (container.knows(found) or may_have):
        if nested.path and nested.containers[-2].knows(found):
            turn.problem("missing_marker", "an element is not closed")
            close_elements(turn, nested, len(nested.path) - 1)
        elif HAS_ELEMENT_LEAD and not nested.path and found.slot("key") in nested.other_keys:
            turn.problem("missing_marker", "a value is not closed")
            end_nested(turn, nested, Place.OVER)
            turn.input.take(found.end)
            nested.next_argument = found
            return True
    begin_element(turn, nested, found)
    return True


def end_elements(turn: Turn, nested: NestedValue, found: Found) -> bool:
    """End what a marker closes, with what is open inside; say whether it closes anything."""
    if found.role is Role.NEXT_ARGUMENT and nested.place is Place.TEXT:
        return False
    if found.role in (Role.REST_OF_CALL, Role.NEXT_ARGUMENT):
        turn.problem("missing_marker", "a value is not closed")
        end_nested(turn, nested, Place.OVER)
        turn.input.take(found.end)
        return True
    name = closing_name(found)
    argument = nested.key if ELEMENTS_ARE_KEYED else "member"
    closes_all = MEMBERS_END_AS_ARGUMENTS and name == argument and not nested.is_open(name)
    if found.role is Role.OUTER_END or closes_all:
        if nested.path:
            turn.problem("missing_marker", "an element is not closed")
        end_nested(turn, nested, Place.CLOSING)
        return True
    if not nested.is_open(name):
        return False
    depth = len(nested.path) - 1
    while nested.path[depth] != name:
        depth -= 1
    is_last = depth == len(nested.path) - 1
    if not is_last:
        turn.problem("missing_marker", "an element is not closed")
    close_elements(turn, nested, depth, is_closed=is_last)
    turn.input.take(found.end)
    return True


def close_elements(turn: Turn, nested: NestedValue, depth: int, is_closed: bool = False) -> None:
    """Close all elements but the first ones, as many as `depth`."""
    if nested.place is Place.TEXT:
        end_text(turn, nested, is_closed)
    tell_unexpected(turn, nested)
    while len(nested.containers) > depth + 1:
        close_container(turn, nested)
    for name in nested.path[depth:]:
        nested.open[name] = nested.open[name] - 1
    del nested.path[depth:]
    nested.place = Place.BETWEEN


def close_container(turn: Turn, nested: NestedValue) -> None:
    """Close the innermost array or object."""
    turn.events += nested.add(nested.containers.pop().closer)
    if nested.collected is not None and len(nested.containers) == nested.collecting:
        text, nested.collected = "".join(nested.collected), None
        turn.events += nested.add(with_repeated_joined(text))


def end_nested(turn: Turn, nested: NestedValue, place: Place) -> None:
    """Close the whole value."""
    close_elements(turn, nested, 0)
    close_container(turn, nested)
    nested.place = place


def tell_unexpected(turn: Turn, nested: NestedValue) -> None:
    """Tell of text between elements that belongs nowhere; it may be an argument."""
    text = "".join(nested.unexpected).replace(ELEMENT_SEPARATOR, "", 1).strip(WHITE_SPACE)
    nested.unexpected.clear()
    if text:
        turn.problem("unexpected_text", f"between elements: {text}")
        nested.call.complete = False


def with_repeated_joined(text: str) -> str:
    """Return JSON text in which the values of a key that is repeated are the array of them."""
    try:
        value = load_json(text, hook=joined)
    except ValueError:  # as it is nested too deeply
        return text
    return join_halves(dump_json(value))


def joined(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object in which a repeated key has all its values."""
    found: dict[str, list[Any]] = {}
    for key, value in members:
        found.setdefault(key, []).append(value)
    return {key: all_ if len(all_) > 1 else all_[0] for key, all_ in found.items()}


def schemas_inside(
    schema: Any, root: Mapping[str, Any], is_array: bool
) -> tuple[dict[Any, Any], Any]:
    """Return the schemas of an object's members, and of others, or of an array's elements."""
    members: dict[Any, Any] = {}
    others = None
    for option in schema_options(schema, root):
        if is_array:
            members |= enumerate(list_in(option, "prefixItems"))
        else:
            members |= object_in(option, "properties").items()
        others = others or option.get("items" if is_array else "additionalProperties")
    return members, others
