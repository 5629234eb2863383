"""Arguments whose values are text, each between marks that hold its key."""

from __future__ import annotations

import re

from turnspec.engine.elements import NestedValue, first_element, read_elements, taken_escape
from turnspec.engine.facts import (
    ARGUMENT_HAS_END,
    ARGUMENT_SHOWS_ITSELF,
    ARGUMENT_SIGNS,
    ARGUMENTS_ARE_KEYED,
    CLOSED_BY_KEY,
    END_OF_GUARD,
    ENTITIES,
    FIRST_ARGUMENT,
    FIRST_CALL_END,
    HAS_ELEMENTS,
    HAS_KNOWN_ENDS,
    HAS_LATE_IDS,
    HAS_OPTIONAL_TEXTS,
    HAS_PYTHON_LITERALS,
    TYPE_WORDS,
)
from turnspec.engine.json_texts import apart, dump_json, load_json
from turnspec.engine.markers import WHITE_SPACE, Found, after_space
from turnspec.engine.roles import MORE_TEXT, Role
from turnspec.engine.tools import is_mapping, object_in, schema_options
from turnspec.engine.turn_state import end_call, missing_texts, tell_missing
from turnspec.engine.types import as_json, json_types
from turnspec.engine.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.input import Input
    from turnspec.engine.open_call import OpenCall
    from turnspec.engine.text import Reading
    from turnspec.engine.turn import Turn


def read_text_arguments(turn: Turn, call: OpenCall) -> Reading[None]:
    """Read a call's arguments one by one, and end it."""
    input, is_cut, late_id = turn.input, False, ""
    while not is_cut:
        found, between = yield from next_argument(turn)
        if found is None:
            is_cut = True
            turn.cut_off(between + input.rest)
            break
        take_between(turn, call, between, found)
        if found.role is Role.BROKEN_ARGUMENTS:
            turn.problem("malformed", "the arguments are not closed")
            call.complete = call.complete and bool(call.given)
            break
        input.take(found.end)
        if found.role is Role.ARGUMENTS_END:
            late_id = found.slot("id") if HAS_LATE_IDS else ""
            break
        is_cut = not (yield from read_argument(turn, call, found))
    call.complete = call.complete and not is_cut
    if call.given or not call.pieces:
        turn.events += call.add("}" if call.pieces else "{}")
    end_call(turn, call, late_id)
    if is_cut:
        input.take()


def next_argument(turn: Turn) -> Reading[tuple[Found | None, str]]:
    """Return the next marker in a call (None: cut off), and the text before it."""
    input = turn.input
    pieces: list[str] = []
    while True:
        found = input.rules.in_arguments.search(input, partial=True)
        if FIRST_ARGUMENT and not any(pieces):
            found = input.rules.first_argument.match(input, partial=True) or found
        pieces.append(input.take(found.start if found else None))
        if found and not found.is_partial:
            return found, "".join(pieces)
        if input.final:
            return None, "".join(pieces)
        yield MORE_TEXT


def take_between(turn: Turn, call: OpenCall, text: str, found: Found) -> None:
    """Take text where none belongs: all arguments as a JSON object, or an error."""
    text = text.strip(WHITE_SPACE)
    is_all = not call.given and found.role is not Role.ARGUMENT
    if text and is_all and (given := as_json(text, {"object"}, python=False)):
        turn.problem("other_syntax", "the arguments are a JSON object")
        value = load_json(given, hook=apart)
        if value.get("name") == call.name and is_mapping(value.get("arguments")):
            given = dump_json(value["arguments"])  # it is the whole call
        turn.events += call.add(given)
    elif text:
        turn.problem("unexpected_text", f"between arguments: {text}")
        # What ends the call may be cut short.
        is_end = text.startswith("</") and FIRST_CALL_END.startswith(text[:-1])
        call.complete = call.complete and is_end


