"""Messages that the analysis never saw: a fixed set for rung 0, random ones for rungs 1 and 2."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterable, Iterator, Sequence

from hypothesis import strategies as st

from turnspec.analysis.text import markers
from turnspec.rendering.conversation import NEXT_USER_TEXT, RESULT_TEXT, USER_TEXT
from turnspec.spec.encoding import json_type
from turnspec.spec.message import Call, Message
from turnspec.spec.model import JsonType, Literal, ReasoningMode, Spec, Subject, Verdict

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

_NAME = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=12).map(
    lambda text: "t" + text
)
#: The type of an argument: a word, or of elements what they hold, an array's in a tuple of one.
Shape = JsonType | tuple["Shape", ...] | dict[str, "Shape"]

_IDS = st.text(string.ascii_letters + string.digits, min_size=9, max_size=9)


def sample_messages(spec: Spec) -> Iterator[Message]:
    """Return a fixed set: each part with and without the others, no call, one of each, three."""
    calls = [allowed_call(spec, call) for call in SAMPLE_CALLS]
    choices = ((), *((call,) for call in calls), tuple(calls))
    reasoning_text = allowed_text(spec, Subject.REASONING, "Let me think: 2 < 3.")
    content_text = allowed_text(spec, Subject.CONTENT, "Hello there!\n\nHow are you?")
    for reasoning, content, chosen in itertools.product(
        ("", reasoning_text), ("", content_text), choices
    ):
        if reasoning or content or chosen:
            yield Message(content, reasoning, chosen)


def allowed_text(spec: Spec, subject: Subject, text: str) -> str:
    """Return the text without the characters of which the spec says that they don't come back."""
    altered = (limit.characters for limit in spec.limits if limit.subject is subject)
    return text.translate(dict.fromkeys(map(ord, "".join(altered))))


def allowed_call(spec: Spec, call: Call) -> Call:
    """Return the call without what the spec calls ambiguous: types of values, characters."""
    ambiguous = _ambiguous_types(spec)
    kept = {
        key: _allowed_value(spec, value)
        for key, value in call.arguments.items()
        if json_type(value) not in ambiguous
    }
    return Call(call.name, kept, call.id)


def _allowed_value(spec: Spec, value: object) -> object:
    """Return a value without the characters and inner values that the spec says don't come back.

    Where elements hold several types, nothing and what is empty can't be told from a string.
    """

    def is_told(inner: object) -> bool:
        return not _has_elements(spec) or (inner is not None and inner not in ([], {}))

    if isinstance(value, str):
        return allowed_text(spec, Subject.ARGUMENT_STRING, value)
    if isinstance(value, dict):
        members = {key: _allowed_value(spec, inner) for key, inner in value.items()}
        return {key: inner for key, inner in members.items() if is_told(inner)}
    if isinstance(value, list):
        return [inner for item in value if is_told(inner := _allowed_value(spec, item))]
    return value


def _has_elements(spec: Spec) -> bool:
    return spec.tools is not None and spec.tools.arguments.elements is not None


def messages(spec: Spec) -> st.SearchStrategy[Message]:
    """Return a strategy for messages that the template should render and the parser give back."""
    nothing = st.just("")
    has_reasoning = spec.reasoning.mode is not ReasoningMode.NONE
    reasoning = _texts(spec, Subject.REASONING) if has_reasoning else nothing
    strings = _texts(spec, Subject.ARGUMENT_STRING)
    return st.builds(
        Message,
        content=st.one_of(nothing, _texts(spec, Subject.CONTENT)),
        reasoning=st.one_of(nothing, reasoning),
        calls=_calls(spec, strings) if spec.tools else st.just(()),
    ).filter(_is_usable)


def _is_usable(message: Message) -> bool:
    """Tell whether a message says anything, and nothing by which the messages around are found."""
    around = (USER_TEXT, NEXT_USER_TEXT, RESULT_TEXT)
    says = message.content or message.reasoning or message.calls
    return bool(says) and not any(text in repr(message) for text in around)


