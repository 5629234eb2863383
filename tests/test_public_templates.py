"""Traits of templates that people publish: how they are read, with templates of our own."""

from __future__ import annotations

import json

import pytest

from tests.test_right_formats import built, built_once, spec_alone, spec_in
from turnspec.codegen.loading import load
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.pipeline.project import OutputPaths
from turnspec.testing import Call, Message, check_case
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.recognizer import Recognizer
from turnspec.verification.turns import no_place

#: A template whose prompt closes thoughts where tools are given, unless a variable says no. The
#: names are in an order in which what only does so with tools comes first.
KEPT_BACK = (
    "{% set muse = muse if muse is defined else {default} %}"
    "{% set a_hush = a_hush if a_hush is defined else {hushes} %}"
    "{% set ns = namespace(on=muse) %}{% if a_hush and tools %}{% set ns.on = false %}{% endif %}"
    "{% if tools %}<:tools:>{{ tools | tojson }}<:end:>{% endif %}"
    "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' and m.reasoning_content %}"
    "<muse>{{ m.reasoning_content }}</muse>{% endif %}{{ m.content or '' }}"
    "{% for call in m.tool_calls or [] %}<use>{{ call.function | tojson }}</use>{% endfor %}<:end:>"
    "{% endfor %}{% if add_generation_prompt %}<:assistant:><muse>"
    "{{ '</muse>' if not ns.on }}{% endif %}"
)


def kept_back(default: str, hushes: str) -> str:
    return KEPT_BACK.replace("{default}", default).replace("{hushes}", hushes)


def test_what_switches_only_where_there_are_tools_is_no_switch_of_thinking() -> None:
    thinking = spec_alone("hushed", kept_back("true", "false")).thinking
    assert thinking.disabled.variables == {"muse": False}
    assert thinking.disabled.prompt == "<:assistant:><muse></muse>"


def test_thinking_that_another_variable_keeps_back_is_found() -> None:
    spec = spec_alone("kept-back", kept_back("false", "true"))
    assert spec.thinking.default.prompt == "<:assistant:><muse></muse>"
    assert spec.thinking.enabled.variables == {"a_hush": False, "muse": True}
    module = load(spec)
    message = module.parse("Let me look.</muse>It is.<:end:>", enable_thinking=True)
    assert (message.reasoning_content, message.content) == ("Let me look.", "It is.")
    assert message.problems == []
    assert module.parse("It is.<:end:>").content == "It is."


#: Reasoning is a message of its own before the header that the prompt is; each call ends the turn.
BEFORE_THE_HEADER = (
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% if m.reasoning %}<:muse:>{{ m.reasoning }}<:end:>{% endif %}<:reply:>"
    "{% for call in m.tool_calls or [] %}"
    '<:use:>{"name": "{{ call.function.name }}", "arguments": '
    "{{ call.function.arguments if call.function.arguments is string"
    " else call.function.arguments | tojson }}}<:end:>{% else %}{{ m.content }}<:end:>{% endfor %}"
    "{% else %}<:{{ m.role }}:>{{ m.content }}<:end:>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<:reply:>{% endif %}"
)


def test_reasoning_before_the_header_that_prompts_give_is_read() -> None:
    build = built("before-header", BEFORE_THE_HEADER)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    call = '<:use:>{"name": "look", "arguments": {"x": 1}}<:end:>'
    message = load(spec_in(build)).parse(call + call)
    assert [(call.name, call.arguments) for call in message.tool_calls] == [
        ("look", '{"x": 1}'),
        ("look", '{"x": 1}'),
    ]
    assert (message.content, message.problems) == ("", [])


#: An object holds a text beside the array of all calls, whose names stand behind arguments.
ENVELOPE = (
    "{% for m in messages %}<:{{ m.role }}:>{% if m.tool_calls %}"
    '{\n  "why": "calls: {{ "some" }}",\n  "calls": [{% for call in m.tool_calls %}'
    '{"arguments": {{ call.function.arguments | tojson }}, "name": "{{ call.function.name }}"}'
    "{{ ', ' if not loop.last }}{% endfor %}]\n}{% else %}{{ m.content }}{% endif %}<:end:>"
    "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


@pytest.mark.parametrize(
    "text",
    [
        '{\n "why": "calls: some",\n "calls": [{"arguments": {"x": 1}, "name": "look"}]\n}<:end:>',
        '{"why":"calls: some","calls":[{"name":"look","arguments":{"x": 1}}]}<:end:>',
    ],
)
def test_an_object_of_calls_may_hold_a_text_before_them(text: str) -> None:
    build = built_once("envelope", ENVELOPE)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    message = load(spec_in(build)).parse(text)
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("look", '{"x": 1}')]
    assert (message.content, message.problems) == ("", [])


def test_a_header_that_prompts_have_and_turns_lack_is_explained() -> None:
    """No turn shows what opens reasoning: a prompt does."""
    text = (
        "{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% if m.reasoning_content %}{{ m.reasoning_content }}</muse>{% endif %}"
        "{{ m.content }}{% else %}<:{{ m.role }}:>{{ m.content }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:reply:>{{ '</muse>' if quick else '<muse>' }}{% endif %}"
    )
    build = built("headless", text)
    assert (build.problems, build.objections) == ((), ())
    spec = spec_in(build)
    assert spec.turn.header == ""
    message = load(spec).parse("Hm.</muse>It is.<:end:>")
    assert (message.reasoning_content, message.content) == ("Hm.", "It is.")


def test_a_prompt_that_is_no_turns_beginning_is_told_with_one() -> None:
    text = (
        "{% for m in messages %}<:open:>{{ m.role }}\n\n{{ m.content }}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:open:> assistant{% endif %}"
    )
    build = built("other-prompt", text)
    assert build.result is not None
    rung = build.result.rungs["2"]
    assert not rung.is_passed
    assert rung.note.startswith(no_place(spec_in(build), "a sample turn"))
    assert 'prompt is "<:open:> assistant", and such a turn begins "<:open:>assistant' in rung.note


#: With thinking on, no answer is rendered that doesn't say what was thought.
WANTS_THOUGHT = (
    "{% set muse = muse | default(false) %}"
    "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' %}"
    "{{ '<muse>' + m.reasoning_content + '</muse>' if muse else '</muse>' }}{{ m.content or '' }}"
    "{% for call in m.tool_calls %}<use>{{ call.function.name }}"
    "<with>{{ call.function.arguments | tojson }}</use>{% endfor %}"
    "{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{{ '<muse>' if muse else '</muse>' }}{% endif %}"
)


def test_a_template_may_want_thought_where_thinking_is_on() -> None:
    spec = spec_alone("wants-thought", WANTS_THOUGHT)
    assert spec.capabilities.content_beside_calls
    assert spec.capabilities.tool_results
    message = load(spec).parse(
        'So.</muse>Look.<use>find<with>{"a": 1}</use><:end:>', enable_thinking=True
    )
    assert (message.reasoning_content, message.content) == ("So.", "Look.")
    assert [call.arguments for call in message.tool_calls] == ['{"a": 1}']
    assert message.problems == []


