"""The small templates of our own beside this file, one per class of format, and their analysis.

What formats they have is known from the snapshot of their specs.
"""

from __future__ import annotations

import textwrap
from functools import cache
from pathlib import Path

from syrupy.extensions.amber.serializer import AmberDataSerializer

from tests.generated_formats import EVERY_FORMAT, covering, modes
from turnspec.analysis.analyze import Analysis, analyze_template
from turnspec.analysis.source import TemplateSource
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.files import load_checked_spec
from turnspec.spec.model import Spec

FOLDER = Path(__file__).parent / "templates"
_SPECS = Path(__file__).parent / "__snapshots__" / "test_analysis_golden.ambr"

#: The names of all templates of our own, in the order of the alphabet.
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.jinja")))


def own_template(name: str) -> TemplateSource:
    """Return one of our own templates."""
    path = FOLDER / f"{name}.jinja"
    return given_template(path.read_text(encoding="utf-8"), path.stem)


def given_template(text: str, name: str = "given") -> TemplateSource:
    """Return a template with this text."""
    return TemplateSource(name, text, f"{name}.jinja", "local", {})


def kinds() -> list[str]:
    """Return the names of a few that have together each mode of a spec; all, if that is wanted."""
    snapshots = AmberDataSerializer.read_file(str(_SPECS))
    specs = {found.name: str(found.data) for found in snapshots}
    known = {name: specs.get(f"test_spec[{name}]", "") for name in NAMES}
    if EVERY_FORMAT:
        return [*NAMES]
    return covering({name: _modes(text) if text else {name} for name, text in known.items()})


def _modes(snapshot: str) -> set[str]:
    text = snapshot.strip().removeprefix("'''").removesuffix("'''")
    spec = load_checked_spec(textwrap.dedent(text), "snapshot")
    assert isinstance(spec, Spec), spec
    return modes(spec)


@cache
def analysis_of(name: str, worker: RenderWorker) -> Analysis:
    """Return the analysis of one of our own templates."""
    return analyze_template(own_template(name), worker)


def spec_of(name: str, worker: RenderWorker) -> Spec:
    """Return the spec of one of our own templates."""
    spec = analysis_of(name, worker).spec
    assert spec is not None
    return spec
