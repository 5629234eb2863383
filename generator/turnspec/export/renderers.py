"""renderers: a renderer class for reinforcement learning, which goes from tokens to tokens.

Written for version 0.1.12.
"""

from __future__ import annotations

from turnspec.export.exporting import Exported, ExportOptions, Refusal
from turnspec.export.plugin import plugin_files
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.spec.words import ReasoningMode, ReasoningScope

TARGET = "renderers"
_ABOUT = """\
Renderer of the package renderers, for the format {name}.

    [renderer]
    name = "custom"
    import_path = "{module}.py:Renderer"
"""

#: How long a template keeps reasoning, in the package's words for what may be bridged.
_RETENTION = {
    ReasoningScope.ALL: "all",
    ReasoningScope.SINCE_LAST_USER: "tool_cycle",
    ReasoningScope.LAST: "template",
    ReasoningScope.NONE: "template",
}


def export_renderers(spec: Spec, options: ExportOptions) -> Exported | Refusal:
    """Return a renderer with the parser that it needs."""
    if not spec.turn.header.strip():
        return Refusal("the turn's beginning", "the prompt shows no header of the assistant")
    reasons = spec.reasoning.mode is not ReasoningMode.NONE
    facts = {
        "HEADER": spec.turn.header,
        "STOP": stop_strings(spec),
        "TOKENS": tuple(spec.grammar.preserved_tokens),
        "FINAL": {end.last.value: end.final for end in spec.turn.ends},
        "ORDER": tuple(part.value for part in spec.turn.order),
        "REASONING_END": spec.reasoning.end,
        "OBJECT_ARGUMENTS": spec.capabilities.object_arguments,
        "RETENTION": _RETENTION[spec.reasoning.scope] if reasons else "all",
    }
    return Exported(plugin_files(spec, options, target=TARGET, about=_ABOUT, facts=facts))
