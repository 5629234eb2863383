"""What a call that is an object, or its JSON arguments, have in them otherwise than the format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from turnspec.codegen.writer import write_calls
from turnspec.deviations.turns import ARGUMENTS, NAME, Case, Format
from turnspec.spec.calls import Literal, Slot
from turnspec.spec.encoding import encode_object
from turnspec.spec.message import Message
from turnspec.spec.words import Encoding, SlotKind, ToolMode

_WITHOUT = object()


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
        yield form.as_written(form.calling({}))


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


def renamed_arguments(form: Format) -> Iterator[Case]:
    """The arguments stand under another key than the format's."""
    call = form.json_call
    if call and not (call.in_string or form.tools.fields.name_is_key):
        key = form.tools.fields.arguments[-1]
        yield _renamed(form, key, f"{key}_of_it", "extra_field")


def renamed_name(form: Format) -> Iterator[Case]:
    """The name stands under the word for a function, beside the arguments."""
    call = form.json_call
    if call and not form.tools.fields.name_is_key and "function" not in call.members:
        yield _renamed(form, form.tools.fields.name[-1], "function", "other_syntax")


def _renamed(form: Format, old: str, new: str, told: str) -> Case:
    def change(members: dict[str, Any]) -> dict[str, Any]:
        return {new if key == old else key: value for key, value in members.items()}

    return _members_changed(form, change, told)


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
    message = form.calling(arguments)
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
    message = form.calling(arguments)
    return form.case(form.write(message, [written]), message, *told)
