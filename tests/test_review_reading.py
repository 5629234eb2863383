"""Whether one generated parser reads another format's turns."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.generated_formats import PARTS, committed_format
from tests.grammar_samples import gbnf_of
from tests.specs_for_tests import (
    ALL_SPECS,
    json_native_spec,
    one_prompt,
    plain_spec,
    tagged_spec,
    two_prompts,
)
from turnspec.codegen.loading import load
from turnspec.grammar.turn import generate_grammar
from turnspec.review.compare import Source, Status, compare_all, compare_sources
from turnspec.review.reading import Format, read_turns, written_turns
from turnspec.review.rules import Severity
from turnspec.spec.calls import Literal, Slot
from turnspec.spec.files import dump_spec, load_spec, spec_hash
from turnspec.spec.model import End, Limit, Spec, TemplateIdentity, ThinkingState
from turnspec.spec.turn_end import may_repeat_calls
from turnspec.spec.words import (
    Condition,
    IndexScope,
    Part,
    ReasoningMode,
    SlotKind,
    Subject,
    Verdict,
)
from turnspec.verification.messages import format_markers
from turnspec.verification.random_messages import random_messages


def format_of(spec: Spec) -> Format:
    return Format(spec, load(spec), generate_grammar(spec, spec_path="", spec_hash=""))


def prompted_plain_spec() -> Spec:
    """Return the plain format with its header in the prompt."""
    spec = plain_spec()
    return replace(spec, thinking=one_prompt(spec.turn.header))


def not_forced(spec: Spec) -> Spec:
    """Return the format with the reasoning's opening written by the model, not by the prompt."""
    header = spec.turn.header
    return replace(
        spec,
        thinking=one_prompt(header),
        reasoning=replace(spec.reasoning, mode=ReasoningMode.TAG_BASED),
    )


def with_call(spec: Spec, *markers: tuple[str, str]) -> Spec:
    """Return the format with other texts in the literals of its calls."""
    assert spec.tools is not None
    call = list(spec.tools.call)
    for old, new in markers:
        call = [
            Literal(piece.text.replace(old, new)) if isinstance(piece, Literal) else piece
            for piece in call
        ]
    return replace(spec, tools=replace(spec.tools, call=tuple(call)))


def test_a_parser_reads_its_own_turns() -> None:
    own = format_of(json_native_spec())
    reading = read_turns(own, own)
    assert reading.severity is Severity.COMPATIBLE
    assert reading.same == reading.turns > 40
    assert (reading.with_problems, reading.differing, reading.unreadable) == (0, 0, 0)
    assert (reading.kinds, reading.example) == ((), None)


@pytest.mark.usefixtures("few_turns")
def test_white_space_around_markers_is_compatible() -> None:
    old = json_native_spec()
    new = with_call(old, ("<tool_call>\n", "<tool_call>"), ("\n</tool_call>", "</tool_call>"))
    review = compare_sources("x", Source(old), Source(new))
    assert review.severity is Severity.COMPATIBLE
    assert not review.same_turns


def test_the_same_message_with_problems_is_lenient() -> None:
    new = not_forced(tagged_spec())
    reading = read_turns(format_of(tagged_spec()), format_of(new))
    assert reading.severity is Severity.LENIENT
    assert reading.kinds == ("repeated",)
    assert reading.with_problems > 0
    assert reading.differing == 0
    assert reading.example is not None
    assert reading.example.written.startswith("<think>\n")
    assert reading.example.got == reading.example.wanted + ', problems ["repeated"]'


@pytest.mark.usefixtures("few_turns")
def test_another_marker_is_breaking() -> None:
    old = json_native_spec()
    new = with_call(old, ("tool_call", "invocation"))
    review = compare_sources("x", Source(old), Source(new))
    assert review.severity is Severity.BREAKING
    assert review.forward is not None
    assert review.forward.same > 0  # turns without calls
    assert review.forward.example is not None
    assert "(invocation" not in review.forward.example.wanted
    content, _, told = review.forward.example.got.partition(", problems ")
    assert content.startswith('content "')
    assert "<invocation>" in content
    assert told == '["no_name"]'
    assert review.backward is not None
    assert review.backward.severity is Severity.BREAKING


