"""Arguments whose values say themselves where they end, each after its key."""

from __future__ import annotations

import re

from turnspec.engine.facts import (
    CALL_HAS_END,
    HAS_LATE_IDS,
    HAS_OPTIONAL_TEXTS,
    HAS_RAW_STRINGS,
    VALUE_STYLE,
)
from turnspec.engine.json_texts import dump_json, quote
from turnspec.engine.json_values import JsonValue
from turnspec.engine.other_values import OtherValue
from turnspec.engine.roles import MORE_TEXT, Role
from turnspec.engine.tools import object_in
from turnspec.engine.turn_state import begin_call, end_call, tell_missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.markers import Found
    from turnspec.engine.open_call import OpenCall
    from turnspec.engine.text import Reading
    from turnspec.engine.turn import Turn

#: A key that holds no sign with which a mark could begin.
KEY_WORD = r"[\w.$-]+"
#: What leaves doubt in a text without quotes: half a pair of them, or a call, which isn't made.
UNSURE = "[\"']|\\w[(\\[{]"


def read_value_arguments(turn: Turn, call: OpenCall) -> Reading[None]:
    """Read a call's arguments one by one, and end it."""
    input, late_id = turn.input, ""
    while True:
        found = yield from next_value_marker(turn, call)
        if found is None or found.role in (Role.BROKEN_ARGUMENTS, Role.MARKER):
            is_cut = found is None and CALL_HAS_END
            if not is_cut:
                turn.problem("malformed", "the arguments are not closed")
                # The bracket that there is may be that of the last value; or a call begins again.
                begins_again = found is not None and found.role is Role.MARKER
                is_sure = not begins_again and "".join(call.pieces)[-1:] != "}"
                call.complete = call.complete and is_sure
            break
        if found.role is Role.NEXT_CALL:
            call = go_on_to_next(turn, call, found)
            continue
        input.take(found.end)
        if found.role is Role.ARGUMENTS_END:
            is_cut, late_id = False, found.slot("id") if HAS_LATE_IDS else ""
            break
        if found.role is Role.QUOTED_ARGUMENT:
            turn.problem("malformed", f"{found.slot('key')!r} in quotes")
        if found.role is Role.OUTER_END:
            continue
        if is_cut := not (yield from read_value_argument(turn, call, found)):
            break
    call.complete = call.complete and not is_cut
    end_values(turn, call, late_id)
    if is_cut:
        input.take()


def go_on_to_next(turn: Turn, call: OpenCall, found: Found) -> OpenCall:
    """End a call at its bracket; return the next one, whose head lacks its tag."""
    bracket = found.start + found.text.index("}")
    turn.input.take(bracket + 1)
    end_values(turn, call, "")
    start = turn.input.here
    turn.input.take(found.end)
    turn.problem("missing_marker", "the next call is not opened", start)
    return begin_call(turn, found.slot("name"), start, at=start)


def end_values(turn: Turn, call: OpenCall, late_id: str) -> None:
    """End a call with its arguments."""
    turn.events += call.add("}" if call.pieces else "{}")
    end_call(turn, call, late_id)


def next_value_marker(turn: Turn, call: OpenCall) -> Reading[Found | None]:
    """Return the next marker in a call; None if there is none, or the text breaks off."""
    input = turn.input
    while True:
        found = input.rules.in_arguments.match(input, CALL_HAS_END or not input.final)
        if found and found.is_partial:
            if input.final:
                found = input.rules.in_arguments.match(input, partial=False)
                if found is None:
                    turn.cut_off(input.rest)
                return found
            yield MORE_TEXT
        elif found or not CALL_HAS_END or not (yield from read_unexpected(turn, call)):
            return found


def read_unexpected(turn: Turn, call: OpenCall) -> Reading[bool]:
    """Read text that is no argument, up to where the call can go on; return whether it does."""
    input = turn.input
    pieces = [input.take(input.position + 1)]
    while True:
        found = input.rules.after_bare_text.search(input, not input.final)
        pieces.append(input.take(found.start if found else None))
        if found and not found.is_partial:
            break
        if input.final:
            turn.cut_off("".join(pieces))
            return False
        yield MORE_TEXT
    turn.problem("unexpected_text", f"between arguments: {''.join(pieces)}")
    call.complete = False
    return True


