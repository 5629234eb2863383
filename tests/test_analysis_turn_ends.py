"""What a turn ends with, and reasoning in it, where a template says so in an unusual way."""

from __future__ import annotations

import pytest

from tests.own_templates import given_template
from tests.test_right_formats import built, spec_in
from turnspec.analysis.analyze import Analysis, analyze_template
from turnspec.codegen.loading import load
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.model import Spec
from turnspec.spec.words import ReasoningMode, Subject, Verdict

#: Another role than the assistant's, and calls.
OTHERS = "{%- if m.role != 'assistant' %}{{- '<' ~ m.role ~ '>' ~ m.content ~ '<.>' }}{%- else %}"
CALLS = (
    "{%- for c in m.tool_calls or [] %}"
    "{{- '<do>' ~ c.function.name ~ '<with>' ~ c.function.arguments|tojson ~ '</do>' }}"
    "{%- endfor %}"
)


def analysis_of(text: str, worker: RenderWorker) -> Analysis:
    return analyze_template(given_template(text), worker)


def spec_of(text: str, worker: RenderWorker) -> Spec:
    analysis = analysis_of(text, worker)
    assert analysis.problems == ()
    assert analysis.spec is not None
    return analysis.spec


def test_calls_that_only_earlier_messages_show(worker: RenderWorker) -> None:
    """The last message is rendered as one to be continued: its content, behind a prompt."""
    spec = spec_of(
        "{%- set begun = messages[-1].role == 'assistant' %}"
        "{%- for m in (messages[:-1] if begun else messages) %}" + OTHERS + "{{- '<assistant>' }}"
        "{{- m.content.strip() }}" + CALLS + "{{- '<.>' }}{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt or begun %}{{- '<assistant><why>' }}{%- endif %}"
        "{%- if begun %}{{- messages[-1].content ~ '<.>' }}{%- endif %}",
        worker,
    )
    assert spec.tools is not None
    message = load(spec).parse('So</why>Hello.<do>add<with>{"a": 1}</do><.>')
    assert (message.reasoning_content, message.content) == ("So", "Hello.")
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("add", '{"a": 1}')]


def test_keys_of_reasoning_that_a_loop_names(worker: RenderWorker) -> None:
    spec = spec_of(
        "{%- for m in messages %}" + OTHERS + "{{- '<assistant>' }}"
        "{%- for key in ['musing', 'hunch'] %}{%- if m[key] %}"
        "{{- '<' ~ key ~ '>' ~ m[key] ~ '</' ~ key ~ '>' }}{%- endif %}{%- endfor %}"
        "{{- (m.content or '') ~ '<.>' }}{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}",
        worker,
    )
    assert spec.reasoning.field == "musing"
    for key in ("musing", "hunch"):
        message = load(spec).parse(f"<{key}>So</{key}>Hello.<.>")
        assert (message.reasoning_content, message.content) == ("So", "Hello.")


def test_what_ends_conversations_stops_a_turn_that_has_no_end(worker: RenderWorker) -> None:
    text = (
        "{%- for m in messages %}{{- '::' ~ m.role ~ '\\n' ~ m.content ~ '\\n' }}{%- endfor %}"
        "{{- '::assistant\\n' if add_generation_prompt else '::over\\n' }}"
    )
    spec = spec_of(text, worker)
    assert "::over" in spec.turn.stop
    assert load(spec).parse("Hello.\n::over\n").content == "Hello."
    # Where each conversation ends with a prompt, that stops nobody.
    always = text.replace("if add_generation_prompt else '::over\\n'", "")
    assert not any("assistant" in stop for stop in spec_of(always, worker).turn.stop)


@pytest.mark.parametrize("mark", ["# {}\n", "> {}\n\n"])
def test_reasoning_that_white_space_ends_is_content_and_told(
    mark: str, worker: RenderWorker
) -> None:
    before, after = (part.replace("\n", "\\n") for part in mark.split("{}"))
    spec = spec_of(
        "{%- for m in messages %}" + OTHERS + "{{- '<assistant>' }}{%- if m.reasoning_content %}"
        f"{{{{- '{before}' ~ m.reasoning_content ~ '{after}' }}}}{{%- endif %}}"
        "{{- m.content ~ '<.>' }}{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}",
        worker,
    )
    assert spec.reasoning.mode is ReasoningMode.NONE
    told = [limit for limit in spec.limits if limit.subject is Subject.REASONING]
    assert [limit.verdict for limit in told] == [Verdict.TOLD]
    assert "an overlay can say more" in told[0].reason
    said = mark.format("So") + "Hello."
    assert load(spec).parse(f"{said}<.>").content == said


