"""A format that is known: what there is of it, read when it is asked for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from turnspec.codegen.banner import is_generated, named_spec, warning_of
from turnspec.pipeline.project import OutputPaths, Project
from turnspec.pipeline.standing import Standings
from turnspec.sources.hub_place import HubModel
from turnspec.sources.index import FETCHED_FOLDER, LOCAL_FOLDER, Entry
from turnspec.sources.text_files import read_text
from turnspec.spec.files import read_spec, spec_hash
from turnspec.spec.model import Spec
from turnspec.spec.problems import Problem
from turnspec.spec.results import TemplateResult
from turnspec.spec.verdict import Judgement, Standing


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """A format of a repository, or one that came with turnspec.

    ``entry`` is its template's place in the index, None where that lists it no more; ``result``
    what the verification found, of whichever spec; ``installed`` says that it came with turnspec.
    ``spec_file`` is the path of a spec that is in no repository, its parser and grammar beside it.
    """

    name: str
    project: Project
    entry: Entry | None
    result: TemplateResult | None
    installed: bool = False
    spec_file: Path | None = None

    @property
    def paths(self) -> OutputPaths:
        """Its files, below the project's root."""
        make = OutputPaths.in_folder if self.spec_file else OutputPaths.in_project
        return make(self.name)

    @property
    def asked(self) -> str:
        """What commands call it by."""
        return str(self.spec_file or self.name)

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names that people have for it."""
        return self.entry.aliases if self.entry else ()

    @property
    def packager(self) -> str:
        """Who made its template, where that is a variant of the one that the model came with."""
        return self.entry.packager if self.entry else ""

    @property
    def template_file(self) -> str:
        """The template's file name; the format's own name where the index doesn't list it."""
        return self.entry.file if self.entry else self.name

    def is_of(self, model: HubModel) -> bool:
        """Tell whether its template is pinned as that of a model, at its revision if it has one."""
        if self.entry is None or self.entry.repository.lower() != model.repository.lower():
            return False
        return model.revision in ("", self.entry.commit)

    @property
    def sha256(self) -> str:
        """The SHA-256 of its template's text; "" where neither index nor spec says it."""
        if self.entry is not None:
            return self.entry.sha256
        spec = self.spec()
        return spec.template.sha256 if isinstance(spec, Spec) else ""

    @property
    def remedy(self) -> str:
        """What to do where its files aren't as they should be."""
        if self.installed:
            return "install turnspec again"
        if self.spec_file is not None:
            return f"run: turnspec analyze TEMPLATE --into {shlex.quote(str(self.project.root))}"
        return f"run: {self.project.recipe.command}"

    def spec(self) -> Spec | list[Problem]:
        """Return its spec, or every reason why it can't be used."""
        path = self.project.root / self.paths.spec
        if not path.exists():
            return [self._absent(self.paths.spec)]
        return read_spec(path, self._shown(self.paths.spec))

    @property
    def is_overlaid(self) -> bool:
        """Whether its spec says that it has something from an overlay; found without parsing it."""
        text, _ = read_text(self.project.root / self.paths.spec, self._shown(self.paths.spec))
        return "\noverlay:" in text

    def module(self) -> str | Problem:
        """Return its parser's text."""
        return self._text(self.paths.module_in(self.project.root))

    def grammar(self) -> str | Problem:
        """Return its grammar's text."""
        return self._text(self.paths.grammar)

    def standings(self) -> Standings:
        """Return what the verification found of it, and what is accepted of that."""
        results = {self.name: self.result} if self.result else {}
        return Standings(results, {self.name: self.entry.accepted_failures} if self.entry else {})

    def judgement(self) -> Judgement:
        """Return what is known of its spec as it is."""
        if self.spec_file is not None:  # whose parser says so
            module = self.module()
            told = warning_of(module) if isinstance(module, str) else module.message
            return Judgement(Standing.FAILED if told else Standing.VERIFIED, told=told)
        return self.standings().of(self.name, self._digest())

    def template_places(self, cache: Path) -> tuple[Path, ...]:
        """Return where its template may be, a folder of downloads being one of the places."""
        file = self.template_file
        folders = [self.project.root / LOCAL_FOLDER, self.project.root / FETCHED_FOLDER]
        return tuple(folder / file for folder in (*folders, cache / FETCHED_FOLDER))

    def _text(self, path: str) -> str | Problem:
        if self.spec_file is not None and not isinstance(spec := self.spec(), Spec):
            return spec[0]
        if not (self.project.root / path).exists():
            return self._absent(path)
        text, problems = read_text(self.project.root / path, self._shown(path))
        if not problems and not is_generated(text):
            problems = [Problem(f"isn't what turnspec generated; {self.remedy}", self._shown(path))]
        elif not problems and self.spec_file and named_spec(text)[1] != self._digest():
            problems = [Problem(f"is of another spec; {self.remedy}", self._shown(path))]
        return problems[0] if problems else text.replace("\r\n", "\n")

    def _digest(self) -> str:
        spec = self.spec()
        return spec_hash(spec) if isinstance(spec, Spec) else ""

    def _absent(self, path: str) -> Problem:
        return Problem(f"isn't there; {self.remedy}", self._shown(path))

    def _shown(self, path: str) -> str:
        if self.spec_file is not None:
            return str(self.spec_file.with_name(path))
        return f"turnspec/formats/{path}" if self.installed else path
