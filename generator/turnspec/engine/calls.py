"""Calls with a head: a marker that holds the name, with the arguments after it."""

from __future__ import annotations

import re

from turnspec.engine.code import read_code_call
from turnspec.engine.facts import (
    ARE_CALLS_ADDRESSED,
    ARGUMENTS,
    AROUND_NAME,
    CALL_HEAD,
    CALLS_BEGIN_WITH_NAME,
    FIRST_ARGUMENT,
    HAS_CODE,
    HAS_IDS,
    HAS_MENTIONS,
    HAS_OPTIONAL_TEXTS,
    HAS_SECTIONS,
    HAS_SPECIAL_TOKENS,
    ID_AROUND_NAME,
    NAME,
    NAME_IS_LAST,
    NAME_STANDS_IN_ID,
    NAMES_ARE_REPEATED,
    NAMES_HAVE_SIGNS,
    NEEDS_OPENING,
    ONLY_IN_SECTION,
    OPENING,
    OPENINGS,
    WORDS,
)
from turnspec.engine.json_arguments import marker_here, read_early_arguments, read_json_arguments
from turnspec.engine.markers import WHITE_SPACE, Found, after_space
from turnspec.engine.other_syntax import read_other_syntax
from turnspec.engine.roles import MORE_TEXT, Role
from turnspec.engine.text_arguments import read_text_arguments
from turnspec.engine.tools import object_in
from turnspec.engine.turn_state import begin_call, end_call, missing_texts, tell_missing
from turnspec.engine.value_arguments import read_value_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnspec.engine.text import Reading
    from turnspec.engine.turn import Turn

#: Those who talk in a conversation, in the words of chat-completions APIs.
PARTICIPANTS = ("assistant", "user", "system", "developer", "tool")


def is_no_head(turn: Turn, found: Found) -> bool:
    """Say whether a head has nothing but its name, or no opening, and no tool has that name."""
    if not HAS_MENTIONS and found.role is Role.OPENING:  # a mere bracket
        input = turn.input
        head = input.rules.between_calls.match(input, not input.final, found.end)
        return bool(head and turn.tools is not None and head.slot("name") not in turn.tools)
    name, is_by_name = found.slot("name"), CALLS_BEGIN_WITH_NAME and found.role is Role.CALL
    if is_by_name or found.role in (Role.NAME_ALONE, Role.UNTAGGED_CALL):
        return name not in (turn.tools or ())
    is_head = found.role in (Role.CALL, Role.SHORT_CALL, Role.CLOSED_CALL)
    if NAMES_HAVE_SIGNS and not turn.state.opened and not found.slot("sign").strip(WHITE_SPACE):
        return is_head  # `<function name>` in prose
    if not NEEDS_OPENING or (OPENING and turn.state.opened) or not turn.tools:
        return False
    return is_head and (tool_in(turn, name) if AROUND_NAME else name) not in turn.tools


def is_no_tool(turn: Turn, name: str) -> bool:
    """Say whether a message's header names no tool, but someone who talks, or else another word.

    The format's own word for calls is none, and no name space of tools.
    """
    tools, name = turn.tools or (), tool_in(turn, name) if AROUND_NAME else name
    if name in tools or name in PARTICIPANTS:
        return name not in tools
    is_word = f"<{name}>" in CALL_HEAD or any(tool.startswith(f"{name}.") for tool in tools)
    return turn.tools is not None and not is_word


def tool_in(turn: Turn, name: str) -> str:
    """Return the tool that is meant by a name with more around it: the longest; else the name."""
    held = [tool for tool in turn.tools or () if tool in name]
    for tool in sorted(held, key=len, reverse=True):
        if re.fullmatch(AROUND_NAME.replace("NAME", re.escape(tool)), name):
            return tool
    return name


def read_head_marker(turn: Turn, found: Found, after_call: bool) -> Reading[None]:
    """Read on after a marker of calls."""
    match found.role:
        case Role.OPENING | Role.NOISY_OPENING:
            turn.state.opened = True
            if HAS_OPTIONAL_TEXTS:
                tell_missing(turn, found, found.offset)
            if found.role is Role.NOISY_OPENING:
                noise = f"before a call: {found.text.strip(WHITE_SPACE)!r}"
                turn.problem("unexpected_text", noise, found.offset)
        case Role.CALL | Role.OTHER_CALL | Role.SHORT_CALL | Role.CLOSED_CALL | Role.NAME_ALONE:
            if ARE_CALLS_ADDRESSED and pass_misaddressed(turn, found):
                return
            yield from read_one_call(turn, found)
        case Role.UNTAGGED_CALL:
            turn.problem("missing_marker", "a call without its tag", found.offset)
            yield from read_one_call(turn, found)
        case Role.OTHER_SYNTAX | Role.OTHER_SYNTAX_NAME:
            turn.state.opened = True
            is_call = yield from read_other_syntax(turn, found)
            if HAS_SECTIONS and not is_call:
                return
        case Role.CODE if HAS_CODE:
            yield from read_code_call(turn)
        case Role.CALL_END if not after_call:
            told = f"{found.text!r} without a call"
            return turn.problem("stray_marker", told, found.offset)
        case Role.SECTION_END:
            return close_section(turn, found)
        case _:
            return
    if HAS_SECTIONS:
        yield from read_section(turn)


def close_section(turn: Turn, found: Found) -> None:
    """Note the end of what stands around calls."""
    if not turn.state.opened:
        turn.problem("stray_marker", f"{found.text!r} was not opened", found.offset)
    turn.state.opened = False


