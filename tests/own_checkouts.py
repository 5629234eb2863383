"""Checkouts in a temporary folder, with a few of our own templates, for tests that regenerate."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.golden_specs import TWO
from tests.own_templates import FOLDER
from turnspec.pipeline.project import Project
from turnspec.pipeline.regenerate import Regeneration, regenerate
from turnspec.pipeline.template_sources import read_sources
from turnspec.sources.add import add_source
from turnspec.sources.fetch import fetch_templates
from turnspec.sources.index import INDEX_FILE

EMPTY_INDEX = "origins: []\ntemplates: []\n"

#: Random messages for the verification: what it finds is tested elsewhere.
FEW = 2


def new_checkout(root: Path, names: Iterable[str] = TWO) -> Path:
    """Make a checkout that lists these templates, and return its folder."""
    (root / "templates").mkdir(parents=True)
    (root / INDEX_FILE).write_text(EMPTY_INDEX, encoding="utf-8")
    for name in names:
        assert add_source(FOLDER / f"{name}.jinja", root).problems == []
    return root


def add_text(root: Path, name: str, text: str) -> None:
    """Add a template with this text to a checkout."""
    outside = root.parent / f"{name}.jinja"
    outside.write_text(text, encoding="utf-8")
    assert add_source(outside, root).problems == []


def change_template(root: Path, name: str, text: str) -> None:
    """Replace a template's text, and pin the new one as its owner would."""
    (root / "templates" / f"{name}.jinja").unlink()
    index = root / INDEX_FILE
    head, *entries = index.read_text(encoding="utf-8").split("  - file: ")
    kept = [entry for entry in entries if not entry.startswith(f"{name}.jinja\n")]
    index.write_text("  - file: ".join([head, *kept]), encoding="utf-8")
    add_text(root, name, text)


def regenerated(root: Path, *, everything: bool = False) -> Regeneration:
    """Regenerate a checkout as the command does."""
    fetched = fetch_templates(root, offline=True)
    sources, problems = read_sources(Project(root), fetched.templates)
    done = regenerate(Project(root), sources, messages=FEW, everything=everything)
    done.problems[:0] = [*fetched.problems, *problems]
    return done


def files_of(root: Path) -> dict[str, bytes]:
    """Return the contents of all files of a folder, by path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
