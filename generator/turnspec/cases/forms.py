"""Cases as suites of parsers have them: our own form, canitoolcall's, and NVIDIA Dynamo's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from jsonschema import Draft202012Validator

from turnspec.cases.drawing import DrawnCase, without_stop
from turnspec.deviations.turns import Case, Format
from turnspec.spec.turn_end import stop_strings
from turnspec.spec.visible import HALF
from turnspec.verification.messages import format_markers

_URL = "https://pypi.org/project/turnspec/"
#: What stands before a format's name where a suite wants a model of the hub, and none is known.
OWN_MODELS = "turnspec/"
#: The version of canitoolcall's form.
_CANITOOLCALL = "0.1"
#: The parsers that a case of Dynamo's says something of, beside the right reading.
_OTHERS = ("vllm", "sglang")


_META = Draft202012Validator(Draft202012Validator.META_SCHEMA)


@dataclass(frozen=True, slots=True)
class Suite:
    """What a suite calls a format, and what it pins.

    ``model`` is the id on the hub and ``revision`` its commit; where there are none, the format's
    name and its template's hash stand in.
    """

    form: Format
    family: str
    model: str
    revision: str
    seed: int


@dataclass(frozen=True, slots=True)
class Form:
    """A form of cases: what becomes of a case in it, and its line."""

    fit: Callable[[Suite, Case], Case | None]
    line: Callable[[Suite, int, DrawnCase], dict[str, Any]]


def _own_line(suite: Suite, number: int, drawn: DrawnCase) -> dict[str, Any]:
    case = drawn.case
    options = {name: case.options.get(name) for name in ("prefill", "enable_thinking")}
    line = {
        "id": f"{suite.family}/{number}",
        "format": suite.form.spec.name,
        "deviation": drawn.deviation or None,
        "turn": case.text,
        "pieces": drawn.pieces,
        "tools": case.options.get("tools"),
        "options": {name: value for name, value in options.items() if value is not None},
        "message": _message(case),
        "problems": sorted(case.told),
        "complete": case.complete,
    }
    return {**line, "token_ids": drawn.token_ids} if drawn.token_ids else line


def _message(case: Case) -> dict[str, Any]:
    calls = [{"name": name, "arguments": arguments} for name, arguments in case.calls]
    with_ids = [{"id": key, **call} for key, call in zip(case.ids, calls, strict=bool(case.ids))]
    return {
        "content": case.content,
        "reasoning_content": case.reasoning,
        "tool_calls": with_ids or calls,
    }


def _stopped(suite: Suite, case: Case) -> Case | None:
    """Return a case as servers hand it on, without the end; None if that can't be said so.

    These forms don't say whether a call is complete, so none may be cut off then; nor do they offer
    fewer tools than are called.
    """
    offered = [tool["function"] for tool in case.options.get("tools") or ()]
    text = without_stop(suite.form.spec, case.text)
    unknown = {name for name, _ in case.calls} - {tool["name"] for tool in offered}
    have_schemas = all(_META.is_valid(tool.get("parameters", {})) for tool in offered)
    if text is None or not case.complete or unknown or not have_schemas:  # but Python's types
        return None
    texts = (case.text, case.content, case.reasoning, case.calls)
    if HALF.search(json.dumps(texts, ensure_ascii=False)):  # suites can't have such a one
        return None
    message = suite.form.module.parse(text, **case.options)
    if not all(call.complete for call in message.tool_calls):
        return None
    return replace(case, text=text, told=frozenset(problem.kind for problem in message.problems))


def _canitoolcall_line(suite: Suite, number: int, drawn: DrawnCase) -> dict[str, Any]:
    case, template = drawn.case, suite.form.spec.template
    line: dict[str, Any] = {
        "id": f"{suite.family}/{number}",
        "family": suite.family,
        "models": [suite.model],
        "spec_version": _CANITOOLCALL,
        "provenance": {
            "kind": "template_render",
            "source_url": _URL,
            "revision": suite.revision,
            "license": "0BSD",
            "generator": f"turnspec cases {suite.form.spec.name} --seed {suite.seed}",
            "template_sha256": template.sha256,
        },
        "tools": case.options.get("tools") or [],
        "raw_output": case.text,
    }
    if drawn.token_ids:
        pin = {"repo": suite.model, "revision": suite.revision}
        line |= {"output_token_ids": drawn.token_ids, "tokenizer": pin}
    line["generation_prompt"] = case.options["prefill"]
    if case.options.get("enable_thinking") is not None:
        line["thinking"] = case.options["enable_thinking"]
    message = _message(replace(case, ids=()))
    expected = {key: value or None for key, value in message.items()}
    return {**line, "expected": {**expected, "tool_calls": message["tool_calls"]}, **_tags(drawn)}


def _tags(drawn: DrawnCase) -> dict[str, Any]:
    tags = [("no-call", "single-call", "parallel-calls")[min(len(drawn.case.calls), 2)]]
    tags += ["reasoning"] if drawn.case.reasoning else []
    if drawn.deviation:
        tags += ["x-derived", "x-" + re.sub(r"[^a-z0-9]+", "-", drawn.deviation.lower())]
        return {"tags": tags, "notes": f"deviates from the template: {drawn.deviation}"}
    return {"tags": tags}


def canitoolcall_family(suite: Suite) -> dict[str, Any]:
    """Return what stands beside canitoolcall's cases, in family.json."""
    spec = suite.form.spec
    markers = {*format_markers(spec), *spec.grammar.preserved_tokens} or {spec.turn.header or "\n"}
    reference = {
        "repo": suite.model,
        "revision": suite.revision,
        "default_generation_prompt": spec.thinking.default.prompt,
        "stop_tokens": list(stop_strings(spec)),
    }
    return {
        "slug": suite.family,
        "name": spec.name,
        "spec_version": _CANITOOLCALL,
        "has_reasoning": suite.form.reasons,
        "markers": sorted(markers),
        "reference_models": [reference],
        "format_notes": f"turnspec explain {spec.name}",
    }


