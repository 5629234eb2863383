"""Every format's SGLang plugin in SGLang's own classes, beside SGLang's own parsers for it.

Which these are, SGLang says itself: it detects them in the chat template.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.exported_plugins import write_export
from tests.generated_formats import ROOT, committed_format
from tests.integrations.environments import FOLDER, environment, versions
from tests.integrations.served_turns import (
    LONGEST,
    given,
    outcomes,
    print_comparison,
    read_on_all_cores,
    some,
    special_tokens,
    vocabulary,
)
from tests.integrations.turns import Case, cases, template_text
from turnspec.spec.files import spec_hash
from turnspec.spec.integration_results import ExportState, IntegrationResult, TargetRecord
from turnspec.spec.model import Spec
from turnspec.spec.words import ReasoningMode

PACKAGES = [
    ["torch==2.13.0"],
    ["--no-deps", "sglang==0.5.23"],
    [
        *("transformers==5.19.0", "xgrammar==0.2.7", "openai==2.8.0", "fastapi", "gguf"),
        *("aiohttp", "compressed-tensors", "dill", "einops", "interegular", "ipython"),
        *("llguidance>=1.7.6,<2", "mistral_common", "msgspec", "openai-harmony==0.0.4", "orjson"),
        *("partial-json-parser", "pillow", "prometheus-client", "psutil", "pybase64"),
        *("python-multipart", "pyyaml", "pyzmq", "regex", "requests", "sentencepiece==0.2.1"),
        *("setproctitle", "tiktoken", "triton", "uvicorn", "uvloop", "xxhash"),
    ],
]
_RUN = Path(__file__).with_name("sglang_run.py")


def run_sglang(names: Sequence[str]) -> TargetRecord:
    """Read the turns of the named formats, and print what SGLang's own parsers made of them."""
    python = environment("sglang", PACKAGES)
    folder = FOLDER / "sglang-plugins"
    shutil.rmtree(folder, ignore_errors=True)
    specs = {name: committed_format(name).spec for name in names}
    asked = {name: some(cases(spec)) for name, spec in specs.items()}
    forms = [_form(specs[name], asked[name], folder) for name in names]
    question = {"folder": str(folder), "vocabulary": str(vocabulary()), "formats": forms}
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "generator")))
    variables = {**os.environ, "PYTHONPATH": paths}
    told = read_on_all_cores([python, "-W", "ignore", _RUN], question, variables)
    read = dict(zip(names, told, strict=True))
    results = {name: _result(specs[name], asked[name], read[name]) for name in names}
    own = {name: found["names"] for name, found in read.items() if "names" in found}
    print_comparison("SGLang", own, specs, asked, read)
    return TargetRecord(versions(python, ["sglang", "torch", "transformers", "xgrammar"]), results)


def _form(spec: Spec, asked: Sequence[Case], folder: Path) -> dict[str, Any]:
    write_export(spec.name, "sglang", folder)
    calling = [case for case in asked if case.wanted.calls and not case.wanted.content]
    written = [case for case in calling if case.rung == "1b"]
    return {
        "name": spec.name,
        "template": template_text(spec.name),
        "reasons": spec.reasoning.mode is not ReasoningMode.NONE,
        "specials": special_tokens(spec),
        "cases": [given(spec, case) for case in asked],
        "required": given(spec, written[0]) if written else None,
    }


def _result(spec: Spec, asked: Sequence[Case], read: Mapping[str, Any]) -> IntegrationResult:
    checks, failures = 0, []
    for way in ("pieces", "real"):
        told = list(outcomes(spec, asked, read[way]))
        checks += len(told)
        failures += [f"{way}: {text}" for text in told if text]
    if "required" in read:
        checks += 1
        if read["required"] is not True:
            failures.append(f"the grammar refuses a turn that calls: {read['required']}")
    return IntegrationResult(
        spec_hash(spec),
        ExportState.EXPORTED,
        checks,
        checks - len(failures),
        example=min(failures, key=len, default="")[:LONGEST],
    )
