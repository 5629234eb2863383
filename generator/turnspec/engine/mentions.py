"""What a marker in the text is: it counts, or it is text, as one that is quoted or mentioned."""

from __future__ import annotations

import re

from turnspec.engine.calls import is_no_head, is_no_tool
from turnspec.engine.facts import (
    ARE_CALLS_ADDRESSED,
    ARE_LISTED,
    CALL_HAS_END,
    CALLS_ARE_OBJECTS,
    HAS_CALLS,
    HAS_REASONING,
    HAS_SPECIAL_TOKENS,
    NAMES_ARE_REPEATED,
    PARTS_HAVE_OPTIONAL_TEXTS,
    REASONING_END,
    REASONING_END_ENDS_CONTENT,
    REASONING_END_ENDS_TURN,
    REASONING_END_SIGNS,
    REASONING_ENDS_AS_IT_BEGINS,
    REASONING_HAS_END,
    REASONING_HAS_START,
    REASONING_IS_FIRST,
    REASONING_MAY_STAY_OPEN,
    REASONING_WORDS,
    UNWRITTEN,
)
from turnspec.engine.markers import WHITE_SPACE, Found
from turnspec.engine.roles import Role
from turnspec.engine.turn_state import tell_missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.turn import Turn


#: The roles of markers with which calls begin, and of those that no call has before its end.
CALLS_BEGIN = (
    *(Role.OPENING, Role.NOISY_OPENING, Role.CALL, Role.OTHER_CALL, Role.SHORT_CALL),
    *(Role.NAME_ALONE, Role.OTHER_SYNTAX, Role.OTHER_SYNTAX_NAME, Role.CLOSED_CALL),
    *(Role.UNTAGGED_CALL, Role.OBJECT),
)
ENDS_DRAFT = (Role.REASONING_START, Role.REASONING_END, Role.BETWEEN, Role.CONTENT_START)
#: How much white space may stand before text that a marker is a part of.
MOST_SPACE = 99


def note_text(turn: Turn, found: Found) -> bool:
    """Note what makes a marker text: what it opens, closes or names is not there; say if it is."""
    state = turn.state
    if HAS_REASONING and found.role in (Role.REASONING_START, Role.REASONING_END):
        return not state.thinking and note_quoted_marker(turn, found)
    if not HAS_CALLS:
        return False
    closes = found.role in (Role.CALL_END, Role.SECTION_END)
    if HAS_REASONING and closes and state.thinking and not state.called:
        turn.problem("stray_marker", f"{found.text!r} is text here", found.offset)
        return True
    is_user_text = ARE_CALLS_ADDRESSED and is_for_user(turn, found)
    if not ARE_CALLS_ADDRESSED and closes and state.mentioned:
        is_in_prose = "".join(turn.content.space) + found.text[:1] in (" <", " [")
        is_told = CALLS_ARE_OBJECTS and any(it.kind == "no_name" for it in turn.problems[-1:])
        if not (is_in_prose or is_told):
            turn.problem("no_name", f"no call before {found.text!r}", found.offset)
    if not CALL_HAS_END and found.role is Role.PLAIN_TEXT:
        next_signs = turn.input.text[found.end : found.end + 2]
        if re.match(r"[\w\"]|[{[][^`]", next_signs):
            turn.problem("no_name", f"no call after {found.text!r}", found.offset)
    if found.role is Role.PLAIN_TEXT or (closes and state.mentioned) or is_user_text:
        state.mentioned = True  # so that what closes it is text as well
        return True
    if ARE_LISTED and found.role is Role.LISTED:  # an object is none outside a list
        is_next = "".join(turn.content.pieces[-1:])[-1:] == ","  # to what is no call
        return not (state.opened and (state.called or is_next))
    if CALLS_ARE_OBJECTS:  # an object is none without tools
        return found.role in (Role.OBJECT, Role.UNTAGGED_CALL) and not turn.tools
    is_mention = is_no_head(turn, found)
    state.mentioned = state.mentioned or is_mention
    return is_mention


def is_within_text(turn: Turn, found: Found) -> bool | None:
    """Say whether a marker in content is text, as it is quoted; None if more text decides."""
    is_thought = HAS_REASONING and turn.state.thinking
    input, stream = turn.input, turn.reasoning if UNWRITTEN and is_thought else turn.content
    if found.offset < 0 and found.text in input.rules.further:
        return True  # in the prompt it stops nothing
    tokens = HAS_SPECIAL_TOKENS and input.special_tokens_in(found.start, found.end)
    if tokens or turn.state.after_marker or found.text in input.rules.stop:
        return False
    last = stream.pieces[-1][-1] if stream.pieces and not stream.space else " "
    if UNWRITTEN and (found.text in UNWRITTEN or found.role is Role.SPECIAL_TOKEN):
        return is_unwritten_text(turn, found, last, "".join(stream.space))
    if (HAS_REASONING and turn.state.thinking) or (
        found.role in (Role.PLAIN_TEXT, Role.REASONING_START)
    ):
        return False  # other rules tell of it
    if last in "\"'`" and found.end == len(input.text) and not input.final:
        return None
    return last in "\"'`" and input.text[found.end : found.end + 1] == last


