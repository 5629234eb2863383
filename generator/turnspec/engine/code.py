"""Calls that are code: all text up to the turn's end is one argument of a tool."""

from __future__ import annotations

from turnspec.engine.facts import CODE_ARGUMENT, CODE_MAY_BE_OBJECT, CODE_TOOL
from turnspec.engine.json_arguments import marker_here, read_json_arguments
from turnspec.engine.json_texts import dump_json, quote
from turnspec.engine.literals import literal_as_json
from turnspec.engine.roles import MORE_TEXT, Role
from turnspec.engine.turn_state import begin_call, end_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.open_call import OpenCall
    from turnspec.engine.text import Reading
    from turnspec.engine.turn import Turn


def read_code_call(turn: Turn) -> Reading[None]:
    """Read code, or what may stand in its place: arguments as an object, or `NAME.method(…)`."""
    input = turn.input
    found = yield from marker_here(turn, input.rules.at_code_start)
    at = input.here
    if found and found.role is Role.CODE_METHOD:
        input.take(found.end)
        call = begin_call(turn, found.slot("name"), at, at=at)
        yield from read_keywords(turn, call)
        return
    call = begin_call(turn, CODE_TOOL, at, at=at)
    if CODE_MAY_BE_OBJECT and found and found.role is Role.OBJECT:
        yield from read_json_arguments(turn, call)
    else:
        yield from read_code(turn, call)


def read_code(turn: Turn, call: OpenCall) -> Reading[None]:
    """Read code up to the turn's end."""
    key = dump_json(CODE_ARGUMENT)
    turn.events += call.add(f'{{{key}: "')
    is_over = False
    while not is_over:
        text, is_over = take_code(turn)
        turn.events += call.add(quote(text)[1:-1])
        if not is_over:
            yield MORE_TEXT
    turn.events += call.add('"}')
    end_call(turn, call)


def read_keywords(turn: Turn, call: OpenCall) -> Reading[None]:
    """Read a method's keyword arguments, up to the turn's end."""
    pieces: list[str] = []
    is_over = False
    while not is_over:
        text, is_over = take_code(turn)
        pieces.append(text)
        if not is_over:
            yield MORE_TEXT
    text = "".join(pieces)
    arguments = literal_as_json(f"_({text}")
    if arguments is None:
        told = f"not Python's keyword arguments: {text!r}"
        turn.problem("cut_off" if turn.input.final else "malformed", told)
    turn.events += call.add(arguments or "{}")
    call.complete = arguments is not None
    end_call(turn, call)


def take_code(turn: Turn) -> tuple[str, bool]:
    """Take the code that has come; return it, and whether it is over."""
    input = turn.input
    found = input.rules.at_code_end.search(input, not input.final)
    text = input.take(found.start if found else None)
    return text, input.final or bool(found and not found.is_partial)