def test_white_space_that_begins_content_turns_thinking_off(worker: RenderWorker) -> None:
    """The header is open to a word that begins reasoning; what is set by itself says neither."""
    spec = spec_of(
        "{%- for m in messages %}{%- if m.reasoning_content %}"
        "{{- '<|at|>' ~ m.role ~ '/why\\n' ~ m.reasoning_content ~ '<|shut|>\\n' }}{%- endif %}"
        "{{- '<|at|>' ~ m.role ~ '\\n' ~ m.content ~ '<|over|>\\n' }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|at|>assistant' }}"
        "{{- '/why\\n' if muse is defined and muse else '\\n' if skip is defined and skip }}"
        "{%- endif %}",
        worker,
    )
    assert spec.thinking.enabled.variables == {"muse": True}
    assert spec.thinking.disabled.variables == {"skip": True}
    assert spec.thinking.expects(None)
    message = load(spec).parse("/why\nSo<|shut|>\n<|at|>assistant\nHello.<|over|>")
    assert (message.reasoning_content, message.content) == ("So", "Hello.")


#: Formats that a check took for wrong ones, by what it didn't know.
RIGHT = {
    "all markers end with one word, so that it tells no pair": (
        "{%- for m in messages %}{%- if m.role != 'assistant' %}"
        "{{- '<|open ' ~ m.role ~ ' our|>' ~ m.content ~ '<|shut our|>' }}{%- else %}"
        "{{- '<|open assistant our|>' ~ (m.content or '') }}"
        "{%- for c in m.tool_calls or [] %}"
        "{{- '<|open call our|><|open name our|>' ~ c.function.name ~ '<|shut name our|>' }}"
        "{{- c.function.arguments|tojson ~ '<|shut call our|>' }}"
        "{%- endfor %}{{- '<|shut our|>' }}{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|open assistant our|>' }}{%- endif %}"
    ),
    "calls stop at a marker that goes on with an id": (
        "{%- set at = namespace(open=false) %}{%- for m in messages %}"
        "{%- if m.role == 'assistant' %}"
        "{{- '' if at.open else '<agent>' }}{%- set at.open = true %}"
        "{%- if m.content %}{{- '<say>' ~ m.content ~ '</say>' }}{%- endif %}"
        "{%- for c in m.tool_calls or [] %}{{- '<do ' ~ c.function.name ~ '>' }}"
        "{{- c.function.arguments|tojson ~ '</do>' }}{%- endfor %}"
        "{%- if not m.tool_calls %}{{- '</agent>' }}{%- set at.open = false %}{%- endif %}"
        "{%- elif m.role == 'tool' %}{{- '<seen by=' ~ m.tool_call_id ~ '>' ~ m.content }}"
        "{%- else %}{{- '<' ~ m.role ~ '>' ~ m.content ~ '</' ~ m.role ~ '>' }}{%- endif %}"
        "{%- endfor %}{%- if add_generation_prompt and not at.open %}{{- '<agent>' }}{%- endif %}"
    ),
}