def _in_one_stage(suite: Suite, case: Case) -> Case | None:
    """Return a case that a parser of reasoning reads alone, or one of calls."""
    stopped, spec = _stopped(suite, case), suite.form.spec
    marks = [mark for mark in (spec.reasoning.start.strip(), spec.reasoning.end.strip()) if mark]
    if stopped is None or (case.calls and any(mark in stopped.text for mark in marks)):
        return None
    return stopped


def _dynamo_line(mode: str, suite: Suite, number: int, drawn: DrawnCase) -> dict[str, Any]:
    """Return a file of Dynamo's fixtures with one case: YAML holds JSON."""
    case = drawn.case
    of_reasoning = suite.form.reasons and not case.calls
    calls = _message(replace(case, ids=()))["tool_calls"]
    expected = {"reasoning_text": case.reasoning} if of_reasoning else {"calls": calls}
    others = {name: {"unavailable": "not recorded"} for name in _OTHERS}
    found: dict[str, Any] = {"description": drawn.deviation or "keeps to the format"}
    found |= _dynamo_text(drawn, mode, of_reasoning=of_reasoning)
    if of_reasoning:
        start = suite.form.spec.reasoning.start.strip()  # which the prompt may have written
        found["in_reasoning"] = bool(start) and case.options["prefill"].rstrip().endswith(start)
    else:
        found["tools"] = [
            {key: tool["function"].get(key) for key in ("name", "parameters")}
            for tool in case.options.get("tools") or ()
        ]
    found["expected"] = {"dynamo": {**expected, "normal_text": case.content}, **others}
    stage = "REASONING" if of_reasoning else "TOOLCALLING"
    return {"family": suite.family, "mode": mode, "cases": {f"{stage}.{mode}.{number}": found}}


def _dynamo_text(drawn: DrawnCase, mode: str, *, of_reasoning: bool) -> dict[str, Any]:
    if mode == "batch":
        return {"model_text": drawn.case.text}
    if of_reasoning:
        return {"chunks": drawn.pieces}
    end = {"delta_text": "", "finish_reason": "tool_calls" if drawn.case.calls else "stop"}
    return {"chunks": [*({"delta_text": piece} for piece in drawn.pieces), end]}


#: The forms by name.
FORMS: Mapping[str, Form] = {
    "turnspec": Form(lambda suite, case: case, _own_line),
    "canitoolcall": Form(_stopped, _canitoolcall_line),
    "dynamo": Form(_in_one_stage, partial(_dynamo_line, "batch")),
    "dynamo-stream": Form(_in_one_stage, partial(_dynamo_line, "stream")),
}
