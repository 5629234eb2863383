"""vLLM: one file with a reasoning parser, a tool parser, and a parser of whole turns.

Written for version 0.33.
"""

from __future__ import annotations

from turnspec.export.exporting import Exported, ExportOptions, Refusal
from turnspec.export.plugin import plugin_files
from turnspec.spec.model import Spec

TARGET = "vllm"
_ABOUT = """\
Parsers for vLLM, for the format {name}.

    vllm serve MODEL --enable-auto-tool-choice \\\\
        --tool-parser-plugin {file} --tool-call-parser {name} \\\\
        --reasoning-parser-plugin {file} --reasoning-parser {name}

A turn is read once, as a whole, if both parsers are given. Markers that are special tokens of the
model count only where the model wrote these tokens.
"""


def export_vllm(spec: Spec, options: ExportOptions) -> Exported | Refusal:
    """Return a plugin with the parser and the spec that it needs."""
    reasoning = spec.reasoning
    marks = (reasoning.start.strip(), reasoning.end.strip())
    states = (spec.thinking.enabled, spec.thinking.disabled)
    facts = {
        "REASONING": tuple((mark,) if mark else () for mark in marks),
        "PROMPTS": tuple((dict(s.variables), s.prompt) for s in states if s.variables),
    }
    return Exported(plugin_files(spec, options, target=TARGET, about=_ABOUT, facts=facts))
