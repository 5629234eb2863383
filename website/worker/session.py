"""What the page asks of its worker, answered by what commands call: analyze, explain, diff, vendor.

All that comes and goes is plain data, which the bridge in `worker.mjs` carries as JSON.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from turnspec.analysis.source import TemplateSource
from turnspec.catalog.catalog import Catalog
from turnspec.catalog.finding import Found, find_format
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load_module
from turnspec.explain.explanation import Explanation, explained_with
from turnspec.explain.samples import SAMPLE_TOOLS, sample_outputs, sample_turns
from turnspec.explain.shown import explanation_lines
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.folder import task_for
from turnspec.pipeline.standing import Standings
from turnspec.pipeline.template_sources import source_of
from turnspec.pipeline.vendor import vendor
from turnspec.pipeline.vendored_texts import Language
from turnspec.rendering.limits import Limits
from turnspec.review.compare import Source
from turnspec.review.revisions import review_specs
from turnspec.review.shown import text_lines
from turnspec.sources.gguf_metadata import metadata_end
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.spec.files import load_spec
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec, Tokenizer
from turnspec.spec.overlay import OverlayText
from turnspec.spec.results import RUNGS, RungResult
from turnspec.spec.verdict import judge
from turnspec.verification.rungs import DEFAULT_MESSAGES
from website.worker.in_process import InProcessWorker

Data = dict[str, Any]
Tell = Callable[[str, Data], None]
#: A browser is a few times slower. What the renderings' own limits don't end, the page does.
LIMITS = Limits(seconds=60.0)
_OVERLAY_FILE = "overlay.yaml"


class Session:
    """One page's work. ``folder`` is its own; ``known`` names formats by hashes, fingerprints."""

    def __init__(self, folder: Path, known: Data) -> None:
        """Have nothing built yet."""
        self._folder = folder
        self._known = known
        self._worker = InProcessWorker()
        self._source: TemplateSource | None = None
        self._build: Build | None = None
        self._parser: FormatModule | None = None

    def read(self, path: Path) -> Data:
        """Return the templates that a file or a folder of the page's holds, and which are known."""
        templates, problems = read_templates(path)
        return {
            "templates": [self._read(path, template) for template in templates],
            "problems": [str(problem).replace(f"{path.parent}/", "") for problem in problems],
        }

    def _read(self, path: Path, template: SourceTemplate) -> Data:
        return {
            "path": path.name,
            "name": template.name,
            "file": template.file,
            "text": template.text,
            "bos_token": template.bos_token,
            "eos_token": template.eos_token,
            "tokenizer": template.tokenizer and asdict(template.tokenizer),
            "known": self._known["templates"].get(template.sha256, []),
        }

    def build(self, given: Data, tell: Tell) -> Data:
        """Analyse a template and verify its format; tell each file and each rung as it comes.

        ``given`` is a template as `read` returns it, with an ``overlay`` maybe. Without ``verify``
        nothing is verified.
        """
        source = _source(given)
        task = task_for(Path(given["path"]), source, limits=LIMITS)
        if self._source is None or source.text != self._source.text:
            self._source, self._build = None, None
        shown = {
            task.paths.spec: "spec",
            task.paths.module: "parser",
            task.paths.grammar: "grammar",
        }

        def on_step(step: str, found: object) -> None:
            if isinstance(found, RungResult):
                tell("rung", _rung(step, found))
            elif step in shown and isinstance(found, str):
                facts = self._facts(step, found) if step == task.paths.spec else {}
                tell(shown[step], {"file": step, "text": found, **facts})

        made = build_template(
            source,
            task.paths,
            recipe=task.recipe,
            messages=DEFAULT_MESSAGES if given.get("verify", True) else None,
            worker=self._worker,
            with_advice=True,
            limits=LIMITS,
            on_step=on_step,
        )
        build = made.marked(made.result)
        if build.files:  # else what was built of this template before, without an overlay, stays
            self._source, self._build, self._parser = source, build, None
        return {
            "files": dict(build.files),
            "problems": list(map(str, build.problems)),
            "objections": list(map(str, build.objections)),
            "judgement": _judgement(build),
            "missing": list(build.advice.missing) if build.advice else [],
            "draft": build.advice.draft.text if build.advice and build.advice.draft else "",
        }

    def _facts(self, file: str, text: str) -> Data:
        """Return what a spec's text tells: sample turns in parts, which formats are the same."""
        spec = load_spec(text, file)
        if not isinstance(spec, Spec):
            return {}
        return {
            "samples": [asdict(sample) for sample in sample_turns(spec)],
            "outputs": [list(output) for output in sample_outputs(spec)],
            "tools": list(SAMPLE_TOOLS),
            "fingerprint": fingerprint(spec),
            "same": self._known["formats"].get(fingerprint(spec), []),
            "modes": [spec.reasoning.mode, spec.tools.mode if spec.tools else "NONE"],
            "template": spec.template.sha256,
        }

    def explain(self) -> Data:
        """Return the lines of `turnspec explain` for what was built, each in its stretches."""
        assert self._source is not None
        done = self._build and self._build.result
        standings = Standings({self._source.name: done} if done else {})
        found = explained_with(self._worker, self._source, standings, LIMITS)
        if not isinstance(found, Explanation):
            return {"problems": list(map(str, found))}
        return {"lines": [[list(part) for part in line] for line in explanation_lines(found)]}

    def script(self, language: str) -> Data:
        """Return the parser in another language, as `turnspec vendor` copies it."""
        assert self._build is not None
        shutil.rmtree(self._folder, ignore_errors=True)
        for file, text in self._build.files.items():
            (self._folder / file).parent.mkdir(parents=True, exist_ok=True)
            (self._folder / file).write_text(text, encoding="utf-8")
        spec = next(iter(self._build.files))
        found = find_format(str(self._folder / spec), Catalog({}))
        if not isinstance(found, Found):
            return {"problems": [str(found)]}
        into = self._folder / language
        # Told as a user would call it, who stands where the spec is.
        done = vendor(
            [found.format], into, language=Language(language), with_grammar=False, force=True
        )
        texts = {path.name: path.read_text("utf-8") for path in done.written}
        return {"files": texts, "problems": list(map(str, done.problems))}

    def parse(self, text: str, options: Data) -> Data:
        """Return what the parser that was just made reads of a text."""
        assert self._build is not None
        if self._parser is None:
            module = next(text for file, text in self._build.files.items() if file.endswith(".py"))
            self._parser = load_module(module)
        given = {name: value for name, value in options.items() if value is not None}
        message = self._parser.parse(text, **given)
        problems = [
            {"kind": told.kind, "offset": told.offset, "message": told.message}
            for told in message.problems
        ]
        return {"message": message.to_dict(), "problems": problems}

    def diff(self, other: Data) -> Data:
        """Return the lines of `turnspec diff` from what was built to another template."""
        assert self._build is not None
        specs = [self._spec(self._build)]
        source = _source(other)
        build = build_template(
            source, task_for(Path(other["path"]), source).paths, worker=self._worker, limits=LIMITS
        )
        if build.problems:
            return {"problems": list(map(str, build.problems))}
        specs.append(self._spec(build))
        old, new = (Source(spec, file=spec.template.file) for spec in specs)
        review = review_specs(old, new)
        severity = review.templates[0].severity if review.templates else "same"
        return {"severity": severity, "lines": [list(line) for line in text_lines(review)]}

    def _spec(self, build: Build) -> Spec:
        file, text = next(iter(build.files.items()))
        spec = load_spec(text, file)
        assert isinstance(spec, Spec), "a build's own spec can be read"
        return spec


