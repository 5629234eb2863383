"""Turns written in any format come back from the engine, whole and however they are cut."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import pairwise, takewhile

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.drawn_formats import formats, messages, tools_of
from tests.generated_formats import EVERY_FORMAT
from tests.parser_checks import added_up, stream, summary
from turnspec.codegen.loading import load
from turnspec.codegen.writer import write_turn
from turnspec.spec.message import Message
from turnspec.spec.model import Spec, Tokenizer

_LONGER = settings(
    max_examples=int(os.environ.get("TURNSPEC_EXAMPLES", "100" if EVERY_FORMAT else "60")),
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Spec, Message, list[int]]:
    """Draw a format, what a turn says, and where its text is cut."""
    spec = draw(formats())
    turn = draw(messages(spec))
    cuts = draw(st.lists(st.integers(0, len(write_turn(spec, turn))), max_size=8))
    return spec, turn, sorted(cuts)


@given(cases())
@_LONGER
def test_a_turn_comes_back_however_it_is_cut(case: tuple[Spec, Message, list[int]]) -> None:
    spec, turn, cuts = case
    text, form = write_turn(spec, turn), load(spec)
    whole = form.parse(text, tools=tools_of(turn))
    assert (whole.content, whole.reasoning_content) == (turn.content, turn.reasoning)
    calls = [(call.name, json.loads(call.arguments), call.complete) for call in whole.tool_calls]
    assert calls == [(call.name, call.arguments, True) for call in turn.calls]
    assert whole.problems == []
    assert form.parse(text.removesuffix(spec.turn.stop[0]), tools=tools_of(turn)) == whole
    edges = [0, *cuts, len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    message, events = stream(form, pieces, tools=tools_of(turn))
    assert message == whole
    assert added_up(events) == summary(whole)


@given(cases())
@_LONGER
def test_tokens_around_a_turn_are_no_part_of_it(case: tuple[Spec, Message, list[int]]) -> None:
    spec, turn, cuts = case
    token = "<|other|>"
    text = f"{token}{write_turn(spec, turn).removesuffix(spec.turn.stop[0])}{token}"
    form = load(replace(spec, tokenizer=Tokenizer("", (token,))))
    pieces = [text[start:stop] for start, stop in pairwise([0, *cuts, len(text)])]
    message, events = stream(form, pieces, tools=tools_of(turn))
    assert (message.content, message.reasoning_content) == (turn.content, turn.reasoning)
    calls = [
        (call.name, call.arguments and json.loads(call.arguments)) for call in message.tool_calls
    ]
    assert calls == [(call.name, call.arguments) for call in turn.calls]
    assert [problem.kind for problem in message.problems] == ["stray_marker"] * 2
    assert added_up(events) == summary(message)


@given(cases(), st.data())
@_LONGER
def test_a_turn_that_breaks_off_is_read_as_far_as_it_goes(
    case: tuple[Spec, Message, list[int]], data: st.DataObject
) -> None:
    spec, turn, _ = case
    text = write_turn(spec, turn)
    text = text[: data.draw(st.integers(0, len(text)))]
    form = load(spec)
    message = form.parse(text, tools=tools_of(turn))
    pairs = zip(message.content, turn.content, strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    # What is too much is a marker that has just begun, without the blank that it may hold.
    assert text.rstrip().endswith(message.content[alike:])
    names = [call.name for call in message.tool_calls]
    assert names == [call.name for call in turn.calls][: len(names)]
    for call in message.tool_calls:
        assert isinstance(json.loads(call.arguments), dict)
    streamed, _ = stream(form, text, tools=tools_of(turn))
    assert streamed == message
