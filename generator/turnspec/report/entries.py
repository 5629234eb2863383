"""What the page says of each format, gathered from the checkout's specs, files and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from markupsafe import Markup

from turnspec.catalog.summary import string_encoding
from turnspec.codegen.banner import is_generated
from turnspec.codegen.facts import FormatFacts, facts_of
from turnspec.codegen.loading import load
from turnspec.explain.annotate import Kind
from turnspec.explain.samples import Sample, sample_turns
from turnspec.pipeline.project import RESULTS, OutputPaths, Project
from turnspec.pipeline.standing import Standings
from turnspec.report.diagram import draw
from turnspec.report.legend import NO_CALLS
from turnspec.report.links import File, files_of
from turnspec.report.states import Machine, read_machine
from turnspec.report.texts import TextToTry, texts_to_try
from turnspec.review.facts import Area, facts_by_area
from turnspec.sources.index import Index, read_index
from turnspec.sources.text_files import read_text
from turnspec.spec.files import SPEC_SUFFIX, read_spec, spec_hash
from turnspec.spec.fingerprint import same_formats
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import RUNGS, RungResult, read_results
from turnspec.spec.verdict import Judgement


@dataclass(frozen=True, slots=True)
class Rung:
    """What came of a rung of the verification; ``result`` is None where it wasn't climbed."""

    name: str
    about: str
    result: RungResult | None
    accepted: str = ""  # why its failure is, if it is

    @property
    def passed(self) -> bool:
        """Whether there were checks, and all passed."""
        return self.result is not None and self.result.is_passed


@dataclass(frozen=True, slots=True)
class Entry:
    """A format on the page. ``facts`` are grouped by area; ``source`` is its parser's text."""

    name: str
    file: str
    aliases: tuple[str, ...]
    packager: str
    reasoning: str
    calls: str
    values: str
    samples: tuple[Sample, ...]
    texts: tuple[TextToTry, ...]
    read_by: FormatFacts
    files: tuple[File, ...]
    facts: Mapping[str, tuple[tuple[str, str], ...]]
    machine: Machine
    diagram: Markup
    grammar: str
    source: str
    rungs: tuple[Rung, ...]
    judgement: Judgement
    same: tuple[str, ...] = ()  # the other templates that have this very format

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of parts that the sample turns have."""
        shown = {segment.kind for sample in self.samples for segment in sample.segments}
        return tuple(kind for kind in Kind if kind in shown)

    @property
    def first(self) -> str:
        """The first name of those that have this format."""
        return min((self.name, *self.same))

    @property
    def verified(self) -> bool:
        """Whether all rungs passed for the spec as it is."""
        return self.judgement.is_verified


def read_entries(project: Project) -> tuple[list[Entry], list[Problem]]:
    """Read all formats of a checkout; those that can't be used are problems."""
    results = read_results(project.root / RESULTS)
    problems = [results] if isinstance(results, Problem) else []
    standings = Standings.read(project)
    index, _ = read_index(project.root)
    entries: list[Entry] = []
    specs: list[Spec] = []
    for path in sorted(project.specs.glob(f"*{SPEC_SUFFIX}"), key=lambda path: path.stem):
        spec = read_spec(path)
        if isinstance(spec, list):
            problems += spec
            continue
        entry = _read_entry(project, spec, standings, index)
        if isinstance(entry, Entry):
            entries.append(entry)
            specs.append(spec)
        else:
            problems += entry
    groups = {name: group for group in same_formats(specs) for name in group}
    others = {name: tuple(it for it in group if it != name) for name, group in groups.items()}
    entries = [replace(entry, same=others.get(entry.name, ())) for entry in entries]
    # Those that are the same format stand together.
    return sorted(entries, key=lambda entry: (entry.first, entry.name)), problems


def _read_entry(
    project: Project, spec: Spec, standings: Standings, index: Index
) -> Entry | list[Problem]:
    paths = OutputPaths.in_project(spec.name)
    module = paths.module_in(project.root)
    source, unreadable = read_text(project.root / module, module)
    grammar, missing = read_text(project.root / paths.grammar, paths.grammar)
    if unreadable or missing:
        return [*unreadable, *missing]
    if not is_generated(source):
        message = f"not a parser that turnspec generated; run: {project.recipe.command}"
        return [Problem(message, paths.module)]
    listed = index.by_name(spec.name)
    machine = read_machine(spec)
    return Entry(
        name=spec.name,
        file=spec.template.file,
        aliases=listed.aliases if listed else (),
        packager=listed.packager if listed else "",
        reasoning=spec.reasoning.mode,
        calls=spec.tools.mode if spec.tools else NO_CALLS,
        values=string_encoding(spec) if spec.tools else NO_CALLS,
        samples=sample_turns(spec),
        texts=texts_to_try(spec, load(spec)),
        read_by=facts_of(spec),
        files=files_of(spec.name, spec.template.file, index),
        facts=_facts(spec),
        machine=machine,
        diagram=draw(machine, spec.name),
        grammar=grammar,
        source=source,
        rungs=_rungs(spec, standings),
        judgement=standings.of(spec.name, spec_hash(spec)),
    )


def _facts(spec: Spec) -> dict[str, tuple[tuple[str, str], ...]]:
    facts = facts_by_area(spec)
    return {area.value: tuple(facts[area].items()) for area in _ORDER if area in facts}


#: Areas of facts in the order in which a reader wants them; modes stand at the head.
_ORDER = (
    *(Area.MARKER, Area.TURN_END, Area.THINKING, Area.ARGUMENTS, Area.LIMIT, Area.ALTERNATIVE),
    *(Area.OVERLAY, Area.GRAMMAR, Area.CAPABILITY, Area.REQUIREMENT, Area.TEMPLATE),
)


def _rungs(spec: Spec, standings: Standings) -> tuple[Rung, ...]:
    """Return the rungs; a result for another spec doesn't count."""
    result = standings.results.get(spec.name)
    fresh = result if result and result.spec_hash == spec_hash(spec) else None
    reasons = standings.accepted.get(spec.name, {})
    return tuple(
        Rung(name, about, fresh.rungs.get(name) if fresh else None, reasons.get(name, ""))
        for name, about in RUNGS.items()
    )
