"""The turn writer: joins, ends, indices, encodings and limits, on invented specs."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from tests.specs_for_tests import channels_spec, json_native_spec, plain_spec
from turnspec.codegen.writer import as_rendered, write_calls, write_parts, write_turn
from turnspec.spec.calls import AfterFirst, Arguments, Guard, Literal, Slot, Tools, ValueSyntax
from turnspec.spec.encoding import encode_object
from turnspec.spec.message import Call, Message
from turnspec.spec.model import End, Limit, Spec
from turnspec.spec.words import (
    Condition,
    Encoding,
    IndexScope,
    JsonType,
    Part,
    SlotKind,
    Subject,
    ToolMode,
    Verdict,
)

CALL = Call("look", {"at": "sky"}, "id1")


def with_limit(spec: Spec, subject: Subject, verdict: Verdict, when: Condition) -> Spec:
    return replace(spec, limits=(Limit(subject, verdict, when, "a reason"),))


def tagged(**options: object) -> Tools:
    item = (
        Literal("<a k="),
        Slot(SlotKind.KEY),
        Literal(" t="),
        Slot(SlotKind.TYPE),
        Literal(">"),
        Slot(SlotKind.VALUE),
        Literal("</a>"),
    )
    arguments = Arguments(
        item=item,
        separator="|",
        empty="-",
        values={JsonType.STRING: Encoding.RAW, JsonType.BOOLEAN: Encoding.PYTHON},
        types={JsonType.STRING: "s", JsonType.BOOLEAN: "b"},
        guard=Guard("<![", "]>", "<&"),
    )
    call = (Slot(SlotKind.INDEX), Literal(":"), Slot(SlotKind.NAME), Slot(SlotKind.ARGUMENTS))
    tools = Tools(ToolMode.TAG_WITH_TAGGED, "", call, ";", "", arguments, index_base=1)
    return replace(tools, **options)  # type: ignore[arg-type]


def test_a_call_says_how_many_arguments_it_has() -> None:
    call = (Slot(SlotKind.COUNT), Literal(":"), Slot(SlotKind.NAME), Slot(SlotKind.ARGUMENTS))
    calls = (Call("f", {"a": "x", "b": True}, ""), Call("g", {}, ""))
    assert write_calls(tagged(call=call), calls) == "2:f<a k=a t=s>x</a>|<a k=b t=b>True</a>;0:g-"


def test_a_guard_without_characters_stands_around_every_string() -> None:
    arguments = replace(tagged().arguments, guard=Guard("<![", "]>", ""))
    written = write_calls(tagged(arguments=arguments), (Call("f", {"a": "x", "b": True}, ""),))
    assert written == "1:f<a k=a t=s><![x]></a>|<a k=b t=b>True</a>"


def test_python_strings_in_one_quote() -> None:
    syntax = ValueSyntax(Encoding.PYTHON, quote="'", one_quote=True)
    value = {"a": ["it's", 'a "b"\n', None], "c": 1.5}
    written = encode_object(value, syntax)
    assert written == r"""{'a': ['it\'s', 'a "b"\n', None], 'c': 1.5}"""
    assert ast.literal_eval(written) == value


def test_json_with_bare_keys() -> None:
    syntax = ValueSyntax(Encoding.QUOTED, bare_keys=True, one_quote=True)
    value = {"a": ['"b"\n', None, {"c": True}], "d": 1.5}
    assert encode_object(value, syntax) == r"""{a: ["\"b\"\n", null, {c: true}], d: 1.5}"""


def test_json_with_the_constants_of_python() -> None:
    syntax = ValueSyntax(python_words=True)
    value = {"a": ["it's \"\x1f", None, {"b": True}], "c": 1.5, "d": False}
    written = encode_object(value, syntax)
    assert written == r"""{"a": ["it's \"\u001f", None, {"b": True}], "c": 1.5, "d": False}"""


def test_a_part_is_framed_by_its_neighbours() -> None:
    spec = json_native_spec()
    whole = write_turn(spec, Message("Said.", "Thought.", (CALL,)))
    assert whole.startswith(spec.turn.header)
    assert f"Thought.{spec.reasoning.end}{spec.join(Part.REASONING, Part.CONTENT)}Said." in whole
    assert whole.endswith(spec.final(Part.CALLS))


def test_writing_from_behind_a_part_begins_with_its_end() -> None:
    spec = json_native_spec()
    rest = write_parts(spec, Message("Said."), Part.REASONING)
    assert rest == write_turn(spec, Message("Said.", "Thought.")).partition("Thought.")[2]


def test_a_turn_without_content_ends_as_one_with_empty_content() -> None:
    spec = plain_spec()
    spec = replace(spec, turn=replace(spec.turn, ends=(End(Part.CONTENT, "!", "!"),)))
    empty = spec.turn.header + spec.join(Part.START, Part.CONTENT)
    assert write_turn(spec, Message()) == f"{empty}{spec.content.start}{spec.content.end}!"


def test_calls_may_decide_the_end() -> None:
    spec = json_native_spec()
    ends = (End(Part.CONTENT, "<c>", "<c>"), End(Part.CALLS, "<t>", "<t>"))
    turn = replace(spec.turn, order=(Part.CALLS, Part.CONTENT), ends=ends)
    message = Message("Said.", "", (CALL,))
    assert write_turn(replace(spec, turn=turn), message).endswith("<c>")
    turn = replace(turn, calls_decide_end=True)
    assert write_turn(replace(spec, turn=turn), message).endswith("<t>")
    assert write_turn(replace(spec, turn=turn), Message("Said.")).endswith("<c>")


def test_indices_count_over_the_turn_or_the_conversation() -> None:
    calls = (Call("a"), Call("b"))
    assert write_calls(tagged(index_scope=IndexScope.TURN), calls, 5) == "1:a-;2:b-"
    assert write_calls(tagged(index_scope=IndexScope.CONVERSATION), calls, 5) == "6:a-;7:b-"


@pytest.mark.parametrize(
    ("count", "written"), [(0, ""), (1, "0:f-"), (2, "0:f-,0:f-"), (3, "0:f-,0:f-;0:f-")]
)
def test_the_first_separator_may_differ(count: int, written: str) -> None:
    call = (Literal("0:"), Slot(SlotKind.NAME), Slot(SlotKind.ARGUMENTS))
    tools = tagged(call=call, after_first=AfterFirst(",", "", ""))
    assert write_calls(tools, (Call("f"),) * count) == written


def test_a_turn_with_one_call_may_end_in_its_own_way() -> None:
    spec = json_native_spec()
    assert spec.tools is not None
    after = AfterFirst("", "</only>", "<wait>")
    tools = replace(spec.tools, separator="", section_end="</calls>", after_first=after)
    spec = replace(spec, tools=tools)
    assert write_turn(spec, Message(calls=(CALL,))).endswith("</tool_call></only><wait>")
    several = write_turn(spec, Message(calls=(CALL, CALL)))
    assert several.endswith("</tool_call></calls>" + spec.final(Part.CALLS))
    assert write_turn(spec, Message("Said.")).endswith("Said." + spec.final(Part.CONTENT))
    turn = replace(spec.turn, order=(Part.CALLS, Part.CONTENT), joins=())
    spec = replace(spec, turn=turn)
    beside = write_turn(spec, Message("Said.", calls=(CALL,)))
    assert beside.endswith("</only>Said." + spec.final(Part.CONTENT))
    spec = replace(spec, turn=replace(turn, calls_decide_end=True))
    assert write_turn(spec, Message("Said.", calls=(CALL,))).endswith("</only>Said.<wait>")


def test_arguments_are_encoded_by_type() -> None:
    call = Call("f", {"x": "plain", "y": True, "z": "a<b"})
    assert write_calls(tagged(), (call,)) == (
        "1:f<a k=x t=s>plain</a>|<a k=y t=b>True</a>|<a k=z t=s><![a<b]></a>"
    )


@pytest.mark.parametrize(
    ("subject", "verdict", "when", "shown"),
    [
        (Subject.REASONING, Verdict.DROPS, Condition.ALWAYS, Message("c", "", (CALL,))),
        (Subject.CONTENT, Verdict.DROPS, Condition.WITH_CALLS, Message("", "r", (CALL,))),
        (Subject.CONTENT, Verdict.DROPS, Condition.WITHOUT_CALLS, Message("c", "r", (CALL,))),
        (Subject.CALLS, Verdict.DROPS, Condition.WITH_CONTENT, Message("c", "r")),
        (Subject.ARGUMENT_STRING, Verdict.DROPS, Condition.ALWAYS,
         Message("c", "r", (Call("look", {}, "id1"),))),
        (Subject.CONTENT, Verdict.AMBIGUOUS, Condition.ALWAYS, Message("c", "r", (CALL,))),
    ],
)  # fmt: skip
def test_limits(subject: Subject, verdict: Verdict, when: Condition, shown: Message) -> None:
    spec = with_limit(json_native_spec(), subject, verdict, when)
    assert as_rendered(spec, Message("c", "r", (CALL,))) == shown


def test_content_beside_calls_may_move_to_reasoning() -> None:
    spec = with_limit(channels_spec(), Subject.CONTENT, Verdict.MOVES, Condition.WITH_CALLS)
    assert as_rendered(spec, Message("c", "", (CALL,))) == Message("", "c", (CALL,))
    assert as_rendered(spec, Message("c")) == Message("c")


def test_reasoning_that_is_never_rendered_is_dropped() -> None:
    assert as_rendered(plain_spec(), Message("c", "r")) == Message("c")
