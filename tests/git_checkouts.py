"""Git repositories in a temporary folder: checkouts with specs and parsers, no user's settings."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.own_checkouts import EMPTY_INDEX
from turnspec.pipeline.build import generate_files
from turnspec.pipeline.project import OutputPaths
from turnspec.sources.index import INDEX_FILE
from turnspec.spec.model import Spec

_SETTINGS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Somebody",
    "GIT_AUTHOR_EMAIL": "somebody@example.org",
    "GIT_COMMITTER_NAME": "Somebody",
    "GIT_COMMITTER_EMAIL": "somebody@example.org",
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return what it printed."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=inherited | _SETTINGS,
    )
    return done.stdout.strip()


def write_format(root: Path, spec: Spec, paths: OutputPaths | None = None) -> None:
    """Write a spec with its parser and its grammar."""
    for path, text in generate_files(spec, paths or OutputPaths.in_project(spec.name)).items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def remove_format(root: Path, name: str) -> None:
    """Delete a spec with its parser and its grammar."""
    paths = OutputPaths.in_project(name)
    for path in (paths.spec, paths.module, paths.grammar):
        (root / path).unlink()


def new_repository(root: Path, specs: Iterable[Spec]) -> Path:
    """Make a repository with a checkout that holds these formats, committed."""
    (root / "templates").mkdir(parents=True)
    (root / INDEX_FILE).write_text(EMPTY_INDEX, encoding="utf-8")
    for spec in specs:
        write_format(root, spec)
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    return root


def commit(root: Path) -> None:
    """Commit all that is there."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=A change")
