"""Calls that are objects or have JSON arguments, in another shape than the format's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from turnspec.codegen.call_rules import head_without_tag
from turnspec.codegen.shapes import looks_like_head, looks_like_marker, tags
from turnspec.codegen.writer import write_calls
from turnspec.deviations.turns import ARGUMENTS, NAME, SAID, Case, Format, space_around
from turnspec.spec.calls import Literal, Slot, Tools
from turnspec.spec.encoding import encode_object
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Encoding, SlotKind, ToolMode

_WITHOUT = object()
_TAG = r"(?:<[^<>]+>|\[\w+\])"


def arguments_before_name(form: Format) -> Iterator[Case]:
    """The arguments stand before the name in a call that is an object."""
    if form.json_call and not form.tools.fields.name_is_key:
        yield _members_changed(form, lambda members: dict(reversed(members.items())), "order")


def extra_fields(form: Format) -> Iterator[Case]:
    """A call object has members that the format doesn't know."""
    if not form.json_call or form.tools.fields.name_is_key:
        return
    several = {"meta": {"deep": [1, {"name": "x"}]}, "n": None}
    changes: list[Callable[[Any], Any]] = [
        lambda members: {"thought": "why not", **members},
        lambda members: {**members, "thought": "why not"},
        lambda members: {**several, **members},
        lambda members: {**members, **several},
    ]
    for change in changes:
        yield _members_changed(form, change, "extra_field")
    key = next(iter(form.call.arguments))
    case = _members_changed(form, lambda members: {**members, key: "Rome"}, "extra_field")
    yield replace(case, complete=False)  # as an argument is outside


def comma_behind_calls(form: Format) -> Iterator[Case]:
    """A comma stands behind the last call object, as between two."""
    if form.json_call:
        message = Message(calls=form.calls)
        *texts, last = [form.call_text(each) for each in form.calls]
        at = last.rindex("}") + 1
        text = form.write(message, [*texts, f"{last[:at]},{last[at:]}"])
        yield form.case(text, message, "stray_marker")


def openai_wrapper(form: Format) -> Iterator[Case]:
    """A call object looks as in chat-completions APIs."""
    call = form.json_call
    if call and not form.tools.fields.name_is_key and "function" not in call.members:
        yield _members_changed(
            form, lambda members: {"type": "function", "function": members}, "wrapper"
        )


def string_arguments(form: Format) -> Iterator[Case]:
    """The arguments are a string that holds JSON, or not so where the format does."""
    given = dict(form.call.arguments) if form.calls else {}
    if form.json_call:
        other = given if form.json_call.in_string else json.dumps(given)
        yield _arguments_changed(form, other, form.call.arguments, "string_arguments")
    elif _has_json_arguments(form):
        syntax = form.tools.arguments.syntax
        plain = encode_object(given, replace(syntax, in_string=False))
        text = plain if syntax.in_string else json.dumps(plain)
        yield _argument_text(form, text, form.call.arguments, "string_arguments")


def empty_arguments(form: Format) -> Iterator[Case]:
    """The arguments are an empty object, null, or missing."""
    in_string = bool(form.calls) and form.tools.arguments.syntax.in_string
    told = ["string_arguments"] * in_string
    if form.json_call:
        yield _arguments_changed(form, {}, {}, *told)
        yield _arguments_changed(form, None, {}, "no_arguments")
        if not form.tools.fields.name_is_key:
            yield _arguments_changed(form, _WITHOUT, {}, "no_arguments")
    elif _has_json_arguments(form):
        for text in ("{}", "{ }"):
            yield _argument_text(form, text, {}, *told)
        for text in ("null", "") if _name_is_closed(form) else ():
            yield _argument_text(form, text, {}, "no_arguments")
    elif form.calls:
        message = Message(calls=(Call(form.call.name, {}, form.call.id),))
        yield form.case(form.write(message), message)


def other_arguments(form: Format) -> Iterator[Case]:
    """The arguments are a string or a number, and no object: what is written is handed on."""
    values: tuple[Any, ...] = ("Paris", 3)
    for value in values:
        told = ("not_an_object", *(["string_arguments"] * isinstance(value, str)))
        if form.json_call:
            case = _arguments_changed(form, value, {}, *told)
        elif _has_json_arguments(form) and _name_is_closed(form):
            case = _argument_text(form, json.dumps(value), {}, *told)
        else:
            return
        yield replace(case, calls=((form.call.name, value),), complete=False)


