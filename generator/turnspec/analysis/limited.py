"""Analysing a template in a process of its own, which is ended when it takes too much."""

from __future__ import annotations

from turnspec.analysis.analyze import Analysis, analyze_template
from turnspec.analysis.source import TemplateSource
from turnspec.rendering.dialect import Dialect
from turnspec.rendering.limited import Refused, run_limited
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.problems import Problem


def analyze_limited(source: TemplateSource, limits: Limits = USUAL_LIMITS) -> Analysis:
    """Find a template's format, or say which limit that went over."""
    found = run_limited(_analyze, source, limits, limits=limits)
    if isinstance(found, Refused):
        return Analysis(None, Dialect(), (), (Problem(found.reason, file=source.file),))
    return found


def _analyze(source: TemplateSource, limits: Limits) -> Analysis:
    with RenderWorker() as worker:
        return analyze_template(source, worker, limits)
