"""What changed between two specs, by meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.specs_for_tests import ALL_SPECS, json_native_spec, plain_spec, tagged_spec
from turnspec.review.facts import Area, Change, changes
from turnspec.spec.calls import Arguments, Literal, Tools, ValueSyntax
from turnspec.spec.model import Alternatives, CodeCall, End, Join, Limit, Spec, Turn
from turnspec.spec.words import Condition, Part, PrefixStep, ReasoningMode, Subject, Verdict


def with_turn(spec: Spec, turn: Turn) -> Spec:
    return replace(spec, turn=turn)


def tools_of(spec: Spec) -> Tools:
    assert spec.tools is not None
    return spec.tools


@pytest.mark.parametrize("make", ALL_SPECS)
def test_a_spec_does_not_differ_from_itself(make: Callable[[], Spec]) -> None:
    assert changes(make(), make()) == ()


def test_white_space_in_a_marker_shows() -> None:
    old = json_native_spec()
    new = replace(old, reasoning=replace(old.reasoning, start="<think>"))
    assert changes(old, new) == (
        Change(Area.MARKER, "reasoning start", '"<think>\\n"', '"<think>"'),
    )


def test_a_mode_and_what_goes_with_it() -> None:
    old = json_native_spec()
    mode = ReasoningMode.FORCED_OPEN
    assert changes(old, replace(old, reasoning=replace(old.reasoning, mode=mode))) == (
        Change(Area.MODE, "reasoning", "TAG_BASED", "FORCED_OPEN"),
    )


def test_what_a_template_accepts_and_what_it_demands() -> None:
    old = json_native_spec()
    flags = replace(old.capabilities, parallel_calls=False, call_id_required=True)
    assert changes(old, replace(old, capabilities=flags)) == (
        Change(Area.CAPABILITY, "parallel_calls", "yes", "no"),
        Change(Area.REQUIREMENT, "call_id_required", "no", "yes"),
    )


def test_a_prefix_that_is_kept_no_more() -> None:
    old, new = (
        replace(spec, capabilities=replace(spec.capabilities, prefix_broken_by=step))
        for spec, step in zip([json_native_spec()] * 2, (None, PrefixStep.USER), strict=True)
    )
    assert changes(old, new) == (Change(Area.TEMPLATE, "prefix", None, "broken by user"),)
    kept = replace(new.capabilities, prefix_broken_by=PrefixStep.NOTHING)
    assert changes(new, replace(new, capabilities=kept)) == (
        Change(Area.TEMPLATE, "prefix", "broken by user", "kept"),
    )


def test_calls_won() -> None:
    old = plain_spec()
    new = replace(old, tools=json_native_spec().tools)
    found = {change.name: (change.before, change.after) for change in changes(old, new)}
    assert found == {
        "tools": ("none", "JSON_NATIVE"),
        "call": (
            None,
            '"<tool_call>\\n{\\"name\\": \\"" NAME "\\", \\"arguments\\": " ARGUMENTS '
            '"}\\n</tool_call>"',
        ),
        "between calls": (None, '"\\n"'),
        "key of the name": (None, "name"),
        "key of the arguments": (None, "arguments"),
        "no arguments": (None, '"{}"'),
        "syntax": (None, "JSON"),
    }


def test_sets_are_compared_by_their_members() -> None:
    old = json_native_spec()
    new = with_turn(old, replace(old.turn, stop=("</s>", "<|stop|>")))
    assert changes(old, new) == (Change(Area.TURN_END, 'stop string "</s>"', None, ""),)
    assert changes(new, with_turn(new, replace(new.turn, stop=("<|stop|>", "</s>")))) == ()


def test_limits_and_overlays() -> None:
    old = json_native_spec()
    limit = Limit(Subject.CONTENT, Verdict.DROPS, Condition.WITH_CALLS, "not rendered")
    new = replace(old, limits=(limit,), overlay=("tools",))
    assert changes(old, new) == (
        Change(Area.LIMIT, "content: trims, with reasoning (leading newlines)", "", None),
        Change(Area.LIMIT, "content: drops, with calls (not rendered)", None, ""),
        Change(Area.OVERLAY, "tools", None, ""),
    )


def test_an_empty_join_is_none() -> None:
    old = json_native_spec()
    joins = (*old.turn.joins, Join(Part.START, Part.CONTENT, ""))
    assert changes(old, with_turn(old, replace(old.turn, joins=joins))) == ()


def test_an_end_that_is_not_said_is_another_than_an_empty_one() -> None:
    old = json_native_spec()
    kept = tuple(end for end in old.turn.ends if end.last is not Part.START)
    unsaid = with_turn(old, replace(old.turn, ends=kept))
    empty = with_turn(old, replace(old.turn, ends=(*kept, End(Part.START, "", "\n"))))
    assert changes(unsaid, empty) == (
        Change(Area.TURN_END, "of an empty turn", "as after empty content", '"", then "\\n"'),
    )


def test_the_style_of_values() -> None:
    old = tagged_spec()
    arguments = tools_of(old).arguments
    syntax = ValueSyntax(quote="'", indent=2)
    tools = replace(tools_of(old), arguments=replace(arguments, syntax=syntax))
    assert changes(old, replace(old, tools=tools)) == (
        Change(Area.ARGUMENTS, "syntax, indent", None, "2"),
        Change(Area.ARGUMENTS, "syntax, quote", None, '"\'"'),
    )


def test_an_argument_is_shown_whole() -> None:
    old = tagged_spec()
    arguments: Arguments = tools_of(old).arguments
    item = (Literal("<p="), *arguments.item[1:])
    tools = replace(tools_of(old), arguments=replace(arguments, item=item))
    assert changes(old, replace(old, tools=tools)) == (
        Change(
            Area.MARKER,
            "argument",
            '"<parameter=" KEY ">\\n" VALUE "\\n</parameter>\\n"',
            '"<p=" KEY ">\\n" VALUE "\\n</parameter>\\n"',
        ),
    )


def test_alternatives() -> None:
    old = json_native_spec()
    other = Alternatives(code=CodeCall("<|python|>", "python", "code"), stop=("<|eom|>",))
    assert changes(old, replace(old, alternatives=other)) == (
        Change(Area.ALTERNATIVE, 'stop string "<|eom|>"', None, ""),
        Change(Area.ALTERNATIVE, "code", None, '"<|python|>" to python(code)'),
    )
