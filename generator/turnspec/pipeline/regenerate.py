"""Regenerating everything: which templates changed, building them on all cores, writing files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from turnspec.analysis.source import TemplateSource
from turnspec.pipeline import project as places
from turnspec.pipeline import state
from turnspec.pipeline.build import Build
from turnspec.pipeline.processes import Task, build_in_processes
from turnspec.pipeline.project import OutputPaths, Project
from turnspec.pipeline.standing import Accepted, accepted_failures, standing_problems
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.sources.index import read_index
from turnspec.spec.atomic import write_all_atomically, write_atomically
from turnspec.spec.engine_results import read_engines
from turnspec.spec.files import SPEC_SUFFIX, read_spec
from turnspec.spec.input_files import file_text
from turnspec.spec.integration_results import read_integrations
from turnspec.spec.live_results import LiveRecord, read_live
from turnspec.spec.model import Spec
from turnspec.spec.naming import template_name
from turnspec.spec.overlay import Overlay, read_overlay
from turnspec.spec.problems import Problem
from turnspec.spec.recipe import USUAL, Recipe
from turnspec.spec.results import TemplateResult, dump_results, read_results
from turnspec.spec.schema import schema_text
from turnspec.spec.table import index_table

#: Called with each finished build, in the order in which they finish.
OnBuild = Callable[[Build], None]


@dataclass(slots=True)
class Regeneration:
    """What a regeneration did: builds made, templates left alone, files changed, problems.

    A rung that isn't passed is a problem, unless the index accepts that.
    """

    built: list[Build] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    changed_files: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)  # of no template; they are never deleted
    problems: list[Problem] = field(default_factory=list)
    results: dict[str, TemplateResult] = field(default_factory=dict)
    accepted: Accepted = field(default_factory=dict)


def build_all(
    sources: Sequence[TemplateSource],
    *,
    messages: int | None,
    recipe: Recipe = USUAL,
    limits: Limits = USUAL_LIMITS,
) -> Iterator[Build]:
    """Build a repository's templates on all cores and yield each as it is finished.

    A build that ends its process, or takes more than its limits, is a problem of that template
    alone.
    """
    tasks = [
        Task(source, OutputPaths.in_project(source.name), messages, recipe, limits=limits)
        for source in sources
    ]
    return build_in_processes(tasks, os.cpu_count() or 1)


def regenerate(
    project: Project,
    sources: Sequence[TemplateSource],
    *,
    messages: int,
    everything: bool = False,
    on_build: OnBuild = lambda build: None,
    limits: Limits = USUAL_LIMITS,
) -> Regeneration:
    """Rebuild what changed and write its files; ``everything`` rebuilds all.

    A spec on disk that was edited to something impossible is a problem and is left as it is.
    """
    done = Regeneration(accepted=accepted_failures(project))
    known = read_results(project.root / places.RESULTS)
    results = {} if isinstance(known, Problem) else known
    done.problems += [known] if isinstance(known, Problem) else []
    specs, unreadable = read_known_specs(project, sources)
    done.problems += unreadable
    generator = state.generator_fingerprint()
    inputs = {source.name: state.input_hash(generator, source, messages) for source in sources}
    hashes = {} if everything else state.read_hashes(project.root / places.STATE)
    usable = [source for source in sources if source.name in specs]
    known_names = [source.name for source in usable if source.name in results]
    done.unchanged = [
        name for name in known_names if hashes.get(name, "") == _hash_now(project, name, inputs)
    ]
    todo = [source for source in usable if source.name not in done.unchanged]
    for made in build_all(todo, messages=messages, recipe=project.recipe, limits=limits):
        build = made.marked(made.result)
        _take(project, build, done, results)
        hashes.pop(build.name, None)
        if build.files:
            hashes[build.name] = _hash_now(project, build.name, inputs) or ""
        on_build(build)
    _finish(project, results, done)
    done.problems += standing_problems(done.results, done.accepted)
    done.left_over = left_over(project)
    state.write_hashes(project.root / places.STATE, hashes)
    return done


def read_known_specs(
    project: Project, sources: Sequence[TemplateSource]
) -> tuple[dict[str, Spec | None], list[Problem]]:
    """Return the specs on disk by name (None where there is none yet); bad ones are problems."""
    specs: dict[str, Spec | None] = {}
    problems: list[Problem] = []
    for source in sources:
        path = project.specs / f"{source.name}.yaml"
        if not path.exists():
            specs[source.name] = None
            continue
        found = read_spec(path, f"specs/{source.name}.yaml")
        if isinstance(found, list):
            problems += found
        else:
            specs[source.name] = found
    return specs, problems


def _hash_now(project: Project, name: str, inputs: Mapping[str, str]) -> str | None:
    paths = asdict(OutputPaths.in_project(name)).values()
    return state.output_hash(inputs[name], project.root, paths)


def _take(
    project: Project, build: Build, done: Regeneration, results: dict[str, TemplateResult]
) -> None:
    """Write a build's files and keep its result."""
    done.built.append(build)
    done.problems += build.problems
    texts = {project.root / path: text for path, text in build.files.items()}
    changed = write_all_atomically(texts)
    done.changed_files += [path.relative_to(project.root).as_posix() for path in changed]
    if build.result is not None:
        results[build.name] = build.result


