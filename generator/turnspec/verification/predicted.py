"""Whether a template renders what a spec says, asked of a few messages: rung 0 by itself."""

from __future__ import annotations

from turnspec.analysis.analyze import ASSUMED_TOKENS
from turnspec.analysis.source import TemplateSource
from turnspec.rendering.conversation import Chat
from turnspec.rendering.dialect import Dialect
from turnspec.rendering.limited import Refused, run_rendering
from turnspec.rendering.limits import Limits
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.model import Spec
from turnspec.spec.results import RungResult
from turnspec.verification.random_messages import random_messages
from turnspec.verification.rungs import DEFAULT_MESSAGES, predict
from turnspec.verification.turns import Renderer


def predicted(spec: Spec, source: TemplateSource, dialect: Dialect, limits: Limits) -> RungResult:
    """Return how many turns of a spec a template renders so, found in a process of its own."""
    found = run_rendering(predicted_by, spec, source, dialect, limits=limits)
    return RungResult(0, 0, note=found.reason) if isinstance(found, Refused) else found


def predicted_by(
    worker: RenderWorker, spec: Spec, source: TemplateSource, dialect: Dialect
) -> RungResult:
    """Return the same, found with a worker at hand."""
    chat = Chat(worker, source.text, {**ASSUMED_TOKENS, **source.tokens}, dialect)
    given = list(random_messages(spec, DEFAULT_MESSAGES))
    return predict(spec, Renderer.create(spec, chat), given)
