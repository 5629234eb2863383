"""The turn: text up to the markers, and what these ask for."""

from __future__ import annotations

import re

from turnspec.engine.calls import PARTICIPANTS, is_no_tool, read_head_marker
from turnspec.engine.facts import (
    ARE_CALLS_ADDRESSED,
    ARGUMENTS_MARK,
    BEFORE_CONTENT,
    CALLS_ARE_OBJECTS,
    CALLS_BEGIN_WITH_NAME,
    CONTENT_IS_LAST,
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
    REASONING_END_ENDS_CONTENT,
    REASONING_END_ENDS_TURN,
    REASONING_HAS_END,
    REASONING_MAY_END_TURN,
    REASONING_MAY_STAY_OPEN,
    SEPARATOR,
    STARTS_IN_REASONING,
    WORDS,
)
from turnspec.engine.markers import WHITE_SPACE, Found, after_space
from turnspec.engine.mention_text import write_mention
from turnspec.engine.mentions import (
    CALLS_BEGIN,
    ENDS_DRAFT,
    MOST_SPACE,
    is_within_text,
    leave_reasoning,
    note_content_header,
    note_text,
    open_reasoning,
    quote_marker,
)
from turnspec.engine.objects import read_calls, read_object_marker, tell_lost_call
from turnspec.engine.results import ContentDelta, Problem
from turnspec.engine.roles import MORE_TEXT, OF_TURN, Role
from turnspec.engine.streams import Stream
from turnspec.engine.turn_state import Hold, TextState, tell_missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TypeAlias, TypeVar

    from turnspec.engine.turn import Turn

    T = TypeVar("T")
    #: A generator that yields MORE_TEXT when it needs more; `Parser.feed` resumes it.
    Reading: TypeAlias = Generator[None, None, T]


def read_turn(turn: Turn) -> Reading[None]:
    """Read up to the end of the turn, and what follows that: more ends, and what is no content."""
    if STARTS_IN_REASONING:
        turn.state.thinking = True
    yield from read_parts(turn)
    input = turn.input
    while found := input.rules.after_turn.match(input, partial=not input.final):
        if found.is_partial:
            yield MORE_TEXT
        else:
            input.take(found.end)
    while not input.final:
        turn.after_end.append(input.take())
        yield MORE_TEXT
    rest = "".join([*turn.after_end, input.take()]).lstrip(WHITE_SPACE)
    if HAS_SEAMS:
        for offset, text in (
            [*turn.reasoning.joined(), *turn.content.joined()]
            if HAS_REASONING
            else [*turn.content.joined()]
        ):
            turn.problem("stray_marker", f"{text!r} is text here", offset)
    may_be_open = HAS_CALLS and REASONING_MAY_STAY_OPEN and turn.state.called
    if (
        HAS_REASONING
        and not (REASONING_MAY_END_TURN or may_be_open)
        and turn.state.thinking
        and all(it.kind != "unclosed" for it in turn.problems)
    ):
        turn.problem("unclosed", "the reasoning was not closed")
    if (CALLS_ARE_OBJECTS or (HAS_CALLS and ARGUMENTS_MARK)) and not (
        turn.problems or (HAS_SPECIAL_TOKENS and input.rules.special)
    ):
        tell_lost_call(turn)
    if rest:
        turn.problem("text_after_end", rest, input.here - len(rest))
    while True:
        yield MORE_TEXT


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
                    tell_missing(turn, found, found.offset)
                if HAS_REASONING:
                    leave_reasoning(turn, found)
                if ARE_CALLS_ADDRESSED:
                    turn.state.for_user = note_content_header(turn, found)
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
    """Pass text on up to a marker that counts; return None at the end of the text."""
    while found := (yield from find_marker(turn)):
        if ARE_CALLS_ADDRESSED and NAMES_ARE_REPEATED:
            found = header_in(turn, found)
        is_within = is_within_text(turn, found)
        if is_within is None:
            yield MORE_TEXT
        elif is_within:
            turn.write(found.end)
        elif (HAS_REASONING or HAS_CALLS) and note_text(turn, found):
            write_mention(turn, max(found.end, found.start + 1))
        elif HAS_DRAFTS and turn.state.thinking and found.role in CALLS_BEGIN:
            if (yield from read_draft(turn, found)):
                return None
        elif HAS_DRAFTS and turn.is_draft and found.role in ENDS_DRAFT:
            turn.draft_end = found.offset
            return None
        else:
            return found
    return None


def find_marker(turn: Turn) -> Reading[Found | None]:
    """Pass text on up to what looks like a marker; return None at the end of the text."""
    input = turn.input
    while True:
        if BEFORE_CONTENT and (yield from take_lead(turn)):
            continue
        if HAS_CALLS and drop_noise(turn):
            yield MORE_TEXT
            continue
        found = input.rules.in_text.search(input, partial=not input.final)
        if HAS_CALLS and CALLS_BEGIN_WITH_NAME and turn.state.after_marker:
            found = input.rules.between_calls.match(input, not input.final) or found
        if (
            FIRST_CALL
            and (begins_tool(turn) if FIRST_CALL_IS_NAME else turn.state.after_marker)
            and not ((HAS_REASONING and turn.state.thinking) or input.rules.special)
        ):
            found = input.rules.first_call.match(input, not input.final) or found
        if (HAS_CALLS or LEFT_OUT_IF_LAST) and drop_begun_marker(turn, found):
            return None
        turn.write(found.start if found else len(input.text))
        if HAS_DRAFTS and turn.draft_end is not None:
            return None
        if input.final or (found and not found.is_partial):
            return found
        stream = turn.reasoning if HAS_REASONING and turn.state.thinking else turn.content
        if not found and not turn.state.after_marker and stream.begun:
            turn.flow = stream.flow
        yield MORE_TEXT


