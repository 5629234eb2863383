"""Building one template: analysis, code generation and, if asked for, verification.

Nothing is written here; a build returns the texts of all files.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TypeVar

from turnspec.analysis.analyze import ASSUMED_TOKENS, analyze_template
from turnspec.analysis.findings import Finding
from turnspec.analysis.overlay_draft import Advice, advise
from turnspec.analysis.source import TemplateSource
from turnspec.codegen.banner import with_warning
from turnspec.codegen.facts import unmarked_reasoning
from turnspec.codegen.module import generate_module
from turnspec.grammar.turn import generate_grammar
from turnspec.pipeline.project import OutputPaths
from turnspec.pipeline.samples import sample_turns
from turnspec.rendering.conversation import Chat
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.checks import check_spec
from turnspec.spec.files import SPEC_SUFFIX, dump_spec, spec_hash
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.recipe import USUAL, Recipe
from turnspec.spec.results import TemplateResult
from turnspec.spec.verdict import judge
from turnspec.verification.ladder import climb
from turnspec.verification.quoted_calls import with_open_limits
from turnspec.verification.special_tokens import with_tokenizer
from turnspec.verification.told_calls import with_told_limits


@dataclass(frozen=True, slots=True)
class Build:
    """What became of one template: its files by path, its results, findings and problems."""

    name: str
    files: Mapping[str, str] = field(default_factory=dict)
    result: TemplateResult | None = None
    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    advice: Advice | None = None  # where it was asked for
    objections: tuple[Problem, ...] = ()  # to the spec; the result tells them in short

    def marked(self, result: TemplateResult | None) -> Build:
        """Return it with a parser and a grammar that say so if ``result`` isn't verified."""
        judgement = judge(result, result.spec_hash) if result else None
        if judgement is None or judgement.is_verified:
            return self
        files = {
            path: text if path.endswith(SPEC_SUFFIX) else with_warning(text, judgement.reason)
            for path, text in self.files.items()
        }
        return replace(self, files=files)


def build_template(
    source: TemplateSource,
    paths: OutputPaths,
    *,
    recipe: Recipe = USUAL,
    messages: int | None = None,
    worker: RenderWorker | None = None,
    with_advice: bool = False,
    limits: Limits = USUAL_LIMITS,
    on_step: Callable[[str, object], None] = lambda step, found: None,
) -> Build:
    """Build one template, rendering in ``worker`` or in one of its own.

    ``recipe`` is what the files say of how they are made.
    ``messages`` is the number of random messages for the verification; None leaves it out.
    ``with_advice`` looks for what the prompt says and the spec hasn't.
    ``on_step`` is told of the files' texts by path, and of the rungs' results by name.
    """
    with nullcontext(worker) if worker else RenderWorker() as worker:
        analysis = analyze_template(source, worker, limits)
        if analysis.spec is None:
            return Build(source.name, findings=analysis.findings, problems=analysis.problems)
        chat = Chat(worker, source.text, {**ASSUMED_TOKENS, **source.tokens}, analysis.dialect)
        steps = _Steps(source.file, [*analysis.findings], [*analysis.problems])
        spec = _with_limits(analysis.spec, source, chat, steps)
        problems = tuple(check_spec(spec, source.file) or _unreadable(spec, source.file))
        if problems:
            return Build(source.name, findings=analysis.findings, problems=problems)
        whole = with_tokenizer(spec, source.tokenizer)
        files: dict[str, str] = {}
        for path, make in _makers(whole, paths, recipe).items():
            text = steps.take(path, make)
            files |= {path: text} if text is not None else {}
            on_step(path, text)
        advice = (
            steps.take("the advice", lambda: advise(spec, source, chat)) if with_advice else None
        )
        done: tuple[TemplateResult | None, tuple[Problem, ...]] | None = None
        if messages is not None and paths.grammar in files:
            # Results are those of the template, whatever a tokenizer adds.
            gbnf = files if whole is spec else generate_files(spec, paths, recipe)
            done = steps.take(
                "the verification",
                lambda: climb(spec, gbnf[paths.grammar], chat, messages, on_step),
            )
        result, objections = done or (None, ())
        findings, problems = tuple(steps.findings), tuple(steps.problems)
        return Build(source.name, files, result, findings, problems, advice, objections)


def _with_limits(spec: Spec, source: TemplateSource, chat: Chat, steps: _Steps) -> Spec:
    """Return the spec with the limits that its parser, or the prompt's text, shows."""
    opened = steps.take("limits of quoted calls", lambda: with_open_limits(spec)) or spec
    told = steps.take("what the prompt says", lambda: with_told_limits(opened, source, chat))
    return told or opened


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps behind an analysis: one that fails is told, and the others are taken."""

    file: str
    findings: list[Finding]
    problems: list[Problem] = field(default_factory=list)

    def take(self, what: str, step: Callable[[], _T]) -> _T | None:
        """Return what a step gives; None if it fails by a defect of ours."""
        try:
            return step()
        except (MemoryError, OSError):
            raise
        except Exception as error:
            message = f"internal error in {what}: {type(error).__name__}: {error}"
            self.problems.append(Problem(message, file=self.file))
            self.findings.append(Finding("traceback", traceback.format_exc()))
            return None


def _unreadable(spec: Spec, file: str) -> list[Problem]:
    reason = unmarked_reasoning(spec)
    return [Problem(reason, file, path="reasoning.start")] if reason else []


def generate_files(spec: Spec, paths: OutputPaths, recipe: Recipe = USUAL) -> dict[str, str]:
    """Return the texts of the spec, the parser and the grammar, by path."""
    return {path: make() for path, make in _makers(spec, paths, recipe).items()}


def _makers(spec: Spec, paths: OutputPaths, recipe: Recipe) -> dict[str, Callable[[], str]]:
    digest, command = spec_hash(spec), recipe.command
    return {
        paths.spec: lambda: dump_spec(spec, recipe),
        paths.module: lambda: generate_module(
            spec,
            spec_path=paths.spec,
            spec_hash=digest,
            samples=sample_turns(spec),
            command=command,
        ),
        paths.grammar: lambda: generate_grammar(
            spec, spec_path=paths.spec, spec_hash=digest, command=command
        ),
    }
