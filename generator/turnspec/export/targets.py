"""The targets by name. A new one is a module beside this one, and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from turnspec.export.exporting import Exported, ExportOptions, Refusal, Target
from turnspec.export.llama_cpp_python import export_llama_cpp_python
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
    ),
    Target(
        "renderers",
        "a renderer class for reinforcement learning, from tokens to tokens",
        export_renderers,
    ),
    Target(
        "response-template",
        "Hugging Face's response_template: transformers, TRL, vLLM's hf parser, SGLang's",
        export_response_template,
    ),
    Target(
        "sglang",
        "a plugin folder for SGLang: a reasoning parser and a tool parser",
        export_sglang,
    ),
    Target(
        "vllm",
        "a plugin file for vLLM: reasoning, tool calls, and whole turns",
        export_vllm,
    ),
    Target(
        "xgrammar",
        "a structural tag for xgrammar: the grammar for real tools, from the first call on",
        export_xgrammar,
    ),
)

TARGETS: Mapping[str, Target] = {target.name: target for target in _ALL}


def export_format(
    spec: Spec, target: str, options: ExportOptions | None = None
) -> Exported | Refusal:
    """Return a format as a target reads it, or why that target can't carry it.

    Args:
        spec: the format.
        target: a key of `TARGETS`.
        options: what the target may need beside the spec.

    Raises:
        KeyError: there is no such target.
    """
    return TARGETS[target].export(spec, options or ExportOptions())
