"""SGLang: a reasoning detector and a tool detector, which it finds by an entry point.

Written for version 0.5.23.
"""

from __future__ import annotations

from turnspec.export.exporting import Exported, ExportOptions, Refusal
from turnspec.export.plugin import plugin_files, plugin_part
from turnspec.grammar.turn_onward import opens_reasoning, prompt_extra
from turnspec.spec.model import Spec
from turnspec.spec.naming import module_name

TARGET = "sglang"
_ABOUT = """\
Detectors for SGLang, for the format {name}.

    PYTHONPATH=FOLDER sglang serve --model-path MODEL \\\\
        --tool-call-parser {name} --reasoning-parser {name}

FOLDER is where this file lies. A turn is read once, as a whole, if both parsers are given.
"""
#: What a folder on Python's path has to hold so that entry points in it are found.
_METADATA = """\
Metadata-Version: 2.1
Name: {distribution}
Version: 0
"""
_ENTRY_POINTS = """\
[sglang.srt.plugins]
{name} = {module}:register
"""
#: The variables of templates by which SGLang can tell whether a request wants reasoning.
_SWITCHES = ("enable_thinking", "thinking")


def export_sglang(spec: Spec, options: ExportOptions) -> Exported | Refusal:
    """Return a plugin with the parser and the spec that it needs, and its entry point."""
    reasoning = spec.reasoning
    facts = {
        "REASONING": (reasoning.start.strip(), reasoning.end.strip()),
        "REASONING_DEFAULT": _reasoning_default(spec),
    }
    files = plugin_files(spec, options, target=TARGET, about=_ABOUT, facts=facts)
    server, text = plugin_part(spec, options, TARGET, "server")
    return Exported({**files, server: text, **entry_point(spec, server.removesuffix(".py"))})


def entry_point(spec: Spec, module: str) -> dict[str, str]:
    """Return the files by which SGLang finds a plugin's module in a folder on Python's path."""
    installed = f"turnspec_{module_name(spec.name)}-0.dist-info"
    return {
        f"{installed}/METADATA": _METADATA.format(distribution=f"turnspec-{spec.name}"),
        f"{installed}/entry_points.txt": _ENTRY_POINTS.format(name=spec.name, module=module),
    }


def _reasoning_default(spec: Spec) -> str:
    """Return when a request has reasoning, in SGLang's words; "" if the model decides.

    SGLang asks only where it can't tell from the chat template.
    """
    for switch in _SWITCHES:
        if switch in spec.thinking.disabled.variables:
            return switch
        if switch in spec.thinking.enabled.variables:
            return f"explicit_{switch}"
    prompt = prompt_extra(spec, spec.thinking.default.prompt)
    return "always" if opens_reasoning(spec, prompt) else ""