#: Each message is numbered, which the first answer alone doesn't show.
NUMBERED = (
    "{% for m in messages %}<:{{ m.role }}:>{{ loop.index }}. {{ m.content }}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_numbers_of_messages_are_told() -> None:
    build = built("numbered", NUMBERED)
    assert [(problem.path, "4. The answer" in problem.message) for problem in build.objections] == [
        ("turn", True)
    ]


def test_a_template_that_renders_the_messages_of_each_role_together_passes() -> None:
    text = (
        "{% for m in messages if m.role == 'user' %}<:user:>{{ m.content }}<:end:>{% endfor %}"
        "{% for m in messages if m.role == 'assistant' %}"
        "<:bot:>{{ m.content }}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:bot:>{% endif %}"
    )
    assert built("roles-together", text).objections == ()


def test_a_prompt_with_a_mark_that_the_template_explains_nowhere_is_told() -> None:
    opens = "{{ '<:MUSE>' if effort == 'high' }}"
    text = NUMBERED.replace("{{ loop.index }}. ", "").replace(
        "assistant:>{%", f"assistant:>{opens}{{%"
    )
    found = built("unexplained", text).objections
    assert [(problem.path, problem.message) for problem in found] == [
        (
            "thinking",
            "with effort='high' a prompt has the marker \"<:MUSE>\", which no part explains",
        )
    ]


#: A setting has the prompt say that the answer is spoken, which turns never show.
SPOKEN = (
    "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' and m.reasoning_content %}"
    "<muse>{{ m.reasoning_content }}</muse>{% endif %}{{ m.content }}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{{ '<:voice:>' if spoken }}{% endif %}"
)


def test_a_mark_that_only_a_prompt_has_is_told_where_turns_show_how_thoughts_begin() -> None:
    build = built("spoken", SPOKEN)
    assert build.objections == ()
    assert build.result is not None
    assert build.result.coverage is not None
    assert build.result.coverage.told == (
        'with spoken=True a prompt has the marker "<:voice:>", which no turn shows',
    )
    module = load(spec_in(build))
    message = module.parse("So.<:end:>", prefill="<:assistant:><:voice:>")
    assert (message.content, message.problems) == ("So.", [])


def test_a_mark_that_the_template_knows_how_to_close_may_open_a_thought() -> None:
    text = SPOKEN.replace("{{ m.content }}", "{{ m.content.split('<:/voice:>')[-1] }}")
    told = 'with spoken=True a prompt has the marker "<:voice:>", which no part explains'
    assert told in [problem.message for problem in built("spoken-on", text).objections]


#: Answers are cut up to two marks; the prompt begins with one that either may end.
CUT_TWICE = (
    "{% for m in messages %}<:{{ m.role }}:>"
    "{{ m.content.split('<reply>')[-1].split('</muse>')[-1] if m.role == 'assistant' "
    "else m.content }}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:><muse>{% endif %}"
)


def test_of_several_marks_that_text_is_cut_up_to_its_own_ends_what_a_prompt_begins() -> None:
    spec = spec_alone("cut-twice", CUT_TWICE)
    assert (spec.reasoning.start, spec.reasoning.end) == ("<muse>", "</muse>")
    message = load(spec).parse("Hm.</muse>It is.<:end:>")
    assert (message.reasoning_content, message.content) == ("Hm.", "It is.")
    # Without a prompt what has a beginning ends reasoning; a variable may do the cutting.
    unprompted = spec_alone("cut-twice-unprompted", CUT_TWICE.replace(":><muse>", ":>"))
    assert (unprompted.reasoning.start, unprompted.reasoning.end) == ("<muse>", "</muse>")
    switched = spec_alone(
        "cut-twice-if", CUT_TWICE.replace("== 'assistant'", "== 'assistant' and tidy")
    )
    assert switched.reasoning.end == "</muse>"


def test_several_marks_that_text_is_cut_up_to_fail_where_none_closes_what_is_open() -> None:
    build = built("cut-twice-unlike", CUT_TWICE.replace(":><muse>", ":><weigh>"))
    assert build.result is not None
    assert build.result.rungs["sanity"].failed == 1
    how = 'an answer\'s text is cut up to "<reply>", and up to "</muse>"'
    assert ("reasoning.end", f'{how}: either may end what "<weigh>" begins') in [
        (problem.path, problem.message) for problem in build.objections
    ]


#: A turn with calls ends with their section's end, an answer with a marker of its own that stands
#: only before other messages. Results of calls aren't rendered.
WITHOUT_RESULTS = (
    "{% for m in messages %}{% if m.role == 'user' %}<:ask:>{{ m.content }}"
    "{{ '<:bot:>' if loop.last }}{% elif m.role == 'assistant' %}<:bot:>"
    "{% if m.tool_calls %}<:uses:>{% for call in m.tool_calls %}"
    '<:use:>{"name": "{{ call.function.name }}", "arguments": '
    "{{ call.function.arguments | tojson }}}{% endfor %}<:/uses:>"
    "{% else %}{{ m.content }}{{ '<:over:>' if not loop.last }}{% endif %}{% endif %}{% endfor %}"
)


def test_the_end_of_a_section_is_a_stop_where_no_results_are_rendered() -> None:
    build = built("without-results", WITHOUT_RESULTS)
    assert spec_in(build).turn.stop == ("<:over:>", "<:/uses:>")
    assert build.objections == ()


#: Where content isn't a text, what goes before calls is left out, and thoughts with it.
TEXT_BEFORE_CALLS = (
    "{% for m in messages %}<:{{ m.role }}:>{% if m.tool_calls %}{% if m.content is string %}"
    "{% if m.reasoning_content %}<muse>{{ m.reasoning_content }}</muse>{% endif %}"
    "{{ m.content }}{% endif %}{% for call in m.tool_calls %}<use>{{ call.function.name }}"
    "<with>{{ call.function.arguments | tojson }}</use>{% endfor %}"
    "{% else %}{% if m.reasoning_content %}<muse>{{ m.reasoning_content }}</muse>{% endif %}"
    "{{ m.content.strip() }}{% endif %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_thought_before_calls_is_found_where_content_has_to_be_a_text() -> None:
    build = built("text-before-calls", TEXT_BEFORE_CALLS)
    assert build.objections == ()
    assert "reasoning" not in [limit.subject for limit in spec_in(build).limits]
    call = '<use>find<with>{"a": 1}</use><:end:>'
    message = load(spec_in(build)).parse("<muse>So.</muse>" + call)
    assert (message.reasoning_content, message.content) == ("So.", "")
    assert [call.arguments for call in message.tool_calls] == ['{"a": 1}']


#: A thought that stands in content is written again between its marks, and all before it is left.
WRITTEN_AGAIN = (
    "{% for m in messages %}<:{{ m.role }}:>"
    "{% if m.role == 'assistant' and '</muse>' in m.content %}"
    "{% set parts = m.content.split('</muse>') %}"
    "<muse>\n{{ parts[0].split('<muse>')[-1].strip() }}\n</muse>\n\n{{ parts[-1].strip() }}"
    "{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_a_thought_in_content_that_is_written_again_is_reasoning() -> None:
    build = built("written-again", WRITTEN_AGAIN)
    assert build.objections == ()
    message = load(spec_in(build)).parse("<muse>\nSo.\n</muse>\n\nIt is.<:end:>")
    assert (message.reasoning_content, message.content) == ("So.", "It is.")
    # Marks around which nothing is left out are content like any other.
    as_it_is = WRITTEN_AGAIN.replace("parts[0].split('<muse>')[-1]", "parts[0]")
    assert spec_alone("as-it-is", as_it_is).reasoning.start == ""


#: What is set stands as words before the header, in prompts and in turns.
WORDS_BEFORE_THE_HEADER = (
    "{% set muse = muse | default(true) %}"
    "{% set said = ' /muse_on' ~ (' up to ' ~ budget if budget) if muse else ' /muse_off' %}"
    "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}"
    "<muse>{{ m.reasoning_content if muse }}</muse>{% endif %}{{ m.content }}"
    "{% if m.role == 'assistant' %}<end>{% elif (loop.nextitem or m).role == 'assistant' %}"
    "{{ said ~ ' ' }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ said }} <assistant><muse>"
    "{{ '</muse>' if not muse }}{% endif %}"
)


def test_words_before_a_header_may_say_what_is_set_in_turns_too() -> None:
    build = built("words-before-header", WORDS_BEFORE_THE_HEADER)
    assert build.objections == ()
    spec = spec_in(build)
    assert spec.turn.header == "<assistant>"
    assert spec.thinking.disabled.prompt == "<assistant><muse></muse>"
    message = load(spec).parse("So.</muse>It is.<end>")
    assert (message.reasoning_content, message.content) == ("So.", "It is.")
    assert load(spec).parse("It is.<end>", enable_thinking=False).content == "It is."


#: Hints follow each user's message, unless a variable says no. A thought has a header of its own.
HINTED = (
    "{% for m in messages %}{% if m.role == 'assistant' and m.reasoning_content %}"
    "muse<as>{{ m.reasoning_content }}<then>{% endif %}{{ m.role }}<as>{{ m.content }}<sep>\n"
    "{% if m.role == 'user' and not quiet %}hints<as>none<sep>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'muse<as>' if deep else 'assistant<as>' }}{% endif %}"
)


def test_a_message_behind_the_users_that_ends_as_others_do_opens_no_answer() -> None:
    build = built("hinted", HINTED)
    assert build.objections == ()
    spec = spec_in(build)
    assert (spec.turn.header, spec.turn.stop) == ("", ("<sep>",))
    assert spec.thinking.default.prompt == "assistant<as>"
    assert spec.thinking.enabled.prompt == "muse<as>"
    assert {state.prompt for state in spec.thinking.others} <= {"assistant<as>", "muse<as>"}
    message = load(spec).parse("So.<then>assistant<as>It is.<sep>", enable_thinking=True)
    assert (message.reasoning_content, message.content) == ("So.", "It is.")


def test_what_ends_a_thought_stops_no_turn_though_turns_end_so() -> None:
    build = built("hinted-alike", HINTED.replace("<then>", "<sep>\n"))
    assert build.objections == ()
    spec = spec_in(build)
    assert spec.turn.stop == ("<sep>\nuser<as>", "<sep>\ntool<as>")
    message = load(spec).parse("So.<sep>\nassistant<as>It is.<sep>\n", enable_thinking=True)
    assert (message.reasoning_content, message.content) == ("So.", "It is.")


#: A block of no thought and a mark of the answer go before content, unless calls follow it.
ANSWER_BEHIND_A_BLOCK = (
    "{% for m in messages %}<:{{ m.role }}:>{% if m.tool_calls %}{{ m.content or '' }}"
    "{% for call in m.tool_calls %}<use>{{ call.function | tojson }}</use>{% endfor %}"
    "{% elif m.role == 'assistant' %}<muse>\n\n</muse>\n<reply>\n{{ m.content }}\n</reply>"
    "{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:><muse>{{ '\n\n</muse>\n' if not deep }}{% endif %}"
)


def test_what_stands_behind_an_empty_block_follows_a_thought() -> None:
    build = built("answer-behind-a-block", ANSWER_BEHIND_A_BLOCK)
    assert build.objections == ()
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    text = "So.</muse>\n<reply>\nIt is.\n</reply><:end:>"
    message = load(spec).parse(text, enable_thinking=True)
    assert (message.reasoning_content, message.content) == ("So.", "It is.")
    assert message.problems == []


def test_a_thought_that_is_cut_only_where_the_model_goes_on_is_reasoning() -> None:
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' and "
        "add_generation_prompt %}{{ m.content.split('</muse>')[-1] }}"
        "{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built("cut-on-going", text)
    assert build.objections == ()
    message = load(spec_in(build)).parse("<muse>So.</muse>It is.<:end:>")
    assert (message.reasoning_content, message.content) == ("So.", "It is.")


#: A variable has the whole conversation written in another format, which alone shows thoughts.
TWO_FORMATS = (
    "{% if style == 'log' %}{% for m in messages %}[{{ m.role }}|{% if m.reasoning_content %}"
    "why {{ m.reasoning_content }}\n{% endif %}{{ m.content or '' }}|]{% endfor %}"
    "{% if add_generation_prompt %}[answer|{% endif %}{% else %}{% for m in messages %}"
    "<:{{ m.role }}:>{{ m.content or '' }}{% for call in m.tool_calls or [] %}"
    "<use>{{ call.function | tojson }}</use>{% endfor %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}{% endif %}"
)


def test_a_variable_that_has_another_format_written_turns_no_thinking_on() -> None:
    build = built("two-formats", TWO_FORMATS)
    assert build.objections == ()
    spec = spec_in(build)
    assert spec.thinking.default.prompt == "<:assistant:>"
    call = '<use>{"name": "find", "arguments": {"a": 1}}</use>'
    message = load(spec).parse(f"It is.{call}<:end:>")
    assert (message.content, [it.arguments for it in message.tool_calls]) == (
        "It is.",
        ['{"a": 1}'],
    )


def test_an_empty_block_before_every_answer_holds_reasoning() -> None:
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{{ '<muse></muse>\n' if m.role == 'assistant' }}"
        "{{ m.content or '' }}{% for call in m.tool_calls or [] %}"
        "<use>{{ call.function | tojson }}</use>{% endfor %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:><muse></muse>\n{% endif %}"
    )
    build = built("empty-blocks", text)
    assert build.objections == ()
    spec = spec_in(build)
    assert (spec.reasoning.start, spec.reasoning.end) == ("<muse>", "</muse>")
    assert load(spec).parse("It is.<:end:>").content == "It is."
    message = load(spec).parse("<muse>So.</muse>\nIt is.<:end:>", prefill="<:assistant:>")
    assert (message.reasoning_content, message.content) == ("So.", "It is.")


#: The tools are told anew before the last question.
TOLD_ANEW = (
    "{% for m in messages %}{% if m.role == 'user' and loop.last and tools %}"
    "<:tools:>{{ tools | map(attribute='function') | list }}<:end:>{% endif %}<:{{ m.role }}:>"
    "{{ m.content or '' }}{% for call in m.tool_calls or [] %}"
    "<use>{{ call.function | tojson }}</use>{% endfor %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_tools_that_are_told_before_the_last_question_are_no_end_of_an_answer() -> None:
    build = built("told-anew", TOLD_ANEW)
    assert build.objections == ()
    spec = spec_in(build)
    assert {end.followed for end in spec.turn.ends} == {"<:end:>"}
    assert load(spec).parse("It is.<:end:>").content == "It is."


#: Values that nothing ends but the next argument, or the call's end.
WITHOUT_ENDS = (
    "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
    "{% for call in m.tool_calls or [] %}<:use:>{{ call.function.name }}"
    "{% for key, value in call.function.arguments.items() %}<:with:>{{ key }}<:is:>"
    "{{ value if value is string else value | tojson }}{% endfor %}<:used:>{% endfor %}<:end:>"
    "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_a_value_without_a_mark_keeps_the_line_break_before_the_next_argument() -> None:
    build = built("without-ends", WITHOUT_ENDS)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    call = "<:use:>run<:with:>code<:is:>\nrun()\n<:with:>then<:is:>\n<:used:>"
    message = load(spec_in(build)).parse(call + "<:end:>")
    assert message.tool_calls[0].arguments == '{"code": "\\nrun()\\n", "then": "\\n"}'
    assert message.problems == []


#: The prompt ends within the mark of a part, whichever comes.
PROMPT_IN_A_MARK = (
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% if m.reasoning_content %}<:helper/muse:>{{ m.reasoning_content }}<:over:>{% endif %}"
    "{% if m.content %}<:helper/tell:>{{ m.content }}<:over:>{% endif %}"
    "{% for call in m.tool_calls or [] %}<:helper/use:>{{ call.function.name }}\n"
    "{{ call.function.arguments | tojson }}<:over:>{% endfor %}<:end:>"
    "{% else %}<:{{ m.role }}/tell:>{{ m.content }}<:over:>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<:helper/{% endif %}"
)


def test_any_part_goes_on_where_the_prompt_ends_within_its_mark() -> None:
    build = built("prompt-in-a-mark", PROMPT_IN_A_MARK)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    module = load(spec_in(build))
    message = module.parse("muse:>Let me look.<:over:><:helper/tell:>It is.<:over:><:end:>")
    assert (message.reasoning_content, message.content) == ("Let me look.", "It is.")
    assert message.problems == []
    called = module.parse('use:>look\n{"x": 1}<:over:><:end:>')
    assert [(call.name, call.arguments) for call in called.tool_calls] == [("look", '{"x": 1}')]
    assert called.problems == []


#: Nothing closes a call, and a call may have no arguments: its name is all of it.
CALL_OF_A_NAME = (
    "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
    "{% for call in m.tool_calls or [] %}\n== Use: {{ call.function.name }}\n"
    "{% for key, value in call.function.arguments.items() %}* {{ key }}: {{ value | tojson }}\n"
    "{% endfor %}{% endfor %}<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>"
    "{% endif %}"
)


def test_a_call_that_nothing_closes_may_end_the_turn_with_its_name() -> None:
    build = built("call-of-a-name", CALL_OF_A_NAME)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    message = load(spec_in(build)).parse("\n== Use: look\n* x: 1\n\n== Use: ping\n<:end:>")
    calls = [(call.name, call.arguments, call.complete) for call in message.tool_calls]
    assert calls == [("look", '{"x": 1}', True), ("ping", "{}", True)]
    assert message.problems == []


#: A sign that a bare value could hold stands behind white space, which tells its end.
SIGN_BEHIND_VALUES = (
    "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
    "{% for call in m.tool_calls or [] %}<:use {{ call.function.name }}:>"
    "{% for key, value in call.function.arguments.items() %}<set {{ key }}={{ value | tojson }} />"
    "{% endfor %}<:used:>{% endfor %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_grammars_keep_the_white_space_that_tells_where_a_bare_value_ends() -> None:
    build = built("sign-behind-values", SIGN_BEHIND_VALUES)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    tool = {"type": "function", "function": {"name": "look", "parameters": schema}}
    bound = bind_grammar(spec_in(build), GrammarRequest([tool]))
    assert isinstance(bound, BoundGrammar)
    grammar = read_grammar(bound.grammar)
    assert isinstance(grammar, Grammar)
    asked = Recognizer(grammar)
    assert asked.accepts("<:use look:><set x=3 /><:used:><:end:>")
    assert not asked.accepts("<:use look:><set x=3/><:used:><:end:>")


#: Values are elements that begin as any text in tags could; an element's string may be empty.
KEYS_AS_TAGS = (
    "{% macro show(value) %}{% if value is mapping %}{% for key, inner in value.items() %}"
    "<{{ key }}>{{ show(inner) }}</{{ key }}>{% endfor %}{% elif value is string %}"
    "{{ value | replace('&', '&amp;') | replace('<', '&lt;') }}"
    "{% elif value is boolean or value is none or value is number %}{{ value | tojson }}"
    "{% else %}{% for inner in value %}<one>{{ show(inner) }}</one>{% endfor %}{% endif %}"
    "{% endmacro %}{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
    '{% for call in m.tool_calls or [] %}<use of="{{ call.function.name }}">'
    "{{ show(call.function.arguments) }}</use>{% endfor %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_strings_of_elements_have_escapes_and_are_known_to_walks() -> None:
    build = built("keys-as-tags", KEYS_AS_TAGS)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    module = load(spec_in(build))

    def read(text: str, **schemas: object) -> tuple[str, list[str]]:
        tools = [{"name": "look", "parameters": {"type": "object", "properties": schemas}}]
        message = module.parse(f'<use of="look">{text}</use><:end:>', tools=tools)
        return message.tool_calls[0].arguments, [problem.kind for problem in message.problems]

    texts = {"type": "array", "items": {"type": "string"}}
    numbers = {"type": "array", "items": {"type": "integer"}}
    assert read("<x><one>a &lt; b</one><one></one></x>", x=texts) == ('{"x": ["a < b", ""]}', [])
    assert read("<x><y>&amp;lt;</y></x>", x={"properties": {"y": {"type": "string"}}}) == (
        '{"x": {"y": "&lt;"}}',
        [],
    )
    stray = read("<x><one>1</one>&lt;<one>2</one></x>", x=numbers)
    assert stray == ('{"x": [1, 2]}', ["unexpected_text"])


#: A line for each value: what would break it has an escape, and so has what begins one.
ESCAPED_LINES = (
    "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
    "{% for call in m.tool_calls or [] %}<:use {{ call.function.name }}:>\n"
    "{% for key, value in call.function.arguments.items() %}{{ key }}={% if value is string %}"
    "{{ value | replace('\\\\', '\\\\\\\\') | replace('\\n', '\\\\n') }}"
    "{% else %}{{ value | tojson }}{% endif %}{{ '\n' }}{% endfor %}<:used:>{% endfor %}<:end:>"
    "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_strings_in_lines_have_escapes_for_the_ends_of_lines() -> None:
    build = built("escaped-lines", ESCAPED_LINES)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    call = "<:use run:>\ncode=a\\nb\\\\n\nlimit=[1]\n<:used:>"
    properties = {"code": {"type": "string"}, "limit": {"type": "array"}}
    tool = {"name": "run", "parameters": {"properties": properties}}
    message = load(spec_in(build)).parse(call + "<:end:>", tools=[tool])
    assert json.loads(message.tool_calls[0].arguments) == {"code": "a\nb\\n", "limit": [1]}
    assert message.problems == []


#: What becomes of calls, in templates that are alike otherwise.
AROUND_CALLS = (
    "{% for m in messages %}<:{{ m.role }}:>{% if m.reasoning_content %}{why}{% endif %}"
    "{{ m.content or '' }}{calls}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}"
)
EACH_CALL = "{% for call in m.tool_calls or [] %}{call}{% endfor %}"
EACH_ARGUMENT = "{% for key, value in call.function.arguments.items() %}{argument}{% endfor %}"
NAME, JSON_VALUE = "{{ call.function.name }}", "{{ value | tojson }}"


def around_calls(calls: str, why: str = "<muse>{{ m.reasoning_content }}</muse>") -> str:
    return AROUND_CALLS.replace("{calls}", calls).replace("{why}", why)


@pytest.mark.parametrize(
    ("call", "written"),
    [
        # White space alone tells a name and the id behind it apart.
        (
            f"<use {NAME} {{{{ call.id }}}}:>{{{{ call.function.arguments | tojson }}}}</use>",
            '<use run a-1:>{"a": 1}</use>',
        ),
        # A line of signs, that an id may hold as well, stands behind one.
        (
            f"<use>\nis: {NAME}\nas: {{{{ call.id }}}}\n---\n"
            + EACH_ARGUMENT.replace("{argument}", f"{{{{ key }}}}: {JSON_VALUE}\n")
            + "</use>",
            "<use>\nis: run\nas: a-1\n---\na: 1\n</use>",
        ),
    ],
)
def test_a_name_and_an_id_end_where_their_white_space_is(call: str, written: str) -> None:
    build = built("names-and-ids", around_calls(EACH_CALL.replace("{call}", call)))
    assert build.objections == ()
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    message = load(spec_in(build)).parse(written + "<:end:>")
    assert [(it.id, it.name, it.arguments) for it in message.tool_calls] == [
        ("a-1", "run", '{"a": 1}')
    ]
    assert message.problems == []


def test_a_fence_that_begins_other_marks_ends_the_thought() -> None:
    fences = "{{ '\n' }}```use:" + NAME + "\n{{ call.function.arguments | tojson }}\n```"
    why = "```musing\n{{ m.reasoning_content }}\n```\n"
    build = built("fences", around_calls(EACH_CALL.replace("{call}", fences), why))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    message = load(spec_in(build)).parse('```musing\nSo.\n```\nIt is.\n```use:run\n{"a": 1}\n```')
    assert (message.reasoning_content, message.content) == ("So.", "It is.")
    assert [it.arguments for it in message.tool_calls] == ['{"a": 1}']


def test_a_fence_ends_a_thought_only_where_no_call_begins_with_it() -> None:
    fences = "```use:" + NAME + "\n{{ call.function.arguments | tojson }}\n```"
    why = "```musing\n{{ m.reasoning_content }}\n```\n"
    spec = spec_alone("fences-alone", around_calls(EACH_CALL.replace("{call}", fences), why))
    message = load(spec).parse('```use:run\n{"a": 1}\n```<:end:>')
    assert [it.arguments for it in message.tool_calls] == ['{"a": 1}']
    assert message.problems == []


@pytest.mark.parametrize(
    ("calls", "written"),
    [
        # Each argument ends with the bracket that all of them end with.
        (
            EACH_CALL.replace("{call}", "{{ '\n' }}use {\n  name: \"" + NAME + '"\n{arguments}}'),
            'use {\n  name: "run"\n  of { key: "a" value: "}" }\n  of { key: "b" value: [1] }\n}',
        ),
        # What ends the section begins with signs that may stand between arguments.
        (
            "{% if m.tool_calls %}{{ '\n' }};; calls\n"
            + EACH_CALL.replace("{call}", f"[{NAME}]\n{{arguments}}")
            + ";; called{% endif %}",
            ';; calls\n[run]\na = "}"\nb = [1]\n;; called',
        ),
    ],
)
def test_signs_of_arguments_end_a_call_as_well(calls: str, written: str) -> None:
    is_block = "of {" in written
    argument = f'  of {{ key: "{{{{ key }}}}" value: {JSON_VALUE} }}\n'
    argument = argument if is_block else f"{{{{ key }}}} = {JSON_VALUE}\n"
    arguments = EACH_ARGUMENT.replace("{argument}", argument)
    build = built("signs", around_calls(calls.replace("{arguments}", arguments)))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    message = load(spec_in(build)).parse(f"It is.\n{written}<:end:>")
    assert [(it.name, it.arguments) for it in message.tool_calls] == [
        ("run", '{"a": "}", "b": [1]}')
    ]
    assert (message.content, message.problems) == ("It is.", [])


def test_a_key_in_an_attribute_needs_no_other_quotes() -> None:
    argument = '  <of key="{{ key }}">' + JSON_VALUE + "</of>\n"
    call = f"<use>\n  <is>{NAME}</is>\n{EACH_ARGUMENT.replace('{argument}', argument)}</use>"
    build = built("attributes", around_calls(EACH_CALL.replace("{call}", call)))
    assert build.objections == ()
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    for quote in ('"', "'", ""):
        written = f'<use>\n  <is>run</is>\n  <of key={quote}a{quote}>"</of>"</of>\n</use><:end:>'
        message = load(spec_in(build)).parse(written)
        assert [it.arguments for it in message.tool_calls] == ['{"a": "</of>"}']
        assert message.problems == []


#: Objects are written as JavaScript has them, however deep they stand; strings are JSON's.
BARE_KEYS = (
    "{% macro show(value) %}{% if value is mapping %}{ {%- for key, inner in value.items() %}"
    "{{ key }}: {{ show(inner) }}{{ ', ' if not loop.last }}{% endfor %}}"
    "{% elif value is iterable and value is not string %}[{% for inner in value %}"
    "{{ show(inner) }}{{ ', ' if not loop.last }}{% endfor %}]"
    "{% else %}{{ value | tojson }}{% endif %}{% endmacro %}"
)


def test_keys_have_no_quotes_at_any_depth_beside_strings_of_json() -> None:
    call = f"<use>{NAME}({{{{ show(call.function.arguments) }}}});</use>"
    build = built("bare-keys", BARE_KEYS + around_calls(EACH_CALL.replace("{call}", call)))
    assert build.objections == ()
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    written = r'<use>run({a: "\"})\n", b: {c: [1, {d: null}], e: []}, f: [{}]});</use><:end:>'
    message = load(spec).parse(written)
    assert json.loads(message.tool_calls[0].arguments) == {
        "a": '"})\n',
        "b": {"c": [1, {"d": None}], "e": []},
        "f": [{}],
    }
    assert message.problems == []
    inner = {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}
    parameters = {"type": "object", "properties": {"b": inner}, "required": ["b"]}
    bound = bind_grammar(spec, GrammarRequest([{"name": "run", "parameters": parameters}]))
    assert isinstance(bound, BoundGrammar)
    grammar = read_grammar(bound.grammar)
    assert isinstance(grammar, Grammar)
    asked = Recognizer(grammar)
    assert asked.accepts(r'<use>run({b: {c: "\""}});</use><:end:>')
    assert not asked.accepts(r'<use>run({b: {"c": ""}});</use><:end:>')
    assert not asked.accepts(r"<use>run({b: {c: 1}});</use><:end:>")


#: What precedes calls has a key, and marks, of its own; content never stands beside calls.
PLANS = (
    "{% for m in messages %}<:{{ m.role }}:>{% if m.tool_calls %}"
    "{% if m.intent %}<plan>{{ m.intent }}</plan>{% endif %}<use>"
    "{{ m.tool_calls | map(attribute='function') | list | tojson }}</use>"
    "{% else %}{% if m.reasoning_content %}<muse>{{ m.reasoning_content }}</muse>{% endif %}"
    "{{ m.content }}{% if m.sources %}<from>{{ m.sources }}</from>{% endif %}{% endif %}<:end:>"
    "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_what_precedes_calls_alone_is_reasoning_under_another_key() -> None:
    build = built("plans", PLANS)
    assert build.objections == ()
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    parse = load(spec_in(build)).parse
    message = parse('<plan>So.</plan><use>[{"name": "run", "arguments": {"a": 1}}]</use><:end:>')
    assert (message.reasoning_content, message.content) == ("So.", "")
    assert [it.arguments for it in message.tool_calls] == ['{"a": 1}']
    assert message.problems == []
    message = parse("<muse>So.</muse>It is.<from>a</from><:end:>")
    assert (message.reasoning_content, message.content) == ("So.", "It is.<from>a</from>")


#: Values stand in elements of their types' names; a call without arguments is just its two tags.
TYPED_ELEMENTS = (
    "{% for m in messages %}<:{{ m.role }}:>{{ m.content }}{% for c in m.tool_calls or [] %}"
    "<use fn='{{ c.function.name }}'>\n{% for k, v in c.function.arguments.items() %}<arg>{{ k }}"
    "</arg>{% if v is string %}<words>{{ v }}</words>{% else %}<data>{{ v | tojson }}</data>"
    "{% endif %}{{ '\n' }}{% endfor %}</use>{% endfor %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_elements_named_by_the_types_of_their_values() -> None:
    build = built("typed-elements", TYPED_ELEMENTS)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    parse = load(spec_in(build)).parse
    written = "<arg>a</arg><words>1</words>\n<arg>b</arg><data>1</data>\n"
    message = parse(f"<use fn='run'>\n{written}</use><use fn='stop'>\n</use><:end:>")
    assert [it.arguments for it in message.tool_calls] == ['{"a": "1", "b": 1}', "{}"]
    assert message.problems == []
    message = parse("<use fn='run'>\n<arg>a</arg><words>so</b></words>\n</use><:end:>")
    assert [it.arguments for it in message.tool_calls] == ['{"a": "so</b>"}']
    assert message.problems == []


#: Answers and questions end alike, and what follows says by itself what it is.
ALIKE_ENDS = (
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% if m.content %}<:say:>{{ m.content }}{% endif %}{% for c in m.tool_calls or [] %}"
    "<:use:>{{ c.function.name }}/{{ c.function.arguments | length }} "
    "{{ c.function.arguments | tojson }}{% endfor %}{% else %}<:{{ m.role }}:>{{ m.content }}"
    "{% endif %}<:over:>{% endfor %}"
)


def test_what_ends_answers_as_well_is_no_header() -> None:
    build = built("alike-ends", ALIKE_ENDS)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    assert {end.final for end in spec.turn.ends} == {"<:over:>"}
    bound = bind_grammar(spec, GrammarRequest(({"name": "run"},), lazy=False))
    assert isinstance(bound, BoundGrammar)
    grammar = read_grammar(bound.grammar)
    assert isinstance(grammar, Grammar)
    asked = Recognizer(grammar)
    assert asked.accepts("<:say:>So.<:use:>run/0 {}<:over:>")


@pytest.mark.parametrize(
    ("calls", "written"),
    [
        # Calls are objects in tags.
        (
            f'<use>{{"name": "{NAME}", "of": {{{{ call.function.arguments | tojson }}}}}}</use>',
            '<use>{"name": "run", "of": {"a": "1"}}</use>',
        ),
        # Nothing but the end of the call ends a value.
        (
            "<use {{ call.function.name }}>"
            + EACH_ARGUMENT.replace(
                "{argument}",
                "<:key:>{{ key }}<:is:>{{ value if value is string else value | tojson }}",
            )
            + "</use>",
            "<use run><:key:>a<:is:>1</use>",
        ),
    ],
)
def test_a_sign_may_stand_between_what_closes_a_call_and_what_opens_the_next(
    calls: str, written: str
) -> None:
    each = EACH_CALL.replace("{call}", calls + "{{ ';\n' if not loop.last }}")
    build = built(
        "signs-between", around_calls("{% if m.tool_calls %}<uses>" + each + "</uses>{% endif %}")
    )
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    message = load(spec_in(build)).parse(f"<uses>{written};\n{written}</uses><:end:>")
    assert [it.arguments for it in message.tool_calls] == ['{"a": "1"}'] * 2
    assert (message.content, message.problems) == ("", [])


def test_texts_that_are_written_otherwise_because_they_are_long_fail() -> None:
    value = "{{ '<more>' ~ value ~ '</more>' if value | length > 200 else value }}"
    argument = f"<of {{{{ key }}}}>{value}</of>"
    call = f"<use {NAME}>{EACH_ARGUMENT.replace('{argument}', argument)}</use>"
    text = around_calls(EACH_CALL.replace("{call}", call.replace("value |", "(value | string) |")))
    result = built("long-texts", text).result
    assert result is not None
    assert result.rungs["0"].failed


def test_answers_may_have_marks_only_where_there_are_tools() -> None:
    text = around_calls(EACH_CALL.replace("{call}", "<use>{{ call.function | tojson }}</use>"))
    marked = "{% if tools and m.role == 'assistant' %}<say>{{ m.content }}</say>{% else %}"
    marked += "{{ m.content }}{% endif %}"
    build = built("marked-with-tools", text.replace("{{ m.content or '' }}", marked))
    assert build.objections == ()
    parse = load(spec_in(build)).parse
    assert [parse(it).content for it in ("<say>So.</say><:end:>", "So.<:end:>")] == ["So."] * 2


def test_a_head_with_an_id_before_the_name_that_breaks_off_is_no_content() -> None:
    argument = "<of>{{ key }}</of><is>{{ value if value is string else value | tojson }}</is>"
    call = (
        f'<use id="{{{{ call.id }}}}" fn="{NAME}">{EACH_ARGUMENT.replace("{argument}", argument)}'
    )
    build = built("ids-first", around_calls(EACH_CALL.replace("{call}", call + "</use>")))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    written = '<use id="a-1" fn="run"><of>a</of><is>1</is></use>'
    parse = load(spec_in(build)).parse
    for end in range(written.index("a-1"), written.index("run")):
        assert parse("So." + written[:end]).content == "So."
    assert [it.id for it in parse(written).tool_calls] == ["a-1"]


#: What a message is stands behind a blank in its header, which the prompt leaves open before that.
KINDS_IN_HEADERS = (
    "{% for m in messages %}{% if m.role == 'assistant' %}{% if m.reasoning_content %}"
    "<from bot (muses)>{{ m.reasoning_content }}<:/from:>{% endif %}"
    "{% if m.content %}<from bot>{{ m.content }}<:/from:>{% endif %}"
    "{% for c in m.tool_calls or [] %}<from bot (asks {{ c.function.name }})>"
    "{{ c.function.arguments | tojson }}<:/from:>{% endfor %}<:over:>"
    "{% else %}<from {{ m.role }}>{{ m.content }}<:/from:>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<from bot{% endif %}"
)


def test_a_blank_may_stand_behind_the_header_that_a_prompt_leaves_open() -> None:
    build = built("kinds-in-headers", KINDS_IN_HEADERS)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    bound = bind_grammar(spec, GrammarRequest(({"name": "run"},), lazy=False))
    assert isinstance(bound, BoundGrammar)
    grammar = read_grammar(bound.grammar)
    assert isinstance(grammar, Grammar)
    text = " (muses)>a > b<:/from:><from bot>1 < 2 > 0<:/from:><:over:>"
    assert Recognizer(grammar).accepts(text)
    message = load(spec).parse(text)
    assert (message.reasoning_content, message.content) == ("a > b", "1 < 2 > 0")
    assert message.problems == []


@pytest.mark.parametrize(
    "answer",
    [
        "{% if m.content %}So I say: {{ m.content }}{% endif %}",
        "~~ My word: ~~ {{ m.content }}",
    ],
)
def test_thoughts_that_an_answers_mark_alone_ends_are_read_where_there_are_no_calls(
    answer: str,
) -> None:
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' %}"
        "{% if m.reasoning_content %}{{ m.reasoning_content }}\n\n{% endif %}"
        f"{answer}{{% else %}}{{{{ m.content }}}}{{% endif %}}<:end:>{{% endfor %}}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built("answer-marked", text)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    parse = load(spec_in(build)).parse
    mark = answer.partition("{{ m")[0].removeprefix("{% if m.content %}")
    for thought in ("", "It rains.\n\nOr not."):
        message = parse(f"{thought}\n\n{mark}Take a coat.<:end:>".lstrip())
        assert (message.reasoning_content, message.content) == (thought, "Take a coat.")
        assert message.problems == []


@pytest.mark.parametrize("waits", ["§WAITS§", "Outcome:"])
def test_no_answer_ends_with_what_makes_a_call_s_end_of_its_own(waits: str) -> None:
    call = f"§DOES§ {NAME}\n§WITH§ {{{{ call.function.arguments | tojson }}}}\n"
    text = around_calls(f"{EACH_CALL.replace('{call}', call)}{{{{ '{waits}' if m.tool_calls }}}}")
    build = built("waits", text)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    grammar = read_grammar(build.files[OutputPaths.in_folder("waits").grammar])
    assert isinstance(grammar, Grammar)
    asked = Recognizer(grammar)
    assert asked.accepts("So.<:end:>")
    assert asked.accepts(f"So.§DOES§ run\n§WITH§ {{}}\n{waits}<:end:>")
    assert not asked.accepts(f"So. {waits}<:end:>")


#: Calls are an array in a fence that says no language, in which an answer may have code as well.
CALLS_IN_BARE_FENCE = (
    "{% if m.tool_calls %}```\n[\n{% for call in m.tool_calls %}"
    '{"name": "{{ call.function.name }}", "with": {{ call.function.arguments | tojson }}}'
    "{{ ',\n' if not loop.last }}{% endfor %}\n]\n```{% endif %}"
)


@pytest.mark.parametrize("end", ["<:end:>", ""])
@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"plant": "fern", "pots": 3}\n```',
        '```json\n{"name": "fern", "pots": 3}\n```',
        "Run it:\n```sh\nwater --all\n```",
        "Both:\n\n```\na = 1\n```\n\n```yaml\na: 1\n```",
    ],
)
def test_code_in_an_answer_is_no_call_where_calls_stand_in_a_bare_fence(
    text: str, end: str
) -> None:
    build = built_once("bare-fence", around_calls(CALLS_IN_BARE_FENCE))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    check_case(spec, text + end, expect=Message(text), tools=[{"name": "run"}])
    bound = bind_grammar(spec, GrammarRequest(({"name": "run"},), lazy=False))
    assert isinstance(bound, BoundGrammar)
    grammar = read_grammar(bound.grammar)
    assert isinstance(grammar, Grammar)
    assert Recognizer(grammar).accepts(text + end)
    unknown = '```\n[\n{"name": "rain", "with": {}}\n]\n```'
    check_case(spec, unknown + end, expect=Message(unknown), tools=[{"name": "run"}])


def test_a_call_may_stand_in_a_fence_that_says_a_language_its_format_leaves_out() -> None:
    text = around_calls(CALLS_IN_BARE_FENCE.replace('"with"', '"arguments"'))
    spec, call = spec_alone("bare-fence", text), '{"name": "run", "arguments": {"a": 1}}'
    for inner in (call, f"[\n{call}\n]"):
        message = load(spec).parse(f"```json\n{inner}\n```<:end:>")
        assert [(it.name, it.arguments) for it in message.tool_calls] == [("run", '{"a": 1}')]
        assert message.content == ""
        assert {it.kind for it in message.problems} == {"other_syntax"}


#: The language that a fence says is a call's name.
CALLS_ARE_FENCES = EACH_CALL.replace(
    "{call}", f"\n```{NAME}\n{{{{ call.function.arguments | tojson }}}}\n```"
)


def test_a_fence_is_a_call_only_if_its_word_is_a_tool_s_name() -> None:
    build = built("named-fences", around_calls(CALLS_ARE_FENCES))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec, tools = spec_in(build), [{"name": "run"}]
    for text in ('As:\n```json\n{"a": 1}\n```', "```\nrun\n```", "```text\n```\nSo."):
        check_case(spec, text + "<:end:>", expect=Message(text), tools=tools)
    call = Call("run", {"a": 1})
    written = '```run\n{"a": 1}\n```<:end:>'
    check_case(spec, written, expect=Message(calls=(call,)), tools=tools)


#: A call is an object alone, in the place of an answer, and no name is its first member.
BARE_CALLS = (
    "{% for m in messages %}<:{{ m.role }}:>{% for call in m.tool_calls or [] %}"
    '{"kind": "use", "name": {{ call.function.name | tojson }}, "arguments": '
    "{{ call.function.arguments | tojson }}}{% else %}{{ m.content }}{% endfor %}<:end:>"
    "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


@pytest.mark.parametrize("before", ["{", "So: {", "{{", "{ \n", "{} {"])
def test_no_text_ends_with_what_would_wrap_a_bare_call_behind_it(before: str) -> None:
    build = built_once("bare-calls", BARE_CALLS)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    bound = bind_grammar(spec_in(build), GrammarRequest(({"name": "run"},), lazy=False))
    assert isinstance(bound, BoundGrammar)
    grammar = read_grammar(bound.grammar)
    assert isinstance(grammar, Grammar)
    asked, call = Recognizer(grammar), '{"kind": "use", "name": "run", "arguments": {}}<:end:>'
    assert asked.accepts(call)
    assert asked.accepts(f"{before}}}{call}")
    assert not asked.accepts(before + call)
    for text in ("", "a", "}", " \n}", '"kin'):
        assert asked.accepts(f"{before}{text or 'b'} c<:end:>")


def test_calls_may_be_all_ascii_their_names_as_well() -> None:
    call = "<use>{{ call.function | tojson(ensure_ascii=True) }}</use>"
    build = built("all-ascii", around_calls(EACH_CALL.replace("{call}", call)))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    written = r'<use>{"name": "st\u00e4rke", "arguments": {"a": "\u00e4"}}</use><:end:>'
    expected = Message(calls=(Call("stärke", {"a": "ä"}),))
    check_case(spec_in(build), written, expect=expected, tools=[{"name": "stärke"}])


def test_a_template_that_leaves_out_empty_lines_says_so() -> None:
    build = built(
        "no-empty-lines",
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content | replace('\n\n', '\n') }}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}",
    )
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    assert [limit.characters for limit in spec.limits] == ["\n"]
    check_case(spec, "One.\n\nTwo.<:end:>", expect=Message("One.\n\nTwo."))


#: All turns begin with an empty block, and no thought is rendered in it.
ALWAYS_EMPTY = (
    "{% for m in messages %}<:{{ m.role }}:>"
    "{% if m.role == 'assistant' %}<muse>\n\n</muse>\n{% endif %}{{ m.content or '' }}"
    "{% for call in m.tool_calls or [] %}<use>{{ call.function | tojson }}</use>{% endfor %}<:end:>"
    "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_an_empty_block_that_all_turns_begin_with_is_where_thoughts_stand() -> None:
    build = built("always-empty", ALWAYS_EMPTY)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    assert (spec.reasoning.start, spec.reasoning.end) == ("<muse>", "</muse>")
    expected = Message("It rains.", reasoning="Hm.")
    check_case(spec, "<muse>\nHm.\n</muse>\nIt rains.<:end:>", expect=expected)


#: Each turn has a thought, if an empty one, and the same behind it before an answer and a call.
ENDED_ALIKE = (
    "{% for m in messages %}<:{{ m.role }}:>{% if m.role == 'assistant' %}"
    "{start}{% if m.reasoning_content %}{{ m.reasoning_content }}{% endif %}{end}"
    "{{ m.content or '' }}{% for call in m.tool_calls or [] %}\n<use>{{ call.function | tojson }}"
    "</use>{% endfor %}{% else %}{{ m.content }}{% endif %}<:end:>{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>"
    "{% if hushed is defined and hushed %}{start}{end}{% endif %}{% endif %}"
)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("# Musing\n", "\n# Reply\n"),
        ("<:part:>musing\n", "\n<:part:>reply\n"),
        ("<muse>\n", "\n</muse>\n<reply>\n"),
    ],
)
def test_what_begins_answers_and_calls_alike_ends_a_thought(start: str, end: str) -> None:
    build = built("ended-alike", ENDED_ALIKE.replace("{start}", start).replace("{end}", end))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    assert (spec.reasoning.end.strip(), spec.content.start) == (end.strip(), "")
    call = Message(reasoning="Hm.", calls=(Call("run", {"a": 1}),))
    tools = [{"name": "run"}]
    written = f'{start}Hm.{end}<use>{{"name": "run", "arguments": {{"a": 1}}}}</use><:end:>'
    check_case(spec, written, expect=call, tools=tools)
    check_case(spec, f"{start}Hm.{end}So.<:end:>", expect=Message("So.", reasoning="Hm."))


#: A turn ends with a sign that is said more than once, as text may hold it.
REPEATED_SIGN = (
    "{% for m in messages %}<:{{ m.role }}:>{{ m.content }}%%%\n{% endfor %}"
    "{% if add_generation_prompt %}<:assistant:>{% endif %}"
)


def test_no_text_ends_with_the_sign_that_ends_a_turn_by_repetition() -> None:
    """Of more of them than that, a parser takes the first for the end."""
    build = built("repeated-sign", REPEATED_SIGN)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    bound = bind_grammar(spec_in(build), GrammarRequest((), lazy=False))
    assert isinstance(bound, BoundGrammar)
    grammar = read_grammar(bound.grammar)
    assert isinstance(grammar, Grammar)
    asked = Recognizer(grammar)
    assert asked.accepts("A tenth is 10 % or 10%, %% no sign.%%%\n")
    assert not asked.accepts("A tenth is 10%%%%\n")
