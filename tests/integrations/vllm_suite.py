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
from turnspec.spec.integration_results import ExportState, IntegrationResult, TargetRecord
from turnspec.spec.model import Spec

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
#: vLLM's own parsers for formats of ours, by what its documentation says, or else the model's:
#: tools, reasoning.
OWN: Mapping[str, tuple[str, str | None]] = {
    "ai21labs-ai21-jamba": ("jamba", None),
    "apertus-8b-instruct": ("apertus", None),
    "bytedance-seed-oss": ("seed_oss", "seed_oss"),
    "deepseek-ai-deepseek-r1-0528": ("deepseek_v3", "deepseek_r1"),
    "deepseek-ai-deepseek-v3-0324": ("deepseek_v3", None),
    "deepseek-ai-deepseek-v3-1": ("deepseek_v31", "deepseek_v3"),
    "deepseek-ai-deepseek-v3-2": ("deepseek_v32", "deepseek_v3"),
    "deepseek-ai-deepseek-v3-2-exp": ("deepseek_v31", "deepseek_v3"),
    "deepseek-ai-deepseek-v4": ("deepseek_v4", "deepseek_v4"),
    "glm-4-6": ("glm45", "glm45"),
    "glm-4-7-flash": ("glm47", "glm47"),
    "google-functiongemma-270m-it": ("functiongemma", None),
    "google-gemma-3-pythonic": ("pythonic", None),
    "google-gemma-4-31b-it": ("gemma4", "gemma4"),
    "ibm-granite-20b-functioncalling": ("granite-20b-fc", None),
    "ibm-granite-granite-3-0-8b-instruct": ("granite", None),
    "ibm-granite-granite-3-3-2b-instruct": ("granite", "granite"),
    "ibm-granite-granite-4-0": ("granite4", None),
    "inclusionai-ling-3-0-flash": ("ling3", "ling3"),
    "internlm-internlm2-5-7b-chat": ("internlm", None),
    "kimi-k2-instruct": ("kimi_k2", None),
    "kimi-k2-thinking": ("kimi_k2", "kimi_k2"),
    "kimi-k3": ("kimi_k3", "kimi_k3"),
    "lfm2-8b-a1b": ("lfm2", None),
    "lgai-exaone-4-0": ("hermes", "deepseek_r1"),
    "meta-llama-llama-3-1-8b-instruct": ("llama3_json", None),
    "meta-llama-llama-3-2-pythonic": ("pythonic", None),
    "meta-llama-llama-4-pythonic": ("llama4_pythonic", None),
    "microsoft-phi-4-mini-instruct": ("phi4_mini_json", None),
    "minimax-m2": ("minimax_m2", "minimax_m2"),
    "minimax-m3": ("minimax_m3", "minimax_m3"),
    "mistralai-mistral-7b-instruct-v0-3": ("mistral", None),
    "moonshotai-kimi-k2-5": ("kimi_k2", "kimi_k2"),
    "muse-glimmer": ("muse_glimmer", "muse_glimmer"),
    "nousresearch-hermes-3-llama-3-1-8b-tool-use": ("hermes", None),
    "nvidia-nemotron-3-nano-30b-a3b-bf16": ("qwen3_coder", "nemotron_v3"),
    "nvidia-nemotron-3-super": ("qwen3_coder", "nemotron_v3"),
    "poolside-laguna-xs-2": ("poolside_v1", "poolside_v1"),
    "qwen-qwen2-5-7b-instruct": ("hermes", None),
    "qwen-qwen3-0-6b": ("hermes", "qwen3"),
    "qwen-qwen3-6": ("qwen3_coder", "qwen3"),
    "qwen-qwen3-instruct-2507": ("hermes", None),
    "qwen-qwen3-thinking-2507": ("hermes", "qwen3"),
    "qwen-qwq-32b": ("hermes", "deepseek_r1"),
    "qwen3-5-4b": ("qwen3_coder", "qwen3"),
    "qwen3-coder": ("qwen3_coder", None),
    "salesforce-llama-xlam-2-8b-fc-r": ("xlam", None),
    "salesforce-xlam-2-32b-fc-r": ("xlam", None),
    "stepfun3-5-flash": ("step3p5", "step3p5"),
    "team-ace-toolace-8b": ("pythonic", None),
    "tencent-hunyuan-a13b-instruct": ("hunyuan_a13b", "hunyuan_a13b"),
    "tencent-hy3": ("hy_v3", "hy_v3"),
    "zai-org-glm-4-5": ("glm45", "glm45"),
    "zai-org-glm-5-1": ("glm47", "glm47"),
}
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
    asked = {name: some(cases(spec)) for name, spec in specs.items()}
    forms = [_form(specs[name], asked[name], folder) for name in names]
    question = {"vocabulary": str(vocabulary()), "formats": forms}
    quiet = {"VLLM_LOGGING_LEVEL": "CRITICAL"}  # their own parsers say much
    variables = {**os.environ, **quiet, "PYTHONPATH": os.pathsep.join(map(str, PATHS))}
    told = read_on_all_cores([python, _RUN], question, variables)
    read = dict(zip(names, told, strict=True))
    results = {name: _result(specs[name], asked[name], read[name]) for name in names}
    print_comparison("vLLM", OWN, specs, asked, read)
    return TargetRecord(versions(python, ["vllm", "torch", "transformers", "xgrammar"]), results)


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
        "own": OWN.get(spec.name),
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