@pytest.mark.usefixtures("few_turns")
def test_the_direction_counts() -> None:
    """A template that no longer renders calls breaks nobody's parser; one that begins to, does."""
    with_calls, without = json_native_spec(), replace(json_native_spec(), tools=None)
    lost = compare_sources("x", Source(with_calls), Source(without))
    assert lost.severity is Severity.COMPATIBLE
    won = compare_sources("x", Source(without), Source(with_calls))
    assert won.severity is Severity.BREAKING


def test_a_prompt_that_opens_reasoning_breaks_those_who_do_not_pass_it() -> None:
    old, new = not_forced(tagged_spec()), tagged_spec()
    reading = read_turns(format_of(old), format_of(new))
    assert reading.severity is Severity.BREAKING
    assert reading.with_prompt is Severity.COMPATIBLE


@pytest.mark.usefixtures("few_turns")
def test_another_header_is_told_for_those_who_pass_the_prompt() -> None:
    """Who passes none has the prompt of the old parser's template, whatever walks begin with."""
    old = tagged_spec()
    new = load_spec(dump_spec(old).replace("<|turn|>assistant", "<|turn|>model"), "")
    assert isinstance(new, Spec)
    assert old.turn.header != new.turn.header
    review = compare_sources("x", Source(old), Source(new))
    assert review.forward is not None
    assert review.forward.severity is Severity.COMPATIBLE
    assert review.forward.with_prompt is Severity.BREAKING
    told = [(finding.rule.id, finding.text) for finding in review.findings]
    assert told == [("prefill-misread", "breaking for them")]
    assert review.severity is Severity.LENIENT


@pytest.mark.usefixtures("few_turns")
def test_behind_which_prompt_turns_are_misread_is_told() -> None:
    """Nobody who keeps the old parser sets what it didn't know of."""
    spec = tagged_spec()
    off = ThinkingState(f"{spec.turn.header}<think>\n\n</think>\n\n", {"ponder": False})
    new = replace(spec, thinking=replace(spec.thinking, disabled=off))
    old = replace(spec, thinking=one_prompt(spec.thinking.default.prompt))
    review = compare_sources("x", Source(old), Source(new))
    assert review.forward is not None
    assert review.forward.only_behind == "the prompt with thinking disabled"
    (told,) = [it.text for it in review.findings if it.rule.id == "parser-misreads"]
    assert told.endswith(", only behind the prompt with thinking disabled")


def test_a_parser_that_raises_is_breaking() -> None:
    def parse(text: str, **options: Any) -> None:
        raise TypeError("no such option")

    own = format_of(prompted_plain_spec())
    other = Format(own.spec, cast("Any", SimpleNamespace(parse=parse)), own.gbnf)
    reading = read_turns(other, own)
    assert reading.severity is Severity.BREAKING
    assert reading.same == 0
    assert reading.example is not None
    assert reading.example.got == 'problems ["TypeError: no such option"]'


def test_where_nothing_can_be_compared_nothing_is_known_to_work() -> None:
    # One of its prompts has a header, so in turns behind the other one that is a problem.
    thinking = two_prompts("<|other|>", "", enabled={"think": True})
    own = format_of(replace(plain_spec(), thinking=thinking))
    reading = read_turns(own, own)
    assert reading.severity is Severity.BREAKING
    assert reading.unreadable == reading.turns > 40
    assert (reading.same, reading.with_problems) == (0, 0)


def test_turns_are_always_the_same() -> None:
    assert written_turns(tagged_spec()) == written_turns(tagged_spec())


def test_only_another_template_is_compatible_and_nothing_is_tried() -> None:
    old = json_native_spec()
    new = replace(old, template=TemplateIdentity("other.jinja", "9" * 64, "local"))
    review = compare_sources("x", Source(old), Source(new))
    assert review.severity is Severity.COMPATIBLE
    assert (review.forward, review.same_turns) == (None, True)
    assert [change.name for change in review.changes] == ["file", "sha256"]


