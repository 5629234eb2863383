"""A pair: a `response_template`, and a structural tag that lets through what the template reads.

The tag is for any request: a module beside the template binds it, and xgrammar's registry knows it
by the format's name. vLLM and SGLang, which parse with the template, hold turns to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from turnspec.export.exporting import Exported, ExportOptions, Loss, Refusal, bound_or_refusal
from turnspec.export.pair_grammar import end_marks, guard, narrowed
from turnspec.export.plugin import plugin_name, plugin_text, spec_file
from turnspec.export.response_template import export_response_template
from turnspec.export.sglang import entry_point
from turnspec.export.xgrammar import FILE, tag_of_grammar, tag_text
from turnspec.grammar.bound import BoundGrammar
from turnspec.grammar.request import GrammarRequest
from turnspec.grammar.turn_onward import opens_reasoning, prompt_extra
from turnspec.spec.model import Spec
from turnspec.spec.words import Encoding, JsonType

TARGET = "pair"
_ABOUT = """\
The structural tag of {name} beside its response_template, which MODEL/tokenizer_config.json has.

    vllm serve MODEL --enable-auto-tool-choice \\\\
        --tool-parser-plugin {file} --tool-call-parser {name} \\\\
        --reasoning-parser-plugin {file} --reasoning-parser {name}

    PYTHONPATH=FOLDER sglang serve --model-path MODEL \\\\
        --tool-call-parser {name} --reasoning-parser response_template

FOLDER is where this file lies. Both parse with the template; strict tools and calls that are asked
for are held to the tag. Other programs import this file, and ask xgrammar for the model {name}.
"""


def export_pair(spec: Spec, options: ExportOptions) -> Exported | Refusal:
    """Return the template, its tag for any request and, if tools are given, the tag for these."""
    if spec.tools is None:
        return Refusal("tools", "the format has no calls to hold; its response-template is enough")
    if spec.tools.empty_call:
        return Refusal("calls without arguments", "the template doesn't read how they are written")
    template = export_response_template(spec, replace(options, tokenizer_config=None))
    into = export_response_template(spec, options)
    if isinstance(template, Refusal) or isinstance(into, Refusal):
        return template
    name = plugin_name(spec, TARGET)
    files = {
        **template.files,
        **into.files,
        **spec_file(spec, options, TARGET),
        name: plugin_text(spec, options, TARGET, _ABOUT, {"PROMPTS": _prompts(spec)}),
        **entry_point(spec, name.removesuffix(".py")),
    }
    if options.request.tools:
        bound = bound_or_refusal(spec, options.request)
        if isinstance(bound, Refusal):
            return bound
        files[FILE] = tag_text(pair_tag(spec, options.request, bound))
    return Exported(files, (*template.losses, *_losses(spec)))


def pair_tag(spec: Spec, request: GrammarRequest, bound: BoundGrammar) -> dict[str, Any]:
    """Return the structural tag of a bound grammar that lets through what the template reads."""
    return tag_of_grammar(spec, request, replace(bound, grammar=narrowed(spec, bound.grammar)))


def behind_reasoning(spec: Spec) -> Spec:
    """Return a format whose prompt without thinking has reasoning, and closes it."""
    reasoning, on = spec.reasoning, spec.thinking.enabled
    if not reasoning.end.strip():
        return spec
    start = "" if opens_reasoning(spec, prompt_extra(spec, on.prompt)) else reasoning.start
    closed = replace(on, prompt=on.prompt + start + reasoning.end)
    return replace(spec, thinking=replace(spec.thinking, disabled=closed))


def _prompts(spec: Spec) -> tuple[tuple[str, bool | None], ...]:
    """Return the prompts with what they say of thinking, the longest first."""
    thinking = spec.thinking
    states = ((None, thinking.default), (False, thinking.disabled), (True, thinking.enabled))
    said = {state.prompt: on for on, state in states}
    return tuple((prompt, said[prompt]) for prompt in sorted(said, key=len, reverse=True))


def _losses(spec: Spec) -> Iterator[Loss]:
    """Yield what a model says otherwise under the tag."""
    closing, signs = guard(spec)
    where = f"behind {' or '.join(closing)}" if closing else "within arrays and objects"
    yield Loss("strings in calls", f"{where} the tag wants {' '.join(signs)} as an escape")
    values = spec.tools.arguments.values if spec.tools else {}
    if Encoding.PYTHON in values.values():
        yield Loss("escapes of eight digits", "the tag lets none through, as they aren't undone")
    strings = values.get(JsonType.STRING)
    if strings in (Encoding.RAW, Encoding.QUOTED):
        marks = ", ".join(map(repr, end_marks(spec)))
        yield Loss("texts in calls", f"under the tag they can't hold {marks}")
