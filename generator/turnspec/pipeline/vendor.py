"""Copies of generated parsers and grammars in other projects: making them, and checking them.

A copy tells by itself where it is from and whether it was edited (see `codegen/banner.py`), so one
that was copied by hand is checked like any other, under whatever name.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.finding import Found, find_format
from turnspec.catalog.known import KnownFormat
from turnspec.codegen import banner
from turnspec.codegen.left_out import Extra
from turnspec.pipeline import vendored_texts
from turnspec.pipeline.project import Project
from turnspec.spec.atomic import write_all_atomically
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.input_files import file_text
from turnspec.spec.naming import template_name
from turnspec.spec.os_reasons import reason
from turnspec.spec.problems import Problem
from turnspec.spec.verdict import Judgement, Standing


class CopyState(StrEnum):
    """What a copy is, beside what is known now."""

    FRESH = "fresh"  # the same, in whatever layout
    STALE = "stale"  # an older one, as it was generated
    EDITED = "edited"  # not as it was generated
    GONE = "gone"  # of a format that isn't known


_EDITED = "not as it was generated"


@dataclass(frozen=True, slots=True)
class VendoredCopy:
    """A copy, the format that it is for, and why it isn't fresh.

    ``export`` is the command that makes the export that it is part of: with files of other kinds,
    so that it isn't renewed alone.
    """

    path: Path
    name: str
    state: CopyState
    reason: str = ""
    text: str = ""  # what it would be now, if anything is known of it
    doubt: Judgement | None = None  # that the format isn't verified, if the copy doesn't say so
    export: str = ""


@dataclass(frozen=True, slots=True)
class Vendored:
    """The files that were written, and those that were the same already; or all problems.

    ``unverified`` are the formats that aren't verified, each with what is known of it.
    """

    written: tuple[Path, ...] = ()
    unchanged: tuple[Path, ...] = ()
    problems: tuple[Problem, ...] = ()
    unverified: Mapping[str, Judgement] = field(default_factory=dict)


def vendor(
    formats: Iterable[KnownFormat],
    into: Path,
    *,
    language: vendored_texts.Language = vendored_texts.Language.PYTHON,
    with_grammar: bool = True,
    with_protocol: bool = False,
    with_shared_engine: bool = False,
    without: Set[Extra] = frozenset(),
    name: str = "",
    force: bool = False,
    root: Path | None = None,
) -> Vendored:
    """Copy the parsers, and the grammars, of some formats into a folder: all of them or none.

    A file there that was edited, or is nobody's copy, is a problem unless ``force`` is set; so is a
    format that isn't verified. With ``force`` its copies say so. ``with_protocol`` adds the module
    of types that all parsers have in common; ``with_shared_engine`` writes the engine once, and
    parsers that import it; ``without`` is what they leave out, ``name`` what the files of the one
    format are called after. All name the command that makes them: with ``into`` as it is, and with
    ``root``, the formats' repository, where one was given.
    """
    command = partial(vendored_texts.command_for, into=into, language=language, root=root)
    sharing = ["--shared-engine"] if with_shared_engine else []
    options = sharing + ([] if with_grammar else ["--no-grammar"])
    options += ["--without", ",".join(sorted(without))] if without else []
    options += ["--as", name] if name else []
    texts: dict[Path, str] = {}
    if with_protocol:
        protocol = {vendored_texts.PROTOCOL_FILE: vendored_texts.protocol_text()}
        texts |= _made_by(command(["--protocol"]), into, protocol)
    if with_shared_engine:
        texts |= _made_by(command(sharing), into, vendored_texts.engine_texts(language))
    problems: list[Problem] = []
    unverified: dict[str, Judgement] = {}
    for known in formats:
        found = vendored_texts.copied_texts(
            known,
            language,
            with_grammar=with_grammar,
            shared=with_shared_engine,
            without=without,
            name=template_name(name),
        )
        if isinstance(found, Problem):
            problems.append(found)
            continue
        judgement = known.judgement()
        if not judgement.is_verified:
            unverified[known.name] = judgement
            problems += [] if force else [_distrust(known.name, judgement)]
        wanted = [known.asked, *options, *([] if judgement.is_verified else ["--force"])]
        marked = {file: _marked(text, judgement) for file, text in found.items()}
        texts |= _made_by(command(wanted), into, marked)
    return _written(texts, into, problems, unverified, force=force)


def _made_by(command: str, into: Path, texts: Mapping[str, str]) -> dict[Path, str]:
    return {into / file: banner.with_command(text, command) for file, text in texts.items()}


def _written(
    texts: Mapping[Path, str],
    into: Path,
    problems: list[Problem],
    unverified: Mapping[str, Judgement],
    *,
    force: bool,
) -> Vendored:
    """Write the copies, if nothing is wrong with any."""
    try:
        there = {path: _text_of(path) for path in texts}
        if not force:
            problems += own_work(texts)
        if problems:
            return Vendored(problems=tuple(problems), unverified=unverified)
        new = {path: text for path, text in texts.items() if there[path] != text}
        write_all_atomically(new)
    except OSError as error:
        problem = Problem(f"can't be written: {reason(error)}", str(error.filename or into))
        return Vendored(problems=(problem,))
    unchanged = tuple(path for path in texts if path not in new)
    return Vendored(tuple(new), unchanged, unverified=unverified)


def check_copies(catalog: Catalog, folder: Path) -> list[VendoredCopy] | Problem:
    """Return what the copies in a folder are; that there is none is a problem."""
    copies = [
        _checked(catalog, path, text)
        for path in sorted(folder.iterdir())
        if path.name.endswith(vendored_texts.SUFFIXES)
        and path.is_file()
        and (text := _text_of(path)) is not None
        and banner.is_generated(text)
    ]
    none = "holds no parser and no grammar of turnspec's; give the folder that does"
    return copies or Problem(none, str(folder))


def _checked(catalog: Catalog, path: Path, text: str) -> VendoredCopy:
    name, digest = banner.named_spec(text)
    known = format_of(catalog, name, banner.named_command(text)) or _beside(path, name)
    elsewhere = "if another repository has it, give its folder: --root DIR"
    now: str | Problem = Problem(f"no format is known as {name!r}; {elsewhere}")
    if digest == "-":
        name, now = vendored_texts.common_text_now(path.name, text)
    elif known is not None:
        now = vendored_texts.text_now(known, path.name, text)
    if isinstance(now, Problem):
        state = CopyState.GONE if banner.is_unedited(text) else CopyState.EDITED
        return VendoredCopy(path, name, state, str(now) if banner.is_unedited(text) else _EDITED)
    judgement = known.judgement() if known else Judgement(Standing.VERIFIED)
    told = _marked(now, judgement)
    is_doubtful = not judgement.is_verified and not banner.warning_of(text)
    doubt, export = judgement if is_doubtful else None, ""
    if known and (target := vendored_texts.export_target(text)):
        words = ["turnspec", "export", known.asked, "--to", target, "--into", str(path.parent)]
        export = shlex.join(words)
    copy = partial(VendoredCopy, path, name, doubt=doubt, export=export)
    remade = banner.with_command(told, banner.named_command(text))
    if not banner.is_unedited(text):
        return copy(CopyState.EDITED, _EDITED, remade)
    if older := _why_older(text, now):
        return copy(CopyState.STALE, older, remade)
    if banner.warning_of(text) not in ("", banner.warning_of(told)):
        return copy(CopyState.STALE, "what is known of the format has changed", remade)
    return copy(CopyState.FRESH, banner.warning_of(told), text)


def format_of(catalog: Catalog, name: str, command: str) -> KnownFormat | None:
    """Return the format that a copy is of: of this name, or of the spec that its command names."""
    spec = next((word for word in command.split() if word.endswith(SPEC_SUFFIX)), "")
    found = find_format(spec, catalog) if spec else None
    return found.format if isinstance(found, Found) else catalog.formats.get(name)


def _beside(path: Path, name: str) -> KnownFormat | None:
    """Return the format of a file that `turnspec analyze` wrote, whose spec is in its folder."""
    spec = path.with_name(f"{name}{SPEC_SUFFIX}")
    project = Project(path.parent)
    return KnownFormat(name, project, None, None, spec_file=spec) if spec.is_file() else None


def _why_older(text: str, now: str) -> str:
    """Return why an unedited copy doesn't say what is known now, "" if it does."""
    if banner.is_older(text):
        return "made by an older turnspec"
    if banner.is_same(banner.without_warning(text), banner.without_warning(now)):
        return ""
    if banner.named_spec(text)[1] != banner.named_spec(now)[1]:
        return "the spec has changed"
    changed = "generator" if banner.named_engine(text) == banner.named_engine(now) else "engine"
    return f"the {changed} has changed"


