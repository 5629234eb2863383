"""The whole ladder, up to the rungs that need neither a grammar engine nor a model."""

from __future__ import annotations

from collections.abc import Callable

from turnspec import __version__
from turnspec.codegen.loading import load
from turnspec.rendering.conversation import Chat
from turnspec.spec.files import spec_hash
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import SANITY, Counterexample, RungResult, TemplateResult
from turnspec.verification.chunking import chunking
from turnspec.verification.grammar_rung import agreement
from turnspec.verification.messages import long_message
from turnspec.verification.random_messages import random_messages
from turnspec.verification.rungs import (
    DEFAULT_MESSAGES,
    predict,
    rendered_parts,
    round_trip,
    round_trip_written,
)
from turnspec.verification.sanity import sanity
from turnspec.verification.sanity_view import View
from turnspec.verification.turns import Renderer


def climb(
    spec: Spec,
    gbnf: str,
    chat: Chat,
    messages: int,
    on_rung: Callable[[str, RungResult], None] = lambda rung, result: None,
) -> tuple[TemplateResult, tuple[Problem, ...]]:
    """Climb all rungs with a format, the grammar that was generated from it, and its template.

    ``chat`` speaks in the template's dialect, without settings. ``messages`` is the number of those
    that are random, but for the last, whose texts are long; fewer than usual make cuts and walks
    fewer, too. ``on_rung`` is told of each rung. Returns the results of all rungs, and everything
    that doesn't make sense in the spec.
    """
    renderer = Renderer.create(spec, chat)
    module = load(spec)
    given = [*random_messages(spec, messages - 1), long_message(spec)]
    share = min(1, messages / DEFAULT_MESSAGES)
    tries: dict[str, Callable[[], RungResult]] = {
        "0": lambda: predict(spec, renderer, given),
        "1": lambda: round_trip(spec, renderer, module, given),
        "1b": lambda: round_trip_written(spec, module, given),
        "2": lambda: chunking(spec, module, share),
        "3": lambda: agreement(spec, module, gbnf, share=share),
    }
    rungs: dict[str, RungResult] = {}
    for name, rung in tries.items():
        rungs[name] = _guarded(rung)
        on_rung(name, rungs[name])
    view = View(spec, chat, renderer, module, gbnf)
    rungs[SANITY], objections = sanity(view)
    on_rung(SANITY, rungs[SANITY])
    coverage, _ = view.witness
    result = TemplateResult(spec_hash(spec), __version__, rendered_parts(spec), rungs, coverage)
    return result, objections


def _guarded(rung: Callable[[], RungResult]) -> RungResult:
    """Return a rung's result; a defect of ours is its failure, and the other rungs go on."""
    try:
        return rung()
    except (MemoryError, OSError):
        raise
    except Exception as error:
        told = f"internal error: {type(error).__name__}: {error}"
        return RungResult(0, 1, Counterexample("", "", told))
