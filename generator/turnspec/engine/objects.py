"""Calls that are JSON objects, with the name and the arguments as members."""

from __future__ import annotations

import re
from enum import Enum

from turnspec.engine.code import read_code_call
from turnspec.engine.facts import (
    ARE_LISTED,
    ARGUMENTS_COME_FIRST,
    ARGUMENTS_KEY,
    ARGUMENTS_MARK,
    HAS_CODE,
    ID_KEY,
    IS_BARE,
    IS_IN_ARRAY,
    NAME,
    NAME_IS_KEY,
    NAME_KEY,
    NEEDS_OPENING,
    OBJECTS_NEED_MEMBERS,
    OTHER_MEMBER_VALUES,
    OTHER_MEMBERS,
)
from turnspec.engine.json_texts import dump_json, load_json
from turnspec.engine.markers import WHITE_SPACE, Found, after_space
from turnspec.engine.mention_text import write_mention
from turnspec.engine.other_syntax import read_other_syntax
from turnspec.engine.roles import MORE_TEXT, Role
from turnspec.engine.tools import object_in
from turnspec.engine.turn_state import Hold, begin_call, end_call
from turnspec.engine.whole_arguments import WholeArguments, as_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from turnspec.engine.open_call import OpenCall
    from turnspec.engine.text import Reading
    from turnspec.engine.turn import Turn

#: The member in which chat-completions APIs have name and arguments.
WRAPPER: str = "function"
#: What members mean in such APIs, and in JSON Schema, where a format has other keys for them.
usual_keys = {"name": NAME_KEY, "arguments": ARGUMENTS_KEY, "parameters": ARGUMENTS_KEY}
usual_keys |= {"function": NAME_KEY, "tool": NAME_KEY}  # where it has a text
#: What members that mean nothing hold, digits aside: numbers, and the word for a call's type.
USUAL_VALUES = ("", '""', '"function"', "null", *OTHER_MEMBER_VALUES)

#: What follows an object, or a part of one.
Next = Enum("Next", "MEMBER CALL TEXT")


class CallObject:
    """A call's object that is being read. Until it has a name, it may turn out to be content."""

    def __init__(self, announced: bool) -> None:
        self.announced = announced  # whether a marker stands before it
        self.depth = 0  # of objects around its members
        self.key = ""  # of the member that is being read
        if ID_KEY:
            self.id = ""
        self.early = ""  # arguments that came before the name
        self.others: dict[str, str] = {}  # other members, as JSON
        if NAME_IS_KEY:
            self.has_members = False  # whether name and arguments are members after all


def read_object_marker(turn: Turn, found: Found, after_call: bool) -> Reading[None]:
    """Read on after a marker of calls."""
    if ARE_LISTED:
        turn.state.opened = found.role in (Role.OPENING, Role.LISTED)
    if found.role in (Role.OPENING, Role.OBJECT, Role.LISTED, Role.UNTAGGED_CALL):
        turn.holds.append(Hold(turn, found.offset, is_unnamed=True))
        if found.role is Role.UNTAGGED_CALL:
            turn.problem("missing_marker", "a call without its tag", found.offset)
        yield from read_calls(turn, found.role is Role.OPENING and not NEEDS_OPENING)
    elif IS_BARE and found.role is Role.NOISY_OPENING:
        turn.holds.append(Hold(turn, found.offset, is_unnamed=True))
        turn.problem("unexpected_text", f"before a call: {found.text!r}", found.offset)
        yield from read_calls(turn, announced=False)
    elif found.role in (Role.OTHER_SYNTAX, Role.OTHER_SYNTAX_NAME):
        is_call = yield from read_other_syntax(turn, found)
        if is_call:
            yield from read_calls(turn, announced=False)
    elif HAS_CODE and found.role is Role.CODE:
        yield from read_code_call(turn)
        yield from read_calls(turn, announced=False)
    elif found.role is Role.CALL_END and not after_call:
        turn.problem("stray_marker", f"{found.text!r} without a call", found.offset)


def read_calls(turn: Turn, announced: bool) -> Reading[None]:
    """Read calls as long as one begins, or is closed, next."""
    input = turn.input
    while True:
        found = input.rules.between_calls.match(input, not input.final)
        is_lost = OBJECTS_NEED_MEMBERS and is_unnamed(turn)
        if found is None or (found.role is Role.ARRAY_END and not (turn.state.called or is_lost)):
            if is_lost:
                give_up(turn, announced)
            return
        if found.is_partial:
            yield MORE_TEXT
            if OBJECTS_NEED_MEMBERS and drop_unnamed_at_end(turn, CallObject(announced)):
                return
        elif found.role is Role.OBJECT:
            if (yield from read_object(turn, found, announced)) is not Next.CALL:
                return
            announced = False
        else:
            if found.role is Role.STRAY_BRACKETS:
                turn.problem("stray_marker", f"{found.text.strip()!r} after a call")
            if ARE_LISTED:
                turn.state.opened = found.role is Role.STRAY_BRACKETS
            input.take(found.end)