def _finish(project: Project, results: Mapping[str, TemplateResult], done: Regeneration) -> None:
    """Write the results and the index table of all specs that are there.

    Specs that were not built this time (their template couldn't be fetched) keep their rows; with
    a spec that can't be read the table is left as it is.
    """
    names = {path.stem for path in project.specs.glob("*.yaml")}
    done.results = {name: result for name, result in results.items() if name in names}
    if write_atomically(project.root / places.RESULTS, dump_results(done.results)):
        done.changed_files.append(places.RESULTS)
    if write_schema(project):
        done.changed_files.append(places.SCHEMA)
    live = read_live(project.root / places.LIVE)
    done.problems += [live] if isinstance(live, Problem) else []
    if write_table(project, done.results, LiveRecord() if isinstance(live, Problem) else live):
        done.changed_files.append(places.TABLE)


def write_schema(project: Project, *, also_new: bool = False) -> bool:
    """Write the schema of specs beside a repository's; return whether it changed.

    Where there is none, that is left so unless ``also_new``; the checkout has it elsewhere.
    """
    if project.has_schema or (also_new and not project.recipe.schema):
        return write_atomically(project.root / places.SCHEMA, schema_text())
    return False


def write_table(project: Project, results: Mapping[str, TemplateResult], live: LiveRecord) -> bool:
    """Write the index table of all specs, unless one can't be read; return whether it changed."""
    found = [read_spec(path) for path in sorted(project.specs.glob("*.yaml"))]
    specs = [spec for spec in found if not isinstance(spec, list)]
    if len(specs) < len(found):
        return False
    engines = read_engines(project.root / places.ENGINES)
    told = {} if isinstance(engines, Problem) else engines
    integrations = read_integrations(project.root / places.INTEGRATIONS)
    accepted = accepted_failures(project)
    text = index_table(
        specs,
        results,
        _overlays(project),
        live.formats,
        told,
        accepted,
        {} if isinstance(integrations, Problem) else integrations,
        families=project.families,
        recipe=project.recipe,
    )
    return write_atomically(project.root / places.TABLE, text)


def _overlays(project: Project) -> list[Overlay]:
    """Return the overlays that can be read; the others are problems of their templates."""
    paths = sorted(project.overlays.glob(f"*{SPEC_SUFFIX}"))
    found = [read_overlay(file_text(path, "replace"), path.name) for path in paths]
    return [overlay for overlay in found if not isinstance(overlay, list)]


def left_over(project: Project) -> list[str]:
    """Return the specs, overlays and generated files that belong to no template of the index."""
    index, problems = read_index(project.root)
    if problems:  # nobody can tell
        return []
    names = [template_name(entry.file) for entry in index.entries]
    wanted = {path for name in names for path in asdict(OutputPaths.in_project(name)).values()}
    wanted |= {f"{places.OVERLAYS}/{name}{SPEC_SUFFIX}" for name in names}
    made = ("specs/*.yaml", "generated/*.gbnf", "generated/[!_]*.py", "generated/_[0-9]*.py")
    patterns = (*made, f"{places.OVERLAYS}/*{SPEC_SUFFIX}")
    there = (path for pattern in patterns for path in sorted(project.root.glob(pattern)))
    found = (path.relative_to(project.root).as_posix() for path in there)
    return [path for path in found if path not in wanted]
