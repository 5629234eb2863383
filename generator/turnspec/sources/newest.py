"""Templates as they are now where they are pinned: at the hub, and in the newest package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rich.console import Console

from turnspec.sources.hub_place import HUB, Fetch, HubModel
from turnspec.sources.index import INDEX_FILE, LOCAL, Entry, Index, Origin
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.spec.problems import Problem


@dataclass(frozen=True, slots=True)
class Newest:
    """Another text of a template than the pinned one, under the name that it is pinned by.

    ``was`` and ``now`` are the pinned and the newest commit or version, ``where`` the repository or
    the project. ``origin`` is the package that has it, None at the hub.
    """

    entry: Entry
    where: str
    was: str
    now: str
    template: SourceTemplate
    origin: Origin | None = None


def newest_templates(
    index: Index, entries: Iterable[Entry], fetch: Fetch
) -> Iterator[list[Newest | Problem]]:
    """Yield the templates that have another text now, for each repository and package.

    What isn't there any more is a problem. The repository's own are left out.
    """

    def place(entry: Entry) -> tuple[str, str]:
        return entry.origin, entry.repository

    pinned = sorted((entry for entry in entries if entry.origin != LOCAL), key=place)
    for (origin, repository), group in groupby(pinned, place):
        of_one = list(group)
        if origin == HUB:
            found = _at_the_hub(HubModel(repository), of_one, fetch)
        else:
            found = _in_package(index.origins[origin], of_one)
        yield [n for n in found if isinstance(n, Problem) or n.template.sha256 != n.entry.sha256]


def _at_the_hub(
    model: HubModel, entries: Sequence[Entry], fetch: Fetch
) -> Iterator[Newest | Problem]:
    path = fetch(model)
    if isinstance(path, Problem):
        yield path
        return
    templates, problems = read_templates(path)
    yield from problems
    for entry in entries if templates else ():
        found = _same(entry, templates)
        if found is None:
            yield Problem(f"{model} holds no {entry.path} any more", entry.name)
            continue
        template = replace(found, name=entry.name, file=entry.file)
        yield Newest(entry, entry.repository, entry.commit, found.pin["commit"], template)


def _same(entry: Entry, templates: Sequence[SourceTemplate]) -> SourceTemplate | None:
    """Return the template that an entry was pinned as, which may be in another file now."""
    by_text = [template for template in templates if template.sha256 == entry.sha256]
    by_name = [template for template in templates if template.name == entry.name]
    by_path = [template for template in templates if template.pin.get("path") == entry.path]
    sole = templates if len(templates) == 1 else ()
    return next(iter((*by_text, *by_name, *by_path, *sole)), None)


def _in_package(origin: Origin, entries: Sequence[Entry]) -> Iterator[Newest | Problem]:
    # The network's libraries take long to load.
    from turnspec.sources.download import newest_origin, obtain
    from turnspec.sources.package_files import packed_texts

    newest = newest_origin(origin)
    if isinstance(newest, str):
        yield Problem(newest, INDEX_FILE, origin.line)
        return
    if newest == origin:
        return
    obtained = obtain(newest, console=Console(quiet=True))
    if obtained.path is None:
        yield Problem(f"cannot fetch {newest.file}: {obtained.reason}", INDEX_FILE, origin.line)
        return
    texts, problems = packed_texts(obtained.path, newest, entries)
    yield from problems
    for entry in entries:
        if entry.file not in texts:
            continue
        template = SourceTemplate(
            name=entry.name,
            file=entry.file,
            text=texts[entry.file],
            source=f"{newest.file}/{entry.path}",
            bos_token=entry.bos_token,
            eos_token=entry.eos_token,
            tokenizer=entry.tokenizer,
            pin={"origin": newest.id, "path": entry.path},
        )
        yield Newest(entry, origin.project, origin.version, newest.version, template, newest)