def unreadable_name(form: Format) -> Iterator[Case]:
    """What stands where the name belongs can be none: the call is text, and told."""
    if not form.calls or is_bare(form) or form.marks.text.headers:
        return
    text = form.call_text(form.call).replace(form.call.name, f"{form.call.name} it up", 1)
    section = f"{form.tools.section_start}{text}{form.tools.section_end}".strip()
    written, closing = form.write(form.one_call, [text]), section[section.rfind("<") :]
    ends = (text for end in form.spec.turn.ends for text in (end.final, end.followed))
    if section.endswith(">") and section in written and not any(closing in end for end in ends):
        yield form.case(written, Message(section), "no_name")


def renamed_arguments(form: Format) -> Iterator[Case]:
    """The arguments stand under another key than the format's."""
    call = form.json_call
    if call and not (call.in_string or form.tools.fields.name_is_key):
        key = form.tools.fields.arguments[-1]
        other = f"{key}_of_it"
        yield _members_changed(
            form,
            lambda members: {other if old == key else old: members[old] for old in members},
            "extra_field",
        )


def renamed_name(form: Format) -> Iterator[Case]:
    """The name stands under the word for a function, beside the arguments."""
    call = form.json_call
    if call and not form.tools.fields.name_is_key and "function" not in call.members:
        key = form.tools.fields.name[-1]
        yield _members_changed(
            form,
            lambda members: {"function" if old == key else old: members[old] for old in members},
            "other_syntax",
        )


def no_calls(form: Format) -> Iterator[Case]:
    """The array of calls is empty."""
    if form.json_call and _in_array(form.tools) and not is_bare(form):
        end = form.tools.section_end.lstrip().removeprefix("]")
        text = f"{form.tools.section_start}]{form.json_call.behind}{end}"
        yield form.case(form.without_end(Message(SAID)) + text, Message(SAID))


def missing_brace(form: Format) -> Iterator[Case]:
    """The last brace of a call object is missing; its arguments are whole."""
    call = form.json_call
    if call and call.behind.strip() and not form.tools.fields.name_is_key:
        text = call.before + json.dumps(call.filled(form.call))[:-1] + call.behind
        yield form.case(form.write(form.one_call, [text]), form.one_call, "malformed")


def brace_twice(form: Format) -> Iterator[Case]:
    """The first brace of a call object, and its last one, stand twice."""
    call = form.json_call
    if call and call.before.strip() and not form.tools.fields.name_is_key:
        text = f"{call.before}{{{json.dumps(call.filled(form.call))}}}{call.behind}"
        yield form.case(form.write(form.one_call, [text]), form.one_call, "wrapper")


def no_special_token(form: Format) -> Iterator[Case]:
    """What opens a list of calls, or stands before a call's name, is left out."""
    if not form.calls:
        return
    opening, name = form.tools.section_start.strip(), Slot(SlotKind.NAME)
    first, then = form.tools.call[:2]
    if re.fullmatch(r"[<\w][^\s{]+\s?\[", opening) and (form.json_call or first == name):
        written = form.with_tools(section_start="[", section_end="]")
    elif then == name and re.fullmatch(rf"{_TAG}\s*(\w+\.?)?({_TAG})?", first.text):
        left = Literal(re.sub(rf"^{_TAG}\s*", "", first.text))
        call = (left, *form.tools.call[1:])
        written = form.with_tools(section_start="", section_end="", call=call)
    else:
        return
    for message in (form.one_call, Message(calls=form.calls)):
        yield form.case(written.write(message), message, "missing_marker")


def extra_brace(form: Format) -> Iterator[Case]:
    """There is a brace too many behind a call object."""
    call = form.json_call
    if call and (call.behind + form.tools.section_end).lstrip("]").strip():
        text = call.before + json.dumps(call.filled(form.call)) + "}" + call.behind
        yield form.case(form.write(form.one_call, [text]), form.one_call, "stray_marker")


def extra_brace_in_a_list(form: Format) -> Iterator[Case]:
    """There is a brace too many behind a call object in a list, and another one follows."""
    call, message = form.json_call, Message(calls=form.calls)
    is_listed = bool(form.marks.calls.opening and form.tools.section_start.strip())
    if call and is_listed and len(form.calls) > 1:
        first, *others = [form.call_text(each) for each in form.calls]
        at = first.rindex("}") + 1
        text = form.write(message, [f"{first[:at]}}}{first[at:]}", *others])
        yield form.case(text, message, "stray_marker")


def closes_itself(form: Format) -> Iterator[Case]:
    """A call without arguments closes the tag that names it, as in XML."""
    if not form.calls or form.json_call:
        return
    pieces = form.tools.call
    at = pieces.index(Slot(SlotKind.NAME))
    before, after = pieces[at - 1].text, re.fullmatch(r'("?)>\s*', pieces[at + 1].text)
    if after and re.search(r"<\w+ name=\"\Z", before):
        end = re.sub(r"\A\s*</[^<>]+>", "", pieces[-1].text)
        message = Message(calls=(replace(form.call, arguments={}),))
        text = f"{before}{form.call.name}{after[1]}/>{end}"
        yield form.case(form.write(message, [text]), message, "no_arguments")


