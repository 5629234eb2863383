"""Where the files of a format are, and where its template is from."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from turnspec.pipeline.project import OutputPaths
from turnspec.sources.hub_place import HUB
from turnspec.sources.index import LOCAL, Index


@dataclass(frozen=True, slots=True)
class File:
    """A file of a format. One of path and address is empty, or both: then nothing leads to it."""

    kind: str
    name: str
    path: str = ""  # below the repository's root
    address: str = ""  # in the web

    def link(self, root: str | None) -> str:
        """Return where a link leads on a page from which the repository's root is at ``root``."""
        if self.address or root is None:
            return self.address
        return quote(f"{root}{self.path}") if self.path else ""


def files_of(name: str, template: str, index: Index) -> tuple[File, ...]:
    """Return the files of a format of a repository; ``template`` is its template's file name."""
    paths = OutputPaths.in_project(name)
    own = {"spec": paths.spec, "parser": paths.module, "grammar": paths.grammar}
    files = [File(kind, path, path) for kind, path in own.items()]
    return (*files, _template(name, template, index))


def _template(name: str, file: str, index: Index) -> File:
    entry = index.by_name(name)
    if entry is None:
        return File("template", file)
    if entry.origin == LOCAL:
        return File("template", entry.location, entry.location)
    if entry.origin == HUB:
        address = f"https://huggingface.co/{entry.repository}/blob/{entry.commit}/"
        address += quote(entry.path)
        return File("template", f"{entry.path} of {entry.repository}", address=address)
    origin = index.origins.get(entry.origin)
    if origin is None:
        return File("template", file)
    address = f"https://pypi.org/project/{quote(origin.project)}/{quote(origin.version)}/"
    return File("template", f"{entry.path} of {origin.file}", address=address)
