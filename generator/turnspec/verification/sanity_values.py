"""Sanity of how values are written: no more than it takes, and nothing that can't be told apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from turnspec.spec.encoding import encode_argument
from turnspec.spec.words import Encoding, JsonType, Subject, Verdict
from turnspec.verification.messages import EDGE_VALUES
from turnspec.verification.sanity_view import Finding, View

#: From the simplest on.
_ENCODINGS = (Encoding.RAW, Encoding.JSON, Encoding.PYTHON, Encoding.QUOTED, Encoding.ELEMENTS)
#: Pairs of values that elements may write alike, by what is then ambiguous.
_ALIKE: dict[Subject, tuple[tuple[object, object], ...]] = {
    Subject.ARGUMENT_INNER_NULL: (([None], [""]), ({"k": None}, {"k": ""}), ({"k": None}, {})),
    Subject.ARGUMENT_EMPTY: (([], ""), ({}, "")),
}


def encodings(view: View) -> Iterator[Finding]:
    """Each value is written in the simplest of the encodings in which it looks as it does."""
    tools = view.spec.tools
    if tools is None or "tools" in view.spec.overlay:  # a person says "Python's", and means all
        return
    arguments = tools.arguments
    if arguments.item and arguments.syntax.encoding is not Encoding.JSON:
        yield "tools.arguments.syntax.encoding", "no value is written so; each has its own encoding"
    for kind, encoding in arguments.values.items():
        # Some write objects in a way of their own, and so only the arrays that hold them.
        holders = [[one] for one in EDGE_VALUES[JsonType.OBJECT] if kind is JsonType.ARRAY]
        for simpler in _ENCODINGS[: _ENCODINGS.index(encoding)]:
            if simpler is Encoding.RAW and kind is not JsonType.STRING:
                continue
            other = replace(arguments, values={**arguments.values, kind: simpler})
            if all(
                encode_argument(value, arguments) == encode_argument(value, other)
                for value in (*EDGE_VALUES[kind], *holders)
            ):
                yield f"tools.arguments.values.{kind}", f"is {encoding}, but looks as {simpler}"


def alike(view: View) -> Iterator[Finding]:
    """Elements that are written alike are called ambiguous, and no others."""
    tools = view.spec.tools
    if tools is None or tools.arguments.elements is None:
        return
    written = partial(encode_argument, arguments=tools.arguments)
    called = {x.subject for x in view.spec.limits if x.verdict is Verdict.AMBIGUOUS}
    for subject, pairs in _ALIKE.items():
        found = [pair for pair in pairs if written(pair[0]) == written(pair[1])]
        if found and subject not in called:
            one, other = found[0]
            yield "limits", f"{one!r} and {other!r} are written alike; {subject} is ambiguous"
        if not found and subject in called:
            yield "limits", f"{subject} is called ambiguous, but nothing is written alike"