def bare_name(form: Format) -> Iterator[Case]:
    """A name comes without the prefix, or without the index, that the format joins to it."""
    if not form.calls or form.json_call:
        return
    text = form.write(form.one_call)
    pieces = form.tools.call
    at = pieces.index(Slot(SlotKind.NAME))
    prefix = re.search(r"(?<=[>\]])[\w.:]+$", pieces[at - 1].text)
    if prefix:
        name = prefix.group() + form.call.name
        yield form.case(text.replace(name, form.call.name), form.one_call, "missing_marker")
    if Slot(SlotKind.INDEX) in pieces and not re.search(r"\w", pieces[at + 1].text):
        joined = re.escape(form.call.name + pieces[at + 1].text) + r"\d+"
        bare = re.sub(joined, form.call.name, text)
        yield form.case(bare, form.one_call, "missing_marker")


def name_alone(form: Format) -> Iterator[Case]:
    """The turn ends behind the name of a call that no other marker opens."""
    opened = form.marks.calls.opening
    head = () if not form.calls or form.json_call or opened else form.tools.call[:2]
    if head[1:] == (Slot(SlotKind.NAME),) and looks_like_head(before := head[0].text):
        message = Message(calls=(replace(form.call, arguments={}),))
        text = before + form.call.name + form.spec.turn.stop[0]
        told = frozenset({"no_arguments"})
        yield replace(form.case(text, message), told=told, complete=False)


def in_a_fence(form: Format) -> Iterator[Case]:
    """A call object stands in a block of code inside its markers."""
    call = form.json_call
    if call and call.behind.strip() and call.before.strip():
        text = f"{call.before}```json\n{json.dumps(call.filled(form.call))}\n```{call.behind}"
        yield form.case(form.write(form.one_call, [text]), form.one_call, "stray_marker")


def opening_twice(form: Format) -> Iterator[Case]:
    """The marker that opens calls is written twice."""
    opening = _first_marker(form)
    if opening:
        text = form.write(form.one_call)
        at = text.index(opening)
        yield form.case(f"{text[:at]}{opening}\n{text[at:]}", form.one_call, "repeated")


def array_instead_of_one(form: Format) -> Iterator[Case]:
    """The calls stand in an array, where the format has none."""
    call = form.json_call
    if call and not _in_array(form.tools):
        objects = [json.dumps(call.filled(each, at)) for at, each in enumerate(form.calls)]
        text = f"{call.before}[{', '.join(objects)}]{call.behind}"
        message = Message(calls=form.calls)
        yield form.case(form.write(message, [text]), message, "array")


def one_instead_of_array(form: Format) -> Iterator[Case]:
    """A call stands alone, where the format has an array."""
    if form.json_call and _in_array(form.tools):
        written = form.with_tools(
            section_start=form.tools.section_start.rstrip().removesuffix("["),
            section_end=form.tools.section_end.lstrip().removeprefix("]"),
        )
        yield form.case(written.write(form.one_call), form.one_call, "array")


def no_section_markers(form: Format) -> Iterator[Case]:
    """What opens and closes the section of calls is missing, and each call marked itself."""
    if not form.calls or not form.tools.section_start.strip():
        return
    if not looks_like_head(form.tools.call[0].text) or form.json_call:
        return
    written = form.with_tools(section_start="", section_end="")
    yield form.case(written.write(form.one_call), form.one_call, "missing_marker")


def no_opening_tag(form: Format) -> Iterator[Case]:
    """The tag around a call's function tag is missing, or that before the word for a call."""
    opening = tags(form.tools.call[0].text) if form.calls else []
    if form.calls and head_without_tag(form.marks):
        opening += form.tools.call[0].text.partition(">")[::2]
    if form.json_call or len(opening) < 2:
        return
    written = form.with_tools(call=(Literal(opening[-1]), *form.tools.call[1:]))
    yield form.case(written.write(form.one_call), form.one_call, "missing_marker")


def any_id(form: Format) -> Iterator[Case]:
    """The id is of another kind than the template's."""
    if form.calls and Slot(SlotKind.ID) in form.tools.call:
        for id_ in ("7", "call_8f3-XYZ.42", "a" * 40):
            message = Message(calls=(replace(form.call, id=id_),))
            yield replace(form.case(form.write(message), message), ids=(id_,))


def any_index(form: Format) -> Iterator[Case]:
    """The calls are counted from anywhere."""
    if form.calls and Slot(SlotKind.INDEX) in form.tools.call:
        for start in (0, 1, 7, 123456):
            written = form.with_tools(index_base=start)
            message = Message(calls=form.calls)
            yield form.case(written.write(message), message)


