"""llama-cpp-python: a chat handler, for ``Llama(chat_handler=...)`` and for its server.

Written for version 0.3.36.
"""

from __future__ import annotations

from dataclasses import replace

from turnspec.export.exporting import Exported, ExportOptions, Refusal
from turnspec.export.plugin import plugin_files
from turnspec.grammar.triggers import trigger_patterns
from turnspec.grammar.turn_onward import prompt_extra
from turnspec.spec.model import Alternatives, Spec
from turnspec.spec.turn_end import stop_strings

TARGET = "llama-cpp-python"
_ABOUT = """\
Chat handler for llama-cpp-python, for the format {name}.

    from {module} import ChatHandler
    llama = llama_cpp.Llama("model.gguf", chat_handler=ChatHandler())

The server takes it by its name:

    python {module}.py --model model.gguf --chat_format {name}
"""


def export_llama_cpp_python(spec: Spec, options: ExportOptions) -> Exported | Refusal:
    """Return a chat handler with the parser and the spec that it needs."""
    prompts = {enable: spec.thinking.state(enable).prompt for enable in spec.thinking.choices}
    # A call that is begun in another way is found by its trigger alone.
    plain = replace(spec, alternatives=Alternatives())
    patterns = {key: trigger_patterns(plain, prompt_extra(spec, p)) for key, p in prompts.items()}
    facts = {
        "STOP": stop_strings(spec),
        "TRIGGERS": tuple(spec.grammar.triggers),
        "TRIGGER_PATTERNS": {key: found[0] for key, found in patterns.items() if found},
        "OBJECT_ARGUMENTS": spec.capabilities.object_arguments,
    }
    return Exported(plugin_files(spec, options, target=TARGET, about=_ABOUT, facts=facts))
