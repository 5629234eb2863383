"""Markers that models leave out of a call, and calls written as other formats write them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from turnspec.codegen.shapes import looks_like_marker, tags
from turnspec.deviations.turns import SAID, THOUGHT, Case, Format
from turnspec.spec.calls import Literal, Piece, Slot
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Encoding, JsonType, SlotKind, ToolMode

_ARGUMENTS = Slot(SlotKind.ARGUMENTS)
#: An argument in JSON or tags, or of Python's, with what is before the next one.
_CITY = r"""<parameter=city>\nParis\n</parameter>\n|("?)city\1(: "Paris"|='Paris'), """
_TYPES = {"string": "str", "integer": "int"}


def no_marker_before_arguments(form: Format) -> Iterator[Case]:
    """The marker between a call's name and its JSON is missing."""
    if (call := _without_last_marker(form)) is not None:
        written = form.with_tools(call=call)
        yield form.case(written.write(form.one_call), form.one_call, "missing_marker")


def no_arguments_part(form: Format) -> Iterator[Case]:
    """A call ends behind its name."""
    call = _without_last_marker(form)
    if call is None or not looks_like_marker(call[-1].text):
        return
    short = tuple(piece for piece in call if piece != _ARGUMENTS)
    message = form.calling({})
    text = form.with_tools(call=short, empty_call=()).write(message)
    yield form.case(text, message, "missing_marker", "no_arguments")


def code_as_arguments(form: Format) -> Iterator[Case]:
    """The body of a call is code, of a tool that isn't one of those given."""
    closing = form.tools.call[-1].text if _has_json_body(form) else ""
    if not looks_like_marker(closing) or closing[:1].isspace():
        return
    code = 'print("hi")'
    message = Message(calls=(Call("python", {"code": code}, form.call.id),))
    text = form.write(message).replace(json.dumps({"code": code}), code)
    if code in text and json.dumps(code) not in text:
        yield form.case(text, message, "unknown_tool", "malformed")


def string_not_closed(form: Format) -> Iterator[Case]:
    """A string in the arguments is never closed; another call follows, or the turn's end."""
    last = form.tools.call[-1] if form.calls else _ARGUMENTS
    if not _has_json_body(form) or not (last == _ARGUMENTS or looks_like_marker(last.text)):
        return
    if not form.call.arguments.get("city"):
        return
    message = Message(calls=(*form.calling({"city": "Paris"}).calls, *form.calls[1:]))
    text = form.write(message)
    closed = json.dumps({"city": "Paris"})
    if closed not in text or last.text[:1].isspace():
        return
    told = "malformed" if len(message.calls) > 1 else "cut_off"
    yield replace(form.case(text.replace(closed, closed[:-2]), message, told), complete=False)


def json_object_instead(form: Format) -> Iterator[Case]:
    """A call is a JSON object, as most formats have it, where the format has its own syntax."""
    if not form.calls or form.tools.mode is not ToolMode.TAG_WITH_TAGGED:
        return
    opening = form.marks.calls.opening
    text = form.write(form.one_call)
    members = {"name": form.call.name, "arguments": dict(form.call.arguments)}
    last = opening[-1].replace(" ", "") if opening else ""
    if "{" in last or last not in text or not last:
        return
    at = text.index(last) + len(last)
    closing = (end.replace(" ", "") for end in form.marks.calls.section_end)
    ends = [end for end in closing if end in text]
    if ends and looks_like_marker(ends[0]):
        end = text.rindex(ends[0])
        yield form.case(text[:at] + json.dumps(members) + text[end:], form.one_call, "other_syntax")


def json_object_in_a_call(form: Format) -> Iterator[Case]:
    """A JSON object stands in a call's own tags, where its name and arguments belong."""
    calls = form.marks.calls
    tag = re.match("<[^<>{} ]+>", calls.start)
    ends = [end for end in calls.closing[:1] if looks_like_marker(end)]
    text = form.write(form.one_call) if form.calls else ""
    if tag and ends and ends[0] in text and calls.opening:
        at = text.index(tag.group()) + len(tag.group())
        members = {"name": form.call.name, "arguments": dict(form.call.arguments)}
        call = text[:at] + json.dumps(members) + text[text.index(ends[0], at) :]
        yield form.case(call, form.one_call, "other_syntax")


def keys_in_quotes(form: Format) -> Iterator[Case]:
    """An argument's key stands in quotes, such as the format's own, where none belong."""
    arguments = form.marks.arguments
    if arguments.form != "values" or not form.calls or "city" not in form.call.arguments:
        return
    text = form.write(form.one_call)
    for quote in dict.fromkeys(filter(None, ('"', "'", arguments.quote))):
        quoted = text.replace("city", f"{quote}city{quote}", 1)
        yield form.case(quoted, form.one_call, "malformed")


def tags_instead(form: Format) -> Iterator[Case]:
    """A call stands in tags, as many formats have it, where the format's arguments are JSON."""
    around = _around_call(form)
    if around is None or form.tools.mode is ToolMode.TAG_WITH_TAGGED:
        return
    items = "".join(
        f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in form.call.arguments.items()
    )
    call = f"\n<function={form.call.name}>\n{items}</function>\n"
    yield form.case(call.join(around), form.one_call, "other_syntax")


def keywords_instead(form: Format) -> Iterator[Case]:
    """A call is code, with keyword arguments or an object, where the format has other ones.

    Or an object alone stands behind its name, or behind another marker there.
    """
    around = _around_call(form)
    if around is None or form.marks.arguments.form == "values":
        return
    words = ", ".join(f"{key}={value!r}" for key, value in form.call.arguments.items())
    given = json.dumps(form.call.arguments)
    for behind in (f"({words})", f"({given})", f"\n{given}", f"[WITH]{given}"):
        call = f"\n{form.call.name}{behind}\n"
        yield form.case(call.join(around), form.one_call, "other_syntax")


def repeated_argument(form: Format) -> Iterator[Case]:
    """An argument is there twice, in no tags of the format's: the last one wins on loading."""
    own = [form.as_written(form.one_call)] if form.calls else []
    instead = (json_object_instead, json_object_in_a_call, tags_instead, keywords_instead)
    for case in (*own, *(case for build in instead for case in build(form))):
        text = re.sub(_CITY, lambda found: found[0].replace("Paris", "Oslo") + found[0], case.text)
        if text != case.text:
            yield replace(case, text=text, told=case.told | {"repeated_argument"})


def _around_call(form: Format) -> tuple[str, str] | None:
    """Return what stands around a call whose opening and ends can be nothing else."""
    calls = form.marks.calls
    if not form.calls or not calls.opening:
        return None
    opening = calls.opening[-1].replace(" ", "")
    closings = [text.replace(" ", "") for text in calls.closing[:1]]
    ends = [text.replace(" ", "") for text in (*calls.section_end, *calls.end)]
    text = form.write(form.one_call)
    if "{" in opening or opening not in text or not looks_like_marker(opening):
        return None
    at = text.index(opening) + len(opening)
    found = [text.index(end, at) for end in (*closings, *ends) if end in text[at:]]
    if not found or not all(map(looks_like_marker, (*closings, *ends))):
        return None
    return text[:at], text[max(found) :]


def keys_of_apis(form: Format) -> Iterator[Case]:
    """The members of a call's object have the names that they have in chat-completions APIs."""
    if not form.json_call:
        return
    fields = form.tools.fields
    if fields.name_is_key:
        filled: Any = {"name": form.call.name, "arguments": dict(form.call.arguments)}
    else:
        names = {fields.name[-1]: "name", fields.arguments[-1]: "arguments"}
        filled = form.json_call.filled(form.call)
        filled = {names.get(key, key): value for key, value in filled.items()}
    if filled == form.json_call.filled(form.call) or len(fields.name) > 1:
        return
    text = form.json_call.written(filled)
    yield form.case(form.write(form.one_call, [text]), form.one_call, "other_syntax")


def text_without_quotes(form: Format) -> Iterator[Case]:
    """A string of several words has no quotes, where values say themselves where they end."""
    if form.marks.arguments.form != "values" or not form.calls:
        return
    said = "Paris, or (near) it"
    message = form.calling({**form.call.arguments, "city": said})
    text = form.write(message)
    quoted = re.search(rf"(?<=[=:])[^=:]*?{re.escape(said)}[^,)}}]*", text)
    assert quoted
    bare = text.replace(quoted.group(), said)
    yield form.case(bare, message, "malformed")


def no_opening_of_a_value(form: Format) -> Iterator[Case]:
    """The tag that opens a value is missing behind its key, or what closes the key before it."""
    item = form.tools.arguments.item if form.calls else ()
    if not item or form.tools.mode is not ToolMode.TAG_WITH_TAGGED:
        return
    at = item.index(Slot(SlotKind.VALUE))
    before = item[at - 1].text
    last = tags(before)[-1]
    if item[at - 2] != Slot(SlotKind.KEY) or len(tags(before)) < 2 or not looks_like_marker(last):
        return
    for changed in (before.replace(last, "", 1), last):
        changed_item = (*item[: at - 1], Literal(changed), *item[at:])
        arguments = replace(form.tools.arguments, item=changed_item)
        written = form.with_tools(arguments=arguments)
        yield form.case(written.write(form.one_call), form.one_call, "missing_marker")
    key = replace(form.tools.arguments, item=(*item[: at - 1], Literal(tags(before)[0])))
    message = form.calling({"city": ""})
    text = form.with_tools(arguments=key).write(message)
    yield replace(form.case(text, message, "missing_marker"), complete=False)


def types_of_python(form: Format) -> Iterator[Case]:
    """The tools' schemas have the names of Python's types."""
    if not form.calls:
        return
    text = json.dumps(form.options["tools"])
    for name, other in _TYPES.items():
        text = text.replace(f'"type": "{name}"', f'"type": "{other}"')
    yield form.case(form.write(form.one_call), form.one_call, tools=json.loads(text))


def quotes_in_a_string(form: Format) -> Iterator[Case]:
    """A string of Python's holds its own quotes, without escapes."""
    encoding = form.tools.arguments.values.get(JsonType.STRING) if form.calls else None
    if encoding is not Encoding.PYTHON or "city" not in form.call.arguments:
        return
    text = form.write(form.calling({"city": "Paris"}))
    quote = text[text.index("Paris") - 1]
    for inside in ('say "hi" now', 'print("a")', '{"a": 1}', '"a" and "b"'):
        city = inside.replace('"', quote)
        message = form.calling({"city": city})
        yield form.case(text.replace("Paris", city), message, "malformed")


def no_word_of_reasoning(form: Format) -> Iterator[Case]:
    """The word behind the tag that opens reasoning is missing."""
    if found := _tag_and_word(form):
        reasoning = replace(form.spec.reasoning, start=found[1] + found[2])
        written = form.with_spec(replace(form.spec, reasoning=reasoning))
        message = form.shown(Message(SAID, THOUGHT))
        yield form.case(written.write(message), message, "missing_marker")


def other_word_of_reasoning(form: Format) -> Iterator[Case]:
    """Another word stands there, in a line of its own: reasoning is over, or never began."""
    found = _tag_and_word(form)
    if found and found[2] == "\n":
        answer = f"{found[1]}answer\n{SAID}"
        yield form.case(answer, Message(SAID), "unexpected_text")
        text = f"{form.spec.reasoning.start}{THOUGHT}\n{answer}"
        yield form.case(text, Message(SAID, THOUGHT), "unexpected_text", "unclosed")


def no_tag_of_a_header(form: Format) -> Iterator[Case]:
    """Messages' headers lack their first tag or their last, or have another word behind theirs."""
    start = form.spec.reasoning.start if form.marks.text.headers else ""
    if found := re.fullmatch(r"(<[^<>]+>)(\w+)(<.+)", start):
        message = form.shown(Message(SAID, THOUGHT))
        text = form.write(message).removeprefix(start)
        yield form.case(found[2] + found[3] + text, message, "missing_marker")
        yield form.case(f"{found[1]}{found[2]} {found[2]}{found[3]}{text}", message)
        yield form.case(f"{start}{text}".replace(found[3], " "), message, "missing_marker")


def _tag_and_word(form: Format) -> re.Match[str] | None:
    start = form.spec.reasoning.start if form.reasons else ""
    return re.fullmatch(r"(<[^<>\s]*\W[^<>\s]*>)\w+(\s*)", start)


def draft_in_reasoning(form: Format) -> Iterator[Case]:
    """The reasoning holds a call, and goes on behind it."""
    start, end = form.spec.reasoning.start, form.spec.reasoning.end
    if not form.calls or not (start.strip() and end.strip()) or form.message.reasoning != THOUGHT:
        return
    if form.marks.may_stay_open:
        return
    call = form.call_text(form.call).strip()
    section, section_end = form.tools.section_start.strip(), form.tools.section_end.strip()
    thought = f"{THOUGHT} {section}{call}{section_end} And so on."
    if end.strip() in thought or not looks_like_marker(section + form.tools.call[0].text):
        return
    message = form.shown(Message(SAID, THOUGHT))
    text = form.write(message).replace(THOUGHT, thought)
    yield form.case(text, replace(message, reasoning=thought), "draft")


def closes_in_reasoning(form: Format) -> Iterator[Case]:
    """The reasoning speaks of what closes a call."""
    closes = [end for end in form.marks.calls.end if "{" not in end]
    if not form.reasons or form.message.reasoning != THOUGHT:
        return
    for close in closes[:1]:
        thought = f"I must not write {close.replace(' ', '')} there."
        message = form.shown(Message(SAID, thought))
        if form.spec.reasoning.end.strip() not in thought:
            yield form.as_written(message, "stray_marker")


def _has_json_body(form: Format) -> bool:
    return bool(form.calls) and form.tools.mode is ToolMode.TAG_WITH_JSON


def _without_last_marker(form: Format) -> tuple[Piece, ...] | None:
    """Return the pieces of a call without the marker before its JSON, if that is one."""
    if not _has_json_body(form):
        return None
    call = form.tools.call
    at = call.index(_ARGUMENTS)
    marker = call[at - 1].text.strip()
    is_single = not re.search(r"[\s{}]", marker)
    named = Slot(SlotKind.NAME) in call[: at - 1]
    if not (named and is_single and looks_like_marker(marker)):
        return None
    return (*call[: at - 1], *call[at:])
