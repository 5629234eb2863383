"""The committed specs with their generated modules, each loaded once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.deviations.turns import Format
from turnspec.codegen.loading import load_module
from turnspec.pipeline.project import OutputPaths
from turnspec.spec.files import read_spec
from turnspec.spec.model import Spec

ROOT = Path(__file__).parent.parent
NAMES = sorted(path.stem for path in (ROOT / "specs").glob("*.yaml"))


@cache
def committed_format(name: str) -> Format:
    """Return a committed spec and the module generated from it."""
    spec = read_spec(ROOT / "specs" / f"{name}.yaml")
    assert isinstance(spec, Spec)
    source = (ROOT / OutputPaths.in_project(name).module).read_text(encoding="utf-8")
    return Format(spec, load_module(source))
