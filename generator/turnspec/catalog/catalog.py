"""All formats that are known in a place: those of the repository there, and those of turnspec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import turnspec
from turnspec.catalog.known import KnownFormat
from turnspec.catalog.models import ModelTable
from turnspec.pipeline.project import RESULTS, Project
from turnspec.sources.index import INDEX_FILE, read_index
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import read_results

_PACKAGE = Path(turnspec.__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Catalog:
    """Formats by name; ``project`` is the repository around, and ``problems`` what is wrong there.

    A format of the repository hides one of turnspec's with its name.
    """

    formats: Mapping[str, KnownFormat]
    project: Project | None = None
    problems: tuple[Problem, ...] = field(default=())

    @classmethod
    def around(cls, folder: Path) -> Catalog:
        """Return what is known in a folder: first the repository around it, then turnspec."""
        project = Project.find(folder.resolve())
        own, problems = _formats(project, installed=False) if project else ({}, [])
        came = installed_formats()
        others = {} if came is None or came == project else _formats(came, installed=True)[0]
        return cls({**others, **own}, project, tuple(problems))

    def models(self) -> ModelTable:
        """Return which of turnspec's formats models have."""
        came = installed_formats()
        return ModelTable.read(came.root) if came else ModelTable("", "", {})

    def own(self) -> list[KnownFormat]:
        """Return the formats of the repository; all that are known where there is none."""
        return [known for known in self if self.project is None or not known.installed]

    def by_fingerprint(self) -> dict[str, list[tuple[str, Spec]]]:
        """Return the names and specs of all formats whose specs can be read, by fingerprint."""
        found: dict[str, list[tuple[str, Spec]]] = {}
        for known in self:
            spec = known.spec()
            if isinstance(spec, Spec):
                found.setdefault(fingerprint(spec), []).append((known.name, spec))
        return found

    def __iter__(self) -> Iterator[KnownFormat]:
        """Iterate over the formats by name, packagers' variants of templates last."""
        return iter(sorted(self.formats.values(), key=lambda known: (known.packager, known.name)))


def installed_formats() -> Project | None:
    """Return the formats that came with turnspec: those of its package, or of its checkout."""
    inside, checkout = _PACKAGE / "formats", _PACKAGE.parent.parent
    places = (place for place in (inside, checkout) if (place / INDEX_FILE).is_file())
    return next(map(Project, places), None)


def _formats(project: Project, *, installed: bool) -> tuple[dict[str, KnownFormat], list[Problem]]:
    """Return the formats of a project, and what is wrong with its index or its results."""
    index, problems = read_index(project.root, trusted=installed)
    found = read_results(project.root / RESULTS)
    problems += [found] if isinstance(found, Problem) else []
    results = {} if isinstance(found, Problem) else found
    entries = {entry.name: entry for entry in index.entries}
    names = {*entries, *(path.stem for path in project.specs.glob(f"*{SPEC_SUFFIX}"))}
    formats = {
        name: KnownFormat(name, project, entries.get(name), results.get(name), installed)
        for name in names
    }
    return formats, problems
