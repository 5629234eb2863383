"""Every format's pair: what the tag lets through, the template reads; so does it what is written.

Transformers' parser is the judge beside xgrammar's matcher. vLLM and SGLang read the same turns
with their own parsers of templates, and hold calls that are asked for to the plugin's tag.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.exported_plugins import write_export
from tests.generated_formats import ROOT, committed_format, module_source
from tests.integrations import sglang_suite, vllm_suite, xgrammar_suite
from tests.integrations.environments import FOLDER, environment, versions
from tests.integrations.pair_turns import Held, held_turns
from tests.integrations.response_template_suite import Asked, Reading, reading_of
from tests.integrations.served_turns import (
    LONGEST,
    given,
    read_on_all_cores,
    special_tokens,
    vocabulary,
)
from tests.integrations.turns import Case, cases, template_text
from turnspec.export.exporting import Exported, ExportOptions, Refusal
from turnspec.export.plugin import plugin_name
from turnspec.export.response_arguments import SENTINELS
from turnspec.export.targets import export_format
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.spec.files import spec_hash
from turnspec.spec.integration_results import ExportState, IntegrationResult, TargetRecord
from turnspec.spec.model import Spec
from turnspec.spec.words import ReasoningMode

#: Servers are asked about so many turns of a format, whole and by tokens.
_SERVED = 4
_HERE = Path(__file__).parent
_PATHS = os.pathsep.join(map(str, (ROOT, ROOT / "generator")))


@cache
def pair_of(name: str) -> Asked | Refusal:
    """Return a format's pair, or why there is none."""
    spec = committed_format(name).spec
    found = export_format(spec, "pair", ExportOptions(module=module_source(name)))
    if not isinstance(found, Exported):
        return found
    return Asked(spec, json.loads(found.files["response_template.json"]), found.losses, ())


@cache
def held_by(name: str) -> tuple[Held, ...]:
    """Return the turns that a format's pair is held to."""
    return tuple(held_turns(committed_format(name)))


def run_pair(names: Sequence[str]) -> TargetRecord:
    """Ask xgrammar and transformers about the turns of the named formats."""
    python = environment("xgrammar", [xgrammar_suite.PACKAGES])
    pairs = _pairs(names)
    forms = [_held_form(pair, held_by(name)) for name, pair in pairs.items()]
    told = _read([python, "-W", "ignore", _HERE / "pair_run.py"], forms)
    results = {
        name: _judged(pairs[name], held_by(name), read)
        for name, read in zip(pairs, told, strict=True)
    }
    return TargetRecord(
        versions(python, ["transformers", "xgrammar"]), {**_refused(names), **results}
    )


def run_pair_vllm(names: Sequence[str]) -> TargetRecord:
    """Read the turns with vLLM's parser ``hf``, held by the plugin."""
    python = environment("vllm", vllm_suite.PACKAGES)
    record = _served(names, [python, _HERE / "pair_vllm_run.py"], {})
    return TargetRecord(versions(python, ["vllm", "transformers", "xgrammar"]), record)


def run_pair_sglang(names: Sequence[str]) -> TargetRecord:
    """Read the turns with SGLang's parser ``response_template``, held by the plugin."""
    python = environment("sglang", sglang_suite.PACKAGES)
    beside = {"vocabulary": str(vocabulary()), "folder": str(FOLDER / "pairs")}
    record = _served(names, [python, "-W", "ignore", _HERE / "pair_sglang_run.py"], beside)
    return TargetRecord(versions(python, ["sglang", "transformers", "xgrammar"]), record)


def _pairs(names: Sequence[str]) -> dict[str, Asked]:
    found = {name: pair_of(name) for name in names}
    return {name: pair for name, pair in found.items() if not isinstance(pair, Refusal)}


def _refused(names: Sequence[str]) -> dict[str, IntegrationResult]:
    found = {name: pair_of(name) for name in names}
    return {
        name: IntegrationResult(
            spec_hash(committed_format(name).spec), ExportState.REFUSED, losses=(str(why),)
        )
        for name, why in found.items()
        if isinstance(why, Refusal)
    }


def _read(command: Sequence[str | Path], forms: list[Any], **beside: str) -> list[Any]:
    quiet = {"VLLM_LOGGING_LEVEL": "CRITICAL"}  # its parsers say much
    variables = {**os.environ, **quiet, "PYTHONPATH": _PATHS}
    return read_on_all_cores(command, {"formats": forms, **beside}, variables)


def _held_form(asked: Asked, held: Sequence[Held]) -> dict[str, Any]:
    """Return a pair as data, each tag once."""
    tags: dict[str, int] = {}
    cases = [
        {
            "tag": tags.setdefault(json.dumps(each.tag), len(tags)),
            "plain": tags.setdefault(json.dumps(each.plain), len(tags)),
            "prefix": each.case.prefill,
            "text": each.case.text,
            "tools": each.case.tools,
        }
        for each in held
    ]
    return {"template": asked.template, "tags": list(map(json.loads, tags)), "cases": cases}


