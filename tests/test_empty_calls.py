"""A call without arguments, of which the template writes less than of others, is read as one."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from tests.own_templates import given_template
from tests.parser_checks import stream
from tests.test_deviations import failures_of
from tests.test_grammar_bound import compiled
from tests.test_right_formats import built, spec_in
from turnspec.analysis.analyze import analyze_template
from turnspec.codegen.facts import facts_of
from turnspec.codegen.loading import load
from turnspec.codegen.writer import write_turn
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import Format
from turnspec.explain.annotate import Kind, annotated_turn
from turnspec.export.exporting import Exported, ExportOptions, Refusal
from turnspec.export.pair import export_pair
from turnspec.export.response_template import export_response_template
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.rendering.worker import RenderWorker
from turnspec.review.facts import changes
from turnspec.spec.characters import call_ends, is_name
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import SlotKind

HEADER = "<:assistant:>"
_KEYED = "{% for k, v in a.items() %}<k n='{{ k }}'>{{ v }}</k>{% endfor %}"
#: How a template writes a call, with arguments `a` or none; and the one of a tool `ping`.
CALLS = {
    "no member": (
        '<use>{"name": "{{ f.name }}"{% if a %}, "with": {{ a | tojson }}{% endif %}}</use>',
        '<use>{"name": "ping"}</use>',
    ),
    "no member before an id": (
        '<use>{"name": "{{ f.name }}"{% if a %}, "with": {{ a | tojson }}{% endif %}'
        ', "id": "{{ call.id }}"}</use>',
        '<use>{"name": "ping", "id": "callqa001"}</use>',
    ),
    "null": (
        '<use>{"name": "{{ f.name }}", "with": {{ (a or none) | tojson }}}</use>',
        '<use>{"name": "ping", "with": null}</use>',
    ),
    "no tags around JSON": (
        "<use><fn>{{ f.name }}</fn>{% if a %}<with>{{ a | tojson }}</with>{% endif %}</use>",
        "<use><fn>ping</fn></use>",
    ),
    "a number, and a tag that closes itself": (
        "<use no='{{ loop.index }}' fn='{{ f.name }}'"
        "{% if a %}>{{ a | tojson }}</use>{% else %}/>{% endif %}",
        "<use no='1' fn='ping'/>",
    ),
    "a tag that closes itself behind the name": (
        "<use {{ f.name }}{% if a %}>{{ a | tojson }}</use>{% else %}/>{% endif %}",
        "<use ping/>",
    ),
    "a line end and nothing": (
        "<use>{{ f.name }}{{ '\n' }}{% if a %}{{ a | tojson }}{{ '\n' }}{% endif %}</use>",
        "<use>ping\n</use>",
    ),
    "no mark before JSON": (
        "<:use:>{{ f.name }}{% if a %}<:with:>{{ a | tojson }}{% endif %}<:/use:>",
        "<:use:>ping<:/use:>",
    ),
    "two signs": ("/{{ f.name }}{{ ' ' + a | tojson if a }} ;;\n", "/ping ;;"),
    "no tags around keys": (
        f"<use><fn>{{{{ f.name }}}}</fn>{{% if a %}}<all>{_KEYED}</all>{{% endif %}}</use>",
        "<use><fn>ping</fn></use>",
    ),
    "a word for no keys": (
        f"<fn>{{{{ f.name }}}}</fn>{{% if a %}}<all>{_KEYED}</all>"
        "{% else %}<none/>{% endif %}<go/>",
        "<fn>ping</fn><none/><go/>",
    ),
}
#: Others, of which no text without arguments shows for sure that it is a call.
UNSURE = {
    "brackets": "[{{ f.name }}{{ '(' + a | tojson + ')' if a }}]",
    "signs of one kind": "**{{ f.name }}**{% if a %} {{ a | tojson }}.{% endif %}**",
    "nothing behind the name": "<:use:>{{ f.name }}{% if a %}<:with:>{{ a | tojson }}{% endif %}",
}
TOOLS = [
    {"name": "ping", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}},
    {
        "name": "look",
        "parameters": {
            "type": "object",
            "properties": {"x": {"type": "string"}},
            "required": ["x"],
        },
    },
]


def template(call: str) -> str:
    return (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for call in m.tool_calls or [] %}{% set f = call.function %}{% set a = f.arguments %}"
        f"{call}{{% endfor %}}<:end:>{{% endfor %}}"
        f"{{% if add_generation_prompt %}}{HEADER}{{% endif %}}"
    )


@cache
def spec_with(call: str) -> Spec:
    with RenderWorker() as worker:
        spec = analyze_template(given_template(template(call)), worker).spec
    assert spec is not None
    return spec


def found_in(message: Any) -> list[tuple[str, Any, bool]]:
    return [(call.name, json.loads(call.arguments), call.complete) for call in message.tool_calls]


@pytest.mark.parametrize("case", CALLS)
def test_the_whole_ladder_is_green(case: str) -> None:
    call, written = CALLS[case]
    build = built("empty", template(call))
    assert build.result is not None
    failed = {rung: found.example for rung, found in build.result.rungs.items() if found.failed}
    assert (build.problems, build.objections, failed) == ((), (), {})
    turn = write_turn(spec_in(build), Message(calls=(Call("ping", {}, "callqa001"),)))
    assert turn.startswith(HEADER + written)


@pytest.mark.parametrize("case", CALLS)
def test_it_is_read_alone_and_beside_others(case: str) -> None:
    spec = spec_with(CALLS[case][0])
    module = load(spec)
    for given in (["ping"], ["ping", "look"], ["look", "ping"], ["ping", "ping"]):
        calls = [(name, {"x": "1"} if name == "look" else {}) for name in given]
        ids = ("callqa001", "callqa002")
        message = Message("Hm.", "", tuple(Call(*c, i) for c, i in zip(calls, ids, strict=False)))
        text = write_turn(spec, message).removeprefix(HEADER)
        whole = module.parse(text, tools=TOOLS)
        assert (whole.content.strip(), whole.problems) == ("Hm.", [])
        assert found_in(whole) == [(*call, True) for call in calls]
        for size in (1, 2, 3, 7):
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            assert stream(module, pieces, tools=TOOLS)[0] == whole


@pytest.mark.parametrize("case", CALLS)
def test_what_is_cut_off_is_not_complete(case: str) -> None:
    spec = spec_with(CALLS[case][0])
    module = load(spec)
    for arguments in ({}, {"x": "1"}):
        message = Message(calls=(Call("ping", arguments, "callqa001"),))
        text = write_turn(spec, message).removeprefix(HEADER)
        for end in range(len(text)):
            message = module.parse(text[:end], tools=TOOLS)
            complete = [given for _, given, complete in found_in(message) if complete]
            assert complete in ([], [arguments]), text[:end]
            assert complete or not message.tool_calls or message.problems, text[:end]


def test_a_member_that_may_still_come_leaves_the_call_open() -> None:
    module = load(spec_with(CALLS["no member"][0]))
    texts = ('{"name": "ping"', '{"name": "ping", "with"', '{"name": "ping"}')
    found = [module.parse(f"<use>{text}") for text in texts]
    assert [found_in(message) for message in found] == [
        [("ping", {}, is_whole)] for is_whole in (False, False, True)
    ]
    assert [[problem.kind for problem in message.problems] for message in found] == [
        *[["cut_off", "no_arguments"]] * 2,
        [],
    ]


@pytest.mark.parametrize("case", CALLS)
def test_engines_take_it_for_tools_that_need_no_arguments(case: str) -> None:
    spec = spec_with(CALLS[case][0])
    request = GrammarRequest(tools=TOOLS, tool_choice="required", parallel=True)
    found = bind_grammar(spec, request)
    assert isinstance(found, BoundGrammar)
    some: list[tuple[str, dict[str, object]]] = [("ping", {}), ("ping", {"x": "1"})]
    allowed: list[list[tuple[str, dict[str, object]]]] = [[call] for call in some]
    allowed.append([("look", {"x": "1"}), *some])
    refused: list[tuple[str, dict[str, object]]] = [("look", {})]
    for grammar in compiled(found.grammar).values():
        for calls in (refused, *allowed):
            made = (Call(*call, f"callqa00{n}") for n, call in enumerate(calls))
            text = write_turn(spec, Message(calls=tuple(made))).removeprefix(HEADER)
            assert grammar.accepts(text) == (calls in allowed), text


@pytest.mark.parametrize(
    "deviation", ["arguments empty, null or missing", "arguments that are no object"]
)
def test_other_arguments_are_told_as_ever(deviation: str) -> None:
    for case in CALLS:
        form = Format(spec_with(CALLS[case][0]), load(spec_with(CALLS[case][0])))
        for given in DEVIATIONS[f"calls: {deviation}"](form):
            assert list(failures_of(form, given)) == [], (case, given.text)


@pytest.mark.parametrize("case", UNSURE)
def test_what_may_be_text_is_not_taken_for_a_call(case: str) -> None:
    spec = spec_with(UNSURE[case])
    assert spec.tools is not None
    assert (spec.tools.empty_call, facts_of(spec).values["MAY_LACK_ARGUMENTS"]) == ((), False)


def test_a_word_in_brackets_is_text() -> None:
    text = "As in [ping]."
    message = load(spec_with(UNSURE["brackets"])).parse(text)
    assert (message.content, message.tool_calls, message.problems) == (text, [], [])


def test_explain_shows_its_parts() -> None:
    spec = spec_with(CALLS["no member"][0])
    turn = annotated_turn(spec, Message(calls=(Call("ping", {}),)))
    assert [(part.text, part.kind) for part in turn][1:4] == [
        ('<use>{"name": "', Kind.CALL_MARK),
        ("ping", Kind.NAME),
        ('"}</use>', Kind.CALL_MARK),
    ]


def test_exports_that_do_not_read_it_say_so() -> None:
    spec = spec_with(CALLS["no member"][0])
    found = export_response_template(spec, ExportOptions())
    assert isinstance(found, Exported)
    assert [loss.what for loss in found.losses] == ["calls without arguments"]
    refusal = export_pair(spec, ExportOptions())
    assert isinstance(refusal, Refusal)
    assert refusal.what == "calls without arguments"


def test_an_object_without_members_is_as_any_other() -> None:
    spec = spec_with(
        '<use>{"name": "{{ f.name }}", "with": {{ a | tojson if a else "{ }" }}}</use>'
    )
    assert spec.tools is not None
    assert (spec.tools.empty_call, spec.tools.arguments.empty) == ((), "{ }")


def test_reviews_tell_it() -> None:
    usual = spec_with('<use>{"name": "{{ f.name }}", "with": {{ a | tojson }}}</use>')
    found = {c.name: (c.before, c.after) for c in changes(usual, spec_with(CALLS["no member"][0]))}
    told = '"<use>{\\"name\\": \\"" NAME "\\"}</use>"'
    assert found["call without arguments"] == (None, told)


def test_what_closes_a_call_without_arguments_is_in_no_name() -> None:
    spec = spec_with(CALLS["a tag that closes itself behind the name"][0])
    assert spec.tools is not None
    ends = call_ends(spec.tools, SlotKind.NAME)
    assert is_name("up/down")
    assert not is_name("up/down", ends)
    message = load(spec).parse("<use up/down/><:end:>")
    assert (message.content, list(message.tool_calls)) == ("<use up/down/>", [])
