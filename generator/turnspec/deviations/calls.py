"""Calls in other marks or another number than the format writes, with other names and ids."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from turnspec.codegen.call_rules import head_without_tag
from turnspec.codegen.shapes import looks_like_head, looks_like_marker, tags
from turnspec.deviations.turns import SAID, Case, Format, space_around
from turnspec.spec.calls import Literal, Slot, Tools
from turnspec.spec.message import Call, Message
from turnspec.spec.words import SlotKind

_TAG = r"(?:<[^<>]+>|\[\w+\])"


def comma_behind_calls(form: Format) -> Iterator[Case]:
    """A comma stands behind the last call object, as between two."""
    if form.json_call:
        message = Message(calls=form.calls)
        *texts, last = [form.call_text(each) for each in form.calls]
        at = last.rindex("}") + 1
        text = form.write(message, [*texts, f"{last[:at]},{last[at:]}"])
        yield form.case(text, message, "stray_marker")


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
        message = form.calling({})
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
        message = form.calling({})
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
            yield replace(form.as_written(message), ids=(id_,))


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
    named_first = form.tools.call[0].kind and form.tools.section_start.strip() == "["
    if is_bare(form) or named_first:  # behind a mere bracket
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


def _in_array(tools: Tools) -> bool:
    return tools.section_start.rstrip().endswith("[")
