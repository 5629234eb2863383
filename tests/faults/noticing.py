"""Whether the ladder notices a fault, and whether there is anything to notice."""

from __future__ import annotations

import re
from dataclasses import dataclass

from turnspec.analysis.analyze import ASSUMED_TOKENS, analyze_template
from turnspec.analysis.source import TemplateSource
from turnspec.codegen.loading import load
from turnspec.codegen.writer import write_turn
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.pipeline.build import generate_files
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.conversation import Chat
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.files import dump_spec, load_checked_spec
from turnspec.spec.model import Spec
from turnspec.spec.turn_end import stop_strings
from turnspec.verification.chunking import chunking
from turnspec.verification.grammar_rung import agreement
from turnspec.verification.messages import sample_messages
from turnspec.verification.random_messages import random_messages
from turnspec.verification.rungs import (
    DEFAULT_MESSAGES,
    predict,
    round_trip,
    round_trip_written,
)
from turnspec.verification.sanity import CHECKS
from turnspec.verification.sanity_view import View
from turnspec.verification.turns import Renderer, written_input
from turnspec.verification.walk_offers import Bind, offers

_BANNER = re.compile(r"\A(?:#.*\n)+")
_DOCSTRING = re.compile(r'"""(?:.|\n)*?"""')
_PATHS = OutputPaths.in_folder("format")


@dataclass(frozen=True, slots=True)
class Format:
    """A template's format, and the template to ask."""

    name: str
    spec: Spec
    chat: Chat

    @classmethod
    def of(cls, source: TemplateSource, worker: RenderWorker) -> Format:
        """Analyse a template."""
        analysis = analyze_template(source, worker)
        assert analysis.spec is not None, [*map(str, analysis.problems)]
        tokens = {**ASSUMED_TOKENS, **source.tokens}
        return cls(source.name, analysis.spec, Chat(worker, source.text, tokens, analysis.dialect))


def noticed_by(form: Format, spec: Spec) -> str:
    """Return which check notices that a spec isn't the format's, "" if none does.

    The checks that cost least come first, so it is often not the only one.
    """
    try:
        if isinstance(load_checked_spec(dump_spec(spec), "spec.yaml"), list):
            return "check"
        return _on_the_ladder(form, spec)
    except Exception as error:  # a build that fails is red
        return f"error: {type(error).__name__}"


def _on_the_ladder(form: Format, spec: Spec) -> str:
    renderer = Renderer.create(spec, form.chat)
    given = list(random_messages(spec, DEFAULT_MESSAGES))
    if not predict(spec, renderer, given).is_passed:
        return "rung 0"
    files = generate_files(spec, _PATHS)
    gbnf = files[_PATHS.grammar]
    module = load(spec)
    view = View(spec, form.chat, renderer, module, gbnf)
    for title, check in CHECKS.items():
        if list(check(view)):
            return f"sanity: {title}"
    if not agreement(spec, module, gbnf).is_passed:
        return "rung 3"
    if not round_trip_written(spec, module, given).is_passed:
        return "rung 1b"
    if not round_trip(spec, renderer, module, given).is_passed:
        return "rung 1"
    return "" if chunking(spec, module).is_passed else "rung 2"


def grammar_noticed_by(form: Format, gbnf: str, bind: Bind) -> str:
    """Return which check notices that grammars aren't the format's, "" if none does."""
    module = load(form.spec)
    if not agreement(form.spec, module, gbnf, bind).is_passed:
        return "rung 3"
    view = View(form.spec, form.chat, Renderer.create(form.spec, form.chat), module, gbnf)
    return next((f"sanity: {title}" for title, check in CHECKS.items() if list(check(view))), "")


def is_the_same(form: Format, spec: Spec) -> bool:
    """Tell whether nothing that is made from a spec differs: then there is no fault.

    That is the parser, the grammars, what stops the model, the prompts under both settings, and
    every turn that the writer writes.
    """
    try:
        return _made_from(form, spec) == _made_from(form, form.spec)
    except Exception:  # what can't be made is not the same
        return False


def _made_from(form: Format, spec: Spec) -> tuple[object, ...]:
    files = generate_files(spec, _PATHS)
    module = _DOCSTRING.sub("", _BANNER.sub("", files[_PATHS.module]), count=1)
    return (
        module,
        _BANNER.sub("", files[_PATHS.grammar]),
        _bound(spec),
        set(stop_strings(spec)),
        _prompts(form, spec),
        tuple(_turns(spec)),
    )


def _bound(spec: Spec) -> list[object]:
    found = (bind_grammar(spec, offer.request) for offer in offers(spec))
    return [
        (
            (b.grammar, b.lazy, set(b.trigger_words), set(b.preserved_tokens))
            if isinstance(b, BoundGrammar)
            else [*map(str, b)]
        )
        for b in found
    ]


def _prompts(form: Format, spec: Spec) -> list[object]:
    thinking = spec.thinking
    states = thinking.default, thinking.enabled, thinking.disabled
    return [
        *(form.chat.using(state.variables).prompt().text for state in states),
        *((state.prompt, state.before) for state in states),
        thinking.words,
        spec.reasoning.scope,
    ]


def _turns(spec: Spec) -> list[object]:
    """Return what the writer writes of any message, whatever the spec's limits leave out."""
    plain = [*sample_messages(spec), *random_messages(spec, 20)]
    turns: list[object] = [
        [written_input(spec, message, thinking=on) for on in spec.thinking.choices]
        for message in plain
    ]
    turns += [write_turn(spec, message, followed=True, calls_before=2) for message in plain]
    return turns