def _source(given: Mapping[str, Any]) -> TemplateSource:
    tokenizer = given.get("tokenizer")
    listed = SourceTemplate(
        name=given["name"],
        file=given["file"],
        text=given["text"],
        source=given["file"],
        bos_token=given.get("bos_token"),
        eos_token=given.get("eos_token"),
        tokenizer=tokenizer
        and Tokenizer(
            tokenizer["origin"],
            tuple(tokenizer["special_tokens"]),
            tuple(tokenizer["end_tokens"]),
        ),
    )
    overlay = given.get("overlay")
    text = OverlayText(_OVERLAY_FILE, overlay) if overlay else None
    return source_of(listed, listed.text, text)


def _rung(name: str, found: RungResult) -> Data:
    return {
        "name": name,
        "about": RUNGS[name],
        "passed": found.passed,
        "failed": found.failed,
        "note": found.note,
        "is_passed": found.is_passed,
        "example": found.example.items() if found.example else [],
    }


def _judgement(build: Build) -> Data | None:
    if build.result is None:
        return None
    found = judge(build.result, build.result.spec_hash)
    return {"standing": found.standing, "reason": found.reason}


def call(session: Session, verb: str, given: str, tell: Callable[[str, str], None]) -> str:
    """Answer a request whose values are JSON, in JSON: what the bridge calls."""
    data = json.loads(given)
    match verb:
        case "read":
            found = session.read(Path(data["path"]))
        case "build":
            found = session.build(data, lambda kind, told: tell(kind, json.dumps(told)))
        case "explain":
            found = session.explain()
        case "script":
            found = session.script(data["language"])
        case "parse":
            found = session.parse(data["text"], data["options"])
        case _:
            found = session.diff(data)
    return json.dumps(found)


def header_end(data: bytes) -> int:
    """Return up to where a GGUF file's header has to be read, 0 where that is enough."""
    return metadata_end(data)
