"""The targets by name. A new one is a module beside this one, and a line here."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from turnspec.export.exporting import Exported, ExportOptions, Refusal, Target
from turnspec.export.llama_cpp_python import export_llama_cpp_python
from turnspec.export.llguidance import export_llguidance
from turnspec.export.pair import export_pair
from turnspec.export.plugin import plugin_name
from turnspec.export.renderers import export_renderers
from turnspec.export.response_template import export_response_template
from turnspec.export.sglang import export_sglang
from turnspec.export.vllm import export_vllm
from turnspec.export.xgrammar import export_xgrammar
from turnspec.spec.model import Spec

_ALL = (
    Target(
        "llama-cpp-python",
        "a chat handler for Llama(chat_handler=...) and for its server",
        export_llama_cpp_python,
        "python {file} --model MODEL.gguf --chat_format {name}",
    ),
    Target(
        "llguidance",
        "a grammar for real tools in llguidance's Lark, with markers as tokens",
        export_llguidance,
        "in Python: llguidance.LLMatcher(tokenizer, open({grammar}).read())",
    ),
    Target(
        "pair",
        "a response_template and xgrammar's structural tag, held to each other: vLLM, SGLang",
        export_pair,
        "turnspec export {asked} --to response-template "
        "--tokenizer-config MODEL/tokenizer_config.json && "
        "vllm serve MODEL --enable-auto-tool-choice "
        "--tool-parser-plugin {file} --tool-call-parser {name} "
        "--reasoning-parser-plugin {file} --reasoning-parser {name}",
    ),
    Target(
        "renderers",
        "a renderer class for reinforcement learning, from tokens to tokens",
        export_renderers,
        "in renderers' configuration: name = custom, import_path = {file}:Renderer",
    ),
    Target(
        "response-template",
        "Hugging Face's response_template: transformers, TRL, vLLM's hf parser, SGLang's",
        export_response_template,
        "turnspec export {asked} --to response-template "
        "--tokenizer-config MODEL/tokenizer_config.json && transformers serve MODEL",
    ),
    Target(
        "sglang",
        "a plugin folder for SGLang: a reasoning parser and a tool parser",
        export_sglang,
        "PYTHONPATH={folder} sglang serve --model-path MODEL "
        "--tool-call-parser {name} --reasoning-parser {name}",
    ),
    Target(
        "vllm",
        "a plugin file for vLLM: reasoning, tool calls, and whole turns",
        export_vllm,
        "vllm serve MODEL --enable-auto-tool-choice "
        "--tool-parser-plugin {file} --tool-call-parser {name} "
        "--reasoning-parser-plugin {file} --reasoning-parser {name}",
    ),
    Target(
        "xgrammar",
        "a structural tag for xgrammar: the grammar for real tools, from the first call on",
        export_xgrammar,
        'curl localhost:8000/v1/chat/completions --json "$(jq -n --slurpfile tag '
        '{folder}/structural_tag.json \'{{model: "MODEL", response_format: $tag[0], '
        'messages: [{{role: "user", content: "Hi"}}]}}\')"',
    ),
)

TARGETS: Mapping[str, Target] = {target.name: target for target in _ALL}


def export_format(
    spec: Spec, target: str, options: ExportOptions | None = None
) -> Exported | Refusal:
    """Return a format as a key of `TARGETS` reads it, or why that can't. Raises KeyError."""
    return TARGETS[target].export(spec, options or ExportOptions())


def start_line(
    spec: Spec, target: str, folder: Path, asked: str = "", *, in_model: bool = False
) -> str:
    """Return the line that has a program use what was exported to it into a folder.

    ``asked`` is what turnspec's commands call the format: by default its name. ``in_model``: the
    folder is the model's own, whose configuration holds the template already.
    """
    file = folder / plugin_name(spec, target)
    paths = {"folder": str(folder), "file": str(file), "asked": asked or spec.name}
    places = {key: shlex.quote(path) for key, path in paths.items()}
    places["grammar"] = repr(str(folder / "grammar.lark"))
    line = TARGETS[target].start.format(name=spec.name, **places)
    return line.rpartition(" && ")[2].replace("MODEL", places["folder"]) if in_model else line
