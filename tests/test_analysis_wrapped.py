"""Marks and ends that a third part, a setting or what follows decides: found, written and read."""

from __future__ import annotations

import pytest

from tests.own_templates import given_template
from tests.test_analysis_turn_ends import CALLS, OTHERS, spec_of
from turnspec.codegen.loading import load
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.calls import Literal
from turnspec.spec.message import Call, Message
from turnspec.spec.model import OtherMarks, Spec
from turnspec.spec.words import ContentMode, Part
from turnspec.verification.turns import expected_behind

PROMPT = "{%- endfor %}{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}"
START = "{%- for m in messages %}" + OTHERS + "{{- '<assistant>' }}"
#: The end of content's mark stands in both its ends: before calls, and at the turn's.
WRAPPED = (
    START + "{%- if m.thinking %}{{- '<why>' ~ m.thinking ~ '</why>' }}"
    "{%- if m.content %}{{- '<so>' ~ m.content ~ '</so>' }}{%- endif %}"
    "{%- else %}{{- m.content or '' }}{%- endif %}" + CALLS + "{{- '<.>' }}{%- endif %}" + PROMPT
)
#: Where nothing else follows reasoning, what opens content looks like a part of its end.
WRAPPED_ALONE = (
    START + "{%- if m.thinking %}{{- '<why>' ~ m.thinking ~ '</why><so>' ~ m.content ~ '</so>' }}"
    "{%- else %}{{- m.content }}{%- endif %}{{- '<.>' }}{%- endif %}" + PROMPT
)
#: Words open reasoning, and just in the last message; one mark ends it and opens content.
WRAPPED_LAST = (
    START + "{%- if m.thinking and loop.last %}{{- 'I think:\n' ~ m.thinking ~ '\n<so>\n' "
    "~ (m.content or '') ~ '\n</so>' }}{%- else %}{{- m.content or '' }}{%- endif %}"
    + CALLS
    + "{{- '<.>' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<assistant>I think:\n' }}{%- endif %}"
)
#: How much the model thinks stands in the mark that opens reasoning: a word, and not true.
LEVELLED = (
    "{%- set level = effort|default('low') %}{%- set is_hard = level == 'high' %}"
    + START
    + "{%- if m.thinking %}{{- '<why ' ~ level ~ '>' ~ m.thinking ~ '</why>' }}{%- endif %}"
    "{{- m.content or '' }}" + CALLS + "{{- '<.>' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<assistant><why ' ~ level ~ '>' }}{%- endif %}"
)
#: A setting says something between the two marks of the header.
WORDED = (
    "{%- for m in messages %}{%- if m.role != 'assistant' %}"
    "{{- '<role>' ~ m.role ~ '</role>' ~ m.content ~ '<.>' }}{%- else %}"
    "{{- '<role>assistant</role>' ~ (m.content or '') }}" + CALLS + "{{- '<.>' }}{%- endif %}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<role>assistant' }}"
    "{%- if controls %}{{- ' ' ~ controls|tojson }}{%- endif %}{{- '</role>' }}{%- endif %}"
)
#: What stands beside calls is a plan, between the marks of reasoning, which a prompt may close.
MOVED = (
    START + "{%- if m.tool_calls and m.content %}{{- '<why>' ~ m.content ~ '</why>' }}"
    "{%- elif not m.tool_calls %}{%- if m.thinking %}{{- '<why>' ~ m.thinking ~ '</why>' }}"
    "{%- endif %}{{- '<say>' ~ m.content ~ '</say>' }}{%- endif %}"
    + CALLS
    + "{{- '<.>' }}{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '<assistant>' }}"
    "{%- if reasoning is defined and not reasoning %}{{- '<why></why>' }}{%- endif %}{%- endif %}"
)
#: A tool's answer stands in the turn that asked for it, which goes on.
GOES_ON = (
    "{%- for m in messages %}{%- if m.role == 'tool' %}{{- '<got>' ~ m.content ~ '</got>' }}"
    "{%- elif m.role != 'assistant' %}{{- '<' ~ m.role ~ '>' ~ m.content ~ '<.>' }}{%- else %}"
    "{%- if not (loop.previtem is defined and loop.previtem.role == 'tool') %}"
    "{{- '<assistant>' }}{%- endif %}{{- m.content or '' }}" + CALLS + "{%- if not "
    "(m.tool_calls and loop.nextitem is defined and loop.nextitem.role == 'tool') %}"
    "{{- '<.>' }}{%- endif %}{%- endif %}" + PROMPT
)
ALL = {
    "wrapped": WRAPPED,
    "wrapped alone": WRAPPED_ALONE,
    "wrapped in the last message": WRAPPED_LAST,
    "levelled": LEVELLED,
    "worded": WORDED,
    "moved": MOVED,
    "goes on": GOES_ON,
}


