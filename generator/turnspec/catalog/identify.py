"""What a template is: this very one is known, or it writes a known format, or it is new.

That a template writes a known format is tried with messages: the analysis may miss what it does now
and then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from turnspec.analysis.overlaid import overlaid_as
from turnspec.analysis.source import TemplateSource
from turnspec.catalog.catalog import Catalog
from turnspec.pipeline.template_sources import source_of
from turnspec.rendering.dialect import Dialect
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem


class Kind(StrEnum):
    """What is known of a template."""

    KNOWN = "known"  # this very text
    SAME_FORMAT = "same format"  # another text, which writes a known format
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a template is. ``names`` are the formats, the nearest first; none of a new one.

    ``label`` says where it was read from. ``spec`` is the analysis of a text that isn't known.
    ``overlay`` are the keys that a format of the same kind has from an overlay besides. ``near``
    says which known format a new one would be, and what its template renders otherwise.
    """

    label: str
    sha256: str
    kind: Kind
    names: tuple[str, ...] = ()
    spec: Spec | None = None
    overlay: tuple[str, ...] = ()
    near: str = ""

    @property
    def in_words(self) -> str:
        """Name the nearest format, and what it has from an overlay besides."""
        keys = ", ".join(self.overlay)
        return self.names[0] + (keys and f", to which an overlay adds {keys}")


def identify_templates(
    path: Path, catalog: Catalog, limits: Limits = USUAL_LIMITS
) -> tuple[list[Identity], list[Problem]]:
    """Return what the templates of a file or folder are, and what can't be read or analysed."""
    templates, problems = read_templates(path, name="template" if path.is_file() else None)
    known = {sha256: fmt for fmt in catalog if (sha256 := fmt.sha256)}
    found: list[Identity] = []
    unknown: list[SourceTemplate] = []
    for template in templates:
        digest = template.sha256
        if digest in known:
            same = [fmt.name for fmt in catalog if fmt.sha256 == digest]
            names = dict.fromkeys((known[digest].name, *same))
            found.append(Identity(_label(path, template), digest, Kind.KNOWN, tuple(names)))
        else:
            unknown.append(template)
    if unknown:
        more, troubles = _analysed(path, unknown, catalog, limits)
        found, problems = found + more, problems + troubles
    return found, problems


def _label(path: Path, template: SourceTemplate) -> str:
    """Return the path as it was given; in a folder, with the template's place behind it.

    What is of the hub is called so, wherever it lies.
    """
    if template.pin:
        return template.source
    inside = template.source.partition("/")[2] if path.is_dir() else ""
    return f"{path}/{inside}" if inside else str(path)


def as_overlaid(identity: Identity, catalog: Catalog) -> Identity:
    """Return what a new template is if some format's overlay holds for it, too.

    So an edited copy of a template is known, though its text isn't that of the overlay. Calls have
    to be shown: what an overlay adds to content alone says nothing of a template.
    """
    spec, kind = identity.spec, Kind.SAME_FORMAT
    if identity.kind is not Kind.NEW or spec is None or spec.tools is None or spec.overlay:
        return identity
    for fmt in catalog:
        known = fmt.spec() if fmt.is_overlaid else None
        if isinstance(known, Spec) and known.overlay:
            more = overlaid_as(spec, known)
            if more is not None and fingerprint(more) == fingerprint(known):
                return replace(identity, kind=kind, names=(fmt.name,), overlay=known.overlay)
    return identity


def _analysed(
    path: Path, templates: list[SourceTemplate], catalog: Catalog, limits: Limits
) -> tuple[list[Identity], list[Problem]]:
    # Who names a format that is known needs no analysis.
    from turnspec.analysis.analyze import analyze_limited

    known = catalog.by_fingerprint()
    found: list[Identity] = []
    problems: list[Problem] = []
    for template in templates:
        label, source = _label(path, template), source_of(template, template.text)
        analysis = analyze_limited(source, limits)
        spec = analysis.spec
        if spec is None:
            problems += [Problem(p.message, label, p.line, p.path) for p in analysis.problems]
            continue
        names = tuple(name for name, _ in known.get(fingerprint(spec), ()))
        kind = Kind.SAME_FORMAT if names else Kind.NEW
        identity = Identity(label, spec.template.sha256, kind, names, spec)
        tried = as_overlaid(identity, catalog), source, analysis.dialect
        found.append(_if_predicted(*tried, catalog, limits))
    return found, problems


def _if_predicted(
    identity: Identity, source: TemplateSource, dialect: Dialect, catalog: Catalog, limits: Limits
) -> Identity:
    """Return what a template is, new if it renders some turns otherwise than a known format."""
    spec = identity.spec
    if identity.kind is not Kind.SAME_FORMAT or spec is None:
        return identity
    from turnspec.verification.predicted import predicted  # with the analysis alone

    known = catalog.formats[identity.names[0]].spec() if identity.overlay else None
    whole = overlaid_as(spec, known) if isinstance(known, Spec) else None
    result = predicted(whole or spec, source, dialect, limits)
    if result.is_passed:
        return identity
    otherwise = f"it renders {result.failed} of {result.total} turns otherwise"
    near = f"like {identity.names[0]}, but {otherwise if result.failed else result}"
    return replace(identity, kind=Kind.NEW, names=(), overlay=(), near=near)
