"""Sanity of a spec's limits: what it calls ambiguous or trimmed really doesn't come back for sure.

A limit takes messages out of the other checks, so one without need would hide what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from turnspec.codegen.writer import as_rendered, write_turn
from turnspec.spec.conditions import holds, parts_of_message
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Limit, Spec
from turnspec.spec.words import JsonType, Subject, Verdict
from turnspec.spec.yaml_text import quoted
from turnspec.verification.comparing import as_meant, as_read
from turnspec.verification.messages import EDGE_VALUES, allowed_text, sample_messages
from turnspec.verification.sanity_view import Finding, View
from turnspec.verification.turns import never_renders_calls

#: Strings with what formats have trouble with.
_STRINGS = (
    *("two words", "q\"uo'te", "a\nb", "b\\s\\n", "7", "true", "null", "<b>&", "[x]", ""),
    *("x', k='y", 'x", k="y', 'x", "k": "y', "x'}", 'x"}'),
)
#: Texts with a character that a limit is about. A quote may only matter where an end could be, a
#: line break beside another one.
_AROUND = ("qxa{0}qxb", "qxa{0}{0}qxb", "qxa{0}, k={0}qxb", "qxa{0})")
#: Values of the types that a limit may call ambiguous as a whole.
_VALUES: dict[Subject, tuple[object, ...]] = {
    Subject.ARGUMENT_STRING: _STRINGS,
    Subject.ARGUMENT_INTEGER: (0, -7, 10**12),
    Subject.ARGUMENT_NUMBER: (0.5, -2.25, 1e-07),
    Subject.ARGUMENT_BOOLEAN: (True, False),
    Subject.ARGUMENT_NULL: (None,),
    Subject.ARGUMENT_ARRAY: EDGE_VALUES[JsonType.ARRAY],
    Subject.ARGUMENT_OBJECT: EDGE_VALUES[JsonType.OBJECT],
}

#: What may have escapes that nothing undoes, and the signs that no longer text is without.
_TEXTS = (Subject.CONTENT, Subject.REASONING, Subject.ARGUMENT_STRING)
_ORDINARY = re.compile(r"[ -~\n]")
#: Verdicts that take messages out of other checks, as the findings name them.
_CALLED = {Verdict.AMBIGUOUS: "ambiguous", Verdict.TRIMS: "trimmed"}


def limits(view: View) -> Iterator[Finding]:
    """Something that such a limit is about doesn't come back, as long as it is rendered.

    That is no sign that a model writes otherwise, as in a string of JSON: nothing undoes escapes.
    """
    for number, limit in enumerate(view.spec.limits):
        if limit.verdict not in _CALLED:
            continue
        if escape := _escape(view, limit):
            text = f"{limit.subject} is read with the template's escapes"
            yield f"limits[{number}]", f"{text}: {escape}"
        without = replace(view.spec, limits=tuple(x for x in view.spec.limits if x is not limit))
        given = list(_concerned(view.spec, limit, without))
        if given and limit.subject in _VALUES and not any(_shows_key(view, m) for m in given):
            yield f"limits[{number}]", f"{limit.subject} isn't rendered at all: that is drops"
        if given and all(_comes_back_somehow(view, without, message) for message in given):
            text = f"is called {_CALLED[limit.verdict]}, but comes back from the parser"
            shown = given[0].content or given[0].reasoning or repr(given[0].calls)
            yield f"limits[{number}]", f"{limit.subject} {text}: {quoted(shown)}"


def _escape(view: View, limit: Limit) -> str:
    """Say how a sign is written that ordinary texts hold, if a text of more signs stands for it."""
    if limit.verdict is not Verdict.AMBIGUOUS or limit.subject not in _TEXTS:
        return ""
    for sign in filter(_ORDINARY.match, limit.characters):
        message = _with_text(limit.subject, f"qxa{sign}qxb")
        found = re.search("qxa(..+?)qxb", view.chat.turn(message).text or "", re.DOTALL)
        if found:
            return f"{quoted(found[1])} for {quoted(sign)}"
    return ""


def _concerned(spec: Spec, limit: Limit, without: Spec) -> Iterator[Message]:
    """Yield messages that a limit is about; ``without`` is the spec without it."""
    if limit.verdict is Verdict.TRIMS:
        if limit.subject is Subject.ARGUMENT_STRING:
            yield from (_with_argument("qxkey", text) for text in (" qxa", "qxa ", "\nqxa\n"))
    elif limit.characters:
        texts = (text.format(one) for one in limit.characters for text in _AROUND)
        yield from (_with_text(limit.subject, text) for text in texts)
    elif limit.subject in _VALUES:
        if spec.tools is not None and not never_renders_calls(spec):
            for value in _VALUES[limit.subject]:
                if isinstance(value, str):
                    value = allowed_text(without, limit.subject, value)
                yield _with_argument("qxkey", value)
    elif limit.subject in (Subject.REASONING, Subject.CONTENT, Subject.CALLS):
        yield from (m for m in sample_messages(spec) if holds(limit.when, parts_of_message(m)))


def _with_text(subject: Subject, text: str) -> Message:
    match subject:
        case Subject.CONTENT:
            return Message(text)
        case Subject.REASONING:
            return Message("An answer.", text)
        case Subject.ARGUMENT_KEY:
            return _with_argument(text, "value")
    return _with_argument("qxkey", text)


def _with_argument(key: str, value: object) -> Message:
    return Message(calls=(Call("qxtool", {key: value}, "abcdefgh1"),))


def _shows_key(view: View, message: Message) -> bool:
    turn, _ = view.renderer.turn(message)
    return turn is not None and all(key in turn for key in message.calls[0].arguments)


def _comes_back_somehow(view: View, spec: Spec, message: Message) -> bool:
    """Tell whether a message comes back by itself or with some reasoning before it."""
    variants = [message]
    if message.calls and spec.reasoning.field:
        variants.append(replace(message, reasoning="They want to know."))
    return any(_comes_back(view, spec, variant) for variant in variants)


def _comes_back(view: View, spec: Spec, message: Message) -> bool:
    """Tell whether a message is rendered as it is written, and read back; one refused counts."""
    turn, _ = view.renderer.turn(message)
    if turn is None:
        return True
    if not turn.endswith(write_turn(spec, message)):
        return False
    shown = as_rendered(spec, message)
    found = view.renderer.parser_input(turn, shown.calls)
    return found is not None and as_read(spec, view.module, found) == as_meant(spec, shown)
