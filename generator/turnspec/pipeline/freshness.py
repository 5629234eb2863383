"""Whether specs, generated files and results are what regenerating would write; nothing is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from turnspec import __version__
from turnspec.analysis.source import TemplateSource
from turnspec.pipeline.project import ENGINES, INTEGRATIONS, LIVE, RESULTS, SCHEMA, Project
from turnspec.pipeline.regenerate import OnBuild, build_all, left_over, read_known_specs
from turnspec.pipeline.standing import accepted_failures, standing_problems
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.spec.engine_results import read_engines
from turnspec.spec.files import spec_hash
from turnspec.spec.input_files import text_if_there
from turnspec.spec.integration_results import read_integrations
from turnspec.spec.live_results import read_live
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import TemplateResult, read_results
from turnspec.spec.schema import schema_text


class FileState(StrEnum):
    """What is wrong with a file."""

    STALE = "stale"
    MISSING = "missing"
    LEFT_OVER = "left_over"  # it belongs to no template


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that isn't what regenerating would write; ``wanted`` is None for a file too many."""

    path: str
    found: str | None
    wanted: str | None

    @property
    def state(self) -> FileState:
        """What is wrong with the file."""
        if self.wanted is None:
            return FileState.LEFT_OVER
        return FileState.MISSING if self.found is None else FileState.STALE


def check_freshness(
    project: Project,
    sources: Sequence[TemplateSource],
    on_build: OnBuild = lambda build: None,
    limits: Limits = USUAL_LIMITS,
) -> tuple[list[Difference], list[Problem]]:
    """Analyse and generate everything again and compare it with the files; nothing is written.

    Also finds files of templates that are gone, and results of another spec or generator.
    """
    specs, problems = read_known_specs(project, sources)
    differences: list[Difference] = []
    results = read_results(project.root / RESULTS)
    recorded = {} if isinstance(results, Problem) else results
    for made in build_all(sources, messages=None, recipe=project.recipe, limits=limits):
        build = made.marked(recorded.get(made.name))
        problems += build.problems
        for path, wanted in build.files.items():
            found = text_if_there(project.root / path)
            if found != wanted:
                differences.append(Difference(path, found, wanted))
        on_build(build)
    if project.has_schema and text_if_there(project.root / SCHEMA) != schema_text():
        problems.append(Problem("is of another turnspec; run: turnspec upgrade", SCHEMA))
    differences += [Difference(path, "", None) for path in left_over(project)]
    if isinstance(results, Problem):
        problems.append(results)
    else:
        problems += _stale_results(specs, results)
        names = {source.name for source in sources}
        known = {name: result for name, result in results.items() if name in names}
        problems += standing_problems(known, accepted_failures(project))
    kept = (read_live(project.root / LIVE), read_engines(project.root / ENGINES))
    others = (*kept, read_integrations(project.root / INTEGRATIONS))
    problems += [found for found in others if isinstance(found, Problem)]
    return sorted(differences, key=lambda difference: difference.path), problems


def _stale_results(
    specs: Mapping[str, Spec | None], results: Mapping[str, TemplateResult]
) -> Iterator[Problem]:
    """Yield a problem for each result that is missing or belongs to another spec."""
    for name, spec in specs.items():
        result = results.get(name)
        if spec is None:
            continue
        if result is None or result.spec_hash != spec_hash(spec):
            yield Problem(f"no result for {name} as it is now", RESULTS)
        elif result.generator != __version__:
            told = f"the result for {name} is of generator {result.generator}"
            yield Problem(told, RESULTS)
