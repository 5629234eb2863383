"""Explaining one template: its analysis, the comparisons behind it, and what wasn't found."""

from __future__ import annotations

from dataclasses import dataclass

from turnspec.analysis.analyze import ASSUMED_TOKENS, analyze_template
from turnspec.analysis.overlay_draft import advise
from turnspec.analysis.source import TemplateSource
from turnspec.explain.comparisons import Comparison, compare
from turnspec.explain.samples import Sample, sample_turns
from turnspec.grammar.turn import generate_grammar
from turnspec.pipeline.standing import Standings
from turnspec.rendering.conversation import Chat
from turnspec.rendering.limited import Refused, run_rendering
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.files import spec_hash
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.verdict import Judgement, Standing, judge
from turnspec.verification.ladder import climb
from turnspec.verification.quoted_calls import with_open_limits
from turnspec.verification.rungs import DEFAULT_MESSAGES
from turnspec.verification.told_calls import with_told_limits


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a spec is what it is, and what the ladder says of it.

    Without a template there are no comparisons.
    """

    name: str
    spec: Spec
    comparisons: tuple[Comparison, ...]
    samples: tuple[Sample, ...]
    missing: tuple[str, ...] | None  # what the template doesn't show; None: nobody looked
    judgement: Judgement


def explain_template(
    source: TemplateSource, standings: Standings, limits: Limits = USUAL_LIMITS
) -> Explanation | list[Problem]:
    """Analyse a template and make its comparisons once more; or return why that can't be done.

    What ``standings`` don't say of its spec is found by climbing the ladder.
    """
    found = run_rendering(explained_with, source, standings, limits, limits=limits)
    return [Problem(found.reason, source.file)] if isinstance(found, Refused) else found


def explained_with(
    worker: RenderWorker, source: TemplateSource, standings: Standings, limits: Limits
) -> Explanation | list[Problem]:
    """Do so in this process, with limits of renderings alone."""
    analysis = analyze_template(source, worker, limits)
    if analysis.spec is None:
        return list(analysis.problems)
    chat = Chat(worker, source.text, {**ASSUMED_TOKENS, **source.tokens}, analysis.dialect)
    spec = with_told_limits(with_open_limits(analysis.spec), source, chat)
    return Explanation(
        spec.name,
        spec,
        compare(spec, chat, analysis.findings),
        sample_turns(spec),
        advise(spec, source, chat).missing,
        _judgement(spec, chat, standings),
    )


def explain_spec(spec: Spec, judgement: Judgement) -> Explanation:
    """Return what a spec says by itself."""
    return Explanation(spec.name, spec, (), sample_turns(spec), None, judgement)


def _judgement(spec: Spec, chat: Chat, standings: Standings) -> Judgement:
    digest = spec_hash(spec)
    known = standings.of(spec.name, digest)
    if known.standing is not Standing.UNKNOWN:
        return known
    gbnf = generate_grammar(spec, spec_path="", spec_hash=digest)
    result, _ = climb(spec, gbnf, chat, DEFAULT_MESSAGES)
    return judge(result, digest, standings.accepted.get(spec.name))
