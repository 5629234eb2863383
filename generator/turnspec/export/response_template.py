"""Hugging Face's `response_template`: the JSON by which transformers and others read turns.

It cuts a turn into regions by regular expressions, and reads what is in each as text, JSON or tags.
What it says of its keys is in transformers' documentation of response parsing; this was written for
version 5.23, whose template format has the version 1.

Content is the region without an opener: it takes all text outside the others. Its closing
expression is every mark that belongs to no region: it ends one piece of content and begins the
next, and so passes over the mark.

vLLM and SGLang stream text: they refuse a template that joins pieces of it, and find the end of
reasoning by texts alone, not by expressions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from turnspec.export.exporting import Exported, ExportOptions, Loss, ReasoningField, Refusal
from turnspec.export.expressions import escaped, lenient, longest_first, pieces_expression, spaced
from turnspec.export.response_calls import CallsField, before_any, calls_field
from turnspec.grammar.triggers import either
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.spec.visible import visible_json
from turnspec.spec.words import Part, ReasoningMode

FILE = "response_template.json"
KEY = "response_template"
CONFIG_FILE = "tokenizer_config.json"
_JOIN = "\n"
#: What is told where a call shows its id alone, in which the tool's name stands.
NAMES_IN_IDS = Loss("names in ids", "a call shows its id alone, which comes as its name")


def export_response_template(spec: Spec, options: ExportOptions) -> Exported | Refusal:
    """Return the template as a file, or the tokenizer's file with the template in it."""
    found = response_template(spec, options)
    if isinstance(found, Refusal):
        return found
    template, losses = found
    config = options.tokenizer_config
    file, data = (FILE, template) if config is None else (CONFIG_FILE, {**config, KEY: template})
    # Laid out as transformers writes its own files.
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return Exported({file: f"{text if config else visible_json(text)}\n"}, losses)


def response_template(
    spec: Spec, options: ExportOptions
) -> tuple[dict[str, Any], tuple[Loss, ...]] | Refusal:
    """Return the template as data, and what it loosens."""
    if not spec.turn.header.strip():
        return Refusal("the turn's beginning", "the prompt shows no header of the assistant")
    calls = calls_field(spec) if spec.tools else CallsField({})
    if isinstance(calls, Refusal):
        return calls
    fields: dict[str, Any] = {}
    streamed = options.reasoning_field is ReasoningField.THINKING
    pieces = {} if streamed else {"repeats": True, "join": _JOIN}
    losses = [*calls.losses, *_losses(spec)]
    if spec.reasoning.mode is not ReasoningMode.NONE:
        fields[options.reasoning_field] = {**_reasoning(spec, calls), **pieces}
    if calls.keys:
        fields["tool_calls"] = calls.keys
    fields["content"] = {"close_pattern": _passed_over(spec, calls), **pieces}
    anchor = {"start_anchor": spec.turn.header}
    template = {"version": 1, "defaults": {"role": "assistant"}, **anchor, "fields": fields}
    return template, tuple(losses)


def _losses(spec: Spec) -> Iterator[Loss]:
    reasoning = spec.reasoning
    if reasoning.mode is not ReasoningMode.NONE and not reasoning.start.strip():
        yield Loss("reasoning", "without a mark before it; it is held until its end has come")
    if spec.tools and spec.tools.empty_call:
        yield Loss("calls without arguments", "the format writes them otherwise; they aren't read")
    if spec.names_by_id:
        yield NAMES_IN_IDS
    if spec.alternatives.code is not None:
        yield Loss("code as a call", "its text isn't made an argument")


def _reasoning(spec: Spec, calls: CallsField) -> dict[str, Any]:
    """Return the field for reasoning: from its mark to its end, or to the turn's."""
    own = spec.reasoning.end.strip()
    # Without a mark of its own, reasoning ends with what stands before other parts.
    joins = [join.text for join in spec.turn.joins if join.left is Part.REASONING]
    ends = [spec.reasoning.end] if own else joins
    stops = longest_first(stop_strings(spec))
    opens = {"open_pattern": _reasoning_open(spec, ends)}
    if own:
        return {**opens, "close": [*dict.fromkeys((own, spec.reasoning.end, *stops))]}
    closes = [rf"\s*{lenient(end)}\s*" for end in longest_first(ends)]
    closes += [f"(?={begin})" for begin in calls.begins]
    closes += [rf"\s*(?={lenient(stop)})" for stop in stops]
    return {**opens, "close_pattern": either(closes)}


def _reasoning_open(spec: Spec, ends: list[str]) -> str:
    if spec.reasoning.start.strip():
        return spaced(spec.reasoning.start)
    # Where the prompt begins it, its words do; else reasoning is what an end will follow.
    later = rf"(?=.*?{either(map(lenient, longest_first(ends)))})"
    prompt = spec.thinking.enabled.prompt.removeprefix(spec.turn.header).strip()
    return rf"\A\s*{either([lenient(prompt), later])}\s*" if prompt else rf"\A{later}"


def _passed_over(spec: Spec, calls: CallsField) -> str:
    """Return the expression for every mark that is no text and opens no region."""
    reasoning, content, tools = spec.reasoning, spec.content, spec.tools
    off = spec.thinking.disabled.prompt.removeprefix(spec.turn.header)
    marks = [content.start, content.end, *(join.text for join in spec.turn.joins)]
    if reasoning.mode is not ReasoningMode.NONE:
        marks += [reasoning.end, off]
    if tools is not None:
        marks += [*tools.section_ends, *tools.separators]
        marks += [] if calls.takes_section else [tools.section_start]
    stops = longest_first(stop_strings(spec))
    marks += [before_any(end.final, stops)[0] for end in spec.turn.ends]
    empty = reasoning.start.strip() and reasoning.end.strip()
    nothing = [rf"{lenient(reasoning.start)}\s*{lenient(reasoning.end)}"] if empty else []
    words = [mark for mark in longest_first(marks) if _is_mark(mark)]
    others = [pieces_expression(marks_.start, "") for marks_ in spec.alternatives.marks]
    others += [lenient(marks_.end) for marks_ in spec.alternatives.marks if marks_.end]
    sections = [before_any(end, stops) for end in (tools.section_ends if tools else ())]
    # Without the stop, which servers keep: if that comes, the whole is one mark.
    cut = [
        rf"{lenient(end)}(?:\s*{lenient(stop)}|(?!\s*{escaped(stop[0])}))"
        for end, stop in sections
        if stop and _is_mark(end)
    ]
    passed = [*nothing, *map(lenient, words), *others, *cut]
    # Behind the turn's end nothing is content.
    between = any(stop in text for stop in stops for text in (tools.separators if tools else ()))
    rest = rf"(?:(?=\s*{either(calls.begins)})|.*)" if between else ".*"
    ends = [lenient(stop) + rest for stop in stops]
    return rf"\s*{either([*passed, *ends])}\s*"


def _is_mark(text: str) -> bool:
    return any(not sign.isalnum() and not sign.isspace() for sign in text) and len(text) > 2