def begins_tool(turn: Turn) -> bool:
    """Say whether a tool's name is next, where text begins, as far as it goes."""
    if not turn.state.after_marker:
        return False
    at = after_space(turn.input.text, turn.input.position)
    word = turn.input.text[at : at + 256]
    return any(word.startswith(it) or it.startswith(word) for it in turn.tools or ())


def take_lead(turn: Turn) -> Reading[bool]:
    """Drop the words that stand before all content; return whether there are any."""
    input, state = turn.input, turn.state
    is_later = turn.content.begun or (HAS_CALLS and not CONTENT_IS_LAST and state.called)
    if ARE_CALLS_ADDRESSED and state.last is Role.BETWEEN:
        is_later = False  # as a message begins
    if is_later or not state.after_marker or (HAS_REASONING and state.thinking):
        return False
    rest, may_be_call = input.text[input.position :].lstrip(WHITE_SPACE), False
    at = len(input.text) - len(rest)
    if at - input.position > MOST_SPACE:
        turn.write(at - MOST_SPACE)
    found = input.rules.before_content.match(input, not input.final, at)
    if ARE_CALLS_ADDRESSED:  # a call may have no other header
        begun = input.rules.in_text.match(input, not input.final, at)
        if begun and not begun.is_partial:
            return False
        may_be_call = begun is not None
    if found and (found.is_partial or may_be_call):
        yield MORE_TEXT
    elif found:
        turn.write(at)
        input.take(found.end)
        state.after_marker = False
        if ARE_CALLS_ADDRESSED:
            tell_words(turn, found)
            state.for_user = True
            if found.role is Role.REASONING_START:
                open_reasoning(turn, found)
            else:
                tell_missing(turn, found, found.offset)
    return found is not None


def drop_noise(turn: Turn) -> bool:
    """Drop brackets and fences after a call that close nothing; say whether more may come."""
    state, input = turn.state, turn.input
    starts = (Role.TURN_START, Role.REASONING_START, Role.CONTENT_START)
    if not (state.after_marker and state.called) or state.last in starts:
        return False
    while True:
        at = after_space(input.text, input.position)
        found = input.rules.after_call.match(input, not input.final, at)
        is_own = input.rules.in_text.match(input, not input.final, at)
        if found is None or is_own or found.role is Role.MARKER:
            return False
        if found.is_partial:
            return True
        turn.write(at)
        if not SEPARATOR or found.text.strip() != SEPARATOR:
            turn.problem("stray_marker", f"{found.text.strip()!r} after a call")
        input.take(found.end)


def header_in(turn: Turn, found: Found) -> Found:
    """Return the header of text with which a call's head begins, if it names no tool."""
    name, again = found.slot("name"), found.slot("name_again")
    if found.role not in CALLS_BEGIN or not again or not is_no_tool(turn, name):
        return found
    if again in (name, name.split(".")[-1]) and name not in PARTICIPANTS:
        return found
    rules = turn.input.rules.content_headers
    header = rules.match(turn.input, not turn.input.final, found.start)
    if header is None or header.is_partial or (header.slot("name") and name == again):
        return found
    return header


def drop_begun_marker(turn: Turn, found: Found | None) -> bool:
    """Leave out a marker that the text ends in; say whether there is one."""
    input = turn.input
    may_grow = (Role.PLAIN_TEXT, Role.TURN_START, Role.CONTENT_START, Role.OTHER_SYNTAX)
    if not input.final or (found and not (HAS_FOLLOWERS and found.role in may_grow)):
        return False
    begun = input.rules.at_text_end.search(input, partial=True)
    if begun is None or not (begun.is_partial and begun.text.strip(WHITE_SPACE)):
        return False
    before = input.text[input.position : begun.start].strip(WHITE_SPACE)
    is_after_call = HAS_CALLS and turn.state.called and turn.state.after_marker and not before
    opened = input.rules.left_out_if_last.match(input, False, begun.start)
    if not (is_after_call or (opened and not input.text.startswith("`", opened.end))):
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


def read_draft(turn: Turn, found: Found) -> Reading[bool]:
    """Read calls in open reasoning; return False if text follows: then all is reasoning."""
    turn.readings = turn.readings + 1 if found.offset < turn.read_to else 0
    if turn.readings > 32:  # in a row, as each may be read to the text's end
        turn.problem("draft", f"{found.text!r} is text here", found.offset)
        turn.write(found.start + 1)
        return False
    state, content = turn.state, turn.content
    turn.holds.append(Hold(turn, found.offset))
    turn.input.final = False  # till `finish` says once more that it is over
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
    while is_broken and at < input.position:
        found = input.rules.in_text.search(input, False, at)
        if found is None or found.role in ENDS_DRAFT:
            return found.offset if found else None
        at = max(found.end, found.start + 1)
    return None
