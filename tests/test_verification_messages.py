"""Messages for the rungs: they hold what the spec says comes back, and nothing else is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.specs_for_tests import json_native_spec
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Limit, Spec
from turnspec.spec.words import Condition, Subject, Verdict
from turnspec.verification.messages import allowed_call, allowed_text, sample_messages
from turnspec.verification.random_messages import random_messages
from turnspec.verification.turns import is_ambiguous

TEXTS = (Subject.REASONING, Subject.CONTENT, Subject.ARGUMENT_STRING)
#: So many that each character of interest comes up in each part.
MANY = 1500


def altering(subject: Subject, characters: str) -> Spec:
    limit = Limit(subject, Verdict.AMBIGUOUS, Condition.ALWAYS, "altered", characters)
    return replace(json_native_spec(), limits=(limit,))


def strings(value: object) -> str:
    """Return all strings in a value, one after the other."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return "".join(map(strings, value))
    return value if isinstance(value, str) else ""


def texts_of(message: Message) -> dict[Subject, str]:
    arguments = "".join(strings(dict(call.arguments)) for call in message.calls)
    return dict(zip(TEXTS, (message.reasoning, message.content, arguments), strict=True))


@pytest.mark.parametrize("subject", TEXTS)
def test_the_characters_of_a_limit_are_left_out(subject: Subject) -> None:
    spec = altering(subject, "\x85\u2028e")

    for message in (*random_messages(spec, 100), *sample_messages(spec)):
        assert not set("\x85\u2028e") & set(texts_of(message)[subject])


@pytest.mark.parametrize("limited", TEXTS)
@pytest.mark.parametrize("other", TEXTS)
def test_everything_else_is_still_there(limited: Subject, other: Subject) -> None:
    spec = altering(limited, "\x85\u2028")
    wanted = "\x85" if other is not limited else "\u2029"
    assert any(wanted in texts_of(message)[other] for message in random_messages(spec, MANY))


@pytest.mark.parametrize("character", "\x00\r\x0b\U0001f389")
def test_no_character_is_left_out_without_a_limit(character: str) -> None:
    spec = replace(json_native_spec(), limits=())
    assert any(character in message.content for message in random_messages(spec, MANY))


def test_what_is_left_of_texts_and_calls() -> None:
    spec = altering(Subject.ARGUMENT_STRING, "aé")
    assert allowed_text(spec, Subject.ARGUMENT_STRING, "banané") == "bnn"
    assert allowed_text(spec, Subject.CONTENT, "banané") == "banané"
    call = Call("a", {"a": "a", "b": ["xa", {"a": "ya"}, 1, None]}, "a")
    assert allowed_call(spec, call) == Call("a", {"a": "", "b": ["x", {"a": "y"}, 1, None]}, "a")


@pytest.mark.parametrize(
    ("change", "ambiguous"),
    [
        (lambda limit: replace(limit, characters=""), True),
        (lambda limit: limit, False),
    ],
)
def test_a_limit_of_some_characters_makes_no_message_ambiguous(
    change: Callable[[Limit], Limit], ambiguous: bool
) -> None:
    spec = altering(Subject.CONTENT, "\x85")
    spec = replace(spec, limits=tuple(map(change, spec.limits)))
    assert is_ambiguous(spec, Message("Hello")) is ambiguous


def test_a_limit_of_some_characters_leaves_no_type_of_arguments_out() -> None:
    spec, call = altering(Subject.ARGUMENT_STRING, "\x85"), Call("f", {"a": "b", "c": 1})
    assert allowed_call(spec, call) == call
    whole = replace(spec, limits=(replace(spec.limits[0], characters=""),))
    assert allowed_call(whole, call) == Call("f", {"c": 1})
