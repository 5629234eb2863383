"""Messages that the analysis never saw: a fixed set for rung 0, random ones for rungs 1 and 2."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterable, Iterator

from hypothesis import strategies as st

from generator.analysis.text import markers
from generator.rendering.conversation import NEXT_USER_TEXT, RESULT_TEXT, USER_TEXT
from generator.spec.encoding import json_type
from generator.spec.message import Call, Message
from generator.spec.model import JsonType, Literal, Spec, Subject, Verdict

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
_IDS = st.text(string.ascii_letters + string.digits, min_size=9, max_size=9)


def sample_messages(spec: Spec) -> Iterator[Message]:
    """Return a fixed set: each part with and without the others, no call, one of each, three."""
    calls = [allowed_call(spec, call) for call in SAMPLE_CALLS]
    choices = ((), *((call,) for call in calls), tuple(calls))
    for reasoning, content, chosen in itertools.product(
        ("", "Let me think: 2 < 3."), ("", "Hello there!\n\nHow are you?"), choices
    ):
        if reasoning or content or chosen:
            yield Message(content, reasoning, chosen)


def allowed_call(spec: Spec, call: Call) -> Call:
    """Return the call without arguments of the types that the spec calls ambiguous."""
    ambiguous = _ambiguous_types(spec)
    kept = {
        key: value for key, value in call.arguments.items() if json_type(value) not in ambiguous
    }
    return Call(call.name, kept, call.id)


def messages(spec: Spec) -> st.SearchStrategy[Message]:
    """Return a strategy for messages that the template should render and the parser give back."""
    text = _texts(spec)
    return st.builds(
        Message,
        content=st.one_of(st.just(""), text),
        reasoning=st.one_of(st.just(""), text) if spec.reasoning.field else st.just(""),
        calls=_calls(spec, text) if spec.tools else st.just(()),
    ).filter(_is_usable)


def _is_usable(message: Message) -> bool:
    """Tell whether a message says anything, and nothing by which the messages around are found."""
    around = (USER_TEXT, NEXT_USER_TEXT, RESULT_TEXT)
    says = message.content or message.reasoning or message.calls
    return bool(says) and not any(text in repr(message) for text in around)


def _texts(spec: Spec) -> st.SearchStrategy[str]:
    """Return texts that hold no marker of the format and don't end in white space."""
    own = format_markers(spec)
    characters = st.characters(codec="utf-8", exclude_characters="\r\x00")
    pieces = st.one_of(st.text(characters, max_size=20), st.sampled_from(TRICKY_TEXTS))
    joined = st.lists(pieces, min_size=1, max_size=3).map(" ".join).map(str.strip)
    return joined.filter(lambda text: bool(text) and not any(marker in text for marker in own))


def format_markers(spec: Spec) -> set[str]:
    """Return every literal of the format without its white space, and each marker in it."""
    texts = [spec.reasoning.start, spec.reasoning.end, spec.content.start, spec.content.end]
    texts += [spec.turn.header, *spec.turn.stop, *(join.text for join in spec.turn.joins)]
    texts += [text for end in spec.turn.ends for text in (end.final, end.followed)]
    if spec.tools is not None:
        texts += [spec.tools.section_start, spec.tools.section_end]
        pieces = (*spec.tools.call, *spec.tools.arguments.item)
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
    kinds = [kind for kind in JsonType if kind not in _ambiguous_types(spec)]
    further = (Subject.FURTHER_CALLS, Verdict.DROPS)
    most = 1 if any((limit.subject, limit.verdict) == further for limit in spec.limits) else 3
    signature = st.dictionaries(_NAME, st.sampled_from(kinds), max_size=4)
    tools = st.dictionaries(_NAME, signature, min_size=1, max_size=2)

    def calls_of(known: dict[str, dict[str, JsonType]]) -> st.SearchStrategy[tuple[Call, ...]]:
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
        return st.lists(one, max_size=most).map(tuple)

    return tools.flatmap(calls_of)


def _values(kind: JsonType, text: st.SearchStrategy[str]) -> st.SearchStrategy[object]:
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
    subjects = {limit.subject for limit in spec.limits if limit.verdict is Verdict.AMBIGUOUS}
    return {kind for kind in JsonType if Subject(f"argument.{kind}") in subjects}
