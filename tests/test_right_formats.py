"""Formats that are read rightly are called so; what is doubtful is told, and fails nothing."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.generated_formats import EVERY_FORMAT
from tests.own_templates import FOLDER, given_template, own_template, spec_of
from tests.test_cli import run
from turnspec.analysis.analyze import analyze_template
from turnspec.analysis.tag_examples import tagged_example
from turnspec.codegen.loading import load
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.grammar.turn_text import text_markers
from turnspec.pipeline import build as building
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.files import load_checked_spec
from turnspec.spec.model import Spec
from turnspec.spec.results import SANITY
from turnspec.spec.words import ContentMode, ReasoningMode, Subject, Verdict
from turnspec.verification import ladder
from turnspec.verification.grammar_rung import agreement
from turnspec.verification.rungs import DEFAULT_MESSAGES

FEW = DEFAULT_MESSAGES if EVERY_FORMAT else 5
#: A template of our own, what a model writes behind its prompt; reasoning and content of it.
READ = {
    "mended-marks": ("First look.\n</ponder>\n\nIt is.<:end:>", "First look.", "It is."),
    "closed-by-every-prompt": ("It is.<:end:>", "", "It is."),
    "messages-within-a-turn": (
        "<:thought:>First look.<:end:><:assistant:>It is.<:end:>",
        "First look.",
        "It is.",
    ),
    "thoughts-never-closed": ("First look.</think>It is.</s>", "First look.", "It is."),
    "kinds-of-thinking": ("First look.\n</ponder>\n\nIt is.<:end:>", "First look.", "It is."),
    "thinking-budget": ("First look.\n</ponder>\n\nIt is.<:end:>", "First look.", "It is."),
    "content-in-parts": ("<:muse:>First look.<:/muse:>It is.<:end:>", "First look.", "It is."),
}


def built(name: str, text: str = "") -> Build:
    source = given_template(text, name) if text else own_template(name)
    return build_template(source, OutputPaths.in_folder(name), messages=FEW, with_advice=True)


@cache
def built_once(name: str, text: str = "") -> Build:
    return built(name, text)


def spec_in(build: Build) -> Spec:
    spec = load_checked_spec(build.files[OutputPaths.in_folder(build.name).spec], "the.yaml")
    assert isinstance(spec, Spec)
    return spec


def spec_alone(name: str, text: str) -> Spec:
    """Return the spec of a template, and verify nothing."""
    return spec_in(build_template(given_template(text, name), OutputPaths.in_folder(name)))


@pytest.mark.parametrize("name", READ)
def test_a_format_that_is_read_rightly_is_verified(name: str) -> None:
    build = built_once(name)
    assert (build.problems, build.objections) == ((), ())
    assert build.result is not None
    assert {rung for rung, found in build.result.rungs.items() if not found.is_passed} == set()
    text, reasoning, content = READ[name]
    message = load(spec_in(build)).parse(text)
    assert (message.reasoning_content, message.content) == (reasoning, content)
    assert message.problems == []


@pytest.mark.long
@pytest.mark.parametrize("name", [*READ][:3])
def test_its_analysis_exits_with_0(name: str, tmp_path: Path) -> None:
    assert run("analyze", FOLDER / f"{name}.jinja", "--into", tmp_path).exit_code == 0


def test_a_header_between_two_parts_wraps_nothing() -> None:
    assert spec_in(built_once("messages-within-a-turn")).content.mode is ContentMode.PLAIN


#: Templates as people write them for training, each with turns that are read rightly.
TRAINED_ON = {
    # No prompt holds the header. Nothing marks a call but its object, which begins with an id.
    "no-generation-prompt": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% if m.tool_calls %}{{ m.tool_calls | tojson }}{% endif %}<:end:>{% endfor %}",
        '<:assistant:>Hm.[{"id": "a", "type": "function", '
        '"function": {"name": "look", "arguments": {"x": "1"}}}]<:end:>',
    ),
    # Only the prompt says how reasoning begins. An id stands between two words.
    "opened-by-the-prompt": (
        "{% for m in messages %}<:{{ m.role }}:>"
        "{% if m.role == 'assistant' and think and m.reasoning_content %}"
        "{{ m.reasoning_content }}</muse>{% endif %}{{ m.content or '' }}"
        "{% for call in m.tool_calls or [] %}{{ '\nUSE ' + call.id + ' ' + call.function.name }} "
        "{{ call.function.arguments | tojson }}{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{{ '<muse>' if think else '</muse>' }}"
        "{% endif %}",
        'Hm.\nUSE a look {"x": "1"}<:end:>',
    ),
    # What follows the header's word tells the parts, and calls end in a marker of their own.
    "parts-behind-a-word": (
        "{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% if m.reasoning_content %}<:open:>bot/muse\n{{ m.reasoning_content }}<:shut:>\n"
        "{% endif %}"
        "{% if m.content %}<:open:>bot\n{{ m.content }}<:shut:>"
        "{{ '\n' if m.tool_calls else '<:over:>\n' }}{% endif %}"
        "{% if m.tool_calls %}<:open:>bot > tools\n[{% for call in m.tool_calls %}"
        '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}'
        "{{ ', ' if not loop.last }}{% endfor %}]<:shut:><:halt:>\n{% endif %}"
        "{% else %}<:open:>{{ m.role }}\n{{ m.content }}<:shut:>\n{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}{{ {1: '<:open:>bot/muse\n', 0: '<:open:>bot\n'}"
        "[think] if think is defined else '<:open:>bot' }}{% endif %}",
        '\nHm.<:shut:>\n<:open:>bot > tools\n[{"name": "look", "arguments": {"x": "1"}}]'
        "<:shut:><:halt:>\n",
    ),
    # A sign opens every part, the first one by the prompt. No other marker tells header from part.
    "parts-behind-a-sign": (
        "{% for m in messages %}<:open:>{{ m.role }}\n{% if m.role == 'assistant' %}"
        "{% if m.content %}>>>all\n{{ m.content }}{% endif %}"
        "{% for call in m.tool_calls or [] %}>>>{{ call.function.name }}\n"
        "{{ call.function.arguments | tojson }}{% endfor %}"
        "{% else %}{{ m.content }}{% endif %}<:shut:>{% endfor %}"
        "{% if add_generation_prompt %}<:open:>assistant\n>>>{% endif %}",
        'all\nHm.>>>look\n{"x": "1"}<:shut:>',
    ),
    # What stands behind the header's sign is a word: alone it is text, and starts no call.
    "messages-of-a-word": (
        "{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% if m.reasoning_content %}<:open:>bot/think\n{{ m.reasoning_content }}<:shut:>\n"
        "{% endif %}"
        "{% if m.content %}<:open:>bot/say\n{{ m.content }}<:shut:>\n{% endif %}"
        "{% for call in m.tool_calls or [] %}<:open:>bot/call {{ call.function.name }}\n"
        "{{ call.function.arguments | tojson }}<:shut:>\n{% endfor %}"
        "{% else %}<:open:>{{ m.role }}\n{{ m.content }}<:shut:>\n{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<:open:>bot/{% endif %}",
        'say\nHm.<:shut:>\n<:open:>bot/call look\n{"x": "1"}<:shut:>\n',
    ),
    # Nothing tells reasoning from content, or content's end from the turn's. Values are Python's.
    "text-behind-text": (
        "{% for m in messages %}\n  <:{{ m.role }}:>{% if m.content %}{{ m.content }}\n"
        "{{ m.reasoning_content or '' }}\n\n{% endif %}"
        "{% for call in m.tool_calls or [] %}```run\n{{ call.function.name }}("
        "{% for key, value in call.function.arguments.items() %}{{ ', ' if not loop.first }}"
        "{{ key }}={% if value is boolean or value is none %}{{ value }}"
        "{% else %}{{ value | tojson }}{% endif %}{% endfor %})\n```{% endfor %}\n\n{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        'Hm.\n\n```run\nlook(x="1")\n```\n\n',
    ),
}


@pytest.mark.parametrize("name", TRAINED_ON)
def test_a_template_for_training_is_read_rightly(name: str) -> None:
    template, text = TRAINED_ON[name]
    build = built(name, template)
    assert build.result is not None
    failed = {rung: found.example for rung, found in build.result.rungs.items() if found.failed}
    assert (build.problems, failed) == ((), {})
    message = load(spec_in(build)).parse(text, tools=tools_named("look"))
    calls = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    assert (message.content.strip(), calls) == ("Hm.", [("look", {"x": "1"})])
    assert (message.reasoning_content, message.problems) == ("", [])


def test_a_plain_word_starts_no_call_for_certain() -> None:
    """A lazy grammar that it triggered would end an answer that says it."""
    template, _ = TRAINED_ON["messages-of-a-word"]
    spec = spec_alone("messages-of-a-word", template)
    assert spec.grammar.triggers == ()
    assert not {"call", "say", "think"} & set(text_markers(spec))


def test_what_may_be_right_is_told_and_fails_nothing() -> None:
    """The template changes a mark that is no part of the format into no other either."""
    mended = (FOLDER / "mended-marks.jinja").read_text(encoding="utf-8")
    build = built(
        "doubtful",
        mended.replace(".replace('<pondering>', '<ponder>')", ".replace('<pondering>', '?')"),
    )
    assert build.result is not None
    sanity = build.result.rungs[SANITY]
    assert (sanity.failed, sanity.example) == (0, None)
    told = 'doubtful: the template alters a text with "<pondering>"; no part says why'
    assert [problem.message for problem in build.objections] == [told]
    assert sanity.note == told


# Thinking


def test_an_end_that_is_assumed_is_told() -> None:
    spec = spec_in(built_once("thoughts-never-closed"))
    assert (spec.reasoning.mode, spec.reasoning.end) == (ReasoningMode.FORCED_OPEN, "</think>")
    told = [limit.reason for limit in spec.limits if limit.verdict is Verdict.TOLD]
    assert told == [
        "a prompt opens it and nothing closes it; its end is assumed, an overlay can say it"
    ]


def test_stripped_thought_that_nothing_opens_is_told() -> None:
    build = built(
        "given",
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content.split('<:mused:>')[-1] }}"
        "<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
    )
    spec = spec_in(build)
    message = load(spec).parse("It is.<:end:>")
    assert (spec.reasoning.mode, message.content) == (ReasoningMode.NONE, "It is.")
    [told] = [limit.reason for limit in spec.limits if limit.verdict is Verdict.TOLD]
    assert told.startswith(
        "the template strips text up to '<:mused:>' and nothing shows what opens"
    )


def test_all_states_of_thinking_are_found_by_what_they_render(worker: RenderWorker) -> None:
    spec = spec_of("kinds-of-thinking", worker)
    assert (spec.thinking.default.prompt, dict(spec.thinking.disabled.variables)) == (
        "<:begin:>assistant\n<ponder>\n",
        {"mode": "off"},
    )
    found = {str(state.variables["mode"]): state.prompt for state in spec.thinking.others}
    kinds = ("fast", "slow", "deep")
    assert found == {kind: f"<:begin:>assistant\n<ponder_{kind}>\n" for kind in kinds}
    for kind, prompt in found.items():
        message = load(spec).parse(f"Look.\n</ponder_{kind}>\n\nSo.<:end:>", prefill=prompt)
        assert (message.reasoning_content, message.content, message.problems) == (
            "Look.",
            "So.",
            [],
        )


def test_a_budget_is_a_number_and_neither_true_nor_false(worker: RenderWorker) -> None:
    thinking = spec_of("thinking-budget", worker).thinking
    assert dict(thinking.disabled.variables) == {"steps": 0}
    assert [dict(state.variables) for state in thinking.others] == [{"steps": 1}, {"steps": 2}]


# Keys and ids


def test_a_name_in_the_header_switches_nothing() -> None:
    header = "<:from:>bot [{{ name | default('tern') }}]<:says:>"
    spec = spec_alone(
        "given",
        "{% for m in messages %}{% if m.role == 'assistant' %}" + header + "{% if m.reasoning %}"
        "<mull>{{ m.reasoning }}</mull>{% endif %}{% else %}<:from:>{{ m.role }}<:says:>{% endif %}"
        "{{ m.content }}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}" + header + "{{ '<mull>' if mull }}{% endif %}",
    )
    prefill = "<:from:>bot [gull]<:says:><mull>"
    message = load(spec).parse("First look.</mull>It is.<:end:>", prefill=prefill)
    assert (message.reasoning_content, message.content) == ("First look.", "It is.")


def test_a_text_behind_content_is_no_reasoning() -> None:
    source = (
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
        "{% if m.function_calls %}<calls>{{ m.function_calls }}</calls>{% endif %}</end>"
        "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    build = built("calls-as-text", source)
    assert spec_in(build).reasoning.mode is ReasoningMode.NONE
    assert build.result is not None
    assert all(found.is_passed for found in build.result.rungs.values())


def tools_named(*names: str) -> list[Any]:
    return [{"type": "function", "function": {"name": name, "parameters": {}}} for name in names]


def test_a_name_that_stands_in_an_id_is_a_tools(worker: RenderWorker) -> None:
    spec = spec_of("call-by-id-alone", worker)
    assert [limit.subject for limit in spec.limits if limit.verdict is Verdict.AMBIGUOUS] == [
        Subject.CALL_ID
    ]
    ids = ("functions.look_up:0", "look_up:1", "look", "functions.other:3")
    calls = "".join(f"<:call:>{id}<:input:>{{}}<:/call:>" for id in ids)
    text = f"<:calls:>{calls}<:/calls:><:end:>"
    tools = tools_named("functions", "look", "look_up")
    found = [(call.id, call.name) for call in load(spec).parse(text, tools=tools).tool_calls]
    assert found[:3] == [(ids[0], "look_up"), (ids[1], "look_up"), ("call_2", "look")]
    alone = load(spec).parse(text).tool_calls
    assert [call.name for call in alone] == [*ids], "without tools nothing tells the name"
    bound = bind_grammar(spec, GrammarRequest(tools_named("look_up"), lazy=False))
    assert isinstance(bound, BoundGrammar)
    assert 'id-before "l" "o" "o" "k" "_" "u" "p" id-behind' in bound.grammar


def test_a_name_before_an_object_that_says_it_again_is_a_head(worker: RenderWorker) -> None:
    said = "{'title': call.function.name, 'given': call.function.arguments} | tojson"
    source = (
        "{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% if m.content %}<me><text>{{ m.content }}<over>{% endif %}"
        "{% for call in m.tool_calls or [] %}"
        f"<me>{{{{ call.function.name + '<call>' + ({said}) }}}}<over>{{% endfor %}}<end>"
        "{% else %}<{{ m.role }}><text>{{ m.content }}<over>{% endif %}"
        "{% endfor %}{% if add_generation_prompt %}<me>{% endif %}"
    )
    spec = analyze_template(given_template(source), worker).spec
    assert spec is not None
    text = '<text>{}<over><me>look<call>{"title": "look", "given": {"a": 1}}<over><end>'
    message = load(spec).parse(text)
    assert message.content == "{}", "a bracket before what ends texts is the text's"
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("look", '{"a": 1}')]
    assert message.problems == []


# Failures of ours


def _calling(call: str) -> str:
    return (
        "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
        f"{{% for call in m.tool_calls or [] %}}{call}{{% endfor %}}</end>"
        "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    )


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            "<call {{ call.function.name }}>",
            "a call shows no arguments; an overlay can say, under tools, how the model writes it",
        ),
        (
            "{{ call.function.name }} {{ call.function.arguments | tojson }}",
            "tools.call[0]: no text stands before the first slot: nothing shows a call",
        ),
    ],
)
def test_calls_that_cannot_be_read_are_told_and_the_rest_is_written(call: str, told: str) -> None:
    build = built("unread", _calling(call))
    assert [str(problem) for problem in build.problems] == [f"unread.jinja: {told}"]
    assert {*build.files} == {"unread.yaml", "unread.py", "unread.gbnf"}
    assert spec_in(build).tools is None
    assert build.result is not None
    assert "0" in [rung for rung, found in build.result.rungs.items() if found.failed]


def test_what_fails_behind_the_analysis_is_told_and_the_rest_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> Any:
        raise StopIteration

    monkeypatch.setattr(building, "advise", fail)
    monkeypatch.setattr(building, "with_told_limits", fail)
    monkeypatch.setattr(ladder, "agreement", fail)
    build = built("plain-content")
    assert {*build.files} == {"plain-content.yaml", "plain_content.py", "plain-content.gbnf"}
    assert [str(problem) for problem in build.problems] == [
        "plain-content.jinja: internal error in what the prompt says: StopIteration: ",
        "plain-content.jinja: internal error in the advice: StopIteration: ",
    ]
    assert sum(finding.comparison == "traceback" for finding in build.findings) == 2
    assert build.result is not None
    assert [rung for rung, found in build.result.rungs.items() if found.failed] == ["3"]


@pytest.mark.parametrize(
    "example",
    ["<c><n a=NAME>KEY<v=VALUE></c>", "<c><n a=NAME><v=K></c>VALUE<k><v></c>"],
)
def test_an_example_of_which_a_value_has_no_marker_is_none(example: str) -> None:
    assert tagged_example(example) is None


# Prefill


def test_a_prefill_may_be_the_whole_prompt(worker: RenderWorker) -> None:
    module = load(spec_of("thinking-switch", worker))
    earlier = (
        "<:begin:>user\nHi<:end:>\n<:begin:>assistant\nHello<:end:>\n<:begin:>user\nSo?<:end:>\n"
    )
    for prompt in ("<:begin:>assistant\n", "<:begin:>assistant\n<ponder>\n\n</ponder>\n\n"):
        message = module.parse("It is.<:end:>", prefill=earlier + prompt)
        assert (message.content, message.problems) == ("It is.", [])


#: Templates, what a model writes behind their prompts, and reasoning, content and calls of it.
WHOLE = {
    "a sign that begins a line belongs to its word": (
        "{% for m in messages %}{% if m.role == 'assistant' %}=bot\n"
        "{% if m.content %}{{ '=says\n' ~ m.content ~ '\n' }}{% endif %}"
        "{% for c in m.tool_calls or [] %}"
        "{{ '=uses ' ~ c.function.name ~ '\n' ~ c.function.arguments | tojson ~ '\n' }}{% endfor %}"
        "{{ '=over\n' }}{% else %}{{ '=' ~ m.role ~ '\n' ~ m.content ~ '\n=over\n' }}{% endif %}"
        "{% endfor %}{% if add_generation_prompt %}{{ '=bot\n' }}{% endif %}",
        '=says\nWait.\n=uses look\n{"at": "sea"}\n=uses look\n{"at": "sky"}\n=over\n',
        ("", "Wait.", [("look", {"at": "sea"}), ("look", {"at": "sky"})]),
    ),
    "calls may stand before all else": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' }}{% for c in m.tool_calls or [] %}"
        "{{ '<:use:>' ~ c.function.name ~ c.function.arguments | tojson ~ '<:used:>' }}{% endfor %}"
        "{% if m.reasoning_content %}{{ '<:muse:>' ~ m.reasoning_content ~ '<:mused:>' }}"
        "{% endif %}{{ m.content }}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        '<:use:>look{"at": "sea"}<:used:><:muse:>First look.<:mused:>Wait.<:end:>',
        ("First look.", "Wait.", [("look", {"at": "sea"})]),
    ),
    "a pair that is stripped with all around it marks content": (
        "{% for m in messages %}{% set said = m.content %}{% if '<reply>' in said %}"
        "{% set said = said.split('<reply>')[1].split('</reply>')[0].strip() %}{% endif %}"
        "{{ '<:' ~ m.role ~ ':>' ~ said }}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<reply>\nIt is.\n</reply><:end:>",
        ("", "It is.", []),
    ),
    "what only a switch has stripped is reasoning": (
        "{% for m in messages %}{% set said = m.content %}{% if ponder and m.role != 'user' %}"
        "{% set said = '<muse> </muse>' + said.split('</muse>', 1)[1] %}{% endif %}"
        "{{ '<:' ~ m.role ~ ':>' ~ said }}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<muse>\nFirst look.\n</muse>\nIt is.<:end:>",
        ("First look.", "It is.", []),
    ),
    "a word that the template writes behind a mark belongs to it, where the mark is stripped": (
        "{% for m in messages %}{% set said = namespace(text='') %}"
        "{% for piece in m.content.split('<:mused:>') %}"
        "{% set said.text = said.text ~ piece.split('<:muse:>')[0] %}{% endfor %}"
        "{{ '<:' ~ m.role ~ ':>' ~ said.text }}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% if messages[-1].role == 'tool' %}"
        "{{ '<:muse:>aloud\n' }}{% endif %}{% endif %}",
        "<:muse:>aloud\nFirst look.<:mused:>It is.<:end:>",
        ("First look.", "It is.", []),
    ),
    "what stands in content's own marks is content, if the template leaves them empty": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' }}{% if m.role == 'assistant' %}"
        "<muse>{{ m.reasoning_content }}</muse><reply>{{ m.content }}</reply>"
        "{% for c in m.tool_calls or [] %}"
        "{{ '<use>' ~ c.function.name ~ c.function.arguments | tojson ~ '</use>' }}"
        "{% endfor %}{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:><muse>{% endif %}",
        'First look.</muse><reply></reply><use>look{"at": "sea"}</use><:end:>',
        ("First look.", "", [("look", {"at": "sea"})]),
    ),
    "a user's message may begin otherwise when it isn't the first": (
        "{% for m in messages %}{% if m.role == 'user' %}{{ '' if loop.first else '<:more:>' }}"
        "{{ m.content }}<:said:>{% else %}{{ m.content }}<:end:>{% endif %}{% endfor %}",
        "It is.<:end:>",
        ("", "It is.", []),
    ),
    "a list as a variable may end a turn with calls otherwise": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content }}{% if m.tool_calls %}"
        "{% for c in m.tool_calls %}"
        "{{ '<:use:>' ~ c.function.name ~ c.function.arguments | tojson }}{% endfor %}"
        "{{ '<:wait:>' if own_tools is defined and own_tools is iterable else '<:end:>' }}"
        "{% else %}<:end:>{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        '<:use:>look{"at": "sea"}<:wait:>',
        ("", "", [("look", {"at": "sea"})]),
    ),
    "what leads a result stops calls that nothing ends, if only in words": (
        "{% for m in messages %}{% if m.role == 'user' %}{{ 'Asked: ' ~ m.content ~ '\n' }}"
        "{% elif m.role == 'tool' %}{{ 'Seen: ' ~ m.content ~ '\n' }}{% elif m.tool_calls %}"
        "{{ 'Thought: ' ~ m.content ~ '\nUse: ' ~ m.tool_calls[0].function.name }}"
        "{{ '\nWith: ' ~ m.tool_calls[0].function.arguments | tojson ~ '\n' }}{% else %}"
        "{{ 'Answer: ' ~ m.content ~ '<:end:>\n' }}{% endif %}{% endfor %}",
        'Thought: Wait.\nUse: look\nWith: {"at": "sea"}\nSeen: ',
        ("", "Wait.", [("look", {"at": "sea"})]),
    ),
    "what ends thought may have blanks, and a prompt may open it in words": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>\n' }}"
        "{{ m.content.split('[NOW THE ANSWER]')[-1].strip() }}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}{{ '<:assistant:>\nMy thoughts:\n' }}{% endif %}",
        "First look.\n[NOW THE ANSWER]\nIt is.<:end:>",
        ("First look.", "It is.", []),
    ),
    "a word tells which marker opens what another one closes": (
        "{{ 'Muse between [start:muse] and [end:muse].\n' }}{% for m in messages %}"
        "{{ '<:' ~ m.role ~ ':>' ~ m.content.split('[end:muse]')[-1].strip() }}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "[start:muse]First look.[end:muse]\nIt is.<:end:>",
        ("First look.", "It is.", []),
    ),
    "thought that is absent may begin a turn with what closes it": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' }}{% if m.role == 'assistant' %}"
        "{{ m.reasoning_content }}</muse>{% endif %}{{ m.content }}"
        "{% for c in m.tool_calls or [] %}<use>{{ c.function | tojson }}</use>{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>"
        "{{ '<muse>' if muse else '</muse>' }}{% endif %}",
        'It is.<use>{"name": "look", "arguments": {"at": "sea"}}</use><:end:>',
        ("", "It is.", [("look", {"at": "sea"})]),
    ),
    "a name may hold the sign that stands behind its blank": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content }}"
        "{% for c in m.tool_calls or [] %}{{ '\n--- use: ' ~ c.function.name ~ ' ---\n' }}"
        "{{ c.function.arguments | tojson }}{{ '\n--- used ---' }}{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        'Wait.\n--- use: look-up ---\n{"at": "sea"}\n--- used ---<:end:>',
        ("", "Wait.", [("look-up", {"at": "sea"})]),
    ),
    "a name ends at a sign right behind it, though names may hold that": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content }}"
        "{% if m.tool_calls %}{{ '<:uses:>' }}{% for c in m.tool_calls %}"
        "{{ c.function.name ~ ': ' ~ c.function.arguments | tojson }}"
        "{{ '\n' if not loop.last }}{% endfor %}{{ '<:used:>' }}{% endif %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        '<:uses:>look: {"at": "sea"}\nlook: {"at": "sky"}<:used:><:end:>',
        ("", "", [("look", {"at": "sea"}), ("look", {"at": "sky"})]),
    ),
    "a call's number may stand in the tags around its object": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content }}"
        "{% for c in m.tool_calls or [] %}{{ '\n<use_' ~ loop.index ~ '>' }}"
        "{{ c.function | tojson }}{{ '</use_' ~ loop.index ~ '>' }}{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        'Wait.\n<use_1>{"name": "look", "arguments": {"at": "sea"}}</use_1>'
        '\n<use_2>{"name": "look", "arguments": {"at": "sky"}}</use_2><:end:>',
        ("", "Wait.", [("look", {"at": "sea"}), ("look", {"at": "sky"})]),
    ),
    "a head between two runs of a sign is text until its name has begun": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content }}"
        "{% for c in m.tool_calls or [] %}{{ '\n\n**Use:** `' ~ c.function.name ~ '`\n```json\n' }}"
        "{{ c.function.arguments | tojson }}{{ '\n```' }}{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        'Wait.\n\n**Use:** `look`\n```json\n{"at": "sea"}\n```<:end:>',
        ("", "Wait.", [("look", {"at": "sea"})]),
    ),
    "values may be JSON in tags whose keys are attributes": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content }}"
        "{% for c in m.tool_calls or [] %}{{ '\n<use of=\"' ~ c.function.name ~ '\">' }}"
        "{% for k, v in c.function.arguments.items() %}"
        "{{ '\n<with of=\"' ~ k ~ '\">' ~ v | tojson ~ '</with>' }}{% endfor %}\n</use>{% endfor %}"
        "<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        'Wait.\n<use of="look">\n<with of="at">"sea"</with>\n<with of="n">2</with>\n</use><:end:>',
        ("", "Wait.", [("look", {"at": "sea", "n": 2})]),
    ),
    "arrays and objects may be elements in lines of their own": (
        "{% macro lines(v) %}{% if v is mapping %}{% for k, x in v.items() %}"
        "{{ '<' ~ k ~ '>\n' ~ lines(x) ~ '\n</' ~ k ~ '>' }}{% endfor %}"
        "{% elif v is string %}{{ v }}{% elif v is sequence %}{% for x in v %}"
        "{{ '<item>\n' ~ lines(x) ~ '\n</item>' }}{% endfor %}"
        "{% else %}{{ v | tojson }}{% endif %}{% endmacro %}"
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content }}{% if m.tool_calls %}<uses>"
        "{% for c in m.tool_calls %}{{ '\n<' ~ c.function.name ~ '>\n' }}"
        "{{ lines(c.function.arguments) ~ '\n</' ~ c.function.name ~ '>' }}{% endfor %}"
        "{{ '\n</uses>' }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "Wait.<uses>\n<look>\n<at>\nthe <b>sea</b>\n</at>\n</look>\n</uses>",
        ("", "Wait.", [("look", {"at": "the <b>sea</b>"})]),
    ),
    "signs may be escaped in strings, and not in JSON that quotes alone tell": (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content }}"
        "{% for c in m.tool_calls or [] %}{{ '<use:' ~ c.function.name ~ '>' }}"
        "{% for k, v in c.function.arguments.items() %}{{ '<with:' ~ k ~ '>' }}"
        "{{ (v | replace('&', '&amp;') | replace('<', '&lt;')) if v is string else v | tojson }}"
        "</with>{% endfor %}</use>{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "Wait.<use:look><with:at>a &lt; b</with></use><:end:>",
        ("", "Wait.", [("look", {"at": "a < b"})]),
    ),
    "the only call that is ever rendered is an array's one element": (
        "{% for m in messages %}{% if m.tool_calls %}"
        "{% if m.tool_calls | length > 1 %}{{ raise_exception('one') }}{% endif %}"
        "{% set c = m.tool_calls[0] %}"
        "<:bot:>USES [{{ {'name': c.function.name, 'with': c.function.arguments} | tojson }}]"
        "{% else %}<:{{ m.role | replace('assistant', 'bot') }}:>{{ m.content }}{% endif %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:bot:>{% endif %}",
        'USES [{"name": "look", "with": {"at": "sea"}}]<:end:>',
        ("", "", [("look", {"at": "sea"})]),
    ),
    "one of two prompts gives the header of content and of calls, not content's own mark": (
        "{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% if m.reasoning_content %}<:muser:>{{ m.reasoning_content }}<:end:>{% endif %}"
        "<:bot:>{% if m.content %}<say>{{ m.content }}</say>{% endif %}"
        "{% for c in m.tool_calls or [] %}<use>{{ c.function | tojson }}</use>{% endfor %}"
        "{% else %}<:{{ m.role }}:>{{ m.content }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}{{ '<:muser:>' if muse else '<:bot:>' }}{% endif %}",
        '<say>It is.</say><use>{"name": "look", "arguments": {"at": "sea"}}</use><:end:>',
        ("", "It is.", [("look", {"at": "sea"})]),
    ),
    "words lead to an answer behind calls, too": (
        "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' %}"
        "{% for c in m.tool_calls or [] %}{{ 'Use: ' ~ c.function.name ~ '\nWith: ' }}"
        "{{ c.function.arguments | tojson }}{{ '\n' }}{% endfor %}"
        "{% if m.content %}{{ 'Last word: ' ~ m.content }}{% endif %}"
        "{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        'Use: look\nWith: {"at": "sea"}\nLast word: It is.<:end:>',
        ("", "It is.", [("look", {"at": "sea"})]),
    ),
    "JSON that is put together by hand has tabs as they are": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}"
        '{{ \'<use>{"name": "\' ~ c.function.name ~ \'", "with": {\' }}'
        "{% for k, v in c.function.arguments.items() %}{{ '\"' ~ k ~ '\": ' }}"
        "{{ '\"' ~ v.replace('\\\\', '\\\\\\\\').replace('\"', '\\\\\"')"
        ".replace('\n', '\\\\n') ~ '\"' if v is string else v | tojson }}"
        "{{ ', ' if not loop.last }}{% endfor %}{{ '}}</use>' }}{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        '<use>{"name": "look", "with": {"at": "the \\"sea\\"\\n"}}</use><:end:>',
        ("", "", [("look", {"at": 'the "sea"\n'})]),
    ),
    "a template that has a blank for each line's end in a string shows strings as they are": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<use {{ c.function.name }}>"
        "{% for k, v in c.function.arguments.items() %}<in {{ k }}>"
        "{{ v | replace('\n', ' ') if v is string else v | tojson }}</in>{% endfor %}</use>"
        "{% endfor %}<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<use look><in at>the sea</in></use><:end:>",
        ("", "", [("look", {"at": "the sea"})]),
    ),
    "content may be left out beside thought and calls, and nowhere else": (
        "{% for m in messages %}<:{{ m.role }}:>{% set muse = m.reasoning_content %}"
        "{% if muse %}<muse>{{ muse }}</muse>{% endif %}"
        "{% if not (muse and m.tool_calls) %}{{ m.content }}{% endif %}"
        "{% for c in m.tool_calls or [] %}<use>{{ c.function | tojson }}</use>{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        '<muse>First look.</muse><use>{"name": "look", "arguments": {"at": "sea"}}</use><:end:>',
        ("First look.", "", [("look", {"at": "sea"})]),
    ),
    "a message for each part, and a header that goes on with the call's name": (
        "{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% if m.content %}<:bot:>{{ m.content }}<:end:>{% endif %}"
        "{% for c in m.tool_calls or [] %}<:bot for {{ c.function.name }}:>"
        "{{ c.function.arguments | tojson }}<:end:>{% endfor %}"
        "{% else %}<:{{ m.role }}:>{{ m.content }}<:end:>{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<:bot{% endif %}",
        ':>Wait.<:end:><:bot for look:>{"at": "sea"}<:end:>',
        ("", "Wait.", [("look", {"at": "sea"})]),
    ),
    "ids may have to begin with a word": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}"
        "{% if not c.id.startswith('use-') %}{{ raise_exception('what id?') }}{% endif %}"
        "<use {{ c.id }}>{{ c.function | tojson }}</use>{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        'Wait.<use use-7>{"name": "look", "arguments": {"at": "sea"}}</use><:end:>',
        ("", "Wait.", [("look", {"at": "sea"})]),
    ),
    "ids may have to be numbers": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}"
        "{% if not c.id.isdigit() %}{{ raise_exception('what id?') }}{% endif %}"
        "<use {{ c.id }}>{{ c.function | tojson }}</use>{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        'Wait.<use 7>{"name": "look", "arguments": {"at": "sea"}}</use><:end:>',
        ("", "Wait.", [("look", {"at": "sea"})]),
    ),
    "what ends a turn is no call's head, though a name could stand in it": (
        "{% for m in messages %}{% if m.role == 'assistant' %}[KIND]"
        "{% if m.tool_calls %}use[/KIND]{% for c in m.tool_calls %}"
        "[{{ c.function.name }}]{{ c.function.arguments | tojson }}[/{{ c.function.name }}]"
        "{% endfor %}{% else %}say[/KIND]{{ m.content }}{% endif %}"
        "{% else %}[{{ m.role | upper }}]{{ m.content }}{% endif %}[OVER]{% endfor %}"
        "{% if add_generation_prompt %}[KIND]{% endif %}",
        'use[/KIND][look]{"at": "sea"}[/look][look]{}[/look][OVER]',
        ("", "", [("look", {"at": "sea"}), ("look", {})]),
    ),
    "a prompt may say by a mark of its own that there is no thought": (
        "{% set pace = pace | default('slow') %}{% for m in messages %}<:{{ m.role }}:>"
        "{% if m.role == 'assistant' and pace == 'fast' %}<:hasty:>"
        "{% elif m.reasoning_content %}<:muse:>{{ m.reasoning_content }}<:/muse:>{% endif %}"
        "{{ m.content }}<:end:>{% endfor %}{% if add_generation_prompt %}"
        "<:assistant:>{{ '<:hasty:>' if pace == 'fast' else '<:muse:>' }}{% endif %}",
        "First look.<:/muse:>It is.<:end:>",
        ("First look.", "It is.", []),
    ),
    "all marks may be there in every turn, with nothing between them": (
        "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' %}"
        "<muse>{{ m.reasoning_content or '' }}</muse><say>{{ m.content or '' }}</say><use>"
        "{% for c in m.tool_calls or [] %}{{ c.function.name }} {{ c.function.arguments | tojson }}"
        "{{ '\n' if not loop.last }}{% endfor %}</use>"
        "{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<muse></muse><say>It is.</say><use></use><:end:>",
        ("", "It is.", []),
    ),
    "what stands around calls may be there where none are": (
        "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' %}"
        "<muse>{{ m.reasoning_content or 'No.' }}</muse>{{ '<acts>\n' }}"
        "{% for c in m.tool_calls or [] %}{{ c.function | tojson ~ '\n' }}{% endfor %}"
        "{{ '</acts>\n' }}{% endif %}{{ m.content or '' }}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<muse>First look.</muse><acts>\n</acts>\nIt is.<:end:>",
        ("First look.", "It is.", []),
    ),
    "a raw value may be closed by the turn's end alone": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<:use:>{{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %}<:key:>{{ k }}<:is:>"
        "{{ v if v is string else v | tojson }}{% endfor %}{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<:use:>look<:key:>at<:is:>sea <:key:>by<:is:> day \n<:end:>",
        ("", "", [("look", {"at": "sea ", "by": " day \n"})]),
    ),
    "a raw value that ends with its line has the lines before": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}{% if m.tool_calls %}"
        "{{ '<:all:>\n' }}{% for c in m.tool_calls %}{{ '<:use:>' ~ c.function.name ~ '\n' }}"
        "{% for k, v in c.function.arguments.items() %}<:key:>{{ k }}<:is:>"
        "{{ (v if v is string else v | tojson) ~ '\n' }}{% endfor %}{% endfor %}<:/all:>"
        "{% endif %}<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<:all:>\n<:use:>look\n<:key:>at<:is:>sea\n\n<:key:>by<:is:>day\n\n<:/all:><:end:>",
        ("", "", [("look", {"at": "sea\n", "by": "day\n"})]),
    ),
    "a raw value may have its lines for itself": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}{{ '<:use:>' ~ c.function.name ~ '\n' }}"
        "{% for k, v in c.function.arguments.items() %}{{ '<:key:>' ~ k ~ '\n' }}"
        "{{ (v if v is string else v | tojson) ~ '\n' }}{% endfor %}{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<:use:>look\n<:key:>at\nsea\n<:key:>by\n\nday\n\n<:end:>",
        ("", "", [("look", {"at": "sea", "by": "\nday\n"})]),
    ),
    "a line's end closes values, and no call without them": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<use>{{ c.function.name ~ ':\n' }}"
        "{% for k, v in c.function.arguments.items() %}<key>{{ k }}<is>"
        "{{ (v if v is string else v | tojson) ~ '\n' }}{% endfor %}</use>{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<use>ping:\n</use><use>look:\n<key>at<is>sea </\n</use><:end:>",
        ("", "", [("ping", {}), ("look", {"at": "sea </"})]),
    ),
    "a string may have its quotes escaped, and its line ends too": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<use>{{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %}"
        r"{% set w = v | string | replace('\\', '\\\\') | replace('\n', '\\n') %}"
        r"""{% set w = w | replace('"', '\\"') if v is string else v | tojson %}"""
        ' {{ k }}="{{ w }}"{% endfor %}</use>{% endfor %}<:end:>{% endfor %}'
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        r'<use>look at="a \"sea\"\nor \\n" by="day"</use><:end:>',
        ("", "", [("look", {"at": 'a "sea"\nor \\n', "by": "day"})]),
    ),
    "a word for a value's type may be the tag that it stands in": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<use fn='{{ c.function.name }}'>"
        "{% for k, v in c.function.arguments.items() %}"
        "{% set t = 'text' if v is string else 'other' %}<{{ t }} of='{{ k }}'>"
        "{{ v if v is string else v | tojson }}</{{ t }}>{% endfor %}</use>{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<use fn='look'><text of='at'>7</text><other of='by'>[7]</other></use><:end:>",
        ("", "", [("look", {"at": "7", "by": [7]})]),
    ),
    "a word for a value's type may stand before its key": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<use>{{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %}"
        "({{ 'text' if v is string else 'other' }}) {{ k }} = {{ v | tojson }};"
        "{% endfor %}</use>{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        '<use>look(text) at = "sea";(other) by = [7];</use><:end:>',
        ("", "", [("look", {"at": "sea", "by": [7]})]),
    ),
    "signs beyond ASCII end a number as others do": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}\u3010{{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %}\uff5c{{ k }}\uff1d{{ v | tojson }}"
        "{% endfor %}\u3011{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        '\u3010look\uff5cby\uff1d7\uff5cat\uff1d"sea"\uff5cto\uff1d[8]\uff5cis\uff1dtrue\u3011<:end:>',
        ("", "", [("look", {"by": 7, "at": "sea", "to": [8], "is": True})]),
    ),
    "what separates arguments stands before the first one too": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}\u27e6{{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %}; {{ k }}: {{ v | tojson }}"
        "{% endfor %}\u27e7{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        '\u27e6look;\nby: 7; at: "sea"\u27e7<:end:>',
        ("", "", [("look", {"by": 7, "at": "sea"})]),
    ),
    "what closes a thought and a call closes content too": (
        "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' %}"
        "{% if m.reasoning %}{{ '<:part:>muse\n' ~ m.reasoning ~ '<:/part:>' }}{% endif %}"
        "{% for c in m.tool_calls or [] %}"
        "{{ '<:part:>use\n' ~ (c.function | tojson) ~ '<:/part:>' }}{% endfor %}"
        "{% if not m.tool_calls %}{{ '<:part:>say\n' ~ m.content ~ '<:/part:>' }}{% endif %}"
        "{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<:part:>muse\nSo [it] is.<:/part:><:part:>say\nThe ```sea```.<:/part:><:end:>",
        ("So [it] is.", "The ```sea```.", []),
    ),
    "so it does where the end of the user's message alone tells it apart": (
        "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' %}"
        "{% for c in m.tool_calls or [] %}"
        "{{ '<:part:>use\n' ~ (c.function | tojson) ~ '<:/part:>' }}{% endfor %}"
        "{% if not m.tool_calls %}{{ '<:part:>say\n' ~ m.content ~ '<:/part:>' }}{% endif %}"
        "{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
        '<:part:>use\n{"name": "look", "arguments": {"at": "sea"}}<:/part:><:end:>',
        ("", "", [("look", {"at": "sea"})]),
    ),
    "a word may stand where there is no content, and end content itself": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or 'Nothing' }}"
        "{% for c in m.tool_calls or [] %}<use>{{ c.function | tojson }}</use>{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "I saw Nothing<:end:>",
        ("", "I saw Nothing", []),
    ),
    "roles may be told by words, with a blank alone before them": (
        "{% for m in messages %}{% if (m.role == 'user') == (loop.index0 % 2 == 1) %}"
        "{{ raise_exception('Take turns.') }}{% endif %}"
        "{% if m.role == 'user' %}{{ 'GUEST: ' ~ m.content ~ ' ' }}"
        "{% elif m.role == 'assistant' %}{{ 'PILOT: ' ~ m.content ~ eos_token }}{% endif %}"
        "{% endfor %}",
        " PILOT: The sea.</s>",
        ("", "The sea.", []),
    ),
    "two signs may begin a call right behind the end of another": (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<<{{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %}"
        "{{ '\n' ~ k ~ '=' ~ (v if v is string else v | tojson) }}{% endfor %}{{ '\n>>' }}"
        "{% endfor %}<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
        "<<look\nat=sea\n>><<look\nat=sky\n>><:end:>",
        ("", "", [("look", {"at": "sea"}), ("look", {"at": "sky"})]),
    ),
    "a user's message may end in the header, where a prompt lacks what all turns begin with": (
        "{% for m in messages %}{% if m.role == 'assistant' %}<mull>{{ m.reasoning_content or '' }}"
        "</mull>{{ m.content }}<:end:>{% else %}<:ask:>{{ m.content }}<:reply:>{% endif %}"
        "{% endfor %}{% if add_generation_prompt and quick %}<mull></mull>{% endif %}",
        "<mull>First look.</mull>It is.<:end:>",
        ("First look.", "It is.", []),
    ),
}


@pytest.mark.parametrize("title", WHOLE)
def test_a_given_template_is_verified_and_reads(title: str) -> None:
    template, said, (reasoning, content, calls) = WHOLE[title]
    build = built("given", template)
    assert (build.problems, build.objections) == ((), ())
    assert build.result is not None
    assert {rung for rung, found in build.result.rungs.items() if not found.is_passed} == set()
    message = load(spec_in(build)).parse(said)
    read = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    assert (message.reasoning_content, message.content, read) == (reasoning, content, calls)
    assert message.problems == []


def test_a_word_right_behind_a_key_takes_no_calls_away() -> None:
    template = (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<use>{{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %}"
        "<{{ k ~ ('' if v is string else ' other') }}>{{ v if v is string else v | tojson }}"
        "</{{ k }}>{% endfor %}</use>{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    message = load(spec_alone("given", template)).parse("<use>look<at>sea</at></use><:end:>")
    assert [(it.name, it.arguments) for it in message.tool_calls] == [("look", '{"at": "sea"}')]


def test_entities_may_stand_in_strings_and_json_without_them() -> None:
    template = (
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content }}"
        "{% for c in m.tool_calls or [] %}{{ '<use ' ~ c.function.name ~ '>' }}"
        "{% for k, v in c.function.arguments.items() %}"
        "{{ '<in ' ~ k ~ '>' }}{{ v | e if v is string else v | tojson }}{{ '</in>' }}"
        "{% endfor %}</use>{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built("given", template)
    assert (build.problems, build.objections) == ((), ())
    spec = spec_in(build)
    assert [limit for limit in spec.limits if limit.verdict is Verdict.AMBIGUOUS] == []
    schema = {"type": "object", "properties": {"at": {"type": "string"}, "of": {"type": "array"}}}
    tools = [{"type": "function", "function": {"name": "look", "parameters": schema}}]
    said = '<use look><in at>a &lt;b&gt; &amp;lt;</in><in of>["&lt;", 3]</in></use><:end:>'
    (call,) = load(spec).parse(said, tools=tools).tool_calls
    assert json.loads(call.arguments) == {"at": "a <b> &lt;", "of": ["&lt;", 3]}


def test_a_call_without_the_tag_around_all_calls_is_read_behind_content() -> None:
    build = built(
        "given",
        "{% for m in messages %}{{ '<:' ~ m.role ~ ':>' ~ m.content }}{% if m.tool_calls %}"
        "<uses>{% for c in m.tool_calls %}<use>{{ c.function | tojson }}</use>{% endfor %}</uses>"
        "{% endif %}<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
    )
    assert (build.problems, build.objections) == ((), ())
    call = '<use>{"name": "look", "arguments": {"at": "sea"}}</use>'
    tools = [{"name": "look"}]
    message = load(spec_in(build)).parse(f"Wait.{call}{call}<:end:>", tools=tools)
    assert (message.content, len(message.tool_calls)) == ("Wait.", 2)
    assert [call.complete for call in message.tool_calls] == [True, True]
    assert {problem.kind for problem in message.problems} == {"missing_marker"}
    message = load(spec_in(build)).parse("Wait, <use> is a tag.<:end:>", tools=tools)
    assert (message.content, message.tool_calls) == ("Wait, <use> is a tag.", [])


def test_what_ends_a_turn_is_no_key_in_the_same_signs() -> None:
    """A tool's name alone is an answer, and a call that nothing closes has no more arguments."""
    build = built(
        "given",
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<|use|>{{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %}<|{{ k }}|>"
        "{{ v if v is string else v | tojson }}{% endfor %}<|/use|>{% endfor %}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}",
    )
    assert (build.problems, build.objections) == ((), ())
    parser, tools = load(spec_in(build)), [{"name": "look"}]
    message = parser.parse("look<|end|>", tools=tools)
    assert (message.content, message.tool_calls, message.problems) == ("look", [], [])
    message = parser.parse("<|use|>look<|at|>sea<|end|>", tools=tools)
    assert [json.loads(call.arguments) for call in message.tool_calls] == [{"at": "sea"}]
    assert [problem.kind for problem in message.problems] == ["malformed"]


def test_calls_that_a_template_refuses_are_told_of() -> None:
    spec = spec_alone(
        "given",
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}"
        "{% if c.place is not defined %}{{ raise_exception('which place?') }}{% endif %}"
        "<use>{{ c.function | tojson }}</use>{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}",
    )
    told = [it.reason for it in spec.limits if it.subject is Subject.CALLS]
    assert told == ["a message with some is refused: TemplateError: which place?"]