def read_argument(turn: Turn, call: OpenCall, found: Found) -> Reading[bool]:
    """Read an argument's value; return whether text follows it."""
    value = begin_value(turn, call, found)
    while HAS_ELEMENTS:
        element = yield from next_element(turn, value)
        if element is None:
            break
        if element.is_partial:
            return cut_value_off(turn, call, value)
        nested = nested_value(turn, call, value, found)
        is_whole = yield from read_elements(turn, nested, element)
        if nested.next_argument is None:
            return is_whole
        found = nested.next_argument
        value = begin_value(turn, call, found)
    if END_OF_GUARD and (yield from read_guard(turn, value)):
        value.ends = turn.input.rules.in_guarded_value
    turn.events += call.add(f'{value.before}"' if value.is_string else "")
    value.start = len(call.pieces)
    end = yield from find_value_end(turn, call, value, found)
    if end is None:
        turn.cut_off(turn.input.rest)
    elif end.role is not Role.NEXT_ARGUMENT:
        turn.input.take(end.end)
    if end and end.role is not Role.VALUE_CLOSED and ARGUMENT_HAS_END:
        turn.problem("missing_marker", "a value is not closed")
        if HAS_OPTIONAL_TEXTS and value.lacks_mark and not value.edges:
            call.complete = False  # only its key is there
        value.lacks_mark = True
    if TYPE_WORDS and not (value.is_told or value.edges):  # it stands in the type's place
        turn.events += call.add(value.take(found.slot("type")))
    last = value.end(turn)
    is_broken = value.is_wrong and not HAS_ELEMENTS and bool({"array", "object"} & value.types)
    has_sign = any(sign in value.edges for sign in ARGUMENT_SIGNS)  # one of a misspelt mark
    is_doubtful = is_broken or (has_sign and (value.lacks_mark or value.is_wrong))
    call.complete = call.complete and not is_doubtful
    turn.events += call.add(last)
    return end is not None


def next_element(turn: Turn, value: Value) -> Reading[Found | None]:
    """Return the element with which a value begins, if it does; a partial one at the end."""
    while True:
        found = first_element(turn, value)
        if turn.input.final or not (found and found.is_partial):
            return found
        yield MORE_TEXT


def cut_value_off(turn: Turn, call: OpenCall, value: Value) -> bool:
    """End a value of which nothing but the beginning of an element has come."""
    turn.cut_off(turn.input.rest)
    turn.events += call.add(f'{value.before}"' if value.is_string else "")
    turn.events += call.add(value.end(turn))
    return False


def nested_value(turn: Turn, call: OpenCall, value: Value, found: Found) -> NestedValue:
    """Return an argument's value that consists of elements."""
    parameters = (turn.tools or {}).get(call.name, {})
    key = key_of(found) if ENTITIES else found.slot("key")
    options = schema_options(parameters, parameters)
    named = [x for x in (object_in(it, "properties") for it in options) if key in x]
    schema = named[0][key] if named else parameters.get("additionalProperties")
    return NestedValue(call, value, found.slot("key"), schema, parameters)


def key_of(found: Found) -> str:
    """Return the key in a marker, without its escapes."""
    escaped = "|".join(map(re.escape, ENTITIES))
    return re.sub(escaped, lambda it: ENTITIES[it.group()], found.slot("key"))


def begin_value(turn: Turn, call: OpenCall, found: Found) -> Value:
    """Begin a value. A word beside its key tells its type, or its schema; either may allow text."""
    if HAS_OPTIONAL_TEXTS:
        tell_missing(turn, found)
    key = key_of(found) if ENTITIES else found.slot("key")
    if FIRST_ARGUMENT and not key:  # it stands with the name
        key, turn.state.first_key = turn.state.first_key, ""
        call.complete = call.complete and bool(key)
    schema = (turn.tools or {}).get(call.name, {})
    objects = [object_in(it, "properties") for it in schema_options(schema, schema)]
    named = [properties for properties in objects if key in properties]
    other = schema.get("additionalProperties")
    known = {name for properties in objects for name in properties}
    is_unknown = bool(known) and not named and not other
    if is_unknown:
        turn.problem("unknown_argument", f"the tool has no {key!r}")
    call.given.add(key)
    types = json_types(named[0][key] if named else other, schema)
    if types and "string" not in types:
        types.add("null")  # where it is left out
    if TYPE_WORDS:
        if (word := found.slot("type")) not in TYPE_WORDS:
            turn.problem("wrong_type", f"{word or found.text!r} is no type")
        types = {*TYPE_WORDS[word], *(types & {"string"})} if word in TYPE_WORDS else types
    is_of_all = key in ("arguments", "input", "parameters", "properties")
    may_be_all = is_unknown and is_of_all and not call.pieces
    types = {"object"} if may_be_all else types
    before = f"{', ' if call.pieces else '{'}{dump_json(key)}: "
    value = Value(turn.input, call, types, before, HAS_PYTHON_LITERALS)
    if TYPE_WORDS:
        value.is_told = found.slot("type") in TYPE_WORDS
    if HAS_OPTIONAL_TEXTS:
        value.lacks_mark = bool(missing_texts(found))
    value.may_be_all = may_be_all
    if (turn.tools is not None and (HAS_KNOWN_ENDS or known)) or not ARGUMENT_SHOWS_ITSELF:
        value.other_keys = known - call.given
    return value


