"""Add the text of what was no call; tell of markers in it."""

from __future__ import annotations

from turnspec.engine.facts import ARE_CALLS_ADDRESSED, CALLS_ARE_OBJECTS, HAS_DRAFTS
from turnspec.engine.input import Input
from turnspec.engine.roles import OF_TURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.turn import Turn


def write_mention(turn: Turn, end: int, may_break_off: bool = False) -> None:
    """Add the text of what was no call; tell of markers in it."""
    input, start, at = turn.input, turn.input.position, 1
    text, marked = input.text[start:end], input.marked[start:end]
    mention = Input(input.here, input.rules, text, marked)
    if HAS_DRAFTS and turn.is_draft:  # then it ends here, and takes long to read twice
        at = end - start
    while found := input.rules.in_text.search(mention, CALLS_ARE_OBJECTS and may_break_off, at):
        if CALLS_ARE_OBJECTS and found.is_partial:
            end = start + found.start
        elif found.role in OF_TURN and not (ARE_CALLS_ADDRESSED and turn.state.for_user):
            turn.problem("stray_marker", f"{found.text!r} is text here", found.offset)
        at = max(found.end, found.start + 1)
    turn.write(end)
