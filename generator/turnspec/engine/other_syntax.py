"""Calls in another format's syntax, read as a whole."""

from __future__ import annotations

from turnspec.engine.facts import ARGUMENTS, CALL_HAS_END, NAME
from turnspec.engine.markers import WHITE_SPACE
from turnspec.engine.mention_text import write_mention
from turnspec.engine.other_calls import other_calls
from turnspec.engine.roles import MORE_TEXT
from turnspec.engine.turn_state import Hold, begin_call, end_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.markers import Found
    from turnspec.engine.text import Reading
    from turnspec.engine.turn import Turn


def read_other_syntax(turn: Turn, found: Found) -> Reading[bool]:
    """Read a call up to its end; return whether it is one, else it is text."""
    input = turn.input
    pieces: list[str] = []
    turn.holds.append(Hold(turn, found.offset))
    while True:
        end = input.rules.at_call_end.search(input, not input.final)
        pieces.append(input.take(end.start if end else None))
        if input.final or (end and not end.is_partial):
            break
        yield MORE_TEXT
    calls = other_calls("".join(pieces), NAME, turn.tools or {})
    if ARGUMENTS == "values" and end and not calls:  # whose bracket is the call's own
        calls = other_calls("".join(pieces) + end.text[:1], NAME, turn.tools or {})
    if not (calls or CALL_HAS_END):  # each has its opening
        texts = "".join(pieces).split(found.text.strip(WHITE_SPACE))
        each = [other_calls(it, NAME, turn.tools or {}) for it in texts]
        calls = [it for one in each for it in one] if all(each) else []
    if not calls:
        turn.state.mentioned = True
        write_mention(turn, turn.go_back())
        if not CALL_HAS_END:
            turn.problem("no_name", f"no call after {found.text!r}", found.offset)
        return False
    start = turn.holds.pop().offset
    for name, arguments, told in calls:
        open_call = begin_call(turn, name, start, at=input.here)
        turn.problem("other_syntax", told, start)
        turn.events += open_call.add(arguments)
        end_call(turn, open_call)
        start = input.here
    return True
