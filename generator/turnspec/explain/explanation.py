"""Explaining one template: its analysis, the comparisons behind it, and what wasn't found."""

from __future__ import annotations

from dataclasses import dataclass

from turnspec.analysis.advice import advise
from turnspec.analysis.analyze import ASSUMED_TOKENS, TemplateSource, analyze_template
from turnspec.explain.comparisons import Comparison, compare
from turnspec.explain.samples import Sample, sample_turns
from turnspec.rendering.conversation import Chat
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a spec is what it is; ``missing`` says in words what the template doesn't show.

    Without a template there are no comparisons, and ``missing`` is None: nobody looked.
    """

    name: str
    spec: Spec
    comparisons: tuple[Comparison, ...]
    samples: tuple[Sample, ...]
    missing: tuple[str, ...] | None


def explain_template(source: TemplateSource, worker: RenderWorker) -> Explanation | list[Problem]:
    """Analyse a template and make its comparisons once more; or return why that can't be done."""
    analysis = analyze_template(source, worker)
    if analysis.spec is None:
        return list(analysis.problems)
    spec = analysis.spec
    chat = Chat(worker, source.text, {**ASSUMED_TOKENS, **source.tokens}, analysis.dialect)
    return Explanation(
        spec.name,
        spec,
        compare(spec, chat, analysis.findings),
        sample_turns(spec),
        advise(spec, source, chat).missing,
    )


def explain_spec(spec: Spec) -> Explanation:
    """Return what a spec says by itself."""
    return Explanation(spec.name, spec, (), sample_turns(spec), None)
