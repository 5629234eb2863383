"""Every format's renderer in the package renderers: turns from their tokens, and the next prompt.

A bridge has to keep all tokens before it, and to say behind the turn what the template says there:
the end of the turn, a next message (a tool's result, or the user's) and the generation prompt.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.generated_formats import ROOT, committed_format
from tests.integrations.environments import environment, versions
from tests.integrations.turns import Case, cases, template_text
from turnspec.export.exporting import ExportOptions, Refusal
from turnspec.export.renderers import export_renderers
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.files import spec_hash
from turnspec.spec.integration_results import ExportState, IntegrationResult, TargetRecord
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings

# What renderers imports of its client it doesn't ask for.
PACKAGES = ["renderers==0.1.12", "transformers==5.23.0", "jinja2", "httpx"]
ASKED = "What about tomorrow?"
_RUN = Path(__file__).with_name("renderers_run.py")
_TURNS = 24
_LONGEST = 400  # characters of an example


def run_renderers(names: Sequence[str]) -> TargetRecord:
    """Read and bridge turns of the named formats."""
    python = environment("renderers", [PACKAGES])
    specs = {name: committed_format(name).spec for name in names}
    turns = {
        name: [c for c in cases(spec) if c.rung == "1b"][:_TURNS] for name, spec in specs.items()
    }
    with TemporaryDirectory() as folder:
        given = [_given(spec, turns[name], Path(folder)) for name, spec in specs.items()]
        done = subprocess.run(
            [python, _RUN], input=json.dumps(given), stdout=subprocess.PIPE, text=True, check=True
        )
    read = json.loads(done.stdout)
    results = {
        name: _result(spec, turns[name], found)
        for (name, spec), found in zip(specs.items(), read, strict=True)
    }
    return TargetRecord(versions(python, ["renderers", "transformers"]), results)


def _given(spec: Spec, turns: Sequence[Case], folder: Path) -> dict[str, Any]:
    module = (ROOT / OutputPaths.in_project(spec.name).module).read_text(encoding="utf-8")
    exported = export_renderers(spec, ExportOptions(module=module))
    assert not isinstance(exported, Refusal), exported
    for name, text in exported.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    template = template_text(spec.name)
    asked = [_case(spec, case) for case in turns]
    return {
        "path": f"{folder / list(exported.files)[-1]}:Renderer",
        "template": template,
        "named": {key: token.text for key, token in spec.tokens.items()},
        "tokens": _tokens(spec),
        "texts": [template, ASKED, *(case["prefill"] + case["text"] for case in asked)],
        "cases": asked,
    }


def _tokens(spec: Spec) -> list[str]:
    """Return what a tokenizer has as special tokens: a stop that is made of several is none."""
    known = spec.grammar.preserved_tokens
    stops = [stop for stop in stop_strings(spec) if not any(token in stop for token in known)]
    return list(dict.fromkeys([*known, *stops]))


def _case(spec: Spec, case: Case) -> dict[str, Any]:
    results = [
        {"role": "tool", "tool_call_id": identifier or f"call_{at}", "name": name, "content": ASKED}
        for at, (name, _, identifier) in enumerate(case.wanted.calls)
    ]
    asked = results or [{"role": "user", "content": ASKED}]
    return {
        "prefill": case.prefill,
        "text": case.text,
        "tools": case.tools,
        "next": asked,
        "arguments": {} if spec.capabilities.object_arguments else "{}",  # as templates want them
    }


def _result(
    spec: Spec, turns: Sequence[Case], read: Sequence[Mapping[str, Any]]
) -> IntegrationResult:
    failures = []
    bridged = 0
    for case, found in zip(turns, read, strict=True):
        fault = _fault(spec, case, found)
        bridged += bool(found.get("bridged"))
        if fault:
            failures.append(f"{fault}: behind {case.prefill!r} {case.text!r}")
    return IntegrationResult(
        spec_hash(spec),
        ExportState.EXPORTED,
        checks=len(turns),
        passed=len(turns) - len(failures),
        bridged=bridged,
        example=min(failures, key=len, default="")[:_LONGEST],
    )


def _fault(spec: Spec, case: Case, found: Mapping[str, Any]) -> str:
    """Return what is wrong with what came of a turn, "" if nothing is."""
    if "raised" in found:
        return f"raises {found['raised']}"
    texts = (found["content"].strip(), found["reasoning"].strip())
    if texts != (case.wanted.content, case.wanted.reasoning):
        return f"reads {texts}"
    wanted = [(name, json.loads(text)) for name, text, _ in case.wanted.calls]
    if [(name, arguments) for name, arguments, _, _ in found["calls"]] != wanted:
        return f"reads {found['calls']}"
    if not found["bridged"]:
        return ""
    if not found["kept"]:
        return "a bridge changes tokens"
    text = found["text"]
    if ASKED not in text or text.rpartition(ASKED)[2] != found["ending"]:
        return f"a bridge ends with {text[-120:]!r}"
    if not found["as_rendered"]:
        return f"a bridge begins otherwise than the template: {text[-200:]!r}"
    return "" if found["attributed"] else "a bridge attributes nothing"