def read_guard(turn: Turn, value: Value) -> Reading[bool]:
    """Read what may surround a value: one that has it is a string, if it can be one."""
    input = turn.input
    while found := input.rules.end_of_guard.match(input, partial=True):
        if found.is_partial and not input.final:
            yield MORE_TEXT
            continue
        input.take(found.end)
        if "string" in value.types:
            value.types = {"string"}
        value.is_string = not value.types - {"string"}
        return True
    return False


def find_value_end(
    turn: Turn, call: OpenCall, value: Value, opened: Found
) -> Reading[Found | None]:
    """Pass a value on up to what ends it; return None if it is cut off."""
    input, ends = turn.input, value.ends
    while True:
        found = ends.search(input, partial=True)
        take(turn, call, value, found.start if found else None)
        if input.final and (found is None or found.is_partial):
            found = found and (
                ends.search(input, False) if ARGUMENTS_ARE_KEYED else ends.match(input, False)
            )
            take(turn, call, value, found.start if found else input.position)
            is_end = found and found.role in (Role.VALUE_CLOSED, Role.REST_OF_CALL)
            return found if is_end else None
        if found is None or found.is_partial:
            turn.flow = None if found else value.flow
            yield MORE_TEXT
            continue
        is_end = ends_value(input, call, value, opened, found)
        if is_end is None:
            yield MORE_TEXT
        elif is_end:
            return found
        elif found.role is Role.ESCAPE:
            turn.events += call.add(taken_escape(turn, value, found))
        elif found.role is Role.REPEATED and is_repeated(value):
            turn.problem("repeated", f"{found.text!r} once more")
            input.take(after_space(input.text, found.end))
        else:
            if not (CLOSED_BY_KEY and is_of_other(found, opened)):
                note_inner(turn, call, value, found)
            length = len(found.text.rstrip(WHITE_SPACE)) or 1
            take(turn, call, value, found.start + length)


def ends_value(
    input: Input, call: OpenCall, value: Value, opened: Found, found: Found
) -> bool | None:
    """Say whether a marker ends the value; None if more text tells."""
    if CLOSED_BY_KEY and found.role is Role.VALUE_CLOSED and is_of_other(found, opened):
        return False
    if value.in_call:  # which only what closes the value shows to be over
        return found.role is Role.VALUE_CLOSED and value.opened <= 0
    if found.role is Role.NEXT_ARGUMENT:
        return (
            may_precede(value, key_of(found) if ENTITIES else found.slot("key"), call.given)
            and value.may_end
        )
    if CLOSED_BY_KEY or value.opened <= 0 or found.role is not Role.VALUE_CLOSED:
        return found.role in (Role.VALUE_CLOSED, Role.REST_OF_CALL)
    # An argument that stands in the value ends, or else the call goes on after it.
    after = value.ends.match(input, not input.final, after_space(input.text, found.end))
    if after and after.is_partial:
        return None
    return bool(after and may_precede(value, after.slot("key"), call.given))


def is_repeated(value: Value) -> bool:
    """Say whether a mark before the closing one is too much, not of a value in markup or prose."""
    return value.opened <= 0 and not re.search("<|[ \"'`]$", value.edges)


def is_of_other(found: Found, opened: Found) -> bool:
    """Say whether a closing mark is another argument's, and text."""
    return found.slot("key") not in ("", opened.slot("key"))


def note_inner(turn: Turn, call: OpenCall, value: Value, found: Found) -> None:
    """Note a marker that stands in a value: in a pair, quotes or a sentence it is text."""
    if found.role is Role.CALL:
        value.in_call = True
    if found.role in (Role.CALL, Role.NEXT_ARGUMENT):
        value.opened += 1
    elif CLOSED_BY_KEY and found.role is Role.VALUE_CLOSED:
        value.opened -= 1
    elif not CLOSED_BY_KEY and found.role is not Role.REST_OF_CALL:
        turn.problem("inner_marker", f"{found.text!r} inside a value")
        value.opened -= 1
        pieces = call.pieces if value.is_string else value.pieces
        if value.opened < 0 and pieces and pieces[-1][-1] not in " \"'`":
            call.complete = False  # the next argument's beginning may be misspelt


def may_precede(value: Value, key: str, given: set[str]) -> bool:
    """Say whether an argument can follow a value: none, or a new one where no more is known."""
    if ARGUMENT_SHOWS_ITSELF and (
        value.other_keys is None or (value.types and "string" not in value.types)
    ):
        return key not in given
    return not key or key in (value.other_keys or ())


def take(turn: Turn, call: OpenCall, value: Value, end: int | None) -> None:
    """Take the text up to a position for a part of a value."""
    turn.events += call.add(value.take(turn.input.take(end)))
