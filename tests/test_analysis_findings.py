"""What the comparisons find in our own templates, each by its name, and the texts it is from."""

from __future__ import annotations

import pytest

from tests.own_templates import NAMES, analysis_of, given_template, own_template, spec_of
from turnspec.analysis.analyze import analyze_template
from turnspec.analysis.findings import Derivation, Finding
from turnspec.analysis.modes import reasoning_mode
from turnspec.rendering.dialect import AbsentContent, ArgumentsForm
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.prompt_state import PromptState
from turnspec.spec.words import (
    CallIdPosition,
    Condition,
    ContentMode,
    Encoding,
    IndexScope,
    JsonType,
    Part,
    ReasoningMode,
    ReasoningScope,
    Subject,
    ToolMode,
    Verdict,
)

TOOL_MODES = {
    "json-in-tags": ToolMode.JSON_NATIVE,
    "json-array-with-ids": ToolMode.JSON_NATIVE,
    "bare-json-call": ToolMode.JSON_NATIVE,
    "content-after-calls": ToolMode.JSON_NATIVE,
    "array-in-code-block": ToolMode.JSON_NATIVE,
    "name-as-key": ToolMode.JSON_NATIVE,
    "brackets-with-id": ToolMode.TAG_WITH_JSON,
    "prefixed-name-with-index": ToolMode.TAG_WITH_JSON,
    "channels": ToolMode.TAG_WITH_JSON,
    "string-arguments": ToolMode.TAG_WITH_JSON,
    "invented-guillemets": ToolMode.TAG_WITH_JSON,
    "invented-name-last": ToolMode.TAG_WITH_JSON,
    "invented-quoting": ToolMode.TAG_WITH_JSON,
    "tagged-parameters": ToolMode.TAG_WITH_TAGGED,
    "key-value-elements": ToolMode.TAG_WITH_TAGGED,
    "typed-parameters": ToolMode.TAG_WITH_TAGGED,
    "python-calls": ToolMode.TAG_WITH_TAGGED,
    "unescaped-quotes": ToolMode.TAG_WITH_TAGGED,
    "keys-as-elements": ToolMode.TAG_WITH_TAGGED,
    "own-string-quotes": ToolMode.TAG_WITH_TAGGED,
    "invented-type-words": ToolMode.TAG_WITH_TAGGED,
    "invented-nesting": ToolMode.TAG_WITH_TAGGED,
}


@pytest.mark.parametrize("name", TOOL_MODES)
def test_tool_mode(name: str, worker: RenderWorker) -> None:
    tools = spec_of(name, worker).tools
    assert tools is not None
    assert tools.mode is TOOL_MODES[name]


@pytest.mark.parametrize(
    "name", ["plain-content", "thinking-switch", "delimiter-reasoning", "stripped-reasoning"]
)
def test_no_tools(name: str, worker: RenderWorker) -> None:
    spec = spec_of(name, worker)
    assert spec.tools is None
    assert not spec.capabilities.tool_calls


REASONING_MODES = {
    "plain-content": ReasoningMode.NONE,
    "thinking-switch": ReasoningMode.TAG_BASED,
    "delimiter-reasoning": ReasoningMode.DELIMITER,
    "stripped-reasoning": ReasoningMode.FORCED_OPEN,
    "channels": ReasoningMode.TAG_BASED,
    "invented-guillemets": ReasoningMode.TAG_BASED,
    "invented-calls-first": ReasoningMode.TAG_BASED,
}


@pytest.mark.parametrize("name", REASONING_MODES)
def test_reasoning_mode(name: str, worker: RenderWorker) -> None:
    assert spec_of(name, worker).reasoning.mode is REASONING_MODES[name]


@pytest.mark.parametrize(
    ("off_prompt", "mode"),
    [
        ("```thinking\n", ReasoningMode.FORCED_OPEN),
        ("```thinking\n```\n", ReasoningMode.FORCED_CLOSED),
        ("", ReasoningMode.FORCED_OPEN),
    ],
)
def test_an_end_inside_of_the_start_closes_nothing(off_prompt: str, mode: ReasoningMode) -> None:
    marks = ("```thinking\n", "\n```\n")
    assert reasoning_mode(*marks, PromptState.OPEN, off_prompt, (), shown=False) is mode


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("thinking-switch", "reasoning_content"),
        ("delimiter-reasoning", "reasoning"),
        ("invented-guillemets", "thinking"),
        ("stripped-reasoning", None),
        ("two-reasoning-keys", "reasoning_content"),
    ],
)
def test_reasoning_field(name: str, field: str | None, worker: RenderWorker) -> None:
    assert spec_of(name, worker).reasoning.field == field


