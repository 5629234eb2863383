"""Copies of generated parsers and grammars in other projects: making them, and checking them.

A copy tells by itself where it is from and whether it was edited (see `codegen/banner.py`), so one
that was copied by hand is checked like any other, under whatever name.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from turnspec.codegen.banner import is_generated, is_unedited, named_spec
from turnspec.pipeline.project import OutputPaths, Project
from turnspec.spec.atomic import write_all_atomically
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.naming import template_name
from turnspec.spec.os_reasons import reason
from turnspec.spec.problems import Problem

_SUFFIXES = (".py", ".gbnf")


class CopyState(StrEnum):
    """What a copy is, beside what the checkout now holds."""

    FRESH = "fresh"  # the same
    STALE = "stale"  # an older one, as it was generated
    EDITED = "edited"  # not as it was generated
    GONE = "gone"  # of a template that the checkout doesn't have


@dataclass(frozen=True, slots=True)
class VendoredCopy:
    """A copy, the template that it is for, and why it isn't fresh."""

    path: Path
    name: str
    state: CopyState
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Vendored:
    """The files that were written, and those that were the same already; or all problems."""

    written: tuple[Path, ...] = ()
    unchanged: tuple[Path, ...] = ()
    problems: tuple[Problem, ...] = ()


def vendor(
    project: Project,
    names: Iterable[str],
    into: Path,
    *,
    with_grammar: bool = True,
    force: bool = False,
) -> Vendored:
    """Copy the parsers, and the grammars, of some templates into a folder: all of them or none.

    A file there that was edited, or is nobody's copy, is a problem unless ``force`` is set.
    """
    texts: dict[Path, str] = {}
    problems: list[Problem] = []
    for name in dict.fromkeys(map(template_name, names)):
        found = _generated_texts(project, name, with_grammar)
        if isinstance(found, Problem):
            problems.append(found)
            continue
        texts |= {into / file: text for file, text in found.items()}
    try:
        there = {path: _text_of(path) for path in texts}
        if not force:
            problems += [_refusal(path) for path, text in there.items() if _is_own_work(text)]
        if problems:
            return Vendored(problems=tuple(problems))
        new = {path: text for path, text in texts.items() if there[path] != text}
        write_all_atomically(new)
    except OSError as error:
        problem = Problem(f"can't be written: {reason(error)}", str(error.filename or into))
        return Vendored(problems=(problem,))
    return Vendored(tuple(new), tuple(path for path in texts if path not in new))


def check_copies(project: Project, folder: Path) -> list[VendoredCopy] | Problem:
    """Return what the copies in a folder are; that there is none is a problem."""
    copies = [
        _checked(project, path, text)
        for path in sorted(folder.iterdir())
        if path.suffix in _SUFFIXES
        and path.is_file()
        and (text := _text_of(path)) is not None
        and is_generated(text)
    ]
    return copies or Problem("holds no parser and no grammar of turnspec's", str(folder))


def _checked(project: Project, path: Path, text: str) -> VendoredCopy:
    name, digest = named_spec(text)
    outputs = OutputPaths.in_project(name)
    source = outputs.module if path.suffix == ".py" else outputs.grammar
    now = _text_of(project.root / source) if name else None
    if not is_unedited(text):
        return VendoredCopy(path, name, CopyState.EDITED, "not as it was generated")
    if now is None:
        return VendoredCopy(path, name, CopyState.GONE, f"there is no {source}")
    if now == text:
        return VendoredCopy(path, name, CopyState.FRESH)
    changed = "the generator" if named_spec(now)[1] == digest else "the spec"
    return VendoredCopy(path, name, CopyState.STALE, f"{changed} has changed")


def _generated_texts(project: Project, name: str, with_grammar: bool) -> dict[str, str] | Problem:
    """Return the texts of a template's files by their names in the folder."""
    sources = OutputPaths.in_project(name)
    copies = OutputPaths.in_folder(name)
    files = {copies.module: sources.module}
    if with_grammar:
        files[copies.grammar] = sources.grammar
    texts: dict[str, str] = {}
    for copy, source in files.items():
        text = _text_of(project.root / source)
        if text is None:
            return Problem(unknown_parser(project, name))
        if not is_unedited(text):
            message = f"isn't as it was generated; run: {project.recipe.command}"
            return Problem(message, source)
        texts[copy] = text
    return texts


def unknown_parser(project: Project, name: str) -> str:
    """Return what to say of a name that no parser has, with the names that are close to it."""
    known = [path.stem for path in project.specs.glob(f"*{SPEC_SUFFIX}")]
    close = close_names(name, known)
    hint = f"did you mean {' or '.join(close)}?" if close else "see specs/README.md for the names"
    return f"no parser named {name!r}; {hint}"


def renewal(copies: Iterable[VendoredCopy], folder: Path) -> str:
    """Return the command that renews the stale copies that have their own names, or ""."""
    names = [
        copy.name
        for copy in copies
        if copy.state is CopyState.STALE and copy.path.name in _own_names(copy.name)
    ]
    return f"turnspec vendor {' '.join(dict.fromkeys(names))} --into {folder}" if names else ""


def _own_names(name: str) -> tuple[str, ...]:
    paths = OutputPaths.in_folder(name)
    return paths.module, paths.grammar


def close_names(name: str, known: Sequence[str]) -> list[str]:
    """Return the few known names that hold the words of a name, or else look like it."""
    words = Counter(name.split("-"))
    holding = [other for other in sorted(known) if words <= Counter(other.split("-"))]
    alike = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return list(dict.fromkeys([*holding, *alike]))[:3]


def _is_own_work(text: str | None) -> bool:
    """Tell whether a file that is there holds something that can't be generated again."""
    return text is not None and not (is_generated(text) and is_unedited(text))


def _refusal(path: Path) -> Problem:
    return Problem("was edited, or isn't turnspec's; move it away or give --force", str(path))


def _text_of(path: Path) -> str | None:
    """Return a file's text, whatever its line ends; None where there is no file."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return None
