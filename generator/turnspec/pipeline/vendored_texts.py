"""What copies of a format's files hold, in each language that they are made in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence, Set
from enum import StrEnum
from importlib import resources
from pathlib import Path

from turnspec.catalog.known import KnownFormat
from turnspec.codegen import banner, typescript
from turnspec.codegen.facts import facts_of
from turnspec.codegen.left_out import Extra
from turnspec.codegen.module import generate_module
from turnspec.codegen.printer.module import NotInSubset
from turnspec.codegen.shared import ENGINE, ENGINE_FILE, engine_text, is_shared, shared_module
from turnspec.codegen.typescript import SHARED_ENGINE, Script, script_engine, shares_engine
from turnspec.pipeline.project import OutputPaths
from turnspec.pipeline.samples import sample_turns
from turnspec.spec.files import spec_hash
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem

#: The module of types that all parsers have in common, as a copy's banner names it.
PROTOCOL = "turnspec.protocol"
PROTOCOL_FILE = "protocol.py"
#: How the names of copies end.
SUFFIXES = (".py", ".gbnf", *Script)


class Language(StrEnum):
    """A language in which parsers are copied."""

    PYTHON = "python"
    TYPESCRIPT = "typescript"
    JAVASCRIPT = "javascript"

    @property
    def scripts(self) -> tuple[Script, ...]:
        """The kinds of scripts that a parser in this language consists of."""
        if self is Language.TYPESCRIPT:
            return (Script.TYPESCRIPT,)
        if self is Language.JAVASCRIPT:
            return (Script.JAVASCRIPT, Script.DECLARATION)
        return ()


def script_of(path: str) -> Script | None:
    """Return the kind of script that a file's name says it is."""
    # The ending of declarations is no other script's.
    return next((script for script in Script if path.endswith(script)), None)


def command_for(
    wanted: Sequence[str], into: Path, language: Language, root: Path | None = None
) -> str:
    """Return the command that makes copies, by what is wanted: names and options."""
    options = [*(["--language", language] if language.scripts else []), "--into", str(into)]
    named = ["--root", str(root)] if root else []
    return shlex.join(["turnspec", "vendor", *wanted, *options, *named])


def protocol_text() -> str:
    """Return `turnspec.protocol` as a file to be copied, with a banner like that of a parser."""
    text = resources.files("turnspec").joinpath(PROTOCOL_FILE).read_text("utf-8")
    command = command_for(["--protocol"], Path(), Language.PYTHON)
    return banner.sealed(banner.banner(PROTOCOL, "-", command=command, engine=()) + text)


def engine_texts(language: Language) -> dict[str, str]:
    """Return the files of the engine that copies in a language share, by their names."""
    if language is Language.PYTHON:
        return {ENGINE_FILE: engine_text()}
    return {f"{SHARED_ENGINE}{script}": script_engine(script) for script in language.scripts}


def copied_texts(
    known: KnownFormat,
    language: Language,
    *,
    with_grammar: bool,
    shared: bool,
    without: Set[Extra] = frozenset(),
    name: str = "",
) -> dict[str, str] | Problem:
    """Return the texts of a format's copies by their files' names, which ``name`` may give."""
    name = name or known.name
    paths = OutputPaths.in_folder(name)
    spec, module, grammar = known.spec(), known.module(), known.grammar() if with_grammar else ""
    if not isinstance(spec, Spec):
        return spec[0]
    for text, source in ((module, known.paths.module), (grammar, known.paths.grammar)):
        if isinstance(text, Problem):
            return text
        if text and not banner.is_unedited(text):
            return Problem(f"isn't as it was generated; {known.remedy}", source)
    assert isinstance(module, str)
    assert isinstance(grammar, str)
    if without:
        module = _smaller_module(known, spec, without)
    try:
        texts = {
            f"{name}{script}": typescript.script_text(module, facts_of(spec), script, shared=shared)
            for script in language.scripts
        } or {paths.module: shared_module(module) if shared else module}
    except NotInSubset as refused:
        return Problem(f"can't be printed as a script: {refused}", known.paths.module)
    return texts | ({paths.grammar: grammar} if with_grammar else {})


def _smaller_module(known: KnownFormat, spec: Spec, without: Iterable[str]) -> str:
    return generate_module(
        spec,
        spec_path=known.paths.spec,
        spec_hash=spec_hash(spec),
        samples=sample_turns(spec),
        without={Extra(part) for part in without},
    )


def export_target(copy: str) -> str:
    """Return the target of the export that a file is part of, "" if it is a copy by itself."""
    found = re.match(r"turnspec export .*--to (\S+)", banner.named_command(copy))
    return found[1] if found else ""


def text_now(known: KnownFormat, file: str, copy: str) -> str | Problem:
    """Return what a copy of a format's file would hold now."""
    if file.endswith(".gbnf"):
        return known.grammar()
    spec = known.spec()
    if not isinstance(spec, Spec):
        return spec[0]
    module, script = known.module(), script_of(file)
    if known.spec_file and module == copy:  # the very file that `analyze` wrote
        module = _smaller_module(known, spec, ())
    if isinstance(module, Problem):
        return module
    if target := export_target(copy):
        return _exported(spec, module, target, file)
    if parts := banner.named_without(copy):
        module = _smaller_module(known, spec, parts)
    if script is not None:
        try:
            shared = shares_engine(copy)
            return typescript.script_text(module, facts_of(spec), script, shared=shared)
        except NotInSubset as refused:
            return Problem(f"can't be printed as a script: {refused}", known.paths.module)
    return shared_module(module) if is_shared(copy) else module


def _exported(spec: Spec, module: str, target: str, file: str) -> str | Problem:
    """Return the text of a file of an export as it is now."""
    from turnspec.export.exporting import ExportOptions, Refusal
    from turnspec.export.targets import TARGETS, export_format

    if target not in TARGETS:
        return Problem(f"nothing is exported to {target!r}")
    exported = export_format(spec, target, ExportOptions(module=module))
    if isinstance(exported, Refusal):
        return Problem(f"can't be exported to {target}: {exported}")
    return exported.files.get(file) or Problem(f"is no file of an export to {target}")


def common_text_now(file: str, copy: str) -> tuple[str, str]:
    """Return the name of a file that parsers have in common, and its text as it is now."""
    script = script_of(file)
    if script is not None:
        return typescript.SCRIPT_ENGINE, script_engine(script)
    if banner.named_place(copy) == ENGINE:
        return ENGINE, engine_text()
    return PROTOCOL, protocol_text()