def read_value_argument(turn: Turn, call: OpenCall, found: Found) -> Reading[bool]:
    """Read an argument's value; return whether it ends before the text does."""
    key = found.slot("key")
    if HAS_OPTIONAL_TEXTS:
        tell_missing(turn, found)
    if not may_have(turn, call, key):
        turn.problem("unknown_argument", f"the tool has no {key!r}")
        # One that holds other signs may be a key with a misspelt mark before it.
        call.complete = call.complete and re.fullmatch(KEY_WORD, key) is not None
    before = f"{', ' if call.pieces else '{'}{dump_json(key)}: "
    value = OtherValue(turn.input, turn, VALUE_STYLE)
    if (yield from is_bare_text(turn, value)):
        return (yield from read_bare_text(turn, call, before))
    while True:
        if text := value.read():
            turn.events += call.add(before + text)
            before = ""
        if value.is_done or turn.input.final:
            break
        if value.open_quote:
            turn.flow, call.quote = call.flow_in_string, value.open_quote
        yield MORE_TEXT
    if not value.is_done:
        turn.cut_off(before + value.waiting + turn.input.rest)
    end_value(turn, call, value, before)
    return value.is_done


def may_have(turn: Turn, call: OpenCall, key: str) -> bool:
    """Say whether a tool has an argument, as far as its schema tells."""
    parameters = (turn.tools or {}).get(call.name, {})
    properties = object_in(parameters, "properties")
    takes_any = not properties or bool(parameters.get("additionalProperties"))
    return takes_any or key in properties


def is_bare_text(turn: Turn, value: OtherValue) -> Reading[bool]:
    """Say whether a text without quotes follows: more than a word that is no literal."""
    input, rules = turn.input, turn.input.rules
    while True:
        match = value.word.match(input.text, input.position)
        assert match  # if only an empty text
        word, end = match["word"], match.end()
        if end < len(input.text) or input.final:
            # A point at the end of a word ends a sentence.
            is_literal = word[-1:] != "." and value.literal(word)
            if not word or is_literal or value.may_be_quote(end - len(word)):
                return False
            found = rules.after_bare_text.match(input, not input.final, end)
            if not (found and found.is_partial):
                break
        yield MORE_TEXT
    is_cut_off = input.final and rules.at_closing.match(input, True, end)
    is_text = found is None or found.role is Role.END
    return is_text and not is_cut_off and end < len(input.text)


def read_bare_text(turn: Turn, call: OpenCall, before: str) -> Reading[bool]:
    """Read a text without quotes, up to where the call can go on."""
    input, rules, last = turn.input, turn.input.rules, ""
    input.position += input.text.startswith(" ", input.position)
    turn.problem("malformed", "a text without quotes")
    turn.events += call.add(f'{before}"')
    while True:
        found = rules.after_bare_text.search(input, not input.final)
        if found is None and input.final:
            found = rules.at_closing.search(input, True)
        end = found.start if found else len(input.text)
        is_text = False
        if found and found.role is Role.NEXT_ARGUMENT:
            is_text = not may_have(turn, call, found.slot("key"))
        text = input.take(end + is_text)
        call.complete = call.complete and not re.search(UNSURE, last + text)
        last = (last + text)[-1:]
        turn.events += call.add(quote(text)[1:-1])
        if found and not found.is_partial:
            if HAS_RAW_STRINGS and found.role is Role.END:
                input.take(found.end)
            if not is_text:
                break
        elif input.final:
            turn.cut_off(input.rest)
            break
        else:
            yield MORE_TEXT
    turn.events += call.add('"')
    return found is not None and not found.is_partial


def end_value(turn: Turn, call: OpenCall, value: JsonValue, before: str) -> None:
    """End a value with what closes it; a value that is not there is null."""
    text = value.close()
    if before and not text:
        if not turn.input.final:
            turn.problem("malformed", f"no value after {before!r}")
        text = "null"
    call.complete = call.complete and not text
    turn.events += call.add(before + text)