@pytest.mark.usefixtures("few_turns")
def test_the_same_turns_are_told() -> None:
    old = json_native_spec()
    review = compare_sources("x", Source(old), Source(replace(old, limits=())))
    assert (review.severity, review.same_turns) == (Severity.COMPATIBLE, True)


@pytest.mark.usefixtures("few_turns")
def test_calls_that_only_the_model_writes_are_other_turns() -> None:
    """An overlay may say how calls look that the template itself never renders."""
    never = Limit(Subject.CALLS, Verdict.DROPS, Condition.ALWAYS, "never rendered")
    new = replace(json_native_spec(), limits=(never,))
    review = compare_sources("x", Source(replace(new, tools=None)), Source(new))
    assert (review.severity, review.same_turns) == (Severity.BREAKING, False)


@pytest.mark.usefixtures("few_turns")
def test_a_count_over_the_conversation_writes_other_turns() -> None:
    """Only a later turn shows it."""
    old = with_call(json_native_spec())
    assert old.tools is not None
    index = (Slot(SlotKind.INDEX), *old.tools.call)
    turn = replace(old.tools, call=index, index_base=0, index_scope=IndexScope.TURN)
    conversation = replace(turn, index_scope=IndexScope.CONVERSATION)
    review = compare_sources(
        "x", Source(replace(old, tools=turn)), Source(replace(old, tools=conversation))
    )
    assert not review.same_turns
    assert [change.name for change in review.changes] == ["call index"]


@pytest.mark.usefixtures("few_turns")
def test_the_committed_parser_is_the_one_that_is_tried() -> None:
    """The module counts as it was generated, if it names its spec's hash; else it is made anew."""
    old = prompted_plain_spec()
    ends = (End(Part.CONTENT, "</s>", "</s>\n"),)
    new = replace(old, turn=replace(old.turn, ends=ends, stop=("</s>",)))
    module = "def parse(text, **options):\n    raise ValueError('old code')\n"
    own = f"# {spec_hash(old)}\n{module}"
    tried = compare_sources("x", Source(old, own), Source(new))
    assert tried.forward is not None
    assert tried.forward.example is not None
    assert tried.forward.example.got == 'problems ["ValueError: old code"]'
    anew = compare_sources("x", Source(old, module), Source(new))
    assert anew.forward is not None
    assert anew.forward.example is not None
    assert anew.forward.example.got.startswith("content ")


@pytest.mark.parametrize(
    ("old", "new", "status", "severity"),
    [
        ({}, {"x": plain_spec()}, Status.ADDED, Severity.COMPATIBLE),
        ({"x": plain_spec()}, {}, Status.REMOVED, Severity.BREAKING),
    ],
)
def test_added_and_removed(
    old: dict[str, Spec], new: dict[str, Spec], status: Status, severity: Severity
) -> None:
    before, after = ({name: Source(spec) for name, spec in specs.items()} for specs in (old, new))
    (review,) = compare_all(before, after)
    assert (review.status, review.severity) == (status, severity)


def test_equal_specs_are_left_out() -> None:
    sources = {"x": Source(plain_spec())}
    assert compare_all(sources, sources) == ()


def test_random_messages_hold_what_comes_back() -> None:
    for make in ALL_SPECS:
        spec = make()
        markers = format_markers(spec)
        given = list(random_messages(spec, 50))
        assert len({repr(message) for message in given}) > 20
        assert len({len(message.calls) for message in given}) == _most_calls(spec) + 1
        assert any(message.reasoning for message in given) == bool(spec.reasoning.field)
        assert not any(
            marker in text
            for message in given
            for text in (message.content, message.reasoning)
            for marker in markers
        )


def _most_calls(spec: Spec) -> int:
    """Return how many calls a random message has at most."""
    if spec.tools is None:
        return 0
    return 3 if may_repeat_calls(spec) else 1


@pytest.mark.parametrize("name", PARTS)
def test_every_committed_parser_reads_its_own_turns(name: str) -> None:
    """What the verdicts of others are measured by."""
    committed = committed_format(name)
    own = Format(committed.spec, committed.module, gbnf_of(name))
    reading = read_turns(own, own)
    assert reading.severity is Severity.COMPATIBLE
    assert reading.unreadable == 0
