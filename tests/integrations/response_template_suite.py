"""Every format's `response_template` in transformers' own parser: rungs 1, 1b and 2."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.generated_formats import committed_format
from tests.integrations.environments import environment, versions
from tests.integrations.turns import Case, cases
from turnspec.export.exporting import ExportOptions, Refusal
from turnspec.export.response_template import response_template
from turnspec.spec.files import spec_hash
from turnspec.spec.integration_results import ExportState, IntegrationResult, TargetRecord
from turnspec.spec.model import Spec
from turnspec.verification.comparing import Said, has_ids, trims_strings

PACKAGES = ["transformers==5.23.0", "jinja2"]
_RUN = Path(__file__).with_name("response_template_run.py")
_LONGEST = 400


def run_response_template(names: Sequence[str]) -> TargetRecord:
    """Read the turns of the named formats."""
    python = environment("transformers", [PACKAGES])
    specs = {name: committed_format(name).spec for name in names}
    templates = {name: response_template(spec, ExportOptions()) for name, spec in specs.items()}
    asked = {n: cases(specs[n]) for n, found in templates.items() if not isinstance(found, Refusal)}
    given = [
        {"template": templates[name], "cases": list(map(_given, asked[name]))} for name in asked
    ]
    done = subprocess.run(
        [python, _RUN], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    read = dict(zip(asked, json.loads(done.stdout), strict=True))
    results = {}
    for name, spec in specs.items():
        found = templates[name]
        if isinstance(found, Refusal):
            results[name] = IntegrationResult(
                spec_hash(spec), ExportState.REFUSED, losses=(str(found),)
            )
        else:
            results[name] = _result(spec, asked[name], read[name])
    return TargetRecord(versions(python, ["transformers"]), results)


def _given(case: Case) -> dict[str, Any]:
    return {"prefix": case.prefill, "text": case.text, "tools": case.tools}


def _result(spec: Spec, asked: Sequence[Case], read: Sequence[Any]) -> IntegrationResult:
    failures = list(_failures(spec, asked, read))
    shortest = min(failures, key=len, default="")
    passed = len(asked) - len(failures)
    return IntegrationResult(
        spec_hash(spec), ExportState.EXPORTED, len(asked), passed, example=shortest[:_LONGEST]
    )


def _failures(spec: Spec, asked: Sequence[Case], read: Sequence[Any]) -> Iterator[str]:
    for case, found in zip(asked, read, strict=True):
        message = found["message"]
        got = message if isinstance(message, str) else _said(spec, message)
        if got != case.wanted:
            yield f"rung {case.rung}: wrote {case.text!r}, wanted {case.wanted}, got {got}"
        elif not found["same"]:
            yield f"rung 2: in pieces {case.text!r} is read otherwise than whole"


def _said(spec: Spec, message: dict[str, Any]) -> Said:
    """Return what a message of transformers says."""
    trims, shows_id = trims_strings(spec), has_ids(spec)
    calls = []
    for call in message.get("tool_calls", []):
        function = call["function"]
        arguments = function["arguments"]
        if trims and isinstance(arguments, dict):
            arguments = {k: v.strip() if isinstance(v, str) else v for k, v in arguments.items()}
        shown = json.dumps(arguments, sort_keys=True, ensure_ascii=False)
        calls.append((function["name"], shown, call.get("id", "") if shows_id else ""))
    return Said(message.get("content", ""), message.get("thinking", ""), tuple(calls))