def _judged(
    asked: Asked, held: Sequence[Held], read: Sequence[Mapping[str, Any]]
) -> IntegrationResult:
    """Return the result: what isn't withheld is let through and read."""
    readings, failures, withheld = [], [], 0
    for each, found in zip(held, read, strict=True):
        if found["taken"] == "narrowed" or (each.kind == "hostile" and found["taken"] is False):
            withheld += 1
            continue
        reading = reading_of(asked, each.case, found["message"])
        readings.append(reading)
        if found["taken"] is not True:
            failures.append(f"{each.kind}: the tag refuses {each.case.text!r}: {found['taken']}")
        elif reading is Reading.WRONG:
            failures.append(f"{each.kind}: {each.case.text!r} is {found['message']}")
        elif not found["same"]:
            failures.append(f"{each.kind}: in pieces {each.case.text!r} is read otherwise")
    return _result(asked, readings, failures, withheld)


def _result(
    asked: Asked, readings: Sequence[Reading], failures: Sequence[str], withheld: int = 0
) -> IntegrationResult:
    return IntegrationResult(
        spec_hash(asked.spec),
        ExportState.LOOSENED if asked.losses else ExportState.EXPORTED,
        checks=len(readings),
        passed=len(readings) - len(failures),
        loosely=readings.count(Reading.LOOSE),
        withheld=withheld,
        losses=tuple(map(str, asked.losses)),
        example=min(failures, key=len, default="")[:LONGEST],
    )


def _served(
    names: Sequence[str], command: Sequence[str | Path], beside: Mapping[str, str]
) -> dict[str, IntegrationResult]:
    pairs, folder = _pairs(names), FOLDER / "pairs"
    shutil.rmtree(folder, ignore_errors=True)
    chosen = {name: _written(asked.spec) for name, asked in pairs.items()}
    forms = [_served_form(pairs[name], cases, folder) for name, cases in chosen.items()]
    told = _read(command, forms, **beside)
    results = {
        name: _served_result(pairs[name], chosen[name], read)
        for name, read in zip(pairs, told, strict=True)
    }
    return {**_refused(names), **results}


def _written(spec: Spec) -> list[Case]:
    """Return some turns as models write them, one of a lone call among them."""
    written = [case for case in cases(spec) if case.rung == "1b"]
    lone = _lone_call(spec, written)
    return [lone, *(case for case in written[:: -(-len(written) // _SERVED)] if case is not lone)]


def _served_form(asked: Asked, written: Sequence[Case], folder: Path) -> dict[str, Any]:
    spec = asked.spec
    write_export(spec.name, "pair", folder)
    return {
        "name": spec.name,
        "plugin": str(folder / plugin_name(spec, "pair")),
        "template": template_text(spec.name),
        "response_template": dict(asked.template),
        "reasons": spec.reasoning.mode is not ReasoningMode.NONE,
        "specials": special_tokens(spec),
        "cases": [given(spec, case) for case in written],
        "calling": [_calling(spec, written)],
    }


def _calling(spec: Spec, written: Sequence[Case]) -> dict[str, Any]:
    """Return a turn of a lone call, with what of it is behind reasoning."""
    case, end = _lone_call(spec, written), spec.reasoning.end.strip()
    return {**given(spec, case), "behind": case.text.rpartition(end)[2] if end else case.text}


def _lone_call(spec: Spec, written: Sequence[Case]) -> Case:
    """Return the shortest turn of calls, behind reasoning that has an end, with nothing else.

    They are to tools whose names a grammar can have, if there are any.
    """
    reasons = bool(spec.reasoning.end.strip())
    alone = [case for case in written if case.wanted.calls and not case.wanted.content]
    alone.sort(key=lambda case: (bool(case.wanted.reasoning) is not reasons, len(case.text)))
    requests = ((case, GrammarRequest(case.tools)) for case in alone)
    bound = (c for c, asked in requests if isinstance(bind_grammar(spec, asked), BoundGrammar))
    return next(bound, alone[0])


def _served_result(
    asked: Asked, written: Sequence[Case], read: Mapping[str, Any]
) -> IntegrationResult:
    readings, failures = [], []
    for case, messages in zip(written, read["messages"], strict=True):
        for message in messages:
            reading = _reading(asked, case, message)
            readings.append(reading)
            if reading is Reading.WRONG:
                failures.append(f"{case.text!r} is {message}; {case.wanted}")
    for taken in read["required"]:
        readings.append(Reading.EXACT)
        if taken is not True:
            failures.append(f"the tag refuses a turn that calls: {taken}")
    return _result(asked, readings, failures)


def _reading(asked: Asked, case: Case, message: Any) -> Reading:
    """Compare what a server told, which leaves out what transformers raises at."""
    if isinstance(message, str):
        return Reading.WRONG
    reasoning, content, told = message
    identifiers = [identifier for _, _, identifier in case.wanted.calls]
    calls = [
        {"id": identifier, "function": {"name": name, "arguments": _loaded(arguments)}}
        for (name, arguments), identifier in zip(told, identifiers, strict=False)
    ]
    found = {"content": content.strip(), "thinking": reasoning.strip(), "tool_calls": calls}
    if len(told) != len(identifiers):
        dropped = SENTINELS in {loss.what for loss in asked.losses}
        odd = any(character in case.text for character in "\x01\x02")
        return Reading.LOOSE if dropped and odd else Reading.WRONG
    return reading_of(asked, case, found)


def _loaded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
