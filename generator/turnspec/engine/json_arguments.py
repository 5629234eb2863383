"""Arguments that are one value after a head: a JSON object, or a relative of one."""

from __future__ import annotations

import re

from turnspec.engine.facts import (
    AFTER_ARGUMENTS,
    ARGUMENTS_MAY_BE_TEXT,
    COMMA_SEPARATES,
    ENDS_AS_JSON_BEGINS,
    ENDS_AS_JSON_GOES_ON,
)
from turnspec.engine.json_texts import quote
from turnspec.engine.json_values import constants_as_json
from turnspec.engine.markers import WHITE_SPACE, after_space
from turnspec.engine.roles import MORE_TEXT
from turnspec.engine.turn_state import end_call
from turnspec.engine.whole_arguments import WholeArguments, as_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.markers import Found, Markers
    from turnspec.engine.open_call import OpenCall
    from turnspec.engine.text import Reading
    from turnspec.engine.turn import Turn

#: What JSON begins with, if only a fence, or else a word or a sign with which none does.
FENCE = r"(?:`{1,3}[A-Za-z0-9_]{0,9}[ \t\n\r]*(?=\{|\Z))?"
BEGINNING = re.compile(rf"[ \t\n\r]*{FENCE}(?P<word>[A-Za-z_][A-Za-z_0-9]{{0,9}}|[#%!/@(]|)")
#: What JSON goes on with after its end: a separator, or the rest of a string.
MORE_JSON = re.compile(r'[ \t\n\r]{0,99}(?P<word>[,:]|\w{0,99}"?)')


def read_json_arguments(turn: Turn, call: OpenCall) -> Reading[None]:
    """Read the arguments of a call, and end it; a text that is no JSON is one as a whole."""
    if ARGUMENTS_MAY_BE_TEXT and (yield from is_other_text(turn)):
        yield from read_body(turn, call)
        return
    arguments = WholeArguments(turn, collect=False)
    if ENDS_AS_JSON_BEGINS:  # as does another call, where nothing ends one
        next_call = yield from marker_here(turn, turn.input.rules.at_call_end)
        arguments.value.is_done = next_call is not None
    while not arguments.read():
        yield MORE_TEXT
    if is_cut := not arguments.value.is_done:
        turn.cut_off(arguments.value.waiting + turn.input.rest)
    is_whole = arguments.close()
    call.complete = call.complete and is_whole
    if text := "".join(arguments.collected):
        turn.events += call.add(as_object(turn, text))
    if call.complete and not (call.pieces or text):  # unread ones may follow
        call.complete = bool((yield from marker_here(turn, turn.input.rules.in_text)))
    elif call.complete and turn.input.here:  # else the prompt ends with it
        found = yield from text_here(turn, MORE_JSON)
        call.complete = found["word"][-1:] not in (",", ":", '"')
        if COMMA_SEPARATES:
            call.complete = call.complete or found["word"] == ","
        if ENDS_AS_JSON_GOES_ON and not call.complete:
            turn.input.take(after_space(turn.input.text, turn.input.position))
            rules = turn.input.rules
            ends = rules.after_arguments if AFTER_ARGUMENTS else rules.at_call_end
            call.complete = bool((yield from marker_here(turn, ends)))
    if AFTER_ARGUMENTS and is_whole:
        yield from read_tail(turn, call)
        return
    end_call(turn, call)
    if is_cut:
        turn.input.take()


def is_other_text(turn: Turn) -> Reading[bool]:
    """Say whether what follows begins as no JSON does."""
    input = turn.input
    found = yield from text_here(turn, BEGINNING)
    word = found["word"]
    if word or found.end() < len(input.text):
        input.position = found.end() - len(word)
    return bool(word) and word not in (*constants_as_json, "NaN", "Infinity")


def text_here(turn: Turn, expression: re.Pattern[str]) -> Reading[re.Match[str]]:
    """Return the word or the sign that stands next, as an expression finds it."""
    input = turn.input
    while True:
        found = expression.match(input.text, input.position)
        assert found  # if only an empty text
        if input.final or found.end() < len(input.text):
            return found
        yield MORE_TEXT


def read_body(turn: Turn, call: OpenCall) -> Reading[None]:
    """Read a text up to the end of the call or of the turn."""
    input = turn.input
    turn.problem("malformed", "the arguments are no JSON")
    is_known = call.name in (turn.tools or ())
    before, after = ('"', '"') if is_known else ('{"code": "', '"}')
    while True:
        found = input.rules.at_call_end.search(input, not input.final)
        text = quote(input.take(found.start if found else None))[1:-1]
        turn.events += call.add(before + text)
        before = ""
        if input.final or (found and not found.is_partial):
            break
        yield MORE_TEXT
    call.complete = found is not None
    if found is None:
        turn.cut_off("")
    turn.events += call.add(after)
    end_call(turn, call)


def read_tail(turn: Turn, call: OpenCall) -> Reading[None]:
    """Read what stands after the arguments, with an id in it or not, and end the call."""
    found = yield from marker_here(turn, turn.input.rules.after_arguments)
    if found:
        turn.input.take(found.end)
        end_call(turn, call, found.slot("id"))
    elif turn.input.final and turn.input.rest.strip(WHITE_SPACE):
        turn.cut_off(turn.input.rest)
        call.complete = False
        end_call(turn, call)
        turn.input.take()
    else:
        turn.problem("missing_marker", "what belongs after the arguments is missing")
        end_call(turn, call)


def marker_here(turn: Turn, markers: Markers) -> Reading[Found | None]:
    """Return the marker that stands next, if one does."""
    input = turn.input
    while True:
        found = markers.match(input, not input.final)
        if not found or not found.is_partial:
            return found
        yield MORE_TEXT


def read_early_arguments(turn: Turn) -> Reading[str | None]:
    """Return arguments that stand before the name; None if the text breaks off in them."""
    arguments = WholeArguments(turn, collect=True)
    while not arguments.read():
        yield MORE_TEXT
    if arguments.value.is_done:
        arguments.close()
        return as_object(turn, "".join(arguments.collected))
    turn.cut_off(arguments.value.waiting + turn.input.rest)
    turn.input.take()
    return None
