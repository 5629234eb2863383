"""R2: where a generation prompt leaves reasoning, and markers found in prompts alone."""

from __future__ import annotations

import pytest

from tests.own_templates import given_template
from turnspec.analysis.analyze import analyze_template
from turnspec.analysis.thinking import (
    Setting,
    choose_better_on,
    choose_off,
    choose_on,
    marker_left_open,
    markers_in_prompts,
)
from turnspec.analysis.told_limits import PROMPTED_BY_TOOLS
from turnspec.codegen.loading import load
from turnspec.rendering.worker import RenderWorker
from turnspec.review.facts import changes
from turnspec.spec.prompt_state import PromptState, begins_content, prompt_state
from turnspec.spec.words import Part

OPEN, NEUTRAL, CLOSED = PromptState.OPEN, PromptState.NEUTRAL, PromptState.CLOSED


@pytest.mark.parametrize(
    ("prompt", "start", "end", "state"),
    [
        ("", "<t>", "</t>", NEUTRAL),
        ("\n", "<t>", "</t>", NEUTRAL),
        ("<t>\n", "<t>", "</t>", OPEN),
        ("<t></t>", "<t>", "</t>", CLOSED),
        ("</t>", "<t>", "</t>", CLOSED),
        ("</t><t>", "<t>", "</t>", OPEN),
        (">>>", "<t>", "</t>", NEUTRAL),
        ("Steps:\n", "", "[END]", OPEN),
        ("[END]", "", "[END]", CLOSED),
        (":::think\n", ":::think\n", "\n:::\n", OPEN),
        (":::think\n:::\n", ":::think\n", "\n:::\n", CLOSED),
    ],
)
def test_prompt_state(prompt: str, start: str, end: str, state: PromptState) -> None:
    assert prompt_state(prompt, start, end) is state


def test_a_prompt_with_what_stands_for_no_reasoning_closes_it() -> None:
    assert prompt_state("<none/>\n", "<t>", "</t>", "<none/>") is CLOSED
    assert prompt_state("<none/>\n", "<t>", "</t>") is NEUTRAL


def test_a_prompt_that_content_begins_with_leaves_a_place_for_calls() -> None:
    usual = (Part.REASONING, Part.CONTENT, Part.CALLS)
    calls_first = (Part.REASONING, Part.CALLS, Part.CONTENT)
    assert begins_content("/say\n", "/say\n", usual)
    assert not begins_content("/say\n", "/say\n", calls_first)
    assert begins_content("\n", "\n", calls_first)
    assert not begins_content("", "", usual)


@pytest.mark.parametrize(
    ("rests", "found"),
    [
        (["", "<t>\n\n</t>\n"], ("<t>", "</t>")),
        (["<t></t>", "<t></t>"], ("<t>", "</t>")),
        (["<t><b>", "<t><b>"], None),
        (["", "<t>"], None),
        (["", "<t> words </t>"], None),
        ([], None),
    ],
)
def test_markers_in_prompts(rests: list[str], found: tuple[str, str] | None) -> None:
    assert markers_in_prompts(rests) == found


@pytest.mark.parametrize(
    ("rests", "source", "found"),
    [
        (["<t>\n"], "", ("<t>", "</t>")),
        (["", "[T]"], "", ("[T]", "[/T]")),
        (["<|t|>"], "", None),
        (["<|t|>"], "… <|/t|> …", ("<|t|>", "<|/t|>")),
        (["[BEGIN T]"], "… [END T] …", ("[BEGIN T]", "[END T]")),
        (["</t>", "<t> words", "<a><b>"], "", None),
    ],
)
def test_a_marker_that_a_prompt_leaves_open(
    rests: list[str], source: str, found: tuple[str, str] | None
) -> None:
    assert marker_left_open(rests, source) == found


def test_settings_are_judged_by_what_they_render() -> None:
    plain, on, off = (
        Setting({}, "header", False),
        Setting({"x": True}, "header<t>", True),
        Setting({"x": False}, "header</t>", True),
    )
    settings = [plain, off, on]
    states = [NEUTRAL, CLOSED, OPEN]
    assert choose_on(settings) is off
    assert choose_better_on(settings, off, states) is on
    assert choose_better_on(settings, on, states) is on
    assert choose_off(settings, on, states) is off
    assert choose_off([on], on, [OPEN]) is on


def test_what_only_brings_reasoning_into_turns_is_not_what_turns_it_off() -> None:
    plain, on = Setting({}, "header", False), Setting({"x": True}, "header", True)
    kept_less = Setting({"y": True}, "header", False)
    assert choose_off([plain, on], on, [NEUTRAL, NEUTRAL]) is plain
    assert choose_off([on, kept_less], on, [NEUTRAL, NEUTRAL]) is on


