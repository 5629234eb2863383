"""Every format's vLLM plugin in vLLM's own classes, beside vLLM's own parser where it has one."""

from __future__ import annotations

import os
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
from tests.integrations.turns import Case, cases
from turnspec.export.plugin import plugin_name
from turnspec.spec.files import spec_hash
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.integration_results import ExportState, IntegrationResult, TargetRecord
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.server_results import read_servers

PACKAGES = [
    ["torch==2.13.0"],
    ["--no-deps", "vllm==0.33.0"],
    [
        *("transformers>=5.16.1,<5.21", "xgrammar==0.2.8", "openai", "fastapi<0.137", "gguf"),
        *("aiohttp", "anthropic", "blake3", "cachetools", "cbor2", "cloudpickle", "einops"),
        *("cohere-melody",),
        *("ijson", "jsonschema", "lark==1.2.2", "llguidance>=1.7,<1.8", "mcp", "mistral_common"),
        *("msgspec", "orjson", "oss-harmony", "partial-json-parser", "pillow", "prometheus_client"),
        *("prometheus-fastapi-instrumentator", "psutil", "py-cpuinfo", "pybase64", "pyyaml"),
        *("pydantic_extra_types", "python-json-logger", "pyzmq", "sentencepiece", "setproctitle"),
        *("tiktoken", "uvloop", "watchfiles"),
    ],
]
#: What their vocabularies hold beside the format's markers, where vLLM's parser insists on it.
MORE_TOKENS = {
    "meta-llama-llama-3-1-8b-instruct": ("<|python_tag|>",),
    "meta-llama-llama-3-2-11b-vision-instruct": ("<|python_tag|>",),
    "meta-llama-llama-3-2-3b-instruct": ("<|python_tag|>",),
    "poolside-laguna-xs-2": ("<assistant>",),
}
#: What their tokenizer_config.json says that vLLM's parser asks for.
OPTIONS = {"tencent-hy3": {"token_suffix": ":opensource"}}
_RUN = Path(__file__).with_name("vllm_run.py")
#: Where it finds turnspec, and these tests.
PATHS = (ROOT, ROOT / "generator")


def run_vllm(names: Sequence[str]) -> TargetRecord:
    """Read the turns of the named formats, and print what vLLM's own parsers made of them."""
    python = environment("vllm", PACKAGES)
    folder = FOLDER / "vllm-plugins"
    specs = {name: committed_format(name).spec for name in names}
    own = _own(specs)
    asked = {name: some(cases(spec)) for name, spec in specs.items()}
    forms = [{**_form(specs[name], asked[name], folder), "own": own.get(name)} for name in names]
    question = {"vocabulary": str(vocabulary()), "formats": forms}
    quiet = {"VLLM_LOGGING_LEVEL": "CRITICAL"}  # their own parsers say much
    variables = {**os.environ, **quiet, "PYTHONPATH": os.pathsep.join(map(str, PATHS))}
    told = read_on_all_cores([python, _RUN], question, variables)
    read = dict(zip(names, told, strict=True))
    results = {name: _result(specs[name], asked[name], read[name]) for name in names}
    print_comparison("vLLM", own, specs, asked, read)
    return TargetRecord(versions(python, ["vllm", "torch", "transformers", "xgrammar"]), results)


def _own(specs: Mapping[str, Spec]) -> dict[str, tuple[str | None, ...]]:
    """Return which of vLLM's own parsers read each format best, as was recorded of all of them."""
    records = read_servers(ROOT / "specs" / "servers.json")
    assert not isinstance(records, Problem), records
    known = records["vllm"].of if "vllm" in records else lambda *_: None
    found = {name: known(name, fingerprint(spec)) for name, spec in specs.items()}
    pairs = {name: result.parsers[0] for name, result in found.items() if result and result.parsers}
    return {name: tuple(part or None for part in pair) for name, pair in pairs.items() if any(pair)}


def _form(spec: Spec, asked: Sequence[Case], folder: Path) -> dict[str, Any]:
    own = folder / spec.name
    write_export(spec.name, "vllm", own)
    specials = special_tokens(spec)
    calling = [case for case in asked if case.wanted.calls and not case.wanted.content]
    marked = bool(spec.grammar.triggers) and all(
        any(special in trigger for special in specials) for trigger in spec.grammar.triggers
    )
    written = [case for case in calling if case.rung == "1b"]
    return {
        "name": spec.name,
        "plugin": str(own / plugin_name(spec, "vllm")),
        "specials": specials,
        "cases": [given(spec, case) for case in asked],
        "quoted": given(spec, calling[0]) if calling and marked else None,
        "required": given(spec, written[0]) if written else None,
        "more_tokens": MORE_TOKENS.get(spec.name, ()),
        "options": OPTIONS.get(spec.name, {}),
    }


def _result(spec: Spec, asked: Sequence[Case], read: Mapping[str, Any]) -> IntegrationResult:
    checks, failures = 0, []
    for way in ("tokens", "pieces", "real"):
        told = list(outcomes(spec, asked, read[way]))
        checks += len(told)
        failures += [f"{way}: {text}" for text in told if text]
    if "quoted" in read:
        checks += 1
        if isinstance(read["quoted"], str) or read["quoted"][2]:
            failures.append(f"a quoted call isn't text: {read['quoted']}")
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
