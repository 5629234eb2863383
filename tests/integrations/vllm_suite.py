"""Every format's vLLM plugin in vLLM's own classes, beside vLLM's own parser where it has one."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.exported_plugins import exported
from tests.generated_formats import ROOT, committed_format
from tests.integrations.environments import FOLDER, environment, versions
from tests.integrations.turns import Case, cases
from turnspec.export.plugin import plugin_name
from turnspec.sources.cache import cache_folder
from turnspec.spec.files import spec_hash
from turnspec.spec.integration_results import ExportState, IntegrationResult, TargetRecord
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.verification.comparing import Said, trims_strings

PACKAGES = [
    ["torch==2.13.0"],
    ["--no-deps", "vllm==0.33.0"],
    [
        *("transformers>=5.16.1,<5.21", "xgrammar==0.2.8", "openai", "fastapi<0.137", "gguf"),
        *("aiohttp", "anthropic", "blake3", "cachetools", "cbor2", "cloudpickle", "einops"),
        *("ijson", "jsonschema", "lark==1.2.2", "llguidance>=1.7,<1.8", "mcp", "mistral_common"),
        *("msgspec", "orjson", "oss-harmony", "partial-json-parser", "pillow", "prometheus_client"),
        *("prometheus-fastapi-instrumentator", "psutil", "py-cpuinfo", "pybase64", "pyyaml"),
        *("pydantic_extra_types", "python-json-logger", "pyzmq", "sentencepiece", "setproctitle"),
        *("tiktoken", "uvloop", "watchfiles"),
    ],
]
#: vLLM's own parsers for formats of ours, by what its documentation says: tools, reasoning.
OWN: Mapping[str, tuple[str, str | None]] = {
    "bytedance-seed-oss": ("seed_oss", "seed_oss"),
    "deepseek-ai-deepseek-v3-1": ("deepseek_v31", "deepseek_v3"),
    "deepseek-ai-deepseek-v3-2": ("deepseek_v32", "deepseek_v3"),
    "deepseek-ai-deepseek-v4": ("deepseek_v4", "deepseek_v4"),
    "glm-4-6": ("glm45", "glm45"),
    "glm-4-7-flash": ("glm47", "glm47"),
    "google-gemma-4-31b-it": ("gemma4", "gemma4"),
    "ibm-granite-granite-3-3-2b-instruct": ("granite", "granite"),
    "ibm-granite-granite-4-0": ("granite4", None),
    "inclusionai-ling-3-0-flash": ("ling3", "ling3"),
    "kimi-k2-instruct": ("kimi_k2", None),
    "kimi-k2-thinking": ("kimi_k2", "kimi_k2"),
    "lfm2-8b-a1b": ("lfm2", None),
    "meta-llama-llama-3-1-8b-instruct": ("llama3_json", None),
    "minimax-m2": ("minimax_m2", "minimax_m2"),
    "minimax-m3": ("minimax_m3", "minimax_m3"),
    "nousresearch-hermes-3-llama-3-1-8b-tool-use": ("hermes", None),
    "nvidia-nemotron-3-nano-30b-a3b-bf16": ("qwen3_coder", "nemotron_v3"),
    "poolside-laguna-xs-2": ("poolside_v1", "poolside_v1"),
    "qwen-qwen2-5-7b-instruct": ("hermes", None),
    "qwen-qwen3-0-6b": ("hermes", "qwen3"),
    "qwen-qwq-32b": ("hermes", "deepseek_r1"),
    "qwen3-5-4b": ("qwen3_coder", "qwen3"),
    "qwen3-coder": ("qwen3_coder", None),
    "stepfun3-5-flash": ("step3p5", "step3p5"),
    "tencent-hy3": ("hy_v3", "hy_v3"),
}
#: What their vocabularies hold beside the format's markers, where vLLM's parser insists on it.
MORE_TOKENS = {"meta-llama-llama-3-1-8b-instruct": ("<|python_tag|>",)}
_RUN = Path(__file__).with_name("vllm_run.py")
_VOCABULARY = "vendor/llama.cpp/models/ggml-vocab-gpt-2.gguf"
_LONGEST = 400
_CASES = 22


def run_vllm(names: Sequence[str]) -> TargetRecord:
    """Read the turns of the named formats, and print what vLLM's own parsers made of them."""
    python = environment("vllm", PACKAGES)
    folder = FOLDER / "vllm-plugins"
    specs = {name: committed_format(name).spec for name in names}
    asked = {name: _some(cases(spec)) for name, spec in specs.items()}
    forms = [_form(specs[name], asked[name], folder) for name in names]
    given = json.dumps({"vocabulary": str(vocabulary()), "formats": forms})
    quiet = {"VLLM_LOGGING_LEVEL": "CRITICAL"}  # their own parsers say much
    variables = {**os.environ, **quiet, "PYTHONPATH": str(ROOT / "generator")}
    done = subprocess.run(
        [python, _RUN], input=given, stdout=subprocess.PIPE, text=True, check=True, env=variables
    )
    read = dict(zip(names, json.loads(done.stdout), strict=True))
    results = {name: _result(specs[name], asked[name], read[name]) for name in names}
    _tell(specs, asked, read)
    return TargetRecord(versions(python, ["vllm", "torch", "transformers", "xgrammar"]), results)


