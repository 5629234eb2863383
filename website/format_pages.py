"""A page per format: sample turns, limits, exports, how it is served, its changes.

All that a template has written goes into raw HTML, escaped: none of it is read as Markdown.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from turnspec.chat.summary import capabilities_in_words
from turnspec.export.targets import TARGETS, start_line
from turnspec.pipeline.project import INTEGRATIONS, Project
from turnspec.report.entries import Entry
from turnspec.review.facts import Area
from turnspec.spec.files import SPEC_SUFFIX, read_spec
from turnspec.spec.integration_results import (
    ExportState,
    IntegrationResult,
    Integrations,
    read_integrations,
)
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.visible import visible
from website.history import histories

#: Targets that are servers; the others are told of, too.
SERVERS = ("vllm", "sglang", "llama-cpp-python")
_TEMPLATES = Path(__file__).parent / "templates"


def format_pages(entries: Sequence[Entry], project: Project) -> Iterator[tuple[str, str]]:
    """Yield the pages as Markdown by their file names, the table of all formats first."""
    found = read_integrations(project.root / INTEGRATIONS)
    records: Integrations = {} if isinstance(found, Problem) else found
    steps = histories(project.root)
    environment = _environment()
    yield "index.md", environment.get_template("formats.jinja").render(entries=entries)
    template = environment.get_template("format.jinja")
    for entry in entries:
        loaded = read_spec(project.specs / f"{entry.name}{SPEC_SUFFIX}")
        spec = loaded if isinstance(loaded, Spec) else None
        exports = list(_exports(entry, records))
        refused = {e.target for e in exports if e.result.state is ExportState.REFUSED}
        page = template.render(
            entry=entry,
            limits=entry.facts.get(Area.LIMIT.value, ()),
            facts={area: facts for area, facts in entry.facts.items() if area != Area.LIMIT},
            exports=exports,
            steps=steps.get(entry.name, ()),
            serving=list(_serving(spec, refused)) if spec else [],
            words=capabilities_in_words(spec) if spec else "",
        )
        yield f"{entry.name}.md", page


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """Return what a template's placeholder stands for: no sign of it ends a block of raw HTML."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    escaped = str(escape(visible(value, "\n\t"))).replace("`", "&#96;")
    # No line of a text is empty or begins with a sign that Markdown knows: the block stands.
    return Markup(escaped.replace("\n", "&#10;"))


@dataclass(frozen=True, slots=True)
class Export:
    """What became of a format's export to a target."""

    target: str
    about: str
    result: IntegrationResult


def _exports(entry: Entry, records: Integrations) -> Iterator[Export]:
    for name, target in TARGETS.items():
        record = records.get(name)
        result = record.formats.get(entry.name) if record else None
        if result is not None:
            yield Export(name, target.about, result)


def _serving(spec: Spec, refused: Container[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each server that takes the format, with the lines that export it and start that."""
    for name in SERVERS:
        if name not in refused:
            export = f"turnspec export {spec.name} --to {name} --into DIR"
            yield name, export, start_line(spec, name, Path("DIR"))