#: Formats that were read otherwise than they are written, by what the analysis didn't know.
AGENT = "{%- for m in messages %}" + OTHERS
NEXT = "{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '<agent>' }}{%- endif %}"
UNUSUAL = {
    "the token that ends a turn closes no answer": (
        "{%- for m in messages %}{%- if m.role == 'user' %}{{- 'Asked: ' ~ m.content ~ '\n' }}"
        "{%- elif m.role == 'tool' %}{{- 'Seen: ' ~ m.content ~ '\n' }}"
        "{%- elif m.role == 'assistant' %}{%- for c in m.tool_calls or [] %}"
        "{{- 'Do: ' ~ c.function.name ~ '\nWith: ' ~ c.function.arguments|tojson ~ '\n' }}"
        "{%- else %}{{- 'Reply: ' ~ m.content ~ eos_token ~ '\n' }}{%- endfor %}"
        "{%- endif %}{%- endfor %}"
    ),
    "a word alone opens content, and its message ends before calls": (
        "{%- for m in messages %}{%- if m.role != 'assistant' or m.content %}"
        "{{- '<at>' ~ m.role ~ '\n' ~ m.content ~ '<.>\n' }}{%- endif %}"
        "{%- for c in m.tool_calls or [] %}{{- '<at>calls\n' if loop.first }}"
        "{{- {'name': c.function.name, 'arguments': c.function.arguments}|tojson ~ '\n' }}"
        "{{- '<.>\n' if loop.last }}{%- endfor %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<at>' }}{%- endif %}"
    ),
    "a picture ends a call's name": (
        AGENT + "{{- '<agent>' ~ (m.content or '') }}{%- for c in m.tool_calls or [] %}"
        "{{- '\U0001f6e0' ~ c.function.name ~ '\U0001f4e6' ~ c.function.arguments|tojson }}"
        "{{- '\U0001f3c1' }}{%- endfor %}{{- '<.>' }}" + NEXT
    ),
    "a prompt closes reasoning by what opens content": (
        AGENT + "{{- '<agent>' }}{%- if m.thinking %}{{- '<why>' ~ m.thinking }}{%- endif %}"
        "{%- if m.content or not m.tool_calls %}{{- '<say>' ~ (m.content or '') }}{%- endif %}"
        + CALLS
        + "{{- '<.>' }}"
        + NEXT
        + "{%- if quick and add_generation_prompt %}{{- '<why><say>' }}{%- endif %}"
    ),
    "words begin a user's message, and a marker ends it": (
        "{%- for m in messages %}{%- if m.role == 'user' %}"
        "{{- 'Asked: ' ~ m.content ~ '<said>\\n' }}{%- elif m.role != 'assistant' %}"
        "{{- m.role ~ ': ' ~ m.content ~ '\\n' }}{%- else %}"
        "{{- m.content if not m.tool_calls }}"
        + CALLS
        + "{{- '<over>\\n' }}{%- endif %}{%- endfor %}"
    ),
    "a member that is the same in all calls stands behind arguments": (
        AGENT + "{{- '<agent>' ~ (m.content or '') }}{%- for c in m.tool_calls or [] %}"
        '{{- \'<do>{"name": "\' ~ c.function.name ~ \'", "with": \' }}'
        '{{- c.function.arguments|tojson ~ \', "type": "function"}</do>\' }}'
        "{%- endfor %}{{- '<.>' }}" + NEXT
    ),
    "strings stand in backticks": (
        AGENT + "{{- '<agent>' ~ (m.content or '') }}{%- for c in m.tool_calls or [] %}"
        "{{- '<do>' ~ c.function.name ~ '\n' }}{%- for k, v in c.function.arguments.items() %}"
        "{{- k ~ ': ' ~ ('`' ~ v ~ '`' if v is string else v|tojson) ~ '\n' }}{%- endfor %}"
        "{{- '</do>' }}{%- endfor %}{{- '<.>' }}" + NEXT
    ),
    "a turn ends with one sign, several times": (
        "{%- for m in messages %}{{- '<' ~ m.role ~ '>' ~ (m.content or '') }}"
        + CALLS
        + "{{- '\n===\n' }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}"
    ),
}


@pytest.mark.parametrize("text", [*RIGHT.values(), *UNUSUAL.values()], ids=[*RIGHT, *UNUSUAL])
def test_a_right_format_is_green(text: str) -> None:
    build = build_template(given_template(text), OutputPaths.in_folder("given"), messages=5)
    assert build.problems == ()
    assert build.result is not None
    assert [name for name, rung in build.result.rungs.items() if not rung.is_passed] == []


@pytest.mark.parametrize(("key", "subject"), [("reasoning", "reasoning"), ("content", "content")])
def test_what_each_call_holds_is_no_part_of_a_turn(
    key: str, subject: str, worker: RenderWorker
) -> None:
    """An agent's thought may be a member of its call; a parser tells it, and reads the call."""
    text = (
        AGENT + "{{- '<agent>' ~ (m.content or '' if not m.tool_calls else '') }}"
        "{%- for c in m.tool_calls or [] %}{{- '<do>{\"why\": ' ~ (m.KEY or '')|tojson }}"
        '{{- \', "name": "\' ~ c.function.name ~ \'", "with": \' }}'
        "{{- c.function.arguments|tojson ~ '}</do>' }}{%- endfor %}{{- '<.>' }}" + NEXT
    ).replace("KEY", key)
    build = build_template(given_template(text), OutputPaths.in_folder("given"), messages=5)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_of(text, worker)
    assert [str(it.subject) for it in spec.limits if "within each call" in it.reason] == [subject]
    message = load(spec).parse('<do>{"why": "So.", "name": "add", "with": {"a": 1}}</do><.>')
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("add", '{"a": 1}')]
    assert [problem.message for problem in message.problems] == ["'why': \"So.\""]