def vocabulary() -> Path:
    """Return a real vocabulary, out of the archive that the reference templates are from."""
    path = FOLDER / Path(_VOCABULARY).name
    if not path.is_file():
        (archive,) = cache_folder().glob("llama_cpp_python-*.tar.gz")
        with tarfile.open(archive) as opened:
            member = next(item for item in opened if item.name.endswith(_VOCABULARY))
            file = opened.extractfile(member)
            assert file is not None
            path.write_bytes(file.read())
    return path


def special_tokens(spec: Spec) -> list[str]:
    """Return the markers that are tokens of their own in the vocabulary of the format's models.

    Those that hold another one are several tokens.
    """
    marks = (spec.reasoning.start.strip(), spec.reasoning.end.strip())
    found = {*spec.grammar.preserved_tokens, *stop_strings(spec), *marks} - {""}
    return sorted(text for text in found if not any(o in text for o in found - {text}))


def _form(spec: Spec, asked: Sequence[Case], folder: Path) -> dict[str, Any]:
    own = folder / spec.name
    own.mkdir(parents=True, exist_ok=True)
    for file, text in exported(spec.name, "vllm").items():
        (own / file).write_text(text, encoding="utf-8")
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
        "cases": [_given(spec, case) for case in asked],
        "quoted": _given(spec, calling[0]) if calling and marked else None,
        "required": _given(spec, written[0]) if written else None,
        "own": OWN.get(spec.name),
        "more_tokens": MORE_TOKENS.get(spec.name, ()),
    }


def _some(asked: Sequence[Case]) -> list[Case]:
    """Return as many cases as can be read in some minutes, from the beginning to the end."""
    return list(asked[:: -(-len(asked) // _CASES)])


def _given(spec: Spec, case: Case) -> dict[str, Any]:
    text = case.text.rstrip()
    stop = next((stop for stop in stop_strings(spec) if text.endswith(stop)), "")
    return {
        "prefill": case.prefill,
        "text": case.text,
        "ended": text.removesuffix(stop) if stop else case.text,
        "tools": case.tools,
        "thinking": case.thinking,
    }


def _result(spec: Spec, asked: Sequence[Case], read: Mapping[str, Any]) -> IntegrationResult:
    checks, failures = 0, []
    for way in ("tokens", "pieces", "real"):
        told = list(_outcomes(spec, asked, read[way]))
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
        example=min(failures, key=len, default="")[:_LONGEST],
    )


def _outcomes(
    spec: Spec, asked: Sequence[Case], read: Any, *, lenient: bool = False
) -> Iterator[str]:
    """Yield for each case and way to read it what is wrong, "" if nothing is.

    If ``lenient``, white space at the ends of content and reasoning may be any.
    """
    if isinstance(read, str):
        yield from (read for _ in asked)
        return
    for case, messages in zip(asked, read["messages"], strict=True):
        for message in messages:
            got = message if isinstance(message, str) else _said(spec, *message)
            wanted = _without_ids(case.wanted)
            if lenient and isinstance(got, Said):
                got, wanted = _stripped(got), _stripped(wanted)
            yield "" if got == wanted else f"wrote {case.text!r}, wanted {wanted}, got {got}"


def _without_ids(said: Said) -> Said:
    return Said(said.content, said.reasoning, tuple((*call[:2], "") for call in said.calls))


def _stripped(said: Said) -> Said:
    return Said(said.content.strip(), said.reasoning.strip(), said.calls)


def _said(spec: Spec, reasoning: str, content: str, calls: Sequence[Sequence[str]]) -> Said:
    """Return what a message of vLLM says."""
    trims, shown = trims_strings(spec), []
    for name, arguments in calls:
        try:
            loaded = json.loads(arguments)
        except ValueError:
            shown.append((name, arguments, ""))
            continue
        if trims and isinstance(loaded, dict):
            loaded = {k: v.strip() if isinstance(v, str) else v for k, v in loaded.items()}
        shown.append((name, json.dumps(loaded, sort_keys=True, ensure_ascii=False), ""))
    return Said(content, reasoning, tuple(shown))


def _tell(specs: Mapping[str, Spec], asked: Mapping[str, Any], read: Mapping[str, Any]) -> None:
    """Print, as rows of a table, what vLLM's own parsers and ours made of the same turns."""
    rows = ["| format | vLLM's parsers | theirs | ours | their µs | ours | what theirs do |"]
    rows.append("| --- | --- | --- | --- | --- | --- | --- |")
    for name in (name for name in read if "own" in read[name]):
        ways = [read[name][way] for way in ("own", "real")]
        told = [list(_outcomes(specs[name], asked[name], way, lenient=True)) for way in ways]
        counts = [f"{found.count('')}/{len(found)}" for found in told]
        times = ["-" if isinstance(w, str) else f"{w['seconds'] * 1e6:.0f}" for w in ways]
        example = min(filter(None, told[0]), key=len, default="")[:_LONGEST]
        parsers = " + ".join(filter(None, OWN[name]))
        rows.append(f"| `{name}` | {parsers} | {' | '.join([*counts, *times, example])} |")
    if len(rows) > 2:
        print("\n".join(rows))
