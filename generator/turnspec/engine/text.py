"""The turn: text up to the markers, and what these ask for."""

from __future__ import annotations

import re

from turnspec.engine.calls import (
    PARTICIPANTS,
    is_no_head,
    is_no_tool,
    read_head_marker,
)
from turnspec.engine.facts import (
    ARE_CALLS_ADDRESSED,
    ARE_LISTED,
    BEFORE_CONTENT,
    CALL_HAS_END,
    CALLS_ARE_OBJECTS,
    CALLS_BEGIN_WITH_NAME,
    FIRST_CALL,
    FIRST_CALL_IS_NAME,
    HAS_CALLS,
    HAS_DRAFTS,
    HAS_FOLLOWERS,
    HAS_REASONING,
    HAS_SEAMS,
    HAS_SPECIAL_TOKENS,
    IS_BARE,
    LEFT_OUT_IF_LAST,
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
    REASONING_MAY_END_TURN,
    REASONING_MAY_STAY_OPEN,
    REASONING_WORDS,
    UNWRITTEN,
    WORDS,
)
from turnspec.engine.input import Input
from turnspec.engine.markers import WHITE_SPACE, Found, after_space
from turnspec.engine.objects import read_calls, read_object_marker, tell_lost_call
from turnspec.engine.results import ContentDelta, Problem
from turnspec.engine.roles import MORE_TEXT, Role
from turnspec.engine.streams import Stream
from turnspec.engine.turn import OF_TURN, Hold, TextState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TypeAlias, TypeVar

    from turnspec.engine.turn import Turn

    T = TypeVar("T")
    #: A generator that yields MORE_TEXT when it needs more; `Parser.feed` resumes it.
    Reading: TypeAlias = Generator[None, None, T]


def read_parts(turn: Turn) -> Reading[None]:
    """Read what a turn consists of, up to its end."""
    if CALLS_ARE_OBJECTS and IS_BARE and not (HAS_REASONING and turn.state.thinking):
        yield from read_calls(turn, announced=False)  # whatever the name of the first
    while found := (yield from next_marker(turn)):
        if WORDS:
            tell_words(turn, found)
        is_quoted = HAS_REASONING and turn.inline and quote_marker(turn, found)
        after_call = HAS_CALLS and note_marker(turn, found)
        turn.input.take(found.end)
        turn.state.after_marker = not is_quoted
        if HAS_CALLS and found.role in OF_TURN:
            turn.state.mentioned = False  # what closes a mention is in the same part
        match found.role:
            case Role.TURN_END:
                if HAS_REASONING and (REASONING_MAY_STAY_OPEN or not REASONING_HAS_END):
                    turn.state.thinking = False
                return
            case Role.TURN_START | Role.REPEATED:
                turn.problem("repeated", f"{found.text!r} once more", found.offset)
            case Role.REASONING_START:
                open_reasoning(turn, found)
            case Role.REASONING_END:
                is_stray, turn.state.thinking = not turn.state.thinking, False
                if REASONING_END_ENDS_TURN and is_stray:
                    return
                ends_more = REASONING_END_ENDS_TURN or REASONING_END_ENDS_CONTENT
                if not ends_more and is_stray and turn.content.begun:
                    message = f"{found.text!r} outside reasoning (see `prefill`)"
                    turn.problem("stray_marker", message, found.offset)
            case Role.BETWEEN | Role.CONTENT_START:
                if PARTS_HAVE_OPTIONAL_TEXTS:
                    turn.tell_missing(found, found.offset)
                if HAS_REASONING:
                    leave_reasoning(turn, found)
                if ARE_CALLS_ADDRESSED:
                    turn.state.for_user = is_content_header(turn, found)
            case Role.SPECIAL_TOKEN:
                turn.problem("stray_marker", f"{found.text!r} is no text here", found.offset)
                is_first = not (turn.content.begun or (HAS_REASONING and turn.state.thinking))
                if CALLS_ARE_OBJECTS and IS_BARE and is_first:
                    yield from read_calls(turn, announced=False)
            case _:
                if CALLS_ARE_OBJECTS:
                    yield from read_object_marker(turn, found, after_call)
                elif HAS_CALLS:
                    yield from read_head_marker(turn, found, after_call)