#: What stands before and behind a key that no other template has, what before content without it
#: as well, and what reasoning stands between if it is such.
OWN_KEYS: list[tuple[str, str, str, tuple[str, str] | None]] = [
    ("## Why\n", "\n## So\n", "", ("## Why\n", "\n## So\n")),
    ("Thought: ", "\n", "Answer: ", ("Thought: ", "\n")),
    ("<why>", "</why>", "<say>", ("<why>", "</why>")),
    ("", " says: ", "", None),
    ("<", ">", "<say>", None),
    ("<mood=", ">", "", None),
]


@pytest.mark.parametrize(("before", "behind", "always", "wanted"), OWN_KEYS)
def test_a_key_of_the_template_s_own(
    before: str, behind: str, always: str, wanted: tuple[str, str] | None, worker: RenderWorker
) -> None:
    """It is reasoning if something marks it off; a name in a header, say, is none."""
    shown = f"{{%- if m.own %}}{{{{- {before!r} ~ m.own ~ {behind!r} }}}}{{%- endif %}}"
    content = f"{{{{- {always!r} ~ m.content ~ '<.>' }}}}"
    text = f"{AGENT}{{{{- '<agent>' }}}}{shown}{content}{NEXT}"
    reasoning = spec_of(text.replace("<agent>'", "<agent>\\n'"), worker).reasoning
    assert reasoning.field == ("own" if wanted else None)
    assert (reasoning.start, reasoning.end) == (wanted or ("", ""))


def test_the_next_argument_ends_a_value_that_nothing_closes(worker: RenderWorker) -> None:
    """It does so where no tools tell the keys, too."""
    calls = CALLS.replace(
        "{{- '<do>' ~ c.function.name ~ '<with>' ~ c.function.arguments|tojson ~ '</do>' }}",
        "{{- '<do>' ~ c.function.name }}{%- for k, v in c.function.arguments.items() %}"
        "{{- '<:' ~ k ~ ':>' ~ (v if v is string else v|tojson) }}{%- endfor %}{{- '</do>' }}",
    )
    text = f"{AGENT}{{{{- '<agent>' ~ (m.content or '') }}}}{calls}{{{{- '<.>' }}}}{NEXT}"
    message = load(spec_of(text, worker)).parse("<do>add<:a:>x<:b:>y</do><.>")
    assert [call.arguments for call in message.tool_calls] == ['{"a": "x", "b": "y"}']


@pytest.mark.parametrize(
    ("between", "end", "last"),
    [
        ("\n", "<.>", ""),
        ("\n\n", "\n<.>", ""),
        (" ", "<|done|>", ""),
        ("\n---\n", "<.>", ""),
        ("<+>", "\n<.>", ""),
        ("\n", "<.>", "<all>"),
        ("\n\n", "", "<all>"),
    ],
)
def test_messages_that_are_joined(between: str, end: str, last: str) -> None:
    """What stands between two messages ends none, so a last turn has its end without it.

    Nor is what stands behind all of them an end of one.
    """
    text = (
        "{%- for m in messages %}{{- '' if loop.first else BETWEEN }}{{- '<' ~ m.role ~ '>' }}"
        "{%- if m.reasoning %}{{- '<why>' ~ m.reasoning ~ '</why>' }}{%- endif %}"
        "{{- m.content or '' }}"
        + CALLS
        + "{{- END }}{%- endfor %}{{- BETWEEN ~ '<assistant>' if add_generation_prompt else LAST }}"
    )
    for word, meant in {"BETWEEN": between, "END": end, "LAST": last}.items():
        text = text.replace(word, repr(meant))
    build = built("joined", text)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    parse, call = load(spec_in(build)).parse, '<do>add<with>{"a": 1}</do>'
    for message in (
        parse(f"<why>So</why>Hi.{call}{end or last}"),
        parse(f"<why>So</why>Hi.{call}"),
    ):
        assert (message.reasoning_content, message.content) == ("So", "Hi.")
        assert [(made.name, made.arguments) for made in message.tool_calls] == [("add", '{"a": 1}')]
    assert parse(f"Hi.{end or last}{between}").content == "Hi."


