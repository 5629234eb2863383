"""A new repository: an index, the folders, and what keeps specs fresh."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from turnspec.pipeline.project import OVERLAYS, Project
from turnspec.sources.index import INDEX_FILE
from turnspec.spec.atomic import write_atomically
from turnspec.spec.problems import Problem

_FOLDERS = (OVERLAYS, "specs", "generated")
#: What is written, and the file of the package that holds it.
_FILES = {
    INDEX_FILE: "index.yaml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
    ".github/workflows/formats.yml": "formats.yml",
}
_IGNORED = ".gitignore"


@dataclass(frozen=True, slots=True)
class Started:
    """The files that were written, and those that were there and were left as they are."""

    written: tuple[str, ...]
    kept: tuple[str, ...]


def start_repository(root: Path) -> Started | Problem:
    """Make a folder a repository of formats. Raises OSError.

    Nothing that is there is written over; ``.gitignore`` gets the lines that it lacks.
    """
    around = Project.find(root)
    if around is not None:
        where = "is a repository of formats already" if around.root == root else "lies in one"
        return Problem(f"{where}: there is {around.root / INDEX_FILE}", str(root))
    written: list[str] = []
    kept: list[str] = []
    for folder in _FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for file, source in _FILES.items():
        if (root / file).exists():
            kept.append(file)
            continue
        write_atomically(root / file, _text(source))
        written.append(file)
    if _ignore(root / _IGNORED):
        written.append(_IGNORED)
    return Started(tuple(written), tuple(kept))


def _ignore(path: Path) -> bool:
    """Add the lines that a .gitignore lacks; return whether there were any."""
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    missing = [line for line in _text("gitignore").splitlines() if line not in there.splitlines()]
    gap = "\n" if there and not there.endswith("\n") else ""
    return bool(missing) and write_atomically(path, there + gap + "\n".join([*missing, ""]))


def _text(name: str) -> str:
    return resources.files("turnspec.repository.starter").joinpath(name).read_text("utf-8")