def test_reasoning_beside_calls_may_have_a_key_of_its_own(worker: RenderWorker) -> None:
    spec = spec_of("two-reasoning-keys", worker)
    assert spec.reasoning.call_field == "thinking"
    assert not [limit for limit in spec.limits if limit.subject is Subject.REASONING]
    assert spec_of("thinking-switch", worker).reasoning.call_field is None


def test_what_ends_every_turn_is_no_end_of_content_before_calls(worker: RenderWorker) -> None:
    spec = spec_of("message-for-each-part", worker)
    assert (spec.content.mode, spec.content.end) == (ContentMode.PLAIN, "")
    assert spec.join(Part.CONTENT, Part.CALLS) == "<|end|><|assistant|>"
    assert spec.final(Part.CONTENT) == spec.final(Part.CALLS) == "<|end|>"
    assert spec.turn.stop == ("<|end|>",)


def test_thinking_switch(worker: RenderWorker) -> None:
    thinking = spec_of("thinking-switch", worker).thinking
    assert thinking.enabled == thinking.default
    assert (thinking.default.variables, thinking.disabled.variables) == ({}, {"ponder": False})
    assert thinking.disabled.prompt == thinking.default.prompt + "<ponder>\n\n</ponder>\n\n"


def test_stripped_reasoning_is_dropped_and_has_its_markers_from_the_prompt(
    worker: RenderWorker,
) -> None:
    spec = spec_of("stripped-reasoning", worker)
    assert (spec.reasoning.start, spec.reasoning.end) == ("<muse>", "</muse>")
    assert spec.reasoning.scope is ReasoningScope.NONE
    assert [(limit.subject, limit.verdict) for limit in spec.limits] == [
        (Subject.REASONING, Verdict.DROPS)
    ]


#: The header of each template and what stops its turns.
FRAMES = {
    "plain-content": ("<:begin:>assistant\n", ("<:end:>",)),
    "thinking-switch": ("<:begin:>assistant\n", ("<:end:>",)),
    "delimiter-reasoning": ("<:assistant:>\n", ("<:stop:>",)),
    "json-array-with-ids": ("[ANSWER]", ("</s>",)),
    "bare-json-call": ("<:head:>assistant<:/head:>\n\n", ("<:over:>",)),
    "brackets-with-id": ("[/SAY]", ("</s>",)),
    "key-value-elements": ("<:assistant:>", ("<:user:>", "<:tool:>")),
    "channels": (
        "<:from:>assistant",
        ("<:end:><:from:>user<:text:>", "<:end:><:from:>tool<:text:>", "<:from:>tool<:text:>"),
    ),
    "always-prompts": ("<:assistant:>", ("<:end:>",)),
    "invented-guillemets": ("«assistant» ", ("«done»",)),
    "invented-name-last": ("@@ASSISTANT@@\n", ("@@END@@",)),
    "invented-type-words": ("{{assistant}}", ("{{over}}",)),
    "invented-calls-first": ("== assistant ==\n", ("== over ==",)),
    "invented-quoting": ("(: assistant :) ", ("(: end :)",)),
    "invented-nesting": ("<assistant>", ("</assistant>",)),
}


@pytest.mark.parametrize("name", FRAMES)
def test_header_and_stop_strings(name: str, worker: RenderWorker) -> None:
    turn = spec_of(name, worker).turn
    assert (turn.header, turn.stop) == FRAMES[name]


def test_the_trigger_of_calls_opens_nothing_else(worker: RenderWorker) -> None:
    for name in NAMES:
        spec = spec_of(name, worker)
        others = [spec.reasoning.start, spec.content.start]
        for trigger in spec.grammar.triggers:
            assert not any(trigger in other for other in others), name