@pytest.mark.parametrize(
    ("start", "end"), [("<why>", "</why>"), ("<|part>why\n", "<part|>"), ("## Why\n", "\n## So\n")]
)
def test_what_ends_the_question_heads_a_turn_that_always_has_room_for_thoughts(
    start: str, end: str
) -> None:
    """Which no prompt opens: what all turns begin with is the thoughts' own, if there are none."""
    text = (
        "{%- for m in messages %}{%- if m.role == 'assistant' %}"
        "{{- ' ' ~ START ~ (m.reasoning or '') ~ END ~ (m.content or '') }}"
        + CALLS
        + "{{- '<.>' }}{%- else %}{{- '[ASK]' ~ m.content ~ '[/ASK]' }}{%- endif %}{%- endfor %}"
    )
    build = built("no-header", text.replace("START", repr(start)).replace("END", repr(end)))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    assert spec.turn.header == "[/ASK]"
    module, turn = load(spec), f"{end}Hi.<do>add<with>{{}}</do><.>"
    for thought in ("", "So"):
        message = module.parse(f" {start}{thought}{turn}", prefill="[ASK]What?[/ASK]")
        assert (message.reasoning_content, message.content) == (thought, "Hi.")
        assert [call.name for call in message.tool_calls] == ["add"]
        assert message.problems == []


def test_what_ends_turns_as_well_heads_none() -> None:
    """Behind the question stands the sign that also ends answers."""
    text = (
        "{%- for m in messages %}{%- if m.role == 'user' %}"
        "{{- 'Q: ' ~ m.content ~ '\n\nA: <.>' }}{%- elif m.role == 'assistant' %}"
        "{{- m.content ~ '<.>' }}{%- endif %}{%- endfor %}"
    )
    build = built("question-and-answer", text)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    message = load(spec_in(build)).parse("A: is a letter.<.>")
    assert (message.content, message.problems) == ("A: is a letter.", [])


def test_a_message_for_each_part_ends_as_a_section_does() -> None:
    """What closes the last message stands between two as well: who is next tells that it's over."""
    text = (
        "{%- for m in messages %}{%- if m.role == 'assistant' %}"
        "{%- if m.content %}{{- '<|by:bot|>' ~ m.content ~ '<|/|>' }}{%- endif %}"
        "{%- for c in m.tool_calls or [] %}{{- '<|by:call|>' if loop.first else ';' }}"
        "{{- c.function.name ~ c.function.arguments|tojson ~ ('<|/|>' if loop.last else '') }}"
        "{%- endfor %}{%- else %}{{- '<|by:' ~ m.role ~ '|>' ~ m.content ~ '<|/|>' }}{%- endif %}"
        "{%- endfor %}{%- if add_generation_prompt %}{{- '<|by:' }}{%- endif %}"
    )
    build = built("own-messages", text)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    assert spec_in(build).turn.stop == ("<|/|><|by:user|>", "<|/|><|by:tool|>")


@pytest.mark.parametrize("absent", ["", "<why></why>"])
def test_a_line_that_prompts_lack_is_the_thoughts(absent: str) -> None:
    """Behind the header it isn't the prompt's, be it that all turns go on alike there."""
    text = (
        "{%- for m in messages %}" + OTHERS + "{{- '<bot>\n<why>' ~ m.reasoning ~ '</why>' "
        "if m.reasoning else '<bot>\n' ~ ABSENT }}{{- m.content or '' }}" + CALLS + "{{- '<.>' }}"
        "{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<bot><why>' ~ ('</why>' if quick else '') }}"
        "{%- endif %}"
    )
    build = built("line-before", text.replace("ABSENT", repr(absent)))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())


@pytest.mark.parametrize("lead", ["", "\n"])
def test_what_stands_for_no_thoughts_ends_no_turn(lead: str) -> None:
    """An empty turn consists of it alone; the line before content isn't there."""
    text = (
        "{%- for m in messages %}" + OTHERS + "{{- '<bot>' ~ LEAD }}"
        "{{- '<why>' ~ m.reasoning ~ '</why>' if m.reasoning else '</why>' }}"
        "{{- '\n' ~ m.content if m.content else '' }}" + CALLS + "{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<bot>' ~ ('</why>' if quick else '<why>') }}"
        "{%- endif %}"
    )
    build = built("no-thoughts", text.replace("LEAD", repr(lead)))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    message = load(spec_in(build)).parse("Hello.<user>", enable_thinking=False)
    assert (message.content, message.problems) == ("Hello.", [])