def is_unwritten_text(turn: Turn, found: Found, last: str, space: str) -> bool | None:
    """Say whether a marker that the template never writes is text: more of it comes next.

    One that stands around content does so but in quotes, and one that ends the turn but in quotes
    or as a word. Return None if more text decides.
    """
    input, is_token = turn.input, found.role is Role.SPECIAL_TOKEN
    is_word = is_token or (found.role is Role.TURN_END and space == " ")
    if not is_word and last not in "\"'`":
        return False
    space = input.text[found.end : found.end + 2 * MOST_SPACE]
    at = found.end + len(space) - len(space.lstrip(WHITE_SPACE))
    if at - found.end > MOST_SPACE:
        return False
    if at == len(input.text):
        return False if input.final else None
    after = input.rules.in_text.match(input, not input.final, at)
    if after and after.is_partial:
        return None
    if after is None or after.role is Role.PLAIN_TEXT:
        turn.problem("stray_marker", f"{found.text!r} is text here", found.offset)
        return True
    return False


def note_content_header(turn: Turn, found: Found) -> bool:
    """Tell of a name that no header of content has; say whether a header is one of content."""
    name = found.slot("name")
    if name:
        turn.problem("unexpected_text", f"{name!r} in {found.text!r}", found.offset)
    return found.role is Role.CONTENT_START and (not name or is_no_tool(turn, name))


def is_for_user(turn: Turn, found: Found) -> bool:
    """Say whether a call, without special tokens, stands in a message for no tool."""
    tokens = HAS_SPECIAL_TOKENS and turn.input.special_tokens_in(found.start, found.end)
    lacks_header = NAMES_ARE_REPEATED and found.role is Role.SHORT_CALL
    is_thought = HAS_REASONING and turn.state.thinking and lacks_header
    return (turn.state.for_user or is_thought) and found.role in CALLS_BEGIN and not tokens


def quote_marker(turn: Turn, found: Found) -> bool:
    """Leave a marker of reasoning in the content; return whether it is one."""
    is_start = found.role is Role.REASONING_START
    if not (is_start or (turn.state.thinking and found.role in (Role.REASONING_END, Role.BETWEEN))):
        return False
    marker, at = found.text, found.offset
    if found.role is Role.BETWEEN:
        marker = REASONING_END
    turn.opening = marker if is_start else ""
    if at < turn.shown:
        turn.content.begun = True
    else:
        turn.events += turn.content.write_body(marker, at, at + len(marker))
    return True


def open_reasoning(turn: Turn, found: Found) -> None:
    """Begin reasoning, and tell where none belongs."""
    state = turn.state
    if REASONING_ENDS_AS_IT_BEGINS and state.thinking:
        state.thinking = False
        return
    if PARTS_HAVE_OPTIONAL_TEXTS:
        tell_missing(turn, found, found.offset)
    if state.thinking:
        turn.problem("repeated", f"{found.text!r} in the reasoning", found.offset)
    elif REASONING_IS_FIRST and (
        (turn.content.begun and not turn.inline) or (HAS_CALLS and state.called)
    ):
        turn.problem("misplaced", "reasoning after content or calls", found.offset)
    state.thinking = True
    if ARE_CALLS_ADDRESSED:
        state.for_user = False


def leave_reasoning(turn: Turn, found: Found) -> None:
    """End reasoning by what leads to content, if only by the end that is part of it."""
    if REASONING_HAS_END and not REASONING_MAY_STAY_OPEN:
        holds_end = REASONING_END_SIGNS in "".join(found.text.split())
        if turn.state.thinking and not holds_end:
            turn.problem("unclosed", "the reasoning was not closed", found.offset)
    turn.state.thinking = False


def note_quoted_marker(turn: Turn, found: Found) -> bool:
    """Note whether content is about a marker of reasoning, in quotes or closing such; say so."""
    state, is_start = turn.state, found.role is Role.REASONING_START
    if REASONING_WORDS and "".join(found.text.split()) in REASONING_WORDS:
        return not is_start or turn.content.begun or (HAS_CALLS and state.called)
    if not REASONING_HAS_START or REASONING_END_ENDS_TURN or REASONING_END_ENDS_CONTENT:
        return False
    pending, state.quotes_reasoning = state.quotes_reasoning, False
    if pending and not is_start:
        return True
    content = turn.content
    last = content.pieces[-1][-1] if content.pieces and not content.space else " "
    is_quoted = (REASONING_IS_FIRST or not is_start) and not state.after_marker and last in "\"'`"
    state.quotes_reasoning = is_quoted and is_start
    is_first = not (is_start or turn.reasoning.begun)
    if is_first and "".join(content.space) == " ":  # within a sentence
        turn.problem("stray_marker", f"{found.text!r} is text here", found.offset)
        return True
    return is_quoted
