"""Specs with their modules as they are in a checkout, and as git has them in a revision."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from turnspec.pipeline.project import RESULTS, OutputPaths, Project
from turnspec.review.compare import Review, Source, compare_all, compare_sources
from turnspec.spec.files import SPEC_SUFFIX, load_checked_spec
from turnspec.spec.input_files import file_text
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import TemplateResult, load_results

#: What git tells its hooks of the repository that they were started for.
_OF_A_HOOK = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})


@dataclass(frozen=True, slots=True)
class WorkingTree:
    """The files of a checkout as they are."""

    project: Project
    title: str = "the working tree"

    def spec_names(self) -> list[str]:
        """Return the names of all specs."""
        return [path.stem for path in self.project.specs.glob(f"*{SPEC_SUFFIX}")]

    def read(self, path: str) -> str | None:
        """Return the text of a file, or None where there is none."""
        try:
            return file_text(self.project.root / path, "replace")
        except OSError:
            return None


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of the repository that a checkout lies in."""

    root: Path
    commit: str
    name: str

    @property
    def title(self) -> str:
        """What it is called in a review."""
        return f"{self.name} ({self.commit[:9]})"

    @classmethod
    def find(cls, root: Path, name: str) -> Revision | Problem:
        """Return the commit that a branch, a tag or the like names."""
        try:
            inside = _git(root, "rev-parse", "--is-inside-work-tree")
        except FileNotFoundError:
            return Problem("git isn't installed; give two spec files instead")
        if inside.returncode != 0:
            return _refusal(root, inside.stderr.decode("utf-8", "replace"))
        options = ("--verify", "--quiet", "--end-of-options")
        found = _git(root, "rev-parse", *options, f"{name}^{{commit}}")
        if found.returncode != 0:
            wanted = "a second spec file" if Path(name).is_file() else "a commit, branch or tag"
            return Problem(f"git knows no revision {name!r}; give {wanted}")
        return cls(root, found.stdout.decode().strip(), name)

    def spec_names(self) -> list[str]:
        """Return the names of all specs."""
        listed = _git(self.root, "ls-tree", "--name-only", "-z", self.commit, "specs/").stdout
        paths = [Path(path) for path in listed.decode("utf-8", "replace").split("\0")]
        return [path.stem for path in paths if path.suffix == SPEC_SUFFIX]

    def read(self, path: str) -> str | None:
        """Return the text of a file, or None where there is none."""
        shown = _git(self.root, "show", f"{self.commit}:./{path}")
        return shown.stdout.decode("utf-8", "replace") if shown.returncode == 0 else None


#: Where specs and modules are read from; paths are relative to the checkout.
Tree = WorkingTree | Revision


def review_since(
    name: str, project: Project, on_template: Callable[[], None] = lambda: None
) -> Review | Problem:
    """Compare a git revision's specs with those of a checkout, each by its own parser.

    ``OLD..NEW`` compares two revisions. Specs that can't be used are problems of the review; a
    problem instead of one says that there is no such revision.
    """
    older, dots, newer = name.partition("..")
    revision = Revision.find(project.root, older)
    tree = Revision.find(project.root, newer) if dots else WorkingTree(project)
    if isinstance(revision, Problem):
        return revision
    if isinstance(tree, Problem):
        return tree
    names = _differing(revision, tree)
    old, old_problems = _sources(revision, names, f"{older}:")
    new, new_problems = _sources(tree, names, f"{newer}:" if dots else "")
    problems = (*old_problems, *new_problems)
    for unusable in {Path(problem.file).stem for problem in problems}:  # neither added nor removed
        old.pop(unusable, None)
        new.pop(unusable, None)
    return Review(revision.title, tree.title, compare_all(old, new, on_template), problems)


def review_specs(old: Source, new: Source) -> Review:
    """Compare two specs, which their ``file`` names."""
    if old.spec == new.spec:
        return Review(old.file, new.file, ())
    names = dict.fromkeys((old.spec.name, new.spec.name))
    template = compare_sources(" → ".join(names), old, new)
    return Review(old.file, new.file, (template,))


def _differing(old: Tree, new: Tree) -> list[str]:
    """Return the names of the specs whose text, or whose result, isn't the same in both."""
    names = sorted({*old.spec_names(), *new.spec_names()})
    paths = {name: OutputPaths.in_project(name).spec for name in names}
    results = _results(old), _results(new)
    return [
        name
        for name in names
        if old.read(paths[name]) != new.read(paths[name])
        or results[0].get(name) != results[1].get(name)
    ]


def _results(tree: Tree) -> dict[str, TemplateResult]:
    """Return the results of a tree; what can't be read says nothing."""
    found = load_results(tree.read(RESULTS) or "{}", RESULTS)
    return {} if isinstance(found, Problem) else found


def _sources(
    tree: Tree, names: Sequence[str], where: str
) -> tuple[dict[str, Source], list[Problem]]:
    """Read specs with their modules; a spec that isn't there is none, a bad one a problem."""
    sources: dict[str, Source] = {}
    problems: list[Problem] = []
    results = _results(tree)
    for name in names:
        paths = OutputPaths.in_project(name)
        text = tree.read(paths.spec)
        if text is None:
            continue
        loaded = load_checked_spec(text, where + paths.spec)
        if isinstance(loaded, Spec):
            module, grammar = tree.read(paths.module), tree.read(paths.grammar)
            sources[name] = Source(loaded, module, grammar, results.get(name), paths.spec)
        else:
            problems += loaded
    return sources, problems


def _refusal(root: Path, said: str) -> Problem:
    """Return what git's own words come to, where it works in no repository."""
    if "dubious ownership" in said:
        trust = f"git config --global --add safe.directory {root}"
        return Problem(f"git doesn't trust {root}, as it is another user's; to trust it: {trust}")
    if "not a git repository" in said:
        return Problem(f"{root} isn't in a git repository; give two spec files instead")
    return Problem(f"git can't be used in {root}: {' '.join(said.split()) or 'no reason given'}")


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git on the repository around a folder, also where a hook was started for another one."""
    command = ["git", "-C", str(root), *arguments]
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    english = {**inherited, "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, check=False, env=english)