def test_unescaped_quotes_are_ambiguous(worker: RenderWorker) -> None:
    limits = spec_of("unescaped-quotes", worker).limits
    assert (Subject.ARGUMENT_STRING, Verdict.AMBIGUOUS) in [
        (limit.subject, limit.verdict) for limit in limits
    ]


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("plain-content", ContentMode.PLAIN),
        ("channels", ContentMode.ALWAYS_WRAPPED),
        ("invented-nesting", ContentMode.ALWAYS_WRAPPED),
    ],
)
def test_content_mode(name: str, mode: ContentMode, worker: RenderWorker) -> None:
    assert spec_of(name, worker).content.mode is mode


@pytest.mark.parametrize(
    ("name", "position"),
    [
        ("json-array-with-ids", CallIdPosition.POST_ARGS),
        ("brackets-with-id", CallIdPosition.BETWEEN_FUNC_AND_ARGS),
        ("invented-guillemets", CallIdPosition.POST_ARGS),
        ("invented-quoting", CallIdPosition.BETWEEN_FUNC_AND_ARGS),
        ("json-in-tags", CallIdPosition.NONE),
    ],
)
def test_call_id(name: str, position: CallIdPosition, worker: RenderWorker) -> None:
    tools = spec_of(name, worker).tools
    assert tools is not None
    assert tools.call_id is position


@pytest.mark.parametrize(
    ("name", "base", "scope"),
    [
        ("prefixed-name-with-index", 0, IndexScope.CONVERSATION),
        ("invented-calls-first", 1, IndexScope.TURN),
        ("json-in-tags", None, None),
    ],
)
def test_running_index(
    name: str, base: int | None, scope: IndexScope | None, worker: RenderWorker
) -> None:
    tools = spec_of(name, worker).tools
    assert tools is not None
    assert (tools.index_base, tools.index_scope) == (base, scope)


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("json-in-tags", (Part.REASONING, Part.CONTENT, Part.CALLS)),
        ("content-after-calls", (Part.CALLS, Part.CONTENT)),
        ("invented-calls-first", (Part.CALLS, Part.REASONING, Part.CONTENT)),
    ],
)
def test_order(name: str, order: tuple[Part, ...], worker: RenderWorker) -> None:
    assert spec_of(name, worker).turn.order == order


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("json-in-tags", (ArgumentsForm.OBJECT, AbsentContent.NULL)),
        ("string-arguments", (ArgumentsForm.STRING, AbsentContent.NULL)),
        ("prints-none", (ArgumentsForm.OBJECT, AbsentContent.EMPTY)),
    ],
)
def test_dialect(
    name: str, dialect: tuple[ArgumentsForm, AbsentContent], worker: RenderWorker
) -> None:
    found = analysis_of(name, worker).dialect
    assert (found.arguments, found.absent_content) == dialect


@pytest.mark.parametrize("name", ["bare-json-call", "content-dropped-beside-calls"])
def test_content_beside_calls_is_dropped(name: str, worker: RenderWorker) -> None:
    spec = spec_of(name, worker)
    assert (Subject.CONTENT, Verdict.DROPS, Condition.WITH_CALLS) in [
        (limit.subject, limit.verdict, limit.when) for limit in spec.limits
    ]
    assert not spec.capabilities.content_beside_calls


def test_one_call_at_a_time(worker: RenderWorker) -> None:
    spec = spec_of("bare-json-call", worker)
    assert (Subject.FURTHER_CALLS, Verdict.DROPS) in [
        (limit.subject, limit.verdict) for limit in spec.limits
    ]
    assert not spec.capabilities.parallel_calls


def test_capabilities(worker: RenderWorker) -> None:
    strings = spec_of("string-arguments", worker).capabilities
    assert (strings.string_arguments, strings.object_arguments) == (True, False)
    ids = spec_of("brackets-with-id", worker).capabilities
    assert (ids.call_id_required, ids.parallel_calls) == (True, True)


def test_tools_may_stand_in_a_system_message_alone(worker: RenderWorker) -> None:
    text = own_template("json-in-tags").text
    begins = "{{- '<:begin:>' + message.role + '\\n' }}"
    assert begins in text
    assert "tools" not in text
    beside = f"{begins}{{% if message.role == 'system' %}}{{{{ tools | tojson }}}}{{% endif %}}"
    for has_tools, source in ((False, text), (True, text.replace(begins, beside))):
        spec = analyze_template(given_template(source), worker).spec
        assert spec is not None
        assert spec.capabilities.tools is has_tools


