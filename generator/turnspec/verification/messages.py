"""Messages that the analysis never saw: a fixed set, and what a spec allows in any message."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from turnspec.analysis.text import markers
from turnspec.spec.characters import call_ends
from turnspec.spec.encoding import json_type
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import JsonType, ReasoningMode, SlotKind, Subject, Verdict
from turnspec.verification.comparing import trims_strings

#: Pieces of text that trip careless parsers, none of them any template's own.
TRICKY_TEXTS = (
    '{"name": "no_call", "arguments": {}}',
    "quotes ' and \" and \\ and \\n",
    "a < b > c & d",
    "</closing> <opening>",
    "```python\nprint('}')\n```",
    "[1, 2] {3: 4}",
    "line one\n\nline three",
    "émoji 🎉 和 ‏עברית",
    "tab\there",
    "line \r ends \v of \f many \x1c kinds \x85 all \u2028 in \u2029 here",
)

#: Calls with names, ids and arguments unlike the analysis' own.
_MIXED: dict[str, object] = {
    "lines": "\n\tone\n\ntwo\n",  # white space around a string counts
    "zone": "Europe/Paris",
    "count": 3,
    "ratio": 2.25,
    "flag": False,
    "nothing": None,
    "tags": ["a", 2, {"deep": None}],
    "options": {"inner": {"x": [True]}},
    "text": "q\"uo'te\n<b>&é",
}
SAMPLE_CALLS = (
    Call("get_weather", {"city": "Paris"}, "abcdef123"),
    Call("other-tool", _MIXED, "zyxwvu987"),
    Call("no_arguments", {}, "mnbvcx456"),
)

_LONG = " ".join(f"This is sentence {number} of a long text." for number in range(100))

_ARGUMENT_TYPES = {Subject(f"argument.{kind}"): kind for kind in JsonType}
#: Values at the edges of what a type can be.
EDGE_VALUES: Mapping[JsonType, tuple[object, ...]] = {
    JsonType.STRING: ("", "a", "two\nlines", "\ttab", "q\"'`", "b\\s\\n", "é😀\u2028", "[1]", "7"),
    JsonType.INTEGER: (0, -1, 10**18),
    JsonType.NUMBER: (0.5, -2.25, 1e-07, 1e22),
    JsonType.BOOLEAN: (True, False),
    JsonType.NULL: (None,),
    JsonType.ARRAY: ([], ["a", ""], [1, -2], [["x"]]),
    JsonType.OBJECT: ({}, {"k": "v"}, {"k": {"m": [True]}}),
}


def long_message(spec: Spec) -> Message:
    """Return a message of long texts, which a template may cut, or write otherwise than others."""
    reasons = spec.reasoning.mode is not ReasoningMode.NONE
    return Message(
        allowed_text(spec, Subject.CONTENT, _LONG),
        allowed_text(spec, Subject.REASONING, _LONG) if reasons else "",
        (allowed_call(spec, Call("note", {"text": _LONG}, "lkjhgf321")),) if spec.tools else (),
    )


def sample_messages(spec: Spec) -> Iterator[Message]:
    """Return a fixed set: each part with and without the others, no call, one of each, three."""
    calls = [allowed_call(spec, call) for call in SAMPLE_CALLS]
    choices = ((), *((call,) for call in calls), tuple(calls))
    thought = allowed_text(spec, Subject.REASONING, "Let me think: 2 < 3.")
    answer = allowed_text(spec, Subject.CONTENT, "Hello there!\n\nHow are you?")
    for reasoning, content, chosen in itertools.product(("", thought), ("", answer), choices):
        if reasoning or content or chosen:
            yield Message(content, reasoning, chosen)


def allowed_text(spec: Spec, subject: Subject, text: str) -> str:
    """Return the text without the characters of which the spec says that they don't come back."""
    altered = (limit.characters for limit in spec.limits if limit.subject is subject)
    return text.translate(dict.fromkeys(map(ord, "".join(altered))))


def allowed_call(spec: Spec, call: Call) -> Call:
    """Return the call without what the spec calls ambiguous, and what no name or id may hold."""
    ambiguous = ambiguous_types(spec)
    kept = {
        _allowed_key(spec, key): _allowed_value(spec, value)
        for key, value in call.arguments.items()
        if json_type(value) not in ambiguous
    }

    def allowed(text: str, kind: SlotKind) -> str:
        ends = call_ends(spec.tools, kind) if spec.tools else ""
        return "".join(sign for sign in text if sign not in ends)

    return Call(allowed(call.name, SlotKind.NAME), kept, allowed(call.id, SlotKind.ID))


def _allowed_key(spec: Spec, key: str) -> str:
    return allowed_text(spec, Subject.ARGUMENT_KEY, key)


def _allowed_value(spec: Spec, value: object) -> object:
    """Return a value without the characters and inner values that the spec says don't come back.

    Where elements hold several types, nothing and what is empty can't be told from a string.
    """

    def is_told(inner: object) -> bool:
        return not has_elements(spec) or (inner is not None and inner not in ([], {}))

    if isinstance(value, str):
        text = allowed_text(spec, Subject.ARGUMENT_STRING, value)
        return text.strip() if trims_strings(spec) else text
    if isinstance(value, dict):
        members = {_allowed_key(spec, k): _allowed_value(spec, inner) for k, inner in value.items()}
        return {key: inner for key, inner in members.items() if is_told(inner)}
    if isinstance(value, list):
        return [inner for item in value if is_told(inner := _allowed_value(spec, item))]
    return value


def has_elements(spec: Spec) -> bool:
    """Tell whether arrays and objects are written as elements."""
    return spec.tools is not None and spec.tools.arguments.elements is not None


def format_markers(spec: Spec) -> set[str]:
    """Return every literal of the format without its white space, and each marker in it."""
    texts = [spec.reasoning.start, spec.reasoning.end, spec.content.start, spec.content.end]
    texts += [spec.turn.header, *spec.turn.stop, *(join.text for join in spec.turn.joins)]
    texts += [text for end in spec.turn.ends for text in (end.final, end.followed)]
    if spec.tools is not None:
        texts += [spec.tools.section_start, *spec.tools.section_ends]
        texts += [spec.tools.after_first.end] if spec.tools.after_first else []
        pieces = (*spec.tools.call, *spec.tools.arguments.item)
        if elements := spec.tools.arguments.elements:
            pieces += (*elements.member, *elements.element)
        texts += [piece.text for piece in pieces]
        texts += [spec.tools.arguments.start, spec.tools.arguments.end]
    found = {text.strip() for text in texts}
    found |= {marker for text in texts for marker in markers(text)}
    found = {text for text in found if len(text) > 2}
    return {text for text in found if not _begins_another(text, found)}


def _begins_another(text: str, texts: Iterable[str]) -> bool:
    """Tell whether a text that is no whole marker, such as a fence, is how another one begins."""
    if markers(text):
        return False
    return any(other != text and other.startswith(text) for other in texts)


def ambiguous_types(spec: Spec) -> set[JsonType]:
    """Return the types of arguments that the spec calls ambiguous, whatever they hold."""
    told = (it for it in spec.limits if it.verdict is Verdict.AMBIGUOUS and not it.characters)
    subjects = {limit.subject for limit in told}
    return {kind for subject, kind in _ARGUMENT_TYPES.items() if subject in subjects}