@pytest.mark.parametrize("name", ALL)
def test_whole_ladder_is_green(name: str) -> None:
    build = build_template(given_template(ALL[name]), OutputPaths.in_folder("given"), messages=5)
    assert build.problems == ()
    assert build.result is not None
    assert [name for name, rung in build.result.rungs.items() if not rung.is_passed] == []


def contents(spec: Spec, *texts: str) -> list[tuple[str, str, int]]:
    messages = map(load(spec).parse, texts)
    return [(one.reasoning_content, one.content, len(one.tool_calls)) for one in messages]


@pytest.mark.parametrize("name", ["wrapped", "wrapped alone"])
def test_content_that_is_wrapped_behind_reasoning(name: str, worker: RenderWorker) -> None:
    spec = spec_of(ALL[name], worker)
    assert spec.content.mode is ContentMode.WRAPPED_WITH_REASONING
    assert (spec.content.start, spec.content.end) == ("", "</so>")
    assert spec.reasoning.end == "</why>"
    assert spec.join(Part.REASONING, Part.CONTENT) == "<so>"
    assert [end.final for end in spec.turn.ends] == ["<.>"] * len(spec.turn.ends)
    found = contents(spec, "<why>Hm.</why><so>Hello.</so><.>", "Hello.<.>")
    assert found == [("Hm.", "Hello.", 0), ("", "Hello.", 0)]


def test_content_that_is_wrapped_behind_reasoning_that_words_open(worker: RenderWorker) -> None:
    spec = spec_of(WRAPPED_LAST, worker)
    assert spec.content.mode is ContentMode.WRAPPED_WITH_REASONING
    call = '<do>add<with>{"a": 1}</do>'
    found = contents(spec, f"Hm.\n<so>\nHello.\n</so>{call}<.>", f"Hm.\n<so>\n\n</so>{call}<.>")
    assert found == [("Hm.", "Hello.", 1), ("Hm.", "", 1)]


def test_each_setting_may_have_its_own_mark_that_opens_reasoning(worker: RenderWorker) -> None:
    spec = spec_of(LEVELLED, worker)
    low, high = spec.thinking.default, spec.thinking.others[0]
    assert (low.prompt, high.prompt) == ("<assistant><why low>", "<assistant><why high>")
    marks = (OtherMarks(Part.REASONING, (Literal("<why high>"),), "</why>"),)
    assert spec.alternatives.marks == marks
    for prompt in (low.prompt, high.prompt):
        message = load(spec).parse("Hm.</why>Hello.<.>", prefill=prompt)
        assert (message.reasoning_content, message.content) == ("Hm.", "Hello.")
        assert message.problems == []


def test_words_of_a_setting_leave_the_header_whole(worker: RenderWorker) -> None:
    spec = spec_of(WORDED, worker)
    assert spec.turn.header == "<role>assistant</role>"
    assert spec.content.mode is ContentMode.PLAIN
    call = '<do>add<with>{"a": 1}</do>'
    assert contents(spec, f"Hello.{call}<.>") == [("", "Hello.", 1)]


def test_messages_with_nothing_but_a_line_break_before_them_are_laid_out(
    worker: RenderWorker,
) -> None:
    text = "{% for m in messages %}{{ '\n' + m.content + '<.>\n' }}{% endfor %}" + (
        "{% if add_generation_prompt %}{{ '\n' }}{% endif %}"
    )
    assert spec_of(text, worker).turn.stop == ("<.>",)


def test_what_calls_move_into_reasoning_has_no_place_behind_a_prompt_that_closes_it(
    worker: RenderWorker,
) -> None:
    spec = spec_of(MOVED, worker)
    message = Message(content="First.", calls=(Call("add", {}),))
    assert expected_behind(spec, message, None).reasoning == "First."
    assert expected_behind(spec, message, False).reasoning == ""


def test_calls_before_their_results_may_have_no_end(worker: RenderWorker) -> None:
    spec = spec_of(GOES_ON, worker)
    end = spec.end(Part.CALLS)
    assert end is not None
    assert (end.final, end.followed) == ("<.>", "")
    assert "<got>" in spec.turn.stop