def unknown_tool(form: Format) -> Iterator[Case]:
    """The function isn't one of the tools: still a call where markers say so."""
    if not form.calls:
        return
    arguments = {"city": "Paris"} if "city" in form.call.arguments else {}
    message = Message(calls=(Call("nobody_knows", arguments, form.call.id),))
    text = form.write(message)
    if is_bare(form) or _is_in_brackets(form):
        yield form.case(text, Message(form.without_end(message).strip()))
    else:
        yield form.case(text, message, "unknown_tool")
        yield form.case(text, message, "unknown_tool", tools=[])


def content_around(form: Format) -> Iterator[Case]:
    """Text stands before, between and after calls."""
    if not form.calls or form.spec.content.start.strip():
        return
    tools = form.tools
    calls = [form.call_text(call) for call in form.calls]
    sections = [f"{tools.section_start}{call}{tools.section_end}" for call in calls]
    text = "Before.\n" + "\nBetween.\n".join(sections) + "\nAfter."
    spaces = [f"\n{space_around(section)}\n" for section in sections]
    content = "Before." + "Between.".join(spaces) + "After."
    yield form.case(text, Message(content, calls=form.calls), "misplaced")


def _first_marker(form: Format) -> str:
    """Return the tag with which calls open, if it is one word that no name follows."""
    if not form.calls:
        return ""
    call = form.json_call
    first = form.tools.call[0].text
    opening = form.tools.section_start.strip() or (call.before if call else tags(first)[0]).strip()
    opening = opening.removesuffix("[").strip() if call else opening
    marked = looks_like_marker(opening) and opening.endswith((">", "]")) and not opening.split()[1:]
    return opening if marked else ""


def is_bare(form: Format) -> bool:
    """Tell whether a call is a JSON object with no marker around it."""
    call = form.json_call
    around = (form.tools.section_start + call.before).strip() if call else "x"
    return around in ("", "[")


def _is_in_brackets(form: Format) -> bool:
    """Tell whether a call begins with its name, behind a mere bracket."""
    return bool(form.tools.call[0].kind) and form.tools.section_start.strip() == "["


def _in_array(tools: Tools) -> bool:
    return tools.section_start.rstrip().endswith("[")


def _has_json_arguments(form: Format) -> bool:
    return (
        bool(form.calls)
        and form.tools.mode is ToolMode.TAG_WITH_JSON
        and form.tools.arguments.syntax.encoding is Encoding.JSON
    )


def _name_is_closed(form: Format) -> bool:
    """Tell whether a marker stands behind the name; else what follows tells it from content."""
    pieces = form.tools.call
    return bool(pieces[pieces.index(Slot(SlotKind.NAME)) + 1].text.strip())


def _members_changed(form: Format, change: Callable[[Any], Any], *told: str) -> Case:
    call = form.json_call
    assert call is not None
    texts = [
        call.written(_changed_inside(call.filled(each, at), call.members, change))
        for at, each in enumerate(form.calls)
    ]
    message = Message(calls=form.calls)
    return form.case(form.write(message, texts), message, *told)


def _changed_inside(filled: Any, shape: Any, change: Callable[[Any], Any]) -> Any:
    """Change the object that holds the name, which may stand inside another one."""
    if NAME in shape.values():
        return change(filled)
    key = next(key for key, value in shape.items() if isinstance(value, dict))
    return {**filled, key: _changed_inside(filled[key], shape[key], change)}


def _arguments_changed(form: Format, value: Any, arguments: Any, *told: str) -> Case:
    """Return a case whose call object has another value for its arguments."""
    call = form.json_call
    assert call is not None
    shape = replace(call, members=_replaced(call.members, value))
    text = call.written(shape.filled(form.call))
    message = Message(calls=(replace(form.call, arguments=arguments),))
    return form.case(form.write(message, [text]), message, *told)


def _replaced(members: Any, value: Any) -> Any:
    if not isinstance(members, dict):
        return members
    return {
        key: value if item == ARGUMENTS else _replaced(item, value)
        for key, item in members.items()
        if item != ARGUMENTS or value is not _WITHOUT
    }


def _argument_text(form: Format, text: str, arguments: Any, *told: str) -> Case:
    """Return a case whose call has this text where its arguments would stand."""
    slot = Slot(SlotKind.ARGUMENTS)
    pieces = tuple(Literal(text) if piece == slot else piece for piece in form.tools.call)
    written = write_calls(replace(form.tools, call=pieces), (form.call,))
    message = Message(calls=(replace(form.call, arguments=arguments),))
    return form.case(form.write(message, [written]), message, *told)
