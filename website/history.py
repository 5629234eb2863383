"""What has changed in formats: their specs in git, each with what became of its facts."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from turnspec.review.facts import Change, changes
from turnspec.spec.files import SPEC_SUFFIX, load_spec
from turnspec.spec.model import Spec


@dataclass(frozen=True, slots=True)
class Step:
    """A commit that changed a format: its day, its title, and the facts; ``first``: it came then.

    ``changes`` are None where the spec before can't be read any more.
    """

    day: str
    title: str
    changes: tuple[Change, ...] | None = ()
    first: bool = False


def histories(root: Path) -> Mapping[str, list[Step]]:
    """Return the steps of each format by name, the newest first; none where git knows nothing.

    Commits that changed only how a spec is written are left out.
    """
    commits = list(_commits(root))
    asked = [(day, title, commit, name) for day, title, commit, names in commits for name in names]
    texts = _texts(root, [f"{commit}:specs/{name}{SPEC_SUFFIX}" for _, _, commit, name in asked])
    last: dict[str, Spec | None] = {}
    found: dict[str, list[Step]] = defaultdict(list)
    for (day, title, _, name), text in zip(asked, texts, strict=True):
        if text is None:  # it was taken out
            last.pop(name, None)
            continue
        loaded = load_spec(text, name)
        spec = loaded if isinstance(loaded, Spec) else None
        if name not in last:
            found[name].insert(0, Step(day, title, first=True))
        elif (step := _step(day, title, last[name], spec)) is not None:
            found[name].insert(0, step)
        last[name] = spec
    return found


def _step(day: str, title: str, old: Spec | None, new: Spec | None) -> Step | None:
    if old is None or new is None:
        return Step(day, title, None)
    differing = changes(old, new)
    return Step(day, title, differing) if differing else None


def _commits(root: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield day, title and hash of the commits that changed specs, the oldest first, and whose."""
    form = "--format=%x00%cs%x09%H%x09%s"
    told = _git(root, "log", "--reverse", "--name-only", "--relative", form, "--", "specs/*.yaml")
    for entry in told.decode("utf-8", "replace").split("\0")[1:]:
        head, *paths = entry.strip().splitlines()
        day, commit, title = head.split("\t", 2)
        yield day, title, commit, [Path(path).stem for path in paths if path.strip()]


def _texts(root: Path, names: list[str]) -> Iterator[str | None]:
    """Yield what git has under some names, None where it has nothing."""
    told = _git(root, "cat-file", "--batch", given="\n".join(names).encode())
    at = 0
    for _ in names:
        end = told.index(b"\n", at)
        head, at = told[at:end].decode(), end + 1
        if head.endswith("missing"):
            yield None
            continue
        size = int(head.rpartition(" ")[2])
        yield told[at : at + size].decode("utf-8", "replace")
        at += size + 1


def _git(root: Path, *arguments: str, given: bytes = b"") -> bytes:
    command = ("git", "-C", str(root), *arguments)
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False)
    except FileNotFoundError:
        return b""
    return done.stdout if done.returncode == 0 else b""