def next_marker(turn: Turn) -> Reading[Found | None]:
    """Pass text on up to a marker; return None at the end of the text."""
    input = turn.input
    while True:
        if BEFORE_CONTENT and (yield from take_lead(turn)):
            continue
        if HAS_CALLS and is_noise_begun(turn):
            yield MORE_TEXT
            continue
        found = input.rules.in_text.search(input, partial=not input.final)
        if HAS_CALLS and CALLS_BEGIN_WITH_NAME and turn.state.after_marker:
            found = input.rules.between_calls.match(input, not input.final) or found
        is_thought = HAS_REASONING and turn.state.thinking
        is_first = turn.state.after_marker and not (is_thought or input.rules.special)
        if FIRST_CALL and is_first and (not FIRST_CALL_IS_NAME or begins_tool(turn)):
            found = input.rules.first_call.match(input, not input.final) or found
        if (HAS_CALLS or LEFT_OUT_IF_LAST) and breaks_off(turn, found):
            return None
        turn.write(found.start if found else len(input.text))
        if HAS_DRAFTS and turn.draft_end is not None:
            return None
        if found is None or found.is_partial:
            if input.final:
                return None
            stream = turn.reasoning if is_thought else turn.content
            if not found and not turn.state.after_marker and stream.begun:
                turn.flow = stream.flow
            yield MORE_TEXT
            continue
        if found.offset < 0 and found.text in input.rules.further:
            turn.write(found.end)  # in the prompt it stops nothing
            continue
        if ARE_CALLS_ADDRESSED and NAMES_ARE_REPEATED:
            found = header_in(turn, found)
        is_within = is_within_text(turn, found)
        if is_within is None:
            yield MORE_TEXT
        elif is_within:
            turn.write(found.end)
        elif (HAS_REASONING or HAS_CALLS) and is_text(turn, found):
            turn.write_mention(max(found.end, found.start + 1))
        elif HAS_DRAFTS and turn.state.thinking and found.role in CALLS_BEGIN:
            if (yield from read_draft(turn, found)):
                return None
        elif HAS_DRAFTS and turn.is_draft and found.role in ENDS_DRAFT:
            turn.draft_end = found.offset
            return None
        else:
            return found


#: The roles of markers with which calls begin, and of those that no call has before its end.
CALLS_BEGIN = (
    *(Role.OPENING, Role.NOISY_OPENING, Role.CALL, Role.OTHER_CALL, Role.SHORT_CALL),
    *(Role.NAME_ALONE, Role.OTHER_SYNTAX, Role.OTHER_SYNTAX_NAME, Role.CLOSED_CALL),
)
ENDS_DRAFT = (Role.REASONING_START, Role.REASONING_END, Role.BETWEEN, Role.CONTENT_START)


#: How much white space may stand before text that a marker is a part of.
MOST_SPACE = 99


def begins_tool(turn: Turn) -> bool:
    """Say whether a tool's name is next, as far as the text goes."""
    at = after_space(turn.input.text, turn.input.position)
    word = turn.input.text[at : at + 256]
    return any(word.startswith(tool) or tool.startswith(word) for tool in turn.tools or ())


def after_blanks(input: Input, start: int) -> int:
    """Return the position after white space, of which no more than twice that is looked at."""
    space = input.text[start : start + 2 * MOST_SPACE]
    return start + len(space) - len(space.lstrip(WHITE_SPACE))


def take_lead(turn: Turn) -> Reading[bool]:
    """Drop the words that stand before all content; return whether there are any."""
    input, state = turn.input, turn.state
    is_later = turn.content.begun or (HAS_CALLS and state.called)
    if ARE_CALLS_ADDRESSED and state.last is Role.BETWEEN:
        is_later = False  # as a message begins
    if is_later or not state.after_marker or (HAS_REASONING and state.thinking):
        return False
    at, may_be_call = after_blanks(input, input.position), False
    while at - input.position > MOST_SPACE:
        turn.write(at - MOST_SPACE)
        at = after_blanks(input, input.position)
    found = input.rules.before_content.match(input, not input.final, at)
    if ARE_CALLS_ADDRESSED:  # a call may have no other header
        begun = input.rules.in_text.match(input, not input.final, at)
        if begun and not begun.is_partial:
            return False
        may_be_call = begun is not None
    if found is None:
        return False
    if found.is_partial or may_be_call:
        yield MORE_TEXT
    else:
        turn.write(at)
        input.take(found.end)
        state.after_marker = False
        if ARE_CALLS_ADDRESSED:
            tell_words(turn, found)
            state.for_user = True
            if found.role is Role.REASONING_START:
                open_reasoning(turn, found)
    return True


