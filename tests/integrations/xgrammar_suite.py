"""Every format's structural tag in xgrammar: it takes turns with calls, and none of unknown tools.

The turns are those of rung 1b. Beside them go the same turns with another tool's name in them,
which the engine has to refuse, but in prose where only a turn's beginning is a call.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.generated_formats import committed_format
from tests.integrations.environments import environment, versions
from tests.integrations.turns import Case, cases
from turnspec.export.exporting import Refusal
from turnspec.export.xgrammar import structural_tag
from turnspec.grammar.request import GrammarRequest
from turnspec.grammar.triggers import begins_turn
from turnspec.spec.files import spec_hash
from turnspec.spec.integration_results import ExportState, IntegrationResult, TargetRecord
from turnspec.spec.model import Spec

PACKAGES = ["xgrammar==0.2.8", "torch==2.13.0", "transformers==5.23.0"]
UNKNOWN = "unknown_tool"
_RUN = Path(__file__).with_name("xgrammar_run.py")
_TURNS = 8
_LONGEST = 400  # characters of an example


def run_xgrammar(names: Sequence[str]) -> TargetRecord:
    """Compile the tags of the named formats, and ask about turns."""
    python = environment("xgrammar", [PACKAGES])
    specs = {name: committed_format(name).spec for name in names}
    asked = {name: list(_asked(spec)) for name, spec in specs.items() if spec.tools}
    given = [one for found in asked.values() for one in found]
    done = subprocess.run(
        [python, _RUN], input=json.dumps(given), stdout=subprocess.PIPE, text=True, check=True
    )
    told = iter(json.loads(done.stdout))
    results = {name: _result(specs[name], asked[name], told) for name in asked}
    for name in specs.keys() - asked.keys():
        why = ("tools: the format has no tool calls",)
        results[name] = IntegrationResult(spec_hash(specs[name]), ExportState.REFUSED, losses=why)
    return TargetRecord(versions(python, ["xgrammar"]), results)


def _asked(spec: Spec) -> Iterator[dict[str, Any]]:
    """Yield tags with texts, and which of these it should take."""
    turns = [case for case in cases(spec) if case.rung == "1b" and case.wanted.calls]
    for case in turns[:_TURNS]:
        # Where nothing switches thinking, one prompt is both, and a turn may reason behind it.
        thinking = case.thinking or bool(case.wanted.reasoning)
        request = GrammarRequest(tools=case.tools, parallel=True, thinking=thinking)
        tag = structural_tag(spec, request)
        assert not isinstance(tag, Refusal), tag
        other = _of_another_tool(case)
        wanted = [True, False, begins_turn(spec)]
        yield {"tag": tag, "texts": [case.text, other, f"As in: {other}"], "wanted": wanted}


def _of_another_tool(case: Case) -> str:
    return case.text.replace(case.wanted.calls[0][0], UNKNOWN)


def _result(spec: Spec, asked: Sequence[dict[str, Any]], told: Iterator[Any]) -> IntegrationResult:
    failures = []
    for given in asked:
        found = next(told)
        if isinstance(found, str):
            failures += [found] * len(given["texts"])
            continue
        for text, wanted, taken in zip(given["texts"], given["wanted"], found, strict=True):
            if wanted != taken:
                failures.append(f"{'takes' if taken else 'refuses'} {text!r}")
    checks = sum(len(given["texts"]) for given in asked)
    return IntegrationResult(
        spec_hash(spec),
        ExportState.EXPORTED,
        checks=checks,
        passed=checks - len(failures),
        example=min(failures, key=len, default="")[:_LONGEST],
    )