def test_a_variable_turns_thinking_off_before_a_word_does() -> None:
    on = Setting({}, "header<t>", True)
    word = Setting({}, "header<t></t>", True, by_word=True)
    variable = Setting({"x": False}, "header", True)
    assert choose_off([on, word], on, [OPEN, CLOSED]) is word
    assert choose_off([on, word, variable], on, [OPEN, CLOSED, NEUTRAL]) is variable


_HUSHED = """\
{%- for message in messages %}<:{{ message.role }}:>{{ message.content }}
{%- if message.role == 'user' and hush %} Don't ponder.
/hush{% endif %}<:end:>
{%- endfor %}
{%- if add_generation_prompt %}<:assistant:>{{ '<brood></brood>' if hush }}{% endif %}"""


def test_what_a_prompt_says_before_its_header_is_told() -> None:
    with RenderWorker() as worker:
        old, new = (
            analyze_template(given_template(text), worker).spec
            for text in (_HUSHED, _HUSHED.replace("%}<:assistant:>", "%}[now]<:assistant:>"))
        )
    assert old is not None
    assert new is not None
    assert (old.thinking.default.before, old.thinking.disabled.before) == ("", "/hush")
    assert ('"<:assistant:>"', '"<:assistant:>", behind "[now]"') in [
        (change.before, change.after) for change in changes(old, new)
    ]


@pytest.mark.parametrize(("condition", "is_told"), [("tools", True), ("now", False)])
def test_that_tools_decide_what_a_prompt_opens_is_told(condition: str, is_told: bool) -> None:
    text = """\
{%- for tool in tools %}{{ tool | tojson }}{% endfor %}
{%- for message in messages %}<:{{ message.role }}:>
{%- if message.thought %}<brood>{{ message.thought }}</brood>{% endif %}{{ message.content }}
{%- for call in message.tool_calls %}<use>{{ call.function | tojson }}</use>{% endfor %}<:end:>
{%- endfor %}
{%- if add_generation_prompt %}<:assistant:><brood>{{ '</brood>' if CONDITION }}{% endif %}"""
    with RenderWorker() as worker:
        template = given_template(text.replace("CONDITION", condition))
        spec = analyze_template(template, worker).spec
    assert spec is not None
    assert (PROMPTED_BY_TOOLS in spec.limits) is is_told


def test_that_tools_decide_what_a_setting_opens_is_told() -> None:
    """Be it that nothing is said by default."""
    text = """\
{%- for tool in tools %}{{ tool | tojson }}{% endfor %}
{%- for message in messages %}<:{{ message.role }}:>
{%- if message.thought %}<brood>{{ message.thought }}</brood>{% endif %}{{ message.content }}
{%- for call in message.tool_calls %}<use>{{ call.function | tojson }}</use>{% endfor %}<:end:>
{%- endfor %}
{%- if add_generation_prompt %}<:assistant:>{{ '<brood>' if slow and tools }}{% endif %}"""
    with RenderWorker() as worker:
        spec = analyze_template(given_template(text), worker).spec
    assert spec is not None
    assert PROMPTED_BY_TOOLS in spec.limits


LEVELS = (
    "{%- set depth = effort if effort is defined else ('some' if tools else 'much') %}"
    "{%- for m in messages %}{%- if m.role == 'assistant' %}{{- '<bot>' }}"
    "{%- if m.reasoning %}{{- '<why:' ~ depth ~ '>' ~ m.reasoning ~ '</why>' }}{%- endif %}"
    "{{- '<say>' ~ (m.content or '') }}{%- for c in m.tool_calls or [] %}"
    "{{- '<do>' ~ c.function.name ~ '<with>' ~ c.function.arguments|tojson }}{%- endfor %}"
    "{{- '<.>' }}{%- else %}{{- '<' ~ m.role ~ '>' ~ m.content ~ '<.>' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}"
    "{{- '<bot>' ~ ('<say>' if depth == 'no' else '<why:' ~ depth ~ '>') }}{%- endif %}"
)


def test_a_level_in_the_mark_that_is_a_default_without_tools() -> None:
    """What reasoning ends with is told from what content begins with."""
    with RenderWorker() as worker:
        spec = analyze_template(given_template(LEVELS), worker).spec
    assert spec is not None
    module, text = load(spec), "So.</why><say>Hello.<.>"
    for level in ("some", "much"):
        message = module.parse(text, prefill=f"<bot><why:{level}>")
        assert (message.reasoning_content, message.content) == ("So.", "Hello.")
        assert message.problems == []


def test_what_closes_reasoning_that_nothing_opened_is_told() -> None:
    """Be it that content's own mark follows at once."""
    with RenderWorker() as worker:
        spec = analyze_template(given_template(LEVELS), worker).spec
    assert spec is not None
    message = load(spec).parse("So.</why><say>Hello.<.>", prefill="<bot>")
    assert message.content == "So.Hello."
    assert [problem.kind for problem in message.problems] == ["stray_marker"]