def is_noise_begun(turn: Turn) -> bool:
    """Drop brackets and fences after a call that close nothing; say whether more may come."""
    state, input = turn.state, turn.input
    starts = (Role.TURN_START, Role.REASONING_START, Role.CONTENT_START)
    if not (state.after_marker and state.called) or state.last in starts:
        return False
    at = after_space(input.text, input.position)
    if at == len(input.text) and not input.final:
        return False
    found = input.rules.after_call.match(input, not input.final, at)
    is_own = input.rules.in_text.match(input, not input.final, at)
    if found is None or is_own or found.role is Role.MARKER:
        return False
    if not found.is_partial:
        turn.write(at)
        turn.problem("stray_marker", f"{found.text.strip()!r} after a call")
        input.take(found.end)
    return found.is_partial


def header_in(turn: Turn, found: Found) -> Found:
    """Return the header of content with which a call's head begins, if it names no tool."""
    name, again = found.slot("name"), found.slot("name_again")
    if found.role not in CALLS_BEGIN or not again or not is_no_tool(turn, name):
        return found
    if name == again and name not in PARTICIPANTS:
        return found
    rules = turn.input.rules.content_headers
    header = rules.match(turn.input, not turn.input.final, found.start)
    if header is None or header.is_partial or (header.slot("name") and name == again):
        return found
    return header


def breaks_off(turn: Turn, found: Found | None) -> bool:
    """Leave out a marker that the text ends in; say whether there is one."""
    input = turn.input
    may_grow = (Role.PLAIN_TEXT, Role.TURN_START, Role.CONTENT_START, Role.OTHER_SYNTAX)
    if not input.final or (found and not (HAS_FOLLOWERS and found.role in may_grow)):
        return False
    rules = input.rules.at_text_end if HAS_CALLS else input.rules.in_text
    begun = rules.search(input, partial=True)
    if begun is None or not (begun.is_partial and begun.text.strip(WHITE_SPACE)):
        return False
    before = input.text[input.position : begun.start].strip(WHITE_SPACE)
    is_after_call = HAS_CALLS and turn.state.called and turn.state.after_marker and not before
    is_begun = input.rules.left_out_if_last.match(input, False, begun.start)
    if not (is_begun or is_after_call):
        return False
    turn.write(begun.start)
    turn.problem("cut_off", begun.text)
    input.take()
    return True


def tell_words(turn: Turn, found: Found) -> None:
    """Tell of words in a marker that none of the format's own has."""
    for step, text in found.parts:
        word = text.strip(WHITE_SPACE)
        is_slot = isinstance(step, re.Pattern) and "word" in step.groupindex
        if is_slot and word not in ("", *WORDS):
            turn.problem("unexpected_text", f"{word!r} in {found.text!r}", found.offset)


def note_marker(turn: Turn, found: Found) -> bool:
    """Note a marker; say whether nothing but white space, no content, parts it from a call."""
    state = turn.state
    closes = found.role in (Role.CALL_END, Role.SECTION_END)
    if state.after_marker and (closes or state.last is Role.OPENING):
        del turn.content.space[state.space_kept :]
    state.space_kept = len(turn.content.space)
    state.last = found.role
    return state.called and state.after_marker


def quote_marker(turn: Turn, found: Found) -> bool:
    """Leave a marker of reasoning in the content; return whether it is one."""
    is_start = found.role is Role.REASONING_START
    ends = found.role in (Role.REASONING_END, Role.BETWEEN)
    if not is_start and not (ends and turn.state.thinking):
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


