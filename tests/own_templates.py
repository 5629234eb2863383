"""The small templates of our own beside this file, one per class of format, and their analysis.

What formats they have is known from the snapshot of their specs.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.generated_formats import EVERY_FORMAT, covering, modes
from tests.golden_specs import golden_spec
from turnspec.analysis.analyze import Analysis, analyze_template
from turnspec.analysis.source import TemplateSource
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.model import Spec

FOLDER = Path(__file__).parent / "templates"

#: The names of all templates of our own, in the order of the alphabet.
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.jinja")))


def own_template(name: str) -> TemplateSource:
    """Return one of our own templates."""
    path = FOLDER / f"{name}.jinja"
    return given_template(path.read_text(encoding="utf-8"), path.stem)


def given_template(text: str, name: str = "given") -> TemplateSource:
    """Return a template with this text."""
    return TemplateSource(name, text, f"{name}.jinja", "local", {})


@cache
def kinds() -> list[str]:
    """Return the names of a few that have together each mode of a spec; all, if that is wanted."""
    if EVERY_FORMAT:
        return [*NAMES]
    known = {name: golden_spec(name) for name in NAMES}
    return covering({name: modes(spec) if spec else {name} for name, spec in known.items()})


@cache
def analysis_of(name: str, worker: RenderWorker) -> Analysis:
    """Return the analysis of one of our own templates."""
    return analyze_template(own_template(name), worker)


def spec_of(name: str, worker: RenderWorker) -> Spec:
    """Return the spec of one of our own templates."""
    spec = analysis_of(name, worker).spec
    assert spec is not None
    return spec