#: How a turn's messages begin, up to the word for a part; what ends that word's line, a thought
#: and any other message; whether a call names its tool there; and what a prompt ends with.
MESSAGES = {
    "a call's own end, with the tool's name": ("<|s|>bot/", "\n", "<~>", "[.]", True, ""),
    "an end in brackets": ("[[bot/", "]]", "[.]", "[.]", False, "[[bot/"),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages_of_parts_that_begin_alike(case: str) -> None:
    """An end that a thought has, too, doesn't get what the next message begins with."""
    lead, line, why, end, is_named, prompt = MESSAGES[case]
    to = "' to=' ~ c.function.name ~ LINE ~ c.function.arguments|tojson"
    call = to if is_named else "LINE ~ c.function.name ~ '\n' ~ c.function.arguments|tojson"
    text = (
        "{%- for m in messages %}{%- if m.role == 'assistant' %}"
        "{%- if m.reasoning %}{{- LEAD ~ 'muse' ~ LINE ~ m.reasoning ~ WHY }}{%- endif %}"
        "{%- if m.content %}{{- LEAD ~ 'say' ~ LINE ~ m.content ~ END }}{%- endif %}"
        "{%- for c in m.tool_calls or [] %}{{- LEAD ~ 'do' ~ " + call + " ~ END }}{%- endfor %}"
        "{%- else %}{{- LEAD[:-4] ~ m.role ~ LINE ~ m.content ~ END }}{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- PROMPT }}{%- endif %}"
    )
    for name, value in (("LEAD", lead), ("LINE", line), ("WHY", why), ("END", end)):
        text = text.replace(name, repr(value))
    build = built("messages-of-parts", text.replace("PROMPT", repr(prompt)))
    assert build.result is not None
    failed = {rung: found.example for rung, found in build.result.rungs.items() if found.failed}
    assert (build.problems, build.objections, failed) == ((), (), {})
    head = f"{lead}do to=add{line}" if is_named else f"{lead}do{line}add\n"
    turn = f"{lead}muse{line}So{why}{lead}say{line}Hi.{end}" + f'{head}{{"a": 1}}{end}' * 2
    message = load(spec_in(build)).parse(turn.removeprefix(prompt))
    assert (message.reasoning_content, message.content) == ("So", "Hi.")
    assert [made.arguments for made in message.tool_calls] == ['{"a": 1}'] * 2
    assert message.problems == []


def test_what_begins_all_messages_ends_no_thought() -> None:
    """Be it that its end has one sign, and its beginning two."""
    text = (
        "{%- for m in messages %}{%- if m.role == 'assistant' %}"
        "{%- if m.reasoning %}{{- '<|s|>bot/muse<|m|>' ~ m.reasoning ~ '<|e|>' }}{%- endif %}"
        "{%- if m.content or not m.tool_calls %}"
        "{{- '<|s|>bot/say<|m|>' ~ (m.content or '') ~ '<|e|>' }}{%- endif %}"
        "{%- for c in m.tool_calls or [] %}{{- '<|s|>bot/do<|m|>' if loop.first else '\n' }}"
        "{{- c.function.name ~ '\n' ~ c.function.arguments|tojson }}"
        "{{- '<|e|>' if loop.last }}{%- endfor %}"
        "{%- else %}{{- '<|s|>' ~ m.role ~ '<|m|>' ~ m.content ~ '<|e|>' }}{%- endif %}"
        "{%- endfor %}"
    )
    build = built("one-sign", text)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values())
    spec = spec_in(build)
    assert (spec.reasoning.end, spec.content.start) == ("<|e|>", "<|s|>bot/say<|m|>")


def test_a_header_before_a_word_opens_no_thought_if_content_has_it_too(
    worker: RenderWorker,
) -> None:
    """The word that says so may be missing only where the tag before it is the thought's."""
    spec = spec_of(
        "{%- for m in messages %}{%- if m.role == 'assistant' %}"
        "{%- if m.reasoning %}{{- '<|as|>muse\n' ~ m.reasoning ~ '<~>' }}{%- endif %}"
        "{%- if m.content or not m.tool_calls %}"
        "{{- '<|as|>say\n' ~ (m.content or '') ~ '<|e|>' }}{%- endif %}"
        "{%- for c in m.tool_calls or [] %}{{- '<|as|>do to=' ~ c.function.name ~ '\n' }}"
        "{{- c.function.arguments|tojson ~ '<|e|>' }}{%- endfor %}"
        "{%- else %}{{- '<|as|>' ~ m.role ~ '\n' ~ m.content ~ '<|e|>' }}{%- endif %}"
        "{%- endfor %}",
        worker,
    )
    parse = load(spec).parse
    for thought in ("", "<|as|>muse\nSo<~>"):
        message = parse(f"{thought}<|as|>say\nHi.<|e|>")
        assert (message.content, message.problems) == ("Hi.", [])
        assert message.reasoning_content == ("So" if thought else "")
