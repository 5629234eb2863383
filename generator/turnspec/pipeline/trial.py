"""Trying templates, with nothing written: their specs, or whole builds with verification."""

from __future__ import annotations

from collections.abc import Collection

from turnspec import __version__
from turnspec.analysis.analyze import ASSUMED_TOKENS, analyze_template
from turnspec.analysis.source import TemplateSource
from turnspec.pipeline.build import Build
from turnspec.pipeline.project import Project
from turnspec.pipeline.regenerate import build_all
from turnspec.pipeline.template_sources import read_sources
from turnspec.rendering.conversation import Chat
from turnspec.rendering.dialect import Dialect
from turnspec.rendering.limited import Refused, run_rendering
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.rendering.worker import RenderWorker
from turnspec.sources.index import read_index
from turnspec.spec.checks import check_spec
from turnspec.spec.files import spec_hash
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import TemplateResult
from turnspec.verification.predicted import predicted_by
from turnspec.verification.quoted_calls import with_open_limits
from turnspec.verification.rungs import DEFAULT_MESSAGES
from turnspec.verification.special_tokens import with_tokenizer
from turnspec.verification.told_calls import with_told_limits


def try_templates(
    project: Project, names: Collection[str], limits: Limits
) -> tuple[list[Build], list[Problem]]:
    """Build and verify templates that lie in the checkout; returns builds, and what went wrong."""
    index, problems = read_index(project.root)
    entries = [entry for entry in index.entries if entry.name in names]
    sources, unreadable = read_sources(project, entries)
    builds = list(build_all(sources, messages=DEFAULT_MESSAGES, limits=limits))
    wrong = [problem for build in builds for problem in build.problems]
    return builds, [*problems, *unreadable, *wrong]


def whole_spec(source: TemplateSource, limits: Limits = USUAL_LIMITS) -> Spec | list[Problem]:
    """Return the spec that a build of a template would write, found in a process of its own."""
    found = run_rendering(_found_by, source, limits, limits=limits)
    return [Problem(found.reason, file=source.file)] if isinstance(found, Refused) else found[0]


def predicted_spec(
    source: TemplateSource, limits: Limits = USUAL_LIMITS
) -> tuple[Spec, TemplateResult] | list[Problem]:
    """Return the same with the result of rung 0: whether the template renders what it says."""
    found = run_rendering(_predicted_spec, source, limits, limits=limits)
    return [Problem(found.reason, file=source.file)] if isinstance(found, Refused) else found


def _predicted_spec(
    worker: RenderWorker, source: TemplateSource, limits: Limits
) -> tuple[Spec, TemplateResult] | list[Problem]:
    spec, dialect = _found_by(worker, source, limits)
    if not isinstance(spec, Spec):
        return spec
    rungs = {"0": predicted_by(worker, spec.of_template, source, dialect)}
    return spec, TemplateResult(spec_hash(spec), __version__, spec.turn.order, rungs)


def _found_by(
    worker: RenderWorker, source: TemplateSource, limits: Limits
) -> tuple[Spec | list[Problem], Dialect]:
    analysis = analyze_template(source, worker, limits)
    if analysis.spec is None:
        return list(analysis.problems), analysis.dialect
    chat = Chat(worker, source.text, {**ASSUMED_TOKENS, **source.tokens}, analysis.dialect)
    spec = with_told_limits(with_open_limits(analysis.spec), source, chat)
    whole = check_spec(spec, source.file) or with_tokenizer(spec, source.tokenizer)
    return whole, analysis.dialect
