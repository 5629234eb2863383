"""A new repository: an index, the folders, and what keeps specs fresh."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from turnspec import __version__
from turnspec.pipeline.project import OVERLAYS, SCHEMA, Project
from turnspec.sources.index import INDEX_FILE
from turnspec.spec.atomic import write_all_atomically
from turnspec.spec.input_files import file_text
from turnspec.spec.problems import Problem
from turnspec.spec.schema import schema_text

_FOLDERS = (OVERLAYS, "specs", "generated")
#: What is written, and the file of the package that holds it.
_FILES = {
    INDEX_FILE: "index.yaml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
    ".github/workflows/formats.yml": "formats.yml",
    ".github/workflows/outdated.yml": "outdated.yml",
}
#: Files of lines, of which those get added that are missing.
_LISTS = {".gitignore": "gitignore", ".gitattributes": "gitattributes"}


def start_repository(root: Path) -> tuple[list[str], list[str]] | Problem:
    """Make a folder a repository of formats. Raises OSError.

    Nothing that is there is written over; ``.gitignore`` and ``.gitattributes`` get the lines that
    they lack. The workflows install this version of turnspec. Returns the files that were written,
    and those that were there and are left as they are.
    """
    around = Project.find(root)
    if around is not None:
        where = "is a repository of formats already" if around.root == root else "lies in one"
        return Problem(f"{where}: there is {around.root / INDEX_FILE}", str(root))
    written: list[str] = []
    kept: list[str] = []
    for folder in _FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    texts: dict[Path, str] = {}
    for file, source in _FILES.items():
        if (root / file).exists():
            kept.append(file)
            continue
        texts[root / file] = _text(source)
        written.append(file)
    schema = root / SCHEMA
    if not schema.exists():
        texts[schema] = schema_text()
        written.append(SCHEMA)
    texts |= {root / file: _completed(root / file, source) for file, source in _LISTS.items()}
    changed = write_all_atomically(texts)
    written += [file for file in _LISTS if root / file in changed]
    return written, kept


def _completed(path: Path, source: str) -> str:
    """Return a file with the lines that it lacks."""
    there = file_text(path) if path.exists() else ""
    missing = [line for line in _text(source).splitlines() if line not in there.splitlines()]
    gap = "\n" if missing and there and not there.endswith("\n") else ""
    return there + gap + "".join(f"{line}\n" for line in missing)


def _text(name: str) -> str:
    text = resources.files("turnspec.repository.starter").joinpath(name).read_text("utf-8")
    return text.replace("VERSION", __version__)