def update_copies(catalog: Catalog, folder: Path, *, force: bool = False) -> Vendored:
    """Make the stale copies in a folder anew, each as its banner tells: all of them or none.

    One that was edited, or is of a format that isn't known, is a problem; so is a format that isn't
    verified, unless its copy says so already, and a stale part of an export. With ``force`` only
    that and what isn't known is one.
    """
    copies = check_copies(catalog, folder)
    if isinstance(copies, Problem):
        return Vendored(problems=(copies,))
    texts: dict[Path, str] = {}
    problems: list[Problem] = []
    for copy in copies:
        if copy.state is CopyState.GONE or (copy.state is CopyState.EDITED and not copy.text):
            problems.append(Problem(copy.reason, str(copy.path)))
        elif copy.export and copy.state is not CopyState.FRESH:
            told = f"{copy.reason}; to make it anew, run: {copy.export}"
            problems.append(Problem(told, str(copy.path)))
        elif copy.doubt is not None and copy.state is CopyState.STALE and not force:
            problems.append(_distrust(copy.name, copy.doubt))
        else:
            texts[copy.path] = copy.text
    return _written(texts, folder, problems, {}, force=force)


def _marked(text: str, judgement: Judgement) -> str:
    """Return the text of a copy, which says if its format isn't verified."""
    return text if judgement.is_verified else banner.with_warning(text, judgement.reason)


def _distrust(name: str, judgement: Judgement) -> Problem:
    return Problem(f"{judgement}; give --force to copy it all the same", name)


def own_work(paths: Iterable[Path]) -> list[Problem]:
    """Return which files that are there hold something that can't be generated again."""
    told = "was edited, or isn't turnspec's; move it away or give --force"
    texts = ((path, _text_of(path)) for path in paths)
    return [
        Problem(told, str(path))
        for path, text in texts
        if text is not None and not (banner.is_generated(text) and banner.is_unedited(text))
    ]


def _text_of(path: Path) -> str | None:
    """Return a file's text, whatever its line ends; None where there is no file."""
    try:
        return file_text(path, "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return None