SET = "{% if sep_token is not defined %}{% set sep_token = '<:sep:>' %}{% endif %}"


@pytest.mark.parametrize(
    ("before", "told"),
    [("", ["turns.jinja: a turn holds sep_token, and nothing says what that is"]), (SET, [])],
)
def test_a_token_that_nobody_names_is_told(
    before: str, told: list[str], worker: RenderWorker
) -> None:
    text = own_template("plain-content").text
    assert "'<:end:>\\n'" in text
    source = given_template(before + text.replace("'<:end:>\\n'", "sep_token ~ '\\n'"), "turns")
    problems = [str(problem).split(":") for problem in analyze_template(source, worker).problems]
    assert [":".join(problem[:2]) for problem in problems] == told


@pytest.mark.parametrize(
    ("name", "kind", "encoding"),
    [
        ("tagged-parameters", JsonType.STRING, Encoding.RAW),
        ("tagged-parameters", JsonType.OBJECT, Encoding.JSON),
        ("python-calls", JsonType.STRING, Encoding.PYTHON),
        ("python-calls", JsonType.BOOLEAN, Encoding.PYTHON),
        ("own-string-quotes", JsonType.STRING, Encoding.QUOTED),
        ("own-string-quotes", JsonType.OBJECT, Encoding.QUOTED),
        ("invented-nesting", JsonType.STRING, Encoding.JSON),
    ],
)
def test_value_encoding(
    name: str, kind: JsonType, encoding: Encoding, worker: RenderWorker
) -> None:
    tools = spec_of(name, worker).tools
    assert tools is not None
    assert tools.arguments.values[kind] is encoding


def test_arguments_as_a_python_object(worker: RenderWorker) -> None:
    tools = spec_of("invented-quoting", worker).tools
    assert tools is not None
    assert tools.arguments.syntax.encoding is Encoding.PYTHON


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("json-array-with-ids", (("name",), ("arguments",), ("id",), False)),
        ("array-in-code-block", (("tool",), ("input",), (), False)),
        ("name-as-key", ((), (), (), True)),
    ],
)
def test_fields(name: str, fields: tuple[object, ...], worker: RenderWorker) -> None:
    tools = spec_of(name, worker).tools
    assert tools is not None
    found = tools.fields
    assert (found.name, found.arguments, found.id, found.name_is_key) == fields


def test_type_words(worker: RenderWorker) -> None:
    tools = spec_of("invented-type-words", worker).tools
    assert tools is not None
    assert tools.arguments.types == {
        JsonType.STRING: "text",
        JsonType.INTEGER: "whole",
        JsonType.NUMBER: "decimal",
        JsonType.BOOLEAN: "truth",
        JsonType.NULL: "nothing",
        JsonType.ARRAY: "row",
        JsonType.OBJECT: "record",
    }


COMPARISONS = {
    "plain-content": {"R1", "C1", "T1"},
    "thinking-switch": {"R1", "R3", "C1", "T1"},
    "stripped-reasoning": {"R1", "R4", "C1", "T1"},
    "json-in-tags": {"R1", "R3", "C1", "T1", "T2", "T3", "T4", "T6"},
    "tagged-parameters": {"R1", "C1", "T1", "T2", "T3", "T5", "T6", "A1", "A2"},
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_findings_name_their_comparisons(name: str, worker: RenderWorker) -> None:
    found = {finding.comparison for finding in analysis_of(name, worker).findings}
    assert found == COMPARISONS[name]


@pytest.mark.parametrize("name", NAMES)
def test_findings_that_derive_a_format_show_what_from(name: str, worker: RenderWorker) -> None:
    derived = {"C1", "T2", "T4", "A1", "R4"}
    for finding in analysis_of(name, worker).findings:
        if finding.comparison in derived:
            assert any(finding.evidence), finding


def test_a_finding_as_text() -> None:
    derivation = Derivation()
    derivation.note("T5", "separated by ', '", "a, b\n", "c")
    assert derivation.findings == [Finding("T5", "separated by ', '", ("a, b\n", "c"))]
    assert str(derivation.findings[0]) == "T5: separated by ', '\n    from 'a, b\\n'\n    from 'c'"