def test_a_name_in_a_header_that_breaks_off_is_no_content() -> None:
    spec = spec_alone("given", WHOLE[next(it for it in WHOLE if "goes on with" in it)][0])
    message = load(spec).parse(":>Wait.<:end:><:bot for lo", tools=[{"name": "look"}])
    assert (message.content, message.tool_calls) == ("Wait.", [])
    assert [problem.kind for problem in message.problems] == ["cut_off"]


def test_escapes_of_strings_that_nothing_undoes_are_objected_to() -> None:
    build = built(
        "given",
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<use {{ c.function.name }}>"
        "{% for k, v in c.function.arguments.items() %}<in {{ k }}>"
        "{{ v | urlencode if v is string else v | tojson }}</in>{% endfor %}</use>"
        "{% endfor %}<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
    )
    told = [str(objection) for objection in build.objections]
    assert any("read with the template's escapes" in text for text in told), told


def test_a_fence_alone_behind_a_call_is_no_evidence() -> None:
    """A parser drops and tells it, as models write it by mistake."""
    build = built("given", WHOLE["calls may stand before all else"][0])
    gbnf = build.files[OutputPaths.in_folder("given").grammar]
    fence = r'text ::= "```" | text-whole\ntext-whole ::= \1'
    fenced = re.sub(r"(?m)^text ::= (.*)$", fence, gbnf)
    spec = spec_in(build)
    message = load(spec).parse("<:use:>look{}<:used:>```<:end:>")
    assert [problem.kind for problem in message.problems] == ["stray_marker"]
    found = agreement(spec, load(spec), fenced)
    assert (found.failed, found.passed > 0) == (0, True), found.example