def is_text(turn: Turn, found: Found) -> bool:
    """Say whether a marker is text: what it opens, closes or names is not there."""
    state = turn.state
    if HAS_REASONING and found.role in (Role.REASONING_START, Role.REASONING_END):
        return not state.thinking and is_quoted_marker(turn, found)
    if not HAS_CALLS:
        return False
    closes = found.role in (Role.CALL_END, Role.SECTION_END)
    if HAS_REASONING and closes and state.thinking and not state.called:
        turn.problem("stray_marker", f"{found.text!r} is text here", found.offset)
        return True
    is_user_text = ARE_CALLS_ADDRESSED and is_for_user(turn, found)
    if not (CALLS_ARE_OBJECTS or ARE_CALLS_ADDRESSED) and closes and state.mentioned:
        last = turn.content.pieces[-1][-1] if turn.content.pieces else "'"
        if "".join(turn.content.space) != " " and last not in "\"'`":  # not in prose
            turn.problem("no_name", f"no call before {found.text!r}", found.offset)
    if not (CALLS_ARE_OBJECTS or CALL_HAS_END) and found.role is Role.PLAIN_TEXT:
        next_sign = turn.input.text[found.end : found.end + 1]
        if re.match(r"\w", next_sign):
            turn.problem("no_name", f"no call after {found.text!r}", found.offset)
    if found.role is Role.PLAIN_TEXT or (closes and state.mentioned) or is_user_text:
        state.mentioned = True  # so that what closes it is text as well
        return True
    if ARE_LISTED and found.role is Role.LISTED:  # an object is none outside a list
        return not (state.opened and state.called)
    if CALLS_ARE_OBJECTS:  # an object is none without tools
        return found.role in (Role.OBJECT, Role.UNTAGGED_CALL) and not turn.tools
    return is_no_head(turn, found)


def is_within_text(turn: Turn, found: Found) -> bool | None:
    """Say whether a marker in content is text, as it is quoted; None if more text decides."""
    is_thought = HAS_REASONING and turn.state.thinking
    input, stream = turn.input, turn.reasoning if UNWRITTEN and is_thought else turn.content
    tokens = HAS_SPECIAL_TOKENS and input.special_tokens_in(found.start, found.end)
    if tokens or turn.state.after_marker or found.text in input.rules.stop:
        return False
    last = stream.pieces[-1][-1] if stream.pieces and not stream.space else " "
    if UNWRITTEN and (found.text in UNWRITTEN or found.role is Role.SPECIAL_TOKEN):
        return is_unwritten_text(turn, found, last, "".join(stream.space))
    if is_thought or found.role in (Role.PLAIN_TEXT, Role.REASONING_START):
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
    at = after_blanks(input, found.end)
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


# Reasoning.


def open_reasoning(turn: Turn, found: Found) -> None:
    """Begin reasoning, and tell where none belongs."""
    state = turn.state
    if REASONING_ENDS_AS_IT_BEGINS and state.thinking:
        state.thinking = False
        return
    if PARTS_HAVE_OPTIONAL_TEXTS:
        turn.tell_missing(found, found.offset)
    is_late = (turn.content.begun and not turn.inline) or (HAS_CALLS and state.called)
    if state.thinking:
        turn.problem("repeated", f"{found.text!r} in the reasoning", found.offset)
    elif REASONING_IS_FIRST and is_late:
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


def is_quoted_marker(turn: Turn, found: Found) -> bool:
    """Say whether content is about a marker of reasoning: it is in quotes, or closes such."""
    state, is_start = turn.state, found.role is Role.REASONING_START
    if REASONING_WORDS and "".join(found.text.split()) in REASONING_WORDS:
        return not is_start or turn.content.begun or (HAS_CALLS and state.called)
    if not REASONING_HAS_START or REASONING_END_ENDS_TURN or REASONING_END_ENDS_CONTENT:
        return False
    pending, state.quotes_reasoning = state.quotes_reasoning, False
    if pending and not is_start:
        return True
    content = turn.content
    is_after_text = (REASONING_IS_FIRST or not is_start) and not state.after_marker
    last = content.pieces[-1][-1] if content.pieces else " "
    is_quoted = is_after_text and not content.space and last in "\"'`"
    state.quotes_reasoning = is_quoted and is_start
    is_first = not (is_start or turn.reasoning.begun)
    if is_first and "".join(content.space) == " ":  # within a sentence
        turn.problem("stray_marker", f"{found.text!r} is text here", found.offset)
        return True
    return is_quoted


