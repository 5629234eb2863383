"""Characters that break careless parsers, and values in the other notation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from turnspec.deviations.turns import Case, Format
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.message import Call, Message
from turnspec.spec.words import Encoding, JsonType, Part, ToolMode

_TEXTS = (
    "é 𝄞 🎉 和",
    "עברית \u202eright\u202c",
    "nul \x00 and \x1f and \x7f",
    "line\u2028paragraph\u2029next\x85line",
    "half \ud83d alone \udc00 too",
)


def any_unicode(form: Format) -> Iterator[Case]:
    """Any character, lone surrogates among them, in every part."""
    for text in _TEXTS:
        yield _with_text(form, text)


def escaped_unicode(form: Format) -> Iterator[Case]:
    r"""JSON in which all but ASCII is written as \uXXXX, with surrogate pairs and lone halves."""
    if not form.calls or "city" not in form.call.arguments:
        return
    call, own = form.json_call, form.tools.arguments
    for text in _TEXTS:
        message = form.calling({"city": text})
        if call:
            written_call = call.before + json.dumps(call.filled(message.calls[0])) + call.behind
            yield form.case(form.write(message, [written_call]), message)
        elif own.syntax.encoding is Encoding.JSON and not own.item:
            syntax = replace(own.syntax, ascii_only=True)
            written = form.with_tools(arguments=replace(own, syntax=syntax))
            yield form.case(written.write(message), message)


def wrong_escapes(form: Format) -> Iterator[Case]:
    """A string in JSON has backslashes that escape nothing, as in regular expressions.

    Before a single quote, which Python escapes, it is no text.
    """
    if not _has_json_strings(form):
        return
    text = r"\d+\.\w{2} \u12x ' C:\dir"
    message = form.calling({"city": text})
    wrong = form.write(message).replace(json.dumps(text)[1:-1], text.replace("'", r"\'"))
    yield form.case(wrong, message, "malformed")


def single_quotes(form: Format) -> Iterator[Case]:
    """A string in JSON stands in single quotes, as Python writes it, and quotes a call."""
    if not _has_json_strings(form):
        return
    call = form.write(Message(calls=(form.call,))).removesuffix(form.spec.final(Part.CALLS))
    for text in ("don't", f'it\'s "so"\n{call} \\ there', "don't be last"):
        given = {"days": 3, "city": text} if text.endswith("last") else {"city": text, "days": 3}
        message = form.calling(given)
        quoted = "'" + text.replace("\\", "\\\\").replace("\n", "\\n") + "'"
        written = form.write(message).replace(json.dumps(text, ensure_ascii=False), quoted)
        yield form.case(written, message, "malformed")


def words_of_python(form: Format) -> Iterator[Case]:
    """Constants in JSON are written as Python writes them."""
    if not _has_json_strings(form):
        return
    message = form.calling({"city": "None", "days": [True, None, {"a": False}]})
    written = form.write(message)
    for word, other in (("true", "True"), ("null", "None"), ("false", "False")):
        written = written.replace(word, other)
    yield form.case(written, message, "malformed")


def key_alone(form: Format) -> Iterator[Case]:
    """A key of the arguments has no value: the call has the others, and isn't complete."""
    if not _has_json_strings(form):
        return
    written = form.write(form.calling({"city": "Rome", "days": 345})).replace("345", "")
    case = form.case(written, form.calling({"city": "Rome"}), "malformed")
    yield replace(case, complete=False)


def _has_json_strings(form: Format) -> bool:
    if not form.calls or "city" not in form.call.arguments:
        return False
    is_json = form.json_call or form.tools.mode is ToolMode.TAG_WITH_JSON
    syntax = form.tools.arguments.syntax
    return bool(is_json) and syntax.encoding is Encoding.JSON and not syntax.in_string


def other_literals(form: Format) -> Iterator[Case]:
    """Where values are Python's, JSON's true and null, and the reverse."""
    values = form.tools.arguments.values if form.calls else {}
    if Encoding.PYTHON not in values.values():
        return
    arguments = {"yes": True, "none": None, "list": [1, "x", None], "map": {"a": False}}
    call = Call("take", arguments, form.call.id)
    message = Message(calls=(call,))
    swapped = {
        kind: Encoding.JSON if kind is not JsonType.STRING else encoding
        for kind, encoding in values.items()
    }
    for encodings in (values, swapped):
        written = form.with_tools(arguments=replace(form.tools.arguments, values=encodings))
        yield form.case(written.write(message), message, tools=tool_definitions((call,)))


def _with_text(form: Format, text: str) -> Case:
    """Return the usual turn with a text in the place of each of its texts."""
    calls: list[Call] = []
    for call in form.calls:
        given = {k: text if isinstance(v, str) else v for k, v in call.arguments.items()}
        calls.append(replace(call, arguments=given))
    return form.as_written(form.shown(Message(text, text, tuple(calls))))