def is_unnamed(turn: Turn) -> bool:
    """Say whether what may be a call's object is held."""
    return bool(turn.holds) and turn.holds[-1].is_unnamed


def drop_unnamed_at_end(turn: Turn, call: CallObject) -> bool:
    """Leave out what began as a call and has no name, where the text ends; say whether it does."""
    is_sure = not IS_BARE or turn.state.called or call.announced or call.key == NAME_KEY
    if not (turn.input.final and is_unnamed(turn) and is_sure):
        return False
    turn.go_back()
    turn.problem("cut_off", turn.input.rest)
    turn.input.take()
    return True


def read_object(turn: Turn, found: Found, announced: bool) -> Reading[Next]:
    """Read a call's object; return what follows it."""
    call, input = CallObject(announced), turn.input
    if not is_unnamed(turn):
        turn.holds.append(Hold(turn, input.here, is_unnamed=True))
    if IS_IN_ARRAY and not turn.state.called and "[" not in found.text:
        turn.problem("array", "a call outside an array")
    elif not IS_IN_ARRAY and "[" in found.text:
        turn.problem("array", "calls in an array")
    input.take(found.end)
    after = Next.MEMBER
    while after is Next.MEMBER:
        input.position = after_space(input.text, input.position)
        member = input.rules.in_object.match(input, not input.final)
        if member and member.is_partial:
            yield MORE_TEXT
            after = Next.TEXT if drop_unnamed_at_end(turn, call) else Next.MEMBER
        elif member and member.role is Role.MEMBER:
            input.take(member.end)
            key = member.slot("string") or member.slot("key")
            after = yield from read_member(turn, call, key)
        elif member and NAME_IS_KEY and is_tool(turn, call, member):
            input.take(member.end - 1)
            after = yield from read_member(turn, call, WRAPPER)
        else:
            after = leave_member(turn, call, member)
    return after


def is_tool(turn: Turn, call: CallObject, found: Found) -> bool:
    """Say whether what looks like a wrapper is the name of a tool."""
    is_wrapper = found.role is Role.WRAPPER and not call.has_members
    return is_wrapper and WRAPPER in (turn.tools or ())


def leave_member(turn: Turn, call: CallObject, found: Found | None) -> Next:
    """Go into or out of an object around the members, or end the call."""
    if found is None or (turn.call and found.text.strip(WHITE_SPACE) == "{"):
        return break_off(turn, call, "", is_whole=True)  # as another object begins
    turn.input.take(found.end)
    if found.role is Role.WRAPPER:
        call.depth += 1
        turn.problem("wrapper", "the call is inside another object")
    elif found.role is Role.OWN_WRAPPER:
        call.depth += 1
    elif call.depth:
        call.depth -= 1
    elif turn.call:
        end_object(turn, call, turn.call)
        return Next.CALL
    else:
        return give_up(turn, call.announced)
    return Next.MEMBER


def read_member(turn: Turn, call: CallObject, key: str) -> Reading[Next]:
    """Read a member's value. The arguments of a call with a name are passed on as they come."""
    call.key = own_key(turn, call, key)
    is_name = NAME_IS_KEY and not call.has_members
    if is_name and not commit(turn, call, call.key):
        return Next.TEXT
    collect = call.key != ARGUMENTS_KEY or turn.call is None or bool(turn.call.pieces)
    arguments = WholeArguments(turn, collect and not is_name)
    while not arguments.read():
        yield MORE_TEXT
        if drop_unnamed_at_end(turn, call):
            return Next.TEXT
    if not (arguments.value.is_done or turn.call):
        return give_up(turn, call.announced)
    waiting, is_whole = arguments.value.waiting, arguments.close()
    if not take_member(turn, call, "".join(arguments.collected)):
        return Next.TEXT
    return Next.MEMBER if is_whole else break_off(turn, call, waiting, is_whole)


def own_key(turn: Turn, call: CallObject, key: str) -> str:
    """Return the format's own key for one; what is none of its own may be a usual one."""
    usual = usual_keys.get(key, "")
    if NAME_IS_KEY and not call.has_members:
        if usual != NAME_KEY or key in OTHER_MEMBERS or key in (turn.tools or ()):
            return key
        call.has_members = True
    elif not usual or key in (NAME_KEY, ARGUMENTS_KEY, ID_KEY, *OTHER_MEMBERS):
        return key
    turn.problem("other_syntax", f"{key!r} is no member of the format's calls")
    return usual


