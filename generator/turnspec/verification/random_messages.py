"""Random messages (Hypothesis) that a template should render and its parser give back."""

from __future__ import annotations

import string
from collections.abc import Sequence

from hypothesis import strategies as st

from turnspec.rendering.conversation import NEXT_USER_TEXT, RESULT_TEXT, USER_TEXT
from turnspec.spec.message import Call, Message
from turnspec.spec.model import JsonType, ReasoningMode, Spec, Subject, Verdict
from turnspec.verification.messages import (
    TRICKY_TEXTS,
    allowed_call,
    allowed_text,
    ambiguous_types,
    format_markers,
    has_elements,
)

_NAME = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=12).map(
    lambda text: "t" + text
)
#: The type of an argument: a word, or of elements what they hold, an array's in a tuple of one.
Shape = JsonType | tuple["Shape", ...] | dict[str, "Shape"]

_IDS = st.text(string.ascii_letters + string.digits, min_size=9, max_size=9)


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


def _calls(spec: Spec, text: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[Call, ...]]:
    """Return up to three calls of tools whose arguments have fixed types."""
    kinds: list[Shape] = [kind for kind in JsonType if kind not in ambiguous_types(spec)]
    further = (Subject.FURTHER_CALLS, Verdict.DROPS)
    most = 1 if any((limit.subject, limit.verdict) == further for limit in spec.limits) else 3
    shapes = _shapes(spec, kinds) if has_elements(spec) else st.sampled_from(kinds)
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
