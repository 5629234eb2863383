"""How commands come by a format: one way to name it, the same words where nothing is so named."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from turnspec.analysis.source import TemplateSource
from turnspec.catalog.catalog import Catalog
from turnspec.catalog.finding import Found, find_format, template_path
from turnspec.catalog.known import KnownFormat
from turnspec.cli.common import fetching
from turnspec.cli.console import Fault, Misuse, print_notice
from turnspec.rendering.limits import Limits
from turnspec.sources.hub_place import Fetch
from turnspec.sources.text_files import sha256_of
from turnspec.spec.model import Spec
from turnspec.spec.verdict import Standing


def catalog_of(root: Path | None) -> Catalog:
    """Return what is known around a folder: by default the current one."""
    return Catalog.around(root or Path.cwd())


def find(asked: str, catalog: Catalog, fetch: Fetch | None = None) -> KnownFormat:
    """Return the format that is asked for, with a notice if that took a guess.

    Raises Misuse if nothing is known by this name, or several formats are, and Fault if what it
    names can't be read, or holds a template that isn't known.
    """
    found = find_format(asked, catalog, fetch or fetching())
    if isinstance(found, Found):
        for line in found.notice.splitlines():
            print_notice(line)
        return found.format
    broken = "".join(f"; {problem}" for problem in catalog.problems)
    raise Fault(str(found)) if found.file else Misuse(f"{found}{broken}")


def tell_unverified(known: KnownFormat) -> None:
    """Print a notice if a format was tried and isn't verified, for who uses it all the same."""
    if known.spec_file is not None and not isinstance(known.module(), str):
        return  # a spec by itself, which nobody tried
    judgement = known.judgement()
    if judgement.standing in (Standing.FAILED, Standing.ACCEPTED):
        print_notice(f"{known.asked} is {judgement}")


def spec_at(asked: str, catalog: Catalog, limits: Limits) -> Spec:
    """Return the spec of a format that is asked for, or of a template that is analysed.

    Raises Misuse or Fault as `find`; or if there are several templates, or one can't be analysed.
    """
    found = format_or_template(asked, catalog)
    if isinstance(found, KnownFormat):
        return spec_of(found)
    from turnspec.pipeline.trial import whole_spec

    spec = whole_spec(found, limits)
    if isinstance(spec, Spec):
        return spec
    raise Fault(*map(str, spec))


def format_or_template(asked: str, catalog: Catalog) -> KnownFormat | TemplateSource:
    """Return the format that is asked for, or a template that isn't known.

    Raises Misuse or Fault as `find`; or if there are several templates.
    """
    fetch = fetching()
    place = template_path(asked, catalog, fetch)
    if not isinstance(place, Path):
        return find(asked, catalog, fetch)
    # A name alone doesn't need what analyses templates.
    from turnspec.pipeline.template_sources import read_sources_anywhere

    sources, problems = read_sources_anywhere([place])
    if problems:
        raise Fault(*map(str, problems))
    if len(sources) != 1:
        names = ", ".join(source.name for source in sources)
        raise Fault(f"{asked} holds several templates ({names}); analyse it with --into first")
    (source,) = sources
    digest = sha256_of(source.text.encode("utf-8"))
    return next((known for known in catalog if known.sha256 == digest), source)


def format_names(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the names and aliases that begin so, for shells; files where none does."""
    catalog = Catalog.around(Path.cwd())
    names = sorted({name for known in catalog for name in (known.name, *known.aliases)})
    found = [CompletionItem(name) for name in names if name.startswith(begun)]
    return found or [CompletionItem(begun, type="file")]


def spec_of(known: KnownFormat) -> Spec:
    """Return a format's spec. Raises Fault if it can't be used."""
    spec = known.spec()
    if isinstance(spec, Spec):
        return spec
    raise Fault(*map(str, spec))