def read_draft(turn: Turn, found: Found) -> Reading[bool]:
    """Read calls in open reasoning; return False if text follows: then all is reasoning."""
    turn.readings = turn.readings + 1 if found.offset < turn.read_to else 0
    if turn.readings > 64:  # in a row, as each may be read to the text's end
        turn.problem("draft", f"{found.text!r} is text here", found.offset)
        turn.write(found.start + 1)
        return False
    state, content = turn.state, turn.content
    turn.holds.append(Hold(turn, found.offset))
    turn.input.final = False  # a text is read as one that may go on, until it doesn't
    turn.state, turn.is_draft = TextState(), True
    turn.content = Stream(turn.input, ContentDelta)
    yield from read_parts(turn)
    turn.state, turn.content = state, content
    end, turn.draft_end, turn.is_draft = turn.draft_end, None, False
    closing = end_of_broken_draft(turn)
    if closing is not None and (end is None or closing < end):
        end = closing
    if end is None:
        hold = turn.holds.pop()
        unclosed = Problem(hold.offset, "unclosed", "a call inside the reasoning")
        turn.problems.insert(hold.problems, unclosed)
        return True
    turn.read_to = max(turn.read_to, turn.input.here)
    turn.go_back()
    turn.input.final = False
    turn.problem("draft", "a call in the reasoning, which goes on after it")
    turn.write(max(end - turn.input.offset, turn.input.position + 1))
    return False


def end_of_broken_draft(turn: Turn) -> int | None:
    """Return where reasoning ends within what was read of a call in it that breaks off."""
    input, hold = turn.input, turn.holds[-1]
    at = hold.offset - input.offset
    is_broken = not all(call.complete for call in turn.calls[hold.calls :])
    while is_broken and (found := input.rules.in_text.search(input, False, at)):
        if found.role in ENDS_DRAFT:
            return found.offset
        at = max(found.end, found.start + 1)
    return None


# What is no call.


def is_content_header(turn: Turn, found: Found) -> bool:
    """Say whether a header is one of content; tell of a name that no such header has."""
    name = found.slot("name")
    if name:
        turn.problem("unexpected_text", f"{name!r} in {found.text!r}", found.offset)
    return found.role is Role.CONTENT_START and (not name or is_no_tool(turn, name))


def is_for_user(turn: Turn, found: Found) -> bool:
    """Say whether a call stands in a message for the user, and no special token is in it."""
    tokens = HAS_SPECIAL_TOKENS and turn.input.special_tokens_in(found.start, found.end)
    return turn.state.for_user and found.role in CALLS_BEGIN and not tokens


# The end of the turn.


def read_turn(turn: Turn) -> Reading[None]:
    """Read up to the end of the turn, and what follows that: more ends, and what is no content."""
    yield from read_parts(turn)
    input = turn.input
    while found := input.rules.after_turn.match(input, partial=not input.final):
        if found.is_partial:
            yield MORE_TEXT
        else:
            input.take(found.end)
    while True:
        turn.after_end.append(input.take())
        if input.final:
            end_turn(turn, "".join(turn.after_end).lstrip(WHITE_SPACE))
            turn.after_end.clear()
        yield MORE_TEXT


def end_turn(turn: Turn, rest: str) -> None:
    """Tell what is missing or too much at the end of the text."""
    if HAS_SEAMS:
        for offset, text in (
            [*turn.reasoning.joined(), *turn.content.joined()]
            if HAS_REASONING
            else [*turn.content.joined()]
        ):
            turn.problem("stray_marker", f"{text!r} is text here", offset)
    may_be_open = HAS_CALLS and REASONING_MAY_STAY_OPEN and turn.state.called
    if HAS_REASONING and not (REASONING_MAY_END_TURN or may_be_open) and turn.state.thinking:
        turn.state.thinking = False
        if all(problem.kind != "unclosed" for problem in turn.problems):
            turn.problem("unclosed", "the reasoning was not closed")
    if CALLS_ARE_OBJECTS and not (
        turn.problems or (HAS_SPECIAL_TOKENS and turn.input.rules.special)
    ):
        tell_lost_call(turn)
    if rest:
        turn.problem("text_after_end", rest, turn.input.here - len(rest))