def read_section(turn: Turn) -> Reading[None]:
    """Read the calls after an opening, where none stands alone."""
    input = turn.input
    while ONLY_IN_SECTION or (HAS_SPECIAL_TOKENS and OPENINGS and input.rules.only_opened):
        found = input.rules.between_calls.match(input, not input.final)
        if found is None:
            tell_begun_section(turn)
            return
        if found.is_partial:
            yield MORE_TEXT
            continue
        input.take(found.end)
        if found.role is Role.CLOSING:
            return close_section(turn, found)
        yield from read_one_call(turn, found)


def tell_begun_section(turn: Turn) -> None:
    """Leave out what begins another call, or closes them all, where the text ends in it."""
    input = turn.input
    begun = input.rules.between_calls.match(input, True)
    if input.final and begun and begun.is_partial and input.rest.strip(WHITE_SPACE):
        turn.problem("cut_off", begun.text)
        input.take()


def pass_misaddressed(turn: Turn, found: Found) -> bool:
    """Pass a head that lacks something and addresses no tool, and tell of it; say if it is one."""
    name = found.slot("name")
    is_other = name in (*PARTICIPANTS, *WORDS) and name not in (turn.tools or ())
    if not (is_other and missing_texts(found)):
        return False
    turn.problem("stray_marker", f"{found.text!r} addresses no tool", found.offset)
    at = after_space(turn.input.text, found.start + found.text.index(name) + len(name))
    again = turn.input.rules.in_text.match(turn.input, False, at)
    turn.state.for_user = again is None
    turn.input.position = at if again else found.end
    return True


def read_one_call(turn: Turn, found: Found) -> Reading[None]:
    """Read a call after its head."""
    early: str | None = ""
    if ARGUMENTS == "json" and NAME_IS_LAST:
        early = yield from read_up_to_name(turn, found)
        if early is None:
            return
    is_other = found.role is Role.OTHER_CALL
    if NEEDS_OPENING and OPENING and not turn.state.opened and not is_other:
        turn.problem("missing_marker", f"a call without {OPENING} before it", found.offset)
    turn.state.opened = True
    if NAMES_ARE_REPEATED or AROUND_NAME or FIRST_ARGUMENT:
        name = tool_named(turn, found)
    else:
        name = found.slot("name")
    id = id_in(found, name) if HAS_IDS else ""
    call = begin_call(turn, name, found.offset, at=found.offset, id=id)
    if FIRST_ARGUMENT:
        turn.state.first_key = found.slot("name")[len(name) :]
    if HAS_OPTIONAL_TEXTS:
        tell_missing(turn, found, found.offset)
    if NAME_IS_LAST:
        turn.events += call.add(early or "")
        turn.input.take(found.end)
        end_call(turn, call, id)
    elif found.role in (Role.CLOSED_CALL, Role.NAME_ALONE):
        call.complete = found.role is Role.CLOSED_CALL
        end_call(turn, call)
    elif ARGUMENTS == "text":
        yield from read_text_arguments(turn, call)
    elif ARGUMENTS == "values":
        yield from read_value_arguments(turn, call)
    else:
        yield from read_json_arguments(turn, call)


def read_up_to_name(turn: Turn, found: Found) -> Reading[str | None]:
    """Return arguments that stand before the name, and make what holds that a part of the head."""
    arguments = yield from read_early_arguments(turn)
    if arguments is None:
        return None
    tail = yield from marker_here(turn, turn.input.rules.after_arguments)
    if tail:
        found.parts, found.end = [*found.parts, *tail.parts], tail.end
        return arguments
    if turn.input.final:
        turn.cut_off(turn.input.rest)
        turn.input.take()
    else:
        turn.problem("missing_marker", "what belongs after the arguments is missing")
    return None


def tool_named(turn: Turn, found: Found) -> str:
    """Return the name of the call that a head is of, by what tools there are."""
    name, at = found.slot("name"), found.offset
    if NAMES_ARE_REPEATED:
        name = first_or_second(turn, name, found.slot("name_again"), at)
    if AROUND_NAME and name != (tool := tool_in(turn, name)):
        if not NAME_STANDS_IN_ID:
            turn.problem("repeated", f"{name!r} is the tool {tool!r}", at)
        name = tool
    return without_key(turn, name) if FIRST_ARGUMENT else name


def id_in(found: Found, name: str) -> str:
    """Return the id in the head of a call; it may be made of the call's name, or hold that."""
    if ID_AROUND_NAME and found.slot("index"):
        return ID_AROUND_NAME.replace("{name}", name).replace("{index}", found.slot("index"))
    is_around = NAME_STANDS_IN_ID and name != found.slot("name")
    return found.slot("name") if is_around else found.slot("id")


def without_key(turn: Turn, text: str) -> str:
    """Return a text as a name; that of a tool with which it begins, if the rest is a key of it."""
    tools = turn.tools or {}
    begun = [] if text in tools else [tool for tool in tools if text.startswith(tool)]
    for tool in sorted(begun, key=len, reverse=True):
        if text[len(tool) :] in object_in(tools[tool], "properties"):
            return tool
    return text


def first_or_second(turn: Turn, name: str, again: str, at: int) -> str:
    """Return the name of a call that has two: the second, if it can be one."""
    if again in ("", name):
        return name
    turn.problem("repeated", f"{name!r}, and then {again!r}", at)
    tools = turn.tools or ()
    is_name = re.fullmatch(NAME, again) and (again in tools or name not in tools)
    return again if is_name else name