def _texts(spec: Spec, subject: Subject) -> st.SearchStrategy[str]:
    """Return texts that hold no marker of the format and don't end in white space.

    They may hold any character but those of which the spec says that they don't come back.
    """
    own = format_markers(spec)
    characters = st.characters(codec="utf-8")
    pieces = st.one_of(st.text(characters, max_size=20), st.sampled_from(TRICKY_TEXTS))
    joined = st.lists(pieces, min_size=1, max_size=3).map(" ".join)
    allowed = joined.map(lambda text: allowed_text(spec, subject, text).strip())
    return allowed.filter(lambda text: bool(text) and not any(marker in text for marker in own))


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
        texts += [piece.text for piece in pieces if isinstance(piece, Literal)]
        texts += [spec.tools.arguments.start, spec.tools.arguments.end]
    found = {text.strip() for text in texts} | {
        marker for text in texts for marker in markers(text)
    }
    found = {text for text in found if len(text) > 2}
    return {text for text in found if not _begins_another(text, found)}


def _begins_another(text: str, texts: Iterable[str]) -> bool:
    """Tell whether a text that is no whole marker, such as a fence, is how another one begins."""
    if markers(text):
        return False
    return any(other != text and other.startswith(text) for other in texts)


def _calls(spec: Spec, text: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[Call, ...]]:
    """Return up to three calls of tools whose arguments have fixed types."""
    kinds: list[Shape] = [kind for kind in JsonType if kind not in _ambiguous_types(spec)]
    further = (Subject.FURTHER_CALLS, Verdict.DROPS)
    most = 1 if any((limit.subject, limit.verdict) == further for limit in spec.limits) else 3
    shapes = _shapes(spec, kinds) if _has_elements(spec) else st.sampled_from(kinds)
    signature = st.dictionaries(_NAME, shapes, max_size=4)
    tools = st.dictionaries(_NAME, signature, min_size=1, max_size=2)

    def calls_of(known: dict[str, dict[str, Shape]]) -> st.SearchStrategy[tuple[Call, ...]]:
        one = st.sampled_from(sorted(known)).flatmap(
            lambda name: st.builds(
                Call,
                name=st.just(name),
                arguments=st.fixed_dictionaries(
                    {key: _values(kind, text) for key, kind in known[name].items()}
                ),
                id=_IDS,
            )
        )
        allowed = one.map(lambda call: allowed_call(spec, call))
        return st.lists(allowed, max_size=most).map(tuple)

    return tools.flatmap(calls_of)


def _shapes(spec: Spec, kinds: Sequence[Shape]) -> st.SearchStrategy[Shape]:
    """Return types down to the innermost values: in elements, a schema alone tells them apart."""
    inner_null = (Subject.ARGUMENT_INNER_NULL, Verdict.AMBIGUOUS)
    no_null = any((limit.subject, limit.verdict) == inner_null for limit in spec.limits)
    containers = (JsonType.ARRAY, JsonType.OBJECT)
    scalars = [kind for kind in kinds if kind not in containers]
    inside = st.sampled_from([kind for kind in scalars if kind is not JsonType.NULL or not no_null])
    nested = st.recursive(
        inside,
        lambda inner: st.one_of(
            st.tuples(inner), st.dictionaries(_NAME, inner, min_size=1, max_size=3)
        ),
        max_leaves=5,
    )
    return st.one_of(st.sampled_from(scalars), nested)


def _values(kind: Shape, text: st.SearchStrategy[str]) -> st.SearchStrategy[object]:
    if isinstance(kind, tuple):
        return st.lists(_values(kind[0], text), max_size=3)
    if isinstance(kind, dict):
        members = {key: _values(inner, text) for key, inner in kind.items()}
        return st.fixed_dictionaries({}, optional=members)
    scalars = st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), text)
    nested = st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(_NAME, inner, max_size=3)
        ),
        max_leaves=5,
    )
    by_kind: dict[JsonType, st.SearchStrategy[object]] = {
        JsonType.STRING: st.one_of(text, st.just(""), st.sampled_from(("7", "true", "null"))),
        JsonType.INTEGER: st.integers(-(10**12), 10**12),
        JsonType.NUMBER: st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 4) + 0.0),
        JsonType.BOOLEAN: st.booleans(),
        JsonType.NULL: st.none(),
        JsonType.ARRAY: st.lists(nested, max_size=3),
        JsonType.OBJECT: st.dictionaries(_NAME, nested, max_size=3),
    }
    return by_kind[kind]


def _ambiguous_types(spec: Spec) -> set[JsonType]:
    subjects = {
        limit.subject
        for limit in spec.limits
        if limit.verdict is Verdict.AMBIGUOUS and not limit.characters
    }
    return {kind for kind in JsonType if Subject(f"argument.{kind}") in subjects}