def take_member(turn: Turn, call: CallObject, text: str) -> bool:
    """Take what was not passed on, JSON text; return whether this may still be a call."""
    key, open_call = call.key, turn.call
    name = str(load_json(text)) if text.startswith('"') else text
    is_name = name != text or name in (turn.tools or ())  # a string, or a tool's
    if not text:
        is_known = NAME_IS_KEY and not call.has_members
        if not is_known and key not in (NAME_KEY, ARGUMENTS_KEY, ID_KEY, *OTHER_MEMBERS):
            turn.problem("malformed", f"no value after {key!r}")
    elif NAME_IS_KEY and not call.has_members and open_call:
        turn.events += open_call.add(as_object(turn, text))
    elif key == NAME_KEY and not open_call and name and is_name:
        return commit(turn, call, name.strip(WHITE_SPACE))
    elif key == ARGUMENTS_KEY and not (call.early or (open_call and open_call.pieces)):
        arguments = as_object(turn, text)
        if open_call:
            turn.events += open_call.add(arguments)
        else:
            call.early = arguments
    elif ID_KEY and key == ID_KEY and not call.id:
        call.id = name
    elif key not in OTHER_MEMBERS or re.sub("[0-9]", "", text) not in USUAL_VALUES:
        turn.problem("extra_field", f"{key!r}: {text}")
        call.others[key] = text
    return True


def commit(turn: Turn, call: CallObject, name: str) -> bool:
    """The name is known: what was held is a call, or else it is content."""
    is_marked = turn.state.last is not Role.UNTAGGED_CALL and not (IS_BARE or NEEDS_OPENING)
    is_listed = ARE_LISTED and turn.state.last is Role.LISTED  # after what is no call
    is_expected = not is_listed and (is_marked or turn.state.called or call.announced)
    is_known = name in (turn.tools or ())
    is_sure = is_known or is_expected or turn.tools is None
    if is_unnamed(turn) and not (is_sure and (is_known or re.fullmatch(NAME, name))):
        give_up(turn, call.announced)
        return False
    if NAME_IS_KEY and turn.call:
        end_call(turn, turn.call)
    start = turn.holds.pop().offset if is_unnamed(turn) else turn.input.here
    turn.state.after_marker = True
    open_call = begin_call(turn, name, start, at=turn.input.here, id=call.id if ID_KEY else "")
    if call.early and not ARGUMENTS_COME_FIRST:
        turn.problem("order", "the arguments stand before the name")
    turn.events += open_call.add(call.early)
    return True


def end_object(turn: Turn, call: CallObject, open_call: OpenCall) -> None:
    """End a call with its object. What it has of arguments itself counts if there are no others."""
    parameters: Any = (turn.tools or {}).get(open_call.name)
    known, others = object_in(parameters, "properties"), call.others
    loose = ", ".join(f"{dump_json(x)}: {others[x]}" for x in others if x in known)
    if not open_call.pieces:
        objects = [text for text in others.values() if text.startswith("{")]
        turn.events += open_call.add(f"{{{loose}}}" if loose else "".join(objects[:1]))
    elif loose:
        open_call.complete = False
    end_call(turn, open_call, call.id if ID_KEY else "")


def give_up(turn: Turn, announced: bool) -> Next:
    """There is no name: what was held is content."""
    at = turn.input.here
    end = turn.go_back()
    is_marked = turn.state.last is not Role.UNTAGGED_CALL and not (IS_BARE or NEEDS_OPENING)
    if announced or is_marked:
        turn.problem("no_name", "what looks like a call has no name", at)
    if announced:
        turn.state.mentioned = True
    write_mention(turn, end, may_break_off=True)
    return Next.TEXT


def tell_lost_call(turn: Turn) -> None:
    """Tell of content that ends as a call does, though none was read."""
    text = "".join(turn.content.pieces)
    is_known = any(name in text for name in turn.tools or ())
    has_end = is_known and text[-1:] in ("}", "]", ">")
    if has_end and re.search(ARGUMENTS_MARK, text):
        turn.problem("no_name", "the content ends as a call does")


def break_off(turn: Turn, call: CallObject, waiting: str, is_whole: bool) -> Next:
    """End a call whose object does not go on as one; `waiting` was not passed on."""
    open_call = turn.call
    if not open_call:
        begun = turn.input.rules.in_object.match(turn.input, True)
        if not (begun and begun.is_partial and drop_unnamed_at_end(turn, call)):
            give_up(turn, call.announced)
        return Next.TEXT
    is_cut, input = turn.input.final, turn.input
    if is_cut:
        turn.cut_off(waiting + input.rest)
    else:
        turn.problem("malformed", "the call's object is not closed")
    goes_on = re.compile(r"""[ \t\n\r,]*[\w"':]""").match(input.text, input.position)
    # A bracket may be an inner object's, if a key in that may be one outside: not if
    # the arguments end in no object, or in one that has one key.
    text = "".join(open_call.pieces)
    is_sure = bool(re.search(r"(?:[^ \t\n\r}]|\{[^{},]*\})[ \t\n\r]*\}\Z", text))
    if ID_KEY and not call.id:
        key = ID_KEY  # which may be the call's
        is_sure = is_sure and not re.search(rf'"{key}"[ \t\n\r]*:', text)
    is_whole = is_whole and is_sure and not (is_cut or goes_on)
    open_call.complete = open_call.complete and is_whole
    end_object(turn, call, open_call)
    if is_cut:
        turn.input.take()
    return Next.CALL
